//! `tools/call`: runs a call through the pipeline and returns its answer as a tool's result.

use crate::{
    Mcp, Sender,
    claim::{Modes, Outcome},
    door::Door,
    finder,
    hints::ensure_true_hints,
    next::translated,
    request::{Sent, Target, ToolRequest},
    tools::Tools,
};
use portolan_pipeline::{Answer, Call};
use portolan_telemetry::TraceContext;
use portolan_vocabulary::{Access, Failure};
use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities,
        InputRequiredResult, InputResponses, ProtocolVersion,
    },
    service::{Peer, RequestContext},
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::{borrow::Cow, sync::Arc};

/// A call of a tool of the catalog, as a message has it.
#[derive(Debug)]
pub(super) struct ToolCall<'m> {
    /// The tools of the catalog in which the tool was found.
    pub(super) tools: Arc<Tools>,
    pub(super) name: Cow<'m, str>,
    pub(super) request: ToolRequest,
    pub(super) sent: Sent<'m>,
    /// The answers to the questions of the call before, and the state that it ended with.
    pub(super) input_responses: Option<InputResponses>,
    pub(super) request_state: Option<String>,
    /// The place in a trace that the message names.
    pub(super) trace: Option<TraceContext>,
}

/// The client of a call, through which questions reach its person.
#[derive(Debug, Clone, Copy)]
pub(super) struct Client<'a> {
    /// The ways in which the client can ask.
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
    pub(super) body: ToolBody,
    pub(super) is_error: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum ToolBody {
    /// The answer to a call, which becomes JSON once, when it is written.
    Call(Box<Answer>),
    Other(Value),
}

impl ToolBody {
    fn into_value(self) -> Value {
        match self {
            Self::Call(answer) => answer.into_body(),
            Self::Other(body) => body,
        }
    }
}

impl ToolOutcome {
    /// `call` is the capability call that ended so, if the tool made one.
    fn answered(
        outcome: Result<ToolBody, Failure>,
        door: &Door<'_>,
        call: Option<&Target>,
    ) -> Self {
        let is_error = outcome.is_err();
        let body = match outcome {
            Ok(ToolBody::Call(mut answer)) => {
                answer.next = answer.next.and_then(|next| translated(next, None, door, call));
                ToolBody::Call(answer)
            }
            Ok(body) => body,
            Err(mut failure) => {
                let conflict = failure.conflict.as_deref();
                let next = failure.next.and_then(|next| translated(*next, conflict, door, call));
                failure.next = next.map(Box::new);
                ToolBody::Other(json!(failure))
            }
        };
        Self::Answered(ToolAnswer { body, is_error })
    }
}

impl From<ToolOutcome> for CallToolResponse {
    fn from(outcome: ToolOutcome) -> Self {
        match outcome {
            ToolOutcome::Asked(question) => question.into(),
            ToolOutcome::Answered(ToolAnswer { body, is_error: true }) => {
                CallToolResult::structured_error(body.into_value()).into()
            }
            ToolOutcome::Answered(ToolAnswer { body, is_error: false }) => {
                CallToolResult::structured(body.into_value()).into()
            }
        }
    }
}

impl Mcp {
    /// Runs a call that came through the transport.
    pub(super) async fn call_sent(
        &self,
        request: CallToolRequestParams,
        sender: Sender,
        client: Client<'_>,
    ) -> Result<ToolOutcome, ErrorData> {
        let CallToolRequestParams { name, arguments, input_responses, request_state, meta, .. } =
            request;
        let tools = self.current_tools();
        let arguments = arguments.unwrap_or_default();
        let request = tools.request(&name, arguments.clone()).ok_or_else(|| {
            let text = format!("there is no tool {name}; tools/list has them");
            ErrorData::invalid_params(text, None)
        })?;
        let trace = meta.as_ref().and_then(|meta| TraceContext::parse(meta.get_traceparent()?));
        let sent = Sent::Arguments(arguments);
        let call = ToolCall { tools, name, request, sent, input_responses, request_state, trace };
        self.call(call, sender, client).await
    }

