//! The operator's route for the files of people: giving their place to the database of this host.

use crate::{App, Refusal, admin::Deciding};
use axum::{Json, extract::State};
use serde_json::{Value, json};
use std::sync::Arc;

/// Gives the folder or the bucket of files to the database of this host.
pub(super) async fn adopt(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
) -> Result<Json<Value>, Refusal> {
    app.host.blobs.adopt_place().await?;
    tracing::info!("the files belong to the database of this host now");
    app.host.record_decision(app.host.decision("operator:adopt_files", &operator)).await?;
    Ok(Json(json!({ "adopted": true })))
}
