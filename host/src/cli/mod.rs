//! The `portolan` command.

/// Like `println!`, but a reader that has gone (`| head`) ends the command instead of a panic. Not
/// for `serve`, which goes on.
macro_rules! line {
    ($($text:tt)*) => { $crate::cli::write_line(format_args!($($text)*)) };
}

mod call;
mod catalog;
mod check;
mod serve;

use crate::config::Flags;
use clap::{Parser, Subcommand};
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
    /// Call a capability of a running host
    Call(call::Call),
    /// Show what a running host has loaded, and what it refused and why
    Catalog(catalog::CatalogCommand),
    /// Compile a component from standard input; `serve` runs this in a process of its own
    #[command(hide = true)]
    CompileComponent { output: PathBuf },
}

impl Arguments {
    /// Runs the command. Faults go to standard error, each with what to do about it.
    pub fn run(self) -> ExitCode {
        let result = match self.command {
            Command::Serve(flags) => serve::serve(&flags),
            Command::Check(check) => check.run(),
            Command::Call(call) => call.run(),
            Command::Catalog(catalog) => catalog.run(),
            Command::CompileComponent { output } => {
                let status = crate::sandbox::compile_from_stdin(&output);
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

/// A client for a running host.
fn client() -> anyhow::Result<reqwest::Client> {
    // Another part of the process may have chosen one already.
    let _chosen = rustls::crypto::ring::default_provider().install_default();
    Ok(reqwest::Client::builder().build()?)
}

fn block_on<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(future)
}
