//! How much of it, and how long: every number of this capability.

use portolan_sdk::prelude::*;

/// How long there is to publish the text.
pub(crate) const CHALLENGE_FOR: u64 = 7 * DAY;
/// When what was proved is looked at again.
pub(crate) const RECHECK_AFTER: u64 = 90 * DAY;
/// How often it is looked at while it is not found, and for how long the person's word still counts.
pub(crate) const RECHECK_STALE_EVERY: u64 = DAY;
pub(crate) const STALE_FOR: u64 = 7 * DAY;
/// Checks of one verification.
pub(crate) const CHECKS: Window = Window { most: 1, within: 30 * SECOND };
/// How long a question may be without an answer before another one is asked.
pub(crate) const ANSWERED_WITHIN: u64 = 120 * SECOND;
/// Checks of one challenge that may be in vain.
pub(crate) const MOST_IN_VAIN: u32 = 20;

/// Of one person.
pub(crate) const CHALLENGES_A_DAY: DailyLimit =
    DailyLimit { action: "start", name: "challenges_per_day", most: 10 };
pub(crate) const CHECKS_A_DAY: DailyLimit =
    DailyLimit { action: "check", name: "checks_per_day", most: 40 };
