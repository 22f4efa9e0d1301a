//! The operator's routes for operators: the list, and the creation, renewal and end of their
//! tokens.

use crate::{
    App, Refusal,
    admin::{Deciding, invalid_query},
};
use axum::{
    Json,
    extract::{Path, Query, State, rejection::QueryRejection},
};
use portolan_identity::DEFAULT_OPERATOR_DAYS;
use portolan_store::{AuditRecord, OperatorRecord};
use portolan_vocabulary::{OperatorRole, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The query of `POST /operators`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AddParameters {
    name: String,
    role: OperatorRole,
    /// The life of the token.
    days: Option<u32>,
}

/// The query of `POST /operators/{name}/renew`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RenewParameters {
    days: Option<u32>,
}

/// Returns the operators with tokens of their own, by name.
pub(super) async fn list(State(app): State<Arc<App>>) -> Result<Json<Value>, Refusal> {
    let (operators, now) = (app.host.identity.operators().await?, app.host.clock.now());
    let row = |operator: &OperatorRecord| {
        json!({
            "name": operator.name,
            "role": operator.role,
            "made_by": operator.made_by,
            "created_at": operator.created_at,
            "expires_at": operator.expires_at,
            "expired": operator.expires_at <= now,
            "last_used_on": operator.last_used_at.map(Timestamp::day),
        })
    };
    Ok(Json(json!({ "operators": operators.iter().map(row).collect::<Vec<_>>() })))
}

/// Adds an operator, and returns the token, which is shown once.
pub(super) async fn add(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    parameters: Result<Query<AddParameters>, QueryRejection>,
) -> Result<Json<Value>, Refusal> {
    let Query(AddParameters { name, role, days }) = parameters.map_err(invalid_query)?;
    let days = days.unwrap_or(DEFAULT_OPERATOR_DAYS);
    let token = app.host.identity.add_operator(&name, role, days, &operator).await?;
    let row = app.host.decision("operator:add_operator", &operator);
    let version = format!("{name} {role}");
    app.host.record_decision(AuditRecord { version, ..row }).await?;
    Ok(Json(json!({ "name": name, "role": role, "days": days, "token": token })))
}

/// Replaces the token of an operator, and returns the new one, which is shown once.
pub(super) async fn renew(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    Path(name): Path<String>,
    parameters: Result<Query<RenewParameters>, QueryRejection>,
) -> Result<Json<Value>, Refusal> {
    let Query(RenewParameters { days }) = parameters.map_err(invalid_query)?;
    let days = days.unwrap_or(DEFAULT_OPERATOR_DAYS);
    let token = app.host.identity.renew_operator(&name, days, &operator).await?;
    let row = app.host.decision("operator:renew_operator", &operator);
    app.host.record_decision(AuditRecord { version: name.clone(), ..row }).await?;
    Ok(Json(json!({ "name": name, "days": days, "token": token })))
}

/// Removes an operator.
pub(super) async fn remove(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    Path(name): Path<String>,
) -> Result<Json<Value>, Refusal> {
    app.host.identity.remove_operator(&name).await?;
    let row = app.host.decision("operator:remove_operator", &operator);
    app.host.record_decision(AuditRecord { version: name.clone(), ..row }).await?;
    Ok(Json(json!({ "name": name, "removed": true })))
}
