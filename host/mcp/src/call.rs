//! `tools/call`: runs a call through the pipeline and returns its answer as a tool's result.

use crate::{
    Sender,
    claim::{self, Outcome},
    finder,
    next::translate_next,
    request::{Target, ToolRequest},
    sender::sender,
    server::Server,
    tools::Tools,
};
use portolan_pipeline::{Answer, Call};
use portolan_vocabulary::{AgentCaller, Failure};
use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolRequestParams, CallToolResponse, CallToolResult, Tool},
    service::RequestContext,
};
use serde_json::{Map, Value, json};
use std::sync::Arc;

impl Server {
    /// Returns the tools that are listed for this caller.
    pub(super) fn listed_tools(&self, caller: &AgentCaller) -> Vec<Tool> {
        let snapshot = self.mcp.host.catalog.snapshot();
        let tools = self.mcp.tools.tools_for(&snapshot, &self.mcp.settings);
        tools.listed_tools(&snapshot, caller, self.mcp.host.clock.now())
    }

    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut sender = sender(&context.extensions)?.clone();
        let arguments = request.arguments.unwrap_or_default();
        let supports_forms = claim::can_ask(&context);
        let digest = if supports_forms {
            claim::call_digest(&request.name, &arguments)
        } else {
            String::new()
        };
        let now = self.mcp.host.clock.now();
        let tools = self.tools();
        let parsed = tools.request(&request.name, arguments).ok_or_else(|| {
            let text = format!("there is no tool {}; tools/list has them", request.name);
            ErrorData::invalid_params(text, None)
        })?;
        let target = match parsed {
            ToolRequest::Call(target) => target,
            ToolRequest::Find { query } => {
                let snapshot = self.mcp.host.catalog.snapshot();
                let found = finder::find(&snapshot, &sender.caller, &query, now);
                return Ok(CallToolResult::structured(found).into());
            }
            ToolRequest::Describe { capability } => {
                let snapshot = self.mcp.host.catalog.snapshot();
                let described = finder::describe(&snapshot, &sender.caller, &capability, now);
                return Ok(result(described, &tools, None).into());
            }
        };
        let mut can_ask = supports_forms;
        if let Some(state) = request.request_state.filter(|_| supports_forms) {
            match self.continue_claim(&sender, &state, request.input_responses, &digest).await? {
                Outcome::Asked(question) => {
                    return Ok(self.ask(&sender, question, &digest)?.into());
                }
                Outcome::Refused(failure) => {
                    return Ok(result(Err(failure), &tools, Some(&target)).into());
                }
                Outcome::Completed => self.reload_caller(&mut sender).await,
                Outcome::Declined => can_ask = false,
            }
        }
        let mut outcome = self.run(&sender, &target.capability, target.body.clone()).await;
        let question = outcome.as_ref().err().and_then(claim::question);
        if let Some(question) = question.filter(|_| can_ask) {
            if claim::ends_with_question(&context) {
                return Ok(self.ask(&sender, question, &digest)?.into());
            }
            match self.ask_and_wait(&sender, &context, question).await {
                Outcome::Completed => {
                    self.reload_caller(&mut sender).await;
                    outcome = self.run(&sender, &target.capability, target.body.clone()).await;
                }
                Outcome::Refused(failure) => outcome = Err(failure),
                Outcome::Asked(_) | Outcome::Declined => {}
            }
        }
        Ok(result(outcome.map(Answer::into_body), &tools, Some(&target)).into())
    }

    /// Returns the tools of the latest catalog version.
    fn tools(&self) -> Arc<Tools> {
        let snapshot = self.mcp.host.catalog.snapshot();
        self.mcp.tools.tools_for(&snapshot, &self.mcp.settings)
    }

    /// Loads the caller again, because the agent may have been claimed since its message arrived.
    /// If that fails, the caller stays as it was.
    async fn reload_caller(&self, sender: &mut Sender) {
        let identity = &self.mcp.host.identity;
        if let Ok(caller) = identity.authenticate(&sender.token, identity.mcp_audience()).await {
            let address = sender.caller.address;
            sender.caller = AgentCaller { address, ..caller };
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
        self.mcp.host.call(call).await.outcome
    }
}

/// Returns a tool's result: the body of the answer to a call over HTTP, with the next step as this client can
/// take it.
fn result(outcome: Result<Value, Failure>, tools: &Tools, call: Option<&Target>) -> CallToolResult {
    let is_error = outcome.is_err();
    let mut body = outcome.unwrap_or_else(|failure| json!(failure));
    translate_next(&mut body, tools, call);
    match is_error {
        true => CallToolResult::structured_error(body),
        false => CallToolResult::structured(body),
    }
}
