//! Inputs, outputs and refusals.

use crate::states::{State, allowed_actions};
use portolan_sdk::{contract::webhooks, prelude::*};

pub(crate) const CAPABILITY: &str = "svc.webhooks";
/// The value of the field `trust` in objects with texts that other people wrote.
const UNTRUSTED: &str = "untrusted_user_content";
/// The pattern of an event type, as the action `types` of `svc.events` lists them.
const EVENT_TYPE: &str = "^[a-z0-9_]+([.][a-z0-9_]+)+$";

#[input]
pub(crate) struct Create {
    /// The address: https, and reachable from the internet, such as
    /// `https://hooks.example.com/portolan`.
    #[schemars(length(min = 1, max = 2048))]
    pub(crate) url: String,
    /// The types of the events to send, out of those that the action `types` of `svc.events` lists.
    /// Omit this field to get events of all types.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50), inner(regex(pattern = EVENT_TYPE), length(max = 128)))]
    pub(crate) types: Vec<String>,
    /// A description for your own use; nobody else reads it.
    #[schemars(length(max = 200))]
    pub(crate) description: Option<String>,
}

#[input]
pub(crate) struct WebhookId {
    /// The webhook's id, from `create` or `list`.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) webhook_id: String,
}

#[input]
pub(crate) struct Update {
    /// The webhook's id, from `create` or `list`.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) webhook_id: String,
    pub(crate) expected_version: Option<Version>,
    /// A new address; it must answer a challenge before anything else is sent there.
    #[schemars(length(min = 1, max = 2048))]
    pub(crate) url: Option<String>,
    /// The new list of types; null or an empty list for all.
    #[schemars(length(max = 50), inner(regex(pattern = EVENT_TYPE), length(max = 128)))]
    pub(crate) types: Option<Option<Vec<String>>>,
    /// A new description for your own use; null for none.
    #[schemars(length(max = 200))]
    pub(crate) description: Option<Option<String>>,
}

#[input]
pub(crate) struct Deliveries {
    /// The webhook's id, from `create` or `list`.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) webhook_id: String,
    /// The outcome of the deliveries to return. Omit this field to get deliveries with any outcome.
    pub(crate) outcome: Option<DeliveryOutcome>,
    /// The maximum number of deliveries to return.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100))]
    pub(crate) limit: u32,
    /// The `next_cursor` of the page before.
    #[schemars(length(max = 1024))]
    pub(crate) cursor: Option<String>,
}

fn default_limit() -> u32 {
    20
}

#[input]
pub(crate) struct DeliveryId {
    /// The delivery's id, from `deliveries`.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) delivery_id: String,
}

#[choice]
pub(crate) enum DeliveryOutcome {
    /// The delivery waits for its first or next attempt.
    Pending,
    /// The event was delivered.
    Delivered,
    /// The delivery failed too often.
    Dead,
}

impl From<webhooks::Outcome> for DeliveryOutcome {
    fn from(outcome: webhooks::Outcome) -> Self {
        match outcome {
            webhooks::Outcome::Pending => Self::Pending,
            webhooks::Outcome::Delivered => Self::Delivered,
            webhooks::Outcome::Dead => Self::Dead,
        }
    }
}

impl From<DeliveryOutcome> for webhooks::Outcome {
    fn from(outcome: DeliveryOutcome) -> Self {
        match outcome {
            DeliveryOutcome::Pending => Self::Pending,
            DeliveryOutcome::Delivered => Self::Delivered,
            DeliveryOutcome::Dead => Self::Dead,
        }
    }
}

#[output]
pub(crate) struct Webhook {
    pub(crate) webhook_id: String,
    url: String,
    /// The types of events that are sent; empty means all.
    types: Vec<String>,
    description: Option<String>,
    pub(crate) state: State,
    /// The version, which increases with every change.
    pub(crate) version: u64,
    /// The actions that its state allows, besides reading.
    allowed_actions: &'static [&'static str],
    /// When it was created (RFC 3339).
    created_at: String,
    /// When it last changed (RFC 3339).
    updated_at: String,
    /// Until when requests are signed with the old secret too (RFC 3339).
    previous_secret_until: Option<String>,
    /// Since when no request has succeeded (RFC 3339), if the last attempt failed.
    failing_since: Option<String>,
    /// When the last request succeeded (RFC 3339).
    last_success_at: Option<String>,
    /// Why it is disabled, or why the last attempt failed.
    last_error: Option<String>,
}

