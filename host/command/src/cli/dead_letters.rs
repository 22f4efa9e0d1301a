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
}

impl DeadLetters {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(async {
            match &self.command {
                DeadLettersCommand::List { json } => self.list(*json).await?,
                DeadLettersCommand::Replay { ids, all } => {
                    let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
                    let ids = if *all { "all".to_owned() } else { ids.join(",") };
                    let query = [("ids", ids)];
                    let answer =
                        self.operator.send(Method::POST, "/dead-letters/replay", &query).await?;
                    line!("{} events will be delivered again", text(&answer, "replayed"));
                }
            }
            Ok(ExitCode::SUCCESS)
        })
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
