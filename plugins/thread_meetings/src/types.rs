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

const MEETING_ID: &str = "^mtg_[0-9A-Za-z]{1,36}$";
const SLOT_ID: &str = "^slot_[0-9A-Za-z]{1,36}$";
const EXAMPLE_MEETING: &str = "mtg_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const EXAMPLE_SLOT: &str = "slot_01JZX8Q4M2N6P7R8S9T0V1W2X3";

pub(crate) const PROPOSED: Event<Data<Asked>> = Event::new("meeting.proposed");
pub(crate) const COUNTERED: Event<Data<Asked>> = Event::new("meeting.countered");
pub(crate) const RESCHEDULED: Event<Data<Asked>> = Event::new("meeting.rescheduled");
pub(crate) const CONFIRMED: Event<Data<Agreed>> = Event::new("meeting.confirmed");
pub(crate) const REMINDER: Event<Data<Agreed>> = Event::new("meeting.reminder");
pub(crate) const DECLINED: Event<Data<Refused>> = Event::new("meeting.declined");
pub(crate) const CANCELLED: Event<Data<Over>> = Event::new("meeting.cancelled");
pub(crate) const EXPIRED: Event<Data<Over>> = Event::new("meeting.expired");
pub(crate) const COMPLETED: Event<Data<Over>> = Event::new("meeting.completed");

/// Times to answer.
#[derive(Serialize)]
pub(crate) struct Asked {
    pub(crate) meeting_id: String,
    pub(crate) thread_id: String,
    pub(crate) sequence: u64,
    pub(crate) slots: Vec<SlotView>,
    pub(crate) time_zone: String,
    /// RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) respond_by: Option<String>,
    /// The meeting's title, or the note of a counter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    pub(crate) trust: &'static str,
}

/// A time that all agree on.
#[derive(Serialize)]
pub(crate) struct Agreed {
    pub(crate) meeting_id: String,
    pub(crate) thread_id: String,
    pub(crate) sequence: u64,
    pub(crate) start: String,
    pub(crate) end: String,
    pub(crate) time_zone: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) location: Option<PlaceView>,
    /// The meeting's title.
    pub(crate) text: String,
    pub(crate) trust: &'static str,
    /// Of a reminder: how many hours it is until then, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hours: Option<u64>,
}

/// Somebody does not want it.
#[derive(Serialize)]
pub(crate) struct Refused {
    pub(crate) meeting_id: String,
    pub(crate) thread_id: String,
    pub(crate) sequence: u64,
    /// `meeting`, or `counter`: then the slots before it stand again.
    pub(crate) declined: &'static str,
    /// The person's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trust: Option<&'static str>,
}

/// It is over.
#[derive(Serialize)]
pub(crate) struct Over {
    pub(crate) meeting_id: String,
    pub(crate) thread_id: String,
    pub(crate) sequence: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<Reason>,
    /// Of a cancelled one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) late: Option<bool>,
    /// The person's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trust: Option<&'static str>,
}

