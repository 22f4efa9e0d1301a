//! From answers and refusals to HTTP.

use crate::vocabulary::{ErrorKind, Failure};
use axum::{
    Json,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

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
        let seconds = failure
            .next
            .as_ref()
            .and_then(|next| next.get("after_s")?.as_u64());
        if let Some(seconds) = seconds {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(challenge) = challenge(&failure) {
            headers.insert(header::WWW_AUTHENTICATE, challenge);
        }
        (status(failure.kind), headers, Json(failure)).into_response()
    }
}

/// RFC 6750, section 3: no error code when no credentials were sent.
fn challenge(failure: &Failure) -> Option<HeaderValue> {
    let metadata = "Bearer resource_metadata=\"/.well-known/oauth-protected-resource\"";
    let text = match (&*failure.error_code, failure.kind) {
        ("authentication_required", _) => metadata.to_owned(),
        ("insufficient_scope", _) => {
            let scope = failure
                .next
                .as_ref()
                .and_then(|next| next.get("scope")?.as_str())?;
            format!("{metadata}, error=\"insufficient_scope\", scope=\"{scope}\"")
        }
        (_, ErrorKind::Unauthenticated) => format!("{metadata}, error=\"invalid_token\""),
        _ => return None,
    };
    HeaderValue::from_str(&text).ok()
}

fn status(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::Invalid => StatusCode::BAD_REQUEST,
        ErrorKind::Unauthenticated => StatusCode::UNAUTHORIZED,
        ErrorKind::PaymentRequired => StatusCode::PAYMENT_REQUIRED,
        ErrorKind::Forbidden => StatusCode::FORBIDDEN,
        ErrorKind::NotFound => StatusCode::NOT_FOUND,
        ErrorKind::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        ErrorKind::Conflict => StatusCode::CONFLICT,
        ErrorKind::Gone => StatusCode::GONE,
        ErrorKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorKind::UnsupportedMedia => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ErrorKind::Unprocessable => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorKind::TooMany => StatusCode::TOO_MANY_REQUESTS,
        ErrorKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        ErrorKind::Upstream => StatusCode::BAD_GATEWAY,
        ErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        ErrorKind::OutOfTime => StatusCode::GATEWAY_TIMEOUT,
    }
}

pub(super) async fn no_such_path() -> Refusal {
    Refusal(Failure::new("not_found").message("There is nothing at this path."))
}

pub(super) async fn no_such_method() -> Refusal {
    Refusal(Failure::new("method_not_allowed"))
}
