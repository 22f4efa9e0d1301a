//! Inputs, outputs and stored documents.

use crate::{limits::MOST_RULES, spans::*};
use people_kit::calendar::Firmness;
use portolan_sdk::documents::Person;
use portolan_sdk::documents::PersonalField::{Personal, Shared};
use portolan_sdk::prelude::*;

pub(crate) const CAPABILITY: &str = "calendar";

pub(crate) const ME: &str = "me";
const WHOSE: &str = "^(me|own_[0-9A-Za-z]{1,36})$";
/// The pattern of a date, a local time, or an instant (RFC 3339).
const DATE_OR_TIME: &str = "^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2})?)?$";
const HOUR: &str = "^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$";

/// The document that every change of a person's calendar writes, keyed by the owner's id. Of two
/// concurrent changes, one therefore conflicts, and sees the other when it runs again.
pub(crate) const CALENDARS: Collection<Calendar> =
    Collection::new("calendars").people(&[Person::delete("$id")]);
/// The availability of each person, keyed by the owner's id.
pub(crate) const AVAILABILITIES: Collection<Hours> =
    Collection::new("availabilities").people(&[Person::delete("$id")]);
/// The blocks, keyed by their ids.
pub(crate) const BLOCKS: Collection<Block> = Collection::new("blocks")
    .people(&[Person::delete("owner_id").fields(&[Personal("label"), Personal("uid")])])
    .index("owner", &["owner_id", "ends", "begins"])
    .index("source", &["owner_id", "source"]);
/// The reservations, keyed by their references.
pub(crate) const RESERVATIONS: Collection<Reservation> = Collection::new("reservations")
    .people(&[Person::remove("owner_ids[]"), Person::redact("title_by", &[Shared("title")])])
    .index("owner", &["owner_ids[]"])
    .index("time", &["ends", "begins"]);

#[document(Default)]
pub(crate) struct Calendar {
    /// The number of blocks.
    pub(crate) blocks: u32,
    /// The number of changes.
    pub(crate) changes: u64,
    /// When the person has subscribed to calendars in the last day, in milliseconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) subscribed: Vec<u64>,
}

#[choice]
pub(crate) enum Source {
    /// The block was added by `add_block`.
    Added,
    /// The block was imported by `import_ics`.
    Imported,
    /// The block is of a calendar that was subscribed to by `subscribe`.
    Subscribed,
}

/// A block. Its local times are texts such as `2026-11-23T09:00:00`.
#[document(PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) owner_id: String,
    pub(crate) source: Source,
    /// The subscription that the block is of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) subscription_id: Option<String>,
    /// The UID of the event in the imported file.
    pub(crate) uid: Option<String>,
    /// The original local time of the occurrence that the block replaces, in the zone of its event
    /// if the file contained that. For a period of busy time, its start and end.
    pub(crate) recurrence_id: Option<String>,
    pub(crate) start: String,
    pub(crate) end: String,
    pub(crate) all_day: bool,
    pub(crate) time_zone: String,
    pub(crate) rrule: Option<String>,
    /// The local start of the last occurrence, if the rule has a `COUNT`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) last: Option<String>,
    /// The local times of excluded occurrences, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) except: Vec<String>,
    /// Additional occurrences: the local times of their starts and ends, with a slash between.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) also: Vec<String>,
    #[serde(default)]
    pub(crate) tentative: bool,
    pub(crate) label: Option<String>,
    /// When the first occurrence begins, in milliseconds; all occurrences are between this and
    /// `ends`.
    pub(crate) begins: i64,
    pub(crate) ends: i64,
}

#[document]
pub(crate) struct Reservation {
    pub(crate) owner_ids: Vec<String>,
    pub(crate) kind: Firmness,
    pub(crate) title: Option<String>,
    /// The person who wrote the title.
    #[serde(default)]
    pub(crate) title_by: Option<String>,
    pub(crate) begins: i64,
    pub(crate) ends: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Day {
    Mo,
    Tu,
    We,
    Th,
    Fr,
    Sa,
    Su,
}

/// A rule for some hours on some days of each week.
#[input(Clone, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct WeeklyRule {
    /// The days: `MO` to `SU`.
    #[schemars(length(min = 1, max = 7))]
    pub(crate) days: Vec<Day>,
    /// The start as a local time, such as `09:00`.
    #[schemars(regex(pattern = HOUR))]
    pub(crate) from: String,
    /// The end as a local time of the same day, later than `from`; `24:00` is the end of the day.
    #[schemars(regex(pattern = HOUR))]
    pub(crate) to: String,
}

/// The availability: when others can book a person.
#[input(Clone, PartialEq, Eq)]
pub(crate) struct Hours {
    /// The hours of each week. If it is empty, nobody can book the person.
    #[schemars(length(max = MOST_RULES))]
    pub(crate) rules: Vec<WeeklyRule>,
    /// The time zone of the rules: an IANA name, such as `America/Los_Angeles`.
    #[schemars(length(min = 1, max = 64))]
    pub(crate) time_zone: String,
    /// The minutes that stay free before and after everything at which the person is busy.
    #[serde(default)]
    #[schemars(range(max = 240))]
    pub(crate) buffer_min: u32,
    /// The minimum notice in minutes: others cannot book a time that begins sooner.
    #[serde(default)]
    #[schemars(range(max = 43_200))]
    pub(crate) min_notice_min: u32,
    /// The maximum number of meetings on one day.
    #[schemars(range(min = 1, max = 50))]
    pub(crate) max_per_day: Option<u32>,
    /// The horizon in days: others cannot book a later time.
    #[serde(default = "default_horizon")]
    #[schemars(range(min = 1, max = 366))]
    pub(crate) horizon_days: u32,
}

