//! Every limit of the calendar.

use portolan_sdk::prelude::*;

/// Signed, because instants are signed here.
pub(crate) const MINUTE: i64 = time::MINUTE as i64;
pub(crate) const DAY: i64 = time::DAY as i64;

/// The longest range that one call reads.
pub(crate) const LONGEST_RANGE: i64 = 62 * DAY;
/// The range that `list_events` reads by default.
pub(crate) const USUAL_RANGE: i64 = 14 * DAY;
/// The maximum number of blocks of a person, imported ones included. An import writes each at most
/// once and removes each at most once, within the 1000 writes of a call.
pub(crate) const MOST_BLOCKS: u32 = 400;
/// The longest block.
pub(crate) const LONGEST_BLOCK: i64 = 366 * DAY;
/// The highest `COUNT` of the rule of an added block.
pub(crate) const MOST_REPEATS: u32 = 1_000;
/// The longest interval of a rule, in the unit of its `FREQ`.
pub(crate) const LONGEST_INTERVAL: u32 = 100_000;
/// The maximum number of days that a rule lists.
pub(crate) const MOST_BY_DAY: usize = 40;
/// The maximum number of numbers in one part of a rule.
pub(crate) const MOST_LISTED: usize = 100;
/// The maximum number of occurrences of a rule on one day: one in each quarter of an hour.
pub(crate) const MOST_A_DAY: u32 = 96;
/// The maximum number of occurrences on one day by all rules of a person.
pub(crate) const MOST_A_DAY_OF_PERSON: u32 = 1_000;
/// The maximum number of excluded occurrences of a block, and of additional ones.
pub(crate) const MOST_EXCEPTIONS: usize = 100;
/// The maximum number of days, periods and times that are looked at for the last occurrence of a rule.
pub(crate) const MOST_RULE_STEPS: u32 = 400_000;
/// The same for all rules in a file.
pub(crate) const MOST_STEPS: u32 = 2_000_000;
/// The maximum number of occurrences that one call lists.
pub(crate) const MOST_EVENTS: usize = 50_000;
/// The number of busy spans from which on those that overlap are joined.
pub(crate) const MANY_SPANS: usize = 20_000;

/// The longest reservation.
pub(crate) const LONGEST_RESERVATION: i64 = DAY;
/// The step of proposed slots: they begin at a multiple of it.
pub(crate) const STEP: i64 = 15 * MINUTE;

/// The maximum number of rules of a weekly availability.
pub(crate) const MOST_RULES: u32 = 50;

/// The maximum number of characters of a file. The body of a call has at most 256 KiB.
pub(crate) const LONGEST_FILE: u32 = 260_000;
/// The maximum number of parts of a time zone that a file defines.
pub(crate) const MOST_OBSERVANCES: usize = 50;
/// The maximum number of changes of such a zone; zones have about two a year.
pub(crate) const MOST_CHANGES: usize = 1_000;
/// The maximum number of days that are looked at for the changes of such a zone.
pub(crate) const MOST_ZONE_STEPS: u32 = 20_000;
/// The maximum number of such zones in a file.
pub(crate) const MOST_ZONES: usize = 50;
/// The deepest nesting of components in a file.
pub(crate) const DEEPEST: usize = 8;
/// The maximum number of skipped entries, and of unsupported parts, that are listed. All are
/// counted.
pub(crate) const MOST_REPORTED: usize = 50;
/// The maximum number of characters of a title from a file.
pub(crate) const LONGEST_TITLE: usize = 200;
/// The maximum number of bytes of a UID from a file.
pub(crate) const LONGEST_UID: usize = 400;
/// How long ago an exported event may have ended.
pub(crate) const EXPORT_PAST: i64 = 31 * DAY;
/// The years before the first use of a zone for which its clock changes are written.
pub(crate) const ZONE_YEARS_BEFORE: i64 = 2;
/// The years after the last use of a zone, or after now, for which its clock changes are written;
/// yearly rules continue.
pub(crate) const ZONE_YEARS_AFTER: i64 = 10;
/// The maximum number of years from now in which a use of a zone is looked at. Uses after it are
/// covered by yearly rules.
pub(crate) const ZONE_YEARS_AHEAD: i64 = 100;

/// The maximum number of subscriptions of a person.
pub(crate) const MOST_SUBSCRIPTIONS: u32 = 5;
/// The maximum number of characters of the address of a subscription; the host takes 2048 bytes.
pub(crate) const LONGEST_ADDRESS: u32 = 2_000;
/// The time between two readings of a subscription, unless its calendar asks for a longer one.
pub(crate) const POLL_EVERY: u64 = 6 * time::HOUR;
/// The longest time between two readings, also if the calendar or its server asks for a longer one.
pub(crate) const LONGEST_POLL: u64 = 7 * time::DAY;
/// The part of a wait that is added to it at most, at random: a tenth.
pub(crate) const JITTER_SHARE: u64 = 10;
/// The wait after a first failure, which doubles with each further one, and the longest.
pub(crate) const FIRST_RETRY: u64 = 30 * time::MINUTE;
pub(crate) const LONGEST_RETRY: u64 = time::DAY;
/// The wait while as many look-ups of the host are waiting as are allowed.
pub(crate) const WAIT_FOR_ROOM: u64 = 5 * time::MINUTE;
/// The time after which a subscription whose every reading has failed is not read any more.
pub(crate) const FAILS_AFTER: u64 = 14 * time::DAY;
/// How often a person can have a subscription read.
pub(crate) const REFRESHES: Window = Window { most: 1, within: 15 * time::MINUTE };
/// How often a person can subscribe, also to calendars whose subscriptions they have ended: each is read at once.
pub(crate) const SUBSCRIBES: Window = Window { most: 10, within: time::DAY };
/// The time after which a requested reading is not awaited any more.
pub(crate) const ANSWERED_WITHIN: u64 = 2 * time::MINUTE;

/// The maximum number of reservations of an imported file that are looked up at once.
pub(crate) const LOOKED_UP_AT_ONCE: usize = 500;

/// The days before and after the present one in published free/busy times.
pub(crate) const FREEBUSY_PAST: i64 = 7 * DAY;
pub(crate) const FREEBUSY_AHEAD: i64 = 60 * DAY;
/// The number of published busy times from which on they are extended to full quarters of an hour.
pub(crate) const MANY_PERIODS: usize = 2_000;
/// The number of random bytes of a secret address.
pub(crate) const SECRET_BYTES: u32 = 24;
