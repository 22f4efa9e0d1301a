//! The timers of a meeting: reminders, and its end.

use crate::{kept::*, life::*, meetings, over, refusals::*, tell, types::*};
use portolan_sdk::prelude::*;

/// Sets the timers that the meeting needs in its present state, and cancels the others.
pub(crate) fn settle(call: &Call, meeting: &Stored<Meeting>) -> Result<()> {
    let (id, value) = (&meeting.id, &meeting.value);
    let asked = matches!(value.state, State::Proposed | State::Countered);
    let expires_at = Some(value.expires_at()).filter(|_| asked);
    set(&format!("expire/{id}"), expires_at, "expire", &MeetingId::of(id))?;
    let chosen = value.chosen.as_ref().filter(|_| value.state == State::Confirmed);
    let ends_at = chosen.map(|slot| slot.end);
    set(&format!("finish/{id}"), ends_at, "finish", &MeetingId::of(id))?;
    for hours in REMINDERS {
        let at = chosen.map(|slot| slot.start.saturating_sub(hours * HOUR));
        let at = at.filter(|at| *at > call.now());
        let due = Due { meeting_id: id.as_str().into(), hours };
        set(&format!("remind/{id}/{hours}"), at, "remind", &due)?;
    }
    Ok(())
}

fn set(name: &str, at: Option<u64>, action: &str, input: &impl Serialize) -> Result<()> {
    match at {
        Some(at) => timers::set(name, at, action, input)?,
        None => drop(timers::cancel(name)?),
    }
    Ok(())
}

/// Lets a meeting expire on which the participants have not agreed in time.
pub(crate) fn expire(call: &Call, meeting_id: &str) -> Result<()> {
    let due = |meeting: &Stored<Meeting>| {
        meeting.value.expires_at() <= call.now() && meeting.value.state != State::Confirmed
    };
    let Some(mut meeting) = open(meeting_id)?.filter(due) else { return Ok(()) };
    meeting.step(&MEETING, "expire")?;
    meeting.value.reason = Some(Reason::NoAnswer);
    over::release(&meeting)?;
    let facts = Facts::over(&meeting.value, None);
    meetings::close(call, &mut meeting, &tell::UNANSWERED, facts)
}

/// Completes a meeting that has ended.
pub(crate) fn finish(call: &Call, meeting_id: &str) -> Result<()> {
    let due = |meeting: &Stored<Meeting>| {
        let ends_at = meeting.value.chosen.as_ref().map(|slot| slot.end);
        meeting.value.state == State::Confirmed && ends_at.is_some_and(|at| at <= call.now())
    };
    let Some(mut meeting) = open(meeting_id)?.filter(due) else { return Ok(()) };
    over::complete(call, &mut meeting, "finish")
}

/// Reminds everybody of a meeting that begins in this number of hours.
pub(crate) fn remind(call: &Call, due: &Due) -> Result<()> {
    let is_near = |meeting: &Stored<Meeting>| {
        let starts_at = meeting.value.chosen.as_ref().map(|slot| slot.start);
        let near = call.now()..=call.now() + due.hours * HOUR;
        meeting.value.state == State::Confirmed && starts_at.is_some_and(|at| near.contains(&at))
    };
    let Some(meeting) = open(&due.meeting_id)?.filter(is_near) else { return Ok(()) };
    tell::SOON.tell(call, &meeting, Facts::agreed(&meeting.value, Some(due.hours)))
}

fn open(meeting_id: &str) -> Result<Option<Stored<Meeting>>> {
    Ok(MEETINGS.get(meeting_id)?.filter(|meeting| meeting.value.state.is_open()))
}