    /// Runs a call.
    pub(super) async fn call(
        &self,
        call: ToolCall<'_>,
        mut sender: Sender,
        client: Client<'_>,
    ) -> Result<ToolOutcome, ErrorData> {
        let ToolCall { tools, name, request, sent, input_responses, request_state, trace } = call;
        // The trace of a message is nearer than that of the request that carried it.
        if trace.is_some() {
            sender.trace = self.host.telemetry.accept(trace);
        }
        let answered = |outcome, sender: &Sender, call: Option<&Target>| {
            Ok(ToolOutcome::answered(outcome, &Door::of(&tools, sender, &name), call))
        };
        let target = match request {
            ToolRequest::Call(target) => target,
            ToolRequest::Find { query } => {
                // A search costs as much as a call.
                let permitted = self.host.permit(&sender.caller, Access::Open);
                let found = permitted.map(|_| {
                    let (door, now) = (Door::of(&tools, &sender, &name), self.host.clock.now());
                    tools.finder().find(&query, &sender.caller, now, &door)
                });
                return answered(found.map(ToolBody::Other), &sender, None);
            }
            ToolRequest::Describe { capability } => {
                let (caller, now) = (&sender.caller, self.host.clock.now());
                let described = self
                    .host
                    .permit(caller, Access::Open)
                    .and_then(|_| finder::describe(&tools.snapshot, caller, &capability, now));
                return answered(described.map(ToolBody::Other), &sender, None);
            }
        };
        if let Err(failure) = ensure_true_hints(&tools.snapshot, &target, &sender.view) {
            return answered(Err(failure), &sender, None);
        }
        let mut mode = client.modes.mode_for(&sender.caller);
        // An agent that was claimed meanwhile has nothing to ask.
        let state = request_state.filter(|_| sender.caller.owner_id.is_none());
        if let (Some(state), Some(asked)) = (state, mode) {
            let continued = self.continue_claim(&sender, &state, input_responses, &target, asked);
            match Box::pin(continued).await? {
                Outcome::Asked(question) => {
                    return Ok(ToolOutcome::Asked(self.ask(&sender, question, &target)?));
                }
                Outcome::Refused(failure) => return answered(Err(failure), &sender, Some(&target)),
                Outcome::Completed => Box::pin(self.reload_caller(&mut sender)).await,
                Outcome::Declined => mode = None,
            }
        }
        let failure = match self.run(&sender, &target.capability, target.body).await {
            Ok(answer) => return answered(Ok(ToolBody::Call(Box::new(answer))), &sender, None),
            Err(failure) => failure,
        };
        // The call has taken the body, which a question and the next step repeat.
        let Some(ToolRequest::Call(target)) = tools.request(&name, sent.arguments()) else {
            return answered(Err(failure), &sender, None);
        };
        let question = match mode {
            Some(mode) => self.first_question(&failure, mode, &sender.caller)?,
            None => None,
        };
        let mut outcome = Err(failure);
        if let Some(question) = question {
            let Some(peer) = client.peer else {
                return Ok(ToolOutcome::Asked(self.ask(&sender, question, &target)?));
            };
            match Box::pin(self.ask_and_wait(&sender, peer, question)).await {
                Outcome::Completed => {
                    Box::pin(self.reload_caller(&mut sender)).await;
                    let body = target.body.clone();
                    outcome = Box::pin(self.run(&sender, &target.capability, body)).await;
                }
                Outcome::Refused(failure) => outcome = Err(failure),
                Outcome::Asked(_) | Outcome::Declined => {}
            }
        }
        let outcome = outcome.map(|answer| ToolBody::Call(Box::new(answer)));
        answered(outcome, &sender, Some(&target))
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
            trace: sender.trace,
        };
        self.host.call(call).await.outcome
    }
}
