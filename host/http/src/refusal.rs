//! A failure as the response of an endpoint: status, headers and the envelope.

use axum::{
    Json,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use portolan_vocabulary::{ErrorCode, ErrorKind, Failure};
use serde_json::json;

/// A failure that a handler answers with.
#[derive(Debug)]
pub struct Refusal(pub Failure);

impl<E: Into<Failure>> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let failure = self.0;
        let mut headers = HeaderMap::new();
        let seconds = failure.next.as_ref().and_then(|next| next.get("after_s")?.as_u64());
        if let Some(seconds) = seconds {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        let challenge = Challenge::of(&failure);
        let mut response = (status(failure.kind), headers, Json(&failure)).into_response();
        if let Some(challenge) = challenge {
            response.extensions_mut().insert(challenge);
        }
        response.extensions_mut().insert(Refused(failure));
        response
    }
}

/// The failure of a response. It is an extension of the response until `error_page::negotiate`, which makes a
/// page of it for browsers.
#[derive(Debug, Clone)]
pub(super) struct Refused(pub(super) Failure);

/// Why the credentials of a request were not enough, for its `WWW-Authenticate` header (RFC 6750,
/// section 3). It is an extension of the response until `challenge::add` makes the header of it.
#[derive(Debug, Clone)]
pub(super) struct Challenge {
    /// `None` if no credentials were sent.
    pub(super) error: Option<&'static str>,
    pub(super) scopes: Option<MissingScopes>,
}

/// The scopes that an action requires and those that the token holds.
#[derive(Debug, Clone)]
pub(super) struct MissingScopes {
    pub(super) required: Vec<String>,
    pub(super) held: Vec<String>,
}

impl Challenge {
    fn of(failure: &Failure) -> Option<Self> {
        let (error, scopes) = match (&*failure.error_code, failure.kind) {
            ("authentication_required", _) => (None, None),
            ("insufficient_scope", _) => {
                let conflict = failure.conflict.as_ref()?;
                let list = |name: &str| serde_json::from_value(conflict.get(name)?.clone()).ok();
                let scopes = MissingScopes { required: list("required")?, held: list("held")? };
                (Some("insufficient_scope"), Some(scopes))
            }
            (_, ErrorKind::Unauthenticated) => (Some("invalid_token"), None),
            _ => return None,
        };
        Some(Self { error, scopes })
    }
}

fn status(kind: ErrorKind) -> StatusCode {
    StatusCode::from_u16(kind.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

pub(super) async fn no_such_path() -> Refusal {
    Refusal(Failure::new(ErrorCode::NotFound).message("There is nothing at this path."))
}

/// Answers a path that the agents' address does not have, with the list of the documents as the next step.
pub(super) async fn no_such_public_path() -> Refusal {
    let Refusal(failure) = no_such_path().await;
    Refusal(failure.next(json!({ "http": { "method": "GET", "url": "/llms.txt" } })))
}

pub(super) async fn no_such_method() -> Refusal {
    Refusal(Failure::new(ErrorCode::MethodNotAllowed))
}
