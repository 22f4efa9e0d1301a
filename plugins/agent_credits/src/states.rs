//! The states of accounts and of holds.

use portolan_sdk::prelude::*;

#[choice(Default, States)]
pub(crate) enum AccountState {
    #[default]
    Active,
    Frozen,
}

#[choice(States)]
pub(crate) enum HoldState {
    Held,
    Captured,
    Released,
}

use AccountState::{Active, Frozen};
use HoldState::{Captured, Held, Released};

/// The states of an account. Actions that a frozen account does not allow are refused with
/// `account_frozen`.
pub(crate) const ACCOUNT: Machine<AccountState> = Machine::new(
    "account",
    &[
        Transition::internal("on_claimed", &[], &[Active]),
        Transition::new("transfer", &[Active], &[]),
        Transition::new("redeem", &[Active], &[]),
        Transition::internal("hold", &[Active], &[]),
        Transition::internal("capture", &[Active, Frozen], &[]),
        Transition::internal("release", &[Active, Frozen], &[]),
        Transition::internal("expire", &[Active, Frozen], &[]),
        Transition::internal("top_up", &[Active, Frozen], &[]),
        Transition::internal("freeze", &[Active, Frozen], &[Frozen]),
        Transition::internal("unfreeze", &[Active, Frozen], &[Active]),
    ],
);

/// The states of a hold. Ending a hold again in the same way changes nothing.
pub(crate) const HOLD: Machine<HoldState> = Machine::new(
    "hold",
    &[
        Transition::internal("hold", &[], &[Held]),
        Transition::internal("capture", &[Held, Captured], &[Captured]),
        Transition::internal("release", &[Held, Released], &[Released]),
        Transition::internal("expire", &[Held], &[Released]),
    ],
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frozen_account_lets_nothing_out() {
        assert_eq!(ACCOUNT.allowed(Active), ["transfer", "redeem"]);
        assert_eq!(ACCOUNT.allowed(Frozen), Vec::<&str>::new());
        assert!(ACCOUNT.step("", Frozen, "hold").is_err());
    }

    #[test]
    fn a_hold_can_be_ended_only_once() {
        assert!(HOLD.step("", Released, "capture").is_err());
        assert!(HOLD.step("", Captured, "release").is_err());
        assert_eq!(HOLD.step("", Captured, "capture").unwrap(), Captured);
    }
}
