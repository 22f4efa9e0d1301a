//! Proposals of times: a meeting is proposed, countered, rescheduled.

use crate::times::{self, respond_by, slots};
use crate::{
    documents::*, meetings, notices, open_meetings, refusals::*, states::*, types::*, views::*,
};
use people_kit::relations::{self, hidden};
use people_kit::text::{Faults, Lines, plain, public};
use people_kit::threads::{self, ThreadState};
use people_kit::zones::Zone;
use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

pub(crate) fn propose(call: &Call, input: Propose) -> Result<Answer<MeetingView>> {
    let me = call.require_owner()?.to_owned();
    let Others { org_id, participants: invited } = others(&input.thread_id, &me)?;
    let others: Vec<&str> = invited.iter().map(|other| other.owner_id.as_str()).collect();
    let time_zone = canonical_zone(&input.time_zone)?;
    let (title, location) = check_texts(&me, &others, &input.title, input.location)?;
    let slots = slots(call, &input.slots, input.duration_min)?;
    let respond_by = respond_by(call, input.respond_by.as_deref())?;
    times::ensure_free(&me, &others, &slots, input.duration_min, None, call.now())?;
    let own = Participant { org_id, ..Participant::new(me.clone(), Participation::Accepted) };
    let participants = [own].into_iter().chain(invited).collect();
    let value = Meeting {
        thread_id: input.thread_id.into(),
        organizer: me.clone(),
        title,
        duration_min: input.duration_min,
        time_zone,
        location,
        participants,
        proposed_by: me,
        slots,
        respond_by,
        ..Meeting::default()
    };
    let mut meeting = Stored::new(call.new_id("mtg"), value, call.now());
    open_meetings::open(&meeting)?;
    let facts = Facts::offer(call, &meeting.value);
    meetings::announce(call, &mut meeting, &notices::PROPOSAL, facts)
}

/// The others in a conversation.
struct Others {
    /// The organisation for which the person who asks takes part.
    org_id: Option<String>,
    participants: Vec<Participant>,
}

/// Returns the other participants of a conversation: one for each other organisation, and no
/// colleagues. Refuses if the conversation is closed, if they do not accept messages from the person,
/// or if two of them are blocked.
fn others(thread_id: &str, me: &str) -> Result<Others> {
    let thread = threads::thread(thread_id, me).map_err(|error| {
        let refusal = Refusal::from(error);
        match refusal.code.as_str() {
            "thread_not_found" => MeetingError::ThreadNotFound,
            _ => MeetingError::Common(refusal),
        }
    })?;
    match thread.state {
        ThreadState::Open | ThreadState::Archived => {}
        ThreadState::Frozen => return Err(MeetingError::RecipientNotAccepting),
        ThreadState::Closed => {
            return Err(MeetingError::ThreadClosed { thread_id: thread.thread_id });
        }
    }
    let mut orgs: BTreeSet<&String> = thread.orgs.get(me).into_iter().collect();
    let mut participants = Vec::new();
    for owner_id in thread.participants.iter().filter(|participant| *participant != me) {
        let org_id = thread.orgs.get(owner_id);
        if org_id.is_none_or(|org_id| orgs.insert(org_id)) {
            let org_id = org_id.cloned();
            let invited = Participant::new(owner_id.clone(), Participation::NeedsAction);
            participants.push(Participant { org_id, ..invited });
        }
    }
    let others: Vec<_> = participants.iter().map(|other| other.owner_id.clone()).collect();
    match others.is_empty() || are_blocked(&others)? {
        true => Err(MeetingError::RecipientNotAccepting),
        false => Ok(Others { org_id: thread.orgs.get(me).cloned(), participants }),
    }
}

/// Returns whether one of the others has blocked another one. The meeting would bring these two
/// together.
fn are_blocked(others: &[String]) -> Result<bool> {
    for one in others {
        if !hidden(Some(one), others.iter().map(String::as_str))?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the canonical name of the zone. Refuses if there is no such zone.
fn canonical_zone(name: &str) -> Result<String> {
    let unknown = || MeetingError::TimeZoneUnknown {
        errors: faulty("/time_zone", "time_zone", "the IANA name of a time zone"),
    };
    Ok(Zone::named(name).ok_or_else(unknown)?.name().to_owned())
}

/// Checks the texts that the others read. Contact data is never allowed in a title, and in the
/// location only if all the others may see the person's contact data anyway.
fn check_texts(
    me: &str,
    others: &[&str],
    title: &str,
    location: Option<Location>,
) -> Result<(String, Option<Location>)> {
    let mut faults = Faults::default();
    let title = public("/title", title, Lines::One, &mut faults);
    let location = match location {
        Some(Location { kind, text: Some(text) }) => {
            let pointer = "/location/text";
            let check = if is_disclosed(me, others)? { plain } else { public };
            let text = check(pointer, &text, Lines::One, &mut faults);
            Some(Location { kind, text: Some(text) })
        }
        other => other,
    };
    faults.check()?;
    Ok((title, location))
}

/// Returns whether all the others may see the person's contact data.
fn is_disclosed(me: &str, others: &[&str]) -> Result<bool> {
    for other in others {
        if !relations::has_relation(format!("owner:{me}"), "can_see_contact", other)? {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(crate) fn counter(call: &Call, input: CounterInput) -> Result<Answer<MeetingView>> {
    let me = call.require_owner()?;
    let mut meeting =
        meetings::load_for_action(call, &input.meeting_id, input.expected_version, "counter")?;
    let value = &mut meeting.value;
    if value.rounds >= MOST_ROUNDS {
        return Err(MeetingError::CounterLimit { meeting_id: meeting.id });
    }
    let note = meetings::check_text("/note", input.note.as_deref())?;
    let slots = slots(call, &input.slots, value.duration_min)?;
    let others: Vec<_> = value.owner_ids().filter(|owner_id| *owner_id != me).collect();
    let reference = Some(meeting.id.as_str());
    times::ensure_free(me, &others, &slots, value.duration_min, reference, call.now())?;
    meeting.step(&MEETING, "counter")?;
    let value = &mut meeting.value;
    value.counter = Some(Counter { by: me.to_owned(), slots, note });
    value.rounds += 1;
    for participant in &mut value.participants {
        // The answers to the earlier slots are kept, because these slots may be offered again.
        participant.status = match participant.owner_id == me {
            true => Participation::Tentative,
            false => Participation::NeedsAction,
        };
    }
    let facts = Facts::offer(call, &meeting.value);
    meetings::announce(call, &mut meeting, &notices::COUNTER, facts)
}

pub(crate) fn reschedule(call: &Call, input: &Reschedule) -> Result<Answer<MeetingView>> {
    let me = call.require_owner()?;
    let mut meeting =
        meetings::load_for_action(call, &input.meeting_id, input.expected_version, "reschedule")?;
    let value = &mut meeting.value;
    let slots = slots(call, &input.slots, value.duration_min)?;
    let respond_by = respond_by(call, input.respond_by.as_deref())?;
    let others: Vec<_> = value.owner_ids().filter(|owner_id| *owner_id != me).collect();
    let reference = Some(meeting.id.as_str());
    times::ensure_free(me, &others, &slots, value.duration_min, reference, call.now())?;
    meeting.step(&MEETING, "reschedule")?;
    let value = &mut meeting.value;
    value.sequence += 1;
    (value.slots, value.respond_by) = (slots, respond_by);
    me.clone_into(&mut value.proposed_by);
    value.participants.iter_mut().for_each(Participant::reset_answer);
    let facts = Facts::offer(call, &meeting.value);
    meetings::announce(call, &mut meeting, &notices::MOVE, facts)
}
