//! The operator's routes that show what runs on this node: recent calls, traces, the busiest callers, webhooks that
//! fail, and the settings in force.

use crate::{App, Refusal, admin::invalid_query};
use axum::{
    Json,
    extract::{Path, Query, State, rejection::QueryRejection},
};
use portolan_vocabulary::{ErrorCode, Failure};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The maximum number of accounts of an answer.
const MAX_ACCOUNTS: usize = 50;

/// Returns the runs of the last minutes, and the refused calls of agents.
pub(super) async fn calls(State(app): State<Arc<App>>) -> Json<Value> {
    Json(json!(app.host.recent_calls.report(app.host.clock.now())))
}

/// The order of the kept traces.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Order {
    #[default]
    Latest,
    Slowest,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TracesQuery {
    #[serde(default)]
    order: Order,
    /// Whether only traces with an error are wanted.
    #[serde(default)]
    failed: bool,
}

/// Returns the traces that this node has kept.
pub(super) async fn traces(
    State(app): State<Arc<App>>,
    parameters: Result<Query<TracesQuery>, QueryRejection>,
) -> Result<Json<Value>, Refusal> {
    let Query(query) = parameters.map_err(invalid_query)?;
    let mut traces = app.host.telemetry.kept();
    traces.retain(|trace| !query.failed || trace.error.is_some());
    if matches!(query.order, Order::Slowest) {
        traces.sort_by(|one, other| other.duration_ms.total_cmp(&one.duration_ms));
    }
    Ok(Json(json!({ "traces": traces })))
}

/// Returns a kept trace by its id, or by the id of one of its requests.
pub(super) async fn trace(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let Some(trace) = app.host.telemetry.find_kept(&id) else {
        let message = "This node has kept no trace with this id, nor of a request with this id. It records a share of all traces (`telemetry.sample`), and those whose `traceparent` is sampled; the latest are kept (`telemetry.keep`).";
        return Err(Failure::new(ErrorCode::NotFound).message(message).into());
    };
    Ok(Json(json!(trace)))
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
