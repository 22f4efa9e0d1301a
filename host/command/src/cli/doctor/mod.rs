//! `portolan doctor`: what is wrong with a host, why it matters, and how to fix it.
//!
//! - `outside`: looks at the configuration, folders, keys and addresses of a host that does not answer
//! - `database`: looks at its database
//!
//! A host that answers is asked for what it knows itself.

mod database;
mod outside;

use crate::{
    cli::client::{Operator, Refused, block_on, text},
    config::{Config, FILE, Flags, unknown_variables},
};
use clap::Args;
use portolan_http::node::{
    Problem,
    parts::{CONFIGURATION, HOST},
};
use serde_json::{Value, json};
use std::{path::Path, process::ExitCode, time::Duration};
use tokio::time::timeout;

/// The time for the answer of a running host, which bounds each of its checks: 5 seconds for itself, 4 for the
/// records of its database and 5 for the place of its files.
const ASKING_TIME: Duration = Duration::from_secs(15);

/// The state of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    /// It runs, and does not tell this user what is wrong.
    Refusing,
    Starting,
    Silent,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            Self::Running | Self::Refusing => "running",
            Self::Starting => "starting",
            Self::Silent => "not answering",
        }
    }
}

/// Arguments of `portolan doctor`: those of `serve`, so that it looks where a host with them would.
#[derive(Debug, Args)]
pub(super) struct Doctor {
    #[command(flatten)]
    flags: Flags,
    /// Ask the host at this operator's address, with its token in PORTOLAN_OPERATOR_TOKEN, and look at nothing here
    #[arg(long, value_name = "URL", env = "PORTOLAN_ADMIN_URL", hide_env_values = true)]
    admin_url: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(async move {
            let (state, problems) = self.examine().await;
            let errors = problems.iter().filter(|problem| is(problem, "error")).count();
            if self.json {
                line!("{:#}", json!({ "host": state.name(), "problems": problems }));
            } else {
                print(state, &problems, errors);
            }
            Ok(if errors == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        })
    }

    /// Returns the state of the host, and what is wrong, what matters most first.
    async fn examine(&self) -> (State, Vec<Value>) {
        let mut problems = Vec::new();
        let config = match &self.admin_url {
            Some(_) => None,
            None => match Config::load(Path::new(FILE), &self.flags) {
                Ok(config) => Some(config),
                Err(error) => {
                    let fix = format!(
                        "correct {FILE}, the variable or the flag; `portolan config dump` shows where settings come from"
                    );
                    let problem = |fault: &String| Problem::error(&CONFIGURATION, fault, &fix);
                    problems.extend(error.faults().iter().map(problem));
                    None
                }
            },
        };
        problems.extend(unknown_variables().into_iter().map(|name| {
            let problem = format!("the variable {name} is no setting, and is ignored");
            Problem::warning(&CONFIGURATION, problem, format!("correct its name, or: unset {name}"))
        }));
        let operator = Operator::at(
            self.admin_url.clone(),
            self.flags.data_dir.clone(),
            self.flags.admin_listen.clone(),
        );
        let asked = timeout(ASKING_TIME, operator.get("/problems", &[])).await;
        let mut known = Vec::new();
        let state = match asked {
            Ok(Ok(answer)) => {
                let list = answer.get("problems").and_then(Value::as_array);
                known.extend(list.into_iter().flatten().cloned());
                State::Running
            }
            // The message of a host that starts.
            Ok(Err(error)) if format!("{error:#}").contains("/startupz") => State::Starting,
            Ok(Err(error)) if error.is::<Refused>() => {
                problems.push(refused(&error));
                State::Refusing
            }
            unanswered => {
                let reason = match &unanswered {
                    Ok(Err(error)) => format!("{error:#}"),
                    _ => format!("the host has not answered in {} s", ASKING_TIME.as_secs()),
                };
                // A host on this machine may just not be started.
                let is_expected = self.admin_url.is_some() || unanswered.is_err();
                problems.push(unreachable(&reason, is_expected));
                if let Some(config) = &config {
                    problems.extend(outside::find_problems(config).await);
                }
                State::Silent
            }
        };
        problems.sort_by_key(|problem| (!problem.unready, problem.severity));
        known.extend(problems.iter().map(|problem| json!(problem)));
        known.sort_by_key(|problem| !is(problem, "error"));
        (state, known)
    }
}

/// Returns the problem of a host that gives no answer.
fn unreachable(reason: &str, is_expected: bool) -> Problem {
    let fix = "start it: `systemctl start portolan`, or `portolan serve`; `journalctl -u portolan -n 50` shows why it ended; a host elsewhere needs --admin-url and PORTOLAN_OPERATOR_TOKEN";
    match is_expected {
        true => Problem::error(&HOST, reason, fix),
        false => Problem::warning(&HOST, reason, fix),
    }
}

/// Returns the problem of a host that runs and refuses to tell what is wrong.
fn refused(error: &anyhow::Error) -> Problem {
    let fix = "ask as the user of the host, whom its socket lets in: `sudo portolan-admin doctor` with the Debian package; with --admin-url, set PORTOLAN_OPERATOR_TOKEN to a token that is valid (`portolan operators` lists them, `portolan operators add NAME --role read` makes one)";
    let why = "the host runs, and what is wrong with it is not shown here";
    Problem { why, ..Problem::error(&HOST, error.to_string(), fix) }
}

fn is(problem: &Value, severity: &str) -> bool {
    problem.get("severity").is_some_and(|found| found == severity)
}

fn print(state: State, problems: &[Value], errors: usize) {
    for problem in problems {
        let of = |name| text(problem, name);
        line!("{}: {}: {}", of("severity"), of("part"), of("problem"));
        line!("  why it matters: {}", of("why"));
        line!("  to fix it: {}", of("fix"));
    }
    let is_unready =
        problems.iter().any(|problem| problem.get("unready") == Some(&Value::Bool(true)));
    let readiness = match (state, is_unready) {
        (State::Running, true) => "running, and not ready",
        (State::Running, false) => "running and ready",
        (state, _) => state.name(),
    };
    let warnings = problems.len().saturating_sub(errors);
    line!("the host is {readiness}; errors: {errors}, warnings: {warnings}");
}
