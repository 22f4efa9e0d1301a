//! The refusals, each with the next step that helps.

use crate::{types::*, views::*};
use people_kit::calendar::Slot;
use people_kit::text::{Fault, TextError, Violations};
use portolan_sdk::{prelude::*, states::StateConflict};

#[derive(Serialize)]
pub(crate) struct Schedule {
    kind: &'static str,
    busy: Vec<Slot>,
    free_alternatives: Vec<Slot>,
}

#[derive(Serialize)]
pub(crate) struct Stale {
    kind: &'static str,
    expected: u64,
    current_version: u64,
    current: Box<MeetingView>,
}

pub(crate) type Result<T, E = MeetingError> = std::result::Result<T, E>;

#[derive(Debug, Refusals)]
pub(crate) enum MeetingError {
    /// There is no such meeting, or you take no part in it.
    #[refusal(not_found, next = list())]
    MeetingNotFound,
    /// There is no such slot to accept.
    #[refusal(not_found, next = get(&meeting_id))]
    SlotNotFound { meeting_id: String },
    /// There is no such conversation, or you take no part in it.
    #[refusal(not_found, next = Next::action("conversations", "list"))]
    ThreadNotFound,
    /// This conversation is closed: nobody can propose a meeting in it any more.
    #[refusal(conflict, next = conversation(&thread_id))]
    ThreadClosed { thread_id: String },
    /// Not everybody in this conversation accepts messages from you now.
    #[refusal(conflict, next = Next::action("conversations", "list"))]
    RecipientNotAccepting,
    /// A slot has already begun. Choose a later one.
    #[refusal(invalid, conflict_detail = Violations::new(errors), next = list())]
    SlotInPast { errors: Vec<Fault> },
    /// There is no such time zone: use an IANA name, such as America/Los_Angeles.
    #[refusal(
        invalid,
        conflict_detail = Violations::new(errors),
        next = Next::action("calendar", "get_availability")
    )]
    TimeZoneUnknown { errors: Vec<Fault> },
    /// Something else is in your own calendar at some of these times.
    #[refusal(
        conflict,
        retryable,
        conflict_detail = Schedule { kind: "schedule", busy: busy.clone(), free_alternatives },
        next = own_calendar(&busy)
    )]
    CalendarConflict { busy: Vec<Slot>, free_alternatives: Vec<Slot> },
    /// Not everybody is free at this time any more. Choose another slot, or propose other times.
    #[refusal(
        conflict,
        retryable,
        conflict_detail = Schedule { kind: "schedule", busy, free_alternatives },
        next = get(&meeting_id)
    )]
    SlotTaken { meeting_id: String, busy: Vec<Slot>, free_alternatives: Vec<Slot> },
    /// The meeting has been moved since it was read: read its times again.
    #[refusal(
        conflict,
        retryable,
        conflict_detail = Stale {
            kind: "version",
            expected,
            current_version: current.sequence,
            current
        },
        next = get(&meeting_id)
    )]
    SequenceStale { meeting_id: String, expected: u64, current: Box<MeetingView> },
    /// The limit of counters is reached: accept, decline or cancel.
    #[refusal(
        conflict,
        conflict_detail = Limit::reached("counters_of_a_meeting", MOST_ROUNDS.into()),
        next = get(&meeting_id)
    )]
    CounterLimit { meeting_id: String },
    /// This conversation has as many open meetings as allowed.
    #[refusal(
        conflict,
        conflict_detail = Limit::reached("open_meetings_of_a_conversation", MOST_OPEN as u64),
        next = list_of(&thread_id)
    )]
    MeetingLimitReached { thread_id: String },
    #[refusal(transparent)]
    Text(TextError),
    #[refusal(transparent)]
    Common(Refusal),
}

/// Returns the faults of an input with one faulty field.
pub(crate) fn faulty(
    pointer: impl Into<String>,
    rule: &'static str,
    expected: &'static str,
) -> Vec<Fault> {
    vec![Fault { pointer: pointer.into(), rule, expected }]
}

/// Makes the refusal of an action that only the others may take, or that is too early or too late.
pub(crate) fn not_now(code: ErrorCode, message: &str, meeting: &MeetingView) -> MeetingError {
    let conflict = StateConflict::new(meeting.state.name(), meeting.allowed_actions.clone());
    let refusal = Refusal::common(code, message).conflict(&conflict);
    MeetingError::Common(refusal.next(get(&meeting.meeting_id)))
}

pub(crate) fn list() -> Next {
    Next::action(CAPABILITY, "list")
}

fn list_of(thread_id: &str) -> Next {
    list().field("thread_id", thread_id)
}

pub(crate) fn get(meeting_id: &str) -> Next {
    Next::action(CAPABILITY, "get").field("meeting_id", meeting_id)
}

pub(crate) fn ics(meeting_id: &str) -> Next {
    Next::action(CAPABILITY, "ics").field("meeting_id", meeting_id)
}

fn conversation(thread_id: &str) -> Next {
    Next::action("conversations", "get").field("thread_id", thread_id)
}

/// Returns the call that shows the caller's calendar at the first of these times.
fn own_calendar(busy: &[Slot]) -> Next {
    let next = Next::action("calendar", "get_freebusy");
    match busy.first() {
        Some(Slot { start, end }) => next.field("start", start.as_str()).field("end", end.as_str()),
        None => Next::action("calendar", "list_events"),
    }
}

/// Makes the refusal for a person who does not act in the name of an organisation.
pub(crate) fn not_acting() -> MeetingError {
    let message = "You do not act in the name of this organisation.";
    let mine = Next::action("social_org", "list_mine");
    MeetingError::Common(Refusal::common(ErrorCode::NotPermitted, message).next(mine))
}
