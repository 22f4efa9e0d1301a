//! `GET /audit/export`: the audit log with the checkpoints that verify it, page by page.

use crate::{App, Refusal, admin::invalid_query};
use axum::{
    Json,
    extract::{Query, State, rejection::QueryRejection},
};
use portolan_identity::IdentityError;
use portolan_store::{AuditLine, ExportCursor};
use portolan_vocabulary::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The query; without a place to go on from, the export begins.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExportParameters {
    since: Option<Timestamp>,
    node: Option<String>,
    number: Option<u64>,
    seq: Option<i64>,
}

/// A page of an export.
#[derive(Debug, Serialize)]
pub(super) struct ExportPage {
    lines: Vec<AuditLine>,
    /// The parameters of the next page; `None` on the last one.
    next: Option<NextPage>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum NextPage {
    Checkpoints { node: String, number: u64 },
    Rows { seq: i64 },
}

pub(super) async fn export(
    State(app): State<Arc<App>>,
    parameters: Result<Query<ExportParameters>, QueryRejection>,
) -> Result<Json<ExportPage>, Refusal> {
    let Query(query) = parameters.map_err(invalid_query)?;
    let after = match (query.node, query.number, query.seq) {
        (Some(node), Some(number), _) => Some(ExportCursor::Checkpoint { node, number }),
        (_, _, Some(seq)) => Some(ExportCursor::Row(seq)),
        _ => None,
    };
    let page = app.host.store.export_audit_log(query.since, after).await;
    let (lines, next) = page.map_err(IdentityError::from)?;
    let next = next.map(|next| match next {
        ExportCursor::Checkpoint { node, number } => NextPage::Checkpoints { node, number },
        ExportCursor::Row(seq) => NextPage::Rows { seq },
    });
    Ok(Json(ExportPage { lines, next }))
}

/// Returns the public keys that verify checkpoints.
pub(super) async fn keys(State(app): State<Arc<App>>) -> Result<Json<Vec<AuditLine>>, Refusal> {
    Ok(Json(app.host.store.audit_keys().await.map_err(IdentityError::from)?))
}
