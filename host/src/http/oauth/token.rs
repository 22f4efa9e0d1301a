//! `POST /oauth/token`: one dispatcher, one function per grant.

use crate::{
    http::App,
    identity::{IdentityError, IssuedToken},
};
use axum::{
    Json,
    body::Bytes,
    extract::{State, rejection::BytesRejection},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::json;
use std::{collections::HashMap, sync::Arc};

/// An error response (RFC 6749, section 5.2).
struct TokenError {
    error: &'static str,
    description: &'static str,
    /// The client tried HTTP Basic, and is told so.
    basic: bool,
}

impl TokenError {
    fn new(error: &'static str, description: &'static str) -> Self {
        Self { error, description, basic: false }
    }
}

pub(in crate::http) async fn token(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let answer = match body {
        Ok(body) => dispatch(&app, &headers, &body).await,
        Err(_) => Err(TokenError::new("invalid_request", "the body is too large or ended early")),
    };
    answer.map_or_else(IntoResponse::into_response, |token| success(&token))
}

async fn dispatch(app: &App, headers: &HeaderMap, body: &[u8]) -> Result<IssuedToken, TokenError> {
    let form = form(headers, body)?;
    match form.get("grant_type").map(String::as_str) {
        Some("client_credentials") => client_credentials(app, headers, &form).await,
        Some(_) => {
            Err(TokenError::new("unsupported_grant_type", "use grant_type=client_credentials"))
        }
        None => Err(TokenError::new("invalid_request", "grant_type is missing")),
    }
}

async fn client_credentials(
    app: &App,
    headers: &HeaderMap,
    form: &HashMap<String, String>,
) -> Result<IssuedToken, TokenError> {
    let basic = headers.contains_key(header::AUTHORIZATION);
    let (id, secret) = credentials(headers, form)?;
    let field = |name| form.get(name).map(String::as_str);
    let granted =
        app.host.identity.grant_client_credentials(&id, &secret, field("scope"), field("resource"));
    granted.await.map_err(|error| match error {
        IdentityError::ClientInvalid => TokenError {
            basic,
            ..TokenError::new("invalid_client", "the client is unknown, or its secret is wrong")
        },
        IdentityError::ScopeUnknown => {
            TokenError::new("invalid_scope", "the scopes are svc.read, svc.write and svc.events")
        }
        IdentityError::ResourceUnknown => {
            TokenError::new("invalid_target", "the resource is not served here")
        }
        other => {
            tracing::error!(error = %other, "no token could be issued");
            TokenError::new("server_error", "no token can be issued now")
        }
    })
}

/// The client's id and its secret or client key, from HTTP Basic or the form, not both.
fn credentials(
    headers: &HeaderMap,
    form: &HashMap<String, String>,
) -> Result<(String, String), TokenError> {
    let in_form = form.get("client_secret").or_else(|| form.get("client_key"));
    let Some(header) = headers.get(header::AUTHORIZATION) else {
        return match (form.get("client_id"), in_form) {
            (Some(id), Some(secret)) => Ok((id.clone(), secret.clone())),
            _ => Err(TokenError::new("invalid_client", "send client_id and client_secret")),
        };
    };
    if in_form.is_some() {
        return Err(TokenError::new(
            "invalid_request",
            "authenticate in the header or in the form, not in both",
        ));
    }
    let malformed = || TokenError {
        basic: true,
        ..TokenError::new("invalid_client", "the Authorization header is not HTTP Basic")
    };
    let encoded = header
        .to_str()
        .ok()
        .and_then(|text| text.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic"));
    let (_, encoded) = encoded.ok_or_else(malformed)?;
    let decoded = STANDARD.decode(encoded.trim()).map_err(|_| malformed())?;
    let decoded = String::from_utf8(decoded).map_err(|_| malformed())?;
    let (id, secret) = decoded.split_once(':').ok_or_else(malformed)?;
    // Both parts are form-encoded first (RFC 6749, section 2.3.1).
    let decode = |text: &str| {
        let pair = format!("x={text}");
        serde_urlencoded::from_str::<Vec<(String, String)>>(&pair)
            .ok()
            .and_then(|pairs| pairs.into_iter().next())
            .map(|(_, value)| value)
            .ok_or_else(malformed)
    };
    Ok((decode(id)?, decode(secret)?))
}

fn form(headers: &HeaderMap, body: &[u8]) -> Result<HashMap<String, String>, TokenError> {
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if !media_type.is_some_and(|text| text.starts_with("application/x-www-form-urlencoded")) {
        return Err(TokenError::new(
            "invalid_request",
            "send the request as application/x-www-form-urlencoded",
        ));
    }
    let pairs: Vec<(String, String)> = serde_urlencoded::from_bytes(body)
        .map_err(|_| TokenError::new("invalid_request", "the form is malformed"))?;
    let count = pairs.len();
    let form: HashMap<_, _> = pairs.into_iter().collect();
    if form.len() != count {
        return Err(TokenError::new("invalid_request", "a parameter stands twice"));
    }
    Ok(form)
}

/// Tokens must not be kept by caches (RFC 6749, section 5.1).
const NO_STORE: [(header::HeaderName, &str); 2] =
    [(header::CACHE_CONTROL, "no-store"), (header::PRAGMA, "no-cache")];

fn success(token: &IssuedToken) -> Response {
    let body = json!({
        "access_token": token.access_token,
        "token_type": "Bearer",
        "expires_in": token.expires_in,
        "scope": token.scope,
    });
    (NO_STORE, Json(body)).into_response()
}

impl IntoResponse for TokenError {
    fn into_response(self) -> Response {
        let status = match self.error {
            "invalid_client" => StatusCode::UNAUTHORIZED,
            "server_error" => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        };
        let body = json!({ "error": self.error, "error_description": self.description });
        let mut response = (status, NO_STORE, Json(body)).into_response();
        if self.basic {
            let challenge = HeaderValue::from_static("Basic realm=\"portolan\"");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}
