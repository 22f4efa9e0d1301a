//! Reads and changes of a meeting.

use crate::access::{self, Viewer};
use crate::{
    documents::*,
    ends,
    notices::Notice,
    open_meetings,
    refusals::{self, *},
    states::*,
    types::*,
    views::*,
};
use people_kit::acquaintances::{Acquainted, TwoPeople};
use people_kit::encounters::Encounter;
use people_kit::text::{Faults, Lines, public};
use people_kit::{organisations, relations};
use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

/// The maximum number of people in one query.
const CHUNK: usize = 100;

/// Returns a meeting in which the caller takes part, as they may see it, and the participant as whom
/// they do.
pub(crate) fn load_own(call: &Call, meeting_id: &str) -> Result<(Stored<Meeting>, String)> {
    let me = call.owner_id().ok_or(MeetingError::MeetingNotFound)?;
    let mut meetings = [Meeting::load(meeting_id)?];
    cancel_blocked(me, &mut meetings)?;
    let [meeting] = meetings;
    let seat = access::seat(me, &meeting)?;
    Ok((meeting, seat))
}

/// Changes open meetings to cancelled, without saving them, if `me` and another participant are
/// blocked. The event of the block may not have been handled here yet.
fn cancel_blocked(me: &str, meetings: &mut [Stored<Meeting>]) -> Result<()> {
    let open = meetings.iter().filter(|meeting| meeting.value.state.is_open());
    let others: BTreeSet<&str> = open.flat_map(|meeting| meeting.value.owner_ids()).collect();
    let others: Vec<&str> = others.into_iter().filter(|other| *other != me).collect();
    let mut hidden = BTreeSet::new();
    for chunk in others.chunks(CHUNK) {
        hidden.extend(relations::hidden(Some(me), chunk.iter().copied())?);
    }
    for meeting in meetings.iter_mut().filter(|meeting| meeting.value.state.is_open()) {
        let is_own = meeting.value.participant(me).is_some();
        if is_own && meeting.value.owner_ids().any(|owner_id| hidden.contains(owner_id)) {
            ends::cancel_impossible(&mut meeting.value);
            meeting.revision += 1;
        }
    }
    Ok(())
}

/// Returns a meeting that the caller changes. Refuses if they may not take this action on it now, or
/// expect another version. Of an organisation, the caller attends from now on.
pub(crate) fn load_for_action(
    call: &Call,
    meeting_id: &str,
    expected: Option<Version>,
    action: &str,
) -> Result<Stored<Meeting>> {
    let (mut meeting, seat) = load_as_seated(call, meeting_id, expected, action)?;
    let me = call.require_owner()?;
    if seat != me {
        open_meetings::close(&meeting)?;
        access::stand_in(&mut meeting.value, &seat, me);
        open_meetings::open(&meeting)?;
    }
    Ok(meeting)
}

/// Like [`load_for_action`], but who attends stays; returns also the participant as whom the caller
/// acts.
pub(crate) fn load_as_seated(
    call: &Call,
    meeting_id: &str,
    expected: Option<Version>,
    action: &str,
) -> Result<(Stored<Meeting>, String)> {
    call.require_owner()?;
    let (meeting, seat) = load_own(call, meeting_id)?;
    let view = || MeetingView::of(call.now(), &seat, &meeting);
    meeting.ensure_version(expected, view, refusals::get(&meeting.id))?;
    let state = meeting.value.state;
    if MEETING.step(&meeting.id, state, action).is_err() {
        let message = "The state does not allow this action.";
        return Err(not_now(ErrorCode::InvalidTransition, message, &view()));
    }
    if !MEETING.allowed_as(meeting.value.role(&seat), state).contains(&action) {
        let message = "These are your own times: it is for the others to answer.";
        return Err(not_now(ErrorCode::NotPermitted, message, &view()));
    }
    Ok((meeting, seat))
}

pub(crate) fn save(call: &Call, meeting: &mut Stored<Meeting>) -> Result<()> {
    meeting.value.changed_at = call.now();
    Ok(meeting.save()?)
}

/// Saves a meeting that has ended, removes its timers and relations, and announces the end.
pub(crate) fn close(
    call: &Call,
    meeting: &mut Stored<Meeting>,
    notice: &Notice,
    facts: Facts,
) -> Result<()> {
    open_meetings::close(meeting)?;
    save(call, meeting)?;
    ends::update_timers(call, meeting)?;
    notice.notify(call, meeting, facts)
}

/// Saves an open meeting with its timers, announces what has changed, and shows it to the caller.
pub(crate) fn announce(
    call: &Call,
    meeting: &mut Stored<Meeting>,
    notice: &Notice,
    facts: Facts,
) -> Result<Answer<MeetingView>> {
    save(call, meeting)?;
    ends::update_timers(call, meeting)?;
    notice.notify(call, meeting, facts)?;
    shown(call, meeting)
}

