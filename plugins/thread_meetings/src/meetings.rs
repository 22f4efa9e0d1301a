//! Reads and changes of a meeting.

use crate::{bonds, kept::*, life::*, over, refusals::*, types::*, views::*};
use people_kit::{
    relations,
    text::{Faults, Lines, public},
};
use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

/// The maximum number of people in one query.
const MANY: usize = 100;

/// Returns a meeting in which the caller takes part, as they may see it.
pub(crate) fn own(call: &Call, meeting_id: &str) -> Result<Stored<Meeting>> {
    let mut meetings = [Meeting::load_own(call, meeting_id)?];
    part(call.require_owner()?, &mut meetings)?;
    let [meeting] = meetings;
    Ok(meeting)
}

/// Shows a meeting as cancelled to a participant who has blocked another one, or was blocked by
/// them, already before the event of the block has been handled here.
fn part(me: &str, meetings: &mut [Stored<Meeting>]) -> Result<()> {
    let open = meetings.iter().filter(|meeting| meeting.value.state.is_open());
    let others: BTreeSet<String> =
        open.flat_map(|meeting| meeting.value.owner_ids()).map(str::to_owned).collect();
    let others: Vec<&str> =
        others.iter().map(String::as_str).filter(|other| *other != me).collect();
    let mut hidden = BTreeSet::new();
    for chunk in others.chunks(MANY) {
        hidden.extend(relations::hidden(Some(me), chunk.iter().copied())?);
    }
    let is_impossible = |meeting: &&mut Stored<Meeting>| {
        meeting.value.state.is_open()
            && meeting.value.owner_ids().any(|meeting| hidden.contains(meeting))
    };
    for meeting in meetings.iter_mut().filter(is_impossible) {
        over::become_impossible(&mut meeting.value);
        meeting.revision += 1;
    }
    Ok(())
}

/// Returns a meeting on which the caller may take this action now.
pub(crate) fn begin(
    call: &Call,
    meeting_id: &str,
    expected: Option<Version>,
    action: &str,
) -> Result<Stored<Meeting>> {
    let me = call.require_owner()?;
    let meeting = own(call, meeting_id)?;
    let view = || MeetingView::of(call.now(), me, &meeting);
    meeting.ensure_version(expected, view, get(&meeting.id))?;
    let state = meeting.value.state;
    if MEETING.step(&meeting.id, state, action).is_err() {
        let message = "The state does not allow this action.";
        return Err(not_now(ErrorCode::InvalidTransition, message, &view()));
    }
    let role = if meeting.value.asking() == me { ASKING } else { ASKED };
    if !MEETING.allowed_as(role, state).contains(&action) {
        let message = "These are your own times: it is for the others to answer.";
        return Err(not_now(ErrorCode::NotPermitted, message, &view()));
    }
    Ok(meeting)
}

pub(crate) fn save(call: &Call, meeting: &mut Stored<Meeting>) -> Result<()> {
    meeting.value.changed_at = call.now();
    Ok(meeting.save()?)
}

/// Removes the timers and relations of an open meeting, and saves it.
pub(crate) fn close(call: &Call, meeting: &mut Stored<Meeting>) -> Result<()> {
    bonds::close(meeting)?;
    save(call, meeting)?;
    crate::clock::settle(call, meeting)
}

/// Returns the meeting as the caller sees it, with the most useful next step.
pub(crate) fn shown(call: &Call, meeting: &Stored<Meeting>) -> Result<Answer<MeetingView>> {
    let view = MeetingView::of(call.now(), call.require_owner()?, meeting);
    let next = match meeting.value.chosen {
        Some(_) => ics(&meeting.id),
        None => get(&meeting.id),
    };
    Ok(Answer::new(view).next(next))
}

pub(crate) fn list(call: &Call, me: &str, input: List) -> Result<Items<MeetingView>> {
    let filter = field("participants[].owner_id")
        .eq(me)
        .and(input.thread_id.map(|thread_id| field("thread_id").eq(thread_id)))
        .and(input.state.as_ref().map(|states| field("state").one_of(states)));
    let page = MEETINGS.find(input.page.last_changed(filter))?;
    let (mut meetings, next_cursor) = page.into_parts();
    part(me, &mut meetings)?;
    // A meeting whose state was changed by that may no longer match the filter.
    let asked = |meeting: &&Stored<Meeting>| {
        input.state.as_ref().is_none_or(|states| states.contains(&meeting.value.state))
    };
    let items =
        meetings.iter().filter(asked).map(|meeting| MeetingView::of(call.now(), me, meeting));
    Ok(Items { items: items.collect(), next_cursor })
}

/// Checks a person's own words that the others read.
pub(crate) fn words(pointer: &str, text: Option<String>) -> Result<Option<String>> {
    let Some(text) = text else { return Ok(None) };
    let mut faults = Faults::default();
    let text = public(pointer, &text, Lines::Many, &mut faults);
    faults.check()?;
    Ok(Some(text))
}
