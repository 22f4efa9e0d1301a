//! The capability `thread_meetings`: people in a conversation agree on a time.

mod answer;
mod ask;
mod bonds;
mod clock;
mod ics;
mod kept;
mod life;
mod meetings;
mod over;
mod prompts;
mod refusals;
mod tell;
mod times;
mod types;
mod views;

use kept::{MEETINGS, PAIRS, THREADS};
use life::MEETING;
use people_kit::{people, relations};
use portolan_sdk::prelude::*;
use prompts::PREPARE_MEETING;
use refusals::MeetingError;
use types::*;
use views::{File, MeetingView};

struct ThreadMeetings;

/// Agree on a time with the people in a conversation.
///
/// Somebody proposes one to five times, and everybody else in the conversation has to accept the
/// same one: then the meeting is `confirmed`, and its time reserved in all their calendars, or in
/// nobody's. Who would rather have another time counters, at most three times in all. The verbs are
/// those of iTIP (RFC 5546), names those of JSCalendar (RFC 8984). Times are instants; `time_zone` is
/// for showing them.
///
/// `ics` is the meeting as a file for other calendars; there is no address to fetch it from. People
/// stand in it by names that lead nowhere. Titles, notes and reasons hold no contact data. Where to
/// meet may, once all have disclosed it to each other; until then it is a label, such as a café's
/// name or a link without numbers, and it is for the person to keep a private address out of it.
///
/// Who can no longer meet, for whatever reason, is not told why: the meeting is `cancelled` with the
/// reason `not_possible`. Somebody who leaves the conversation stays in its meetings until these are
/// over.
#[capability(
    id = "thread_meetings",
    title = "Meetings",
    tags = ["meetings", "time", "people"],
    collections = [MEETINGS, THREADS, PAIRS],
    state_machines = [MEETING],
    prompts = [PREPARE_MEETING]
)]
impl ThreadMeetings {
    /// Propose a meeting.
    ///
    /// To everybody else who takes part in the conversation; each has to accept the same slot. At
    /// all slots your own calendar must be free. At most five meetings of a conversation are open.
    #[action(access = write, emits = [PROPOSED], example = json!({
        "thread_id": "thr_01JZX8Q4M2N6P7R8S9T0V1W2X3",
        "title": "A first look at the room",
        "duration_min": 30,
        "slots": [
            { "start": "2026-12-01T18:00:00Z", "end": "2026-12-01T18:30:00Z" },
            { "start": "2026-12-02T17:00:00Z", "end": "2026-12-02T17:30:00Z" },
        ],
        "time_zone": "America/Los_Angeles",
        "respond_by": "2026-11-30T20:00:00Z",
    }))]
    fn propose(call: &Call, input: Propose) -> Result<Answer<MeetingView>, MeetingError> {
        ask::propose(call, input)
    }

    /// Accept a slot.
    ///
    /// When all have accepted the same one, the meeting is `confirmed`. Until then more than one may
    /// be accepted. If not everybody is free any more, it is `slot_taken` with other times, and
    /// nothing has changed.
    #[action(access = write, idempotent, emits = [CONFIRMED], example = json!({
        "meeting_id": MEETING_ID, "slot_id": SLOT_ID, "sequence": 0,
    }))]
    fn accept(call: &Call, input: Accept) -> Result<Answer<MeetingView>, MeetingError> {
        answer::accept(call, &input)
    }

    /// Say that none of the slots is sure yet.
    ///
    /// The meeting stays `proposed`, and slots that you had accepted are open again. The others see
    /// it when they look.
    #[action(access = write, idempotent, example = json!({
        "meeting_id": MEETING_ID, "reason": "I am away that week.",
    }))]
    fn tentative(call: &Call, input: Say) -> Result<Answer<MeetingView>, MeetingError> {
        answer::tentative(call, input)
    }

    /// Decline a meeting.
    ///
    /// It ends for all. A time that was agreed on before it was to be moved is free again.
    #[action(access = write, destructive, emits = [DECLINED], example = json!({
        "meeting_id": MEETING_ID, "reason": "I am away that week.",
    }))]
    fn decline(call: &Call, input: Say) -> Result<Answer<MeetingView>, MeetingError> {
        answer::decline(call, input)
    }

    /// Propose other times instead.
    ///
    /// To answer somebody else's; at most three times in all.
    #[action(access = write, emits = [COUNTERED], example = json!({
        "meeting_id": MEETING_ID,
        "slots": [{ "start": "2026-12-03T18:00:00Z", "end": "2026-12-03T18:30:00Z" }],
        "note": "Thursday suits me better.",
    }))]
    fn counter(call: &Call, input: CounterInput) -> Result<Answer<MeetingView>, MeetingError> {
        ask::counter(call, input)
    }

    /// Accept a slot of a counter.
    ///
    /// As `accept`; with it, `sequence` counts up.
    #[action(access = write, idempotent, emits = [CONFIRMED], example = json!({
        "meeting_id": MEETING_ID, "slot_id": SLOT_ID,
    }))]
    fn accept_counter(
        call: &Call,
        input: AcceptCounter,
    ) -> Result<Answer<MeetingView>, MeetingError> {
        answer::accept_counter(call, &input)
    }

    /// Decline a counter.
    ///
    /// The slots before it stand again, and can be accepted.
    #[action(access = write, emits = [DECLINED], example = json!({
        "meeting_id": MEETING_ID, "reason": "I am away that week.",
    }))]
    fn decline_counter(call: &Call, input: Say) -> Result<Answer<MeetingView>, MeetingError> {
        answer::decline_counter(call, input)
    }

    /// Ask to move a meeting that is settled.
    ///
    /// All have to answer anew; by proposing the times you have said yes to each of them. The time
    /// that was agreed on stays reserved until then, and can be proposed again.
    #[action(access = write, emits = [RESCHEDULED], example = json!({
        "meeting_id": MEETING_ID,
        "slots": [{ "start": "2026-12-03T18:00:00Z", "end": "2026-12-03T18:30:00Z" }],
    }))]
    fn reschedule(call: &Call, input: Reschedule) -> Result<Answer<MeetingView>, MeetingError> {
        ask::reschedule(call, &input)
    }

    /// Cancel a meeting.
    ///
    /// Always possible until it is over. Less than two hours before it begins, or later, it is marked
    /// as `late`.
    #[action(access = write, destructive, emits = [CANCELLED], example = json!({
        "meeting_id": MEETING_ID, "reason": "I am away that week.",
    }))]
    fn cancel(call: &Call, input: Say) -> Result<Answer<MeetingView>, MeetingError> {
        over::cancel(call, input)
    }

    /// Report what became of a meeting.
    ///
    /// From when it begins until a month after. If anybody reports that somebody was not there, it is
    /// a `no_show`; who has reported what is not told. Report again to correct it.
    #[action(access = write, idempotent, emits = [COMPLETED], example = json!({
        "meeting_id": MEETING_ID, "outcome": "completed",
    }))]
    fn report_outcome(call: &Call, input: Report) -> Result<Answer<MeetingView>, MeetingError> {
        over::report(call, &input)
    }

    /// Get a meeting.
    #[action(access = read, idempotent, example = json!({ "meeting_id": MEETING_ID }))]
    fn get(call: &Call, input: MeetingId) -> Result<Answer<MeetingView>, MeetingError> {
        meetings::shown(call, &meetings::own(call, &input.meeting_id)?)
    }

    /// List the person's meetings, the last changed first.
    ///
    /// A page may hold fewer than `limit`, and there may be more all the same: `next_cursor` says
    /// so. For an agent that nobody has claimed, the list is empty.
    #[action(access = read, idempotent, example = List::default())]
    fn list(call: &Call, input: List) -> Result<Answer<Items<MeetingView>>, MeetingError> {
        Items::own(call, |me| meetings::list(call, me, input))
    }

    /// Get a meeting as a file for other calendars.
    ///
    /// iCalendar (RFC 5545), with a `METHOD` after the state: `REQUEST` while it is proposed or
    /// settled, `COUNTER` while other times are asked for, `CANCEL` when it does not take place. Of
    /// several times, the first is the event's, and the others stand in `X-PORTOLAN-SLOT`. A time
    /// that the clock shows twice is written in UTC.
    #[action(access = read, idempotent, example = json!({ "meeting_id": MEETING_ID }))]
    fn ics(call: &Call, input: MeetingId) -> Result<File, MeetingError> {
        ics::file(call, &meetings::own(call, &input.meeting_id)?)
    }

    /// End a meeting on which nobody has agreed in time.
    #[action(access = internal, idempotent, emits = [EXPIRED])]
    fn expire(call: &Call, input: MeetingId) -> Result<(), MeetingError> {
        clock::expire(call, &input.meeting_id)
    }

    /// Complete a meeting whose time is over.
    #[action(access = internal, idempotent, emits = [COMPLETED])]
    fn finish(call: &Call, input: MeetingId) -> Result<(), MeetingError> {
        clock::finish(call, &input.meeting_id)
    }

    /// Remind people of a meeting.
    #[action(access = internal, emits = [REMINDER])]
    fn remind(call: &Call, input: Due) -> Result<(), MeetingError> {
        clock::remind(call, &input)
    }

    /// Cancel the meetings of two people who have parted, without a word to either.
    #[action(access = internal, idempotent, on = "relationship.blocked", emits = [CANCELLED])]
    fn on_blocked(call: &Call, event: Happened<Blocked>) -> Result<(), MeetingError> {
        let Blocked { blocker_id, blocked_id } = event.data;
        // The event may be late, and the two together again.
        if relations::are_blocked(&blocker_id, &blocked_id)? {
            over::part(call, &Apart { owner_ids: vec![blocker_id, blocked_id] })?;
        }
        Ok(())
    }

    /// Cancel the meetings of somebody who is withdrawn from view.
    #[action(access = internal, idempotent, on = "owner.deactivated", emits = [CANCELLED])]
    fn on_owner_deactivated(call: &Call, event: Happened<Left>) -> Result<(), MeetingError> {
        let owner_id = event.subject.trim_start_matches("owners/").to_owned();
        // The event may be late, and the person back.
        if people::person(&owner_id)?.is_none_or(|person| !person.active) {
            over::part(call, &Apart { owner_ids: vec![owner_id] })?;
        }
        Ok(())
    }

    /// Go on cancelling meetings.
    #[action(access = internal, idempotent, emits = [CANCELLED])]
    fn part(call: &Call, input: Apart) -> Result<(), MeetingError> {
        over::part(call, &input)
    }
}

const MEETING_ID: &str = "mtg_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const SLOT_ID: &str = "slot_01JZX8Q4M2N6P7R8S9T0V1W2X3";
