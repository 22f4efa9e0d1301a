//! The states of a call that waits, and the transitions between them.

use portolan_sdk::prelude::*;

#[choice(States)]
pub(crate) enum State {
    /// It waits for the person.
    Waiting,
    /// The person has approved it, and the host makes it.
    Approved,
    /// It was made.
    Done,
    /// It was approved and then refused or failed: `outcome` says why. Nothing was changed, unless the outcome is
    /// unknown.
    Failed,
    Denied,
    /// The agent has cancelled it.
    Cancelled,
    Expired,
}

use State::{Approved, Cancelled, Denied, Done, Expired, Failed, Waiting};

pub(crate) const APPROVAL: Machine<State> = Machine::new(
    "approval",
    &[
        Transition::internal("hold", &[], &[Waiting]),
        Transition::new("approve", &[Waiting], &[Approved]).by("person"),
        Transition::new("deny", &[Waiting], &[Denied]).by("person"),
        Transition::new("cancel", &[Waiting], &[Cancelled]).by("agent"),
        Transition::internal("due", &[Waiting], &[Expired]),
        Transition::internal("due", &[Approved], &[Failed]),
        Transition::internal("executed", &[Approved], &[Done, Failed]),
    ],
)
.read_by("approvals", "get", "approval_id");
