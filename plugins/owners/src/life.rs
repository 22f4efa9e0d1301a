//! The states of a person's record, and which action leads where.

use crate::types::OwnersError;
use portolan_sdk::prelude::*;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    #[default]
    Active,
    Deactivated,
}

struct Transition {
    action: &'static str,
    from: &'static [State],
    /// None: the state stays as it is.
    to: Option<State>,
}

const ANY: &[State] = &[State::Active, State::Deactivated];

/// Everything that the person may do; anything else is an invalid transition.
const TRANSITIONS: [Transition; 6] = [
    Transition { action: "update_profile", from: ANY, to: None },
    Transition { action: "set_preferences", from: ANY, to: None },
    Transition { action: "rename_agent", from: ANY, to: None },
    Transition { action: "revoke_agent", from: ANY, to: None },
    Transition { action: "deactivate", from: &[State::Active], to: Some(State::Deactivated) },
    Transition { action: "reactivate", from: &[State::Deactivated], to: Some(State::Active) },
];

/// What stands in the way of an action.
#[derive(Serialize)]
struct StateConflict {
    kind: &'static str,
    current: State,
    allowed_actions: Vec<&'static str>,
}

pub(crate) fn allowed_actions(state: State) -> Vec<&'static str> {
    TRANSITIONS.iter().filter(|it| it.from.contains(&state)).map(|it| it.action).collect()
}

/// The state that an action leads to.
pub(crate) fn check(state: State, action: &str) -> Result<State, OwnersError> {
    let row = TRANSITIONS.iter().find(|it| it.action == action && it.from.contains(&state));
    row.map(|row| row.to.unwrap_or(state)).ok_or_else(|| {
        let mut refusal = Refusal::common(
            "invalid_transition",
            "The state of the person's record does not allow this action.",
        );
        refusal.conflict = Some(Box::new(portolan_sdk::to_value(&StateConflict {
            kind: "state",
            current: state,
            allowed_actions: allowed_actions(state),
        })));
        OwnersError::Common(refusal)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_goes_and_comes_back() {
        let to = |state, action| check(state, action).ok();
        assert_eq!(to(State::Active, "deactivate"), Some(State::Deactivated));
        assert_eq!(to(State::Deactivated, "reactivate"), Some(State::Active));
        assert_eq!(to(State::Active, "reactivate"), None);
        assert_eq!(to(State::Deactivated, "deactivate"), None);
        assert_eq!(to(State::Deactivated, "update_profile"), Some(State::Deactivated));
    }
}
