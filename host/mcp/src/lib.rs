//! The Model Context Protocol: every capability is a tool. The only room that knows its messages; the
//! tools call through the same pipeline as every other door.

mod call;
mod changes;
mod claim;
mod finder;
mod prompts;
mod resources;
mod server;
mod settings;
mod tools;
mod transport;

pub use resources::Page;
pub use rmcp::ServerHandler;
pub use server::Server;
pub use settings::McpSettings;
pub use transport::{SESSION_HEADER, SESSION_IDLE, Service};

use finder::Asked;
use portolan_pipeline::{Host, permit};
use portolan_vocabulary::{AgentCaller, ErrorCode, Failure, Timestamp};
use rmcp::{ErrorData, model::JsonRpcError};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The endpoint, as the door that authenticates needs it.
pub struct Mcp {
    host: Arc<Host>,
    tools: tools::Cache,
    settings: McpSettings,
    /// Where agents reach this host, without a slash at the end.
    public_url: String,
    pages: Vec<Page>,
    stop: CancellationToken,
}

/// Who sent a message; the door puts it beside the request.
#[derive(Clone)]
pub struct Admitted {
    pub caller: AgentCaller,
    /// To be looked at again by what goes on for longer than a request.
    pub token: Arc<str>,
    pub request_id: Arc<str>,
}

/// The part of a message that says which action is meant.
#[derive(Deserialize)]
struct Message {
    method: String,
    params: Option<Wanted>,
}

#[derive(Deserialize)]
struct Wanted {
    name: String,
    arguments: Option<Map<String, Value>>,
}

/// The answer to a body that is no message. It has no id, as none could be read.
pub fn unreadable(body: &[u8]) -> Value {
    let error = match serde_json::from_slice::<IgnoredAny>(body) {
        Ok(_) => ErrorData::invalid_request("The body is not a message of JSON-RPC.", None),
        Err(_) => ErrorData::parse_error("The body is not JSON.", None),
    };
    json!(JsonRpcError::new(None, error))
}

impl Mcp {
    /// `pages` are documents that agents may read as resources.
    pub fn new(
        host: Arc<Host>,
        public_url: String,
        pages: Vec<Page>,
        settings: McpSettings,
    ) -> Arc<Self> {
        let (tools, stop) = (tools::Cache::default(), CancellationToken::new());
        Arc::new(Self { host, tools, settings, public_url, pages, stop })
    }

    pub fn settings(&self) -> &McpSettings {
        &self.settings
    }

    /// Ends all streams; requests in flight are answered.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Refuses a message that asks for more than its token's scopes allow. The pipeline would too, but
    /// only the door can say so with the status that lets a client ask its person for more.
    pub fn check_scope(&self, caller: &AgentCaller, message: &[u8]) -> Result<(), Failure> {
        let Ok(Message { method, params: Some(wanted) }) = serde_json::from_slice(message) else {
            return Ok(());
        };
        if method != "tools/call" {
            return Ok(());
        }
        let snapshot = self.host.catalog.snapshot();
        let named = self.tools.of(&snapshot, &self.settings);
        let arguments = wanted.arguments.unwrap_or_default();
        let Some(Asked::Call(target)) = named.asked(&wanted.name, arguments) else {
            return Ok(());
        };
        let Ok(capability) = snapshot.find(&target.capability, Timestamp::now()) else {
            return Ok(());
        };
        let Ok(selected) = capability.select(target.body) else { return Ok(()) };
        match permit(caller, selected.action) {
            Err(failure) if failure.is(ErrorCode::InsufficientScope) => Err(failure),
            _ => Ok(()),
        }
    }
}

/// Without the token.
impl std::fmt::Debug for Admitted {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Admitted").field("caller", &self.caller).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Mcp {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Mcp").field("settings", &self.settings).finish_non_exhaustive()
    }
}
