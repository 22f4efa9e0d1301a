//! The page of the audit log: a search with filters in pages, and whether the log is whole.

use super::{
    figures::{grouped, moment, quoted},
    frame::{Done, Frame, shown, with_query},
    state::Console,
    visitor::Visitor,
};
use askama::Template;
use axum::{
    extract::{Query, State},
    response::Response,
};
use portolan_vocabulary::{Failure, Timestamp};
use serde::Deserialize;
use std::sync::Arc;

/// The number of rows of a page.
const ROWS: &str = "50";

/// The query: the filters of the search, and where the page begins.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    since: String,
    until: String,
    agent_id: String,
    owner_id: String,
    capability: String,
    action: String,
    request_id: String,
    outcome: String,
    operator: String,
    before: String,
    /// Whether to verify the log of the last day.
    verify: String,
}

/// A filter of the search as the form shows it.
struct Filter<'a> {
    name: &'static str,
    label: &'static str,
    value: &'a str,
}

impl Asked {
    fn filters(&self) -> [Filter<'_>; 9] {
        let filter = |name, label, value| Filter { name, label, value };
        [
            filter("since", "Since, such as 2026-11-21T18:30:00Z", &self.since),
            filter("until", "Until", &self.until),
            filter("operator", "Operator", &self.operator),
            filter("agent_id", "Agent", &self.agent_id),
            filter("owner_id", "Person", &self.owner_id),
            filter("capability", "Capability", &self.capability),
            filter("action", "Action", &self.action),
            filter("outcome", "Outcome: ok, failed or a code", &self.outcome),
            filter("request_id", "Request", &self.request_id),
        ]
    }

    /// Returns the address of this search from `before` on.
    fn address(&self, path: &str, before: &str, limit: &str) -> String {
        let filters = self.filters();
        let mut parameters: Vec<_> =
            filters.iter().map(|filter| (filter.name, filter.value.trim())).collect();
        parameters.extend([("before", before), ("limit", limit)]);
        with_query(path, &parameters)
    }
}

#[derive(Debug, Deserialize)]
struct Rows {
    entries: Vec<Row>,
    /// The cursor of the next page.
    before: Option<i64>,
}

#[derive(Debug, Deserialize)]
struct Row {
    at: Timestamp,
    request_id: String,
    agent_id: Option<String>,
    owner_id: Option<String>,
    client_id: Option<String>,
    address: Option<String>,
    via: Vec<String>,
    capability: String,
    version: String,
    action: String,
    outcome: String,
    duration_us: u64,
    count: u64,
}

impl Row {
    /// Returns who has called: the operator, the agent, or what else is known.
    fn caller(&self) -> &str {
        let operator = self.via.first().filter(|caller| caller.starts_with("operator:"));
        let named =
            [operator, self.agent_id.as_ref(), self.client_id.as_ref(), self.address.as_ref()];
        named.into_iter().flatten().next().map_or("the host", String::as_str)
    }

    fn milliseconds(&self) -> String {
        let tenths = self.duration_us / 100;
        format!("{}.{}", tenths / 10, tenths % 10)
    }
}

/// The answer to `GET /audit/verification`.
#[derive(Debug, Deserialize)]
struct Verification {
    since: Timestamp,
    whole: bool,
    fault_count: u64,
    faults: Vec<String>,
    nodes: u64,
    checkpoints: u64,
    rows: u64,
}

#[derive(Template)]
#[template(path = "console/audit.html")]
struct AuditPage<'a> {
    frame: Frame,
    filters: [Filter<'a>; 9],
    rows: Vec<Row>,
    /// The address of the next page.
    next: Option<String>,
    verification: Option<Verification>,
}

pub(super) async fn show(
    State(console): State<Arc<Console>>,
    visitor: Visitor,
    Query(asked): Query<Asked>,
) -> Response {
    shown(audit_page(&console, &visitor, &asked).await)
}

async fn audit_page<'a>(
    console: &Console,
    visitor: &Visitor,
    asked: &'a Asked,
) -> Result<AuditPage<'a>, Failure> {
    let (api, operator) = (&console.api, &visitor.operator);
    let path = asked.address("/audit", &asked.before, ROWS);
    let Rows { entries, before } = api.get(operator, &path).await?;
    let verification = match asked.verify.is_empty() {
        true => None,
        false => Some(api.get(operator, "/audit/verification").await?),
    };
    Ok(AuditPage {
        frame: Frame::new(console, visitor, "/console/audit", &Done::default()),
        filters: asked.filters(),
        rows: entries,
        next: before.map(|before| asked.address("/console/audit", &before.to_string(), "")),
        verification,
    })
}
