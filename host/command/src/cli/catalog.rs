//! `portolan catalog`.

use crate::cli::client::{Operator, block_on, text};
use clap::{Args, Subcommand};
use portolan_vocabulary::one_line;
use reqwest::Method;
use serde_json::Value;
use std::process::ExitCode;

/// Arguments of `portolan catalog`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct CatalogCommand {
    #[command(subcommand)]
    decision: Option<Decision>,
    #[command(flatten)]
    operator: Operator,
    /// Print the host's answer as JSON
    #[arg(long)]
    json: bool,
    /// Show what each capability may reach: interfaces, other capabilities, events
    #[arg(long)]
    permissions: bool,
    /// Show what each capability uses of its quotas
    #[arg(long)]
    quotas: bool,
}

#[derive(Debug, Subcommand)]
enum Decision {
    /// Permit everything that a component needs and is not permitted yet
    ///
    /// `portolan catalog` lists it, and `portolan check` prints it before the file is installed.
    Approve(DecisionArguments),
    /// Give an id, with its documents and secrets, to the publisher of the refused file with this id
    Adopt(DecisionArguments),
}

/// The arguments of a decision.
#[derive(Debug, Args)]
pub(super) struct DecisionArguments {
    /// The capability's id, such as agent_listings
    id: String,
    /// Decide only if the component has this digest, as `portolan catalog` and `portolan check` show it
    #[arg(long)]
    digest: Option<String>,
    #[command(flatten)]
    operator: Operator,
}

impl DecisionArguments {
    async fn send(&self, decision: &str) -> anyhow::Result<Value> {
        let path = format!("/catalog/{}/{decision}", self.id);
        let digest = self.digest.as_ref().map(|digest| ("digest", digest.clone()));
        self.operator.send(Method::POST, &path, digest.as_slice()).await
    }
}

impl Decision {
    async fn execute(&self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Approve(arguments) => {
                let answer = arguments.send("approve").await?;
                line!("{} may now: {}", arguments.id, texts(&answer, "permitted"));
            }
            Self::Adopt(arguments) => {
                let answer = arguments.send("adopt").await?;
                line!("{} belongs to {} now", arguments.id, text(&answer, "publisher"));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl CatalogCommand {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(async {
            match &self.decision {
                Some(decision) => decision.execute().await,
                None => self.show().await,
            }
        })
    }

    async fn show(&self) -> anyhow::Result<ExitCode> {
        let status = self.operator.get("/catalog", &[]).await?;
        if self.json {
            line!("{status:#}");
        } else if self.permissions {
            print_permissions(&status);
        } else if self.quotas {
            print_quotas(&status, 0.0);
        } else {
            print(&status);
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the texts of a list, joined with commas.
fn texts(value: &Value, name: &str) -> String {
    let list = value.get(name).and_then(Value::as_array).into_iter().flatten();
    let texts = list.filter_map(Value::as_str).map(|text| one_line(text, text.len()));
    texts.collect::<Vec<_>>().join(", ")
}

/// Prints each capability with its publisher and what it may reach.
fn print_permissions(status: &Value) {
    for capability in status.get("loaded").and_then(Value::as_array).into_iter().flatten() {
        line!("{} ({})", text(capability, "id"), text(capability, "publisher"));
        for name in ["imports", "invokes", "publishes", "subscribes", "missing"] {
            let names = texts(capability, name);
            if !names.is_empty() {
                line!("  {name:<10} {names}");
            }
        }
    }
}

/// The used share of a quota from which on `portolan catalog` shows the quota.
const NOTABLE_SHARE: f64 = 0.8;

/// Prints the quotas of which at least this share is used.
fn print_quotas(status: &Value, share: f64) {
    for quota in status.get("quotas").and_then(Value::as_array).into_iter().flatten() {
        let amount = |name: &str| quota.get(name).and_then(Value::as_f64).unwrap_or(0.0);
        if amount("used") < amount("limit") * share {
            continue;
        }
        let mode = match quota.get("test_mode") {
            Some(Value::Bool(true)) => " (test mode)",
            _ => "",
        };
        let (used, limit) = (text(quota, "used"), text(quota, "limit"));
        let (id, name) = (text(quota, "capability"), text(quota, "quota"));
        line!("quota: {id}{mode} has {used} of {limit} {name}");
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
        let missing = texts(capability, "missing");
        if !missing.is_empty() {
            let (id, digest) = (text(capability, "id"), text(capability, "digest"));
            line!(
                "    not permitted: {missing}; if you trust it, run `portolan catalog approve {id} --digest {digest}`"
            );
        }
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
    for migration in list("migrations") {
        let (from, to) = (text(&migration, "from"), text(&migration, "to"));
        let (activity, versions) = match from == to {
            true => ("indexing", String::new()),
            false => ("migrating", format!(" from version {from} to {to}")),
        };
        line!(
            "{activity}: {}: {}.{}{versions}, {} of {} documents",
            text(&migration, "file"),
            text(&migration, "id"),
            text(&migration, "collection"),
            text(&migration, "migrated"),
            text(&migration, "documents")
        );
    }
    for release in list("releases") {
        line!(
            "release: {} {} to {} % of the callers, {} to the others ({})",
            text(&release, "id"),
            text(&release, "version"),
            text(&release, "share"),
            text(&release, "served_version"),
            text(&release, "state")
        );
        if release.get("problem").is_some() {
            line!("  {}", text(&release, "problem"));
        }
    }
    print_quotas(status, NOTABLE_SHARE);
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
