//! `POST /v1/agents/register`: an identity without a human account.

use crate::{
    http::{App, answer::Refusal, call::read_body},
    identity::{Registration, SCOPES},
    vocabulary::Failure,
};
use axum::{
    Json,
    body::Bytes,
    extract::{State, rejection::BytesRejection},
    http::{HeaderMap, header},
    response::{IntoResponse as _, Response},
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The request body.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RegisterAgent {
    /// What sort of identity; both start anonymous and are claimed by a phone bind.
    #[serde(rename = "type")]
    identity_type: IdentityType,
    /// Shown to the person who claims the agent.
    #[schema(max_length = 100)]
    agent_name: Option<String>,
    #[schema(max_length = 100)]
    software_id: Option<String>,
    #[schema(max_length = 100)]
    software_version: Option<String>,
    /// One per install of the software.
    #[schema(max_length = 100)]
    install_id: Option<String>,
    #[serde(default)]
    mode: Mode,
}

#[derive(Debug, Clone, Copy, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
enum IdentityType {
    Anonymous,
    Client,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Live,
    Test,
}

const TEXT_CHARACTERS: usize = 100;

pub(super) async fn register(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Refusal> {
    let body: RegisterAgent = parse(Value::Object(read_body(&app, &headers, body)?))?;
    let identity_type = match body.identity_type {
        IdentityType::Anonymous => "anonymous",
        IdentityType::Client => "client",
    };
    let mode = if body.mode == Mode::Test {
        "test"
    } else {
        "live"
    };
    let registration = Registration {
        identity_type,
        agent_name: body.agent_name,
        software_id: body.software_id,
        software_version: body.software_version,
        install_id: body.install_id,
        test_mode: body.mode == Mode::Test,
    };
    let registered = app.host.identity.register(registration).await?;
    let answer = json!({
        "registration_id": registered.registration_id,
        "agent_id": registered.agent_id,
        "identity_type": identity_type,
        "state": "anonymous",
        "client_id": registered.client_id,
        "client_secret": registered.client_secret,
        "client_key": registered.client_key,
        "scopes": ["svc.read"],
        "post_claim_scopes": SCOPES,
        "claim": {
            "method": "phone_otp",
            "capability": "svc.phone-binding",
            "uri": format!("{}/v1/capabilities/svc.phone-binding/call", app.public_url),
        },
        "mode": mode,
        "created_at": registered.created_at,
    });
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(answer)).into_response())
}

fn parse(body: Value) -> Result<RegisterAgent, Failure> {
    let invalid = |pointer: &str, rule: &str, expected: Value| {
        Failure::new("validation_failed")
            .message("The registration is not acceptable.")
            .conflict(json!({
                "kind": "validation",
                "errors": [{ "pointer": pointer, "rule": rule, "expected": expected }],
            }))
    };
    let parsed: RegisterAgent = serde_json::from_value(body)
        .map_err(|error| invalid("", "schema", json!(error.to_string())))?;
    let texts = [
        ("/agent_name", &parsed.agent_name),
        ("/software_id", &parsed.software_id),
        ("/software_version", &parsed.software_version),
        ("/install_id", &parsed.install_id),
    ];
    for (pointer, text) in texts {
        if text
            .as_ref()
            .is_some_and(|text| text.chars().count() > TEXT_CHARACTERS)
        {
            return Err(invalid(pointer, "maxLength", json!(TEXT_CHARACTERS)));
        }
    }
    Ok(parsed)
}
