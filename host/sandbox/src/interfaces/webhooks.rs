//! `webhooks`: the addresses to which the calling agent's events are sent.

use crate::{
    contract::{types::HostError, webhooks},
    grant::Grant,
    interfaces::{
        agent_events::ensure_limit,
        interface::Interface,
        reply::{Answer, Reply},
        taped::{TapedState, taped},
    },
    state::CallState,
};
use portolan_events::{Events, NewWebhook, SecretEntropy, WebhookChange};
use portolan_store::{Delivery, DeliveryOutcome, Webhook, WebhookState};
use portolan_vocabulary::Timestamp;
use rand::RngExt as _;
use std::sync::Arc;

pub(super) const INTERFACE: Interface = Interface::sensitive(Grant::Webhooks, |linker| {
    webhooks::add_to_linker::<_, TapedState>(linker, taped)
});

impl webhooks::Host for CallState {
    async fn create(
        &mut self,
        url: String,
        types: Vec<String>,
        description: Option<String>,
    ) -> Reply<webhooks::Created> {
        Ok(self.create_webhook(url, types, description).await)
    }

    async fn all(&mut self) -> Reply<Vec<webhooks::Endpoint>> {
        let (agent, events) = match self.own_events() {
            Ok(own) => own,
            Err(error) => return Ok(Err(error)),
        };
        let found = events.webhooks_of(&agent.agent_id).await;
        Ok(self.answer(found).map(|all| all.into_iter().map(endpoint).collect()))
    }

    async fn get(&mut self, id: String) -> Reply<Option<webhooks::Endpoint>> {
        let (agent, events) = match self.own_events() {
            Ok(own) => own,
            Err(error) => return Ok(Err(error)),
        };
        let found = events.webhook_of(&agent.agent_id, &id).await;
        Ok(self.answer(found).map(|found| found.map(endpoint)))
    }

    async fn update(
        &mut self,
        id: String,
        expect: Option<u64>,
        change: webhooks::Change,
    ) -> Reply<webhooks::Endpoint> {
        Ok(self.update_webhook(&id, expect, change).await)
    }

    async fn pause(&mut self, id: String) -> Reply<webhooks::Endpoint> {
        Ok(self.move_webhook(&id, WebhookState::Active, WebhookState::Paused).await)
    }

    async fn resume(&mut self, id: String) -> Reply<webhooks::Endpoint> {
        Ok(self.move_webhook(&id, WebhookState::Paused, WebhookState::Active).await)
    }

    async fn challenge(&mut self, id: String) -> Reply<webhooks::Endpoint> {
        Ok(self.challenge_webhook(&id).await)
    }

    async fn rotate_secret(&mut self, id: String) -> Reply<webhooks::Created> {
        Ok(self.rotate_webhook(&id).await)
    }

    async fn test(&mut self, id: String) -> Reply<String> {
        Ok(self.test_webhook(&id).await)
    }

    async fn log(
        &mut self,
        id: String,
        outcome: Option<webhooks::Outcome>,
        cursor: Option<String>,
        limit: u32,
    ) -> Reply<webhooks::Deliveries> {
        Ok(self.webhook_log(&id, outcome, cursor, limit).await)
    }

    async fn redeliver(&mut self, delivery_id: String) -> Reply<Option<webhooks::Delivery>> {
        let (agent, events, unit) = match self.writable_events() {
            Ok(own) => own,
            Err(error) => return Ok(Err(error)),
        };
        let found = events.redeliver(unit, &agent.agent_id, &delivery_id).await;
        Ok(self.answer(found).map(|found| found.map(delivery)))
    }

    async fn remove(&mut self, id: String) -> Reply<bool> {
        Ok(self.remove_webhook(&id).await)
    }
}

impl CallState {
    fn secret_random(&mut self) -> SecretEntropy {
        let generator = self.random.host();
        SecretEntropy { secret: generator.random(), sealing: generator.random() }
    }

    /// Returns a webhook of the calling agent; `invalid` if the agent has none with this id.
    async fn own_webhook(&mut self, id: &str) -> Answer<(Arc<Events>, Webhook)> {
        let (agent, events) = self.own_events()?;
        let found = events.webhook_of(&agent.agent_id, id).await;
        let unknown = || HostError::Invalid("the agent has no webhook with this id".to_owned());
        Ok((events, self.answer(found)?.ok_or_else(unknown)?))
    }

    async fn create_webhook(
        &mut self,
        url: String,
        types: Vec<String>,
        description: Option<String>,
    ) -> Answer<webhooks::Created> {
        let (id, random) = (self.random.host().random(), self.secret_random());
        let (agent, events, unit) = self.writable_events()?;
        let (agent_id, test_mode) = (agent.agent_id.to_string(), agent.test_mode);
        let new = NewWebhook { agent_id, test_mode, url, types, description };
        let result = events.create_webhook(unit, new, id, random).await;
        let (webhook, secret) = self.answer(result)?;
        Ok(webhooks::Created { endpoint: endpoint(webhook), secret })
    }

