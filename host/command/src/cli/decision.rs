//! The arguments of decisions about versions, and their outcome.

use crate::cli::client::{Operator, text};
use clap::Args;
use serde_json::Value;
use std::process::ExitCode;

/// The arguments of every decision about a version.
#[derive(Debug, Args)]
pub(super) struct DecisionArguments {
    /// The name of who decides, for the history, which adds the name of the operator's token [default: the
    /// name of this user]
    #[arg(long, value_name = "NAME", env = "USER", hide_env = true)]
    pub(super) by: Option<String>,
    #[command(flatten)]
    pub(super) operator: Operator,
    /// Print the host's answer as JSON
    #[arg(long)]
    pub(super) json: bool,
}

impl DecisionArguments {
    /// Prints the outcome for a version.
    pub(super) fn print(&self, answer: &Value) -> anyhow::Result<ExitCode> {
        if self.json {
            line!("{answer:#}");
            return Ok(ExitCode::SUCCESS);
        }
        let (id, version) = (text(answer, "id"), text(answer, "version"));
        let digest = text(answer, "digest");
        match text(answer, "state").as_str() {
            "serving" => match answer.get("replaced").and_then(Value::as_str) {
                Some(replaced) => line!("{id} {version} serves in place of {replaced} ({digest})"),
                None => line!("{id} {version} serves ({digest})"),
            },
            "shared" => line!(
                "a share of the callers of {id} gets {version}, and the others {} ({digest}); `portolan release status {id}` compares them",
                text(answer, "replaced")
            ),
            "unchanged" => line!("{id} {version} serves already ({digest})"),
            "migrating" => line!(
                "{id} {version} serves when the documents are migrated; `portolan catalog` shows the progress"
            ),
            "pending_approval" => line!(
                "{id} {version} needs your permission: {}\n  if you trust it, run `portolan catalog approve {id} --digest {digest}`; to give it up, run `portolan rollback {id}`",
                texts(answer, "missing").join(", ")
            ),
            _ => line!("the older version of {id} that waits in the catalog folder may serve next"),
        }
        for sentence in texts(answer, "breaking") {
            line!("  breaking: {sentence}");
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the texts of a list.
pub(super) fn texts<'a>(value: &'a Value, name: &str) -> Vec<&'a str> {
    let list = value.get(name).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).collect()
}
