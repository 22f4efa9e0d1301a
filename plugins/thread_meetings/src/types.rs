//! Limits, inputs and events.

use crate::{documents::*, states::*, views::*};
use people_kit::calendar::Slot;
use people_kit::patterns::{OWNER_ID, THREAD_ID};
use portolan_sdk::prelude::*;

pub(crate) const CAPABILITY: &str = "thread_meetings";

/// The maximum number of meetings of one conversation that are proposed, countered or confirmed.
pub(crate) const MOST_OPEN: usize = 5;
/// The maximum number of counters of one meeting, by all its participants.
pub(crate) const MOST_ROUNDS: u32 = 3;
/// The longest time until a slot begins.
pub(crate) const HORIZON: u64 = 400 * DAY;
/// A cancellation is late within this time before the meeting begins, or later.
pub(crate) const LATE: u64 = 2 * HOUR;
/// The hours before the beginning of a meeting at which people are reminded.
pub(crate) const REMINDERS: [u64; 2] = [24, 1];
/// The time after its end in which a meeting's outcome can be reported.
pub(crate) const REPORT_FOR: u64 = 30 * DAY;
/// The maximum number of alternative slots that are offered when a slot is taken.
pub(crate) const ALTERNATIVES: u32 = 3;
/// The length of the time in which alternative slots are looked for.
pub(crate) const ALTERNATIVES_WITHIN: u64 = 14 * DAY;

/// The meeting's id: `mtg_` and a ULID.
#[id(pattern = "^mtg_[0-9A-Za-z]{1,36}$")]
pub(crate) struct Id(String);

/// The slot's id: `slot_` and a ULID.
#[id(pattern = "^slot_[0-9A-Za-z]{1,36}$")]
pub(crate) struct SlotId(String);

/// The conversation's id: `thr_` and a ULID.
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
/// Another member of an organisation attends.
pub(crate) const PARTICIPANT_CHANGED: MeetingEvent = Event::new("meeting.participant_changed");
pub(crate) const CANCELLED: MeetingEvent = Event::new("meeting.cancelled");
pub(crate) const EXPIRED: MeetingEvent = Event::new("meeting.expired");
pub(crate) const COMPLETED: MeetingEvent = Event::new("meeting.completed");

/// The data of the events of a meeting. Each event has some of it, and none has a text that a person
/// wrote.
#[output(Default)]
pub(crate) struct Facts {
    pub(crate) meeting_id: String,
    pub(crate) thread_id: String,
    pub(crate) sequence: u64,
    /// The offered times.
    pub(crate) slots: Option<Vec<SlotView>>,
    /// The start of the time that all have agreed on.
    pub(crate) start: Option<String>,
    pub(crate) end: Option<String>,
    pub(crate) time_zone: Option<String>,
    /// When the meeting expires without an answer (RFC 3339).
    pub(crate) respond_by: Option<String>,
    /// For a reminder: the maximum number of hours until the meeting begins.
    pub(crate) hours: Option<u64>,
    /// The declined part: `meeting`, or `counter`, after which the earlier slots are offered again.
    pub(crate) declined: Option<&'static str>,
    pub(crate) reason: Option<Reason>,
    /// Whether a cancellation was late.
    pub(crate) late: Option<bool>,
    /// The member who attends for an organisation now, only in `meeting.participant_changed`.
    pub(crate) attends: Option<String>,
}

#[input]
pub(crate) struct Propose {
    /// The conversation whose participants meet: `thr_` and a ULID.
    pub(crate) thread_id: ThreadId,
    /// The title, which all participants read.
    #[schemars(length(min = 1, max = 120))]
    pub(crate) title: String,
    /// The length of each slot in minutes.
    #[schemars(range(min = 5, max = 1440))]
    pub(crate) duration_min: u32,
    /// Times that suit the person. The others can accept any of them.
    #[schemars(length(min = 1, max = 5))]
    pub(crate) slots: Vec<Slot>,
    /// The time zone in which to show the times: an IANA name, such as `America/Los_Angeles`.
    #[schemars(length(min = 1, max = 64))]
    pub(crate) time_zone: String,
    /// The location.
    pub(crate) location: Option<Location>,
    /// When the meeting expires without agreement (RFC 3339); by default when the last slot begins.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub(crate) respond_by: Option<String>,
}

#[input]
pub(crate) struct Accept {
    pub(crate) meeting_id: Id,
    /// One of the meeting's `slots` that are `offered`.
    pub(crate) slot_id: SlotId,
    /// The meeting's `sequence` that was read, so that nobody accepts a time that was changed
    /// since.
    pub(crate) sequence: u64,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct AcceptCounter {
    pub(crate) meeting_id: Id,
    /// A slot of the counter-proposal (`counter`).
    pub(crate) slot_id: SlotId,
    pub(crate) expected_version: Option<Version>,
}

/// An answer or a cancellation, with a reason in the person's own words.
#[input]
pub(crate) struct AnswerInput {
    pub(crate) meeting_id: Id,
    /// The reason in the person's own words; the others read it.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) reason: Option<String>,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct CounterInput {
    pub(crate) meeting_id: Id,
    /// Times that suit the person better, each as long as the meeting.
    #[schemars(length(min = 1, max = 5))]
    pub(crate) slots: Vec<Slot>,
    /// A note in the person's own words; the others read it.
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
    /// When the meeting expires without agreement (RFC 3339), as in `propose`.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub(crate) respond_by: Option<String>,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Report {
    pub(crate) meeting_id: Id,
    /// The outcome, as the person reports it; the others see only whether the meeting took place.
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
    /// The conversation whose meetings to return. Omit this field to get the meetings of all your
    /// conversations.
    pub(crate) thread_id: Option<ThreadId>,
    /// The states of the meetings to return. Omit this field to get meetings in all states.
    #[schemars(length(min = 1, max = 8))]
    pub(crate) state: Option<Vec<State>>,
    /// The organisation whose meetings to return. Omit this field to get the person's own and those of
    /// all organisations in whose name the person acts.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) as_org: Option<String>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

/// A reminder that is due.
#[input]
pub(crate) struct Due {
    pub(crate) meeting_id: Id,
    pub(crate) hours: u64,
}

/// The people who can no longer meet: two people who cannot meet each other, or one person who
/// cannot meet anybody.
#[input(Clone)]
pub(crate) struct CannotMeet {
    #[schemars(length(min = 1, max = 2), inner(regex(pattern = OWNER_ID)))]
    pub(crate) owner_ids: Vec<String>,
}

/// The part of `relationship.blocked` that is read.
#[input]
pub(crate) struct Blocked {
    pub(crate) blocker_id: String,
    pub(crate) blocked_id: String,
}

/// The part of `org.member_changed` that is read.
#[input(Clone)]
pub(crate) struct MemberChanged {
    pub(crate) org_id: String,
    pub(crate) owner_id: String,
}

/// The part of `org.archived` that is read.
#[input]
pub(crate) struct OrgArchived {
    pub(crate) org_id: String,
}

/// The part of `owner.deactivated` that is read: nothing, because its subject is the person.
#[input]
pub(crate) struct Left {}

/// The part of `application.person_gone` and `pairing.cancelled` that is read.
#[input]
pub(crate) struct Ended {
    pub(crate) thread_id: Option<String>,
}
