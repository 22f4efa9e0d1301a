//! The states of an attempt to prove a number, and their transitions.

use portolan_sdk::prelude::*;

#[choice(States)]
pub(crate) enum Stage {
    CodeSent,
    Verified,
    /// Another attempt has superseded it.
    Superseded,
    /// There were too many wrong codes.
    Locked,
    /// The code has expired. This state is never stored: see
    /// [`Bind::stage`](crate::types::Bind::stage).
    Expired,
    /// The message was not delivered.
    Failed,
}

/// The role of an agent that nobody has claimed.
pub(crate) const ANONYMOUS_AGENT: &str = "anonymous";
/// The role of a claimed agent.
pub(crate) const CLAIMED_AGENT: &str = "claimed";

use Stage::{CodeSent, Expired, Failed, Locked, Superseded, Verified};

/// The states of an attempt, which is made by `bind` or `change`, and superseded by the next one.
pub(crate) const BIND: Machine<Stage> = Machine::new(
    "phone_bind",
    &[
        Transition::new("bind", &[], &[CodeSent]).by(ANONYMOUS_AGENT),
        Transition::new("bind", &[CodeSent, Expired], &[Superseded]).by(ANONYMOUS_AGENT),
        Transition::new("change", &[], &[CodeSent]).by(CLAIMED_AGENT),
        Transition::new("change", &[CodeSent, Expired], &[Superseded]).by(CLAIMED_AGENT),
        Transition::new("resend", &[CodeSent, Expired], &[CodeSent]),
        Transition::new("verify", &[CodeSent], &[CodeSent, Verified, Locked, Expired]),
        Transition::internal("approve", &[CodeSent], &[Verified]),
        Transition::internal("undeliverable", &[CodeSent, Expired], &[Failed]),
    ],
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_that_is_over_allows_nothing() {
        assert_eq!(BIND.allowed_as(ANONYMOUS_AGENT, CodeSent), ["bind", "resend", "verify"]);
        assert_eq!(BIND.allowed_as(CLAIMED_AGENT, CodeSent), ["change", "resend", "verify"]);
        for over in [Verified, Superseded, Locked, Failed] {
            assert_eq!(BIND.allowed(over), [""; 0], "{over:?}");
        }
    }
}
