//! The states of evidence and of disputes, and what may be said about a signal that is so sure.

use crate::types::CAPABILITY;
use portolan_sdk::prelude::*;

#[choice(States)]
pub(crate) enum EvidenceState {
    /// It waits for a review, and counts for nothing until then.
    Submitted,
    /// The next build of the feeds takes it in.
    Accepted,
    Rejected,
    /// Taken back before anybody had decided.
    Withdrawn,
}

#[choice(States)]
pub(crate) enum DisputeState {
    /// It waits for a review; the signal is shown as disputed.
    Open,
    /// It is right: the signal is retracted.
    Upheld,
    /// It is wrong: the signal is what it was.
    Overruled,
}

/// How sure a signal is, in the words of the feeds.
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

/// Whoever speaks for the company.
pub(crate) const SPEAKER: &str = "speaker";
/// Every other person.
pub(crate) const ANYBODY: &str = "anybody";

/// Refusals name the signal as what is read again: it tells of its evidence and disputes.
pub(crate) const EVIDENCE: Machine<EvidenceState> = Machine::new(
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
        // A source that is taken back disputes what it said.
        Transition::internal("accept", &[], &[Open]),
        Transition::internal("uphold", &[Open], &[Upheld]),
        Transition::internal("overrule", &[Open], &[Overruled]),
    ],
)
.read_by(CAPABILITY, "get", "signal_id");

/// The feeds take a signal from one of these to another; here it only stands what may be said in each.
/// So it is no table of the descriptor's.
pub(crate) const SIGNAL: Machine<Maturity> = Machine::new(
    "signal",
    &[
        Transition::new(
            "submit_evidence",
            &[
                Unsourced,
                SourceBacked,
                Confirmed,
                Lead,
                Corroborated,
                Verified,
                Stale,
                Closed,
                Expired,
                Disputed,
            ],
            &[],
        ),
        Transition::new("confirm", &[Unsourced, SourceBacked, Lead, Corroborated], &[]).by(SPEAKER),
        Transition::new(
            "dispute",
            &[
                Unsourced,
                SourceBacked,
                Confirmed,
                Lead,
                Corroborated,
                Verified,
                Stale,
                Closed,
                Expired,
            ],
            &[],
        )
        .by(SPEAKER),
    ],
)
.read_by(CAPABILITY, "get", "signal_id");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sound() {
        assert_eq!(EVIDENCE.faults(), Vec::<String>::new());
        assert_eq!(DISPUTE.faults(), Vec::<String>::new());
    }

    #[test]
    fn what_is_decided_allows_nothing() {
        for state in [Accepted, Rejected, Withdrawn] {
            assert_eq!(EVIDENCE.allowed(state), Vec::<&str>::new());
        }
        assert_eq!(EVIDENCE.allowed(Submitted), ["withdraw"]);
        for state in [Open, Upheld, Overruled] {
            assert_eq!(DISPUTE.allowed(state), Vec::<&str>::new());
        }
    }

    #[test]
    fn everybody_may_bring_evidence_and_the_company_has_a_say() {
        assert_eq!(SIGNAL.allowed_as(ANYBODY, Lead), ["submit_evidence"]);
        assert_eq!(SIGNAL.allowed_as(SPEAKER, Lead), ["submit_evidence", "confirm", "dispute"]);
        assert_eq!(SIGNAL.allowed_as(SPEAKER, Verified), ["submit_evidence", "dispute"]);
        assert_eq!(SIGNAL.allowed_as(SPEAKER, Disputed), ["submit_evidence"]);
        assert_eq!(SIGNAL.allowed_as(SPEAKER, Maturity::Retracted), Vec::<&str>::new());
    }
}
