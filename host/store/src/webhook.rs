//! A webhook: an address that an agent's events are sent to, and a delivery to it.

use portolan_vocabulary::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebhookState {
    Unverified,
    Active,
    Paused,
    Disabled,
}

pub(crate) const STATES: [(WebhookState, &str); 4] = [
    (WebhookState::Unverified, "unverified"),
    (WebhookState::Active, "active"),
    (WebhookState::Paused, "paused"),
    (WebhookState::Disabled, "disabled"),
];

impl WebhookState {
    pub fn name(self) -> &'static str {
        STATES.iter().find(|(state, _)| *state == self).map_or("", |(_, name)| name)
    }
}

/// An address that an agent's events are sent to.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// `whk_` and a ULID.
    pub id: String,
    pub agent_id: String,
    pub test_mode: bool,
    pub url: String,
    /// The event types; empty means all.
    pub types: Vec<String>,
    pub description: Option<String>,
    pub state: WebhookState,
    /// The sealed secret, in base64.
    pub secret: String,
    pub previous_secret: Option<String>,
    pub previous_until: Option<Timestamp>,
    /// Counts up from 1 with every change by the agent and every change of state.
    pub version: u64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub last_error: Option<String>,
    pub health: Health,
}

/// The results of deliveries to a webhook.
#[derive(Debug, Clone, Default)]
pub struct Health {
    /// The number of failures since the last success.
    pub failures: u64,
    pub failing_since: Option<Timestamp>,
    pub last_success_at: Option<Timestamp>,
    /// No event is sent before this time; challenges are.
    pub cooldown_until: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryOutcome {
    Pending,
    Delivered,
    Dead,
}

pub(crate) const OUTCOMES: [(DeliveryOutcome, &str); 3] = [
    (DeliveryOutcome::Pending, "pending"),
    (DeliveryOutcome::Delivered, "delivered"),
    (DeliveryOutcome::Dead, "dead"),
];

impl DeliveryOutcome {
    pub fn name(self) -> &'static str {
        OUTCOMES.iter().find(|(outcome, _)| *outcome == self).map_or("", |(_, name)| name)
    }
}

/// An entry of the delivery log of a webhook.
#[derive(Debug, Clone)]
pub struct Delivery {
    pub seq: i64,
    pub id: String,
    pub webhook_id: String,
    pub event_id: String,
    pub event_type: String,
    pub subject: String,
    pub outcome: DeliveryOutcome,
    pub attempts: u32,
    pub created_at: Timestamp,
    pub last_attempt_at: Option<Timestamp>,
    pub next_attempt_at: Option<Timestamp>,
    pub status: Option<u16>,
    pub response: Option<String>,
    pub error: Option<String>,
    pub duration_ms: Option<u32>,
}
