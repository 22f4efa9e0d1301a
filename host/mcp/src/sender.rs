//! The authenticated sender of a message, and its session.

use crate::View;
use portolan_telemetry::TraceContext;
use portolan_vocabulary::AgentCaller;
use rmcp::{ErrorData, model::Extensions};
use std::{fmt, sync::Arc};

/// The header that names the session of a request, in MCP before 2026-07-28.
pub const SESSION_HEADER: &str = "mcp-session-id";

/// The authenticated sender of a message, which travels with the request as an extension.
#[derive(Clone)]
pub struct Sender {
    pub caller: AgentCaller,
    /// The token, which a stream checks again because it lasts longer than its request.
    pub token: Arc<str>,
    pub request_id: Arc<str>,
    /// The request's place in a trace; `None` if it belongs to no trace.
    pub trace: Option<TraceContext>,
    /// The tools that the message's endpoint lists.
    pub view: View,
}

impl fmt::Debug for Sender {
    /// Leaves out the token.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Sender").field("caller", &self.caller).finish_non_exhaustive()
    }
}

/// Returns the sender of the message of a request with these extensions.
pub(super) fn sender(extensions: &Extensions) -> Result<&Sender, ErrorData> {
    let parts = extensions.get::<http::request::Parts>();
    let sender = parts.and_then(|parts| parts.extensions.get::<Sender>());
    sender.ok_or_else(|| ErrorData::internal_error("the sender is unknown", None))
}

/// Returns the id of the session of a request with these extensions.
pub(super) fn session(extensions: &Extensions) -> Result<&str, ErrorData> {
    let parts = extensions.get::<http::request::Parts>();
    let session = parts.and_then(|parts| parts.headers.get(SESSION_HEADER)?.to_str().ok());
    session.ok_or_else(|| ErrorData::invalid_request("the request belongs to no session", None))
}
