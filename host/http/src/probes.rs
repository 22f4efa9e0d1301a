//! The probes: `/startupz`, `/healthz` and `/readyz`. They answer from the last result of the checks, so that a probe
//! costs nothing and waits for nothing. Everybody may ask, so they name parts of the host and no file or server.

use crate::{App, node::Problem};
use axum::{Json, extract::State, http::StatusCode};
use serde_json::{Value, json};
use std::sync::Arc;

/// Answers that the start is over. Before, `starting` answers.
pub(super) async fn startupz() -> Json<Value> {
    Json(json!({ "started": true }))
}

/// Answers whether the process works: only a restart helps one whose checks do not end any more.
pub(super) async fn healthz(State(app): State<Arc<App>>) -> (StatusCode, Json<Value>) {
    match app.node.is_alive() {
        true => (StatusCode::OK, Json(json!({ "healthy": true }))),
        false => {
            let reasons = [json!({ "part": "checks", "reason": "the checks do not end" })];
            let answer = json!({ "healthy": false, "reasons": reasons });
            (StatusCode::SERVICE_UNAVAILABLE, Json(answer))
        }
    }
}

/// Answers whether the host takes new work: not while it stops, nor while a part of it that calls need does not work.
pub(super) async fn readyz(State(app): State<Arc<App>>) -> (StatusCode, Json<Value>) {
    let checked = app.node.last();
    let reason =
        |problem: &Problem| json!({ "part": problem.part.name, "reason": problem.part.unready });
    let (unready, others): (Vec<_>, Vec<_>) =
        checked.problems.iter().partition(|problem| problem.unready);
    let mut reasons: Vec<_> = unready.into_iter().map(reason).collect();
    reasons.dedup();
    if app.host.events.is_stopping() {
        reasons.insert(0, json!({ "part": "host", "reason": "it is stopping" }));
    }
    let mut warnings: Vec<_> = others.iter().map(|problem| problem.part.name).collect();
    warnings.dedup();
    let status = match reasons.is_empty() {
        true => StatusCode::OK,
        false => StatusCode::SERVICE_UNAVAILABLE,
    };
    let answer = json!({
        "ready": reasons.is_empty(),
        "reasons": reasons,
        "warnings": warnings,
        "checked_at": checked.at,
        "age_s": checked.age().as_secs(),
    });
    (status, Json(answer))
}
