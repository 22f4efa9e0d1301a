//! For the operator: is it alive, is it ready, what is in the catalog.

use crate::{catalog::Status, http::App};
use axum::{Json, extract::State};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) async fn healthz() -> &'static str {
    "ok"
}

/// The host listens only after the catalog is loaded, so an answer means ready.
pub(super) async fn readyz(State(app): State<Arc<App>>) -> Json<Value> {
    let snapshot = app.host.catalog.snapshot();
    Json(json!({
        "ready": true,
        "version": env!("CARGO_PKG_VERSION"),
        "public_url": app.public_url,
        "catalog_version": snapshot.version,
        "capabilities": snapshot.capabilities.len(),
        "pooled_sandboxes": app.host.sandbox.pooled(),
    }))
}

pub(super) async fn catalog(State(app): State<Arc<App>>) -> Json<Status> {
    Json(app.host.catalog.status())
}
