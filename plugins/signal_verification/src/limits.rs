//! How much of it: every number of this capability, and what is counted by them.

use crate::{
    kept::EVIDENCE,
    life::EvidenceState,
    refusals::{Result, many_wait},
};
use portolan_sdk::prelude::*;

/// Of one person.
pub(crate) const EVIDENCE_A_DAY: DailyLimit =
    DailyLimit { action: "submit_evidence", name: "evidence_per_day", most: 20 };
pub(crate) const CONFIRMATIONS_A_DAY: DailyLimit =
    DailyLimit { action: "confirm", name: "confirmations_per_day", most: 50 };
pub(crate) const DISPUTES_A_DAY: DailyLimit =
    DailyLimit { action: "dispute", name: "disputes_per_day", most: 20 };

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

/// Refuses what would only make a reviewer's pile higher.
pub(crate) fn check_waiting(signal_id: &str) -> Result<()> {
    let waiting = field("signal_id").eq(signal_id);
    let waiting = waiting.and(field("state").eq(EvidenceState::Submitted));
    match EVIDENCE.count(waiting)? {
        count if count < MOST_WAITING => Ok(()),
        _ => Err(many_wait(signal_id).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_at_once_fits_into_one_call() {
        const { assert!(MOVES * MOST_TOLD <= 100) };
    }
}
