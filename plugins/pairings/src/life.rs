//! The states of a pairing, and which action leads where. The proposer has asked, the recipient
//! answers; where nobody proposed, the two are named all the same.

use portolan_sdk::prelude::*;

pub(crate) const PROPOSER: &str = "proposer";
pub(crate) const RECIPIENT: &str = "recipient";

#[choice(States)]
pub(crate) enum State {
    /// The recipient has to answer.
    Proposed,
    /// The recipient has asked something, and the proposer has to answer.
    Clarifying,
    /// Both have said yes, and write to each other in a conversation.
    Connected,
    Declined,
    Withdrawn,
    /// Nobody answered in time, or the recipient's listing is no longer there.
    Expired,
    /// It was connected, and is over.
    Closed,
    /// It ended by what neither of the two did in it.
    Cancelled,
}

use State::{Cancelled, Clarifying, Closed, Connected, Declined, Expired, Proposed, Withdrawn};

const WAITING: &[State] = &[Proposed, Clarifying];
const OPEN: &[State] = &[Proposed, Clarifying, Connected];

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
        Transition::internal("open_mutual", &[], &[Connected]),
        Transition::internal("open_mutual", WAITING, &[Connected]),
        Transition::internal("expire", WAITING, &[Expired]),
        Transition::internal("close_idle", &[Connected], &[Closed]),
        Transition::internal("on_listing_left", WAITING, &[Expired, Cancelled]),
        Transition::internal("on_blocked", OPEN, &[Cancelled]),
    ],
)
.read_by("pairings", "get", "pairing_id");

impl State {
    /// Whether it is a proposal that somebody has to answer.
    pub(crate) fn waits(self) -> bool {
        WAITING.contains(&self)
    }

    /// Whether there can be no other pairing of the two listings.
    pub(crate) fn is_open(self) -> bool {
        OPEN.contains(&self)
    }
}

/// The states that are open.
pub(crate) fn open() -> impl Iterator<Item = State> {
    OPEN.iter().copied()
}

/// The states of a proposal that somebody has to answer.
pub(crate) fn waiting() -> impl Iterator<Item = State> {
    WAITING.iter().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sound() {
        assert_eq!(PAIRING.faults(), Vec::<String>::new());
    }

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
    fn what_is_over_allows_nothing() {
        for state in [Declined, Withdrawn, Expired, Closed, Cancelled] {
            assert_eq!(PAIRING.allowed(state), Vec::<&str>::new());
            assert!(!state.is_open() && !state.waits());
        }
    }
}
