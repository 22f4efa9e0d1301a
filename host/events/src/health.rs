//! The health of a webhook: its state, its cooldown, and the time of the next attempt.

use crate::settings::WebhookSettings;
use portolan_outgoing::OutgoingResponse;
use portolan_store::{Attempt, DeliveryOutcome, DueDelivery, Webhook, WebhookState};
use portolan_vocabulary::{Timestamp, entropy};
use std::time::Duration;

/// The number of consecutive failures after which a webhook has a cooldown. Each further cooldown is twice as
/// long, up to the longest.
const COOLDOWN_FAILURES: u64 = 5;
const FIRST_COOLDOWN_MS: u64 = 30_000;
const LONGEST_COOLDOWN_MS: u64 = 15 * 60_000;
/// The longest `Retry-After` that is respected.
const LONGEST_RETRY_AFTER_S: u64 = DAY_S;
const DAY_S: u64 = 24 * 3600;
/// The largest random change of a wait, in thousandths of the wait.
const JITTER: u64 = 200;
/// The status by which a server says that the address is gone for good.
const GONE: u16 = 410;

/// The outcome of one request.
pub(crate) struct RequestOutcome<'a> {
    pub delivery: &'a DueDelivery,
    /// `None` if there was no answer.
    pub response: Option<OutgoingResponse>,
    /// Why the request has failed, if it has.
    pub failure: Option<String>,
    pub at: Timestamp,
    pub duration: Duration,
}

/// Updates the health of a webhook after concurrent requests. Returns its next state, if the state changes.
pub(crate) fn update_health(
    webhook: &mut Webhook,
    requests: &[RequestOutcome<'_>],
    settings: &WebhookSettings,
    now: Timestamp,
) -> Option<WebhookState> {
    webhook.last_error = requests.iter().filter_map(|request| request.failure.clone()).next_back();
    let health = &mut webhook.health;
    if requests.iter().any(|request| request.failure.is_none()) {
        health.failures = 0;
        health.failing_since = None;
        health.last_success_at = Some(now);
        health.cooldown_until = Timestamp::default();
    }
    let (challenges, events): (Vec<_>, Vec<_>) =
        requests.iter().partition(|request| request.delivery.challenge);
    if challenges.iter().any(|request| request.failure.is_none()) {
        let awaits_challenge =
            matches!(webhook.state, WebhookState::Unverified | WebhookState::Disabled);
        return awaits_challenge.then_some(WebhookState::Active);
    }
    let answers = || events.iter().filter_map(|request| request.response.as_ref());
    if answers().any(|response| response.status == GONE) {
        return Some(WebhookState::Disabled);
    }
    if events.is_empty() || events.iter().any(|request| request.failure.is_none()) {
        return None;
    }
    health.failures += 1;
    let cooldown_ms = health.failures.checked_sub(COOLDOWN_FAILURES).map_or(0, |excess| {
        jittered(FIRST_COOLDOWN_MS.saturating_mul(1 << excess.min(20)).min(LONGEST_COOLDOWN_MS))
    });
    let throttled = answers().filter(|response| matches!(response.status, 429 | 502..=504));
    let retry_after_s =
        throttled.filter_map(|response| response.retry_after_s(now)).max().unwrap_or(0);
    let cooldown_ms = cooldown_ms.max(retry_after_s.min(LONGEST_RETRY_AFTER_S) * 1000);
    let until = Timestamp::from_millis(now.as_millis() + cooldown_ms);
    let last_cooldown_end = health.cooldown_until;
    health.cooldown_until = health.cooldown_until.max(until);
    // After a long time without requests, an earlier series of failures does not count.
    let gap_s = settings.retry_seconds.iter().copied().fold(DAY_S, u64::max);
    if last_cooldown_end.as_millis() + 2 * gap_s * 1000 < now.as_millis() {
        health.failing_since = None;
    }
    let since = *health.failing_since.get_or_insert(now);
    let failing_ms = now.as_millis().saturating_sub(since.as_millis());
    let longest_ms = settings.disable_after_hours * 3_600_000;
    (failing_ms >= longest_ms).then_some(WebhookState::Disabled)
}

/// Returns the record of a request, with the outcome of the delivery and the time of the next
/// attempt.
pub(crate) fn attempt(
    request: RequestOutcome<'_>,
    settings: &WebhookSettings,
    now: Timestamp,
) -> Attempt {
    let RequestOutcome { delivery, response, failure, at, duration } = request;
    let retry = settings.retry_seconds.get(delivery.attempts as usize);
    let (outcome, wait_s) = match (&failure, retry) {
        (None, _) => (DeliveryOutcome::Delivered, 0),
        (Some(_), Some(seconds)) => (DeliveryOutcome::Pending, *seconds),
        (Some(_), None) => (DeliveryOutcome::Dead, 0),
    };
    let retry_after_s = response.as_ref().and_then(|response| response.retry_after_s(now));
    let retry_after_ms = retry_after_s.unwrap_or(0).min(LONGEST_RETRY_AFTER_S) * 1000;
    let wait_ms = jittered(wait_s * 1000).max(retry_after_ms);
    // PostgreSQL does not accept NUL in a text.
    let text = |response: &OutgoingResponse| {
        String::from_utf8_lossy(&response.body).replace('\0', "\u{fffd}")
    };
    Attempt {
        delivery_id: delivery.id.clone(),
        inbox_seq: delivery.event.seq,
        outcome,
        due_at: Timestamp::from_millis(now.as_millis() + wait_ms),
        at,
        status: response.as_ref().map(|response| response.status),
        response: response.as_ref().map(text),
        error: failure.filter(|_| response.is_none()),
        duration_ms: u32::try_from(duration.as_millis()).unwrap_or(u32::MAX),
    }
}

/// Shortens or prolongs a wait at random, so that requests that failed together are not repeated
/// together.
fn jittered(wait_ms: u64) -> u64 {
    let random = u64::from(u32::from_le_bytes(entropy())) % (2 * JITTER + 1);
    wait_ms * (1000 - JITTER + random) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_differ_by_a_fifth_at_most() {
        for _ in 0..1_000 {
            assert!((800..=1_200).contains(&jittered(1_000)));
        }
        assert_eq!(jittered(0), 0);
    }
}
