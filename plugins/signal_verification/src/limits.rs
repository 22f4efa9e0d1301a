//! Every limit of this capability, and its counters.

use crate::{documents::*, refusals::*, states::*};
use portolan_sdk::prelude::*;

/// The daily limit of new evidence of one person.
pub(crate) const EVIDENCE_A_DAY: DailyLimit =
    DailyLimit { action: "submit_evidence", name: "evidence_per_day", most: 20 };
pub(crate) const CONFIRMATIONS_A_DAY: DailyLimit =
    DailyLimit { action: "confirm", name: "confirmations_per_day", most: 50 };
pub(crate) const DISPUTES_A_DAY: DailyLimit =
    DailyLimit { action: "dispute", name: "disputes_per_day", most: 20 };

/// The maximum number of pieces of evidence for one signal that wait for a review.
const MOST_WAITING: u64 = 50;
/// The maximum number of items of each list that are shown for one signal: accepted evidence, the
/// caller's own, disputes, confirmations.
pub(crate) const MOST_SHOWN: u32 = 50;
/// The maximum number of people who speak for one company.
const MOST_SPEAKERS: u64 = 20;
/// The maximum number of people who speak for all companies together.
const MOST_APPOINTED: u64 = 5_000;
/// The maximum number of people who are notified that a signal's maturity has changed.
pub(crate) const MOST_NOTIFIED: u32 = 20;
/// The maximum number of signals that one call of `announce` takes, so that all events fit into the
/// call.
pub(crate) const MOVES: usize = 5;
const _: () = assert!(MOVES * MOST_NOTIFIED as usize <= 100);

/// Refuses more evidence for a signal while [`MOST_WAITING`] pieces wait for a review.
pub(crate) fn ensure_few_waiting(signal_id: &str) -> Result<()> {
    if EVIDENCE.count(evidence_about(signal_id, EvidenceState::Submitted))? < MOST_WAITING {
        return Ok(());
    }
    let limit = Limit::reached("evidence_waiting_for_a_signal", MOST_WAITING);
    let message = "The limit of unreviewed evidence for this signal is reached.";
    Err(quota(message, &limit, get(signal_id)).into())
}

/// Refuses to appoint one more person if the company, or all companies together, have the most
/// allowed.
pub(crate) fn ensure_few_appointed(target_id: &str) -> Result<()> {
    let of_target = field("target_id").eq(target_id);
    for (name, of_it, most) in [
        ("speakers_of_a_target", Some(of_target), MOST_SPEAKERS),
        ("speakers", None, MOST_APPOINTED),
    ] {
        if APPOINTMENTS.count(of_it)? >= most {
            let limit = Limit::reached(name, most);
            return Err(
                quota("The limit of appointed people is reached.", &limit, list_mine()).into()
            );
        }
    }
    Ok(())
}
