//! Answers to proposed times.

use crate::{kept::*, life::*, meetings, over, refusals::*, tell, times, types::*, views::*};
use portolan_sdk::prelude::*;

pub(crate) fn accept(call: &Call, input: &Accept) -> Result<Answer<MeetingView>> {
    let meeting = meetings::begin(call, &input.meeting_id, input.expected_version, "accept")?;
    if input.sequence != meeting.value.sequence {
        let current = MeetingView::of(call.now(), call.require_owner()?, &meeting);
        return Err(MeetingError::SequenceStale {
            meeting_id: meeting.id,
            expected: input.sequence,
            current: Box::new(current),
        });
    }
    agree(call, meeting, &input.slot_id, "accept")
}

pub(crate) fn accept_counter(call: &Call, input: &AcceptCounter) -> Result<Answer<MeetingView>> {
    let meeting =
        meetings::begin(call, &input.meeting_id, input.expected_version, "accept_counter")?;
    agree(call, meeting, &input.slot_id, "accept_counter")
}

/// Records that the caller has accepted a slot. The meeting is confirmed when all who have to
/// answer have accepted this slot.
fn agree(
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
    let all = meeting.value.all_accept(&slot.slot_id);
    let to = if all { State::Confirmed } else { meeting.value.state };
    meeting.step_to(&MEETING, action, to)?;
    if all {
        return settle(call, meeting, slot);
    }
    meetings::save(call, &mut meeting)?;
    meetings::shown(call, &meeting)
}

/// Confirms a meeting on which everybody has agreed: reserves the time, or fails without any
/// change.
fn settle(call: &Call, mut meeting: Stored<Meeting>, slot: Slot) -> Result<Answer<MeetingView>> {
    times::reserve(call, &meeting, &slot)?;
    let value = &mut meeting.value;
    if let Some(counter) = value.counter.take() {
        (value.proposed_by, value.slots) = (counter.by, counter.slots);
        value.sequence += 1;
    }
    for participant in &mut value.participants {
        participant.ask_again();
        participant.status = Participation::Accepted;
    }
    (value.chosen, value.respond_by) = (Some(slot), None);
    let facts = Facts::agreed(&meeting.value, None);
    meetings::announce(call, &mut meeting, &tell::AGREEMENT, facts)
}

pub(crate) fn tentative(call: &Call, input: Say) -> Result<Answer<MeetingView>> {
    let mut meeting = say(call, input, "tentative", Participation::Tentative)?;
    meetings::save(call, &mut meeting)?;
    meetings::shown(call, &meeting)
}

pub(crate) fn decline(call: &Call, input: Say) -> Result<Answer<MeetingView>> {
    let mut meeting = say(call, input, "decline", Participation::Declined)?;
    over::release(&meeting)?;
    let facts = Facts { declined: Some("meeting"), ..Facts::default() };
    meetings::close(call, &mut meeting, &tell::REFUSAL, facts)?;
    meetings::shown(call, &meeting)
}

/// Records the caller's answer to a meeting, with their own words, without saving it.
fn say(call: &Call, input: Say, action: &str, status: Participation) -> Result<Stored<Meeting>> {
    let mut meeting = meetings::begin(call, &input.meeting_id, input.expected_version, action)?;
    let comment = meetings::words("/reason", input.reason.as_deref())?;
    let participant = meeting.value.participant_mut(call.require_owner()?);
    let participant = participant.ok_or_else(Meeting::not_found)?;
    participant.ask_again();
    (participant.status, participant.comment) = (status, comment);
    meeting.step(&MEETING, action)?;
    Ok(meeting)
}

/// Declines a counter: the slots before it are offered again, with the answers to them.
pub(crate) fn decline_counter(call: &Call, input: Say) -> Result<Answer<MeetingView>> {
    let mut meeting =
        meetings::begin(call, &input.meeting_id, input.expected_version, "decline_counter")?;
    let reason = meetings::words("/reason", input.reason.as_deref())?;
    let me = call.require_owner()?;
    meeting.step(&MEETING, "decline_counter")?;
    let value = &mut meeting.value;
    value.counter = None;
    for Participant { owner_id, status, accepted, comment, .. } in &mut value.participants {
        if *owner_id == me {
            comment.clone_from(&reason);
        }
        accepted.retain(|slot_id| value.slots.iter().any(|slot| slot.slot_id == *slot_id));
        let agrees = !accepted.is_empty() || *owner_id == value.proposed_by;
        *status = if agrees { Participation::Accepted } else { Participation::NeedsAction };
    }
    let facts = Facts { declined: Some("counter"), ..Facts::default() };
    meetings::announce(call, &mut meeting, &tell::REFUSAL, facts)
}
