//! The common parts of the endpoints for clients: the form, the credentials, and responses that are not
//! cached (RFC 6749, sections 2.3, 3.2 and 5).

use crate::App;
use axum::{
    Json,
    body::Bytes,
    extract::rejection::BytesRejection,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use portolan_identity::{Client, Credentials, DEVICE_CODE, IdentityError, OAuthError};
use portolan_store::StateError;
use portolan_vocabulary::Failure;
use serde_json::{Value, json};
use std::{collections::HashMap, net::IpAddr};

/// The maximum number of bytes of a device code.
const DEVICE_CODE_BYTES: usize = 128;

/// The type of a client assertion that is a JWT (RFC 7523, section 2.2).
const JWT_BEARER: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// Caches must not store tokens (RFC 6749, section 5.1).
pub(super) const NO_STORE: [(HeaderName, &str); 2] =
    [(header::CACHE_CONTROL, "no-store"), (header::PRAGMA, "no-cache")];

/// The maximum number of parameters. No request of a client has nearly as many.
const MAX_PARAMETERS: usize = 100;

pub(super) type Form = HashMap<String, String>;

/// An error response of an endpoint for clients.
#[derive(Debug)]
pub(crate) struct ClientError {
    status: StatusCode,
    error: OAuthError,
    /// `WWW-Authenticate` or `Retry-After`.
    header: Option<(HeaderName, HeaderValue)>,
}

impl ClientError {
    /// Makes the error for a rate limit, for which OAuth has no code of its own.
    pub(super) fn rate_limited(failure: Failure) -> Self {
        let seconds = failure.next.as_ref().and_then(|next| next.get("after_s")?.as_u64());
        Self {
            status: StatusCode::TOO_MANY_REQUESTS,
            error: OAuthError::new(
                "temporarily_unavailable",
                "too many requests: wait before the next one",
            ),
            header: seconds.map(|seconds| (header::RETRY_AFTER, HeaderValue::from(seconds))),
        }
    }
}

impl From<OAuthError> for ClientError {
    fn from(error: OAuthError) -> Self {
        let status = match error.code {
            "invalid_client" => StatusCode::UNAUTHORIZED,
            "server_error" => StatusCode::INTERNAL_SERVER_ERROR,
            "temporarily_unavailable" => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::BAD_REQUEST,
        };
        Self { status, error, header: None }
    }
}

impl From<IdentityError> for ClientError {
    fn from(error: IdentityError) -> Self {
        match error {
            IdentityError::OAuth(error) => error.into(),
            IdentityError::SlowDown { after_s } => Self {
                status: StatusCode::TOO_MANY_REQUESTS,
                error: OAuthError::new("slow_down", "too many wrong secrets; wait before the next"),
                header: Some((header::RETRY_AFTER, HeaderValue::from(after_s))),
            },
            // The endpoints that manage a registration have a token of their own (RFC 7592, section 2).
            IdentityError::TokenInvalid | IdentityError::NoToken => Self {
                status: StatusCode::UNAUTHORIZED,
                error: OAuthError::new("invalid_token", "the registration token is wrong"),
                header: Some(challenge("Bearer error=\"invalid_token\"")),
            },
            IdentityError::Db(error) => {
                tracing::error!(%error, "an OAuth endpoint cannot answer");
                OAuthError::new("temporarily_unavailable", "try again in a moment").into()
            }
            IdentityError::Records(StateError::Conflict) => Self {
                header: Some((header::RETRY_AFTER, HeaderValue::from_static("1"))),
                ..OAuthError::new(
                    "temporarily_unavailable",
                    "another request changes the same registration; try again",
                )
                .into()
            },
            IdentityError::Records(StateError::UndeclaredPerson { .. }) => OAuthError::new(
                "invalid_request",
                "a value is or has the id of a person or an agent; leave the id out",
            )
            .into(),
            error => {
                tracing::error!(%error, "an OAuth endpoint cannot answer");
                OAuthError::new("server_error", "something went wrong on our side").into()
            }
        }
    }
}

impl IntoResponse for ClientError {
    fn into_response(self) -> Response {
        let OAuthError { code, description } = self.error;
        let mut response =
            no_store(self.status, json!({ "error": code, "error_description": description }));
        if let Some((name, value)) = self.header {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

fn challenge(text: &'static str) -> (HeaderName, HeaderValue) {
    (header::WWW_AUTHENTICATE, HeaderValue::from_static(text))
}

pub(super) fn no_store(status: StatusCode, body: Value) -> Response {
    (status, NO_STORE, Json(body)).into_response()
}

pub(super) fn invalid_request(text: &'static str) -> ClientError {
    OAuthError::new("invalid_request", text).into()
}

/// Parses the parameters of a form. Each may be sent once, and empty ones count as missing (RFC 6749,
/// section 3.2).
pub(super) fn form(
    headers: &HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Form, ClientError> {
    let body = body.map_err(|_| invalid_request("the body is too large or ended early"))?;
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = media_type.and_then(|text| text.split(';').next()).map(str::trim);
    if !essence
        .is_some_and(|essence| essence.eq_ignore_ascii_case("application/x-www-form-urlencoded"))
    {
        return Err(invalid_request("send the request as application/x-www-form-urlencoded"));
    }
    parameters(&body).map_err(ClientError::from)
}

/// Parses the parameters of a form or a query.
pub(crate) fn parameters(text: &[u8]) -> Result<Form, OAuthError> {
    let invalid = |text| OAuthError::new("invalid_request", text);
    // The caller to whom the time for parsing could be charged is not known yet.
    if text.iter().filter(|byte| **byte == b'&').count() >= MAX_PARAMETERS {
        return Err(invalid("there are too many parameters"));
    }
    let pairs: Vec<(String, String)> =
        serde_urlencoded::from_bytes(text).map_err(|_| invalid("the parameters are malformed"))?;
    let mut form = Form::new();
    for (name, value) in pairs {
        if form.insert(name, value).is_some() {
            return Err(invalid("a parameter is sent twice"));
        }
    }
    form.retain(|_, value| !value.is_empty());
    Ok(form)
}

/// Returns the device code of a request that polls for its token; `None` for other requests, and for what is longer than
/// a code.
fn polled(form: &Form) -> Option<&str> {
    form.get("grant_type").filter(|grant| *grant == DEVICE_CODE)?;
    form.get("device_code").map(String::as_str).filter(|code| code.len() <= DEVICE_CODE_BYTES)
}

/// Authenticates the client of a request, which may use only one method (RFC 6749, section 2.3).
pub(super) async fn authenticate(
    app: &App,
    address: Option<IpAddr>,
    headers: &HeaderMap,
    form: &Form,
) -> Result<Client, ClientError> {
    let is_basic = headers.contains_key(header::AUTHORIZATION);
    let (identity, rates) = (&app.host.identity, &app.host.rates);
    rates.count_token_request(address).map_err(ClientError::rate_limited)?;
    let result = match credentials(headers, form) {
        Ok(credentials) => {
            if credentials.client_id().is_some_and(|id| identity.needs_document(&id)) {
                rates.count_registration(address).map_err(ClientError::rate_limited)?;
            }
            match identity.authenticate_client(&credentials, address).await {
                // Only now: otherwise anybody could use up the rate of a client. A device polls while its person
                // decides, which is counted by its code: the devices of one client are many.
                Ok(client) => {
                    match rates.count_token_request_of(polled(form).unwrap_or(client.id())) {
                        Ok(()) => Ok(client),
                        Err(failure) => Err(ClientError::rate_limited(failure)),
                    }
                }
                Err(error) => Err(error.into()),
            }
        }
        Err(error) => Err(error.into()),
    };
    result.map_err(|mut error| {
        if is_basic && error.status == StatusCode::UNAUTHORIZED {
            error.header = Some(challenge("Basic realm=\"portolan\""));
        }
        error
    })
}

fn credentials(headers: &HeaderMap, form: &Form) -> Result<Credentials, OAuthError> {
    let field = |name: &str| form.get(name).cloned();
    let secret = field("client_secret").or_else(|| field("client_key"));
    let assertion = field("client_assertion");
    let header = headers.get(header::AUTHORIZATION);
    let methods = [header.is_some(), secret.is_some(), assertion.is_some()];
    if methods.into_iter().filter(|used| *used).count() > 1 {
        let text = "authenticate with one method: the header, a secret, or an assertion";
        return Err(OAuthError::new("invalid_request", text));
    }
    let no_credentials = || OAuthError::new("invalid_client", "send client_id and client_secret");
    if let Some(header) = header {
        let malformed =
            || OAuthError::new("invalid_client", "the Authorization header is not HTTP Basic");
        let (client_id, secret) =
            header.to_str().ok().and_then(parse_basic).ok_or_else(malformed)?;
        if field("client_id").is_some_and(|id| id != client_id) {
            let text = "client_id is not the one of the Authorization header";
            return Err(OAuthError::new("invalid_request", text));
        }
        return Ok(Credentials::Secret { client_id, secret });
    }
    let client_id = field("client_id");
    if let Some(assertion) = assertion {
        if field("client_assertion_type").as_deref() != Some(JWT_BEARER) {
            let text = format!("client_assertion_type must be {JWT_BEARER}");
            return Err(OAuthError::new("invalid_request", text));
        }
        return Ok(Credentials::Assertion { client_id, assertion });
    }
    let client_id = client_id.ok_or_else(no_credentials)?;
    Ok(match secret {
        Some(secret) => Credentials::Secret { client_id, secret },
        None => Credentials::Public { client_id },
    })
}

/// Parses HTTP Basic, in which both parts are form-encoded (RFC 6749, section 2.3.1).
pub(crate) fn parse_basic(header: &str) -> Option<(String, String)> {
    let (scheme, encoded) = header.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (id, secret) = decoded.split_once(':')?;
    let decode = |text: &str| {
        let pair = format!("x={text}");
        let pairs: Vec<(String, String)> = serde_urlencoded::from_str(&pair).ok()?;
        pairs.into_iter().next().map(|(_, value)| value)
    };
    Some((decode(id)?, decode(secret)?))
}