/// Returns the meeting as the caller, who is a participant, sees it, with the most useful next step.
pub(crate) fn shown(call: &Call, meeting: &Stored<Meeting>) -> Result<Answer<MeetingView>> {
    Ok(shown_as(call, meeting, call.require_owner()?))
}

/// Returns the meeting as one of its participants sees it, with the most useful next step.
pub(crate) fn shown_as(call: &Call, meeting: &Stored<Meeting>, seat: &str) -> Answer<MeetingView> {
    let view = MeetingView::of(call.now(), seat, meeting);
    let step = next(meeting).unwrap_or_else(|| refusals::get(&meeting.id));
    Answer::new(view).next(step)
}

/// Returns a meeting that the caller has asked for: the next step is its file, once it has a time.
pub(crate) fn get(call: &Call, meeting_id: &str) -> Result<Answer<MeetingView>> {
    let (meeting, seat) = load_own(call, meeting_id)?;
    let view = MeetingView::of(call.now(), &seat, &meeting);
    Ok(Answer::with(view, next(&meeting)))
}

/// Returns the step that follows reading a meeting; `None` while it has no time.
fn next(meeting: &Stored<Meeting>) -> Option<Next> {
    meeting.value.chosen.is_some().then(|| ics(&meeting.id))
}

pub(crate) fn list(call: &Call, me: &str, input: List) -> Result<Items<MeetingView>> {
    let mine = match input.as_org {
        Some(org_id) if organisations::acting_orgs(me)?.contains(&org_id) => {
            field("participants[].org_id").eq(org_id)
        }
        Some(_) => return Err(not_acting()),
        None => {
            let own = field("participants[].owner_id").eq(me);
            match organisations::acting_orgs(me)? {
                orgs if orgs.is_empty() => own,
                orgs => own.or(field("participants[].org_id").one_of(orgs)),
            }
        }
    };
    let filter = mine
        .and(input.thread_id.map(|thread_id| field("thread_id").eq(thread_id)))
        .and(input.state.as_ref().map(|states| field("state").one_of(states)));
    let page = MEETINGS.find(input.page.last_changed(filter))?;
    let (mut meetings, next_cursor) = page.into_parts();
    cancel_blocked(me, &mut meetings)?;
    // A meeting whose state was changed by that may no longer match the filter.
    let is_requested = |state| input.state.as_ref().is_none_or(|states| states.contains(&state));
    meetings.retain(|meeting| is_requested(meeting.value.state));
    let viewer = Viewer::load(me, &meetings)?;
    let mut items = Vec::new();
    for meeting in &meetings {
        if let Some(seat) = viewer.seat(&meeting.value)
            && viewer.sees(&meeting.value, seat)?
        {
            items.push(MeetingView::of(call.now(), seat, meeting));
        }
    }
    Ok(Items { items, next_cursor })
}

/// Checks a person's own words that the others read.
pub(crate) fn check_text(pointer: &str, text: Option<&str>) -> Result<Option<String>> {
    let mut faults = Faults::default();
    let text = text.map(|text| public(pointer, text, Lines::Many, &mut faults));
    faults.check()?;
    Ok(text)
}

/// Returns whether two people have taken part in a meeting that took place.
pub(crate) fn acquainted(people: &TwoPeople) -> Result<Acquainted> {
    let both = [&people.one, &people.other].map(|id| field("participants[].owner_id").eq(id));
    let met = all_of(both).and(field("state").eq(State::Completed));
    let found = MEETINGS.find(Query::new().filter(met).limit(1))?;
    Ok(Acquainted { acquainted: !found.hits.is_empty() })
}

/// Returns the people of a meeting whose time is over, also if somebody was absent; nobody for any other
/// meeting.
pub(crate) fn encounter(meeting_id: &str) -> Result<Encounter> {
    let is_over =
        |meeting: &Stored<Meeting>| matches!(meeting.value.state, State::Completed | State::NoShow);
    let meeting = MEETINGS.get(meeting_id)?.filter(is_over);
    let people = |meeting: Stored<Meeting>| meeting.value.owner_ids().map(str::to_owned).collect();
    Ok(Encounter { owner_ids: meeting.map(people).unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_step_of_a_meeting_is_its_file_and_never_the_meeting_again() {
        const MEETING_ID: &str = "mtg_01JZX8Q4M2N6P7R8S9T0V1W2X3";
        for (is_settled, step) in [(false, None), (true, Some("ics"))] {
            let slot = Slot { slot_id: "slot_1".into(), start: 0, end: 1 };
            let meeting = Meeting { chosen: is_settled.then_some(slot), ..Meeting::default() };
            let meeting = Stored::new(MEETING_ID.to_owned(), meeting, 0);
            let next = portolan_sdk::to_value(&next(&meeting));
            assert_eq!(next["input"]["action"].as_str(), step, "{next}");
        }
    }
}
