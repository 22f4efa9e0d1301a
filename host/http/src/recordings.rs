//! The operator's routes for recorded calls: what is kept, replays, and rehearsals of versions.

use crate::{
    App, Refusal,
    admin::{Deciding, invalid_query},
    versions::read_component,
};
use axum::{
    Json,
    body::Bytes,
    extract::{
        Path, Query, State,
        rejection::{BytesRejection, QueryRejection},
    },
    http::HeaderMap,
};
use portolan_catalog::PublishError;
use portolan_pipeline::{ReplayError, redacted};
use portolan_store::{AuditRecord, RecordingQuery};
use portolan_vocabulary::{ErrorCode, Failure, Operator, RecordingSettings, one_line};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// How many recordings are listed, and how many a rehearsal runs, if the request does not say.
const LISTED: u32 = 50;
const REHEARSED: u32 = 1_000;
/// The maximum number of either.
const MOST: u32 = 10_000;
/// The maximum number of bytes of a request id that are shown.
const ID_BYTES: usize = 100;

/// The query of `GET /recordings`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListParameters {
    capability: Option<String>,
    #[serde(default)]
    failed: bool,
    limit: Option<u32>,
}

/// The query of `POST /rehearsals`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RehearsalParameters {
    limit: Option<u32>,
}

/// Returns the newest recordings, without their contents, and what becomes of calls.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    parameters: Result<Query<ListParameters>, QueryRejection>,
) -> Result<Json<Value>, Refusal> {
    let Query(ListParameters { capability, failed, limit }) = parameters.map_err(invalid_query)?;
    let query = RecordingQuery { capability, failed, limit: limit.unwrap_or(LISTED).min(MOST) };
    let RecordingSettings { enabled, share, days, .. } = *app.host.recordings.settings();
    let (kept, lost) = app.host.recordings.counts();
    Ok(Json(json!({
        "recordings": app.host.store.recordings(&query).await?,
        "stored": app.host.store.recording_use().await?,
        "enabled": enabled,
        "share": share,
        "days": days,
        "kept_since_start": kept,
        "lost_since_start": lost,
    })))
}

/// Returns a recorded call without personal data.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Path(request_id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    Ok(Json(redacted(&recorded(&app, &request_id).await?)))
}

/// Returns a recorded call as it is.
pub(super) async fn show_whole(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    Path(request_id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let recorded = recorded(&app, &request_id).await?;
    record(&app, ("operator:show_recording", &operator), &request_id, None).await?;
    Ok(Json(recorded))
}

/// Runs a recorded call again, with the component of the body if there is one, and returns what differs without
/// personal data.
pub(super) async fn replay(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    Path(request_id): Path<String>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, Refusal> {
    let decision = ("operator:replay_call", &operator);
    Ok(Json(redacted(&replayed(&app, decision, &request_id, (&headers, body)).await?)))
}

/// Runs a recorded call again, and returns everything as it is.
pub(super) async fn replay_whole(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    Path(request_id): Path<String>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, Refusal> {
    let decision = ("operator:replay_whole_call", &operator);
    Ok(Json(replayed(&app, decision, &request_id, (&headers, body)).await?))
}

/// Runs the component of the body over the recorded calls of its capability, and returns what changes without
/// personal data.
pub(super) async fn rehearse(
    State(app): State<Arc<App>>,
    Deciding(operator): Deciding,
    parameters: Result<Query<RehearsalParameters>, QueryRejection>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, Refusal> {
    let Query(RehearsalParameters { limit }) = parameters.map_err(invalid_query)?;
    let component = read_component(&app, &headers, body)?;
    let limit = limit.unwrap_or(REHEARSED).min(MOST);
    let rehearsal = app.host.rehearse(&component, limit).await.map_err(refusal)?;
    let digest = Some(rehearsal.digest.clone());
    record(&app, ("operator:rehearse", &operator), &rehearsal.capability, digest).await?;
    let changes = redacted(&json!(rehearsal.changes));
    let mut shown = json!(rehearsal);
    if let Some(place) = shown.get_mut("changes") {
        *place = changes;
    }
    Ok(Json(shown))
}

async fn recorded(app: &App, request_id: &str) -> Result<Value, Refusal> {
    let (recording, runs) = app.host.recorded_call(request_id).await.map_err(refusal)?;
    Ok(json!({ "recording": recording, "runs": runs }))
}

async fn replayed(
    app: &Arc<App>,
    (decision, operator): (&'static str, &Operator),
    request_id: &str,
    (headers, body): (&HeaderMap, Result<Bytes, BytesRejection>),
) -> Result<Value, Refusal> {
    let component = read_component(app, headers, body)?;
    let component = Some(&*component).filter(|component| !component.is_empty());
    let call = app.host.replay_call(request_id, component).await.map_err(refusal)?;
    record(app, (decision, operator), request_id, None).await?;
    let mut shown = json!(call);
    if let Some(members) = shown.as_object_mut() {
        members.insert("same".to_owned(), Value::Bool(call.is_same()));
    }
    Ok(shown)
}

/// Writes the row of a decision about a recorded call or a capability.
async fn record(
    app: &App,
    (decision, operator): (&'static str, &Operator),
    about: &str,
    digest: Option<String>,
) -> Result<(), Refusal> {
    let row = app.host.decision(decision, operator);
    let version = one_line(about, ID_BYTES);
    let row = AuditRecord { version, digest: digest.unwrap_or_default(), ..row };
    Ok(app.host.record_decision(row).await?)
}

/// Returns the failure of a replay. A component that cannot be loaded is told as for a publication.
fn refusal(error: ReplayError) -> Refusal {
    let code = match &error {
        ReplayError::Unknown(_) => ErrorCode::NotFound,
        ReplayError::Unreadable => ErrorCode::ResourceGone,
        ReplayError::OtherCapability(_) | ReplayError::TooLarge | ReplayError::Load(_) => {
            ErrorCode::ValidationFailed
        }
        ReplayError::NoComponent { .. } | ReplayError::NotServed(_) => ErrorCode::InvalidTransition,
        ReplayError::OtherPublisher { .. } | ReplayError::MoreGrants { .. } => {
            ErrorCode::NotPermitted
        }
        ReplayError::Store(_) => ErrorCode::DependencyUnavailable,
    };
    match error {
        ReplayError::Load(error) => crate::versions::publish_refusal(PublishError::from(error)),
        ReplayError::Store(error) => Refusal::from(error),
        error => Refusal(Failure::new(code).message(one_line(&error.to_string(), ID_BYTES * 3))),
    }
}
