//! Limits, what agents send, and what others are told.

use crate::{kept::*, life::*, views::*};
use people_kit::{
    calendar::Slot,
    patterns::{OWNER_ID, THREAD_ID},
};
use portolan_sdk::prelude::*;

pub(crate) const CAPABILITY: &str = "thread_meetings";

/// Meetings of one conversation that are proposed, countered or confirmed.
pub(crate) const MOST_OPEN: usize = 5;
/// Counters of one meeting, by whomever.
pub(crate) const MOST_ROUNDS: u32 = 3;
/// How far ahead a slot may begin.
pub(crate) const HORIZON: u64 = 400 * DAY;
/// Who cancels within this time before it begins, or later, is late.
pub(crate) const LATE: u64 = 2 * HOUR;
/// Before a meeting begins, people are reminded so many hours earlier.
pub(crate) const REMINDERS: [u64; 2] = [24, 1];
/// How long after its end a meeting's outcome can be reported.
pub(crate) const REPORT_FOR: u64 = 30 * DAY;
/// Times that are offered when one is taken.
pub(crate) const ALTERNATIVES: u32 = 3;
/// How far from the first slot they are looked for.
pub(crate) const ALTERNATIVES_WITHIN: u64 = 14 * DAY;

/// `mtg_` and a ULID.
#[id(pattern = "^mtg_[0-9A-Za-z]{1,36}$")]
pub(crate) struct Id(String);

/// `slot_` and a ULID.
#[id(pattern = "^slot_[0-9A-Za-z]{1,36}$")]
pub(crate) struct SlotId(String);

/// `thr_` and a ULID.
#[id(pattern = THREAD_ID)]
pub(crate) struct ThreadId(String);

/// An event of a meeting.
pub(crate) type MeetingEvent = Event<Data<Facts>>;

pub(crate) const PROPOSED: MeetingEvent = Event::new("meeting.proposed");
pub(crate) const COUNTERED: MeetingEvent = Event::new("meeting.countered");
pub(crate) const RESCHEDULED: MeetingEvent = Event::new("meeting.rescheduled");
pub(crate) const CONFIRMED: MeetingEvent = Event::new("meeting.confirmed");
pub(crate) const REMINDER: MeetingEvent = Event::new("meeting.reminder");
pub(crate) const DECLINED: MeetingEvent = Event::new("meeting.declined");
pub(crate) const CANCELLED: MeetingEvent = Event::new("meeting.cancelled");
pub(crate) const EXPIRED: MeetingEvent = Event::new("meeting.expired");
pub(crate) const COMPLETED: MeetingEvent = Event::new("meeting.completed");

/// What the events of a meeting say, each of them a part.
#[output(Default)]
pub(crate) struct Facts {
    pub(crate) meeting_id: String,
    pub(crate) thread_id: String,
    pub(crate) sequence: u64,
    /// Times to answer.
    pub(crate) slots: Option<Vec<SlotView>>,
    /// A time that all agree on.
    pub(crate) start: Option<String>,
    pub(crate) end: Option<String>,
    pub(crate) time_zone: Option<String>,
    /// RFC 3339.
    pub(crate) respond_by: Option<String>,
    pub(crate) location: Option<Location>,
    /// Of a reminder: how many hours it is until then, at most.
    pub(crate) hours: Option<u64>,
    /// `meeting`, or `counter`: then the slots before it stand again.
    pub(crate) declined: Option<&'static str>,
    pub(crate) reason: Option<Reason>,
    /// Of a cancelled one.
    pub(crate) late: Option<bool>,
    /// The meeting's title, the note of a counter, or the person's own words.
    pub(crate) text: Option<String>,
    pub(crate) trust: Option<&'static str>,
}

#[input]
pub(crate) struct Propose {
    /// The conversation whose participants meet, `thr_` and a ULID.
    pub(crate) thread_id: ThreadId,
    /// What it is about; all participants read it.
    #[schemars(length(min = 1, max = 120))]
    pub(crate) title: String,
    /// How long each slot is, in minutes.
    #[schemars(range(min = 5, max = 1440))]
    pub(crate) duration_min: u32,
    /// Times that would suit the person, any of which the others can accept.
    #[schemars(length(min = 1, max = 5))]
    pub(crate) slots: Vec<Slot>,
    /// The IANA name of the zone to show the times in, such as `America/Los_Angeles`.
    #[schemars(length(min = 1, max = 64))]
    pub(crate) time_zone: String,
    /// Where or how.
    pub(crate) location: Option<Location>,
    /// RFC 3339: who has not answered by then is not waited for. Without it, until the last slot
    /// begins.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub(crate) respond_by: Option<String>,
}

#[input]
pub(crate) struct Accept {
    pub(crate) meeting_id: Id,
    /// One of the meeting's `slots` that are `offered`.
    pub(crate) slot_id: SlotId,
    /// The meeting's `sequence` that was read: what was moved since is not accepted unseen.
    pub(crate) sequence: u64,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct AcceptCounter {
    pub(crate) meeting_id: Id,
    /// One of the slots of the meeting's `counter`.
    pub(crate) slot_id: SlotId,
    pub(crate) expected_version: Option<Version>,
}

/// An answer, or an end, with the person's own words for it.
#[input]
pub(crate) struct Say {
    pub(crate) meeting_id: Id,
    /// Why, in the person's own words; the others read it.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) reason: Option<String>,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct CounterInput {
    pub(crate) meeting_id: Id,
    /// Times that would suit the person instead, each as long as the meeting's.
    #[schemars(length(min = 1, max = 5))]
    pub(crate) slots: Vec<Slot>,
    /// The person's own words; the others read it.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) note: Option<String>,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Reschedule {
    pub(crate) meeting_id: Id,
    /// The new times, each as long as the meeting's.
    #[schemars(length(min = 1, max = 5))]
    pub(crate) slots: Vec<Slot>,
    /// RFC 3339, as in `propose`.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub(crate) respond_by: Option<String>,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Report {
    pub(crate) meeting_id: Id,
    /// What became of it, as the person says; the others read only whether it took place.
    pub(crate) outcome: Outcome,
    pub(crate) expected_version: Option<Version>,
}

#[input(Clone)]
pub(crate) struct MeetingId {
    pub(crate) meeting_id: Id,
}

impl MeetingId {
    pub(crate) fn of(meeting_id: &str) -> Self {
        Self { meeting_id: meeting_id.into() }
    }
}

#[input(Default)]
pub(crate) struct List {
    /// Meetings of this conversation; without it, of all.
    pub(crate) thread_id: Option<ThreadId>,
    /// Meetings in one of these states; without it, all.
    #[schemars(length(min = 1, max = 8))]
    pub(crate) state: Option<Vec<State>>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

/// A reminder that is due.
#[input]
pub(crate) struct Due {
    pub(crate) meeting_id: Id,
    pub(crate) hours: u64,
}

/// Who cannot meet any more: two people each other, or one person anybody.
#[input(Clone)]
pub(crate) struct Apart {
    #[schemars(length(min = 1, max = 2), inner(regex(pattern = OWNER_ID)))]
    pub(crate) owner_ids: Vec<String>,
}

/// What is read of `relationship.blocked`.
#[input]
pub(crate) struct Blocked {
    pub(crate) blocker_id: String,
    pub(crate) blocked_id: String,
}

/// What is read of `owner.deactivated`: nothing, its subject is the person.
#[input]
pub(crate) struct Left {}
