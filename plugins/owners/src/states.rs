//! The states of a person's record, and their transitions.

use crate::types::me;
use portolan_sdk::prelude::*;

/// The state of a person, who is active from the first claim on.
#[choice(Default, States)]
pub(crate) enum State {
    #[default]
    Active,
    Deactivated,
}

use State::{Active, Deactivated};

const ANY: &[State] = &[Active, Deactivated];

/// The transitions: any other action is refused as an invalid transition.
pub(crate) const OWNER: Machine<State> = Machine::new(
    "owner",
    &[
        Transition::new("update_profile", ANY, &[]),
        Transition::new("set_preferences", ANY, &[]),
        Transition::new("rename_agent", ANY, &[]),
        Transition::new("revoke_agent", ANY, &[]),
        Transition::new("sign_out_everywhere", ANY, &[]),
        Transition::new("deactivate", &[Active], &[Deactivated]),
        Transition::new("reactivate", &[Deactivated], &[Active]),
        Transition::internal("on_owner_left", &[Active], &[Deactivated]),
    ],
);

/// Returns the state that an action leads to. The refusal refers to the person's own record, which
/// lists the allowed actions; the public card does not.
pub(crate) fn step(owner_id: &str, state: State, action: &str) -> Result<State, Refusal> {
    OWNER.step(owner_id, state, action).map_err(|refusal| refusal.next(me()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_can_only_leave_and_return() {
        let to = |state, action| step("own_1", state, action).ok();
        assert_eq!(to(Active, "deactivate"), Some(Deactivated));
        assert_eq!(to(Deactivated, "reactivate"), Some(Active));
        assert_eq!(to(Active, "reactivate"), None);
        assert_eq!(to(Deactivated, "deactivate"), None);
        assert_eq!(to(Deactivated, "update_profile"), Some(Deactivated));
    }
}
