//! Inputs and events.

use crate::{documents::*, limits::*, states::*};
use people_kit::patterns::OWNER_ID;
use portolan_sdk::prelude::*;

pub(crate) const CAPABILITY: &str = "availability_finder";

// The ids and the time in examples.
pub(crate) const PERSON: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";
pub(crate) const GROUP_ID: &str = "grp_01JZX8Q4M2N6P7R8S9T0V1W2X3";
pub(crate) const POLL_ID: &str = "poll_01JZX8Q4M2N6P7R8S9T0V1W2X3";
pub(crate) const LINK_ID: &str = "lnk_01JZX8Q4M2N6P7R8S9T0V1W2X3";
pub(crate) const BOOKING_ID: &str = "bkg_01JZX8Q4M2N6P7R8S9T0V1W2X3";
pub(crate) const START: &str = "2026-12-02T17:00:00Z";

/// The group's id: `grp_` and a ULID.
#[id(pattern = "^grp_[0-9A-Za-z]{1,36}$")]
pub(crate) struct GroupId(String);

/// The hold's id: `hold_` and a ULID.
#[id(pattern = "^hold_[0-9A-Za-z]{1,36}$")]
pub(crate) struct HoldId(String);

/// The poll's id: `poll_` and a ULID.
#[id(pattern = "^poll_[0-9A-Za-z]{1,36}$")]
pub(crate) struct PollId(String);

/// The id of the booking link: `lnk_` and a ULID.
#[id(pattern = "^lnk_[0-9A-Za-z]{1,36}$")]
pub(crate) struct LinkId(String);

/// The booking's id: `bkg_` and a ULID.
#[id(pattern = "^bkg_[0-9A-Za-z]{1,36}$")]
pub(crate) struct BookingId(String);

/// An event of this capability.
pub(crate) type FinderEvent = Event<Data<Facts>>;

pub(crate) const INVITED: FinderEvent = Event::new("availability.invited");
pub(crate) const ANSWERED: FinderEvent = Event::new("availability.answered");
pub(crate) const POLL_OPENED: FinderEvent = Event::new("availability.poll_opened");
pub(crate) const POLL_CLOSED: FinderEvent = Event::new("availability.poll_closed");
pub(crate) const BOOKED: FinderEvent = Event::new("availability.booked");
pub(crate) const CANCELLED: FinderEvent = Event::new("availability.cancelled");

/// The facts of the events; each event has some of them.
#[output(Default)]
pub(crate) struct Facts {
    pub(crate) group_id: Option<String>,
    pub(crate) poll_id: Option<String>,
    pub(crate) booking_id: Option<String>,
    /// A person's answer to an invitation.
    pub(crate) answer: Option<Membership>,
    /// The start of the time that is chosen or booked (RFC 3339).
    pub(crate) start: Option<String>,
    pub(crate) end: Option<String>,
    /// When the poll closes (RFC 3339).
    pub(crate) closes_at: Option<String>,
}

#[input]
pub(crate) struct Invite {
    /// The people to ask, without the person themselves.
    #[schemars(length(min = 1, max = MOST_INVITED), inner(regex(pattern = OWNER_ID)))]
    pub(crate) owner_ids: Vec<String>,
    /// The times' purpose; all who are invited read it.
    pub(crate) title: Text<1, 120>,
    /// Whether those who accept also agree to be booked at times that suit them, by you and by your booking
    /// links for this group.
    #[serde(default)]
    pub(crate) may_book: bool,
}

#[input]
pub(crate) struct GroupStep {
    pub(crate) group_id: GroupId,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct GroupInput {
    pub(crate) group_id: GroupId,
}

#[input(Default)]
pub(crate) struct List {
    /// The state of the results. Omit this field for both.
    pub(crate) state: Option<State>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct Find {
    pub(crate) group_id: GroupId,
    /// The length in minutes, a multiple of 15.
    #[schemars(range(min = 15, max = LONGEST_MIN), extend("multipleOf" = 15))]
    pub(crate) duration_min: u32,
    /// The earliest start (RFC 3339); by default now. It counts from the next full quarter of an hour.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub(crate) from: Option<String>,
    /// The latest end (RFC 3339), at most 14 days after `from`; by default a week after it.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub(crate) to: Option<String>,
    /// The minutes before a time in which all have to be free too, a multiple of 15.
    #[serde(default)]
    #[schemars(range(max = LONGEST_BUFFER_MIN), extend("multipleOf" = 15))]
    pub(crate) buffer_before_min: u32,
    /// The same after it.
    #[serde(default)]
    #[schemars(range(max = LONGEST_BUFFER_MIN), extend("multipleOf" = 15))]
    pub(crate) buffer_after_min: u32,
    /// The minimum notice in minutes.
    #[serde(default)]
    #[schemars(range(max = LONGEST_NOTICE_MIN))]
    pub(crate) min_notice_min: u32,
    /// How many of the others may be missing; more than 0 only if four people have agreed. The organizer is
    /// free at each time.
    #[serde(default)]
    #[schemars(range(max = MOST_MISSING))]
    pub(crate) allow_missing: u32,
    /// The maximum number of times.
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = MOST_TIMES))]
    pub(crate) limit: u32,
}