    async fn update_webhook(
        &mut self,
        id: &str,
        expect: Option<u64>,
        change: webhooks::Change,
    ) -> Answer<webhooks::Endpoint> {
        let (events, webhook) = self.own_webhook(id).await?;
        if expect.is_some_and(|version| version != webhook.version) {
            return Err(HostError::Conflict);
        }
        let webhooks::Change { url, types, description } = change;
        let change = WebhookChange { url, types, description };
        let unit = &mut self.writable_work()?.unit;
        let result = events.update_webhook(unit, webhook, change).await;
        self.answer(result).map(endpoint)
    }

    async fn move_webhook(
        &mut self,
        id: &str,
        from: WebhookState,
        to: WebhookState,
    ) -> Answer<webhooks::Endpoint> {
        let (events, webhook) = self.own_webhook(id).await?;
        let result = events.move_webhook(&mut self.writable_work()?.unit, webhook, from, to);
        self.answer(result).map(endpoint)
    }

    async fn challenge_webhook(&mut self, id: &str) -> Answer<webhooks::Endpoint> {
        let (events, webhook) = self.own_webhook(id).await?;
        let sent = events.challenge_webhook(&mut self.writable_work()?.unit, &webhook).await;
        self.answer(sent).map(|()| endpoint(webhook))
    }

    async fn rotate_webhook(&mut self, id: &str) -> Answer<webhooks::Created> {
        let random = self.secret_random();
        let (events, webhook) = self.own_webhook(id).await?;
        let result = events.rotate_secret(&mut self.writable_work()?.unit, webhook, random);
        let (webhook, secret) = self.answer(result)?;
        Ok(webhooks::Created { endpoint: endpoint(webhook), secret })
    }

    async fn test_webhook(&mut self, id: &str) -> Answer<String> {
        let (events, webhook) = self.own_webhook(id).await?;
        let sent = events.test_webhook(&mut self.writable_work()?.unit, &webhook);
        self.answer(sent)
    }

    async fn webhook_log(
        &mut self,
        id: &str,
        outcome: Option<webhooks::Outcome>,
        cursor: Option<String>,
        limit: u32,
    ) -> Answer<webhooks::Deliveries> {
        ensure_limit(limit)?;
        let before =
            cursor.map(|text| text.parse().map_err(|_| HostError::BadCursor)).transpose()?;
        let (events, webhook) = self.own_webhook(id).await?;
        let outcome = outcome.map(|outcome| match outcome {
            webhooks::Outcome::Pending => DeliveryOutcome::Pending,
            webhooks::Outcome::Delivered => DeliveryOutcome::Delivered,
            webhooks::Outcome::Dead => DeliveryOutcome::Dead,
        });
        // One entry more than asked for says whether there is a next page.
        let result = events.webhook_log(&webhook, outcome, before, limit + 1).await;
        let mut log = self.answer(result)?;
        let has_more = log.len() > limit as usize;
        log.truncate(limit as usize);
        let next = log.last().filter(|_| has_more).map(|last| last.seq.to_string());
        Ok(webhooks::Deliveries { items: log.into_iter().map(delivery).collect(), next })
    }

    async fn remove_webhook(&mut self, id: &str) -> Answer<bool> {
        let (agent, events) = self.own_events()?;
        let found = events.webhook_of(&agent.agent_id, id).await;
        let Some(webhook) = self.answer(found)? else { return Ok(false) };
        events.remove_webhook(&mut self.writable_work()?.unit, webhook);
        Ok(true)
    }
}

fn endpoint(webhook: Webhook) -> webhooks::Endpoint {
    webhooks::Endpoint {
        id: webhook.id,
        url: webhook.url,
        types: webhook.types,
        description: webhook.description,
        state: match webhook.state {
            WebhookState::Unverified => webhooks::State::Unverified,
            WebhookState::Active => webhooks::State::Active,
            WebhookState::Paused => webhooks::State::Paused,
            WebhookState::Disabled => webhooks::State::Disabled,
        },
        version: webhook.version,
        created_at: webhook.created_at.as_millis(),
        updated_at: webhook.updated_at.as_millis(),
        previous_secret_until: webhook.previous_until.map(Timestamp::as_millis),
        failing_since: webhook.health.failing_since.map(Timestamp::as_millis),
        last_success_at: webhook.health.last_success_at.map(Timestamp::as_millis),
        last_error: webhook.last_error,
    }
}

fn delivery(delivery: Delivery) -> webhooks::Delivery {
    webhooks::Delivery {
        id: delivery.id,
        endpoint_id: delivery.webhook_id,
        event_id: delivery.event_id,
        event_type: delivery.event_type,
        subject: delivery.subject,
        outcome: match delivery.outcome {
            DeliveryOutcome::Pending => webhooks::Outcome::Pending,
            DeliveryOutcome::Delivered => webhooks::Outcome::Delivered,
            DeliveryOutcome::Dead => webhooks::Outcome::Dead,
        },
        attempts: delivery.attempts,
        created_at: delivery.created_at.as_millis(),
        last_attempt_at: delivery.last_attempt_at.map(Timestamp::as_millis),
        next_attempt_at: delivery.next_attempt_at.map(Timestamp::as_millis),
        status: delivery.status,
        response: delivery.response,
        error: delivery.error,
        duration_ms: delivery.duration_ms,
    }
}
