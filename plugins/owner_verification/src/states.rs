//! The states of a verification, and their transitions.

use crate::types::CAPABILITY;
use portolan_sdk::prelude::*;

#[choice(States)]
pub(crate) enum State {
    /// The challenge text has not been found yet: the person has to publish it, and then to call
    /// `check`.
    ChallengeIssued,
    /// The person speaks for the company.
    Verified,
    /// The person still speaks for the company, but the last check has not found the challenge
    /// text.
    Stale,
    /// Too many checks have failed.
    Failed,
    /// The domain was not proved in time.
    Expired,
    /// The person or the operator revoked the verification, or the challenge text was missing for
    /// too long.
    Revoked,
}

use State::{ChallengeIssued, Expired, Failed, Revoked, Stale, Verified};

impl State {
    /// Returns whether the person speaks for the company.
    pub(crate) fn is_proved(self) -> bool {
        matches!(self, Verified | Stale)
    }
}

pub(crate) const VERIFICATION: Machine<State> = Machine::new(
    "verification",
    &[
        Transition::new("start", &[], &[ChallengeIssued]),
        Transition::new("start", &[ChallengeIssued, Failed, Expired, Revoked], &[ChallengeIssued]),
        // A verified state stays, unless the record's domain has changed.
        Transition::new("start", &[Verified], &[Verified, ChallengeIssued]),
        Transition::new("start", &[Stale], &[Stale, ChallengeIssued]),
        Transition::new("check", &[ChallengeIssued, Stale], &[]),
        Transition::new("revoke", &[ChallengeIssued, Verified, Stale], &[Revoked]),
        Transition::internal("on_answer", &[ChallengeIssued], &[ChallengeIssued, Verified, Failed]),
        Transition::internal("on_answer", &[Stale], &[Stale, Verified]),
        Transition::internal("expire", &[ChallengeIssued], &[Expired]),
        Transition::internal("recheck", &[Verified], &[Stale]),
        Transition::internal("recheck", &[Stale], &[Stale, Revoked]),
        Transition::internal("withdraw", &[ChallengeIssued, Verified, Stale], &[Revoked]),
    ],
)
.read_by(CAPABILITY, "status", "verification_id");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verifications_can_be_revoked_and_ended_ones_started_again() {
        assert_eq!(VERIFICATION.allowed(ChallengeIssued), ["start", "check", "revoke"]);
        assert_eq!(VERIFICATION.allowed(Verified), ["start", "revoke"]);
        assert_eq!(VERIFICATION.allowed(Stale), ["start", "check", "revoke"]);
        for over in [Failed, Expired, Revoked] {
            assert_eq!(VERIFICATION.allowed(over), ["start"]);
            assert!(!over.is_proved());
        }
    }
}
