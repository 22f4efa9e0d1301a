//! The states of an attempt to prove a number, and which action leads where.

use portolan_sdk::prelude::*;

#[choice(States)]
pub(crate) enum Stage {
    CodeSent,
    Verified,
    /// Another attempt took its place.
    Superseded,
    /// Too many wrong codes.
    Locked,
    /// The time for the code is over. Never stored: see [`Bind::stage`](crate::types::Bind::stage).
    Expired,
    /// The message did not arrive.
    Failed,
}

use Stage::{CodeSent, Expired, Failed, Locked, Superseded, Verified};

/// An attempt is made by `bind` or `change`, and ended by the next one.
pub(crate) const BIND: Machine<Stage> = Machine::new(
    "phone_bind",
    &[
        Transition::new("bind", &[], &[CodeSent]),
        Transition::new("bind", &[CodeSent, Expired], &[Superseded]),
        Transition::new("change", &[], &[CodeSent]),
        Transition::new("change", &[CodeSent, Expired], &[Superseded]),
        Transition::new("resend", &[CodeSent, Expired], &[CodeSent]),
        Transition::new("verify", &[CodeSent], &[CodeSent, Verified, Locked, Expired]),
        Transition::internal("undeliverable", &[CodeSent, Expired], &[Failed]),
    ],
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sound() {
        assert_eq!(BIND.faults(), Vec::<String>::new());
        assert_eq!(BIND.allowed(CodeSent), ["bind", "change", "resend", "verify"]);
        for over in [Verified, Superseded, Locked, Failed] {
            assert_eq!(BIND.allowed(over), [""; 0], "{over:?}");
        }
    }
}
