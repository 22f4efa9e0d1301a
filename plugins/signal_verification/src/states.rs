//! The states of evidence and of disputes, and the actions on a signal of each maturity.

use crate::types::CAPABILITY;
use portolan_sdk::prelude::*;

#[choice(States)]
pub(crate) enum EvidenceState {
    /// The evidence waits for a review, and does not count until then.
    Submitted,
    /// The next build of the feeds uses it.
    Accepted,
    Rejected,
    /// The evidence was withdrawn before the decision.
    Withdrawn,
}

#[choice(States)]
pub(crate) enum DisputeState {
    /// The dispute waits for a review; the signal is shown as disputed.
    Open,
    /// The dispute is right: the signal is retracted.
    Upheld,
    /// The dispute is wrong: the signal has its former maturity again.
    Overruled,
}

/// The maturity of a signal, in the words of the feeds.
#[choice(States)]
pub(crate) enum Maturity {
    Retracted,
    Disputed,
    Unsourced,
    Closed,
    Expired,
    Stale,
    Lead,
    Corroborated,
    SourceBacked,
    Verified,
    Confirmed,
}

use DisputeState::{Open, Overruled, Upheld};
use EvidenceState::{Accepted, Rejected, Submitted, Withdrawn};
use Maturity::{
    Closed, Confirmed, Corroborated, Disputed, Expired, Lead, SourceBacked, Stale, Unsourced,
    Verified,
};

/// A person who speaks for the company.
pub(crate) const SPEAKER: &str = "speaker";
/// Every other person.
pub(crate) const ANYBODY: &str = "anybody";

/// The states of evidence. Refusals name the signal as the resource to read again: it shows its
/// evidence and disputes.
pub(crate) const REVIEWED: Machine<EvidenceState> = Machine::new(
    "evidence",
    &[
        Transition::new("submit_evidence", &[], &[Submitted]),
        Transition::new("withdraw", &[Submitted], &[Withdrawn]),
        Transition::internal("accept", &[Submitted], &[Accepted]),
        Transition::internal("reject", &[Submitted], &[Rejected]),
    ],
)
.read_by(CAPABILITY, "get", "signal_id");

pub(crate) const DISPUTE: Machine<DisputeState> = Machine::new(
    "dispute",
    &[
        Transition::new("dispute", &[], &[Open]).by(SPEAKER),
        // Evidence of a retraction opens a dispute.
        Transition::internal("accept", &[], &[Open]),
        Transition::internal("uphold", &[Open], &[Upheld]),
        Transition::internal("overrule", &[Open], &[Overruled]),
    ],
)
.read_by(CAPABILITY, "get", "signal_id");

const UNDISPUTED: &[Maturity] =
    &[Unsourced, SourceBacked, Confirmed, Lead, Corroborated, Verified, Stale, Closed, Expired];

/// The actions that are allowed at each maturity. The feeds change the maturity itself, so this
/// table is not part of the descriptor.
pub(crate) const SIGNAL: Machine<Maturity> = Machine::new(
    "signal",
    &[
        Transition::new("submit_evidence", UNDISPUTED, &[]),
        Transition::new("submit_evidence", &[Disputed], &[]),
        Transition::new("confirm", &[Unsourced, SourceBacked, Lead, Corroborated], &[]).by(SPEAKER),
        Transition::new("dispute", UNDISPUTED, &[]).by(SPEAKER),
    ],
)
.read_by(CAPABILITY, "get", "signal_id");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decided_evidence_and_disputes_allow_nothing() {
        for state in [Accepted, Rejected, Withdrawn] {
            assert_eq!(REVIEWED.allowed(state), Vec::<&str>::new());
        }
        assert_eq!(REVIEWED.allowed(Submitted), ["withdraw"]);
        for state in [Open, Upheld, Overruled] {
            assert_eq!(DISPUTE.allowed(state), Vec::<&str>::new());
        }
    }

    #[test]
    fn everybody_may_submit_evidence_and_speakers_may_confirm() {
        assert_eq!(SIGNAL.allowed_as(ANYBODY, Lead), ["submit_evidence"]);
        assert_eq!(SIGNAL.allowed_as(SPEAKER, Lead), ["submit_evidence", "confirm", "dispute"]);
        assert_eq!(SIGNAL.allowed_as(SPEAKER, Verified), ["submit_evidence", "dispute"]);
        assert_eq!(SIGNAL.allowed_as(SPEAKER, Disputed), ["submit_evidence"]);
        assert_eq!(SIGNAL.allowed_as(SPEAKER, Maturity::Retracted), Vec::<&str>::new());
    }
}
