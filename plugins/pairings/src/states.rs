//! The states of a pairing, and their transitions. The roles are proposer and recipient, also for a
//! pairing without a proposal.

use portolan_sdk::prelude::*;

pub(crate) const PROPOSER: &str = "proposer";
pub(crate) const RECIPIENT: &str = "recipient";
/// A member who acts for the organisation of one of the listings.
pub(crate) const MEMBER: &str = "member";
/// The actions by which members share the work.
pub(crate) const SHARED: [&str; 2] = ["assign", "take_over"];

#[choice(States)]
pub(crate) enum State {
    /// The recipient has to answer.
    Proposed,
    /// The recipient has asked a question, and the proposer has to answer it.
    Clarifying,
    /// Both have agreed, and talk in a conversation.
    Connected,
    Declined,
    Withdrawn,
    /// The proposal was not answered in time, or the recipient's listing is no longer active.
    Expired,
    /// The two were connected, and the connection has ended.
    Closed,
    /// The pairing ended for another reason than an action of one of the two people.
    Cancelled,
}

use State::{Cancelled, Clarifying, Closed, Connected, Declined, Expired, Proposed, Withdrawn};

/// The states of a proposal that waits for an answer.
pub(crate) const WAITING: &[State] = &[Proposed, Clarifying];
/// The states that prevent another pairing of the two listings.
pub(crate) const OPEN: &[State] = &[Proposed, Clarifying, Connected];

pub(crate) const PAIRING: Machine<State> = Machine::new(
    "pairing",
    &[
        Transition::new("propose", &[], &[Proposed]),
        Transition::new("reply", &[Proposed], &[Clarifying, Connected, Declined]).by(RECIPIENT),
        Transition::new("reply", &[Clarifying], &[Connected, Declined]).by(RECIPIENT),
        Transition::new("message", &[Clarifying], &[Proposed]).by(PROPOSER),
        Transition::new("message", &[Connected], &[]),
        Transition::new("withdraw", WAITING, &[Withdrawn]).by(PROPOSER),
        Transition::new("disclose", &[Connected], &[]),
        Transition::new("close", &[Connected], &[Closed]),
        Transition::new("assign", OPEN, &[]).by(MEMBER),
        Transition::new("take_over", OPEN, &[]).by(MEMBER),
        Transition::internal("open_mutual", &[], &[Connected]),
        Transition::internal("open_mutual", WAITING, &[Connected]),
        Transition::internal("expire", WAITING, &[Expired]),
        Transition::internal("close_idle", &[Connected], &[Closed]),
        Transition::internal("on_org_archived", &[Connected], &[Closed]),
        Transition::internal("on_listing_left", WAITING, &[Expired, Cancelled]),
        Transition::internal("on_blocked", OPEN, &[Cancelled]),
        Transition::internal("on_member_changed", OPEN, &[]),
        Transition::internal("check", OPEN, &[Cancelled]),
        Transition::internal("on_owner_left", &[Connected], &[Cancelled]),
    ],
)
.read_by("pairings", "get", "pairing_id");

impl State {
    pub(crate) fn is_waiting(self) -> bool {
        WAITING.contains(&self)
    }

    pub(crate) fn is_open(self) -> bool {
        OPEN.contains(&self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_has_its_own_actions() {
        assert_eq!(PAIRING.allowed_as(PROPOSER, Proposed), ["withdraw"]);
        assert_eq!(PAIRING.allowed_as(RECIPIENT, Proposed), ["reply"]);
        assert_eq!(PAIRING.allowed_as(PROPOSER, Clarifying), ["message", "withdraw"]);
        assert_eq!(PAIRING.allowed_as(RECIPIENT, Clarifying), ["reply"]);
        for role in [PROPOSER, RECIPIENT] {
            assert_eq!(PAIRING.allowed_as(role, Connected), ["message", "disclose", "close"]);
        }
    }

    #[test]
    fn final_states_allow_nothing() {
        for state in [Declined, Withdrawn, Expired, Closed, Cancelled] {
            assert_eq!(PAIRING.allowed(state), Vec::<&str>::new());
            assert!(!state.is_open() && !state.is_waiting());
        }
    }
}
