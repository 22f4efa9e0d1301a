//! The claim during a tool call: the refusal of a write by an unclaimed agent names the next step. A client
//! that can show its person a form gets the questions of that step. When they are answered, the write runs.
//!
//! This module knows nothing of phones or codes: the `next` of each refusal and answer says which fields
//! are missing, how to ask for them, and which call follows.

use crate::{Mcp, Sender, request::Target};
use portolan_identity::Elicitation;
use portolan_pipeline::Answer;
use portolan_vocabulary::{Digest, ErrorCode, Failure};
use rmcp::{
    ErrorData, RoleServer,
    model::{
        ClientCapabilities, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
        ElicitationSchema, InputRequest, InputRequests, InputRequiredResult, InputResponses,
    },
    service::Peer,
};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The maximum number of questions for one call.
const MAX_QUESTIONS: usize = 8;
/// The maximum number of consecutive steps without a question.
const MAX_STEPS: usize = 3;
/// How long a call waits for the answer to one question if the client uses MCP before 2026-07-28.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(240);
/// The name of the answers in a response.
const ANSWERS: &str = "answers";
/// The keywords of a field's schema that a form can show.
const FORM_KEYWORDS: [&str; 4] = ["title", "description", "minLength", "maxLength"];

/// The outcome of a step of the claim.
pub(super) enum Outcome {
    /// The step needs an answer from the person.
    Asked(Elicitation),
    /// The claim is complete: the refused call can be made again.
    Completed,
    /// The step was refused, and its next step has no question.
    Refused(Failure),
    /// There is no answer: the person has declined or did not answer in time, there were too many
    /// questions, or the host stops.
    Declined,
}

/// A person's reply to a form.
enum Reply {
    Accepted(Map<String, Value>),
    /// The person has refused, or closed the form.
    Declined,
}

/// Returns whether a client with these capabilities can show its person a form.
pub(super) fn has_forms(capabilities: Option<ClientCapabilities>) -> bool {
    let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation);
    elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

/// Returns the first question of the claim, if this refusal has one.
pub(super) fn question(failure: &Failure) -> Option<Elicitation> {
    let next =
        failure.next.as_deref().filter(|_| failure.has_code(ErrorCode::PhoneBindingRequired))?;
    parse_question(next, None)
}

/// Returns a digest that identifies a call, whatever the order of its fields.
fn call_digest(call: &Target) -> String {
    Digest::of_value(&json!([call.capability, call.body])).hex()
}

fn parse_question(next: &Value, refusal: Option<&str>) -> Option<Elicitation> {
    let missing_fields: Vec<String> = serde_json::from_value(next.get("missing")?.clone()).ok()?;
    let text = next.get("ask_user").and_then(Value::as_str).unwrap_or("What is missing?");
    let text = refusal.map_or_else(|| text.to_owned(), |refusal| format!("{refusal} {text}"));
    Some(Elicitation::new(next_call(next)?, missing_fields, text))
        .filter(|question| !question.missing.is_empty())
}

/// Returns the call that a next step names.
fn next_call(next: &Value) -> Option<(String, Map<String, Value>)> {
    let capability = next.get("capability")?.as_str()?.to_owned();
    Some((capability, next.get("input")?.as_object()?.clone()))
}

impl Mcp {
    /// Makes the call of a step, and then the calls of the next steps that have no question, at
    /// most `MAX_STEPS` in all.
    async fn follow_steps(
        &self,
        sender: &Sender,
        next_call: (String, Map<String, Value>),
    ) -> Outcome {
        let (capability, mut input) = next_call;
        for _ in 0..MAX_STEPS {
            let outcome = self.run(sender, &capability, input).await;
            let (next, refusal) = match outcome {
                Ok(Answer { next: None, .. }) => return Outcome::Completed,
                Ok(Answer { next: Some(next), .. }) => (next, None),
                Err(failure) => match failure.next.clone() {
                    Some(next) => (*next, Some(failure)),
                    None => return Outcome::Refused(failure),
                },
            };
            let message = refusal.as_ref().map(|failure| &*failure.message);
            if let Some(question) =
                parse_question(&next, message).filter(|_| next.get("after_s").is_none())
            {
                return Outcome::Asked(question);
            }
            // A call of another capability is not part of this claim.
            let same_capability = self::next_call(&next).filter(|(named, _)| *named == capability);
            match (same_capability.filter(|_| next.get("after_s").is_none()), refusal) {
                (Some((_, following)), _) => input = following,
                (None, None) => return Outcome::Completed,
                (None, Some(failure)) => return Outcome::Refused(failure),
            }
        }
        Outcome::Completed
    }

