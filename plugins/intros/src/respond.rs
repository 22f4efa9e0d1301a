//! The answers of introducer and target, and the withdrawal.

use crate::people::{is_accepting, sees_others};
use crate::{
    credits, deadlines, documents::*, notices, refusals::*, request, states::*, types::*, views,
};
use people_kit::acquaintances::{are_contacts, know_each_other};
use people_kit::people::ContactPolicy;
use people_kit::threads::{self, Open, Participant};
use people_kit::{fair_text, relations, visible};
use portolan_sdk::prelude::*;

/// Returns the caller's seat. Refuses every other id as not found, and an introduction of which the caller does
/// not see both others.
pub(crate) fn load(call: &Call, intro_id: &str) -> Result<Stored<Seat>> {
    let me = call.owner_id().ok_or(IntroError::IntroNotFound)?;
    let seat = Seat::load_own(call, &seat_id(intro_id, me))?;
    match sees_others(&seat.value)? {
        true => Ok(seat),
        false => Err(IntroError::IntroNotFound),
    }
}

/// Returns the caller's seat, to be changed by `action`. Refuses if their role or the state does not allow it, or
/// if the caller expects another version.
pub(crate) fn load_for_action(
    call: &Call,
    intro_id: &str,
    action: &str,
    expected: Option<Version>,
) -> Result<Stored<Seat>> {
    let seat = load(call, intro_id)?;
    let allowed = views::allowed(&seat.value);
    if let Err(mut refusal) = INTRO.step(intro_id, seat.value.state, action) {
        if let Some(conflict) = &mut refusal.conflict {
            conflict["allowed_actions"] = portolan_sdk::to_value(&allowed);
        }
        return Err(refusal.into());
    }
    if !allowed.contains(&action) {
        return Err(IntroError::not_yours(&seat.value));
    }
    seat.ensure_version(expected, || views::view(&seat).ok(), get(intro_id))?;
    Ok(seat)
}

pub(crate) fn respond(call: &Call, input: Respond) -> Result<Answer<views::View>> {
    let mut seat = load_for_action(call, &input.intro_id, "respond", input.expected_version)?;
    let (role, decision) = (seat.value.role, input.decision);
    if input.note.is_some() && (role, decision) != (Role::Introducer, Decision::Accept) {
        let expected = "no note: only an introducer who accepts writes one";
        return Err(Refusal::validation("/note", "absent", expected).into());
    }
    match (role, decision) {
        (Role::Introducer, Decision::Accept) => {
            let note =
                input.note.map(|note| fair_text::read(CATEGORY, "/note", &note)).transpose()?;
            forward(call, &mut seat, note)?;
        }
        (_, Decision::Accept) => introduce(call, &mut seat)?,
        (_, Decision::Decline) => {
            deadlines::stop_reminder(&seat.value)?;
            enter(&mut seat, State::Declined, call.now())?;
        }
    }
    let next = seat.value.thread_id.as_deref().map(read_thread);
    Ok(Answer::with(views::view(&seat)?, next))
}

/// Gives the request to the target, if the introducer knows them and they can be asked.
fn forward(call: &Call, seat: &mut Stored<Seat>, note: Option<String>) -> Result<()> {
    let (me, now) = (seat.value.owner_id.clone(), call.now());
    let target_id = seat.value.target_id.clone();
    if !know_each_other(&me, &target_id)? {
        return Err(IntroError::NotAcquainted);
    }
    // The requester may be blocked with the target by now, which is not the introducer's to know.
    let seen = visible::people(&seat.value.requester_id, [target_id.as_str()])?;
    let Some(target) = seen.get(&target_id).filter(|target| is_accepting(target)) else {
        return Err(IntroError::RecipientNotAccepting);
    };
    if target.contact_policy == ContactPolicy::Network && !are_contacts(&me, &target_id)? {
        return Err(IntroError::RecipientNotAccepting);
    }
    ensure_open(seat, now)?;
    let forwarded = field("target_id").eq(target_id.as_str()).and(field("role").eq("target"));
    let forwarded = forwarded.and(field("state").eq(State::Forwarded));
    if SEATS.count(forwarded)? >= OPEN_OF_A_TARGET {
        return Err(IntroError::RecipientNotAccepting);
    }
    deadlines::stop_reminder(&seat.value)?;
    seat.value.note = note;
    seat.value.ends_at = seat.value.requested_at + OPEN_FOR;
    enter(seat, State::Forwarded, now)?;
    let targets = add(seat.value.for_other(Role::Target, State::Forwarded, now), now)?;
    deadlines::remind(&targets)?;
    notices::FORWARDED.notify(&targets)
}

/// Refuses an answer to a request that the requester has withdrawn, or whose time is over.
fn ensure_open(seat: &Stored<Seat>, now: u64) -> Result<()> {
    let requesters = seat.value.find(Role::Requester)?;
    let is_open = requesters.is_some_and(|requesters| requesters.value.state == State::Asked);
    match is_open && seat.value.ends_at > now {
        true => Ok(()),
        false => Err(IntroError::RecipientNotAccepting),
    }
}

/// Opens the conversation of requester and target.
fn introduce(call: &Call, seat: &mut Stored<Seat>) -> Result<()> {
    let now = call.now();
    ensure_open(seat, now)?;
    // The introduction is over if requester and introducer do not want to have to do with each other any more.
    if relations::are_blocked(&seat.value.requester_id, &seat.value.introducer_id)? {
        return Err(IntroError::RecipientNotAccepting);
    }
    let (intro_id, requester_id) = (seat.value.intro_id.clone(), seat.value.requester_id.clone());
    let participant = |owner_id: String| Participant { owner_id, agent_id: None, org_id: None };
    let opened = threads::open(&Open {
        pairing_id: intro_id.clone(),
        participants: vec![participant(requester_id), participant(seat.value.owner_id.clone())],
        category: None,
        replace_closed: false,
    });
    let opened = opened.map_err(|error| IntroError::of_thread(error, &intro_id))?;
    deadlines::stop(&seat.value)?;
    seat.value.thread_id = Some(opened.thread_id.clone());
    enter(seat, State::Introduced, now)?;
    for role in [Role::Requester, Role::Introducer] {
        let Some(mut other) = seat.value.find(role)? else { continue };
        if role == Role::Requester {
            other.value.thread_id = Some(opened.thread_id.clone());
            credits::refund(&mut other.value, "introduced")?;
            request::close(&other.value, now)?;
        }
        enter(&mut other, State::Introduced, now)?;
        notices::INTRODUCED.notify(&other)?;
    }
    Ok(())
}

/// Withdraws a request. The others are told in a call of its own, so that a dry run of this one does not tell
/// whether somebody has declined.
pub(crate) fn withdraw(call: &Call, input: &Step) -> Result<views::View> {
    let mut seat = load_for_action(call, &input.intro_id, "withdraw", input.expected_version)?;
    let now = call.now();
    credits::spend(&mut seat.value)?;
    request::close(&seat.value, now)?;
    enter(&mut seat, State::Withdrawn, now)?;
    let intro_id = &seat.value.intro_id;
    timers::set(&format!("withdrawn/{intro_id}"), now, "tell_withdrawn", &IntroId::of(intro_id))?;
    views::view(&seat)
}
