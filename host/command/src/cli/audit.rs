//! `portolan audit`.

use crate::cli::{
    audit_log::{Export, Verify, parse_instant},
    client::{Operator, block_on, text},
};
use clap::{Args, Subcommand};
use portolan_vocabulary::{Timestamp, one_line};
use serde_json::Value;
use std::process::ExitCode;

/// The maximum number of rows of one request.
const MAX_PAGE_ROWS: usize = 1_000;

/// Arguments of `portolan audit`. A row must match every filter.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Audit {
    #[command(subcommand)]
    command: Option<AuditCommand>,
    #[command(flatten)]
    operator: Operator,
    /// Filter by time, from: 30m, 12h, 7d, or a time such as 2026-11-21T18:30:00Z
    #[arg(long, value_name = "TIME", value_parser = parse_instant)]
    since: Option<Timestamp>,
    /// Filter by time, until
    #[arg(long, value_name = "TIME", value_parser = parse_instant)]
    until: Option<Timestamp>,
    /// Filter by agent
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// Filter by the owner of agents
    #[arg(long, value_name = "ID")]
    owner: Option<String>,
    /// Filter by capability
    #[arg(long, value_name = "ID")]
    capability: Option<String>,
    /// Filter by action
    #[arg(long)]
    action: Option<String>,
    /// Filter by request
    #[arg(long, value_name = "ID")]
    request: Option<String>,
    /// Filter by outcome: ok, failed, or an error code
    #[arg(long)]
    outcome: Option<String>,
    /// Filter by operator, with what their calls have called: a name, or socket:USER
    #[arg(long = "operator", value_name = "NAME")]
    operator_name: Option<String>,
    /// The maximum number of rows to print, the newest first
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    limit: usize,
    /// Print each row as a line of JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    /// Check that no row or checkpoint was changed, removed or added
    ///
    /// Prints a line for each fault. The exit status is 1 if there is a fault.
    Verify(Verify),
    /// Print the rows with the checkpoints and keys that verify them
    Export(Export),
}

impl Audit {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Some(AuditCommand::Verify(verify)) => verify.run(),
            Some(AuditCommand::Export(export)) => export.run(),
            None => block_on(self.show()),
        }
    }

    async fn show(self) -> anyhow::Result<ExitCode> {
        let filter = [
            ("since", self.since.map(|time| time.to_string())),
            ("until", self.until.map(|time| time.to_string())),
            ("agent_id", self.agent),
            ("owner_id", self.owner),
            ("capability", self.capability),
            ("action", self.action),
            ("request_id", self.request),
            ("outcome", self.outcome),
            ("operator", self.operator_name),
        ];
        let filter: Vec<_> =
            filter.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        let (mut remaining, mut before) = (self.limit, None);
        while remaining > 0 {
            let mut query = filter.clone();
            query.push(("limit", remaining.min(MAX_PAGE_ROWS).to_string()));
            query.extend(before.map(|before: i64| ("before", before.to_string())));
            let page = self.operator.get("/audit", &query).await?;
            let entries = page.get("entries").and_then(Value::as_array);
            for entry in entries.into_iter().flatten() {
                remaining = remaining.saturating_sub(1);
                if self.json { line!("{entry}") } else { print(entry) }
            }
            before = page.get("before").and_then(Value::as_i64);
            if before.is_none() {
                break;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print(entry: &Value) {
    let action = format!("{}.{}", text(entry, "capability"), text(entry, "action"));
    let micros = entry.get("duration_us").and_then(Value::as_f64).unwrap_or_default();
    let names = ["agent_id", "client_id", "address"];
    let named = names.into_iter().find(|name| entry.get(name).is_some_and(Value::is_string));
    // The first caller is the operator, if it was one. The agent is then the one that was decided about.
    let operator = entry.pointer("/via/0").and_then(Value::as_str);
    let operator = operator.filter(|caller| caller.starts_with("operator:"));
    let concerned = match (operator, named) {
        (Some(_), Some(name)) => text(entry, name),
        _ => text(entry, "owner_id"),
    };
    let caller = operator.map(|caller| one_line(caller, caller.len()));
    let caller = caller.or_else(|| named.map(|name| text(entry, name)));
    let caller = caller.unwrap_or_else(|| "system".to_owned());
    let count = entry.get("count").and_then(Value::as_u64).unwrap_or(1);
    let times = if count > 1 { format!("  {count} times") } else { String::new() };
    line!(
        "{}  {:<32} {:<24} {:>8.1} ms  {caller} {concerned}  {}{times}",
        text(entry, "at"),
        action,
        text(entry, "outcome"),
        micros / 1000.0,
        text(entry, "request_id"),
    );
}
