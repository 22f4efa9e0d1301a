//! The questions of a role, which those who act for the company ask everybody who applies.

use crate::subject::{self, Subject};
use crate::{documents::*, recipients, refusals::*, texts::Texts, types::*};
use people_kit::{UNTRUSTED, text::Lines};
use portolan_sdk::prelude::*;

/// A question of a role.
#[output]
pub(crate) struct QuestionView {
    pub(crate) question_id: String,
    question: String,
    required: bool,
}

/// The questions of a role.
#[output]
pub(crate) struct QuestionsView {
    role_id: Option<String>,
    listing_id: Option<String>,
    /// The title of the role.
    title: String,
    /// The questions, in their order.
    pub(crate) questions: Vec<QuestionView>,
    /// The version, which increases with every change; 0 if there never were questions.
    version: u64,
    /// Always `untrusted_user_content`: people wrote the texts.
    trust: &'static str,
}

/// Returns the id of the question with this number, counted from 0.
fn question_id(number: usize) -> String {
    format!("q{}", number + 1)
}

pub(crate) fn get(call: &Call, input: &RoleInput) -> Result<Answer<QuestionsView>> {
    let subject = subject::role(input)?;
    let me = call.owner_id().unwrap_or_default();
    if !acts_for(me, &subject)? {
        subject::ensure_open(me, &subject)?;
    }
    let stored = QUESTIONS.get_or_default(subject.role_id())?;
    let next = name_role(Next::action(CAPABILITY, "apply"), input);
    let next = next.ask("profile", "What should the application say about you?");
    Ok(Answer::new(view(subject, &stored)).next(next))
}

pub(crate) fn set(call: &Call, input: &SetQuestions) -> Result<QuestionsView> {
    let me = call.require_owner()?;
    let subject = subject::role(&input.of)?;
    if !acts_for(me, &subject)? {
        return Err(ApplicationError::not_a_recipient());
    }
    let mut stored = QUESTIONS.get_or_default(subject.role_id())?;
    let read = name_role(Next::action(CAPABILITY, "questions"), &input.of);
    ensure_version(input.expected_version, stored.revision, || json!({}), read)?;
    let mut texts = Texts::new(&subject.category);
    let question = |(number, new): (usize, &NewQuestion)| Question {
        question: texts.read(&format!("/questions/{number}/question"), &new.question, Lines::One),
        required: new.required,
    };
    let questions = input.questions.iter().enumerate().map(question).collect();
    texts.check()?;
    let (set_by, owner_id) = (me.to_owned(), subject.to_owner_id.clone());
    stored.value = Questions { questions, set_by, owner_id };
    QUESTIONS.save(&mut stored)?;
    Ok(view(subject, &stored))
}

/// Returns the answers with their questions. Refuses an answer to an unknown question, and missing
/// answers to questions that are required.
pub(crate) fn answered(
    of: &RoleInput,
    role_id: &str,
    answers: &[AnswerInput],
    texts: &mut Texts<'_>,
) -> Result<Vec<Answered>> {
    let questions = QUESTIONS.get_or_default(role_id)?.value.questions;
    let ids: Vec<String> = (0..questions.len()).map(question_id).collect();
    for (number, given) in answers.iter().enumerate() {
        if !ids.contains(&given.question_id) {
            let pointer = format!("/answers/{number}/question_id");
            return Err(Refusal::validation(&pointer, "enum", ids).into());
        }
    }
    let mut answered = Vec::new();
    for (id, Question { question, required }) in ids.iter().zip(questions) {
        let found = answers.iter().enumerate().find(|(_, given)| given.question_id == *id);
        match found {
            Some((number, given)) => {
                let pointer = format!("/answers/{number}/answer");
                let answer = texts.read(&pointer, &given.answer, Lines::Many);
                answered.push(Answered { question, answer });
            }
            None if required => {
                let next = name_role(Next::action(CAPABILITY, "questions"), of);
                return Err(ApplicationError::AnswersRequired { next });
            }
            None => {}
        }
    }
    Ok(answered)
}

/// Returns whether the person acts for those who receive the applications.
fn acts_for(me: &str, subject: &Subject) -> Result<bool> {
    let acting = recipients::acting(&subject.about, subject.to_owner_id.as_deref())?;
    Ok(acting.iter().any(|owner_id| owner_id == me))
}

fn name_role(next: Next, of: &RoleInput) -> Next {
    match (&of.role_id, &of.listing_id) {
        (Some(role_id), _) => next.field("role_id", &**role_id),
        (None, listing_id) => next.field("listing_id", listing_id.as_deref().unwrap_or_default()),
    }
}

fn view(subject: Subject, stored: &Stored<Questions>) -> QuestionsView {
    let shown = |(number, question): (usize, &Question)| QuestionView {
        question_id: question_id(number),
        question: question.question.clone(),
        required: question.required,
    };
    QuestionsView {
        questions: stored.value.questions.iter().enumerate().map(shown).collect(),
        role_id: subject.about.role_id,
        listing_id: subject.about.listing_id,
        title: subject.title,
        version: stored.revision,
        trust: UNTRUSTED,
    }
}
