//! The last calls in the name of an agent, from the audit log.

use super::things::words;
use crate::App;
use portolan_store::{AuditEntry, AuditQuery, DbError};
use portolan_vocabulary::Timestamp;

/// The maximum number of calls that are shown of one agent.
const CALLS: u64 = 5;

/// A call in the audit log, which has what changes something.
pub(in super::super) struct LoggedCall {
    pub(in super::super) at: Timestamp,
    /// The title of the called action in the current catalog.
    pub(in super::super) title: String,
    pub(in super::super) capability: String,
    /// Why it was refused; empty if it was done.
    pub(in super::super) refused: String,
}

impl LoggedCall {
    fn of(app: &App, entry: AuditEntry) -> Self {
        let row = entry.record;
        let snapshot = app.host.catalog.snapshot();
        let action = snapshot
            .capabilities
            .get(row.capability.as_str())
            .and_then(|capability| capability.action(&row.action));
        let name = row.action.split(':').next_back().unwrap_or_default();
        let title = action.map_or_else(|| words(name), |action| action.descriptor.title.clone());
        let refused = if row.outcome == "ok" { String::new() } else { words(&row.outcome) };
        Self { at: row.at, title, capability: row.capability, refused }
    }
}

/// Returns what was done last in the name of an agent for its person, the newest first.
pub(in super::super) async fn last_calls(
    app: &App,
    agent_id: &str,
    owner_id: &str,
) -> Result<Vec<LoggedCall>, DbError> {
    let query = AuditQuery {
        agent_id: Some(agent_id.to_owned()),
        // Calls of the agent before the claim, or for another person, are not this person's.
        owner_id: Some(owner_id.to_owned()),
        is_direct: true,
        limit: CALLS,
        ..AuditQuery::default()
    };
    let rows = app.host.store.audit(&query).await?;
    Ok(rows.into_iter().map(|row| LoggedCall::of(app, row)).collect())
}
