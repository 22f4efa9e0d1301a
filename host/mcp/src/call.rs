//! `tools/call`: the call that every other door makes too, and its answer as a tool's result.

use crate::{
    Admitted,
    claim::{self, Led},
    finder::{self, Asked},
    server::{Server, admitted},
};
use portolan_pipeline::{Answer, Call};
use portolan_vocabulary::{AgentCaller, Failure, Timestamp};
use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolRequestParams, CallToolResponse, CallToolResult, Tool},
    service::RequestContext,
};
use serde_json::{Map, Value, json};
use std::sync::Arc;

impl Server {
    /// The tools that this caller is told of.
    pub(super) fn listed(&self, caller: &AgentCaller) -> Vec<Tool> {
        let snapshot = self.mcp.host.catalog.snapshot();
        self.mcp.tools.of(&snapshot, &self.mcp.settings).listed(caller, Timestamp::now())
    }

    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut admitted = admitted(&context.extensions)?.clone();
        let arguments = request.arguments.unwrap_or_default();
        let asks = claim::can_ask(&context);
        let about = if asks { claim::about(&request.name, &arguments) } else { String::new() };
        let target = match self.asked(&request.name, arguments)? {
            Asked::Call(target) => target,
            Asked::Find { query } => {
                let snapshot = self.mcp.host.catalog.snapshot();
                let found = finder::find(&snapshot, &admitted.caller, &query);
                return Ok(CallToolResult::structured(found).into());
            }
            Asked::Describe { capability } => {
                let described = finder::describe(&self.mcp.host.catalog.snapshot(), &capability);
                return Ok(told(described).into());
            }
        };
        let mut may_ask = asks;
        if let Some(state) = request.request_state.filter(|_| asks) {
            match self.go_on(&admitted, &state, request.input_responses, &about).await? {
                Led::Asked(question) => return Ok(self.ask(&admitted, question, &about)?.into()),
                Led::Refused(failure) => return Ok(result(Err(failure)).into()),
                Led::Helped => self.look_again(&mut admitted).await,
                Led::Declined => may_ask = false,
            }
        }
        // What is asked for may have to be asked again.
        let again = may_ask.then(|| target.body.clone());
        let mut outcome = self.run(&admitted, &target.capability, target.body).await;
        let question = outcome.as_ref().err().and_then(claim::question);
        if let (Some(question), Some(body)) = (question, again) {
            if claim::is_modern(&context) {
                return Ok(self.ask(&admitted, question, &about)?.into());
            }
            match self.ask_meanwhile(&admitted, &context, question).await {
                Led::Helped => {
                    self.look_again(&mut admitted).await;
                    outcome = self.run(&admitted, &target.capability, body).await;
                }
                Led::Refused(failure) => outcome = Err(failure),
                Led::Asked(_) | Led::Declined => {}
            }
        }
        Ok(result(outcome).into())
    }

    fn asked(&self, tool: &str, arguments: Map<String, Value>) -> Result<Asked, ErrorData> {
        let snapshot = self.mcp.host.catalog.snapshot();
        let tools = self.mcp.tools.of(&snapshot, &self.mcp.settings);
        tools
            .asked(tool, arguments)
            .ok_or_else(|| ErrorData::invalid_params(format!("there is no tool {tool}"), None))
    }

    /// The claim is read live: the agent may have been claimed since its message came.
    async fn look_again(&self, admitted: &mut Admitted) {
        let identity = &self.mcp.host.identity;
        if let Ok(caller) = identity.authenticate(&admitted.token, identity.mcp_audience()).await {
            let address = admitted.caller.address;
            admitted.caller = AgentCaller { address, ..caller };
        }
    }

    /// Through the pipeline, as the agent of the message's token.
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
            // A tool's call has no headers: the body's own field says it.
            idempotency_key: None,
            request_id: Arc::clone(&admitted.request_id),
        };
        self.mcp.host.call(call).await.outcome
    }
}

/// The bodies are those of a call over HTTP.
fn result(outcome: Result<Answer, Failure>) -> CallToolResult {
    told(outcome.map(Answer::into_body))
}

fn told(outcome: Result<Value, Failure>) -> CallToolResult {
    match outcome {
        Ok(body) => CallToolResult::structured(body),
        Err(failure) => CallToolResult::structured_error(json!(failure)),
    }
}
