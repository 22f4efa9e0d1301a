//! The ends of meetings, and the timers of their ends and reminders.

use crate::{documents::*, meetings, notices, refusals::*, states::*, types::*, views::*};
use people_kit::{calendar, people};
use portolan_sdk::prelude::*;

/// The maximum number of meetings that one run ends: each may have twenty participants, every pair of
/// them is checked, and the colleagues of those who stand for an organisation are notified too.
const AT_ONCE: u32 = 2;

/// Releases everybody's time, if it was reserved.
pub(crate) fn release(meeting: &Stored<Meeting>) -> Result<()> {
    match meeting.value.chosen {
        Some(_) => Ok(calendar::release(&meeting.id)?),
        None => Ok(()),
    }
}

pub(crate) fn cancel(call: &Call, input: AnswerInput) -> Result<Answer<MeetingView>> {
    let (mut meeting, seat) =
        meetings::load_as_seated(call, &input.meeting_id, input.expected_version, "cancel")?;
    let reason = meetings::check_text("/reason", input.reason.as_deref())?;
    meeting.step(&MEETING, "cancel")?;
    let value = &mut meeting.value;
    value.reason_text = reason;
    value.reason_by = call.owner_id().map(str::to_owned);
    value.late = value.chosen.as_ref().is_some_and(|slot| slot.start < call.now() + LATE);
    value.reason = Some(Reason::ByParticipant);
    value.sequence += 1;
    let facts = Facts::ended(value, Some(value.late));
    release(&meeting)?;
    meetings::close(call, &mut meeting, &notices::CANCELLATION, facts)?;
    Ok(meetings::shown_as(call, &meeting, &seat))
}

/// Ends a meeting whose time has passed; the reports so far decide whether it took place.
pub(crate) fn complete(call: &Call, meeting: &mut Stored<Meeting>, action: &str) -> Result<()> {
    let to = if meeting.value.is_missed() { State::NoShow } else { State::Completed };
    meeting.step_to(&MEETING, action, to)?;
    let facts = Facts::ended(&meeting.value, None);
    meetings::close(call, meeting, &notices::ENDED, facts)
}

pub(crate) fn report(call: &Call, input: &Report) -> Result<Answer<MeetingView>> {
    let now = call.now();
    let (mut meeting, seat) = meetings::load_as_seated(
        call,
        &input.meeting_id,
        input.expected_version,
        "report_outcome",
    )?;
    if !can_be_reported(&meeting.value, now) {
        let message = "Report it when it has begun, within a month after its end.";
        let view = MeetingView::of(now, &seat, &meeting);
        return Err(not_now(ErrorCode::InvalidTransition, message, &view));
    }
    if let Some(participant) = meeting.value.participant_mut(&seat) {
        participant.outcome = Some(input.outcome);
    }
    let is_running = meeting.value.chosen.as_ref().is_some_and(|slot| slot.end > now);
    let reported = if meeting.value.is_missed() { State::NoShow } else { State::Completed };
    match is_running || meeting.value.state == reported {
        true => meetings::save(call, &mut meeting)?,
        false => complete(call, &mut meeting, "report_outcome")?,
    }
    Ok(meetings::shown_as(call, &meeting, &seat))
}

/// Changes a meeting whose participants can no longer all meet to cancelled, without disclosing why
/// and without saving it.
pub(crate) fn cancel_impossible(meeting: &mut Meeting) {
    (meeting.state, meeting.reason) = (State::Cancelled, Some(Reason::NotPossible));
    meeting.sequence += 1;
}

/// Cancels an open meeting whose participants can no longer all meet, and tells nobody why.
pub(crate) fn part(call: &Call, mut meeting: Stored<Meeting>) -> Result<()> {
    MEETING.step(&meeting.id, meeting.value.state, "part")?;
    release(&meeting)?;
    cancel_impossible(&mut meeting.value);
    let facts = Facts::ended(&meeting.value, Some(false));
    meetings::close(call, &mut meeting, &notices::IMPOSSIBLE, facts)
}

