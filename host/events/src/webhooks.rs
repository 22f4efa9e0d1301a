//! The creation and the changes of webhooks by agents, in the unit of work of a call.

use crate::{
    challenges,
    events::Events,
    signature::{SECRET_BYTES, secret_text},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use portolan_store::{
    Audience, Delivery, DeliveryOutcome, Health, NewEvent, OutboxCommand, StateError, Unit,
    Webhook, WebhookState,
};
use portolan_vocabulary::{Keyring, Timestamp, WEBHOOK_TEST, new_identifier, sealed};
use serde_json::json;

/// The maximum number of webhooks of an agent.
const MAX_WEBHOOKS: usize = 5;
const MAX_URL_BYTES: usize = 2_048;
const MAX_TYPES: usize = 100;
const MAX_TYPE_BYTES: usize = 128;
const MAX_DESCRIPTION_CHARACTERS: usize = 200;
/// The time after a rotation for which requests are also signed with the previous secret.
const ROTATION_MS: u64 = 24 * 3600 * 1000;

/// A webhook that an agent wants to create.
#[derive(Debug)]
pub struct NewWebhook {
    pub agent_id: String,
    pub test_mode: bool,
    pub url: String,
    /// The event types to send. An empty list means all.
    pub types: Vec<String>,
    pub description: Option<String>,
}

/// A change of a webhook. A field that is `None` is not changed.
#[derive(Debug)]
pub struct WebhookChange {
    pub url: Option<String>,
    pub types: Option<Vec<String>>,
    pub description: Option<String>,
}

/// The random bytes with which a call creates a secret and seals it.
#[derive(Debug, Clone, Copy)]
pub struct SecretEntropy {
    pub secret: [u8; SECRET_BYTES],
    pub sealing: [u8; 32],
}

impl Events {
    /// Creates a webhook and sends it a challenge. Returns the webhook and the text of its secret.
    pub async fn create_webhook(
        &self,
        unit: &mut Unit,
        new: NewWebhook,
        id: u128,
        entropy: SecretEntropy,
    ) -> Result<(Webhook, String), StateError> {
        let now = unit.now();
        let existing = self.store.webhooks_of(&new.agent_id).await?.len();
        if existing >= MAX_WEBHOOKS {
            return Err(StateError::Limit(format!(
                "an agent can have at most {MAX_WEBHOOKS} webhooks"
            )));
        }
        let (secret, text) = self.new_secret(unit, entropy)?;
        let webhook = Webhook {
            id: new_identifier("whk", now, id),
            agent_id: new.agent_id,
            test_mode: new.test_mode,
            url: self.normalize_url(&new.url)?,
            types: normalize_types(new.types)?,
            description: normalize_description(new.description)?,
            state: WebhookState::Unverified,
            secret,
            previous_secret: None,
            previous_until: None,
            version: 1,
            created_at: now,
            updated_at: now,
            last_error: None,
            health: Health::default(),
        };
        let existing = existing as u64;
        unit.add_command(OutboxCommand::AddWebhook {
            webhook: Box::new(webhook.clone()),
            existing,
        });
        challenges::publish(unit, &webhook, &subject(&webhook)).await?;
        Ok((webhook, text))
    }

    /// Lists the webhooks of an agent.
    pub async fn webhooks_of(&self, agent_id: &str) -> Result<Vec<Webhook>, StateError> {
        Ok(self.store.webhooks_of(agent_id).await?)
    }

    /// Looks up a webhook of an agent. A webhook of another agent is not found.
    pub async fn webhook_of(
        &self,
        agent_id: &str,
        id: &str,
    ) -> Result<Option<Webhook>, StateError> {
        Ok(self.store.webhook(id).await?.filter(|webhook| webhook.agent_id == agent_id))
    }

    /// Changes a webhook. A new address must answer a challenge before anything else is sent there.
    pub async fn update_webhook(
        &self,
        unit: &mut Unit,
        current: Webhook,
        change: WebhookChange,
    ) -> Result<Webhook, StateError> {
        let mut webhook = current.clone();
        if let Some(url) = change.url {
            webhook.url = self.normalize_url(&url)?;
        }
        if let Some(types) = change.types {
            webhook.types = normalize_types(types)?;
        }
        if change.description.is_some() {
            webhook.description = normalize_description(change.description)?;
        }
        let is_url_changed = webhook.url != current.url;
        if is_url_changed {
            webhook.state = WebhookState::Unverified;
        }
        let webhook = replace(unit, webhook);
        if is_url_changed {
            challenges::publish(unit, &webhook, &subject(&webhook)).await?;
        }
        Ok(webhook)
    }

    /// Moves a webhook to another state. Fails with a conflict unless its state is `from`.
    pub fn move_webhook(
        &self,
        unit: &mut Unit,
        mut webhook: Webhook,
        from: WebhookState,
        to: WebhookState,
    ) -> Result<Webhook, StateError> {
        if webhook.state != from {
            return Err(StateError::Conflict);
        }
        webhook.state = to;
        Ok(replace(unit, webhook))
    }

    /// Sends a webhook a new challenge. `Limit` if there were too many.
    pub async fn challenge_webhook(
        &self,
        unit: &mut Unit,
        webhook: &Webhook,
    ) -> Result<(), StateError> {
        challenges::publish(unit, webhook, &subject(webhook)).await
    }

    /// Creates a new secret, and returns the webhook with the text of the secret. For a day,
    /// requests are also signed with the previous secret.
    pub fn rotate_secret(
        &self,
        unit: &mut Unit,
        mut webhook: Webhook,
        entropy: SecretEntropy,
    ) -> Result<(Webhook, String), StateError> {
        let (secret, text) = self.new_secret(unit, entropy)?;
        let until = unit.now().as_millis() + ROTATION_MS;
        webhook.previous_secret = Some(std::mem::replace(&mut webhook.secret, secret));
        webhook.previous_until = Some(Timestamp::from_millis(until));
        Ok((replace(unit, webhook), text))
    }

    /// Sends a test event to this webhook alone, and returns the id of the event. Fails with a conflict if
    /// the webhook is not active.
    pub fn test_webhook(&self, unit: &mut Unit, webhook: &Webhook) -> Result<String, StateError> {
        if webhook.state != WebhookState::Active {
            return Err(StateError::Conflict);
        }
        let data = json!({ "v": 1, "webhook_id": webhook.id });
        let audience = Audience::Webhook { id: webhook.id.clone(), challenge: false };
        let event = NewEvent::of_host(WEBHOOK_TEST, &subject(webhook), audience, &data, unit.now());
        let id = event.id.clone();
        unit.publish(event);
        Ok(id)
    }

    /// Returns the deliveries before this number, the newest first.
    pub async fn webhook_log(
        &self,
        webhook: &Webhook,
        outcome: Option<DeliveryOutcome>,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<Delivery>, StateError> {
        let before = before.unwrap_or(i64::MAX);
        Ok(self.store.webhook_log(&webhook.id, outcome, before, limit).await?)
    }

    /// Makes a delivery due again, with as many attempts as a new one. A delivery of another agent
    /// is not found.
    pub async fn redeliver(
        &self,
        unit: &mut Unit,
        agent_id: &str,
        delivery_id: &str,
    ) -> Result<Option<Delivery>, StateError> {
        let Some(mut delivery) = self.store.webhook_delivery(delivery_id).await? else {
            return Ok(None);
        };
        if self.webhook_of(agent_id, &delivery.webhook_id).await?.is_none() {
            return Ok(None);
        }
        let at = unit.now();
        unit.add_command(OutboxCommand::Redeliver { delivery_id: delivery.id.clone(), at });
        delivery.outcome = DeliveryOutcome::Pending;
        delivery.attempts = 0;
        delivery.next_attempt_at = Some(at);
        Ok(Some(delivery))
    }

    /// Removes a webhook.
    pub fn remove_webhook(&self, unit: &mut Unit, webhook: Webhook) {
        let Webhook { id, agent_id, version, .. } = webhook;
        unit.add_command(OutboxCommand::DropWebhook { id, agent_id, version });
    }

    fn new_secret(
        &self,
        unit: &Unit,
        entropy: SecretEntropy,
    ) -> Result<(String, String), StateError> {
        let keys = unit.keys().derive(Keyring::WEBHOOKS);
        let sealed = sealed::seal(&keys, entropy.sealing, &entropy.secret)
            .ok_or_else(|| StateError::Invalid("the secret cannot be sealed".to_owned()))?;
        Ok((STANDARD.encode(sealed), secret_text(&entropy.secret)))
    }

    /// Returns the secrets that are valid now, the newest first, without those that cannot be
    /// opened.
    pub(crate) fn secrets(&self, webhook: &Webhook, now: Timestamp) -> Vec<Vec<u8>> {
        let keys = self.store.keys().derive(Keyring::WEBHOOKS);
        let previous = webhook.previous_until.filter(|until| *until > now);
        let previous = previous.and(webhook.previous_secret.as_ref());
        let texts = [Some(&webhook.secret), previous];
        let open = |text: &String| sealed::open(&keys, &STANDARD.decode(text).ok()?);
        texts.into_iter().flatten().filter_map(open).collect()
    }

    /// Returns the address in its normal form, if events may be sent there.
    fn normalize_url(&self, url: &str) -> Result<String, StateError> {
        if url.len() > MAX_URL_BYTES {
            let text = format!("The URL of a webhook must have at most {MAX_URL_BYTES} bytes.");
            return Err(StateError::Invalid(text));
        }
        let checked = self.outgoing.check(url);
        checked.map(String::from).map_err(|error| {
            StateError::Invalid(format!("The URL of a webhook must be https and public: {error}."))
        })
    }
}

fn subject(webhook: &Webhook) -> String {
    format!("webhooks/{}", webhook.id)
}

/// Adds the next version of a webhook to the unit, and returns it.
fn replace(unit: &mut Unit, mut webhook: Webhook) -> Webhook {
    let replaces = webhook.version;
    webhook.version += 1;
    webhook.updated_at = unit.now();
    unit.add_command(OutboxCommand::PutWebhook { webhook: Box::new(webhook.clone()), replaces });
    webhook
}

fn normalize_types(mut types: Vec<String>) -> Result<Vec<String>, StateError> {
    types.sort();
    types.dedup();
    if types.len() > MAX_TYPES
        || types.iter().any(|name| name.is_empty() || name.len() > MAX_TYPE_BYTES)
    {
        let text = format!(
            "A webhook must have at most {MAX_TYPES} types, of 1 to {MAX_TYPE_BYTES} bytes each."
        );
        return Err(StateError::Invalid(text));
    }
    Ok(types)
}

fn normalize_description(description: Option<String>) -> Result<Option<String>, StateError> {
    match &description {
        Some(text) if text.chars().count() > MAX_DESCRIPTION_CHARACTERS => {
            let text =
                format!("A description must have at most {MAX_DESCRIPTION_CHARACTERS} characters.");
            Err(StateError::Invalid(text))
        }
        Some(text) if text.contains('\0') => {
            Err(StateError::Invalid("A description must not have the character U+0000.".to_owned()))
        }
        Some(text) if text.is_empty() => Ok(None),
        _ => Ok(description),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_has_only_what_both_databases_can_contain() {
        let normalized = |text: &str| normalize_description(Some(text.to_owned()));
        assert_eq!(normalized("").unwrap(), None);
        assert_eq!(normalized("a\nb").unwrap().unwrap(), "a\nb");
        assert!(matches!(normalized("a\0b"), Err(StateError::Invalid(_))));
    }
}
