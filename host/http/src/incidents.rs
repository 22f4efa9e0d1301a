//! The operator's routes for incidents: what the public is told on the status page.

use crate::{
    App, Refusal,
    admin::{Deciding, invalid},
    read_body,
    status_board::shown_since,
};
use axum::{
    Json,
    body::Bytes,
    extract::{Path, State, rejection::BytesRejection},
    http::HeaderMap,
};
use portolan_store::AuditRecord;
use portolan_vocabulary::{
    ErrorCode, Failure, Incident, IncidentState, IncidentUpdate, Maintenance, Operator, Timestamp,
    entropy, new_identifier,
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::sync::Arc;

const TITLE_CHARACTERS: usize = 120;
const TEXT_CHARACTERS: usize = 2_000;

/// The body of `POST /incidents`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Opening {
    title: String,
    text: String,
    #[serde(default = "investigating")]
    state: IncidentState,
    /// When planned maintenance starts and ends.
    starts_at: Option<Timestamp>,
    ends_at: Option<Timestamp>,
}

/// The body of `POST /incidents/{id}/update`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Update {
    state: IncidentState,
    text: String,
}

/// The body of `POST /incidents/{id}/resolve`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Resolution {
    text: String,
}

fn investigating() -> IncidentState {
    IncidentState::Investigating
}

/// Returns the incidents that the status page shows, the newest first.
pub(super) async fn list(State(app): State<Arc<App>>) -> Result<Json<Value>, Refusal> {
    let incidents = app.host.store.incidents(shown_since(app.host.clock.now()));
    Ok(Json(json!({ "incidents": incidents.await? })))
}

/// Opens an incident, or announces maintenance.
pub(super) async fn open(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, Refusal> {
    let Opening { title, text, state, starts_at, ends_at } = read(&app, &headers, body)?;
    ensure_text("title", &title, TITLE_CHARACTERS, |letter| letter.is_control())?;
    let now = app.host.clock.now();
    let maintenance = match (state, starts_at.zip(ends_at)) {
        (IncidentState::Resolved, _) => {
            return Err(invalid("an incident is opened before it is resolved"));
        }
        (IncidentState::Planned, Some((starts_at, ends_at))) if starts_at < ends_at => {
            Some(Maintenance { starts_at, ends_at })
        }
        (IncidentState::Planned, _) => {
            return Err(invalid("planned maintenance needs starts_at, and ends_at after it"));
        }
        _ if starts_at.is_some() || ends_at.is_some() => {
            return Err(invalid("starts_at and ends_at are for the state planned"));
        }
        _ => None,
    };
    let update = new_update(state, text, now)?;
    let id = new_identifier("inc", now, u128::from_le_bytes(entropy()));
    let incident =
        Incident { id, title, state, opened_at: now, maintenance, updates: vec![update] };
    app.host.store.add_incident(&incident).await?;
    record(&app, "operator:open_incident", &operator, &incident.id).await?;
    Ok(Json(json!({ "id": incident.id, "state": state })))
}

/// Adds an update to an open incident.
pub(super) async fn update(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, Refusal> {
    let Update { state, text } = read(&app, &headers, body)?;
    if state == IncidentState::Resolved {
        return Err(invalid("resolve the incident instead"));
    }
    add_update(&app, &id, new_update(state, text, app.host.clock.now())?).await?;
    record(&app, "operator:update_incident", &operator, &id).await?;
    Ok(Json(json!({ "id": id, "state": state })))
}

/// Ends an incident.
pub(super) async fn resolve(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, Refusal> {
    let Resolution { text } = read(&app, &headers, body)?;
    let state = IncidentState::Resolved;
    add_update(&app, &id, new_update(state, text, app.host.clock.now())?).await?;
    record(&app, "operator:resolve_incident", &operator, &id).await?;
    Ok(Json(json!({ "id": id, "state": state })))
}

fn read<T: DeserializeOwned>(
    app: &App,
    headers: &HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<T, Refusal> {
    let fields = Value::Object(read_body(app, headers, body)?);
    serde_json::from_value(fields).map_err(|error| invalid(error.to_string()))
}

fn new_update(
    state: IncidentState,
    text: String,
    at: Timestamp,
) -> Result<IncidentUpdate, Refusal> {
    ensure_text("text", &text, TEXT_CHARACTERS, |letter| letter.is_control() && letter != '\n')?;
    Ok(IncidentUpdate { at, state, text })
}

/// Ensures that a text is neither empty nor too long, and has only characters that feeds can have.
fn ensure_text(
    name: &str,
    text: &str,
    most: usize,
    is_forbidden: fn(char) -> bool,
) -> Result<(), Refusal> {
    let is_noncharacter = |letter: char| ['\u{fffe}', '\u{ffff}'].contains(&letter);
    let is_bad = |letter: char| is_forbidden(letter) || is_noncharacter(letter);
    if text.trim().is_empty() || text.chars().count() > most || text.contains(is_bad) {
        let message = format!("{name} has 1 to {most} characters, and no control characters");
        return Err(invalid(message));
    }
    Ok(())
}

async fn add_update(app: &App, id: &str, update: IncidentUpdate) -> Result<(), Refusal> {
    match app.host.store.update_incident(id, &update).await? {
        true => Ok(()),
        false => Err(Refusal(Failure::new(ErrorCode::NotFound).message(
            "No incident with this id is open and has room for an update; it can have 100.",
        ))),
    }
}

/// Writes the row of a decision, and shows the change on this node at once.
async fn record(app: &App, action: &str, operator: &Operator, id: &str) -> Result<(), Refusal> {
    app.status.observe(&app.host).await;
    let row = app.host.decision(action, operator);
    app.host.record_decision(AuditRecord { version: id.to_owned(), ..row }).await?;
    Ok(())
}
