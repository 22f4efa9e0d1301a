//! `portolan release`.

use crate::cli::{
    client::{Operator, block_on, text},
    decision::DecisionArguments,
};
use clap::Subcommand;
use reqwest::Method;
use serde_json::Value;
use std::process::ExitCode;

/// The commands of `portolan release`.
#[derive(Debug, Subcommand)]
pub(super) enum Release {
    /// Show the newest release of a capability, with what was counted of the calls of both versions
    Status {
        /// The capability's id, such as agent_listings
        id: String,
        #[command(flatten)]
        operator: Operator,
        /// Print the host's answer as JSON
        #[arg(long)]
        json: bool,
    },
    /// Change the share of the callers who get the version
    Share {
        /// The capability's id, such as agent_listings
        id: String,
        /// The share in percent
        #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u64).range(1..=50))]
        share: u64,
        #[command(flatten)]
        decision: DecisionArguments,
    },
    /// Give the version to all callers, on all nodes of the host's database
    Promote {
        /// The capability's id, such as agent_listings
        id: String,
        #[command(flatten)]
        decision: DecisionArguments,
    },
    /// Take the version back: all callers get the served one again
    Abort {
        /// The capability's id, such as agent_listings
        id: String,
        /// The reason, for the history
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        decision: DecisionArguments,
    },
}

impl Release {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(async {
            match self {
                Self::Status { id, operator, json } => {
                    let path = format!("/catalog/{id}/release");
                    show(&operator.get(&path, &[]).await?, json);
                }
                Self::Share { id, share, decision } => {
                    let query = vec![("share", share.to_string())];
                    let answer = send(&id, "share", query, &decision).await?;
                    show(&answer, decision.json);
                }
                Self::Promote { id, decision } => {
                    let answer = send(&id, "promote", Vec::new(), &decision).await?;
                    return decision.print(&answer);
                }
                Self::Abort { id, reason, decision } => {
                    let query = reason.map(|reason| ("reason", reason)).into_iter().collect();
                    let answer = send(&id, "abort", query, &decision).await?;
                    show(&answer, decision.json);
                }
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

async fn send(
    id: &str,
    what: &str,
    mut query: Vec<(&str, String)>,
    decision: &DecisionArguments,
) -> anyhow::Result<Value> {
    query.extend(decision.by.clone().map(|by| ("by", by)));
    decision.operator.send(Method::POST, &format!("/catalog/{id}/release/{what}"), &query).await
}

fn show(release: &Value, json: bool) {
    if json {
        line!("{release:#}");
    } else {
        print(release);
    }
}

/// Prints a release, with what was counted of the calls of both versions.
pub(super) fn print(release: &Value) {
    line!(
        "release of {} {} to {} % of the callers: {}",
        text(release, "id"),
        text(release, "version"),
        text(release, "share"),
        text(release, "state")
    );
    line!("    since {} by {}", text(release, "started_at"), text(release, "started_by"));
    let is_set = |name: &str| release.get(name).is_some_and(|value| !value.is_null());
    if is_set("due_at") && text(release, "state") == "running" {
        let then = match release.get("promotes").and_then(Value::as_bool) {
            Some(true) => "it is promoted",
            _ => "it is to be decided about",
        };
        line!("    at {} {then}", text(release, "due_at"));
    }
    if is_set("ended_at") {
        let by = if is_set("ended_by") { text(release, "ended_by") } else { "the host".to_owned() };
        line!("    ended at {} by {by}", text(release, "ended_at"));
    }
    if is_set("reason") {
        let rule = if is_set("rule") { text(release, "rule") + ": " } else { String::new() };
        line!("    {rule}{}", text(release, "reason"));
    }
    for (side, version) in [("canary", "version"), ("served", "served_version")] {
        let Some(figures) = release.pointer(&format!("/figures/{side}")) else { continue };
        line!(
            "    {:<12} {} calls, {} failed, {} refused, median {} ms",
            text(release, version),
            text(figures, "calls"),
            text(figures, "failures"),
            text(figures, "refusals"),
            text(figures, "median_ms")
        );
    }
}