#[input]
pub(crate) struct Propose {
    /// The conversation whose participants meet, `thr_` and a ULID.
    #[schemars(regex(pattern = THREAD_ID))]
    pub(crate) thread_id: String,
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

fn example_slot(start: &str, end: &str) -> Slot {
    Slot { start: start.into(), end: end.into() }
}

impl Propose {
    pub(crate) fn example() -> Self {
        Self {
            thread_id: "thr_01JZX8Q4M2N6P7R8S9T0V1W2X3".into(),
            title: "A first look at the room".into(),
            duration_min: 30,
            slots: vec![
                example_slot("2026-12-01T18:00:00Z", "2026-12-01T18:30:00Z"),
                example_slot("2026-12-02T17:00:00Z", "2026-12-02T17:30:00Z"),
            ],
            time_zone: "America/Los_Angeles".into(),
            location: None,
            respond_by: Some("2026-11-30T20:00:00Z".into()),
        }
    }
}

#[input]
pub(crate) struct Accept {
    /// `mtg_` and a ULID.
    #[schemars(regex(pattern = MEETING_ID))]
    pub(crate) meeting_id: String,
    /// One of the meeting's `slots` that are `offered`.
    #[schemars(regex(pattern = SLOT_ID))]
    pub(crate) slot_id: String,
    /// The meeting's `sequence` that was read: what was moved since is not accepted unseen.
    pub(crate) sequence: u64,
    pub(crate) expected_version: Option<Version>,
}

impl Accept {
    pub(crate) fn example() -> Self {
        Self {
            meeting_id: EXAMPLE_MEETING.into(),
            slot_id: EXAMPLE_SLOT.into(),
            sequence: 0,
            expected_version: None,
        }
    }
}

#[input]
pub(crate) struct AcceptCounter {
    /// `mtg_` and a ULID.
    #[schemars(regex(pattern = MEETING_ID))]
    pub(crate) meeting_id: String,
    /// One of the slots of the meeting's `counter`.
    #[schemars(regex(pattern = SLOT_ID))]
    pub(crate) slot_id: String,
    pub(crate) expected_version: Option<Version>,
}

impl AcceptCounter {
    pub(crate) fn example() -> Self {
        let Accept { meeting_id, slot_id, .. } = Accept::example();
        Self { meeting_id, slot_id, expected_version: None }
    }
}

/// An answer, or an end, with the person's own words for it.
#[input]
pub(crate) struct Say {
    /// `mtg_` and a ULID.
    #[schemars(regex(pattern = MEETING_ID))]
    pub(crate) meeting_id: String,
    /// Why, in the person's own words; the others read it.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) reason: Option<String>,
    pub(crate) expected_version: Option<Version>,
}

impl Say {
    pub(crate) fn example() -> Self {
        let reason = Some("I am away that week.".into());
        Self { meeting_id: EXAMPLE_MEETING.into(), reason, expected_version: None }
    }
}

#[input]
pub(crate) struct CounterInput {
    /// `mtg_` and a ULID.
    #[schemars(regex(pattern = MEETING_ID))]
    pub(crate) meeting_id: String,
    /// Times that would suit the person instead, each as long as the meeting's.
    #[schemars(length(min = 1, max = 5))]
    pub(crate) slots: Vec<Slot>,
    /// The person's own words; the others read it.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) note: Option<String>,
    pub(crate) expected_version: Option<Version>,
}

impl CounterInput {
    pub(crate) fn example() -> Self {
        Self {
            meeting_id: EXAMPLE_MEETING.into(),
            slots: vec![example_slot("2026-12-03T18:00:00Z", "2026-12-03T18:30:00Z")],
            note: Some("Thursday suits me better.".into()),
            expected_version: None,
        }
    }
}

#[input]
pub(crate) struct Reschedule {
    /// `mtg_` and a ULID.
    #[schemars(regex(pattern = MEETING_ID))]
    pub(crate) meeting_id: String,
    /// The new times, each as long as the meeting's.
    #[schemars(length(min = 1, max = 5))]
    pub(crate) slots: Vec<Slot>,
    /// RFC 3339, as in `propose`.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub(crate) respond_by: Option<String>,
    pub(crate) expected_version: Option<Version>,
}

impl Reschedule {
    pub(crate) fn example() -> Self {
        let CounterInput { meeting_id, slots, .. } = CounterInput::example();
        Self { meeting_id, slots, respond_by: None, expected_version: None }
    }
}

#[input]
pub(crate) struct Report {
    /// `mtg_` and a ULID.
    #[schemars(regex(pattern = MEETING_ID))]
    pub(crate) meeting_id: String,
    /// What became of it, as the person says; the others read only whether it took place.
    pub(crate) outcome: Outcome,
    pub(crate) expected_version: Option<Version>,
}

impl Report {
    pub(crate) fn example() -> Self {
        let outcome = Outcome::Completed;
        Self { meeting_id: EXAMPLE_MEETING.into(), outcome, expected_version: None }
    }
}

#[input(Clone)]
pub(crate) struct MeetingId {
    /// `mtg_` and a ULID.
    #[schemars(regex(pattern = MEETING_ID))]
    pub(crate) meeting_id: String,
}

impl MeetingId {
    pub(crate) fn of(meeting_id: &str) -> Self {
        Self { meeting_id: meeting_id.to_owned() }
    }

    pub(crate) fn example() -> Self {
        Self::of(EXAMPLE_MEETING)
    }
}

#[input(Default)]
pub(crate) struct List {
    /// Meetings of this conversation; without it, of all.
    #[schemars(regex(pattern = THREAD_ID))]
    pub(crate) thread_id: Option<String>,
    /// Meetings in one of these states; without it, all.
    #[schemars(length(min = 1, max = 8))]
    pub(crate) state: Option<Vec<State>>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

/// A reminder that is due.
#[input]
pub(crate) struct Due {
    #[schemars(regex(pattern = MEETING_ID))]
    pub(crate) meeting_id: String,
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
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Left {}