impl From<webhooks::Endpoint> for Webhook {
    fn from(endpoint: webhooks::Endpoint) -> Self {
        let state = State::from(endpoint.state);
        view!(move endpoint => Self {
            url, types, version, last_error;
            webhook_id: endpoint.id,
            description: endpoint.description.filter(|text| !text.is_empty()),
            state,
            allowed_actions: allowed_actions(state),
            created_at: rfc3339(endpoint.created_at),
            updated_at: rfc3339(endpoint.updated_at),
            previous_secret_until: endpoint.previous_secret_until.map(rfc3339),
            failing_since: endpoint.failing_since.map(rfc3339),
            last_success_at: endpoint.last_success_at.map(rfc3339),
        })
    }
}

#[output]
pub(crate) struct Shown {
    pub(crate) webhook: Webhook,
}

// Without `Debug`, so that no log can show the secret.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WithSecret {
    pub(crate) webhook: Webhook,
    /// The secret: `whsec_` and, in base64, the key of the signatures. It is shown only here.
    pub(crate) secret: String,
}

impl From<webhooks::Created> for WithSecret {
    fn from(created: webhooks::Created) -> Self {
        Self { webhook: created.endpoint.into(), secret: created.secret }
    }
}

#[output]
pub(crate) struct Webhooks {
    /// The webhooks, oldest first; at most five.
    pub(crate) items: Vec<Webhook>,
}

#[output]
pub(crate) struct Tested {
    /// The id of the event `webhook.test` that is sent.
    pub(crate) event_id: String,
}

#[output]
pub(crate) struct Deleted {
    /// Always true.
    pub(crate) deleted: bool,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct DeliveryPage {
    /// The deliveries, newest first.
    pub(crate) items: Vec<Delivery>,
    /// The cursor of the next page; null at the end.
    pub(crate) next_cursor: Option<String>,
}

#[output]
pub(crate) struct Redelivered {
    pub(crate) delivery: Delivery,
}

/// A delivery: one event for one webhook.
#[output]
pub(crate) struct Delivery {
    delivery_id: String,
    webhook_id: String,
    event_id: String,
    event_type: String,
    subject: String,
    outcome: DeliveryOutcome,
    /// The number of attempts.
    attempts: u32,
    /// When it was created (RFC 3339).
    created_at: String,
    /// When it was last tried (RFC 3339).
    last_attempt_at: Option<String>,
    /// When it is tried next (RFC 3339).
    next_attempt_at: Option<String>,
    /// The HTTP status of the last answer.
    status: Option<u16>,
    /// The body of the last answer.
    response: Option<Response>,
    /// Why there was no answer.
    error: Option<String>,
    /// The duration of the last attempt, in milliseconds.
    duration_ms: Option<u32>,
}

impl From<webhooks::Delivery> for Delivery {
    fn from(delivery: webhooks::Delivery) -> Self {
        view!(move delivery => Self {
            event_id, event_type, subject, attempts, status, error, duration_ms;
            delivery_id: delivery.id,
            webhook_id: delivery.endpoint_id,
            outcome: delivery.outcome.into(),
            created_at: rfc3339(delivery.created_at),
            last_attempt_at: delivery.last_attempt_at.map(rfc3339),
            next_attempt_at: delivery.next_attempt_at.map(rfc3339),
            response: delivery.response.map(|text| Response { text, trust: UNTRUSTED }),
        })
    }
}

#[output]
struct Response {
    /// The beginning of the body, at most 1024 bytes.
    text: String,
    /// Always `untrusted_user_content`: the server at the address wrote the text.
    trust: &'static str,
}

#[derive(Refusals)]
pub(crate) enum WebhookError {
    /// Events cannot be sent to this address.
    ///
    /// The message says why: the address must be https and public.
    #[refusal(invalid)]
    UrlNotAllowed,
    /// This agent has as many webhooks as allowed. Delete one first.
    #[refusal(conflict, next = step("list"))]
    WebhookLimitReached,
    /// This agent has no webhook with this id.
    #[refusal(not_found, next = step("list"))]
    WebhookNotFound,
    /// This agent has no delivery with this id.
    #[refusal(not_found, next = step("list"))]
    DeliveryNotFound,
    /// The webhook has not answered its challenge yet.
    #[refusal(conflict, next = step_for("verify", webhook_id))]
    WebhookUnverified { webhook_id: String },
    /// The webhook is disabled. Fix the server at its address, and verify it again.
    #[refusal(conflict, next = step_for("verify", webhook_id))]
    WebhookDisabled { webhook_id: String },
    #[refusal(transparent)]
    Common(Refusal),
}

pub(crate) type Result<T, E = WebhookError> = std::result::Result<T, E>;

pub(crate) fn step(action: &str) -> Next {
    Next::action(CAPABILITY, action)
}

pub(crate) fn step_for(action: &str, webhook_id: impl Into<String>) -> Next {
    step(action).field("webhook_id", webhook_id.into())
}
