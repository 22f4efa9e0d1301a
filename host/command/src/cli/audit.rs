//! `portolan audit`.

use crate::cli::client::{Operator, block_on, text};
use clap::Args;
use portolan_vocabulary::Timestamp;
use serde_json::Value;
use std::process::ExitCode;

/// The maximum number of rows of one request.
const MAX_PAGE_ROWS: usize = 1_000;

/// Arguments of `portolan audit`. A row must match every filter.
#[derive(Debug, Args)]
pub(super) struct Audit {
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
    /// The maximum number of rows to print, the newest first
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    limit: usize,
    /// Print each row as a line of JSON
    #[arg(long)]
    json: bool,
}

impl Audit {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(self.show())
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
    let caller = match entry.get("agent_id") {
        Some(Value::String(agent)) => agent.clone(),
        _ => "system".to_owned(),
    };
    line!(
        "{}  {:<32} {:<24} {:>8.1} ms  {caller} {}  {}",
        text(entry, "at"),
        action,
        text(entry, "outcome"),
        micros / 1000.0,
        text(entry, "owner_id"),
        text(entry, "request_id"),
    );
}

/// Parses an instant, or a duration before now.
fn parse_instant(text: &str) -> Result<Timestamp, String> {
    const UNITS: [(char, u64); 4] = [('s', 1), ('m', 60), ('h', 3_600), ('d', 86_400)];
    let millis_ago = UNITS.iter().find_map(|(unit, seconds)| {
        let count: u64 = text.strip_suffix(*unit)?.parse().ok()?;
        count.checked_mul(seconds * 1000)
    });
    match millis_ago {
        Some(millis_ago) => {
            Ok(Timestamp::from_millis(Timestamp::now().as_millis().saturating_sub(millis_ago)))
        }
        None => text
            .parse()
            .map_err(|_| "write 30m, 12h, 7d, or a time such as 2026-11-21T18:30:00Z".to_owned()),
    }
}