    async fn answer_question(
        &self,
        sender: &Sender,
        question: Elicitation,
        answers: Map<String, Value>,
    ) -> Outcome {
        let Elicitation { capability, mut input, missing, .. } = question;
        input.extend(answers.into_iter().filter(|(name, _)| missing.contains(name)));
        self.follow_steps(sender, (capability, input)).await
    }

    /// Asks the questions while the call waits, as MCP before 2026-07-28 requires.
    pub(super) async fn ask_and_wait(
        &self,
        sender: &Sender,
        peer: &Peer<RoleServer>,
        mut question: Elicitation,
    ) -> Outcome {
        for _ in 0..MAX_QUESTIONS {
            let form = self.form(&question);
            let answer = tokio::select! {
                answer = peer.create_elicitation_with_timeout(form, Some(ANSWER_TIMEOUT)) => answer,
                // A host that stops does not wait for answers.
                () = self.stop.cancelled() => break,
            };
            let Ok(Reply::Accepted(answers)) = answer.map(parse_reply) else { break };
            match self.answer_question(sender, question, answers).await {
                Outcome::Asked(next) => question = next,
                ended => return ended,
            }
        }
        Outcome::Declined
    }

    /// Ends the call with a question, as in MCP 2026-07-28. The client sends the call again with the
    /// answer.
    pub(super) fn ask(
        &self,
        sender: &Sender,
        question: Elicitation,
        call: &Target,
    ) -> Result<InputRequiredResult, ErrorData> {
        let question = question.addressed_to(&sender.caller.agent_id, &call_digest(call));
        let state = self.host.identity.sign_elicitation(question.clone());
        let state = state.map_err(|error| {
            tracing::error!(%error, "a question cannot be signed");
            ErrorData::internal_error("the question cannot be asked", None)
        })?;
        let form = InputRequest::Elicitation(ElicitRequest::new(self.form(&question)));
        let requests = InputRequests::from([(ANSWERS.to_owned(), form)]);
        Ok(InputRequiredResult::new(Some(requests), Some(state)))
    }

    /// Continues the claim of a call that was sent again with answers. Fails if the state was
    /// signed for another call or agent, or has expired.
    pub(super) async fn continue_claim(
        &self,
        sender: &Sender,
        state: &str,
        responses: Option<InputResponses>,
        call: &Target,
    ) -> Result<Outcome, ErrorData> {
        let identity = &self.host.identity;
        let question =
            identity.verify_elicitation(state, &sender.caller.agent_id, &call_digest(call));
        let question = question.ok_or_else(|| {
            let text = "requestState belongs to another call or has expired; call again without it";
            ErrorData::invalid_params(text, None)
        })?;
        let Some(response) = responses.and_then(|mut responses| responses.remove(ANSWERS)) else {
            return Ok(Outcome::Asked(question));
        };
        Ok(match serde_json::from_value(response).map(parse_reply) {
            Ok(Reply::Accepted(answers)) => self.answer_question(sender, question, answers).await,
            Ok(Reply::Declined) => Outcome::Declined,
            Err(_) => Outcome::Asked(question),
        })
    }

    fn form(&self, question: &Elicitation) -> ElicitRequestParams {
        let snapshot = self.host.catalog.snapshot();
        let name = question.input.get("action").and_then(Value::as_str).unwrap_or_default();
        let capability = snapshot.capabilities.get(question.capability.as_str());
        let action = capability.and_then(|capability| capability.action(name));
        let properties: Map<String, Value> = question
            .missing
            .iter()
            .map(|field| {
                let schema = action.and_then(|action| {
                    action.schemas.input.document().get("properties")?.get(field)
                });
                let keywords = schema.and_then(Value::as_object).into_iter().flatten();
                let keywords =
                    keywords.filter(|(keyword, _)| FORM_KEYWORDS.contains(&keyword.as_str()));
                let mut property = Map::from_iter([("type".to_owned(), json!("string"))]);
                property.extend(keywords.map(|(keyword, value)| (keyword.clone(), value.clone())));
                (field.clone(), Value::Object(property))
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

fn parse_reply(result: ElicitResult) -> Reply {
    match (result.action, result.content) {
        (ElicitationAction::Accept, Some(Value::Object(answers))) => Reply::Accepted(answers),
        _ => Reply::Declined,
    }
}
