//! `GET /handoff/{token}`: a preview of the call to which a handoff leads, for the person or agent who opens
//! its address. Opening it changes nothing: the agent redeems the handoff, and makes the call, through
//! capabilities. `GET /map/handoffs/{handoff_id}/{record_id}` makes such an address from a record of the map.

use crate::{
    App, Refusal,
    address::ClientAddress,
    oauth::see_other,
    page::{FormTargets, page},
};
use askama::Template;
use axum::{
    Json,
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use portolan_pipeline::Operation;
use portolan_vocabulary::{ErrorCode, Failure, Role, Roles};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The action that makes the address of a handoff. It stores nothing: the address has all of it.
const RESOLVE_ACTION: &str = "resolve";
/// The action that previews a handoff.
const PREVIEW_ACTION: &str = "preview";
/// The error code for a handoff that was not signed here, or was signed in the other mode.
const SIGNATURE_INVALID: &str = "handoff_signature_invalid";
/// The headers that keep the token out of caches and `Referer` headers.
const PRIVATE_HEADERS: [(header::HeaderName, &str); 3] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
];

/// The part of the capability's answer that the page shows.
#[derive(Deserialize)]
struct HandoffPreview {
    title: String,
    draft: Draft,
    requires: Requires,
    consent_text: String,
    never_carries: Vec<String>,
    expires_at: String,
}

#[derive(Deserialize)]
struct Requires {
    /// Whether the agent must be claimed.
    claimed: bool,
}

#[derive(Deserialize)]
struct Draft {
    capability: String,
    input: Map<String, Value>,
    ask_user: Option<String>,
}

#[derive(Template)]
#[template(path = "handoff.html")]
struct Handoff {
    preview: HandoffPreview,
    /// Field and value, as text.
    fields: Vec<(String, String)>,
    /// The call that returns the draft: it redeems the handoff, or shows it if no claim is required.
    redeem: String,
    /// The capability with which the agent redeems the handoff, and the one that verifies phone
    /// numbers.
    handoffs: String,
    phone_verification: String,
}

#[derive(Template)]
#[template(path = "stop.html")]
struct StopPage<'a> {
    title: &'a str,
    text: &'a str,
}

pub(super) async fn show(
    State(app): State<Arc<App>>,
    ClientAddress(address): ClientAddress,
    token: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    let result = match (app.host.rates.count_page_view(address), token) {
        (Ok(()), Ok(Path(token))) => {
            preview_handoff(&app, &token).await.map(|answer| (token, answer))
        }
        (Err(failure), _) => Err(failure),
        (Ok(()), Err(_)) => Err(Failure::new(ErrorCode::NotFound)),
    };
    match result {
        Ok((_, answer)) if !wants_html(&headers) => (PRIVATE_HEADERS, Json(answer)).into_response(),
        Ok((token, answer)) => match serde_json::from_value::<HandoffPreview>(answer) {
            Ok(preview) => {
                let handoff = Handoff::new(preview, &token, app.host.catalog.roles());
                page(StatusCode::OK, &handoff, FormTargets::ThisHost)
            }
            Err(error) => {
                tracing::error!(%error, "the preview of a handoff cannot be parsed");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        },
        Err(failure) => refused(failure, &headers),
    }
}

/// Redirects to a new address of the handoff that begins at this record.
pub(super) async fn begin(
    State(app): State<Arc<App>>,
    ClientAddress(address): ClientAddress,
    ids: Result<Path<(String, String)>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    let result = match (app.host.rates.count_page_view(address), ids) {
        (Ok(()), Ok(Path((handoff_id, record_id)))) => {
            resolve_handoff(&app, &handoff_id, &record_id).await
        }
        (Err(failure), _) => Err(failure),
        (Ok(()), Err(_)) => Err(Failure::new(ErrorCode::NotFound)),
    };
    match result {
        Ok(token) => see_other(&format!("/handoff/{token}")),
        Err(failure) => refused(failure, &headers),
    }
}

fn refused(failure: Failure, headers: &HeaderMap) -> Response {
    if !wants_html(headers) {
        return (PRIVATE_HEADERS, Refusal(failure)).into_response();
    }
    let status = StatusCode::from_u16(failure.kind.http_status());
    let stop = StopPage { title: "This address leads nowhere", text: &failure.message };
    page(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), &stop, FormTargets::ThisHost)
}

/// Returns the token of a new handoff.
async fn resolve_handoff(app: &App, handoff_id: &str, record_id: &str) -> Result<String, Failure> {
    let snapshot = app.host.catalog.snapshot();
    let operation = Operation {
        capability: snapshot.holder(Role::Handoffs)?.id.to_string(),
        action: RESOLVE_ACTION.to_owned(),
        input: json!({ "handoff_id": handoff_id, "record_id": record_id }),
        test_mode: false,
    };
    let answer = app.host.read(&operation).await?;
    let token = answer.get("token").and_then(Value::as_str);
    token.map(str::to_owned).ok_or_else(|| Failure::new(ErrorCode::CapabilityAnswerInvalid))
}

async fn preview_handoff(app: &App, token: &str) -> Result<Value, Failure> {
    let snapshot = app.host.catalog.snapshot();
    let capability = &snapshot.holder(Role::Handoffs)?.id;
    let preview = |test_mode| Operation {
        capability: capability.to_string(),
        action: PREVIEW_ACTION.to_owned(),
        input: json!({ "token": token }),
        test_mode,
    };
    match app.host.read(&preview(false)).await {
        Err(failure) if failure.error_code == SIGNATURE_INVALID => {
            app.host.read(&preview(true)).await
        }
        answer => answer,
    }
}

/// Returns whether the client is a browser. Agents get JSON.
fn wants_html(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}

impl Handoff {
    fn new(preview: HandoffPreview, token: &str, roles: &Roles) -> Self {
        let assigned = |role| roles.assigned(role).unwrap_or_default().to_owned();
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let fields = preview.draft.input.iter().map(|(name, value)| (name.clone(), text(value)));
        let action = if preview.requires.claimed { "redeem" } else { PREVIEW_ACTION };
        Self {
            fields: fields.collect(),
            redeem: json!({ "action": action, "token": token }).to_string(),
            handoffs: assigned(Role::Handoffs),
            phone_verification: assigned(Role::PhoneVerification),
            preview,
        }
    }
}
