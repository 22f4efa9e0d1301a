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
    Asks(InputRequiredResult),
    /// Every question is answered.
    Over(String),
}

/// Continues a call with the answers that the client has sent.
pub(crate) fn round(
    fixture: &Fixture,
    capabilities: Option<&ClientCapabilities>,
    state: Option<&str>,
    responses: Option<&InputResponses>,
) -> Result<Round, ErrorData> {
    let at = match state {
        Some(state) => opened(&fixture.name, state)
            .ok_or_else(|| ErrorData::invalid_params("requestState was not signed here", None))?,
        None => 0,
    };
    let asked = fixture.rounds.get(at).cloned().unwrap_or_default();
    let asked: InputRequests = asked
        .into_iter()
        .filter(|(_, request)| !fixture.considerate || can(capabilities, request))
        .collect();
    let answer = |name: &String| responses.and_then(|responses| responses.get(name));
    let answered = asked
        .iter()
        .all(|(name, request)| answer(name).is_some_and(|response| is_answer(request, response)));
    let ask = |asked: InputRequests, at: usize| {
        let state = fixture.signed.then(|| sealed(&fixture.name, at));
        Ok(Round::Asks(InputRequiredResult::new(Some(asked), state)))
    };
    if !answered {
        return ask(asked, at);
    }
    match fixture.rounds.get(at + 1) {
        Some(next) => ask(next.clone(), at + 1),
        None => {
            let name = responses
                .and_then(|all| all.values().find_map(|value| value.pointer("/content/name")));
            let name = name.and_then(Value::as_str).unwrap_or("you");
            let state = if state.is_some() { " state-ok" } else { "" };
            Ok(Round::Over(format!("Hello, {name}!{state} {}", json!(responses))))
        }
    }
}

fn sealed(name: &str, at: usize) -> String {
    format!("{at}.{}", Digest::of(format!("{KEY} {name} {at}").as_bytes()).hex())
}

fn opened(name: &str, state: &str) -> Option<usize> {
    let at = state.split_once('.')?.0.parse().ok()?;
    (sealed(name, at) == state).then_some(at)
}

fn can(capabilities: Option<&ClientCapabilities>, request: &InputRequest) -> bool {
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

/// Asks during the call, as in the older protocol, and describes what the person did.
pub(crate) async fn ask_and_wait(
    form: &rmcp::model::JsonObject,
    message: &str,
    context: &RequestContext<RoleServer>,
) -> Result<String, ServiceError> {
    let schema = ElicitationSchema::from_json_schema(form.clone());
    let schema = schema.map_err(|_| ServiceError::UnexpectedResponse)?;
    let asked = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.to_owned(),
        requested_schema: schema,
    };
    let answer = context.peer.create_elicitation(asked).await?;
    let action = json!(answer.action);
    let content = answer.content.unwrap_or_default();
    Ok(format!("action={}, content={content}", action.as_str().unwrap_or_default()))
}
