//! The states of a verification.

use crate::types::CAPABILITY;
use portolan_sdk::prelude::*;

#[choice(States)]
pub(crate) enum State {
    /// It waits for the text to be published, and for a check that finds it.
    ChallengeIssued,
    /// The person speaks for the company.
    Verified,
    /// The same, and the text was not found again yet.
    Stale,
    /// Checked too often in vain.
    Failed,
    /// Not proved in time.
    Expired,
    /// Given up by the person, ended by the operator, or the text was gone for too long.
    Revoked,
}

use State::{ChallengeIssued, Expired, Failed, Revoked, Stale, Verified};

impl State {
    /// Whether the person's word counts as the company's.
    pub(crate) fn speaks(self) -> bool {
        matches!(self, Verified | Stale)
    }
}

pub(crate) const VERIFICATION: Machine<State> = Machine::new(
    "verification",
    &[
        Transition::new("start", &[], &[ChallengeIssued]),
        Transition::new("start", &[ChallengeIssued, Failed, Expired, Revoked], &[ChallengeIssued]),
        // What is proved stays so, unless the record has another domain by now.
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
    fn the_table_is_sound() {
        assert_eq!(VERIFICATION.faults(), Vec::<String>::new());
    }

    #[test]
    fn what_was_proved_can_be_given_up_and_what_is_over_begun_again() {
        assert_eq!(VERIFICATION.allowed(ChallengeIssued), ["start", "check", "revoke"]);
        assert_eq!(VERIFICATION.allowed(Verified), ["start", "revoke"]);
        assert_eq!(VERIFICATION.allowed(Stale), ["start", "check", "revoke"]);
        for over in [Failed, Expired, Revoked] {
            assert_eq!(VERIFICATION.allowed(over), ["start"]);
            assert!(!over.speaks());
        }
    }
}
