//! Sends what is due to the addresses that want it.
//!
//! Work is shared by address: a node takes one for a while, sends what is due there, several at once
//! but each subject in its order, and lets go of it. So an address that is slow or gone holds up
//! nobody else, and is never sent the same thing by two nodes at once.

use crate::{Events, envelope::envelope, signature::signatures};
use futures_util::future::join_all;
use portolan_outgoing::Answered;
use portolan_store::{
    Attachments, Attempt, Audience, DbError, DeliveryOutcome, DueDelivery, NewEvent, Unit, Webhook,
    WebhookState,
};
use portolan_vocabulary::{Timestamp, WEBHOOK_DISABLED, entropy, new_identifier};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{sync::Semaphore, task::JoinSet};

/// Addresses that this node sends to at once.
const ADDRESSES: usize = 256;
/// What is sent to one address at once.
const AT_ONCE: usize = 8;
/// How long a node has an address beyond what one request may take.
const LEASE_MS: u64 = 10_000;
/// How long to wait at most before looking: another node's word may be lost, and a lease run out.
const LOOK: Duration = Duration::from_secs(1);
/// So many failures in a row, and the address rests: first for so long, and then twice as long each
/// time, up to the longest.
const FAILURES: u64 = 5;
const FIRST_REST_MS: u64 = 30_000;
const LONGEST_REST_MS: u64 = 15 * 60_000;
/// A server that asks for patience gets at most so much.
const LONGEST_RETRY_AFTER_S: u64 = DAY_S;
const DAY_S: u64 = 24 * 3600;
/// How much of an answer is kept.
const RESPONSE_BYTES: usize = 1_024;
/// How much earlier or later than planned the next attempt is, at most: so much of a thousand.
const JITTER: u64 = 200;
const GONE: u16 = 410;
/// How long what is being sent may take once the host stops.
const DRAIN: Duration = Duration::from_secs(5);

/// What an operator can set.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebhookSettings {
    /// How long an address may take to answer.
    pub timeout_seconds: u64,
    /// How long to wait after each attempt that failed. After one more it is given up.
    pub retry_seconds: Vec<u64>,
    /// An address that took nothing for so long is sent nothing any more.
    pub disable_after_hours: u64,
}

impl Default for WebhookSettings {
    fn default() -> Self {
        let (minute, hour) = (60, 3600);
        Self {
            timeout_seconds: 15,
            retry_seconds: vec![
                5,
                5 * minute,
                30 * minute,
                2 * hour,
                5 * hour,
                10 * hour,
                14 * hour,
                20 * hour,
                24 * hour,
            ],
            disable_after_hours: 120,
        }
    }
}

impl WebhookSettings {
    /// Everything that cannot be.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if !(1..=60).contains(&self.timeout_seconds) {
            let seconds = self.timeout_seconds;
            faults.push(format!("webhooks.timeout_seconds is {seconds}: it must be 1 to 60"));
        }
        if self.disable_after_hours == 0 {
            faults.push("webhooks.disable_after_hours is 0: it must be at least 1".to_owned());
        }
        faults
    }
}

/// How one request went.
struct Sent<'a> {
    delivery: &'a DueDelivery,
    /// None if there was no answer.
    answered: Option<Answered>,
    /// Why it does not count as taken.
    wrong: Option<String>,
    at: Timestamp,
    duration: Duration,
}

