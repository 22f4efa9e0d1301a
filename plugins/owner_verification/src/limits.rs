//! Every limit of this capability.

use portolan_sdk::prelude::*;

/// The time in which the text must be published.
pub(crate) const CHALLENGE_FOR: u64 = 7 * DAY;
/// The time after which a verification is checked again.
pub(crate) const RECHECK_AFTER: u64 = 90 * DAY;
/// The time between two look-ups while the text is missing.
pub(crate) const RECHECK_STALE_EVERY: u64 = DAY;
/// The time for which a verification still counts while the text is missing.
pub(crate) const STALE_FOR: u64 = 7 * DAY;
/// The limit of checks of one verification.
pub(crate) const CHECKS: Window = Window { most: 1, within: 30 * SECOND };
/// The time after which an unanswered look-up is replaced by another one.
pub(crate) const ANSWERED_WITHIN: u64 = 120 * SECOND;
/// The maximum number of failed checks of one challenge.
pub(crate) const MOST_FAILED_CHECKS: u32 = 20;

/// The daily limit of new challenges of one person.
pub(crate) const CHALLENGES_A_DAY: DailyLimit =
    DailyLimit { action: "start", name: "challenges_per_day", most: 10 };
pub(crate) const CHECKS_A_DAY: DailyLimit =
    DailyLimit { action: "check", name: "checks_per_day", most: 40 };
