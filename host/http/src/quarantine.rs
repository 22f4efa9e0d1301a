//! The operator's routes for documents in quarantine.

use crate::{App, Refusal, admin::unusable, read_body};
use axum::{
    Json,
    body::Bytes,
    extract::{
        Query, State,
        rejection::{BytesRejection, QueryRejection},
    },
    http::HeaderMap,
};
use portolan_pipeline::DocumentPlace;
use portolan_vocabulary::{ErrorCode, Failure};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The query of the routes of one document.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Place {
    capability: String,
    collection: String,
    id: String,
    #[serde(default)]
    test_mode: bool,
}

type Parameters = Result<Query<Place>, QueryRejection>;

pub(super) async fn list(State(app): State<Arc<App>>) -> Result<Json<Value>, Refusal> {
    Ok(Json(json!({ "documents": app.host.store.quarantined().await? })))
}

pub(super) async fn show(
    State(app): State<Arc<App>>,
    parameters: Parameters,
) -> Result<Json<Value>, Refusal> {
    let Query(place) = parameters.map_err(unusable)?;
    let of = (&*place.capability, place.test_mode);
    let found = app.host.store.quarantined_document(of, &place.collection, &place.id).await?;
    let not_found =
        || Failure::new(ErrorCode::NotFound).message("There is no such document in quarantine.");
    Ok(Json(json!(found.ok_or_else(not_found)?)))
}

pub(super) async fn repair(
    State(app): State<Arc<App>>,
    parameters: Parameters,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, Refusal> {
    let Query(place) = parameters.map_err(unusable)?;
    let document = Value::Object(read_body(&app, &headers, body)?);
    app.host.repair_document(&place.into(), &document).await?;
    Ok(Json(json!({ "repaired": true })))
}

pub(super) async fn drop(
    State(app): State<Arc<App>>,
    parameters: Parameters,
) -> Result<Json<Value>, Refusal> {
    let Query(place) = parameters.map_err(unusable)?;
    app.host.drop_document(&place.into()).await?;
    Ok(Json(json!({ "deleted": true })))
}

impl From<Place> for DocumentPlace {
    fn from(Place { capability, collection, id, test_mode }: Place) -> Self {
        Self { capability, test_mode, collection, id }
    }
}