impl Events {
    /// Sends until `stop` is told.
    pub async fn send(self: Arc<Self>) {
        let node = new_identifier("lse", Timestamp::now(), u128::from_le_bytes(entropy()));
        let mut turn = 0_u64;
        let places = Arc::new(Semaphore::new(ADDRESSES));
        let mut running = JoinSet::new();
        let mut stop = self.stop.clone();
        while !self.is_stopping() {
            let now = Timestamp::now();
            // Each time another one, so that one that ran out is not taken for its successor.
            turn += 1;
            let lease: Arc<str> = Arc::from(format!("{node}/{turn}"));
            let free = places.available_permits();
            let taken = match free {
                0 => Ok(Vec::new()),
                _ => self.store.take_webhooks(now, self.leased_until(now), &lease, free).await,
            };
            let taken = taken.unwrap_or_else(|error| {
                tracing::error!(%error, "what is to be sent cannot be read");
                Vec::new()
            });
            let idle = taken.is_empty();
            for id in taken {
                let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
                let (events, lease) = (Arc::clone(&self), Arc::clone(&lease));
                running.spawn(async move {
                    if let Err(error) = events.serve(&id, &lease).await {
                        // The lease runs out, and it is sent again.
                        tracing::error!(webhook = id, %error, "what was sent is not recorded");
                    }
                    drop(place);
                });
            }
            if idle {
                tokio::select! {
                    () = tokio::time::sleep(LOOK) => {}
                    () = self.store.wait_for_sending() => {}
                    Some(_) = running.join_next(), if !running.is_empty() => {}
                    _ = stop.changed() => {}
                }
            }
        }
        let finished = async { while running.join_next().await.is_some() {} };
        if tokio::time::timeout(DRAIN, finished).await.is_err() {
            running.abort_all();
        }
        if let Err(error) = self.store.release_webhooks(&node).await {
            tracing::warn!(%error, "addresses are let go of when their leases run out");
        }
    }

    fn leased_until(&self, now: Timestamp) -> Timestamp {
        let patience_ms = self.settings.timeout_seconds * 1000;
        Timestamp::from_millis(now.as_millis() + patience_ms + LEASE_MS)
    }

    /// Sends to one address until nothing is due there, or it fails too often.
    async fn serve(&self, id: &str, lease: &str) -> Result<(), DbError> {
        loop {
            let Some(mut webhook) = self.store.webhook(id).await? else { return Ok(()) };
            let now = Timestamp::now();
            // After a failure one is enough to find out.
            let at_once = if webhook.health.failures > 0 { 1 } else { AT_ONCE };
            let due = self.store.due_deliveries(&webhook, now, at_once).await?;
            if due.is_empty() || self.is_stopping() {
                return self.store.release_webhook(id, lease).await;
            }
            let sent = join_all(due.iter().map(|delivery| self.deliver(&webhook, delivery))).await;
            let state = self.judge(&mut webhook, &sent);
            let attempts: Vec<_> = sent.into_iter().map(|sent| self.attempt(sent)).collect();
            let until = self.leased_until(Timestamp::now());
            if !self.store.record_attempts(&webhook, (lease, until), &attempts, state).await? {
                return Ok(());
            }
            if state == Some(WebhookState::Disabled) {
                self.tell_disabled(&webhook).await?;
            }
        }
    }

