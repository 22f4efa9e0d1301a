//! `tools/call`: runs a call through the pipeline and returns its answer as a tool's result.

use crate::{
    Admitted,
    admitted::admitted,
    claim::{self, Outcome},
    finder,
    request::ToolRequest,
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
    pub(super) fn listed(&self, caller: &AgentCaller) -> Vec<Tool> {
        let snapshot = self.mcp.host.catalog.snapshot();
        self.mcp.tools.of(&snapshot, &self.mcp.settings).listed(caller, self.mcp.host.clock.now())
    }

    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut admitted = admitted(&context.extensions)?.clone();
        let arguments = request.arguments.unwrap_or_default();
        let asks = claim::can_ask(&context);
        let about =
            if asks { claim::call_digest(&request.name, &arguments) } else { String::new() };
        let now = self.mcp.host.clock.now();
        let target = match self.request(&request.name, arguments)? {
            ToolRequest::Call(target) => target,
            ToolRequest::Find { query } => {
                let snapshot = self.mcp.host.catalog.snapshot();
                let found = finder::find(&snapshot, &admitted.caller, &query, now);
                return Ok(CallToolResult::structured(found).into());
            }
            ToolRequest::Describe { capability } => {
                let described =
                    finder::describe(&self.mcp.host.catalog.snapshot(), &capability, now);
                return Ok(tool_result(described).into());
            }
        };
        let mut may_ask = asks;
        if let Some(state) = request.request_state.filter(|_| asks) {
            match self.continue_claim(&admitted, &state, request.input_responses, &about).await? {
                Outcome::Asked(question) => {
                    return Ok(self.ask(&admitted, question, &about)?.into());
                }
                Outcome::Refused(failure) => return Ok(result(Err(failure)).into()),
                Outcome::Completed => self.reload_caller(&mut admitted).await,
                Outcome::Declined => may_ask = false,
            }
        }
        // After the claim, the same call runs again.
        let body_again = may_ask.then(|| target.body.clone());
        let mut outcome = self.run(&admitted, &target.capability, target.body).await;
        let question = outcome.as_ref().err().and_then(claim::question);
        if let (Some(question), Some(body)) = (question, body_again) {
            if claim::ends_with_question(&context) {
                return Ok(self.ask(&admitted, question, &about)?.into());
            }
            match self.ask_and_wait(&admitted, &context, question).await {
                Outcome::Completed => {
                    self.reload_caller(&mut admitted).await;
                    outcome = self.run(&admitted, &target.capability, body).await;
                }
                Outcome::Refused(failure) => outcome = Err(failure),
                Outcome::Asked(_) | Outcome::Declined => {}
            }
        }
        Ok(result(outcome).into())
    }

    fn request(&self, tool: &str, arguments: Map<String, Value>) -> Result<ToolRequest, ErrorData> {
        let snapshot = self.mcp.host.catalog.snapshot();
        let tools = self.mcp.tools.of(&snapshot, &self.mcp.settings);
        tools
            .request(tool, arguments)
            .ok_or_else(|| ErrorData::invalid_params(format!("there is no tool {tool}"), None))
    }

    /// Loads the caller again, because the agent may have been claimed since its message arrived.
    /// If that fails, the caller stays as it was.
    async fn reload_caller(&self, admitted: &mut Admitted) {
        let identity = &self.mcp.host.identity;
        if let Ok(caller) = identity.authenticate(&admitted.token, identity.mcp_audience()).await {
            let address = admitted.caller.address;
            admitted.caller = AgentCaller { address, ..caller };
        }
    }

    /// Runs a call through the pipeline, as the agent of the message's token.
    pub(super) async fn run(
        &self,
        admitted: &Admitted,
        capability: &str,
        body: Map<String, Value>,
    ) -> Result<Answer, Failure> {
        let call = Call {
            caller: admitted.caller.clone(),
            capability,
            body: Ok(body),
            // A tool's call has no headers; the body has a field for the key.
            idempotency_key: None,
            request_id: Arc::clone(&admitted.request_id),
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
