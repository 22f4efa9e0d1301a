//! Answers to proposed times.

use crate::{
    documents::*, ends, meetings, notices, refusals::*, states::*, times, types::*, views::*,
};
use portolan_sdk::prelude::*;

pub(crate) fn accept(call: &Call, input: &Accept) -> Result<Answer<MeetingView>> {
    let meeting =
        meetings::load_for_action(call, &input.meeting_id, input.expected_version, "accept")?;
    if input.sequence != meeting.value.sequence {
        let current = MeetingView::of(call.now(), call.require_owner()?, &meeting);
        return Err(MeetingError::SequenceStale {
            meeting_id: meeting.id,
            expected: input.sequence,
            current: Box::new(current),
        });
    }
    accept_slot(call, meeting, &input.slot_id, "accept")
}

pub(crate) fn accept_counter(call: &Call, input: &AcceptCounter) -> Result<Answer<MeetingView>> {
    let meeting = meetings::load_for_action(
        call,
        &input.meeting_id,
        input.expected_version,
        "accept_counter",
    )?;
    accept_slot(call, meeting, &input.slot_id, "accept_counter")
}

/// Records that the caller has accepted a slot. The meeting is confirmed when all who have to
/// answer have accepted this slot.
fn accept_slot(
    call: &Call,
    mut meeting: Stored<Meeting>,
    slot_id: &str,
    action: &str,
) -> Result<Answer<MeetingView>> {
    let me = call.require_owner()?;
    let slot = meeting.value.offered().iter().find(|slot| slot.slot_id == slot_id).cloned();
    let not_found = || MeetingError::SlotNotFound { meeting_id: meeting.id.clone() };
    let slot = slot.ok_or_else(not_found)?;
    if slot.start <= call.now() {
        let errors = faulty("/slot_id", "in_future", "a slot that has not begun");
        return Err(MeetingError::SlotInPast { errors });
    }
    if let Some(participant) = meeting.value.participant_mut(me) {
        participant.status = Participation::Accepted;
        participant.comment = None;
        participant.accepted.insert(slot.slot_id.clone());
    }
    let is_agreed = meeting.value.all_accept(&slot.slot_id);
    let to = if is_agreed { State::Confirmed } else { meeting.value.state };
    meeting.step_to(&MEETING, action, to)?;
    if is_agreed {
        return confirm(call, meeting, slot);
    }
    meetings::save(call, &mut meeting)?;
    meetings::shown(call, &meeting)
}

/// Confirms a meeting on which everybody has agreed: reserves the time, or fails without any
/// change.
fn confirm(call: &Call, mut meeting: Stored<Meeting>, slot: Slot) -> Result<Answer<MeetingView>> {
    times::reserve(call, &meeting, &slot)?;
    let value = &mut meeting.value;
    if let Some(counter) = value.counter.take() {
        (value.proposed_by, value.slots) = (counter.by, counter.slots);
        value.sequence += 1;
    }
    for participant in &mut value.participants {
        participant.reset_answer();
        participant.status = Participation::Accepted;
    }
    (value.chosen, value.respond_by) = (Some(slot), None);
    let facts = Facts::agreed(&meeting.value, None);
    meetings::announce(call, &mut meeting, &notices::AGREEMENT, facts)
}

pub(crate) fn tentative(call: &Call, input: AnswerInput) -> Result<Answer<MeetingView>> {
    let mut meeting = record_answer(call, input, "tentative", Participation::Tentative)?;
    meetings::save(call, &mut meeting)?;
    meetings::shown(call, &meeting)
}

pub(crate) fn decline(call: &Call, input: AnswerInput) -> Result<Answer<MeetingView>> {
    let mut meeting = record_answer(call, input, "decline", Participation::Declined)?;
    ends::release(&meeting)?;
    let facts = Facts { declined: Some("meeting"), ..Facts::default() };
    meetings::close(call, &mut meeting, &notices::REFUSAL, facts)?;
    meetings::shown(call, &meeting)
}

/// Records the caller's answer to a meeting, with their own words, without saving it.
fn record_answer(
    call: &Call,
    input: AnswerInput,
    action: &str,
    status: Participation,
) -> Result<Stored<Meeting>> {
    let mut meeting =
        meetings::load_for_action(call, &input.meeting_id, input.expected_version, action)?;
    let comment = meetings::check_text("/reason", input.reason.as_deref())?;
    let participant = meeting.value.participant_mut(call.require_owner()?);
    let participant = participant.ok_or_else(Meeting::not_found)?;
    participant.reset_answer();
    (participant.status, participant.comment) = (status, comment);
    meeting.step(&MEETING, action)?;
    Ok(meeting)
}

/// Declines a counter: the slots before it are offered again, with the answers to them.
pub(crate) fn decline_counter(call: &Call, input: AnswerInput) -> Result<Answer<MeetingView>> {
    let mut meeting = meetings::load_for_action(
        call,
        &input.meeting_id,
        input.expected_version,
        "decline_counter",
    )?;
    let reason = meetings::check_text("/reason", input.reason.as_deref())?;
    let me = call.require_owner()?;
    meeting.step(&MEETING, "decline_counter")?;
    let value = &mut meeting.value;
    value.counter = None;
    for Participant { owner_id, status, accepted, comment, .. } in &mut value.participants {
        if *owner_id == me {
            comment.clone_from(&reason);
        }
        accepted.retain(|slot_id| value.slots.iter().any(|slot| slot.slot_id == *slot_id));
        let has_accepted = !accepted.is_empty() || *owner_id == value.proposed_by;
        *status = if has_accepted { Participation::Accepted } else { Participation::NeedsAction };
    }
    let facts = Facts { declined: Some("counter"), ..Facts::default() };
    meetings::announce(call, &mut meeting, &notices::REFUSAL, facts)
}
