//! A meeting, read and taken a step further.

use crate::{bonds, kept::*, life::*, over, refusals::*, types::*, views::*};
use people_kit::{
    relations,
    text::{Faults, Lines, public},
};
use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

/// Those who can be asked for at once.
const MANY: usize = 100;

/// A meeting that the caller takes part in, as it is for them.
pub(crate) fn own(call: &Call, meeting_id: &str) -> Result<Stored<Meeting>> {
    let mut meetings = [Meeting::load_own(call, meeting_id)?];
    part(call.require_owner()?, &mut meetings)?;
    let [meeting] = meetings;
    Ok(meeting)
}

/// Whoever has blocked somebody else in a meeting, or was blocked by them, sees it cancelled at
/// once, as it will be when the block has become known here.
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
    let apart = |meeting: &&mut Stored<Meeting>| {
        meeting.value.state.is_open()
            && meeting.value.owner_ids().any(|meeting| hidden.contains(meeting))
    };
    for meeting in meetings.iter_mut().filter(apart) {
        over::become_impossible(&mut meeting.value);
        meeting.revision += 1;
    }
    Ok(())
}

/// A meeting in which the caller may do this now.
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

/// Ends what is only there while people have something to agree on, and keeps the rest.
pub(crate) fn close(call: &Call, meeting: &mut Stored<Meeting>) -> Result<()> {
    bonds::close(meeting)?;
    save(call, meeting)?;
    crate::clock::settle(call, meeting)
}

/// The meeting as the caller sees it, and what helps most.
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
    // What has become another state by that is not what was asked for.
    let asked = |meeting: &&Stored<Meeting>| {
        input.state.as_ref().is_none_or(|states| states.contains(&meeting.value.state))
    };
    let items =
        meetings.iter().filter(asked).map(|meeting| MeetingView::of(call.now(), me, meeting));
    Ok(Items { items: items.collect(), next_cursor })
}

/// A person's own words that the others read.
pub(crate) fn words(pointer: &str, text: Option<String>) -> Result<Option<String>> {
    let Some(text) = text else { return Ok(None) };
    let mut faults = Faults::default();
    let text = public(pointer, &text, Lines::Many, &mut faults);
    faults.check()?;
    Ok(Some(text))
}