    /// What requests that were made at once say of their address. Answers the state that follows, if
    /// it is another one.
    fn judge(&self, webhook: &mut Webhook, sent: &[Sent<'_>]) -> Option<WebhookState> {
        let now = Timestamp::now();
        webhook.last_error = sent.iter().filter_map(|sent| sent.wrong.clone()).next_back();
        let health = &mut webhook.health;
        if sent.iter().any(|sent| sent.wrong.is_none()) {
            health.failures = 0;
            health.failing_since = None;
            health.last_success_at = Some(now);
            health.rest_until = Timestamp::default();
        }
        let (asked, told): (Vec<_>, Vec<_>) = sent.iter().partition(|it| it.delivery.challenge);
        if asked.iter().any(|sent| sent.wrong.is_none()) {
            let waits = matches!(webhook.state, WebhookState::Unverified | WebhookState::Disabled);
            return waits.then_some(WebhookState::Active);
        }
        let answers = || told.iter().filter_map(|sent| sent.answered.as_ref());
        if answers().any(|answered| answered.status == GONE) {
            return Some(WebhookState::Disabled);
        }
        if told.is_empty() || told.iter().any(|sent| sent.wrong.is_none()) {
            return None;
        }
        health.failures += 1;
        let rest_ms = health.failures.checked_sub(FAILURES).map_or(0, |more| {
            jittered(FIRST_REST_MS.saturating_mul(1 << more.min(20)).min(LONGEST_REST_MS))
        });
        let busy = answers().filter(|answered| matches!(answered.status, 429 | 502..=504));
        let asked_s = busy.filter_map(|answered| answered.retry_after_s).max().unwrap_or(0);
        let rest_ms = rest_ms.max(asked_s.min(LONGEST_RETRY_AFTER_S) * 1000);
        let until = Timestamp::from_millis(now.as_millis() + rest_ms);
        let last_failed = health.rest_until;
        health.rest_until = health.rest_until.max(until);
        // After a long silence this is not the failing that began before it.
        let gap_s = self.settings.retry_seconds.iter().copied().fold(DAY_S, u64::max);
        if last_failed.as_millis() + 2 * gap_s * 1000 < now.as_millis() {
            health.failing_since = None;
        }
        let since = *health.failing_since.get_or_insert(now);
        let failing_ms = now.as_millis().saturating_sub(since.as_millis());
        let longest_ms = self.settings.disable_after_hours * 3_600_000;
        (failing_ms >= longest_ms).then_some(WebhookState::Disabled)
    }

    /// What is recorded of a request, and when the next one follows.
    fn attempt(&self, sent: Sent<'_>) -> Attempt {
        let Sent { delivery, answered, wrong, at, duration } = sent;
        let retry = self.settings.retry_seconds.get(delivery.attempts as usize);
        let (outcome, wait_s) = match (&wrong, retry) {
            (None, _) => (DeliveryOutcome::Delivered, 0),
            (Some(_), Some(seconds)) => (DeliveryOutcome::Pending, *seconds),
            (Some(_), None) => (DeliveryOutcome::Dead, 0),
        };
        let asked_s = answered.as_ref().and_then(|answered| answered.retry_after_s);
        let asked_ms = asked_s.unwrap_or(0).min(LONGEST_RETRY_AFTER_S) * 1000;
        let wait_ms = jittered(wait_s * 1000).max(asked_ms);
        // PostgreSQL takes no NUL in a text.
        let text =
            |answered: &Answered| String::from_utf8_lossy(&answered.body).replace('\0', "\u{fffd}");
        Attempt {
            delivery_id: delivery.id.clone(),
            inbox_seq: delivery.event.seq,
            outcome,
            due_at: Timestamp::from_millis(Timestamp::now().as_millis() + wait_ms),
            at,
            status: answered.as_ref().map(|answered| answered.status),
            response: answered.as_ref().map(text),
            error: wrong.filter(|_| answered.is_none()),
            duration_ms: u32::try_from(duration.as_millis()).unwrap_or(u32::MAX),
        }
    }

    async fn deliver<'a>(&self, webhook: &Webhook, delivery: &'a DueDelivery) -> Sent<'a> {
        let (at, started) = (Timestamp::now(), Instant::now());
        let answer = self.request(webhook, delivery, at).await;
        let (answered, wrong) = match answer {
            Ok((answered, wrong)) => (Some(answered), wrong),
            Err(wrong) => (None, Some(wrong)),
        };
        Sent { delivery, answered, wrong, at, duration: started.elapsed() }
    }

    /// The answer, and why it does not count as taken, if so.
    async fn request(
        &self,
        webhook: &Webhook,
        delivery: &DueDelivery,
        at: Timestamp,
    ) -> Result<(Answered, Option<String>), String> {
        let event = envelope(&delivery.event, &self.source, &webhook.agent_id, webhook.test_mode);
        let challenge = event.get("data").and_then(|data| data.get("challenge")).cloned();
        let body = Value::Object(event).to_string().into_bytes();
        let secrets = self.secrets(webhook, at);
        if secrets.is_empty() {
            return Err("the secret cannot be opened with the host's keys: rotate it".to_owned());
        }
        let headers = headers(&delivery.event.event_id, at.as_secs(), &secrets, &body);
        let patience = Duration::from_secs(self.settings.timeout_seconds);
        let answer = self.outgoing.post(&webhook.url, headers, body, patience, RESPONSE_BYTES);
        let answered = answer.await.map_err(|error| error.to_string())?;
        let wrong = match answered.status {
            200..300 if delivery.challenge && !echoes(&answered.body, challenge.as_ref()) => {
                Some("the answer to the challenge does not have the challenge in it".to_owned())
            }
            200..300 => None,
            status => Some(format!("the server answers {status}")),
        };
        Ok((answered, wrong))
    }

    async fn tell_disabled(&self, webhook: &Webhook) -> Result<(), DbError> {
        let data = json!({
            "v": 1,
            "webhook_id": webhook.id,
            "reason": webhook.last_error,
            "next": {
                "capability": "svc.webhooks",
                "input": { "action": "verify", "webhook_id": webhook.id },
            },
        });
        tracing::warn!(webhook = webhook.id, reason = webhook.last_error, "an address is disabled");
        let mut unit = Unit::new(self.store.clone(), Timestamp::now());
        let subject = format!("webhooks/{}", webhook.id);
        let audience = Audience::Agent(webhook.agent_id.clone());
        let now = unit.now();
        unit.publish(NewEvent::of_host(WEBHOOK_DISABLED, &subject, audience, &data, now));
        unit.commit(Attachments::default()).await.map_err(DbError::Shared)?;
        Ok(())
    }
}

