//! `portolan catalog`.

use crate::cli::client::{Operator, block_on, text};
use clap::Args;
use serde_json::Value;
use std::process::ExitCode;

/// Arguments of `portolan catalog`.
#[derive(Debug, Args)]
pub(super) struct CatalogCommand {
    #[command(flatten)]
    operator: Operator,
    /// Print the host's answer as JSON
    #[arg(long)]
    json: bool,
}

impl CatalogCommand {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(self.show())
    }

    async fn show(self) -> anyhow::Result<ExitCode> {
        let status = self.operator.get("/catalog", &[]).await?;
        if self.json {
            line!("{status:#}");
        } else {
            print(&status);
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print(status: &Value) {
    let list = |name: &str| status.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let (loaded, refused, pending) = (list("loaded"), list("refused"), list("pending"));
    line!(
        "catalog version {}: {} loaded, {} refused, {} pending",
        text(status, "catalog_version"),
        loaded.len(),
        refused.len(),
        pending.len()
    );
    for capability in &loaded {
        line!(
            "  {:<24} {:<10} {:>3} actions  {:>9} bytes  {}",
            text(capability, "id"),
            text(capability, "version"),
            text(capability, "actions"),
            text(capability, "bytes"),
            text(capability, "file")
        );
    }
    for role in list("roles") {
        if role.get("vacant").is_some() {
            line!("vacant role: {} ({})", text(&role, "role"), text(&role, "purpose"));
            line!("  {}", text(&role, "vacant"));
        }
    }
    for file in &refused {
        line!(
            "refused: {}\n  {} ({})\n  to fix it: {}",
            text(file, "file"),
            text(file, "message"),
            text(file, "reason"),
            text(file, "fix")
        );
        for problem in file.get("problems").and_then(Value::as_array).into_iter().flatten() {
            line!(
                "  - {}: {}; {}",
                text(problem, "at"),
                text(problem, "problem"),
                text(problem, "fix")
            );
        }
        if file.get("still_serving").is_some() {
            let version = text(file, "still_serving");
            line!("  its earlier content, version {version}, still serves");
        }
    }
    for file in &pending {
        line!("pending: {file}");
    }
    for change in list("changes").iter().filter(|change| {
        change.get("breaking").is_some_and(|breaking| breaking != &Value::Array(Vec::new()))
    }) {
        line!(
            "breaking at {}: {} {} -> {}",
            text(change, "at"),
            text(change, "id"),
            text(change, "from"),
            text(change, "to")
        );
        for sentence in change.get("breaking").and_then(Value::as_array).into_iter().flatten() {
            line!("  - {}", sentence.as_str().unwrap_or_default());
        }
    }
}
