//! Sends due deliveries to webhooks.
//!
//! A node leases a webhook, sends its due deliveries and releases it. Requests run concurrently, but each
//! subject keeps its order. So a slow webhook delays no other, and two nodes never send the same delivery.

use crate::{
    envelope::envelope,
    events::Events,
    health::{RequestOutcome, attempt, update_health},
    signature::signatures,
};
use futures_util::future::join_all;
use portolan_outgoing::OutgoingResponse;
use portolan_store::{
    Attachments, Audience, DbError, DueDelivery, NewEvent, Unit, Webhook, WebhookState,
};
use portolan_telemetry::TraceContext;
use portolan_vocabulary::{Timestamp, WEBHOOK_DISABLED, entropy, new_identifier};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use serde_json::{Value, json};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{sync::Semaphore, task::JoinSet};

/// The maximum number of webhooks to which this node sends concurrently.
const MAX_CONCURRENT_WEBHOOKS: usize = 256;
/// The maximum number of concurrent requests to one webhook.
const MAX_CONCURRENT_REQUESTS: usize = 8;
/// The time by which a lease is longer than the time-out of a request.
const LEASE_MARGIN_MS: u64 = 10_000;
/// The longest wait before the store is asked for due work: the signal of another node may be lost, and
/// a lease may expire.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The maximum number of bytes of an answer that are stored.
const MAX_RESPONSE_BYTES: usize = 1_024;
/// The header of W3C Trace Context.
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
/// The time for requests in flight when the host stops.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

impl Events {
    /// Sends due deliveries until the host stops.
    pub async fn send(self: Arc<Self>) {
        let node = new_identifier("lse", self.clock.now(), u128::from_le_bytes(entropy()));
        let mut lease_number = 0_u64;
        let permits = Arc::new(Semaphore::new(MAX_CONCURRENT_WEBHOOKS));
        let mut running = JoinSet::new();
        let mut stop = self.stop.clone();
        while !self.is_stopping() {
            let now = self.clock.now();
            // Each lease has its own name, so that an expired one is not mistaken for its successor.
            lease_number += 1;
            let lease: Arc<str> = Arc::from(format!("{node}/{lease_number}"));
            let available = permits.available_permits();
            let leased = match available {
                0 => Ok(Vec::new()),
                _ => {
                    self.store.lease_webhooks(now, self.leased_until(now), &lease, available).await
                }
            };
            let leased = leased.unwrap_or_else(|error| {
                tracing::error!(%error, "due deliveries cannot be read");
                Vec::new()
            });
            let is_idle = leased.is_empty();
            for id in leased {
                let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
                let (events, lease) = (Arc::clone(&self), Arc::clone(&lease));
                running.spawn(async move {
                    if let Err(error) = events.send_to_webhook(&id, &lease).await {
                        // The lease expires, and the delivery is sent again.
                        tracing::error!(webhook = id, %error, "the results of deliveries cannot be recorded, so they will be sent again");
                    }
                    drop(permit);
                });
            }
            if is_idle {
                tokio::select! {
                    () = self.clock.sleep_until(now.plus(POLL_INTERVAL)) => {}
                    () = self.store.wait_for_sending() => {}
                    Some(_) = running.join_next(), if !running.is_empty() => {}
                    _ = stop.changed() => {}
                }
            }
        }
        let all_finished = async { while running.join_next().await.is_some() {} };
        if tokio::time::timeout(DRAIN_TIMEOUT, all_finished).await.is_err() {
            running.abort_all();
        }
        if let Err(error) = self.store.release_webhooks(&node).await {
            tracing::warn!(%error, "leases on webhooks cannot be released, so they expire later");
        }
    }

    /// Returns the time at which a lease expires that is taken or renewed now.
    fn leased_until(&self, now: Timestamp) -> Timestamp {
        let timeout_ms = self.settings.timeout_seconds * 1000;
        Timestamp::from_millis(now.as_millis() + timeout_ms + LEASE_MARGIN_MS)
    }

    /// Sends to one webhook until nothing is due there, the host stops, or the lease is lost.
    async fn send_to_webhook(&self, id: &str, lease: &str) -> Result<(), DbError> {
        loop {
            let Some(mut webhook) = self.store.webhook(id).await? else { return Ok(()) };
            let now = self.clock.now();
            // After a failure, one request shows whether the webhook answers again.
            let max_requests =
                if webhook.health.failures > 0 { 1 } else { MAX_CONCURRENT_REQUESTS };
            let due = self.store.due_deliveries(&webhook, now, max_requests).await?;
            if due.is_empty() || self.is_stopping() {
                return self.store.release_webhook(id, lease).await;
            }
            let outcomes =
                join_all(due.iter().map(|delivery| self.deliver(&webhook, delivery))).await;
            let now = self.clock.now();
            let state = update_health(&mut webhook, &outcomes, &self.settings, now);
            let attempts: Vec<_> =
                outcomes.into_iter().map(|outcome| attempt(outcome, &self.settings, now)).collect();
            let until = self.leased_until(now);
            if !self.store.record_attempts(&webhook, (lease, until), &attempts, state).await? {
                return Ok(());
            }
            if state == Some(WebhookState::Disabled) {
                self.announce_disabled(&webhook).await?;
            }
        }
    }

