//! The operator's routes that show what runs on this node: recent calls, the busiest callers, webhooks that fail,
//! and the settings in force.

use crate::{App, Refusal};
use axum::{Json, extract::State};
use serde_json::{Value, json};
use std::sync::Arc;

/// The maximum number of accounts of an answer.
const MAX_ACCOUNTS: usize = 50;

/// Returns the runs of the last minutes, and the refused calls of agents.
pub(super) async fn calls(State(app): State<Arc<App>>) -> Json<Value> {
    Json(json!(app.host.recent_calls.report(app.host.clock.now())))
}

/// Returns the accounts that were refused the most or have used the most of their rates.
pub(super) async fn callers(State(app): State<Arc<App>>) -> Json<Value> {
    let accounts = app.host.rates.busiest(MAX_ACCOUNTS);
    Json(json!({ "limited": accounts.is_some(), "accounts": accounts.unwrap_or_default() }))
}

/// Returns the webhooks whose last attempts failed.
pub(super) async fn webhooks(State(app): State<Arc<App>>) -> Result<Json<Value>, Refusal> {
    Ok(Json(json!({ "failing": app.host.store.failing_webhooks().await? })))
}

/// Returns the settings in force, without secrets.
pub(super) async fn settings(State(app): State<Arc<App>>) -> Json<Value> {
    Json(json!({ "settings": **app.operator.settings.load() }))
}
