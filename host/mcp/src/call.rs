//! `tools/call`: runs a call through the pipeline and returns its answer as a tool's result.

use crate::{
    Sender,
    claim::{self, Outcome},
    finder,
    request::ToolRequest,
    sender::sender,
    server::Server,
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
        self.mcp
            .tools
            .tools_for(&snapshot, &self.mcp.settings)
            .listed_tools(caller, self.mcp.host.clock.now())
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
        let target = match self.request(&request.name, arguments)? {
            ToolRequest::Call(target) => target,
            ToolRequest::Find { query } => {
                let snapshot = self.mcp.host.catalog.snapshot();
                let found = finder::find(&snapshot, &sender.caller, &query, now);
                return Ok(CallToolResult::structured(found).into());
            }
            ToolRequest::Describe { capability } => {
                let described =
                    finder::describe(&self.mcp.host.catalog.snapshot(), &capability, now);
                return Ok(tool_result(described).into());
            }
        };
        let mut can_ask = supports_forms;
        if let Some(state) = request.request_state.filter(|_| supports_forms) {
            match self.continue_claim(&sender, &state, request.input_responses, &digest).await? {
                Outcome::Asked(question) => {
                    return Ok(self.ask(&sender, question, &digest)?.into());
                }
                Outcome::Refused(failure) => return Ok(result(Err(failure)).into()),
                Outcome::Completed => self.reload_caller(&mut sender).await,
                Outcome::Declined => can_ask = false,
            }
        }
        // After the claim, the same call runs again.
        let retry_body = can_ask.then(|| target.body.clone());
        let mut outcome = self.run(&sender, &target.capability, target.body).await;
        let question = outcome.as_ref().err().and_then(claim::question);
        if let (Some(question), Some(body)) = (question, retry_body) {
            if claim::ends_with_question(&context) {
                return Ok(self.ask(&sender, question, &digest)?.into());
            }
            match self.ask_and_wait(&sender, &context, question).await {
                Outcome::Completed => {
                    self.reload_caller(&mut sender).await;
                    outcome = self.run(&sender, &target.capability, body).await;
                }
                Outcome::Refused(failure) => outcome = Err(failure),
                Outcome::Asked(_) | Outcome::Declined => {}
            }
        }
        Ok(result(outcome).into())
    }

    fn request(&self, tool: &str, arguments: Map<String, Value>) -> Result<ToolRequest, ErrorData> {
        let snapshot = self.mcp.host.catalog.snapshot();
        let tools = self.mcp.tools.tools_for(&snapshot, &self.mcp.settings);
        tools
            .request(tool, arguments)
            .ok_or_else(|| ErrorData::invalid_params(format!("there is no tool {tool}"), None))
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

/// Returns a tool's result, with the same body as the answer to a call over HTTP.
fn result(outcome: Result<Answer, Failure>) -> CallToolResult {
    tool_result(outcome.map(Answer::into_body))
}

fn tool_result(outcome: Result<Value, Failure>) -> CallToolResult {
    match outcome {
        Ok(body) => CallToolResult::structured(body),
        Err(failure) => CallToolResult::structured_error(json!(failure)),
    }
}
