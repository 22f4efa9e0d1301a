//! `portolan dev`: builds a project, serves it on a temporary host, and again after each change.
//!
//! - `watch`: the changes of the source
//! - `server`: the host
//! - `agents`: the agents with which an author calls

mod agents;
mod server;
mod watch;

use super::{
    build::{Project, ProjectFlags, Purpose, build, check_types, end_running},
    log,
};
use agents::Agents;
use clap::Args;
use portolan_pipeline::{Call, ObservedCall};
use portolan_vocabulary::{AgentCaller, new_request_id};
use serde_json::{Map, Value};
use server::{Outcome, Server};
use std::{
    io::BufRead as _,
    net::SocketAddr,
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::mpsc;
use watch::Source;

/// Arguments of `portolan dev`.
#[derive(Debug, Args)]
pub(in crate::cli) struct Dev {
    #[command(flatten)]
    project: ProjectFlags,
    /// A folder with components that the project invokes, such as a catalog
    #[arg(long, value_name = "FOLDER")]
    with: Option<PathBuf>,
    /// Address for agents; port 0 means a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
}

impl Dev {
    pub(in crate::cli) fn run(self) -> anyhow::Result<ExitCode> {
        let project = Project::open(&self.project.folder, self.project.sdk.as_deref())?;
        log::write_log();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let result = runtime.block_on(async {
            tokio::select! {
                result = serve(project, self.listen, self.with) => result,
                stopped = tokio::signal::ctrl_c() => Ok(stopped?),
            }
        });
        // The tasks that still run belong to a host whose folder was removed, so nothing waits for
        // them.
        runtime.shutdown_background();
        end_running();
        result.map(|()| ExitCode::SUCCESS)
    }
}

/// A key of the running command: one letter and the Enter key.
enum Key {
    Repeat,
    NextTimer,
    Quit,
}

const HELP: &str =
    "r: repeat the last call, t: advance the clock to the next timer, q: quit (then Enter)";

/// The last call of an agent, which can be repeated.
struct LastCall {
    caller: AgentCaller,
    capability: String,
    body: Map<String, Value>,
}

async fn serve(project: Project, listen: SocketAddr, with: Option<PathBuf>) -> anyhow::Result<()> {
    let mut source = Source::watch(project.folder())?;
    let server = Server::start(listen, with.as_deref()).await?;
    let agents = Agents::register(&server).await?;
    agents.print();
    let mut calls = server.app.host.observe().unwrap_or_else(|| mpsc::unbounded_channel().1);
    let mut keys = keys();
    let build_loop = async {
        let mut last_printed = String::new();
        rebuild(&project, &server, &agents, &mut last_printed).await;
        line!("{HELP}");
        loop {
            source.changed().await;
            rebuild(&project, &server, &agents, &mut last_printed).await;
        }
    };
    // Keys are answered during a build as well, which can take long.
    let key_loop = async {
        let mut last_call = None;
        loop {
            tokio::select! {
                Some(call) = calls.recv() => last_call = print_call(call).or(last_call),
                Some(key) = keys.recv() => match key {
                    Key::Repeat => repeat_last_call(&server, last_call.as_ref()),
                    Key::NextTimer => advance_to_next_timer(&server).await?,
                    Key::Quit => return Ok(()),
                },
                else => return std::future::pending().await,
            }
        }
    };
    tokio::select! {
        () = build_loop => Ok(()),
        result = key_loop => result,
    }
}

/// Builds the project and waits until its component serves. After an error, which is printed, the component
/// before it still serves.
async fn rebuild(project: &Project, server: &Server, agents: &Agents, last_printed: &mut String) {
    if let Err(error) = try_build(project, server, agents, last_printed).await {
        line!("not built: {error:#}\n  the version before is still served, if there is one");
    }
}

async fn try_build(
    project: &Project,
    server: &Server,
    agents: &Agents,
    last_printed: &mut String,
) -> anyhow::Result<()> {
    let started = Instant::now();
    let (built_project, file) = (project.clone(), server.file());
    tokio::task::spawn_blocking(move || build(&built_project, Purpose::Trial, &file)).await??;
    let built = started.elapsed();
    let outcome = server.wait_until_loaded().await?;
    let loaded = started.elapsed().saturating_sub(built);
    match outcome {
        Outcome::Serving { id, version } => {
            line!(
                "serving {id} {version}: built in {} ms, loaded in {} ms",
                built.as_millis(),
                loaded.as_millis()
            );
            let snapshot = server.app.host.catalog.snapshot();
            if let Some(capability) = snapshot.capabilities.get(&*id) {
                let curl_commands = agents.curl_commands(capability);
                if curl_commands != *last_printed {
                    line!("{curl_commands}");
                    *last_printed = curl_commands;
                }
            }
            // Beside the serving, which does not wait for the types.
            let project = project.clone();
            tokio::task::spawn_blocking(move || {
                if let Err(error) = check_types(&project) {
                    line!("note  {error}");
                }
            });
        }
        Outcome::Refused(lines) => {
            line!("not loaded: {}", lines.join("\n"));
        }
    }
    Ok(())
}

/// Prints a call. Returns it if an agent made it.
fn print_call(call: ObservedCall) -> Option<LastCall> {
    let ObservedCall { capability, action, request, failure, duration } = call;
    let outcome = failure.as_ref().map_or_else(
        || "200".to_owned(),
        |failure| format!("{} {}", failure.kind.http_status(), failure.error_code),
    );
    let action = action.as_deref().unwrap_or("-");
    let origin = if request.is_some() { "" } else { " (by the host)" };
    line!("{} {capability}.{action} {outcome} {} ms{origin}", time(), duration.as_millis());
    let (caller, body) = request?;
    Some(LastCall { caller, capability, body })
}

/// Returns the time of day in UTC.
fn time() -> String {
    jiff::Timestamp::now().strftime("%H:%M:%S").to_string()
}

fn repeat_last_call(server: &Server, last: Option<&LastCall>) {
    let Some(LastCall { caller, capability, body }) = last else {
        line!("there was no call yet");
        return;
    };
    let (host, caller) = (Arc::clone(&server.app.host), caller.clone());
    let (capability, body) = (capability.clone(), body.clone());
    tokio::spawn(async move {
        let request_id = new_request_id(host.clock.now());
        let call = Call {
            caller,
            capability: &capability,
            body: Ok(body),
            idempotency_key: None,
            request_id,
            by_person: false,
            trace: None,
        };
        match host.call(call).await.outcome {
            Ok(answer) => line!("{}", answer.result),
            Err(failure) => line!("{}: {}", failure.error_code, failure.message),
        }
    });
}

/// Advances the clock of the host to the time of the next timer, so that the timer runs.
async fn advance_to_next_timer(server: &Server) -> anyhow::Result<()> {
    let host = &server.app.host;
    let Some(due) = host.store.next_due().await? else {
        line!("no timer is pending");
        return Ok(());
    };
    let wait = due.as_millis().saturating_sub(host.clock.now().as_millis());
    host.clock.advance(Duration::from_millis(wait));
    line!("the clock is {} s further: {due}", wait / 1000);
    Ok(())
}

/// Reads keys from standard input until it ends.
fn keys() -> mpsc::UnboundedReceiver<Key> {
    let (sender, keys) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for text in std::io::stdin().lock().lines().map_while(Result::ok) {
            let key = match text.trim() {
                "r" => Key::Repeat,
                "t" => Key::NextTimer,
                "q" => Key::Quit,
                _ => continue,
            };
            if sender.send(key).is_err() {
                return;
            }
        }
    });
    keys
}
