//! How much of it: every number of this capability, and what is counted by them.

use crate::{
    kept::{DAYS, EVIDENCE},
    life::EvidenceState,
    refusals::{SignalError, many_wait, too_many_today},
    types::CAPABILITY,
};
use portolan_sdk::prelude::*;

pub(crate) const DAY: u64 = 24 * 60 * 60 * 1000;

/// What one person may do in 24 hours: the action, the limit's name, how often.
const A_DAY: [(&str, &str, usize); 3] = [
    ("submit_evidence", "evidence_per_day", 20),
    ("confirm", "confirmations_per_day", 50),
    ("dispute", "disputes_per_day", 20),
];

/// Evidence for one signal that waits for a review.
pub(crate) const MOST_WAITING: u64 = 50;
/// Of one signal, what is shown of each: accepted evidence, the caller's own, disputes, confirmations.
pub(crate) const MOST_SHOWN: u32 = 50;
/// People who speak for one company, and for all companies together.
pub(crate) const MOST_SPEAKERS: u64 = 20;
pub(crate) const MOST_APPOINTED: u64 = 5_000;
/// Those who are told that a signal has become something else.
pub(crate) const MOST_TOLD: usize = 20;
/// Signals of which that is told in one call, so that all of it fits into the events of a call.
pub(crate) const MOVES: usize = 5;

/// What a person has done lately, by action.
pub(crate) fn count(call: &Call, owner_id: &str, action: &str) -> Result<(), SignalError> {
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

/// Refuses what would only make a reviewer's pile higher.
pub(crate) fn check_waiting(signal_id: &str) -> Result<(), SignalError> {
    let waiting = field("signal_id").eq(signal_id);
    let waiting = waiting.and(field("state").eq(EvidenceState::Submitted));
    match EVIDENCE.count(waiting)? {
        count if count < MOST_WAITING => Ok(()),
        _ => {
            let get = Next::call(CAPABILITY).field("action", "get").field("signal_id", signal_id);
            Err(many_wait(get).into())
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

    #[test]
    fn what_is_told_at_once_fits_into_one_call() {
        const { assert!(MOVES * MOST_TOLD <= 100) };
    }
}