/// The headers of Standard Webhooks.
fn headers(id: &str, at_s: u64, secrets: &[Vec<u8>], body: &[u8]) -> HeaderMap {
    let signature = signatures(secrets, id, at_s, body);
    let pairs = [
        (CONTENT_TYPE, "application/cloudevents+json".to_owned()),
        (USER_AGENT, concat!("Portolan/", env!("CARGO_PKG_VERSION")).to_owned()),
        (HeaderName::from_static("webhook-id"), id.to_owned()),
        (HeaderName::from_static("webhook-timestamp"), at_s.to_string()),
        (HeaderName::from_static("webhook-signature"), signature),
    ];
    let header =
        |(name, value): (HeaderName, String)| Some((name, HeaderValue::try_from(value).ok()?));
    pairs.into_iter().filter_map(header).collect()
}

/// Whether an answer has the challenge: as JSON, `{"challenge": …}`, or as a plain text.
fn echoes(body: &[u8], challenge: Option<&Value>) -> bool {
    let Some(challenge) = challenge.and_then(Value::as_str) else { return false };
    let told = serde_json::from_slice::<Value>(body).ok();
    let told = told.as_ref().and_then(|told| told.get("challenge")).and_then(Value::as_str);
    told == Some(challenge) || body.trim_ascii() == challenge.as_bytes()
}

/// A little more or less, so that what failed together does not come back together.
fn jittered(wait_ms: u64) -> u64 {
    let chance = u64::from(u32::from_le_bytes(entropy())) % (2 * JITTER + 1);
    wait_ms * (1000 - JITTER + chance) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_is_answered_as_json_or_as_text() {
        let challenge = json!("c/Ab+1=");
        for body in [r#"{"challenge":"c/Ab+1="}"#, "c/Ab+1=", " c/Ab+1=\n"] {
            assert!(echoes(body.as_bytes(), Some(&challenge)), "{body}");
        }
        for body in ["", "ok", r#"{"challenge":"c/Ab+1"}"#, r#"{"challenge":null}"#] {
            assert!(!echoes(body.as_bytes(), Some(&challenge)), "{body}");
        }
        assert!(!echoes(b"", None));
    }

    #[test]
    fn waits_differ_by_a_fifth_at_most() {
        for _ in 0..1_000 {
            assert!((800..=1_200).contains(&jittered(1_000)));
        }
        assert_eq!(jittered(0), 0);
    }
}