fn five() -> u32 {
    5
}

#[input]
pub(crate) struct HoldTime {
    pub(crate) group_id: GroupId,
    /// The start (RFC 3339), a multiple of 15 minutes.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub(crate) start: String,
    /// The length in minutes, a multiple of 15.
    #[schemars(range(min = 15, max = LONGEST_MIN), extend("multipleOf" = 15))]
    pub(crate) duration_min: u32,
    /// The minutes after which the hold ends by itself.
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = 60))]
    pub(crate) hold_min: u32,
}

#[input]
pub(crate) struct HoldInput {
    pub(crate) hold_id: HoldId,
}

#[input]
pub(crate) struct OpenPoll {
    pub(crate) group_id: GroupId,
    /// The starts of the offered times (RFC 3339), each a multiple of 15 minutes.
    #[schemars(length(min = 2, max = 10), inner(length(min = 1, max = 40)))]
    pub(crate) starts: Vec<String>,
    /// The length of each in minutes, a multiple of 15.
    #[schemars(range(min = 15, max = LONGEST_MIN), extend("multipleOf" = 15))]
    pub(crate) duration_min: u32,
    /// When the poll closes (RFC 3339), at most 14 days from now; before that when all have answered.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub(crate) closes_at: String,
}

#[input]
pub(crate) struct PollInput {
    pub(crate) poll_id: PollId,
}

#[input]
pub(crate) struct PollStep {
    pub(crate) poll_id: PollId,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct CastVote {
    pub(crate) poll_id: PollId,
    /// One answer for each of the poll's `options`, in their order.
    #[schemars(length(min = 2, max = 10))]
    pub(crate) answers: Vec<Suits>,
}

#[input]
pub(crate) struct Book {
    pub(crate) group_id: GroupId,
    /// The start (RFC 3339), a multiple of 15 minutes.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub(crate) start: String,
    /// The length in minutes, a multiple of 15.
    #[schemars(range(min = 15, max = LONGEST_MIN), extend("multipleOf" = 15))]
    pub(crate) duration_min: u32,
    /// Whether all attend, or the organizer and one of the others in turn.
    #[serde(default)]
    pub(crate) mode: Mode,
    /// A hold of this group, which the booking replaces.
    pub(crate) hold_id: Option<HoldId>,
}

#[input]
pub(crate) struct BookingInput {
    pub(crate) booking_id: BookingId,
}

#[input]
pub(crate) struct BookingStep {
    pub(crate) booking_id: BookingId,
    pub(crate) expected_version: Option<Version>,
}

#[input(Default)]
pub(crate) struct ListBookings {
    /// The state of the bookings to return. Omit this field for both.
    pub(crate) state: Option<BookingState>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct CreateLink {
    /// The meetings' title; guests and their calendars show it.
    pub(crate) title: Text<1, 120>,
    /// A group of the person with `may_book`, whose people are booked. Omit it to be booked alone.
    pub(crate) group_id: Option<GroupId>,
    #[serde(flatten)]
    pub(crate) terms: Terms,
}

#[input]
pub(crate) struct LinkInput {
    pub(crate) link_id: LinkId,
}

#[input]
pub(crate) struct LinkStep {
    pub(crate) link_id: LinkId,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct LinkTimes {
    pub(crate) link_id: LinkId,
    /// The earliest start (RFC 3339); by default now.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub(crate) from: Option<String>,
    /// The latest end (RFC 3339), at most 14 days after `from`; by default a week after it.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub(crate) to: Option<String>,
    /// The maximum number of times.
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = MOST_TIMES))]
    pub(crate) limit: u32,
}

#[input]
pub(crate) struct BookLink {
    pub(crate) link_id: LinkId,
    /// The start (RFC 3339), one that `link_times` answers.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub(crate) start: String,
}

/// The people who can no longer meet: two, or one who cannot meet anybody.
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

/// The part of `owner.deactivated` that is read: nothing, because its subject is the person.
#[input]
pub(crate) struct Deactivated {}
