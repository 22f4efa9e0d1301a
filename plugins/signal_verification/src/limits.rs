//! Every limit of this capability, and its counters.

use crate::{
    kept::EVIDENCE,
    life::EvidenceState,
    refusals::{Result, many_wait},
};
use portolan_sdk::prelude::*;

/// The limit of new evidence of one person.
pub(crate) const EVIDENCE_A_DAY: DailyLimit =
    DailyLimit { action: "submit_evidence", name: "evidence_per_day", most: 20 };
pub(crate) const CONFIRMATIONS_A_DAY: DailyLimit =
    DailyLimit { action: "confirm", name: "confirmations_per_day", most: 50 };
pub(crate) const DISPUTES_A_DAY: DailyLimit =
    DailyLimit { action: "dispute", name: "disputes_per_day", most: 20 };

/// The maximum number of pieces of evidence for one signal that wait for a review.
pub(crate) const MOST_WAITING: u64 = 50;
/// The maximum number of items of each list that are shown for one signal: accepted evidence, the
/// caller's own, disputes, confirmations.
pub(crate) const MOST_SHOWN: u32 = 50;
/// The maximum number of people who speak for one company, and for all companies together.
pub(crate) const MOST_SPEAKERS: u64 = 20;
pub(crate) const MOST_APPOINTED: u64 = 5_000;
/// The maximum number of people who are notified that a signal's maturity has changed.
pub(crate) const MOST_TOLD: usize = 20;
/// The maximum number of signals in one call that notifies them, so that all events fit into the
/// call.
pub(crate) const MOVES: usize = 5;

/// Refuses more evidence while the review has too much to do.
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
    fn the_events_of_one_call_fit_into_it() {
        const { assert!(MOVES * MOST_TOLD <= 100) };
    }
}
