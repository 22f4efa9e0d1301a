//! From answers and refusals to HTTP.

use crate::{App, mcp};
use axum::{
    Json,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use portolan_identity::SCOPES;
use portolan_vocabulary::{ErrorCode, ErrorKind, Failure};
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
struct Challenge {
    /// None when no credentials were sent.
    error: Option<&'static str>,
    /// What the token lacks, and what it has.
    scopes: Option<(Vec<String>, Vec<String>)>,
}

impl Challenge {
    fn of(failure: &Failure) -> Option<Self> {
        let (error, scopes) = match (&*failure.error_code, failure.kind) {
            ("authentication_required", _) => (None, None),
            ("insufficient_scope", _) => {
                let conflict = failure.conflict.as_ref()?;
                let list = |name: &str| serde_json::from_value(conflict.get(name)?.clone()).ok();
                (Some("insufficient_scope"), Some((list("required")?, list("held")?)))
            }
            (_, ErrorKind::Unauthenticated) => (Some("invalid_token"), None),
            _ => return None,
        };
        Some(Self { error, scopes })
    }

    /// With the address of the metadata (RFC 9728, section 5.1).
    fn header(&self, surface: Surface, public_url: &str) -> String {
        let metadata =
            format!("{public_url}/.well-known/oauth-protected-resource{}", surface.path());
        let error = self.error.map(|error| format!(", error=\"{error}\"")).unwrap_or_default();
        let scope = self.scope(surface).map(|scope| format!(", scope=\"{scope}\""));
        format!("Bearer resource_metadata=\"{metadata}\"{error}{}", scope.unwrap_or_default())
    }

    /// What to ask for. Clients of MCP ask for no less and no more than they are told here: at first
    /// all that the tools can need, and later what they have and what they lack.
    fn scope(&self, surface: Surface) -> Option<String> {
        match (surface, &self.scopes) {
            (Surface::Rest, None) => None,
            (Surface::Rest, Some((required, _))) => Some(required.join(" ")),
            (Surface::Mcp, None) => Some(SCOPES.join(" ")),
            (Surface::Mcp, Some((required, held))) => {
                let wanted = |scope: &&str| required.iter().chain(held).any(|it| it == scope);
                Some(SCOPES.into_iter().filter(wanted).collect::<Vec<_>>().join(" "))
            }
        }
    }
}

/// What a token is for: each has an audience and metadata of its own.
#[derive(Debug, Clone, Copy)]
enum Surface {
    Rest,
    Mcp,
}

impl Surface {
    fn of(path: &str) -> Self {
        if path == mcp::PATH { Self::Mcp } else { Self::Rest }
    }

    fn path(self) -> &'static str {
        match self {
            Self::Rest => "",
            Self::Mcp => mcp::PATH,
        }
    }
}

/// Adds the challenge to a refusal.
pub(super) async fn challenge(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Response {
    let surface = Surface::of(request.uri().path());
    let mut response = next.run(request).await;
    if let Some(challenge) = response.extensions_mut().remove::<Challenge>()
        && let Ok(value) = HeaderValue::from_str(&challenge.header(surface, &app.public_url))
    {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
    }
    response
}

fn status(kind: ErrorKind) -> StatusCode {
    StatusCode::from_u16(kind.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

pub(super) async fn no_such_path() -> Refusal {
    Refusal(Failure::new(ErrorCode::NotFound).message("There is nothing at this path."))
}

pub(super) async fn no_such_method() -> Refusal {
    Refusal(Failure::new(ErrorCode::MethodNotAllowed))
}
