//! `POST /v1/agents/register`: an identity without a human account.

use crate::{App, address::ClientAddress, input::read_body, refusal::Refusal};
use axum::{
    Json,
    body::Bytes,
    extract::{State, rejection::BytesRejection},
    http::{HeaderMap, header},
    response::{IntoResponse as _, Response},
};
use portolan_catalog::{Schema, SchemaError};
use portolan_identity::{IdentityError, Registration};
use portolan_store::StateError;
use portolan_vocabulary::{ErrorCode, Failure, Role, SCOPES};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};

/// The request body.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RegisterAgent {
    /// The kind of identity. Both kinds start anonymous and are claimed with `svc.phone-binding`.
    #[serde(rename = "type")]
    identity_type: IdentityType,
    /// Shown to the person who claims the agent. It has no invisible characters, each word is in one
    /// script, and no word claims to speak for the host, such as "support".
    #[schemars(length(max = 100))]
    agent_name: Option<String>,
    #[schemars(length(max = 100))]
    software_id: Option<String>,
    #[schemars(length(max = 100))]
    software_version: Option<String>,
    /// The id of this installation of the software.
    #[schemars(length(max = 100))]
    install_id: Option<String>,
    #[serde(default)]
    mode: Mode,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum IdentityType {
    Anonymous,
    Client,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Live,
    Test,
}

pub(super) async fn register(
    State(app): State<Arc<App>>,
    ClientAddress(address): ClientAddress,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Refusal> {
    let input = Value::Object(read_body(&app, &headers, body)?);
    let body = parse(input.clone())?;
    app.host.rates.count_registration(address)?;
    let identity_type = match body.identity_type {
        IdentityType::Anonymous => "anonymous",
        IdentityType::Client => "client",
    };
    let mode = if body.mode == Mode::Test { "test" } else { "live" };
    let registration = Registration {
        identity_type,
        agent_name: body.agent_name,
        software_id: body.software_id,
        software_version: body.software_version,
        install_id: body.install_id,
        test_mode: body.mode == Mode::Test,
    };
    let registered = app.host.identity.register(registration).await;
    let registered = registered.map_err(|error| explain(error, &input))?;
    let claim = app.host.catalog.roles().assigned(Role::PhoneVerification).map(|capability| {
        let uri = format!("{}/v1/capabilities/{capability}/call", app.public_url);
        json!({ "method": "phone_otp", "capability": capability, "uri": uri })
    });
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
        "claim": claim,
        "mode": mode,
        "created_at": registered.created_at,
    });
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(answer)).into_response())
}

/// Returns the failure of a registration, which names the field if a text is the id of a person.
fn explain(error: IdentityError, input: &Value) -> Failure {
    let failure = match &error {
        IdentityError::Records(StateError::UndeclaredPerson { person, .. }) => {
            person.caused_by(input)
        }
        _ => None,
    };
    failure.unwrap_or_else(|| error.into())
}

/// Validates the body against the schema that the OpenAPI description shows.
fn parse(body: Value) -> Result<RegisterAgent, Failure> {
    let invalid = || {
        Failure::new(ErrorCode::ValidationFailed)
            .message("The registration does not satisfy its schema.")
            .next(json!({ "http": { "method": "GET", "url": "/openapi.json" } }))
    };
    let schema = SCHEMA.as_ref().map_err(|error| {
        tracing::error!(%error, "the registration has no usable schema");
        Failure::new(ErrorCode::InternalError)
    })?;
    match schema.violations(&body) {
        Some(conflict) => Err(invalid().conflict(conflict)),
        None => serde_json::from_value(body).map_err(|_| invalid()),
    }
}

/// The maximum number of bytes of a registration.
const MAX_REGISTRATION_BYTES: u64 = 64 << 10;

static SCHEMA: LazyLock<Result<Schema, SchemaError>> =
    LazyLock::new(|| Schema::new(schema(), MAX_REGISTRATION_BYTES));

/// Returns the JSON Schema of the request body.
pub(super) fn schema() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    settings.into_generator().into_root_schema_for::<RegisterAgent>().to_value()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_schema_is_usable() {
        assert!(super::SCHEMA.is_ok());
    }
}
