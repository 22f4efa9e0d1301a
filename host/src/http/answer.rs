//! From answers and refusals to HTTP.

use crate::{
    http::App,
    vocabulary::{ErrorKind, Failure},
};
use axum::{
    Json,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use std::sync::Arc;

/// A refusal on its way out.
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
        let mut response = (status(failure.kind), headers, Json(failure)).into_response();
        if let Some(challenge) = challenge {
            response.extensions_mut().insert(challenge);
        }
        response
    }
}

/// What a refused client is told beside where the metadata is (RFC 6750, section 3).
#[derive(Debug, Clone)]
struct Challenge(String);

impl Challenge {
    fn of(failure: &Failure) -> Option<Self> {
        match (&*failure.error_code, failure.kind) {
            // No error code when no credentials were sent.
            ("authentication_required", _) => Some(Self(String::new())),
            ("insufficient_scope", _) => {
                let scope = failure.next.as_ref()?.get("scope")?.as_str()?;
                Some(Self(format!(", error=\"insufficient_scope\", scope=\"{scope}\"")))
            }
            (_, ErrorKind::Unauthenticated) => Some(Self(", error=\"invalid_token\"".to_owned())),
            _ => None,
        }
    }
}

/// Adds the challenge to a refusal, with the address of the metadata (RFC 9728, section 5.1).
pub(super) async fn challenge(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = next.run(request).await;
    if let Some(Challenge(rest)) = response.extensions_mut().remove() {
        let metadata = format!("{}/.well-known/oauth-protected-resource", app.public_url);
        let text = format!("Bearer resource_metadata=\"{metadata}\"{rest}");
        if let Ok(value) = HeaderValue::from_str(&text) {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
        }
    }
    response
}

fn status(kind: ErrorKind) -> StatusCode {
    StatusCode::from_u16(kind.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

pub(super) async fn no_such_path() -> Refusal {
    Refusal(Failure::new("not_found").message("There is nothing at this path."))
}

pub(super) async fn no_such_method() -> Refusal {
    Refusal(Failure::new("method_not_allowed"))
}
