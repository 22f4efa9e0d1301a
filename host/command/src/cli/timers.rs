//! `portolan timers`.

use crate::cli::client::{Operator, block_on, text};
use clap::Args;
use reqwest::Method;
use serde_json::Value;
use std::process::ExitCode;

/// Arguments of `portolan timers`.
#[derive(Debug, Args)]
pub(super) struct Timers {
    #[command(flatten)]
    operator: Operator,
    /// Show only the timers of the capability with this id
    id: Option<String>,
    /// Remove all pending timers of the capability: their actions never run
    #[arg(long, requires = "id")]
    drop: bool,
}

impl Timers {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(async {
            if let (Some(id), true) = (&self.id, self.drop) {
                let path = format!("/timers/{id}/drop");
                let answer = self.operator.send(Method::POST, &path, &[]).await?;
                line!("removed {} timers of {id}", text(&answer, "dropped"));
                return Ok(ExitCode::SUCCESS);
            }
            let answer = self.operator.get("/timers", &[]).await?;
            let timers = answer.get("timers").and_then(Value::as_array).into_iter().flatten();
            let is_selected =
                |timer: &&Value| self.id.as_ref().is_none_or(|id| text(timer, "capability") == *id);
            for timer in timers.filter(is_selected) {
                line!(
                    "{:<24} {:<20} {:>8} pending {:>8} due, next at {}",
                    text(timer, "capability"),
                    text(timer, "action"),
                    text(timer, "pending"),
                    text(timer, "due"),
                    text(timer, "next_due_at")
                );
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}
