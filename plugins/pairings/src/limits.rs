//! The limits and the times of pairings.

use portolan_sdk::prelude::*;

/// The maximum number of proposals of one listing that wait for an answer at the same time.
pub(crate) const OPEN_OF_A_LISTING: usize = 10;
/// The daily limit of proposals of one person.
pub(crate) const PROPOSALS_A_DAY: Window = Window { most: 20, within: DAY };
/// The maximum number of questions of the recipient before they decide.
pub(crate) const QUESTIONS: usize = 2;
/// The time after which an unanswered proposal expires.
pub(crate) const SILENCE: u64 = 14 * DAY;
/// The time after which a connection without activity is closed.
pub(crate) const IDLE: u64 = 60 * DAY;
/// The cooldown after a decline, in which the declined listing cannot be proposed to the same
/// listing again.
pub(crate) const COOLDOWN: u64 = 90 * DAY;
/// The time after a change of the recipient's listing in which the proposer may withdraw without a
/// cost.
pub(crate) const FREE_WITHDRAWAL: u64 = 7 * DAY;
/// The interval at which an open pairing is compared with its people: of some changes there is no
/// event.
pub(crate) const CHECK_INTERVAL: u64 = DAY;
/// The time after which a pairing is compared with its people if one of them is about to be erased.
pub(crate) const CHECK_OF_DEPARTED: u64 = 10 * MINUTE;
/// The maximum number of pairings that an event ends or passes on in one call.
pub(crate) const MOST_IN_A_BATCH: u32 = 5;
/// The maximum number of connected pairings of such a person that are found at once.
pub(crate) const MOST_OF_DEPARTED: u32 = 100;
/// The maximum number of pairings of such a person whose listings are forgotten.
pub(crate) const MOST_FORGOTTEN: u32 = 250;
/// The maximum number of people who are notified in one call.
pub(crate) const MOST_TOLD: usize = 80;
/// The maximum number of pairings of which one call tells the other sides; the others follow in calls of
/// their own. A call can publish 100 events, and each side has at most 21 people who are notified.
pub(crate) const AT_ONCE: u32 = 2;
