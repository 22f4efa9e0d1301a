//! `POST /v1/capabilities/{id}/call`.

use crate::{
    http::{
        App,
        answer::Refusal,
        caller::{Authenticated, CapabilityId},
        request_id::RequestId,
    },
    invoke::{Answer, Call},
    vocabulary::Failure,
};
use axum::{
    Extension, Json,
    body::Bytes,
    extract::{State, rejection::BytesRejection},
    http::{HeaderMap, header::CONTENT_TYPE},
};
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub(super) async fn call(
    State(app): State<Arc<App>>,
    Authenticated(caller): Authenticated,
    CapabilityId(id): CapabilityId,
    Extension(RequestId(request_id)): Extension<RequestId>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Answer>, Refusal> {
    let body = read_body(&app, &headers, body);
    let idempotency_key = idempotency_key(&headers)?;
    let call = Call { caller, capability: &id, body, idempotency_key, request_id };
    let answer = app.host.call(call).await?;
    Ok(Json(answer))
}

/// The key of draft-ietf-httpapi-idempotency-key-header: a string in quotes; without them it is
/// taken too.
fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Failure> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    let key = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    if key.is_empty() || key.len() > 255 {
        return Err(Failure::new("validation_failed").conflict(json!({
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

/// The JSON object of a body.
pub fn read_body(
    app: &App,
    headers: &HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Map<String, Value>, Failure> {
    let body = body.map_err(|rejection| match rejection.status().as_u16() {
        413 => Failure::new("payload_too_large").conflict(json!({
            "kind": "limit",
            "name": "call_input_bytes",
            "limit": app.host.sandbox.limits().call_input_bytes,
        })),
        _ => Failure::new("malformed_json").message("The body ended too early."),
    })?;
    let media_type =
        headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if essence != "application/json"
        && !(essence.starts_with("application/") && essence.ends_with("+json"))
    {
        return Err(Failure::new("unsupported_media_type"));
    }
    match serde_json::from_slice(&body) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(Failure::new("malformed_json")),
        Err(error) => Err(Failure::new("malformed_json").message(format!(
            "The body is not JSON: something is wrong at line {}, column {}.",
            error.line(),
            error.column()
        ))),
    }
}
