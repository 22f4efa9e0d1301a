//! The states of a webhook, and what may be done in which.

use crate::types::WebhookError;
use portolan_sdk::{contract::webhooks, prelude::*};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    /// It has not answered a challenge yet; nothing else is sent.
    Unverified,
    /// Events are sent.
    Active,
    /// By its agent: what happens waits.
    Paused,
    /// By the host, after five days of failures or an answer of 410: what happens is not sent.
    Disabled,
}

impl From<webhooks::State> for State {
    fn from(state: webhooks::State) -> Self {
        match state {
            webhooks::State::Unverified => Self::Unverified,
            webhooks::State::Active => Self::Active,
            webhooks::State::Paused => Self::Paused,
            webhooks::State::Disabled => Self::Disabled,
        }
    }
}

/// What stands in the way of an action.
#[derive(Serialize)]
struct StateConflict {
    kind: &'static str,
    current: State,
    allowed_actions: &'static [&'static str],
}

/// What changes a webhook or sends to it, by its state; anything else is refused.
pub(crate) fn allowed_actions(state: State) -> &'static [&'static str] {
    match state {
        State::Unverified => &["verify", "update", "rotate_secret", "delete"],
        State::Active => &["verify", "update", "pause", "rotate_secret", "test", "delete"],
        State::Paused => &["verify", "update", "resume", "rotate_secret", "delete"],
        State::Disabled => &["verify", "update", "rotate_secret", "delete"],
    }
}

pub(crate) fn check(webhook_id: &str, state: State, action: &str) -> Result<(), WebhookError> {
    let webhook_id = webhook_id.to_owned();
    match (state, action) {
        _ if allowed_actions(state).contains(&action) => Ok(()),
        (State::Unverified, "test") => Err(WebhookError::WebhookUnverified { webhook_id }),
        (State::Disabled, _) => Err(WebhookError::WebhookDisabled { webhook_id }),
        _ => Err(WebhookError::Common(invalid_transition(state))),
    }
}

fn invalid_transition(state: State) -> Refusal {
    let mut refusal = Refusal::common(
        ErrorCode::InvalidTransition,
        "The state of the webhook does not allow this action.",
    );
    refusal.conflict = Some(Box::new(portolan_sdk::to_value(&StateConflict {
        kind: "state",
        current: state,
        allowed_actions: allowed_actions(state),
    })));
    refusal
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATES: [State; 4] = [State::Unverified, State::Active, State::Paused, State::Disabled];

    #[test]
    fn each_state_has_its_answer() {
        let answers = |action| {
            STATES.map(|state| match check("whk_1", state, action) {
                Ok(()) => "ok".to_owned(),
                Err(refusal) => Refusal::from(refusal).code,
            })
        };
        for action in ["verify", "update", "rotate_secret", "delete"] {
            assert_eq!(answers(action), ["ok"; 4], "{action}");
        }
        let invalid = "invalid_transition";
        assert_eq!(answers("pause"), [invalid, "ok", invalid, "webhook_disabled"]);
        assert_eq!(answers("resume"), [invalid, invalid, "ok", "webhook_disabled"]);
        assert_eq!(answers("test"), ["webhook_unverified", "ok", invalid, "webhook_disabled"]);
    }

    #[test]
    fn an_invalid_transition_tells_the_valid_ones() {
        let conflict = portolan_sdk::to_value(&invalid_transition(State::Paused).conflict);
        assert_eq!((&conflict["kind"], &conflict["current"]), (&"state".into(), &"paused".into()));
        assert_eq!(conflict["allowed_actions"][2], "resume");
    }
}
