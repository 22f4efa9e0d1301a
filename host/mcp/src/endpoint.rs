//! The endpoint: the state that the servers of all clients share, and the check of scopes before a call.

use crate::{
    McpSettings, Page, View,
    hints::ensure_true_hints,
    request::{Message, ToolRequest},
    subscriptions::Subscriptions,
    tools::{self, Tools},
    view::ToolSet,
    waiting::Waiting,
};
use portolan_catalog::Capability;
use portolan_pipeline::{Host, ensure_permitted};
use portolan_vocabulary::{AgentCaller, ErrorCode, Failure, one_line};
use rmcp::{ErrorData, model::JsonRpcError};
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::{fmt, sync::Arc};
use tokio_util::sync::CancellationToken;

/// The maximum number of toolsets that a message names.
const NAMED_TOOLSETS: usize = 100;

/// The endpoint: the state that the servers of all clients share.
pub struct Mcp {
    pub(super) host: Arc<Host>,
    pub(super) tools: tools::Cache,
    pub(super) settings: McpSettings,
    /// The address of this host for agents, without a trailing slash.
    pub(super) public_url: String,
    pub(super) icon_url: String,
    /// The names by which requests may name this host, some with a port.
    pub(super) hosts: Vec<String>,
    pub(super) pages: Vec<Page>,
    pub(super) stop: CancellationToken,
    /// The agents of which a call waits until a person has claimed them.
    pub(super) waiting: Waiting,
    /// The subscriptions of sessions.
    pub(super) subscriptions: Subscriptions,
}

/// Returns the answer to a body that is not a message. It has no id, because none could be parsed.
pub fn parse_error_response(body: &[u8]) -> Value {
    let error = match serde_json::from_slice::<IgnoredAny>(body) {
        Ok(_) => ErrorData::invalid_request("The body is not a message of JSON-RPC.", None),
        Err(_) => ErrorData::parse_error("The body is not JSON.", None),
    };
    json!(JsonRpcError::new(None, error))
}

impl Mcp {
    /// Makes the endpoint of a host; agents may read `pages` as resources.
    pub fn new(
        host: Arc<Host>,
        public_url: String,
        icon_url: String,
        pages: Vec<Page>,
        settings: McpSettings,
    ) -> Arc<Self> {
        let (tools, stop) = (tools::Cache::default(), CancellationToken::new());
        let hosts = settings.allowed_hosts(&public_url);
        Arc::new(Self {
            host,
            tools,
            settings,
            public_url,
            icon_url,
            hosts,
            pages,
            stop,
            waiting: Waiting::default(),
            subscriptions: Subscriptions::default(),
        })
    }

    /// Returns the operator's settings.
    pub fn settings(&self) -> &McpSettings {
        &self.settings
    }

    /// Ends all streams. Requests in flight are still answered.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Returns at most `limit` actions that fit the words of a query, the best first: as `find_capabilities` finds them.
    pub fn find_actions(&self, query: &str, limit: usize) -> Vec<(Arc<Capability>, String)> {
        let tools = self.current_tools();
        tools.finder().actions(query, self.host.clock.now()).take(limit).collect()
    }

    /// Ensures that there are tools of each toolset that a view names.
    ///
    /// # Errors
    ///
    /// Fails with `not_found`, and names the toolsets that there are.
    pub fn ensure_toolsets(&self, view: &View) -> Result<(), Failure> {
        let ToolSet::Named(names) = &view.tools else { return Ok(()) };
        let tools = self.current_tools();
        let Some(unknown) = names.iter().find(|name| !tools.has_toolset(name)) else {
            return Ok(());
        };
        let known: Vec<_> = tools.tags().into_iter().take(NAMED_TOOLSETS).collect();
        let message = format!(
            "There is no toolset {:?}. Use the id of a capability or one of: {}.",
            one_line(unknown, 64),
            known.join(", ")
        );
        Err(Failure::new(ErrorCode::NotFound).message(message))
    }

    /// Ensures that a token's scopes allow the call of a message. The pipeline checks this too, but only an
    /// HTTP status lets a client ask its person for more scopes. A message that calls no known action is
    /// allowed.
    pub fn ensure_scope(
        &self,
        caller: &AgentCaller,
        view: &View,
        message: &[u8],
    ) -> Result<(), Failure> {
        let Ok(Message { method, params: Some(parameters) }) = serde_json::from_slice(message)
        else {
            return Ok(());
        };
        if method != "tools/call" {
            return Ok(());
        }
        let tools = self.current_tools();
        match tools.request(&parameters.name, parameters.arguments.unwrap_or_default()) {
            Some(request) => self.ensure_scope_of_request(caller, view, (&tools, &request)),
            None => Ok(()),
        }
    }

    /// Ensures that a token's scopes allow a request of a tool. One that calls no known action is allowed.
    pub(super) fn ensure_scope_of_request(
        &self,
        caller: &AgentCaller,
        view: &View,
        (tools, request): (&Tools, &ToolRequest),
    ) -> Result<(), Failure> {
        let ToolRequest::Call(target) = request else { return Ok(()) };
        let Ok(capability) = tools.snapshot.find(&target.capability, self.host.clock.now()) else {
            return Ok(());
        };
        // A call that is refused with any scopes needs none.
        if ensure_true_hints(&tools.snapshot, target, view).is_err() {
            return Ok(());
        }
        let Ok(action) = capability.action_of(&target.body) else { return Ok(()) };
        let access = action.descriptor.access;
        match ensure_permitted(caller, access, self.host.catalog.roles()) {
            Err(failure) if failure.has_code(ErrorCode::InsufficientScope) => Err(failure),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Mcp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Mcp").field("settings", &self.settings).finish_non_exhaustive()
    }
}