/// Cancels the open meetings of a conversation in which somebody takes part who no longer exists, or who
/// is hidden because they are about to be erased: at most [`AT_ONCE`] of them, and a timer continues with
/// the others.
pub(crate) fn cancel_without_person(call: &Call, event: &Happened<Ended>) -> Result<()> {
    let Some(thread_id) = &event.data.thread_id else { return Ok(()) };
    let filter = field("thread_id").eq(thread_id).and(field("state").one_of(OPEN));
    let page = MEETINGS.find(Query::new().filter(filter).limit(MOST_OPEN as u32))?;
    let mut left = AT_ONCE;
    for meeting in page.into_documents() {
        let people = people::people(meeting.value.owner_ids())?;
        let is_there = |owner_id| people.get(owner_id).is_some_and(|person| person.active);
        if meeting.value.owner_ids().all(is_there) {
            continue;
        }
        if left == 0 {
            let timer = format!("ended/{thread_id}");
            return Ok(timers::set(&timer, call.now(), "on_pairing_cancelled", event)?);
        }
        part(call, meeting)?;
        left -= 1;
    }
    Ok(())
}

/// Sets the timers that the meeting needs in its present state, and cancels the others.
pub(crate) fn update_timers(call: &Call, meeting: &Stored<Meeting>) -> Result<()> {
    let (id, value) = (&meeting.id, &meeting.value);
    let is_unanswered = matches!(value.state, State::Proposed | State::Countered);
    let expires_at = Some(value.expires_at()).filter(|_| is_unanswered);
    set_or_cancel(&format!("expire/{id}"), expires_at, "expire", &MeetingId::of(id))?;
    let chosen = value.chosen.as_ref().filter(|_| value.state == State::Confirmed);
    let ends_at = chosen.map(|slot| slot.end);
    set_or_cancel(&format!("finish/{id}"), ends_at, "finish", &MeetingId::of(id))?;
    for hours in REMINDERS {
        let at = chosen.map(|slot| slot.start.saturating_sub(hours * HOUR));
        let at = at.filter(|at| *at > call.now());
        let due = Due { meeting_id: id.as_str().into(), hours };
        set_or_cancel(&format!("remind/{id}/{hours}"), at, "remind", &due)?;
    }
    Ok(())
}

fn set_or_cancel(name: &str, at: Option<u64>, action: &str, input: &impl Serialize) -> Result<()> {
    match at {
        Some(at) => timers::set(name, at, action, input)?,
        None => drop(timers::cancel(name)?),
    }
    Ok(())
}

pub(crate) fn expire(call: &Call, meeting_id: &str) -> Result<()> {
    let is_due = |meeting: &Stored<Meeting>| {
        meeting.value.expires_at() <= call.now() && meeting.value.state != State::Confirmed
    };
    let Some(mut meeting) = find_open(meeting_id)?.filter(is_due) else { return Ok(()) };
    meeting.step(&MEETING, "expire")?;
    meeting.value.reason = Some(Reason::NoAnswer);
    release(&meeting)?;
    let facts = Facts::ended(&meeting.value, None);
    meetings::close(call, &mut meeting, &notices::UNANSWERED, facts)
}

pub(crate) fn finish(call: &Call, meeting_id: &str) -> Result<()> {
    let is_due = |meeting: &Stored<Meeting>| {
        let ends_at = meeting.value.chosen.as_ref().map(|slot| slot.end);
        meeting.value.state == State::Confirmed && ends_at.is_some_and(|at| at <= call.now())
    };
    let Some(mut meeting) = find_open(meeting_id)?.filter(is_due) else { return Ok(()) };
    complete(call, &mut meeting, "finish")
}

/// Reminds everybody of a meeting, if it is confirmed and begins within this number of hours.
pub(crate) fn remind(call: &Call, due: &Due) -> Result<()> {
    let is_near = |meeting: &Stored<Meeting>| {
        let starts_at = meeting.value.chosen.as_ref().map(|slot| slot.start);
        let near = call.now()..=call.now() + due.hours * HOUR;
        meeting.value.state == State::Confirmed && starts_at.is_some_and(|at| near.contains(&at))
    };
    let Some(meeting) = find_open(&due.meeting_id)?.filter(is_near) else { return Ok(()) };
    notices::UPCOMING.notify(call, &meeting, Facts::agreed(&meeting.value, Some(due.hours)))
}

fn find_open(meeting_id: &str) -> Result<Option<Stored<Meeting>>> {
    Ok(MEETINGS.get(meeting_id)?.filter(|meeting| meeting.value.state.is_open()))
}
