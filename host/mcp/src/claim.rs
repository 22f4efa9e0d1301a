//! The claim in place: a write by an unclaimed agent names the step that helps, and a client that can
//! ask its person is given the questions of that step; when they are answered, the write is made.
//!
//! Nothing here knows of phones or codes. What is missing, in which words to ask for it and what comes
//! next is what the refusals and answers themselves say in `next`.

use crate::{Admitted, server::Server};
use portolan_identity::Elicitation;
use portolan_pipeline::Answer;
use portolan_vocabulary::{Digest, ErrorCode, Failure};
use rmcp::{
    ErrorData, RoleServer,
    model::{
        ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
        InputRequest, InputRequests, InputRequiredResult, InputResponses, ProtocolVersion,
    },
    service::RequestContext,
};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Questions of one call at most.
const QUESTIONS: usize = 8;
/// How often a step that needs no answer is taken after another.
const STEPS: usize = 3;
/// How long a person may take for one question in the older protocol, where the call waits for it.
const PATIENCE: Duration = Duration::from_secs(240);
/// What the answers to a question are called.
const ANSWERS: &str = "answers";
/// Of a field's schema, what a form can show.
const SHOWN: [&str; 4] = ["title", "description", "minLength", "maxLength"];

/// Where taking a step has led.
pub(super) enum Led {
    /// To a question.
    Asked(Elicitation),
    /// To where the call may be made again.
    Helped,
    /// To a refusal that nothing can be asked about.
    Refused(Failure),
    /// Nowhere: the person did not answer.
    Declined,
}

/// How the person answered.
enum Answered {
    With(Map<String, Value>),
    /// Not at all, or not wanting to.
    Not,
}

/// Whether the client can show its person a form.
pub(super) fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let capabilities = context.client_capabilities();
    let elicitation = capabilities.and_then(|it| it.elicitation);
    elicitation.is_some_and(|it| it.form.is_some() || it.url.is_none())
}

/// The question that stands at the beginning, if this refusal has one.
pub(super) fn question(failure: &Failure) -> Option<Elicitation> {
    let next = failure.next.as_deref().filter(|_| failure.is(ErrorCode::PhoneBindingRequired))?;
    asked(next, None)
}

/// What a call is told apart from others by, in whichever order its arguments stand.
pub(super) fn about(tool: &str, arguments: &Map<String, Value>) -> String {
    Digest::of_value(&json!([tool, arguments])).hex()
}

fn asked(next: &Value, refusal: Option<&str>) -> Option<Elicitation> {
    let missing: Vec<String> = serde_json::from_value(next.get("missing")?.clone()).ok()?;
    let text = next.get("ask_user").and_then(Value::as_str).unwrap_or("What is missing?");
    let text = refusal.map_or_else(|| text.to_owned(), |refusal| format!("{refusal} {text}"));
    Some(Elicitation::new(step(next)?, missing, text)).filter(|it| !it.missing.is_empty())
}

/// The call that a `next` names.
fn step(next: &Value) -> Option<(String, Map<String, Value>)> {
    let capability = next.get("capability")?.as_str()?.to_owned();
    Some((capability, next.get("input")?.as_object()?.clone()))
}

impl Server {
    /// Takes a step, and those after it that need no answer.
    async fn take(&self, admitted: &Admitted, step: (String, Map<String, Value>)) -> Led {
        let (capability, mut input) = step;
        for _ in 0..STEPS {
            let outcome = self.run(admitted, &capability, input).await;
            let (next, refusal) = match outcome {
                Ok(Answer { next: None, .. }) => return Led::Helped,
                Ok(Answer { next: Some(next), .. }) => (next, None),
                Err(failure) => match failure.next.clone() {
                    Some(next) => (*next, Some(failure)),
                    None => return Led::Refused(failure),
                },
            };
            let message = refusal.as_ref().map(|failure| &*failure.message);
            if let Some(question) = asked(&next, message).filter(|_| next.get("after_s").is_none())
            {
                return Led::Asked(question);
            }
            // Another call of the same capability may help; anything else is not this claim's.
            let same = self::step(&next).filter(|(named, _)| *named == capability);
            match (same.filter(|_| next.get("after_s").is_none()), refusal) {
                (Some((_, following)), _) => input = following,
                (None, None) => return Led::Helped,
                (None, Some(failure)) => return Led::Refused(failure),
            }
        }
        Led::Helped
    }

