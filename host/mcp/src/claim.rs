//! The claim during a tool call: the refusal of a write by an unclaimed agent names the next step. A client that can
//! open a page for its person gets the address of the claim's page; one that can only show a form gets the questions
//! of the step. When the agent is claimed, the write runs.
//!
//! This module knows nothing of phones or codes: the `next` of each refusal and answer says which fields
//! are missing, how to ask for them, and which call follows.

use crate::{Mcp, Sender, request::Target};
use portolan_identity::{Elicitation, IdentityError};
use portolan_pipeline::Answer;
use portolan_vocabulary::{Access, AgentCaller, Digest, ErrorCode, Failure};
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
/// How long a call that was sent again waits until its person has used the page. Clients wait about a minute.
const PAGE_TIMEOUT: Duration = Duration::from_secs(40);
/// The name of the answers in a response.
const ANSWERS: &str = "answers";
/// The keywords of a field's schema that a form can show.
const FORM_KEYWORDS: [&str; 4] = ["title", "description", "minLength", "maxLength"];

/// The ways in which a client can ask its person.
#[derive(Debug, Clone, Copy)]
pub(super) struct Modes {
    form: bool,
    page: bool,
}

/// One way of asking a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Form,
    Page,
}

/// A question of a client to its person.
pub(super) enum Question {
    Form(Elicitation),
    /// To open the claim's page; the text is the last segment of its address.
    Page(String),
}

/// The outcome of a step of the claim.
pub(super) enum Outcome {
    /// The step needs an answer from the person.
    Asked(Question),
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

impl Modes {
    /// Returns how a client with these capabilities can ask. Without a mode, `elicitation` means forms.
    pub(super) fn of(capabilities: Option<ClientCapabilities>) -> Self {
        let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation);
        elicitation.map_or(Self { form: false, page: false }, |modes| Self {
            form: modes.form.is_some() || modes.url.is_none(),
            page: modes.url.is_some(),
        })
    }

    /// Returns how this agent's person is asked: on a page if the client can open one, because a code in a form
    /// passes through the client. An agent of test mode has no page; its code is no secret.
    pub(super) fn mode_for(self, caller: &AgentCaller) -> Option<Mode> {
        match self {
            Self { page: true, .. } if !caller.test_mode => Some(Mode::Page),
            Self { form: true, .. } => Some(Mode::Form),
            _ => None,
        }
    }
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
                return Outcome::Asked(Question::Form(question));
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

    /// Returns the first question of the claim, if this refusal has one.
    pub(super) fn first_question(
        &self,
        failure: &Failure,
        mode: Mode,
        caller: &AgentCaller,
    ) -> Result<Option<Question>, ErrorData> {
        let next = failure.next.as_deref();
        let next = next.filter(|_| failure.has_code(ErrorCode::PhoneBindingRequired));
        let question = next.and_then(|next| parse_question(next, None));
        Ok(match (question, mode) {
            (None, _) => None,
            (Some(question), Mode::Form) => Some(Question::Form(question)),
            (Some(_), Mode::Page) => {
                let link = self.host.identity.sign_claim_link(&caller.agent_id);
                Some(Question::Page(link.map_err(|error| unsigned(&error))?))
            }
        })
    }

    /// Asks the questions while the call waits, as MCP before 2026-07-28 requires.
    pub(super) async fn ask_and_wait(
        &self,
        sender: &Sender,
        peer: &Peer<RoleServer>,
        mut question: Question,
    ) -> Outcome {
        for _ in 0..MAX_QUESTIONS {
            let request = self.elicitation_request(&question);
            let answer = tokio::select! {
                answer = peer.create_elicitation_with_timeout(request, Some(ANSWER_TIMEOUT)) => answer,
                // A host that stops does not wait for answers.
                () = self.stop.cancelled() => break,
            };
            let outcome = match (question, answer) {
                (Question::Form(question), Ok(answer)) => match parse_reply(answer) {
                    Reply::Accepted(answers) => {
                        self.answer_question(sender, question, answers).await
                    }
                    Reply::Declined => break,
                },
                (Question::Page(_), Ok(ElicitResult { action: ElicitationAction::Accept, .. })) => {
                    match self.wait_for_claim(sender, ANSWER_TIMEOUT).await {
                        true => Outcome::Completed,
                        false => break,
                    }
                }
                _ => break,
            };
            match outcome {
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
        question: Question,
        call: &Target,
    ) -> Result<InputRequiredResult, ErrorData> {
        let request = ElicitRequest::new(self.elicitation_request(&question));
        let state = match question {
            Question::Form(question) => {
                let question = question.addressed_to(&sender.caller.agent_id, &call_digest(call));
                let state = self.host.identity.sign_elicitation(question);
                state.map_err(|error| unsigned(&error))?
            }
            // The text names its agent and its expiry.
            Question::Page(link) => link,
        };
        let request = InputRequest::Elicitation(request);
        let requests = InputRequests::from([(ANSWERS.to_owned(), request)]);
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
        mode: Mode,
    ) -> Result<Outcome, ErrorData> {
        let (identity, agent_id) = (&self.host.identity, &sender.caller.agent_id);
        let question = match mode {
            Mode::Form => {
                identity.verify_elicitation(state, agent_id, &call_digest(call)).map(Question::Form)
            }
            Mode::Page => {
                identity.is_claim_link_of(state, agent_id).then(|| Question::Page(state.to_owned()))
            }
        };
        let question = question.ok_or_else(|| {
            let text = "requestState belongs to another call or has expired; call again without it";
            ErrorData::invalid_params(text, None)
        })?;
        let response = responses.and_then(|mut responses| responses.remove(ANSWERS));
        let response = response.and_then(|response| serde_json::from_value(response).ok());
        let Some::<ElicitResult>(response) = response else {
            return Ok(Outcome::Asked(question));
        };
        let is_accepted = response.action == ElicitationAction::Accept;
        Ok(match question {
            Question::Form(question) => match parse_reply(response) {
                Reply::Accepted(answers) => self.answer_question(sender, question, answers).await,
                Reply::Declined => Outcome::Declined,
            },
            Question::Page(_) if !is_accepted => Outcome::Declined,
            page @ Question::Page(_) => {
                // A call that only waits costs as much as one that is made.
                if let Err(failure) = self.host.permit(&sender.caller, Access::Open) {
                    return Ok(Outcome::Refused(failure));
                }
                match self.waiting.enter(agent_id) {
                    Some(_turn) if self.wait_for_claim(sender, PAGE_TIMEOUT).await => {
                        Outcome::Completed
                    }
                    _ => Outcome::Asked(page),
                }
            }
        })
    }

    fn elicitation_request(&self, question: &Question) -> ElicitRequestParams {
        match question {
            Question::Form(question) => self.form(question),
            Question::Page(link) => self.page_request(link),
        }
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

fn unsigned(error: &IdentityError) -> ErrorData {
    tracing::error!(%error, "a question cannot be signed");
    ErrorData::internal_error("the question cannot be asked", None)
}

fn parse_reply(result: ElicitResult) -> Reply {
    match (result.action, result.content) {
        (ElicitationAction::Accept, Some(Value::Object(answers))) => Reply::Accepted(answers),
        _ => Reply::Declined,
    }
}
