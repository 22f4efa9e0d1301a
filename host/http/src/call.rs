//! `POST /v1/capabilities/{id}/call`.

use crate::{
    App,
    answer::Refusal,
    caller::{Authenticated, CapabilityId},
    request_id::RequestId,
};
use axum::{
    Extension, Json,
    body::Bytes,
    extract::{State, rejection::BytesRejection},
    http::{HeaderMap, HeaderValue, header::CONTENT_TYPE},
    response::{IntoResponse as _, Response},
};
use portolan_pipeline::{Call, Called, Spent};
use portolan_vocabulary::{ErrorCode, Failure};
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub(super) async fn call(
    State(app): State<Arc<App>>,
    Authenticated(caller): Authenticated,
    CapabilityId(id): CapabilityId,
    Extension(RequestId(request_id)): Extension<RequestId>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Refusal> {
    let body = read_body(&app, &headers, body);
    let idempotency_key = idempotency_key(&headers)?;
    let call = Call { caller, capability: &id, body, idempotency_key, request_id };
    Ok(answered(app.host.call(call).await))
}

pub(super) fn answered(Called { outcome, spent }: Called) -> Response {
    let mut response = match outcome {
        Ok(answer) => Json(answer).into_response(),
        Err(failure) => Refusal(failure).into_response(),
    };
    tell_limits(response.headers_mut(), &spent);
    response
}

/// What is left of the caller's limits (draft-ietf-httpapi-ratelimit-headers).
pub(super) fn tell_limits(headers: &mut HeaderMap, spent: &[Spent]) {
    let policy = |it: &Spent| format!("\"{}\";q={};w={}", it.policy, it.limit, it.window_s);
    let state = |it: &Spent| format!("\"{}\";r={};t={}", it.policy, it.remaining, it.reset_s);
    let mut tell = |name: &'static str, items: Vec<String>| {
        if let Ok(value) = HeaderValue::from_str(&items.join(", "))
            && !items.is_empty()
        {
            headers.insert(name, value);
        }
    };
    tell("ratelimit-policy", spent.iter().map(policy).collect());
    tell("ratelimit", spent.iter().map(state).collect());
}

/// The key of draft-ietf-httpapi-idempotency-key-header: a string in quotes; without them it is
/// taken too.
pub(super) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Failure> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    let key = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    if key.is_empty() || key.len() > 255 {
        return Err(Failure::new(ErrorCode::ValidationFailed).conflict(json!({
            "kind": "validation",
            "errors": [{
                "pointer": "/idempotency_key",
                "rule": "header",
                "expected": "an Idempotency-Key of 1 to 255 visible characters",
            }],
        })));
    }
    Ok(Some(key.to_owned()))
}

/// All of a body.
pub(super) fn whole(app: &App, body: Result<Bytes, BytesRejection>) -> Result<Bytes, Failure> {
    body.map_err(|rejection| match rejection.status().as_u16() {
        413 => Failure::new(ErrorCode::PayloadTooLarge).conflict(json!({
            "kind": "limit",
            "name": "call_input_bytes",
            "limit": app.host.sandbox.limits().call_input_bytes,
        })),
        _ => Failure::new(ErrorCode::MalformedJson)
            .message("The body ended too early, or took too long to arrive."),
    })
}

/// The JSON object of a body.
pub fn read_body(
    app: &App,
    headers: &HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Map<String, Value>, Failure> {
    let body = whole(app, body)?;
    let media_type =
        headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if essence != "application/json"
        && !(essence.starts_with("application/") && essence.ends_with("+json"))
    {
        return Err(Failure::new(ErrorCode::UnsupportedMediaType));
    }
    match serde_json::from_slice(&body) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(Failure::new(ErrorCode::MalformedJson)),
        Err(error) => Err(Failure::new(ErrorCode::MalformedJson).message(format!(
            "The body is not JSON: something is wrong at line {}, column {}.",
            error.line(),
            error.column()
        ))),
    }
}
