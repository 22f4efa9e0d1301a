//! The operator's routes for people: the export and the erasure of all that is stored about one, the removal
//! of passkeys, and the end of a suspension that was taken over with a number; and the revocation of an agent.

use crate::{
    App, Refusal,
    admin::{Deciding, invalid},
    export,
};
use axum::{
    Json,
    extract::{Path, State},
    response::Response,
};
use portolan_store::AuditRecord;
use portolan_vocabulary::{ErrorCode, Failure, person_ids};
use serde_json::{Value, json};
use std::sync::Arc;

/// Returns all that is stored about a person.
pub(super) async fn export(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    Path(owner_id): Path<String>,
) -> Result<Response, Refusal> {
    ensure_known(&app, &owner_id).await?;
    let ids = app.host.store.person_ids(&owner_id).await?;
    tracing::info!(owner_id, "a person's data is exported by the operator");
    // An erasure removes the person from this row.
    let row = app.host.decision("operator:export_person", &operator);
    app.host.record_decision(AuditRecord { owner_id: Some(owner_id), ..row }).await?;
    Ok(export::export(app, ids))
}

/// Erases a person and returns the number of documents, events and answers that this concerned.
pub(super) async fn erase(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    Path(owner_id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    ensure_known(&app, &owner_id).await?;
    let counts = app.host.erase_person(&owner_id).await.map_err(Refusal)?;
    // The row does not name the person, who is erased.
    app.host.record_decision(app.host.decision("operator:erase_person", &operator)).await?;
    Ok(Json(json!(counts)))
}

/// Removes all passkeys of a person.
pub(super) async fn remove_passkeys(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    Path(owner_id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    ensure_known(&app, &owner_id).await?;
    let removed = app.host.identity.remove_passkeys(&owner_id).await;
    let removed = removed.map_err(|error| Refusal(Failure::from(error)))?;
    let row = app.host.decision("operator:remove_passkeys", &operator);
    app.host.record_decision(AuditRecord { owner_id: Some(owner_id), ..row }).await?;
    Ok(Json(json!({ "removed": removed })))
}

/// Ends the suspension that a person has taken over with a phone number.
pub(super) async fn lift_suspension(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    Path(owner_id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    ensure_known(&app, &owner_id).await?;
    let lifted = app.host.identity.lift_kept_suspension(&owner_id).await;
    let lifted = lifted.map_err(|error| Refusal(Failure::from(error)))?;
    let row = app.host.decision("operator:lift_suspension", &operator);
    app.host.record_decision(AuditRecord { owner_id: Some(owner_id), ..row }).await?;
    Ok(Json(json!({ "lifted": lifted })))
}

/// Revokes an agent for good: its tokens end, with its webhooks and its inbox.
pub(super) async fn revoke_agent(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    Path(agent_id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    if person_ids(&agent_id).next() != Some(agent_id.as_str()) || !agent_id.starts_with("agt_") {
        return Err(invalid("the path has no agent id, such as agt_ and a ULID"));
    }
    let row = app.host.decision("operator:revoke_agent", &operator);
    let row = AuditRecord { agent_id: Some(agent_id.clone()), ..row };
    let revoked = app.host.identity.revoke_agent_for_operator(&agent_id, &row).await;
    let revoked = revoked.map_err(|error| Refusal(Failure::from(error)))?;
    let Some(revoked) = revoked else {
        let message = "there is no such agent, or it has expired";
        return Err(Refusal(Failure::new(ErrorCode::NotFound).message(message)));
    };
    if !revoked {
        app.host.record_decision(row).await?;
    }
    Ok(Json(json!({ "revoked": revoked })))
}

async fn ensure_known(app: &App, owner_id: &str) -> Result<(), Refusal> {
    if person_ids(owner_id).next() != Some(owner_id) || !owner_id.starts_with("own_") {
        return Err(invalid("the path has no owner id, such as own_ and a ULID"));
    }
    match app.host.store.is_known(owner_id).await? {
        true => Ok(()),
        false => Err(Refusal(
            Failure::new(ErrorCode::NotFound).message("nothing is stored about this person"),
        )),
    }
}
