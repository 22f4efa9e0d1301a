//! Fixtures that ask the person: with a result in the modern protocol, and during the call in the older one.

use crate::fixture::Fixture;
use portolan_vocabulary::Digest;
use rmcp::{
    ErrorData, RoleServer,
    model::{
        ClientCapabilities, ElicitRequestParams, ElicitationSchema, InputRequest, InputRequests,
        InputRequiredResult, InputResponses,
    },
    service::{RequestContext, ServiceError},
};
use serde_json::{Value, json};

/// The key that signs states, which is secret in a real host.
const KEY: &str = "the key of the conformance fixtures";

/// The outcome of a round of questions.
pub(crate) enum Round {
    /// More answers are needed.
    Incomplete(InputRequiredResult),
    /// Every question is answered.
    Complete(String),
}

/// Continues a call with the answers that the client has sent.
pub(crate) fn answer_round(
    fixture: &Fixture,
    capabilities: Option<&ClientCapabilities>,
    state: Option<&str>,
    responses: Option<&InputResponses>,
) -> Result<Round, ErrorData> {
    let index = match state {
        Some(state) => verify_state(&fixture.name, state)
            .ok_or_else(|| ErrorData::invalid_params("requestState was not signed here", None))?,
        None => 0,
    };
    let requests = fixture.rounds.get(index).cloned().unwrap_or_default();
    let requests: InputRequests = requests
        .into_iter()
        .filter(|(_, request)| !fixture.considerate || is_supported(capabilities, request))
        .collect();
    let answer = |name: &String| responses.and_then(|responses| responses.get(name));
    let is_complete = requests
        .iter()
        .all(|(name, request)| answer(name).is_some_and(|response| is_answer(request, response)));
    let request_round = |requests: InputRequests, index: usize| {
        let state = fixture.signed.then(|| sign_state(&fixture.name, index));
        Ok(Round::Incomplete(InputRequiredResult::new(Some(requests), state)))
    };
    if !is_complete {
        return request_round(requests, index);
    }
    match fixture.rounds.get(index + 1) {
        Some(next) => request_round(next.clone(), index + 1),
        None => {
            let name = responses
                .and_then(|all| all.values().find_map(|value| value.pointer("/content/name")));
            let name = name.and_then(Value::as_str).unwrap_or("you");
            let state = if state.is_some() { " state-ok" } else { "" };
            Ok(Round::Complete(format!("Hello, {name}!{state} {}", json!(responses))))
        }
    }
}

fn sign_state(name: &str, index: usize) -> String {
    format!("{index}.{}", Digest::of(format!("{KEY} {name} {index}").as_bytes()).hex())
}

fn verify_state(name: &str, state: &str) -> Option<usize> {
    let index = state.split_once('.')?.0.parse().ok()?;
    (sign_state(name, index) == state).then_some(index)
}

fn is_supported(capabilities: Option<&ClientCapabilities>, request: &InputRequest) -> bool {
    let Some(capabilities) = capabilities else { return false };
    match request {
        InputRequest::Elicitation(_) => capabilities.elicitation.is_some(),
        InputRequest::CreateMessage(_) => capabilities.sampling.is_some(),
        InputRequest::ListRoots(_) => capabilities.roots.is_some(),
        _ => false,
    }
}

fn is_answer(request: &InputRequest, response: &Value) -> bool {
    let member = |name: &str| response.get(name);
    match request {
        InputRequest::Elicitation(_) => {
            member("action") == Some(&json!("accept"))
                && member("content").is_some_and(Value::is_object)
        }
        InputRequest::CreateMessage(_) => member("content").is_some(),
        InputRequest::ListRoots(_) => member("roots").is_some_and(Value::is_array),
        _ => false,
    }
}

/// Asks during the call, as in MCP before 2026-07-28, and describes what the person did.
pub(crate) async fn ask_and_wait(
    form: &rmcp::model::JsonObject,
    message: &str,
    context: &RequestContext<RoleServer>,
) -> Result<String, ServiceError> {
    let schema = ElicitationSchema::from_json_schema(form.clone());
    let schema = schema.map_err(|_| ServiceError::UnexpectedResponse)?;
    let request = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.to_owned(),
        requested_schema: schema,
    };
    let answer = context.peer.create_elicitation(request).await?;
    let action = json!(answer.action);
    let content = answer.content.unwrap_or_default();
    Ok(format!("action={}, content={content}", action.as_str().unwrap_or_default()))
}
