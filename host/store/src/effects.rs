//! The effects of a call other than documents: events, timers, outbox commands, and its records.

use crate::{
    texts::{is_storable, storable},
    webhook::Webhook,
};
use portolan_vocabulary::{
    Digest, EventParts, HOST, Operator, OwnerRules, Timestamp, entropy, new_identifier,
    new_request_id,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// The maximum number of held events that a step of a release passes.
pub(crate) const HELD_AT_ONCE: usize = 500;

/// The audience of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Audience {
    Agent(String),
    Owner(String),
    /// Only subscribed capabilities receive the event.
    Capabilities,
    /// Every agent that has polled in the last 30 days or has an active or paused webhook.
    Listeners,
    /// One webhook; a challenge asks it to confirm that it wants events.
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
    /// The event's place in a trace, as telemetry stores it.
    pub trace: Option<String>,
    pub occurred_at: Timestamp,
    /// Whether the call ran in test mode; subscribers then receive the event in test mode.
    pub test_mode: bool,
    /// The capability and the internal action of each subscriber.
    pub subscribers: Vec<(String, String)>,
    /// The agents of the owner when the call ended, if the audience is an owner; or the agent to which the
    /// owner's rules apply.
    pub agents: Vec<String>,
    /// The delivery rules of the owner, if there are any.
    pub rules: Option<Arc<OwnerRules>>,
    /// Whether the owner, who is the audience, is also told by email.
    pub has_email: bool,
}

impl NewEvent {
    /// Returns the owner's id if the audience is an owner.
    pub fn owner(&self) -> Option<&String> {
        match &self.audience {
            Audience::Owner(id) => Some(id),
            _ => None,
        }
    }

    /// Returns the parts of the event that delivery rules are about.
    pub(crate) fn parts(&self) -> EventParts<'_> {
        EventParts { event_type: &self.event_type, subject: &self.subject, data: &self.data }
    }

    /// Creates an event of the host itself, which belongs to no capability.
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
            trace: None,
            occurred_at: now,
            test_mode: false,
            subscribers: Vec::new(),
            agents: Vec::new(),
            rules: None,
            has_email: false,
        }
    }
}

/// A command that changes inboxes, webhooks or deliveries when the unit of work is committed.
#[derive(Debug, Clone)]
pub enum OutboxCommand {
    /// Records that an agent has polled.
    Polled { agent_id: String, at: Timestamp },
    /// Adds the events to all listeners that an inbox does not have yet.
    AddBroadcasts { agent_id: String },
    /// Marks an event of an inbox as acknowledged or not.
    Mark { agent_id: String, seq: u64, acknowledged: bool },
    /// Adds a webhook, if the agent has exactly this number of other webhooks.
    AddWebhook { webhook: Box<Webhook>, existing: u64 },
    /// Replaces a webhook, if it has this version.
    PutWebhook { webhook: Box<Webhook>, replaces: u64 },
    /// Deletes a webhook with its deliveries, if it has this version.
    DropWebhook { id: String, agent_id: String, version: u64 },
    /// Deletes all webhooks of an agent with their deliveries.
    DropWebhooksOf { agent_id: String },
    /// Removes the events before this time from the inbox of an agent.
    EmptyInboxOf { agent_id: String, before: Timestamp },
    /// Makes a delivery to a webhook pending and due again, and resets its attempts to 0.
    Redeliver { delivery_id: String, at: Timestamp },
    /// Adds to a counter.
    Count(Count),
    /// Applies an owner's changed rules to the held events, in the releases that follow.
    ReconsiderHeld { owner_id: String },
    /// Does the next step of the release of an owner's held events that are due.
    Release(Release),
    /// Subtracts the events that an email of the same commit tells an owner from those that are to be told: numbers by
    /// type of event.
    TakeEmailNotices { owner_id: String, told: Vec<(String, u64)> },
}

/// The release of an owner's held events.
#[derive(Debug, Clone)]
pub struct Release {
    pub rules: Arc<OwnerRules>,
    pub agents: Vec<String>,
    /// The sequences of the held events that a digest of the same commit summarizes, or that are dropped.
    pub summarized: Vec<u64>,
    /// The numbers of events by type, beyond the limit of held events, that the same digest names, or that are
    /// dropped.
    pub counted: Vec<(String, u64)>,
    /// Whether the owner is also told by email.
    pub has_email: bool,
    pub at: Timestamp,
}

/// An addition to a counter. A counter below `floor` is raised to it first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    pub name: String,
    pub floor: u64,
    pub step: u64,
    /// When the counter may be forgotten.
    pub expires_at: Timestamp,
}

