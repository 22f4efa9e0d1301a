//! The input of a request: its JSON body and its idempotency key.

use crate::App;
use axum::{
    body::Bytes,
    extract::rejection::BytesRejection,
    http::{HeaderMap, header::CONTENT_TYPE},
};
use portolan_vocabulary::{AgentCaller, ErrorCode, Failure, is_idempotency_key};
use serde_json::{Map, Value, json};

/// Returns the key of the `Idempotency-Key` header (draft-ietf-httpapi-idempotency-key-header) without its
/// quotes, if the request has the header.
pub(super) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Failure> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    let key = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    if !is_idempotency_key(key) {
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

/// Returns a body as bytes, or the failure for one that is too large or did not arrive whole.
pub(super) fn read_bytes(app: &App, body: Result<Bytes, BytesRejection>) -> Result<Bytes, Failure> {
    body.map_err(|rejection| match rejection.status().as_u16() {
        413 => too_large(app.host.sandbox.limits().call_input_bytes),
        _ => Failure::new(ErrorCode::MalformedJson)
            .message("The body ended too early, or took too long to arrive."),
    })
}

/// Returns the failure for a body above the limit, with the description of what bodies have.
fn too_large(limit: u64) -> Failure {
    let message = format!(
        "The body is larger than {limit} bytes, the most that this host reads. Send less at once: shorten texts, or split a list or a file over several requests."
    );
    Failure::new(ErrorCode::PayloadTooLarge)
        .message(message)
        .conflict(json!({ "kind": "limit", "name": "call_input_bytes", "limit": limit }))
        .next(json!({ "http": { "method": "GET", "url": "/openapi.json" } }))
}

/// Returns whether a body is declared as JSON.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = media_type.and_then(|text| text.split(';').next()).unwrap_or_default().trim();
    let Some((family, subtype)) = essence.split_once('/') else { return false };
    let format = subtype.rsplit_once('+').map_or(subtype, |(_, format)| format);
    family.eq_ignore_ascii_case("application") && format.eq_ignore_ascii_case("json")
}

/// Returns the JSON object of the body of an agent's call. A large body counts as run time.
pub(super) fn read_call_body(
    app: &App,
    caller: &AgentCaller,
    is_json: bool,
    body: Result<Bytes, BytesRejection>,
) -> Result<Map<String, Value>, Failure> {
    if let Ok(body) = &body {
        app.host.charge_body(caller, body.len())?;
    }
    read_object(app, is_json, body)
}

/// Returns the JSON object of a body.
pub fn read_body(
    app: &App,
    headers: &HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Map<String, Value>, Failure> {
    read_object(app, is_json(headers), body)
}

fn read_object(
    app: &App,
    is_json: bool,
    body: Result<Bytes, BytesRejection>,
) -> Result<Map<String, Value>, Failure> {
    let body = read_bytes(app, body)?;
    if !is_json {
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

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderName;

    #[test]
    fn a_key_is_of_visible_characters() {
        let name = HeaderName::from_static("idempotency-key");
        let key = |text: &str| {
            idempotency_key(&HeaderMap::from_iter([(name.clone(), text.parse().unwrap())]))
        };
        assert_eq!(key("\"a key\"").unwrap().unwrap(), "a key");
        for text in ["", "\"\"", "a\tkey", "ä", &"k".repeat(256)] {
            assert_eq!(key(text).unwrap_err().error_code, "validation_failed", "{text}");
        }
    }

    #[test]
    fn json_is_declared_by_its_media_type_or_its_suffix() {
        let is_json =
            |text: &str| is_json(&HeaderMap::from_iter([(CONTENT_TYPE, text.parse().unwrap())]));
        for text in
            ["application/json", "Application/JSON; charset=utf-8", " application/ld+json ;q=1"]
        {
            assert!(is_json(text), "{text}");
        }
        for text in ["", "json", "text/json", "application/", "application/jsonp", "a/b+json"] {
            assert!(!is_json(text), "{text}");
        }
        assert!(!super::is_json(&HeaderMap::new()));
    }
}
