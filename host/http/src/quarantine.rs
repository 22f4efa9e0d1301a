//! The operator's routes for documents in quarantine.

use crate::{
    App, Refusal,
    admin::{Deciding, invalid_query},
    read_body,
};
use axum::{
    Json,
    body::Bytes,
    extract::{
        Query, State,
        rejection::{BytesRejection, QueryRejection},
    },
    http::HeaderMap,
};
use portolan_pipeline::DocumentLocation;
use portolan_store::AuditRecord;
use portolan_vocabulary::{ErrorCode, Failure};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The query of the routes that show or delete one document.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DocumentQuery {
    capability: String,
    collection: String,
    id: String,
    #[serde(default)]
    test_mode: bool,
}

/// The query of `PUT /documents/document`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RepairQuery {
    capability: String,
    collection: String,
    id: String,
    #[serde(default)]
    test_mode: bool,
    /// Whether the document is only checked. This changes nothing, and leaves no row.
    #[serde(default)]
    dry_run: bool,
}

type Parameters = Result<Query<DocumentQuery>, QueryRejection>;

pub(super) async fn list(State(app): State<Arc<App>>) -> Result<Json<Value>, Refusal> {
    Ok(Json(json!({ "documents": app.host.store.quarantined().await? })))
}

pub(super) async fn show(
    State(app): State<Arc<App>>,
    parameters: Parameters,
) -> Result<Json<Value>, Refusal> {
    let Query(query) = parameters.map_err(invalid_query)?;
    let capability = (&*query.capability, query.test_mode);
    let found =
        app.host.store.quarantined_document(capability, &query.collection, &query.id).await?;
    let not_found =
        || Failure::new(ErrorCode::NotFound).message("There is no such document in quarantine.");
    Ok(Json(json!(found.ok_or_else(not_found)?)))
}

pub(super) async fn repair(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    parameters: Result<Query<RepairQuery>, QueryRejection>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, Refusal> {
    let Query(query) = parameters.map_err(invalid_query)?;
    let RepairQuery { capability, collection, id, test_mode, dry_run } = query;
    let location = DocumentLocation { capability, test_mode, collection, id };
    let document = Value::Object(read_body(&app, &headers, body)?);
    if dry_run {
        app.host.check_document(&location, &document).await?;
        return Ok(Json(json!({ "repaired": false })));
    }
    let row = app.host.decision("operator:repair_document", &operator);
    let row = AuditRecord { capability: location.capability.clone(), ..row };
    app.host.repair_document(&location, &document, row).await?;
    Ok(Json(json!({ "repaired": true })))
}

pub(super) async fn drop(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    parameters: Parameters,
) -> Result<Json<Value>, Refusal> {
    let Query(query) = parameters.map_err(invalid_query)?;
    let row = app.host.decision("operator:drop_document", &operator);
    let row = AuditRecord { capability: query.capability.clone(), ..row };
    app.host.drop_document(&query.into(), row).await?;
    Ok(Json(json!({ "deleted": true })))
}

impl From<DocumentQuery> for DocumentLocation {
    fn from(DocumentQuery { capability, collection, id, test_mode }: DocumentQuery) -> Self {
        Self { capability, test_mode, collection, id }
    }
}