fn default_horizon() -> u32 {
    60
}

#[input]
pub(crate) struct FreebusyInput {
    /// The person: a person's id, or `me`.
    #[serde(default = "me")]
    #[schemars(regex(pattern = WHOSE))]
    pub(crate) owner_id: String,
    /// The start of the range (RFC 3339).
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub(crate) start: String,
    /// The end of the range (RFC 3339), at most 62 days after the start.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub(crate) end: String,
}

fn me() -> String {
    ME.into()
}

#[output]
pub(crate) struct Freebusy {
    /// The start (RFC 3339).
    pub(crate) start: String,
    pub(crate) end: String,
    /// The periods, which cover the whole range in order and without overlap.
    pub(crate) periods: Vec<Period>,
}

#[output]
pub(crate) struct Period {
    pub(crate) start: String,
    pub(crate) end: String,
    pub(crate) fbtype: FbType,
}

#[input]
pub(crate) struct SetHours {
    #[serde(flatten)]
    pub(crate) hours: Hours,
    pub(crate) expected_version: Option<Version>,
}

/// The availability: when others can book a person.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Availability {
    /// Whether an availability was set. If not, every hour can be booked.
    pub(crate) set: bool,
    /// The version; 0 as long as nothing was set.
    pub(crate) version: u64,
    /// The availability; null as long as nothing was set.
    pub(crate) hours: Option<Hours>,
}

#[input]
pub(crate) struct AddBlock {
    /// The start: a local time such as `2026-11-23T09:00:00`, an instant (RFC 3339), or a date for
    /// whole days.
    #[schemars(regex(pattern = DATE_OR_TIME))]
    pub(crate) start: String,
    /// The end, in the same form as `start`, and later. A date is the first day after the block.
    #[schemars(regex(pattern = DATE_OR_TIME))]
    pub(crate) end: String,
    /// The time zone of the local times: an IANA name. The default is that of the person's
    /// availability, or else UTC.
    #[schemars(length(min = 1, max = 64))]
    pub(crate) time_zone: Option<String>,
    /// The recurrence: a rule of RFC 5545 with `FREQ` from `DAILY` to `YEARLY` and without
    /// `BYHOUR`, `BYMINUTE` and `BYSECOND`, such as `FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20271231` or
    /// `FREQ=MONTHLY;BYMONTHDAY=15,-1`.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) rrule: Option<String>,
    /// A label, only for the person.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) label: Option<String>,
    /// The person whose calendar it is: `me`, or somebody who has made you a `scheduler` of their
    /// calendar. In another person's calendar, only they give a block a label.
    #[serde(default = "me")]
    #[schemars(regex(pattern = WHOSE))]
    pub(crate) owner_id: String,
}

/// The block's id: `blk_` and a ULID, as `list_events` lists it.
#[id(pattern = "^blk_[0-9A-Za-z]{1,36}$")]
pub(crate) struct BlockId(String);

#[input]
pub(crate) struct BlockInput {
    pub(crate) block_id: BlockId,
    pub(crate) expected_version: Option<Version>,
}

/// A block, once or recurring.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BlockView {
    pub(crate) block_id: String,
    pub(crate) version: u64,
    pub(crate) source: Source,
    /// The local time at which the first occurrence begins; a date for whole days.
    pub(crate) start: String,
    pub(crate) end: String,
    pub(crate) time_zone: String,
    pub(crate) rrule: Option<String>,
    pub(crate) label: Option<String>,
}

#[output]
pub(crate) struct Removed {
    pub(crate) block_id: String,
}

#[input]
pub(crate) struct ListEvents {
    /// The start (RFC 3339); the default is now.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub(crate) start: Option<String>,
    /// The end (RFC 3339), at most 62 days after the start; the default is two weeks after it.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub(crate) end: Option<String>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[choice]
pub(crate) enum EventKind {
    /// A confirmed meeting.
    Meeting,
    /// An unconfirmed meeting.
    Hold,
    /// A block of the person.
    Block,
}

/// An event in a person's own calendar.
#[output]
pub(crate) struct Event {
    pub(crate) kind: EventKind,
    /// The block's id, or the reference of the reservation.
    pub(crate) id: String,
    /// The id of a block, which `remove_block` takes.
    pub(crate) block_id: Option<String>,
    /// The start (RFC 3339).
    pub(crate) start: String,
    pub(crate) end: String,
    /// Whether it takes whole days.
    pub(crate) all_day: bool,
    /// Whether the time is only tentatively busy.
    pub(crate) tentative: bool,
    #[nullable]
    pub(crate) title: Option<String>,
    /// `untrusted_user_content` if the person did not write the title.
    pub(crate) trust: Option<&'static str>,
    /// The source of a block.
    pub(crate) source: Option<Source>,
    pub(crate) version: Option<u64>,
    pub(crate) time_zone: Option<String>,
    pub(crate) rrule: Option<String>,
}
