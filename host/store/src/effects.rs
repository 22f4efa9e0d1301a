//! What a unit brings about beside documents: events, timers, orders, and what is kept of the call.

use crate::webhook::Webhook;
use portolan_vocabulary::{Digest, HOST, Timestamp, entropy, new_identifier, new_request_id};
use serde::Serialize;
use serde_json::Value;

/// Whom an event is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Audience {
    Agent(String),
    Owner(String),
    /// Subscribed capabilities only.
    Capabilities,
    /// Everyone who has asked for events in the last days, or has them sent.
    Listeners,
    /// One address that events are sent to, to ask whether it wants to be one, or not.
    Webhook {
        id: String,
        challenge: bool,
    },
}

#[derive(Debug, Clone)]
pub struct NewEvent {
    /// `evt_` and a ULID.
    pub id: String,
    pub capability: String,
    pub event_type: String,
    pub subject: String,
    pub audience: Audience,
    /// A JSON object.
    pub data: String,
    pub request_id: String,
    pub occurred_at: Timestamp,
    /// Of a call in test mode: subscribers hear of it in test mode.
    pub test_mode: bool,
    /// Capability and internal action of each subscriber.
    pub subscribers: Vec<(String, String)>,
    /// The agents of the owner that it is for, when the call ended.
    pub agents: Vec<String>,
}

impl NewEvent {
    /// The person it is for, if it is for one.
    pub fn owner(&self) -> Option<&String> {
        match &self.audience {
            Audience::Owner(id) => Some(id),
            _ => None,
        }
    }

    /// An event of the host's own, for no capability.
    pub fn of_host(
        event_type: &str,
        subject: &str,
        audience: Audience,
        data: &Value,
        now: Timestamp,
    ) -> Self {
        Self {
            id: new_identifier("evt", now, u128::from_le_bytes(entropy())),
            capability: HOST.to_owned(),
            event_type: event_type.to_owned(),
            subject: subject.to_owned(),
            audience,
            data: data.to_string(),
            request_id: new_request_id(now).to_string(),
            occurred_at: now,
            test_mode: false,
            subscribers: Vec::new(),
            agents: Vec::new(),
        }
    }
}

/// A change of inboxes and of what is sent.
#[derive(Debug, Clone)]
pub enum OutboxCommand {
    /// An agent asked for its events.
    Polled {
        agent_id: String,
        at: Timestamp,
    },
    /// An event of an inbox is done, or is to come again.
    Mark {
        agent_id: String,
        seq: u64,
        acknowledged: bool,
    },
    /// A new address, of an agent that has so many others.
    AddWebhook {
        webhook: Box<Webhook>,
        beside: u64,
    },
    /// Puts an address in the place of the one with this version.
    PutWebhook {
        webhook: Box<Webhook>,
        replaces: u64,
    },
    DropWebhook {
        id: String,
        version: u64,
    },
    /// Nothing is sent for an agent any more.
    DropWebhooksOf {
        agent_id: String,
    },
    /// Sends something once more.
    Redeliver {
        delivery_id: String,
        at: Timestamp,
    },
}

/// A timer by its capability, its name and the mode it runs in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimerKey {
    pub capability: String,
    pub name: String,
    pub test_mode: bool,
}

#[derive(Debug, Clone)]
pub enum TimerChange {
    Set {
        /// Tells this setting from every other of the same name.
        setting: String,
        at: Timestamp,
        action: String,
        input: String,
    },
    Cancel,
}

/// Work of the host's own that this call is the doing of.
#[derive(Debug, Clone)]
pub enum Task {
    Timer { key: TimerKey, setting: String },
    Delivery { id: i64 },
}

/// The answer to a call with an idempotency key, kept so that a repetition gets it again.
#[derive(Debug, Clone)]
pub struct KeptAnswer {
    pub key: IdempotencyKey,
    /// SHA-256 of what was asked.
    pub body_hash: Digest,
    /// JSON.
    pub answer: String,
    pub now: Timestamp,
    pub expires_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdempotencyKey {
    pub agent_id: String,
    pub capability: String,
    pub action: String,
    pub key: String,
}

/// Who did what, when, and how it ended.
#[derive(Debug, Clone, Serialize)]
pub struct AuditRecord {
    pub at: Timestamp,
    pub request_id: String,
    /// None for the host itself.
    pub agent_id: Option<String>,
    pub owner_id: Option<String>,
    /// The capabilities that called it, outermost first.
    pub via: Vec<String>,
    pub capability: String,
    pub version: String,
    /// Of the component that ran.
    pub digest: String,
    pub action: String,
    /// `ok`, or the error code.
    pub outcome: String,
    pub duration_us: u64,
}

impl OutboxCommand {
    /// The address that it changes, and the version that it must have.
    pub(crate) fn webhook(&self) -> Option<(&str, u64)> {
        match self {
            Self::PutWebhook { webhook, replaces } => Some((&webhook.id, *replaces)),
            Self::DropWebhook { id, version } => Some((id, *version)),
            _ => None,
        }
    }
}

impl IdempotencyKey {
    pub(crate) fn parts(&self) -> (String, String, String, String) {
        let Self { agent_id, capability, action, key } = self.clone();
        (agent_id, capability, action, key)
    }
}
