//! The two sides' steps with an application: decisions, the answer to an offer, the withdrawal, and
//! the consent to contact data.

use crate::conversation::{end_thread, ensure_can_talk, open_thread};
use crate::transitions::{self, Loaded};
use crate::{documents::*, notices, refusals::*, states::*, texts::Texts, types::*, views};
use portolan_sdk::{prelude::*, to_value};

pub(crate) fn decide(call: &Call, input: Decide) -> Result<Answer<views::View>> {
    let id: &str = &input.application_id;
    let loaded = transitions::load_for_action(call, id, "decide", input.expected_version)?;
    let Loaded { mut application, recipients, .. } = loaded;
    let me = call.require_owner()?;
    let decision = input.decision;
    if decision.is_for_roles() && application.value.kind != Kind::Role {
        let expected = "invite or reject: it is an enquiry";
        return Err(Refusal::validation("/decision", "enum", expected).into());
    }
    if decision == Decision::Reject && input.reason_code.is_none() {
        let expected = "the reason, which the applicant reads";
        return Err(Refusal::validation("/reason_code", "required", expected).into());
    }
    let mut texts = Texts::new(&application.value.category);
    let message = texts.read_lines("/message", input.message.as_deref());
    texts.check()?;
    let to = decision.target();
    let from = application.value.state;
    if let Err(mut refusal) = APPLICATION.step_to(id, from, "decide", to) {
        let allowed = views::allowed(&application.value, Role::Received, me);
        transitions::name_allowed(&mut refusal, &allowed);
        if let Some(conflict) = &mut refusal.conflict {
            conflict["decisions"] = to_value(&possible(from, application.value.kind));
        }
        return Err(refusal.into());
    }
    let reason_code = input.reason_code.filter(|_| decision == Decision::Reject);
    let (by, at) = (me.to_owned(), call.now());
    let decided = Decided { decision, reason_code, message, by, at };
    application.value.decisions.push(decided);
    match to {
        State::Invited | State::Offered => open_thread(call, &mut application, &recipients)?,
        State::Rejected => end_thread(&application, "rejected")?,
        _ => {}
    }
    transitions::enter(call, &mut application, "decide", to)?;
    let facts = Facts { decision: Some(decision), reason_code, ..Facts::default() };
    let applicant = [application.value.owner_id.clone()];
    let notice = match (from, to) {
        (State::Offered, State::Rejected) => notices::TAKEN_BACK,
        _ => notices::of_decision(decision),
    };
    notice.notify(call, &application, &applicant, facts)?;
    let next = application.value.thread_id.as_deref().filter(|_| TALKING.contains(&to));
    Ok(Answer::with(views::view(me, &application)?, next.map(read_thread)))
}

/// Returns the decisions that are possible in a state.
fn possible(state: State, kind: Kind) -> Vec<Decision> {
    let all = [Decision::Shortlist, Decision::Invite, Decision::Offer, Decision::Reject];
    let is_possible = |decision: &Decision| {
        (kind == Kind::Role || !decision.is_for_roles())
            && APPLICATION.step_to("", state, "decide", decision.target()).is_ok()
    };
    all.into_iter().filter(is_possible).collect()
}

pub(crate) fn answer(call: &Call, input: &AnswerOffer) -> Result<views::View> {
    let (id, expected) = (&input.application_id, input.expected_version);
    let Loaded { mut application, recipients, .. } =
        transitions::load_for_action(call, id, "answer", expected)?;
    let to = match input.answer {
        OfferAnswer::Accept => State::Accepted,
        OfferAnswer::Decline => State::Declined,
    };
    if to == State::Declined {
        end_thread(&application, "declined")?;
    }
    transitions::enter(call, &mut application, "answer", to)?;
    let facts = Facts { answer: Some(input.answer), ..Facts::default() };
    notices::ANSWER.notify(call, &application, &recipients.reachable, facts)?;
    views::view(call.require_owner()?, &application)
}

pub(crate) fn withdraw(call: &Call, input: &Step) -> Result<views::View> {
    let (id, expected) = (&input.application_id, input.expected_version);
    let Loaded { mut application, recipients, .. } =
        transitions::load_for_action(call, id, "withdraw", expected)?;
    let was_delivered = application.value.state != State::Waiting;
    end_thread(&application, "withdrawn")?;
    transitions::enter(call, &mut application, "withdraw", State::Withdrawn)?;
    if was_delivered {
        let facts = Facts::default();
        notices::WITHDRAWAL.notify(call, &application, &recipients.reachable, facts)?;
    }
    views::view(call.require_owner()?, &application)
}

/// Records whether the caller's side allows contact data in the conversation. Once both allow it,
/// it stays.
pub(crate) fn exchange_contact(call: &Call, input: &ExchangeContact) -> Result<views::View> {
    let (id, expected) = (&input.application_id, input.expected_version);
    let Loaded { mut application, role, .. } =
        transitions::load_for_action(call, id, "exchange_contact", expected)?;
    let me = call.require_owner()?;
    ensure_can_talk(me, &application)?;
    let value = &mut application.value;
    if value.contact.of_both() {
        return views::view(me, &application);
    }
    match role {
        Role::Sent => value.contact.applicant = input.allow,
        Role::Received => value.contact.recipient = input.allow,
    }
    value.changed_at = call.now();
    let people = [Some(value.owner_id.clone()), value.contact_id.clone()];
    let are_both = value.contact.of_both();
    application.save()?;
    if are_both {
        let people = people.iter().flatten();
        notices::EXCHANGE.notify(call, &application, people, Facts::default())?;
    }
    views::view(me, &application)
}
