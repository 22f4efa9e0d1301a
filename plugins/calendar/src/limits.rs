//! How much and how far: every number of the calendar.

use portolan_sdk::prelude::*;

/// Signed, as instants are here.
pub(crate) const MINUTE: i64 = time::MINUTE as i64;
pub(crate) const DAY: i64 = time::DAY as i64;

/// The longest time that is looked at in one call.
pub(crate) const LONGEST_RANGE: i64 = 62 * DAY;
/// What `list_events` looks at when nothing is said.
pub(crate) const USUAL_RANGE: i64 = 14 * DAY;
/// Blocks of a person, imported ones among them. An import changes each at most once and removes each
/// at most once, within the 1000 writes of a call.
pub(crate) const MOST_BLOCKS: u32 = 400;
/// The longest block.
pub(crate) const LONGEST_BLOCK: i64 = 366 * DAY;
/// How often a block is repeated, if it says how often.
pub(crate) const MOST_REPEATS: u32 = 1_000;
/// The longest step of a rule, in its days, weeks, months or years.
pub(crate) const LONGEST_INTERVAL: u16 = 999;
/// Days that a rule lists.
pub(crate) const MOST_BY_DAY: usize = 40;
/// Occurrences that a block leaves out.
pub(crate) const MOST_EXCEPTIONS: usize = 100;

/// The longest reservation.
pub(crate) const LONGEST_RESERVATION: i64 = DAY;
/// Proposed slots begin at a multiple of this.
pub(crate) const STEP: i64 = 15 * MINUTE;

/// Of a weekly availability.
pub(crate) const MOST_RULES: u32 = 50;

/// Characters of a file; a call's body has room for 256 KiB.
pub(crate) const LONGEST_FILE: u32 = 260_000;
/// Components within components of a file.
pub(crate) const DEEPEST: usize = 8;
/// What the rules of a file that say how often may come to, all together.
pub(crate) const MOST_COUNTED: u32 = 200_000;
/// Things that are not taken over, listed one by one; all are counted.
pub(crate) const MOST_REPORTED: usize = 50;
/// Characters of a title that comes from a file.
pub(crate) const LONGEST_TITLE: usize = 200;
/// Bytes of a UID that comes from a file.
pub(crate) const LONGEST_UID: usize = 400;
/// How far an export goes back.
pub(crate) const EXPORT_PAST: i64 = 31 * DAY;
/// Changes of the clock are written out from so many years before a zone is first used.
pub(crate) const ZONE_YEARS_BEFORE: i64 = 2;
/// And until so many years after its last use, or after now; yearly rules go on.
pub(crate) const ZONE_YEARS_AFTER: i64 = 10;
/// A last use that is further off is left to the rules.
pub(crate) const ZONE_YEARS_AHEAD: i64 = 100;
