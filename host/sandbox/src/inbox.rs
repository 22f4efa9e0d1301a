//! The calling agent's inbox and the addresses that its events are sent to, for a component with the
//! operator's grant: changed in its call's unit of work.

use crate::{
    contract::{inbox, types::HostError, webhooks},
    state::CallState,
    work::Reply,
};
use portolan_events::{Events, NewWebhook, Poll, SecretEntropy, WebhookChange};
use portolan_store::{Delivery, DeliveryOutcome, StateError, Unit, Webhook, WebhookState};
use portolan_vocabulary::{AgentCaller, Timestamp};
use rand::RngExt as _;
use serde_json::Value;
use std::sync::Arc;

type Told<T> = std::result::Result<T, HostError>;

/// Entries of one page.
const PAGE: u32 = 100;
/// Events of one acknowledgement.
const ACKNOWLEDGED: usize = 500;

impl CallState {
    /// The agent that calls, and where its events are.
    fn own_events(&mut self) -> Told<(AgentCaller, Arc<Events>)> {
        let agent = self.context.agent().cloned();
        let agent =
            agent.ok_or_else(|| HostError::Invalid("no agent makes this call".to_owned()))?;
        let events = self.work()?.surroundings.events();
        let nothing = || HostError::Unavailable("this host has no events".to_owned());
        Ok((agent, events.ok_or_else(nothing)?))
    }

    /// The same, and the unit that an action which may change something works in.
    fn changing_events(&mut self) -> Told<(AgentCaller, Arc<Events>, &mut Unit)> {
        let (agent, events) = self.own_events()?;
        Ok((agent, events, &mut self.changing()?.unit))
    }

    fn told<T>(&self, answer: std::result::Result<T, StateError>) -> Told<T> {
        answer.map_err(|error| self.refusal(error))
    }

    async fn pull(
        &mut self,
        cursor: Option<String>,
        types: Vec<String>,
        limit: u32,
    ) -> Told<inbox::Page> {
        let (agent, events) = self.own_events()?;
        let limit = checked_limit(limit)?;
        let cursor =
            cursor.map(|text| text.parse().map_err(|_| HostError::BadCursor)).transpose()?;
        let (agent_id, test_mode) = (agent.agent_id, agent.test_mode);
        let poll = Poll { agent_id, test_mode, cursor, types, limit: limit as usize };
        let polled = events.page(&poll).await;
        let polled = self.told(polled)?;
        Ok(inbox::Page {
            events: polled.events.into_iter().map(|it| Value::Object(it).to_string()).collect(),
            cursor: polled.cursor.to_string(),
            has_more: polled.has_more,
        })
    }

    async fn acknowledge(&mut self, ids: Vec<String>) -> Told<inbox::Acknowledged> {
        if ids.len() > ACKNOWLEDGED {
            let text = format!("at most {ACKNOWLEDGED} events are acknowledged at once");
            return Err(HostError::Limit(text));
        }
        let (agent, events, unit) = self.changing_events()?;
        let answer = events.acknowledge(unit, &agent.agent_id, ids).await;
        let (acknowledged, unknown) = self.told(answer)?;
        Ok(inbox::Acknowledged { acknowledged, unknown })
    }

    async fn replay(&mut self, since: u64, types: Vec<String>) -> Told<u32> {
        let (agent, events, unit) = self.changing_events()?;
        let since = Timestamp::from_millis(since);
        let answer = events.replay(unit, &agent.agent_id, since, &types).await;
        Ok(u32::try_from(self.told(answer)?).unwrap_or(u32::MAX))
    }

    fn secret_chance(&mut self) -> SecretEntropy {
        let generator = self.chance.generator();
        SecretEntropy { secret: generator.random(), sealing: generator.random() }
    }

    /// An address of the calling agent; `invalid` if it is not.
    async fn own_webhook(&mut self, id: &str) -> Told<(Arc<Events>, Webhook)> {
        let (agent, events) = self.own_events()?;
        let found = events.webhook_of(&agent.agent_id, id).await;
        let unknown = || HostError::Invalid("the agent has no webhook with this id".to_owned());
        Ok((events, self.told(found)?.ok_or_else(unknown)?))
    }

    async fn create_webhook(
        &mut self,
        url: String,
        types: Vec<String>,
        description: Option<String>,
    ) -> Told<webhooks::Created> {
        let (id, chance) = (self.chance.generator().random(), self.secret_chance());
        let (agent, events, unit) = self.changing_events()?;
        let (agent_id, test_mode) = (agent.agent_id.to_string(), agent.test_mode);
        let new = NewWebhook { agent_id, test_mode, url, types, description };
        let answer = events.create_webhook(unit, new, id, chance).await;
        let (webhook, secret) = self.told(answer)?;
        Ok(webhooks::Created { endpoint: endpoint(webhook), secret })
    }

