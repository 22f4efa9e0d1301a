//! `GET /audit/verification` for the operator: whether the rows of the audit log since a time are as they were
//! signed.

use crate::{App, Refusal, admin::invalid_query};
use axum::{
    Json,
    extract::{Query, State, rejection::QueryRejection},
};
use portolan_identity::IdentityError;
use portolan_store::AuditVerifier;
use portolan_vocabulary::{ErrorCode, Failure, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The time that is verified if the query names none.
const DAY_MS: u64 = 24 * 3600 * 1000;
/// The maximum number of pages of the log that one request reads, of 1,000 rows each.
const MAX_PAGES: usize = 200;
/// The maximum number of faults of an answer.
const MAX_FAULTS: usize = 100;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VerificationParameters {
    since: Option<Timestamp>,
}

pub(super) async fn verify(
    State(app): State<Arc<App>>,
    parameters: Result<Query<VerificationParameters>, QueryRejection>,
) -> Result<Json<Value>, Refusal> {
    let Query(VerificationParameters { since }) = parameters.map_err(invalid_query)?;
    let day_ago = app.host.clock.now().as_millis().saturating_sub(DAY_MS);
    let since = since.unwrap_or(Timestamp::from_millis(day_ago));
    let (mut verifier, mut after) = (AuditVerifier::default(), None);
    for _ in 0..MAX_PAGES {
        let page = app.host.store.export_audit_log(Some(since), after).await;
        let (lines, next) = page.map_err(IdentityError::from)?;
        lines.into_iter().for_each(|line| verifier.add(line));
        if next.is_none() {
            let report = verifier.finish();
            let faults = report.faults.iter().take(MAX_FAULTS).map(ToString::to_string);
            return Ok(Json(json!({
                "since": since,
                "whole": report.faults.is_empty(),
                "fault_count": report.faults.len(),
                "faults": faults.collect::<Vec<_>>(),
                "nodes": report.nodes,
                "checkpoints": report.checkpoints,
                "rows": report.rows,
                "waiting": report.waiting,
            })));
        }
        after = next;
    }
    let message = "These are more rows than a request verifies. Name a later time as `since`, or run `portolan audit verify`.";
    Err(Refusal(Failure::new(ErrorCode::ValidationFailed).message(message)))
}
