//! Where clients find out how to authenticate: RFC 9728 and RFC 8414.

use crate::{http::App, identity::SCOPES};
use axum::{Json, extract::State};
use serde_json::{Value, json};
use std::sync::Arc;

/// RFC 9728, section 2.
pub(super) async fn protected_resource(State(app): State<Arc<App>>) -> Json<Value> {
    let identity = &app.host.identity;
    Json(json!({
        "resource": identity.audience(),
        "authorization_servers": [identity.issuer()],
        "scopes_supported": SCOPES,
        "bearer_methods_supported": ["header"],
    }))
}

/// RFC 8414, section 2, with the `agent_auth` block for registration without a human account.
pub(super) async fn authorization_server(State(app): State<Arc<App>>) -> Json<Value> {
    let issuer = app.host.identity.issuer();
    let register = format!("{issuer}/v1/agents/register");
    let claim = format!("{issuer}/v1/capabilities/svc.phone-binding/call");
    Json(json!({
        "issuer": issuer,
        "token_endpoint": format!("{issuer}/oauth/token"),
        "grant_types_supported": ["client_credentials"],
        "response_types_supported": [],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
        "scopes_supported": SCOPES,
        "agent_auth": {
            "register_uri": register,
            "identity_types_supported": ["anonymous", "client"],
            "claim_uri": claim,
            "claim_method": "phone_otp",
        },
    }))
}
