//! Inputs, outputs, and what is kept.

use crate::{limits::MOST_RULES, spans::*};
use people_kit::calendar::Firmness;
use portolan_sdk::prelude::*;

pub(crate) const CAPABILITY: &str = "calendar";

const ME: &str = "me";
const WHOSE: &str = "^(me|own_[0-9A-Za-z]{1,36})$";
/// A date, a local time, or an instant of RFC 3339.
const MOMENT: &str = "^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2})?)?$";
const HOUR: &str = "^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$";

/// What every change of a person's time writes, by the owner's id: of two that happen at once, the
/// other one sees the first.
pub(crate) const CALENDARS: Collection<Calendar> = Collection::new("calendars");
/// The hours in which a person can be booked, by the owner's id.
pub(crate) const AVAILABILITIES: Collection<Hours> = Collection::new("availabilities");
/// What is in the way, by ids of their own.
pub(crate) const BLOCKS: Collection<Block> = Collection::new("blocks")
    .index("owner", &["owner_id", "ends", "begins"])
    .index("source", &["owner_id", "source"]);
/// Meetings, by what they were reserved for.
pub(crate) const RESERVATIONS: Collection<Reservation> = Collection::new("reservations")
    .index("owner", &["owner_ids[]"])
    .index("time", &["ends", "begins"]);

#[document(Default)]
pub(crate) struct Calendar {
    /// How many there are.
    pub(crate) blocks: u32,
    /// Counts up with every change.
    pub(crate) changes: u64,
}

#[choice]
pub(crate) enum Source {
    /// By `add_block`.
    Added,
    /// By `import_ics`.
    Imported,
}

/// Local times are texts as `2026-11-23T09:00:00`.
#[document(PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) owner_id: String,
    pub(crate) source: Source,
    /// Of the event in the file that it comes from.
    pub(crate) uid: Option<String>,
    /// Of which occurrence of that event it takes the place, as the file writes it.
    pub(crate) recurrence_id: Option<String>,
    pub(crate) start: String,
    pub(crate) end: String,
    pub(crate) all_day: bool,
    pub(crate) time_zone: String,
    pub(crate) rrule: Option<String>,
    /// The local times at which it does not happen, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) except: Vec<String>,
    #[serde(default)]
    pub(crate) tentative: bool,
    pub(crate) label: Option<String>,
    /// All of it lies between these, in milliseconds.
    pub(crate) begins: i64,
    pub(crate) ends: i64,
}

#[document]
pub(crate) struct Reservation {
    pub(crate) owner_ids: Vec<String>,
    pub(crate) kind: Firmness,
    pub(crate) title: Option<String>,
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

/// Some hours of some days of each week.
#[input(Clone, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct WeeklyRule {
    /// `MO` to `SU`.
    #[schemars(length(min = 1, max = 7))]
    pub(crate) days: Vec<Day>,
    /// Local time, as `09:00`.
    #[schemars(regex(pattern = HOUR))]
    pub(crate) from: String,
    /// Local time of the same day, later than `from`; `24:00` is its end.
    #[schemars(regex(pattern = HOUR))]
    pub(crate) to: String,
}

/// When a person can be booked by others.
#[input(Clone, PartialEq, Eq)]
pub(crate) struct Hours {
    /// The hours of each week; none at all means that nobody books anything.
    #[schemars(length(max = MOST_RULES))]
    pub(crate) rules: Vec<WeeklyRule>,
    /// The IANA name of the zone whose clock the rules go by, such as `America/Los_Angeles`.
    #[schemars(length(min = 1, max = 64))]
    pub(crate) time_zone: String,
    /// Minutes that stay free before and after whatever is in the way.
    #[serde(default)]
    #[schemars(range(max = 240))]
    pub(crate) buffer_min: u32,
    /// Nobody books what begins in fewer minutes than this.
    #[serde(default)]
    #[schemars(range(max = 43_200))]
    pub(crate) min_notice_min: u32,
    /// Meetings on one day.
    #[schemars(range(min = 1, max = 50))]
    pub(crate) max_per_day: Option<u32>,
    /// Nobody books what is later than so many days from now.
    #[serde(default = "default_horizon")]
    #[schemars(range(min = 1, max = 366))]
    pub(crate) horizon_days: u32,
}