    async fn update_webhook(
        &mut self,
        id: &str,
        expect: Option<u64>,
        change: webhooks::Change,
    ) -> Told<webhooks::Endpoint> {
        let (events, webhook) = self.own_webhook(id).await?;
        if expect.is_some_and(|version| version != webhook.version) {
            return Err(HostError::Conflict);
        }
        let webhooks::Change { url, types, description } = change;
        let change = WebhookChange { url, types, description };
        let unit = &mut self.changing()?.unit;
        let answer = events.update_webhook(unit, webhook, change).await;
        self.told(answer).map(endpoint)
    }

    async fn move_webhook(
        &mut self,
        id: &str,
        from: WebhookState,
        to: WebhookState,
    ) -> Told<webhooks::Endpoint> {
        let (events, webhook) = self.own_webhook(id).await?;
        let answer = events.move_webhook(&mut self.changing()?.unit, webhook, from, to);
        self.told(answer).map(endpoint)
    }

    async fn rotate_webhook(&mut self, id: &str) -> Told<webhooks::Created> {
        let chance = self.secret_chance();
        let (events, webhook) = self.own_webhook(id).await?;
        let answer = events.rotate_secret(&mut self.changing()?.unit, webhook, chance);
        let (webhook, secret) = self.told(answer)?;
        Ok(webhooks::Created { endpoint: endpoint(webhook), secret })
    }

    async fn webhook_log(
        &mut self,
        id: &str,
        outcome: Option<webhooks::Outcome>,
        cursor: Option<String>,
        limit: u32,
    ) -> Told<webhooks::Deliveries> {
        let limit = checked_limit(limit)?;
        let before =
            cursor.map(|text| text.parse().map_err(|_| HostError::BadCursor)).transpose()?;
        let (events, webhook) = self.own_webhook(id).await?;
        let outcome = outcome.map(|outcome| match outcome {
            webhooks::Outcome::Pending => DeliveryOutcome::Pending,
            webhooks::Outcome::Delivered => DeliveryOutcome::Delivered,
            webhooks::Outcome::Dead => DeliveryOutcome::Dead,
        });
        let answer = events.webhook_log(&webhook, outcome, before, limit + 1).await;
        let mut log = self.told(answer)?;
        let more = log.len() > limit as usize;
        log.truncate(limit as usize);
        let next = log.last().filter(|_| more).map(|last| last.seq.to_string());
        Ok(webhooks::Deliveries { items: log.into_iter().map(delivery).collect(), next })
    }

    async fn remove_webhook(&mut self, id: &str) -> Told<bool> {
        let (agent, events) = self.own_events()?;
        let found = events.webhook_of(&agent.agent_id, id).await;
        let Some(webhook) = self.told(found)? else { return Ok(false) };
        events.remove_webhook(&mut self.changing()?.unit, webhook);
        Ok(true)
    }
}

fn checked_limit(limit: u32) -> Told<u32> {
    match (1..=PAGE).contains(&limit) {
        true => Ok(limit),
        false => Err(HostError::Invalid(format!("a limit is 1 to {PAGE}"))),
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

impl inbox::Host for CallState {
    async fn pull(
        &mut self,
        cursor: Option<String>,
        types: Vec<String>,
        limit: u32,
    ) -> Reply<inbox::Page> {
        Ok(self.pull(cursor, types, limit).await)
    }

    async fn acknowledge(&mut self, event_ids: Vec<String>) -> Reply<inbox::Acknowledged> {
        Ok(self.acknowledge(event_ids).await)
    }

    async fn replay(&mut self, since: u64, types: Vec<String>) -> Reply<u32> {
        Ok(self.replay(since, types).await)
    }
}

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
        Ok(self.told(found).map(|all| all.into_iter().map(endpoint).collect()))
    }

    async fn get(&mut self, id: String) -> Reply<Option<webhooks::Endpoint>> {
        let (agent, events) = match self.own_events() {
            Ok(own) => own,
            Err(error) => return Ok(Err(error)),
        };
        let found = events.webhook_of(&agent.agent_id, &id).await;
        Ok(self.told(found).map(|found| found.map(endpoint)))
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
        let (events, webhook) = match self.own_webhook(&id).await {
            Ok(own) => own,
            Err(error) => return Ok(Err(error)),
        };
        Ok(self.changing().map(|work| {
            events.challenge_webhook(&mut work.unit, &webhook);
            endpoint(webhook)
        }))
    }

    async fn rotate_secret(&mut self, id: String) -> Reply<webhooks::Created> {
        Ok(self.rotate_webhook(&id).await)
    }

    async fn test(&mut self, id: String) -> Reply<String> {
        let (events, webhook) = match self.own_webhook(&id).await {
            Ok(own) => own,
            Err(error) => return Ok(Err(error)),
        };
        let sent = match self.changing() {
            Ok(work) => events.test_webhook(&mut work.unit, &webhook),
            Err(error) => return Ok(Err(error)),
        };
        Ok(self.told(sent))
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
        let (agent, events, unit) = match self.changing_events() {
            Ok(own) => own,
            Err(error) => return Ok(Err(error)),
        };
        let again = events.redeliver(unit, &agent.agent_id, &delivery_id).await;
        Ok(self.told(again).map(|found| found.map(delivery)))
    }

    async fn remove(&mut self, id: String) -> Reply<bool> {
        Ok(self.remove_webhook(&id).await)
    }
}
