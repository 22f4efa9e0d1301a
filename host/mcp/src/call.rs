//! `tools/call`: runs a call through the pipeline and returns its answer as a tool's result.

use crate::{
    Mcp, Sender,
    claim::{Modes, Outcome},
    door::Door,
    finder,
    hints::ensure_true_hints,
    next::translate_next,
    request::{Target, ToolRequest},
    tools::Tools,
};
use portolan_pipeline::{Answer, Call};
use portolan_vocabulary::{Access, Failure};
use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities,
        InputRequiredResult, ProtocolVersion,
    },
    service::{Peer, RequestContext},
};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// How questions reach the person of a call's client.
#[derive(Debug, Clone, Copy)]
pub(super) struct Client<'a> {
    /// How the client can ask.
    modes: Modes,
    /// The client, which is asked while the call waits; `None` since revision 2026-07-28, in which the call ends
    /// with the question.
    peer: Option<&'a Peer<RoleServer>>,
}

impl<'a> Client<'a> {
    /// Returns the client of a request that came through the transport.
    pub(super) fn of_context(context: &'a RequestContext<RoleServer>) -> Self {
        let ends_with_question = context
            .protocol_version()
            .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        let modes = Modes::of(context.client_capabilities());
        Self { modes, peer: (!ends_with_question).then_some(&context.peer) }
    }

    /// Returns a client of revision 2026-07-28 with these capabilities.
    pub(super) fn without_peer(capabilities: ClientCapabilities) -> Self {
        Self { modes: Modes::of(Some(capabilities)), peer: None }
    }
}

/// The outcome of a tool call.
pub(super) enum ToolOutcome {
    Asked(InputRequiredResult),
    Answered(ToolAnswer),
}

/// The body of a tool's result: that of the answer to a call over HTTP, with the next step as this client can take
/// it.
pub(super) struct ToolAnswer {
    pub(super) body: Value,
    pub(super) is_error: bool,
}

impl ToolOutcome {
    /// `call` is the capability call that ended so, if the tool made one.
    fn answered(outcome: Result<Value, Failure>, door: &Door<'_>, call: Option<&Target>) -> Self {
        let is_error = outcome.is_err();
        let mut body = outcome.unwrap_or_else(|failure| json!(failure));
        translate_next(&mut body, door, call);
        Self::Answered(ToolAnswer { body, is_error })
    }
}

impl From<ToolOutcome> for CallToolResponse {
    fn from(outcome: ToolOutcome) -> Self {
        match outcome {
            ToolOutcome::Asked(question) => question.into(),
            ToolOutcome::Answered(ToolAnswer { body, is_error: true }) => {
                CallToolResult::structured_error(body).into()
            }
            ToolOutcome::Answered(ToolAnswer { body, is_error: false }) => {
                CallToolResult::structured(body).into()
            }
        }
    }
}

impl Mcp {
    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        mut sender: Sender,
        client: Client<'_>,
    ) -> Result<ToolOutcome, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let now = self.host.clock.now();
        let tools = self.current_tools();
        let parsed = tools.request(&request.name, arguments).ok_or_else(|| {
            let text = format!("there is no tool {}; tools/list has them", request.name);
            ErrorData::invalid_params(text, None)
        })?;
        let Sender { caller, view, .. } = sender.clone();
        let door = Door { tools: &tools, view: &view, caller: &caller, called: &request.name };
        let target = match parsed {
            ToolRequest::Call(target) => target,
            ToolRequest::Find { query } => {
                // A search costs as much as a call.
                let permitted = self.host.permit(&caller, Access::Open);
                let found = permitted.map(|_| tools.finder().find(&query, &caller, now, &door));
                return Ok(ToolOutcome::answered(found, &door, None));
            }
            ToolRequest::Describe { capability } => {
                let described = self
                    .host
                    .permit(&caller, Access::Open)
                    .and_then(|_| finder::describe(&tools.snapshot, &caller, &capability, now));
                return Ok(ToolOutcome::answered(described, &door, None));
            }
        };
        if let Err(failure) = ensure_true_hints(&tools.snapshot, &target, &view) {
            return Ok(ToolOutcome::answered(Err(failure), &door, None));
        }
        let mut mode = client.modes.mode_for(&sender.caller);
        // An agent that was claimed meanwhile has nothing to ask.
        let state = request.request_state.filter(|_| sender.caller.owner_id.is_none());
        if let (Some(state), Some(asked)) = (state, mode) {
            let responses = request.input_responses;
            match self.continue_claim(&sender, &state, responses, &target, asked).await? {
                Outcome::Asked(question) => {
                    return Ok(ToolOutcome::Asked(self.ask(&sender, question, &target)?));
                }
                Outcome::Refused(failure) => {
                    return Ok(ToolOutcome::answered(Err(failure), &door, Some(&target)));
                }
                Outcome::Completed => self.reload_caller(&mut sender).await,
                Outcome::Declined => mode = None,
            }
        }
        let mut outcome = self.run(&sender, &target.capability, target.body.clone()).await;
        let question = match (&outcome, mode) {
            (Err(failure), Some(mode)) => self.first_question(failure, mode, &sender.caller)?,
            _ => None,
        };
        if let Some(question) = question {
            let Some(peer) = client.peer else {
                return Ok(ToolOutcome::Asked(self.ask(&sender, question, &target)?));
            };
            match self.ask_and_wait(&sender, peer, question).await {
                Outcome::Completed => {
                    self.reload_caller(&mut sender).await;
                    outcome = self.run(&sender, &target.capability, target.body.clone()).await;
                }
                Outcome::Refused(failure) => outcome = Err(failure),
                Outcome::Asked(_) | Outcome::Declined => {}
            }
        }
        Ok(ToolOutcome::answered(outcome.map(Answer::into_body), &door, Some(&target)))
    }

    /// Returns the tools of the latest catalog version.
    pub(super) fn current_tools(&self) -> Arc<Tools> {
        self.tools.tools_for(self.host.catalog.snapshot(), &self.settings)
    }

    /// Loads the caller again, because the agent may have been claimed since its message arrived.
    /// If that fails, the caller stays as it was.
    async fn reload_caller(&self, sender: &mut Sender) {
        let identity = &self.host.identity;
        if let Ok(caller) = identity.authenticate(&sender.token, identity.mcp_audience()).await {
            let address = sender.caller.address;
            sender.caller = portolan_vocabulary::AgentCaller { address, ..caller };
        }
    }

    /// Runs a call through the pipeline, as the agent of the message's token.
    pub(super) async fn run(
        &self,
        sender: &Sender,
        capability: &str,
        body: Map<String, Value>,
    ) -> Result<Answer, Failure> {
        let call = Call {
            caller: sender.caller.clone(),
            capability,
            body: Ok(body),
            // A tool's call has no headers; the body has a field for the key.
            idempotency_key: None,
            request_id: Arc::clone(&sender.request_id),
            by_person: false,
        };
        self.host.call(call).await.outcome
    }
}
