//! The states of a webhook, and the actions that each allows.

use crate::types::{Result, WebhookError};
use portolan_sdk::{contract::webhooks, prelude::*, states::StateConflict};

#[choice(States)]
pub(crate) enum State {
    /// The address has not answered a challenge yet; only challenges are sent.
    Unverified,
    /// The address has answered a challenge: events are sent.
    Active,
    /// The agent has paused the webhook: events wait.
    Paused,
    /// The host has disabled the webhook after five days of failures or an answer of 410: events
    /// are not sent.
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

/// Returns the actions that change a webhook or send to it and that its state allows; all others
/// are refused.
pub(crate) fn allowed_actions(state: State) -> &'static [&'static str] {
    match state {
        State::Unverified => &["verify", "update", "rotate_secret", "delete"],
        State::Active => &["verify", "update", "pause", "rotate_secret", "test", "delete"],
        State::Paused => &["verify", "update", "resume", "rotate_secret", "delete"],
        State::Disabled => &["verify", "update", "rotate_secret", "delete"],
    }
}

pub(crate) fn check(webhook_id: &str, state: State, action: &str) -> Result<()> {
    let webhook_id = webhook_id.to_owned();
    match (state, action) {
        _ if allowed_actions(state).contains(&action) => Ok(()),
        (State::Unverified, "test") => Err(WebhookError::WebhookUnverified { webhook_id }),
        (State::Disabled, _) => Err(WebhookError::WebhookDisabled { webhook_id }),
        _ => Err(invalid_transition(state).into()),
    }
}

fn invalid_transition(state: State) -> Refusal {
    let message = "The state of the webhook does not allow this action.";
    let conflict = StateConflict::new(state.name(), allowed_actions(state).to_vec());
    Refusal::common(ErrorCode::InvalidTransition, message).conflict(&conflict)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_has_its_answer() {
        let answers = |action| {
            let codes = State::ALL.iter().map(|state| match check("whk_1", *state, action) {
                Ok(()) => "ok".to_owned(),
                Err(refusal) => Refusal::from(refusal).code,
            });
            codes.collect::<Vec<_>>()
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
