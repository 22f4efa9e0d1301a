//! How much of it, and how long: every number of this capability, and what is counted by them.

use crate::{
    refusals::{VerificationError, too_many_today},
    types::DAYS,
};
use portolan_sdk::prelude::*;

pub(crate) const SECOND: u64 = 1_000;
pub(crate) const DAY: u64 = 24 * 60 * 60 * SECOND;

/// How long there is to publish the text.
pub(crate) const CHALLENGE_FOR: u64 = 7 * DAY;
/// When what was proved is looked at again.
pub(crate) const RECHECK_AFTER: u64 = 90 * DAY;
/// How often it is looked at while it is not found, and for how long the person's word still counts.
pub(crate) const RECHECK_STALE_EVERY: u64 = DAY;
pub(crate) const STALE_FOR: u64 = 7 * DAY;
/// Between two checks.
pub(crate) const CHECK_EVERY: u64 = 30 * SECOND;
/// How long a question may be without an answer before another one is asked.
pub(crate) const ANSWERED_WITHIN: u64 = 120 * SECOND;
/// Checks of one challenge that may be in vain.
pub(crate) const MOST_IN_VAIN: u32 = 20;

/// What one person may do in 24 hours: the action, the limit's name, how often.
const A_DAY: [(&str, &str, usize); 2] =
    [("start", "challenges_per_day", 10), ("check", "checks_per_day", 40)];

/// What a person has done lately, by action.
pub(crate) fn count(call: &Call, owner_id: &str, action: &str) -> Result<(), VerificationError> {
    let Some((_, name, most)) = A_DAY.iter().find(|(it, ..)| *it == action) else { return Ok(()) };
    let before = DAYS.get(owner_id)?;
    let expect = before.as_ref().map_or(Expect::Absent, |day| Expect::Revision(day.revision));
    let mut day = before.map(|day| day.value).unwrap_or_default();
    let done = day.done.entry(action.to_owned()).or_default();
    if let Err(wait) = one_more(done, *most, call.now()) {
        return Err(too_many_today(name, *most, wait).into());
    }
    DAYS.put(owner_id, &day, expect)?;
    Ok(())
}

/// Counts one more, unless there were as many as may be: then the milliseconds until there are not.
fn one_more(done: &mut Vec<u64>, most: usize, now: u64) -> Result<(), u64> {
    done.retain(|at| at + DAY > now);
    match done.iter().rev().nth(most - 1) {
        Some(first) => Err(first + DAY - now),
        None => {
            done.push(now);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_so_much_of_each() {
        let mut done = Vec::new();
        assert_eq!(one_more(&mut done, 2, 1_000), Ok(()));
        assert_eq!(one_more(&mut done, 2, 2_000), Ok(()));
        assert_eq!(one_more(&mut done, 2, 3_000), Err(DAY - 2_000));
        assert_eq!(one_more(&mut done, 2, 1_000 + DAY), Ok(()));
    }
}