fn default_horizon() -> u32 {
    60
}

#[input]
pub(crate) struct FreebusyInput {
    /// Whose: a person's id, or `me`.
    #[serde(default = "me")]
    #[schemars(regex(pattern = WHOSE))]
    pub(crate) owner_id: String,
    /// RFC 3339.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub(crate) start: String,
    /// RFC 3339: at most 62 days later.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub(crate) end: String,
}

pub(crate) fn me() -> String {
    ME.into()
}

#[output]
pub(crate) struct Freebusy {
    /// RFC 3339.
    pub(crate) start: String,
    pub(crate) end: String,
    /// The whole of it, in order and without overlap.
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

/// When a person can be booked by others.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Availability {
    /// False as long as nothing was set: then every hour is one.
    pub(crate) set: bool,
    /// 0 as long as nothing was set.
    pub(crate) version: u64,
    /// What was set; null as long as nothing was.
    pub(crate) hours: Option<Hours>,
}

#[input]
pub(crate) struct AddBlock {
    /// A local time as `2026-11-23T09:00:00`, an instant of RFC 3339, or a date for whole days.
    #[schemars(regex(pattern = MOMENT))]
    pub(crate) start: String,
    /// Of the same form as `start`, and later; a date is the first day that is free again.
    #[schemars(regex(pattern = MOMENT))]
    pub(crate) end: String,
    /// The IANA name of the zone whose clock it goes by; that of the person's availability if it is
    /// left out, or else UTC.
    #[schemars(length(min = 1, max = 64))]
    pub(crate) time_zone: Option<String>,
    /// How it is repeated: `FREQ` (`DAILY`, `WEEKLY`, `MONTHLY`, `YEARLY`), `INTERVAL`, `BYDAY`,
    /// `COUNT` and `UNTIL` as in RFC 5545, such as `FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20271231`.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) rrule: Option<String>,
    /// What it is, for the person alone.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) label: Option<String>,
}

/// `blk_` and a ULID, as `list_events` names it.
#[id(pattern = "^blk_[0-9A-Za-z]{1,36}$")]
pub(crate) struct BlockId(String);

#[input]
pub(crate) struct BlockInput {
    pub(crate) block_id: BlockId,
    pub(crate) expected_version: Option<Version>,
}

/// Something that is in the way, once or again and again.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BlockView {
    pub(crate) block_id: String,
    pub(crate) version: u64,
    pub(crate) source: Source,
    /// The local time at which it first begins; a date for whole days.
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
    /// RFC 3339; now if it is left out.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub(crate) start: Option<String>,
    /// RFC 3339, at most 62 days later; two weeks later if it is left out.
    #[schemars(length(min = 1, max = 40), extend("format" = "date-time"))]
    pub(crate) end: Option<String>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[choice]
pub(crate) enum EventKind {
    /// A meeting that is settled.
    Meeting,
    /// A meeting that may come.
    Hold,
    /// What the person has set aside.
    Block,
}

/// Something in a person's own calendar.
#[output]
pub(crate) struct Event {
    pub(crate) kind: EventKind,
    /// The block's id, or what the meeting's time was reserved for.
    pub(crate) id: String,
    /// RFC 3339.
    pub(crate) start: String,
    pub(crate) end: String,
    /// Whether it is whole days.
    pub(crate) all_day: bool,
    /// Whether it only may be in the way.
    pub(crate) tentative: bool,
    #[nullable]
    pub(crate) title: Option<String>,
    /// `untrusted_user_content` where the title is not the person's own.
    pub(crate) trust: Option<&'static str>,
    /// Of blocks.
    pub(crate) source: Option<Source>,
    pub(crate) version: Option<u64>,
    pub(crate) time_zone: Option<String>,
    pub(crate) rrule: Option<String>,
}