    async fn answer(
        &self,
        admitted: &Admitted,
        question: Elicitation,
        answers: Map<String, Value>,
    ) -> Led {
        let Elicitation { capability, mut input, missing, .. } = question;
        input.extend(answers.into_iter().filter(|(name, _)| missing.contains(name)));
        self.take(admitted, (capability, input)).await
    }

    /// In the older protocol: asks while the call waits.
    pub(super) async fn ask_meanwhile(
        &self,
        admitted: &Admitted,
        context: &RequestContext<RoleServer>,
        mut question: Elicitation,
    ) -> Led {
        for _ in 0..QUESTIONS {
            let asked = self.form(&question);
            let answer = tokio::select! {
                answer = context.peer.create_elicitation_with_timeout(asked, Some(PATIENCE)) => answer,
                // A host that stops waits for nobody.
                () = self.mcp.stop.cancelled() => break,
            };
            let Ok(Answered::With(answers)) = answer.map(answered) else { break };
            match self.answer(admitted, question, answers).await {
                Led::Asked(next) => question = next,
                led => return led,
            }
        }
        Led::Declined
    }

    /// In the modern protocol: the call ends with the question, and comes again with the answer.
    pub(super) fn ask(
        &self,
        admitted: &Admitted,
        question: Elicitation,
        about: &str,
    ) -> Result<InputRequiredResult, ErrorData> {
        let question = question.of(&admitted.caller.agent_id, about);
        let state = self.mcp.host.identity.sign_elicitation(question.clone());
        let state = state.map_err(|error| {
            tracing::error!(%error, "a question cannot be signed");
            ErrorData::internal_error("the question cannot be asked", None)
        })?;
        let form = InputRequest::Elicitation(ElicitRequest::new(self.form(&question)));
        let requests = InputRequests::from([(ANSWERS.to_owned(), form)]);
        Ok(InputRequiredResult::new(Some(requests), Some(state)))
    }

    /// A call that comes again: where its answers lead.
    pub(super) async fn go_on(
        &self,
        admitted: &Admitted,
        state: &str,
        responses: Option<InputResponses>,
        about: &str,
    ) -> Result<Led, ErrorData> {
        let identity = &self.mcp.host.identity;
        let question = identity.verify_elicitation(state, &admitted.caller.agent_id, about);
        let question = question.ok_or_else(|| {
            let text =
                "requestState is not of this call, or its time is over; call again without it";
            ErrorData::invalid_params(text, None)
        })?;
        let Some(response) = responses.and_then(|mut it| it.remove(ANSWERS)) else {
            return Ok(Led::Asked(question));
        };
        Ok(match serde_json::from_value(response).map(answered) {
            Ok(Answered::With(answers)) => self.answer(admitted, question, answers).await,
            Ok(Answered::Not) => Led::Declined,
            Err(_) => Led::Asked(question),
        })
    }

    fn form(&self, question: &Elicitation) -> ElicitRequestParams {
        let snapshot = self.mcp.host.catalog.snapshot();
        let name = question.input.get("action").and_then(Value::as_str).unwrap_or_default();
        let capability = snapshot.capabilities.get(question.capability.as_str());
        let action = capability.and_then(|it| it.action(name));
        let properties: Map<String, Value> = question
            .missing
            .iter()
            .map(|field| {
                let schema =
                    action.and_then(|it| it.schemas.input.document().get("properties")?.get(field));
                let known = schema.and_then(Value::as_object).into_iter().flatten();
                let known = known.filter(|(keyword, _)| SHOWN.contains(&keyword.as_str()));
                let mut shown = Map::from_iter([("type".to_owned(), json!("string"))]);
                shown.extend(known.map(|(keyword, value)| (keyword.clone(), value.clone())));
                (field.clone(), Value::Object(shown))
            })
            .collect();
        let schema =
            json!({ "type": "object", "properties": properties, "required": question.missing });
        ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: question.text.clone(),
            requested_schema: serde_json::from_value(schema)
                .unwrap_or_else(|_| ElicitationSchema::new(std::collections::BTreeMap::new())),
        }
    }
}

fn answered(result: ElicitResult) -> Answered {
    match (result.action, result.content) {
        (ElicitationAction::Accept, Some(Value::Object(answers))) => Answered::With(answers),
        _ => Answered::Not,
    }
}

/// Whether a call of this revision ends with its question.
pub(super) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|it| it.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}