    /// Makes one request, and measures it.
    async fn deliver<'a>(
        &self,
        webhook: &Webhook,
        delivery: &'a DueDelivery,
    ) -> RequestOutcome<'a> {
        let (at, started) = (self.clock.now(), Instant::now());
        let (mut span, told) =
            self.telemetry.delivery_span(delivery.trace.as_deref(), "POST webhook");
        let answer = self.request(webhook, delivery, at, told).await;
        let (response, failure) = match answer {
            Ok((response, failure)) => (Some(response), failure),
            Err(failure) => (None, Some(failure)),
        };
        let outcome = match (&failure, &response) {
            (None, _) => "delivered",
            (Some(_), Some(_)) => "refused",
            (Some(_), None) => "no_answer",
        };
        if span.is_recorded() {
            span.set("http.request.method", "POST");
            span.set("http.request.resend_count", i64::from(delivery.attempts));
            span.set("messaging.message.id", delivery.event.event_id.clone());
            span.set("messaging.destination.name", delivery.event.event_type.clone());
            span.set("portolan.webhook.id", webhook.id.clone());
            if let Some(response) = &response {
                span.set("http.response.status_code", i64::from(response.status));
            }
            if failure.is_some() {
                span.fail(outcome);
            }
        }
        drop(span);
        self.meters.count(outcome, started.elapsed());
        RequestOutcome { delivery, response, failure, at, duration: started.elapsed() }
    }

    /// Makes one request. Returns the answer with the reason why it counts as a failure, if it does, or the
    /// reason why there is no answer.
    async fn request(
        &self,
        webhook: &Webhook,
        delivery: &DueDelivery,
        at: Timestamp,
        trace: Option<TraceContext>,
    ) -> Result<(OutgoingResponse, Option<String>), String> {
        let event = envelope(&delivery.event, &self.source, &webhook.agent_id, webhook.test_mode);
        let challenge = event.get("data").and_then(|data| data.get("challenge")).cloned();
        let body = Value::Object(event).to_string().into_bytes();
        let secrets = self.secrets(webhook, at);
        if secrets.is_empty() {
            return Err("the secret cannot be opened with the host's keys: rotate it".to_owned());
        }
        let mut headers = headers(&delivery.event.event_id, at.as_secs(), &secrets, &body);
        if let Some(value) = trace.and_then(|trace| trace.to_string().try_into().ok()) {
            headers.insert(TRACEPARENT, value);
        }
        let timeout = Duration::from_secs(self.settings.timeout_seconds);
        let answer = self.outgoing.post(&webhook.url, headers, body, timeout, MAX_RESPONSE_BYTES);
        let response = answer.await.map_err(|error| error.to_string())?;
        let failure = match response.status {
            200..300
                if delivery.challenge && !echoes_challenge(&response.body, challenge.as_ref()) =>
            {
                Some("the answer does not have the challenge in it".to_owned())
            }
            200..300 => None,
            status => Some(format!("the server answers {status}")),
        };
        Ok((response, failure))
    }

    /// Publishes to the agent that its webhook is disabled.
    async fn announce_disabled(&self, webhook: &Webhook) -> Result<(), DbError> {
        let next = self.webhook_management.as_ref().map(|capability| {
            let input = json!({ "action": "verify", "webhook_id": webhook.id });
            json!({ "capability": capability, "input": input })
        });
        let (id, reason) = (&webhook.id, &webhook.last_error);
        let data = json!({ "v": 1, "webhook_id": id, "reason": reason, "next": next });
        tracing::warn!(webhook = webhook.id, reason = webhook.last_error, "a webhook is disabled");
        let mut unit = Unit::new(self.store.clone(), self.clock.now());
        let subject = format!("webhooks/{}", webhook.id);
        let audience = Audience::Agent(webhook.agent_id.clone());
        let now = unit.now();
        unit.publish(NewEvent::of_host(WEBHOOK_DISABLED, &subject, audience, &data, now));
        unit.commit(Attachments::default()).await.map_err(DbError::Shared)?;
        Ok(())
    }
}

/// Returns the headers of Standard Webhooks.
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

/// Returns whether an answer repeats the challenge: as JSON, `{"challenge": …}`, or as plain text.
fn echoes_challenge(body: &[u8], challenge: Option<&Value>) -> bool {
    let Some(challenge) = challenge.and_then(Value::as_str) else { return false };
    let json = serde_json::from_slice::<Value>(body).ok();
    let answer = json.as_ref().and_then(|json| json.get("challenge")).and_then(Value::as_str);
    answer == Some(challenge) || body.trim_ascii() == challenge.as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_is_answered_as_json_or_as_text() {
        let challenge = json!("c/Ab+1=");
        for body in [r#"{"challenge":"c/Ab+1="}"#, "c/Ab+1=", " c/Ab+1=\n"] {
            assert!(echoes_challenge(body.as_bytes(), Some(&challenge)), "{body}");
        }
        for body in ["", "ok", r#"{"challenge":"c/Ab+1"}"#, r#"{"challenge":null}"#] {
            assert!(!echoes_challenge(body.as_bytes(), Some(&challenge)), "{body}");
        }
        assert!(!echoes_challenge(b"", None));
    }
}