impl Count {
    /// Returns the value of the counter after the addition.
    pub(crate) fn after(&self, value: u64) -> u64 {
        value.max(self.floor).saturating_add(self.step)
    }
}

/// The key of a timer: its capability, its name and its mode.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimerKey {
    pub capability: String,
    pub name: String,
    pub test_mode: bool,
}

#[derive(Debug, Clone)]
pub enum TimerChange {
    Set {
        /// Identifies this setting of the timer. Setting the timer again creates a new id.
        setting: String,
        at: Timestamp,
        action: String,
        input: String,
    },
    Cancel,
}

/// The due work that this call does.
#[derive(Debug, Clone)]
pub enum Task {
    Timer { key: TimerKey, setting: String },
    Delivery { id: i64 },
}

/// The stored answer of a call with an idempotency key, which a replay gets again.
#[derive(Debug, Clone)]
pub struct StoredAnswer {
    pub key: IdempotencyKey,
    /// The digest of the input.
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

/// A row of the audit log before it is written.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AuditRecord {
    pub at: Timestamp,
    pub request_id: String,
    /// `None` for the host itself.
    pub agent_id: Option<String>,
    pub owner_id: Option<String>,
    /// The OAuth client, in rows about authentication.
    pub client_id: Option<String>,
    /// The network address of a failed authentication.
    pub address: Option<String>,
    /// The capabilities that called this one, outermost first. An operator call begins with
    /// `operator:` and the operator's name.
    pub via: Vec<String>,
    pub capability: String,
    /// The version of the component. In the row of a decision about something else, what it is about: a
    /// publisher, an operator, numbers of dead letters.
    pub version: String,
    /// The digest of the component that ran.
    pub digest: String,
    pub action: String,
    /// `ok`, or the error code.
    pub outcome: String,
    pub duration_us: u64,
    /// How often it happened, where several are one row; otherwise 1.
    pub count: u64,
}

impl AuditRecord {
    /// Makes the row of something that the host itself has done.
    pub fn of_host(action: &str, outcome: &str, now: Timestamp) -> Self {
        Self {
            at: now,
            request_id: new_request_id(now).to_string(),
            agent_id: None,
            owner_id: None,
            client_id: None,
            address: None,
            via: Vec::new(),
            capability: HOST.to_owned(),
            version: String::new(),
            digest: String::new(),
            action: action.to_owned(),
            outcome: outcome.to_owned(),
            duration_us: 0,
            count: 1,
        }
    }

    /// Makes the row of something that an operator has done.
    pub fn of_operator(action: &str, operator: &Operator, now: Timestamp) -> Self {
        Self { via: vec![operator.caller()], ..Self::of_host(action, "ok", now) }
    }

    /// Replaces what a database cannot contain. Some of the texts are from outside: the row of a decision names what it
    /// is about as the operator has written it.
    pub(crate) fn make_storable(&mut self) {
        let optional =
            [&mut self.agent_id, &mut self.owner_id, &mut self.client_id, &mut self.address];
        let texts = [
            &mut self.request_id,
            &mut self.capability,
            &mut self.version,
            &mut self.digest,
            &mut self.action,
            &mut self.outcome,
        ];
        for text in optional.into_iter().flatten().chain(texts) {
            if !is_storable(text) {
                *text = storable(text);
            }
        }
    }
}

impl OutboxCommand {
    /// Returns how many held events the command may release.
    pub(crate) fn released(&self) -> usize {
        match self {
            Self::Release(release) => release.summarized.len() + HELD_AT_ONCE,
            _ => 0,
        }
    }

    /// Returns the id of the webhook that the command replaces or deletes, and the version that the webhook
    /// must have. Returns `None` for other commands.
    pub(crate) fn webhook(&self) -> Option<(&str, u64)> {
        match self {
            Self::PutWebhook { webhook, replaces } => Some((&webhook.id, *replaces)),
            Self::DropWebhook { id, version, .. } => Some((id, *version)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_audit_row_has_only_what_both_databases_can_contain() {
        let mut row = AuditRecord {
            client_id: Some("\0".to_owned()),
            version: "a\0b".to_owned(),
            ..AuditRecord::of_host("operator:decide", "ok", Timestamp::from_millis(0))
        };
        row.make_storable();
        assert_eq!(row.client_id.as_deref(), Some("\u{fffd}"));
        assert_eq!((row.version.as_str(), row.agent_id), ("a\u{fffd}b", None));
        assert_eq!(row.action, "operator:decide");
    }
}
