//! The `WWW-Authenticate` header of refusals: the address of the metadata, and the scopes to ask for.

use crate::{App, mcp, refusal::Challenge};
use axum::{
    extract::{Request, State},
    http::{HeaderValue, header},
    middleware::Next,
    response::Response,
};
use portolan_identity::RESOURCE_METADATA;
use portolan_vocabulary::SCOPES;
use std::sync::Arc;

/// The end of the paths of views that only read, and the scope that they need.
const READ_ONLY: &str = "/readonly";
const READ: &str = SCOPES[0];

/// Adds the challenge to the response of a refusal.
pub(super) async fn add(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let resource = ProtectedResource::of(request.uri().path());
    let mut response = next.run(request).await;
    if let Some(challenge) = response.extensions_mut().remove::<Challenge>()
        && let Ok(value) = HeaderValue::from_str(&header(&challenge, &resource, &app.public_url))
    {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
    }
    response
}

/// A protected resource: each has an audience and metadata of its own.
#[derive(Debug, Clone)]
enum ProtectedResource {
    Rest,
    /// The endpoint of MCP with the path of a view.
    Mcp(String),
}

impl ProtectedResource {
    fn of(path: &str) -> Self {
        if mcp::is_endpoint(path) { Self::Mcp(path.to_owned()) } else { Self::Rest }
    }

    fn path(&self) -> &str {
        match self {
            Self::Rest => "",
            Self::Mcp(path) => path,
        }
    }
}

/// Returns the header, with the address of the metadata (RFC 9728, section 5.1).
fn header(challenge: &Challenge, resource: &ProtectedResource, public_url: &str) -> String {
    let metadata = format!("{public_url}{RESOURCE_METADATA}{}", resource.path());
    let error = challenge.error.map(|error| format!(", error=\"{error}\"")).unwrap_or_default();
    let scope = scope(challenge, resource).map(|scope| format!(", scope=\"{scope}\""));
    format!("Bearer resource_metadata=\"{metadata}\"{error}{}", scope.unwrap_or_default())
}

/// Returns the scopes to ask for. An MCP client asks for exactly the scopes that it reads here: every scope
/// that a tool can require, or, if the token lacked a scope, the scopes that it has and those that the call
/// required.
fn scope(challenge: &Challenge, resource: &ProtectedResource) -> Option<String> {
    match (resource, &challenge.scopes) {
        (ProtectedResource::Rest, None) => None,
        (ProtectedResource::Rest, Some(missing)) => Some(missing.required.join(" ")),
        (ProtectedResource::Mcp(path), None) if path.ends_with(READ_ONLY) => Some(READ.to_owned()),
        (ProtectedResource::Mcp(_), None) => Some(SCOPES.join(" ")),
        (ProtectedResource::Mcp(_), Some(missing)) => {
            let is_requested = |scope: &&str| {
                missing.required.iter().chain(&missing.held).any(|name| name == scope)
            };
            Some(SCOPES.into_iter().filter(is_requested).collect::<Vec<_>>().join(" "))
        }
    }
}
