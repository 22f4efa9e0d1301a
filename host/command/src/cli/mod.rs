//! The `portolan` command.

/// Like `println!`, but a reader that has gone (`| head`) ends the command instead of a panic. Not
/// for `serve`, which goes on.
macro_rules! line {
    ($($text:tt)*) => { $crate::cli::write_line(format_args!($($text)*)) };
}

mod audit;
mod call;
mod catalog;
mod check;
mod database;
mod dead_letters;
mod demo;
mod describe;
mod feeds;
mod keys;
mod run;
mod serve;
mod statements;

use crate::config::Flags;
use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};
use portolan_mcp::{Server, ServerHandler};
use serde_json::Value;
use std::{path::PathBuf, process::ExitCode};

/// A host for capabilities: WebAssembly components that carry their own schema.
#[derive(Debug, Parser)]
#[command(name = "portolan", version, max_term_width = 100)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the host: answer calls to the components of the catalog folder
    ///
    /// Settings come from portolan.toml in this folder, then from PORTOLAN_* variables, then from
    /// these flags.
    Serve(Flags),
    /// Judge a component before it goes into a catalog
    Check(check::Check),
    /// Write a component's reference, in Markdown: its states, actions, errors
    Describe(describe::Describe),
    /// Call a capability of a running host
    Call(call::Call),
    /// Show what a running host has loaded, and what it refused and why
    Catalog(catalog::CatalogCommand),
    /// Show who did what on a running host, and how it ended
    Audit(audit::Audit),
    /// Show the events that a subscribed capability failed to take in, and deliver them again
    DeadLetters(dead_letters::DeadLetters),
    /// Run an internal action of a capability on a running host: what is left to the operator, such
    /// as taking a listing down
    Run(run::Run),
    /// Fill a running host with fictional people, and let them meet: in test mode, apart from all else
    Demo(demo::Demo),
    /// Make the public feeds from their sources, or judge them
    Feeds(feeds::Feeds),
    /// Show or change the keys that access tokens are signed with
    Keys(keys::Keys),
    /// Bring the database's schema up to date; `serve` does it too
    Migrate(database::Migrate),
    /// Copy the database to a file while the host runs
    Backup(database::Backup),
    /// Put a backup in the place of the database; the host must be stopped
    Restore(database::Restore),
    /// Compile a component from standard input; `serve` runs this in a process of its own
    #[command(hide = true)]
    CompileComponent { output: PathBuf },
}

impl Arguments {
    /// Runs the command. Faults go to standard error, each with what to do about it.
    pub fn run(self) -> ExitCode {
        self.run_around(|server| server)
    }

    /// The same, with something around what answers MCP, for programs that are built on this host.
    pub fn run_around<S: ServerHandler + Send + 'static>(
        self,
        around: impl Fn(Server) -> S + Send + Sync + 'static,
    ) -> ExitCode {
        let result = match self.command {
            Command::Serve(flags) => serve::serve(&flags, around),
            Command::Check(check) => check.run(),
            Command::Describe(describe) => describe.run(),
            Command::Call(call) => call.run(),
            Command::Catalog(catalog) => catalog.run(),
            Command::Audit(audit) => audit.run(),
            Command::DeadLetters(letters) => letters.run(),
            Command::Run(run) => run.run(),
            Command::Demo(demo) => demo.run(),
            Command::Feeds(feeds) => feeds.run(),
            Command::Keys(keys) => keys.run(),
            Command::Migrate(migrate) => migrate.run(),
            Command::Backup(backup) => backup.run(),
            Command::Restore(restore) => restore.run(),
            Command::CompileComponent { output } => {
                let status = portolan_sandbox::compile_from_stdin(&output);
                return ExitCode::from(u8::try_from(status).unwrap_or(1));
            }
        };
        result.unwrap_or_else(|error| {
            eprintln!("portolan: {error:#}");
            ExitCode::FAILURE
        })
    }
}

fn write_line(text: std::fmt::Arguments<'_>) {
    use std::io::Write as _;
    if writeln!(std::io::stdout(), "{text}").is_err() {
        std::process::exit(0);
    }
}

fn unreachable_host(url: &str) -> String {
    let url = without_password(url);
    format!("no host answers at {url}; start one with `portolan serve`, or name it with --url")
}

/// Returns a URL as errors may show it: without a user name and a password.
fn without_password(url: &str) -> String {
    let Ok(mut url) = reqwest::Url::parse(url) else { return "the given address".to_owned() };
    // Both can be removed from every URL that has a host; others are not shown.
    match url.set_username("").and_then(|()| url.set_password(None)) {
        Ok(()) => url.to_string(),
        Err(()) => "the given address".to_owned(),
    }
}

/// The operator's side of a running host.
#[derive(Debug, Args)]
struct Operator {
    /// The host's operator address
    #[arg(
        long,
        value_name = "URL",
        env = "PORTOLAN_ADMIN_URL",
        hide_env_values = true,
        default_value = "http://127.0.0.1:8081"
    )]
    admin_url: String,
}

impl Operator {
    async fn get(&self, path: &str, query: &[(&str, String)]) -> anyhow::Result<Value> {
        self.send(reqwest::Method::GET, path, query).await
    }

    async fn send(
        &self,
        method: reqwest::Method,
        path: &str,
        query: &[(&str, String)],
    ) -> anyhow::Result<Value> {
        self.answer(self.request(method, path)?.query(query)).await
    }

    fn request(
        &self,
        method: reqwest::Method,
        path: &str,
    ) -> anyhow::Result<reqwest::RequestBuilder> {
        let url = self.admin_url.trim_end_matches('/');
        Ok(client()?.request(method, format!("{url}{path}")))
    }

    async fn answer(&self, request: reqwest::RequestBuilder) -> anyhow::Result<Value> {
        let url = without_password(&self.admin_url);
        let response = request.send().await.with_context(|| {
            format!("no host answers at {url}; start one with `portolan serve`, or name it with --admin-url")
        })?;
        let succeeded = response.status().is_success();
        let answer: Value = response.json().await.context("the answer is not JSON")?;
        let conflict =
            answer.get("conflict").map(|conflict| format!(" {conflict}")).unwrap_or_default();
        anyhow::ensure!(
            succeeded,
            "the host refuses ({}): {}{conflict}",
            text(&answer, "error_code"),
            text(&answer, "message")
        );
        Ok(answer)
    }
}

/// A member of an object in one line.
fn text(value: &Value, name: &str) -> String {
    match value.get(name) {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => "-".to_owned(),
        Some(other) => other.to_string(),
    }
}

/// A client for a running host.
fn client() -> anyhow::Result<reqwest::Client> {
    // Another part of the process may have chosen one already.
    let _chosen = rustls::crypto::ring::default_provider().install_default();
    Ok(reqwest::Client::builder().build()?)
}

fn block_on<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(future)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_a_host_without_its_password() {
        let text = unreachable_host("http://operator:hunter2@127.0.0.1:8081");
        assert!(text.contains("http://127.0.0.1:8081/"), "{text}");
        assert!(!text.contains("hunter2") && !text.contains("operator:"), "{text}");
        assert!(!without_password("operator:hunter2@host").contains("hunter2"));
    }
}
