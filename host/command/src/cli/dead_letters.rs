//! `portolan dead-letters`.

use crate::cli::client::{Operator, block_on, text};
use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::Value;
use std::process::ExitCode;

/// Arguments of `portolan dead-letters`.
#[derive(Debug, Args)]
pub(super) struct DeadLetters {
    #[command(flatten)]
    operator: Operator,
    #[command(subcommand)]
    command: DeadLettersCommand,
}

#[derive(Debug, Subcommand)]
enum DeadLettersCommand {
    /// Show the dead letters, the oldest first
    List {
        /// Print each dead letter as a line of JSON
        #[arg(long)]
        json: bool,
    },
    /// Deliver dead letters again, after the capability that failed was fixed
    Replay {
        /// Numbers of the dead letters, as `list` shows them
        #[arg(value_name = "NUMBER", required_unless_present = "all")]
        ids: Vec<i64>,
        /// Deliver all of them
        #[arg(long, conflicts_with = "ids")]
        all: bool,
    },
    /// Remove dead letters for good, such as those of a capability that is gone
    Drop {
        /// Numbers of the dead letters, as `list` shows them
        #[arg(value_name = "NUMBER", required_unless_present = "all")]
        ids: Vec<i64>,
        /// Remove all of them
        #[arg(long, conflicts_with = "ids")]
        all: bool,
    },
}

impl DeadLetters {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(async {
            match &self.command {
                DeadLettersCommand::List { json } => self.list(*json).await?,
                DeadLettersCommand::Replay { ids, all } => {
                    let answer = self.decide("replay", ids, *all).await?;
                    line!("{} events will be delivered again", text(&answer, "replayed"));
                }
                DeadLettersCommand::Drop { ids, all } => {
                    let answer = self.decide("drop", ids, *all).await?;
                    line!("dead letters that are removed: {}", text(&answer, "dropped"));
                    let missing = answer.get("missing").and_then(Value::as_array);
                    let missing: Vec<_> =
                        missing.into_iter().flatten().map(Value::to_string).collect();
                    anyhow::ensure!(
                        missing.is_empty(),
                        "there are no dead letters with these numbers: {}",
                        missing.join(", ")
                    );
                }
            }
            Ok(ExitCode::SUCCESS)
        })
    }

    /// Makes a decision about these dead letters, or about all, and returns the answer.
    async fn decide(&self, decision: &str, ids: &[i64], all: bool) -> anyhow::Result<Value> {
        let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
        let query = [("ids", if all { "all".to_owned() } else { ids.join(",") })];
        self.operator.send(Method::POST, &format!("/dead-letters/{decision}"), &query).await
    }

    async fn list(&self, json: bool) -> anyhow::Result<()> {
        let mut after = Some(0);
        while let Some(last) = after {
            let query = [("after", last.to_string())];
            let page = self.operator.get("/dead-letters", &query).await?;
            let letters = page.get("dead_letters").and_then(Value::as_array);
            for letter in letters.into_iter().flatten() {
                if json { line!("{letter}") } else { print(letter) }
            }
            after = page.get("after").and_then(Value::as_i64);
        }
        Ok(())
    }
}

fn print(letter: &Value) {
    line!(
        "{}  {}.{} failed {} times to process {} of {} ({})\n  {}",
        text(letter, "id"),
        text(letter, "capability"),
        text(letter, "action"),
        text(letter, "attempts"),
        text(letter, "event_type"),
        text(letter, "subject"),
        text(letter, "occurred_at"),
        text(letter, "last_error"),
    );
}
