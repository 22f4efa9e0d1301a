//! The capability `svc.webhooks`: addresses that an agent's events are sent to.
//!
//! The host stores the addresses and sends to them; this capability checks the requests of agents
//! and formats the answers.

mod intents;
mod states;
mod types;

use portolan_sdk::contract::webhooks::{self, Endpoint};
use portolan_sdk::prelude::*;
use types::*;

/// The seconds after which a request has usually been answered.
const SOON_S: u32 = 5;
/// The seconds after which an agent may cause another challenge.
const CHALLENGE_WAIT_S: u32 = 180;
/// The maximum number of webhooks of an agent, which the host enforces.
const MOST_WEBHOOKS: usize = 5;

/// A webhook's id for the examples.
const WEBHOOK_ID: &str = "whk_01JD62M3N4P5Q6R7S8T9V0W1X2";

struct SvcWebhooks;

/// Sends the events of the calling agent to an https address, signed.
///
/// `create` registers an address; it needs a claimed agent, and an agent has at most five. Each
/// event is then sent as a POST in CloudEvents 1.0 JSON, with `content-type:
/// application/cloudevents+json`. An agent without an address of its own uses `svc.events`, or `GET
/// /v1/agent-events/stream`.
///
/// **Challenge.** Before anything else is sent to an address, the host sends it an event
/// `webhook.challenge`. Answer it with a 2xx status and the text of its `data.challenge` in the
/// body, as JSON `{"challenge": "…"}` or as plain text. The webhook is active from then on.
/// `verify` sends the challenge again. An agent may cause 20 challenges an hour, and a host name gets
/// at most 120; above, `rate_limited` tells when the next one is possible.
///
/// **Signature.** As in Standard Webhooks, a request has the headers `webhook-id` (the event's id,
/// the same at every attempt), `webhook-timestamp` (seconds since the Unix epoch) and
/// `webhook-signature`: `v1,` and, in base64, HMAC-SHA256 over `id.timestamp.body`. The key is what
/// follows `whsec_` in the secret, decoded from base64. For a day after `rotate_secret` there are
/// several signatures, separated by spaces; one that matches is enough. Check every request,
/// challenges too, against the body's exact bytes, and refuse timestamps that are more than five
/// minutes off.
///
/// **Delivery.** A 2xx status within 15 seconds is success, and the event counts as acknowledged;
/// do the work afterwards. Anything else is a failure, redirects included. Failed deliveries are
/// retried: an event is sent at once, then after 5 seconds, 5 minutes, 30 minutes, 2, 5, 10, 14, 20
/// and 24 hours, each with some jitter, and later if `Retry-After` says so. Events are delivered at
/// least once: skip those whose id you have seen. An answer of 410, or five days with failures
/// only, disables the webhook until it is verified again. `test`, `deliveries` and `redeliver` help
/// to find faults.
#[capability(id = "svc.webhooks", title = "Webhooks", tags = ["service", "events", "webhooks", "notifications"],
    roles = ["webhook_management"]
)]
impl SvcWebhooks {
    /// Register an address that events are sent to.
    ///
    /// It needs a claimed agent. The address must be https and reachable from the internet; an
    /// agent has at most five webhooks. The answer contains the secret with which requests are
    /// signed; it is shown only this once.
    ///
    /// At once the host POSTs an event `webhook.challenge` to the address. The server there must
    /// return `data.challenge` in the body of a 2xx answer, as JSON `{"challenge": "…"}` or as
    /// plain text; nothing else is sent before. Then `get` shows that the webhook is `active`.
    /// Events are CloudEvents 1.0 JSON (`application/cloudevents+json`) with the Standard Webhooks
    /// headers `webhook-id`, `webhook-timestamp` and `webhook-signature`: `v1,` and the base64 of
    /// HMAC-SHA256 over `id.timestamp.body`. A 2xx answer within 15 seconds acknowledges the event;
    /// failures are retried for days.
    #[action(
        access = events,
        example = json!({
            "url": "https://hooks.example.com/portolan",
            "types": ["pairing.replied", "meeting.confirmed"],
            "description": "Replies and meetings",
        }),
        intents = intents::CREATE
    )]
    fn create(call: &Call, input: Create) -> Result<Answer<WithSecret>, WebhookError> {
        if call.owner_id().is_none() {
            return Err(claim_first().into());
        }
        let created = webhooks::create(&input.url, &input.types, input.description.as_deref())
            .map_err(|error| match error {
                HostError::Limit(_) if has_most() => WebhookError::WebhookLimitReached,
                error => not_sent(error),
            })?;
        let next = see_later(&created.endpoint);
        Ok(Answer::new(created.into()).next(next))
    }

    /// Send the challenge again.
    ///
    /// The host POSTs an event `webhook.challenge` to the address, signed like every other. The
    /// server there must return `data.challenge` in the body of a 2xx answer within 15 seconds, as
    /// JSON `{"challenge": "…"}` or as plain text; a redirect is a failure. An unverified or
    /// disabled webhook then becomes active, as `get` shows; an active or paused one stays as it
    /// is.
    #[action(
        access = events, example = json!({ "webhook_id": WEBHOOK_ID }),
        intents = intents::VERIFY
    )]
    fn verify(_call: &Call, input: WebhookId) -> Result<Answer<Shown>, WebhookError> {
        let webhook = allowed(&input.webhook_id, "verify")?;
        let endpoint = webhooks::challenge(&webhook.id).map_err(not_sent)?;
        let next = see_later(&endpoint);
        Ok(Answer::new(shown(endpoint)).next(next))
    }

    /// List the agent's webhooks, the oldest first.
    #[action(
        access = events, idempotent, example = portolan_sdk::NoInput {},
        intents = intents::LIST
    )]
    fn list(_call: &Call) -> Result<Webhooks, Refusal> {
        Ok(Webhooks { items: webhooks::all()?.into_iter().map(Webhook::from).collect() })
    }

    /// Get one webhook, with its state and its last successes and failures.
    #[action(
        access = events, idempotent, example = json!({ "webhook_id": WEBHOOK_ID }),
        intents = intents::GET
    )]
    fn get(_call: &Call, input: WebhookId) -> Result<Shown, WebhookError> {
        Ok(shown(find(&input.webhook_id)?))
    }

    /// Change the address, the types of events or the description.
    ///
    /// Omitted fields stay as they are. A new address must answer a challenge before anything else
    /// is sent there.
    #[action(
        access = events, idempotent,
        example = json!({
            "webhook_id": WEBHOOK_ID,
            "expected_version": 2,
            "types": ["meeting.confirmed"],
            "description": null,
        }),
        intents = intents::UPDATE
    )]
    fn update(_call: &Call, input: Update) -> Result<Answer<Shown>, WebhookError> {
        let before = allowed(&input.webhook_id, "update")?;
        expect(before, input.expected_version)?;
        let change = webhooks::Change {
            url: input.url,
            types: input.types.map(Option::unwrap_or_default),
            description: input.description.map(Option::unwrap_or_default),
        };
        let expected = input.expected_version.map(|version| version.0);
        let updated = webhooks::update(&input.webhook_id, expected, &change);
        let endpoint = updated.map_err(not_sent)?;
        let is_unverified = endpoint.state == webhooks::State::Unverified;
        let next = is_unverified.then(|| see_later(&endpoint));
        Ok(Answer::with(shown(endpoint), next))
    }

    /// Pause a webhook.
    ///
    /// Events that happen meanwhile wait for `resume`. Only an active webhook can be paused.
    #[action(
        access = events, example = json!({ "webhook_id": WEBHOOK_ID }),
        intents = intents::PAUSE
    )]
    fn pause(_call: &Call, input: WebhookId) -> Result<Shown, WebhookError> {
        Ok(shown(webhooks::pause(&allowed(&input.webhook_id, "pause")?.id)?))
    }

    /// Resume a paused webhook; waiting events are sent too.
    #[action(
        access = events, example = json!({ "webhook_id": WEBHOOK_ID }),
        intents = intents::RESUME
    )]
    fn resume(_call: &Call, input: WebhookId) -> Result<Shown, WebhookError> {
        Ok(shown(webhooks::resume(&allowed(&input.webhook_id, "resume")?.id)?))
    }

    /// Get a new secret.
    ///
    /// It is shown only this once. For a day requests are signed with the old secret too, so that
    /// no request fails while you replace it.
    #[action(
        access = events, example = json!({ "webhook_id": WEBHOOK_ID }),
        intents = intents::ROTATE_SECRET
    )]
    fn rotate_secret(_call: &Call, input: WebhookId) -> Result<WithSecret, WebhookError> {
        Ok(webhooks::rotate_secret(&allowed(&input.webhook_id, "rotate_secret")?.id)?.into())
    }

    /// Send an event `webhook.test` to an active webhook.
    ///
    /// It is signed like every other; `deliveries` shows its outcome.
    #[action(
        access = events, example = json!({ "webhook_id": WEBHOOK_ID }),
        intents = intents::TEST
    )]
    fn test(_call: &Call, input: WebhookId) -> Result<Answer<Tested>, WebhookError> {
        let endpoint = allowed(&input.webhook_id, "test")?;
        let event_id = webhooks::test(&endpoint.id)?;
        let next = step_for("deliveries", endpoint.id).after_s(SOON_S);
        Ok(Answer::new(Tested { event_id }).next(next))
    }

    /// List the deliveries of a webhook, newest first.
    ///
    /// Each delivery shows the number of its attempts, the last answer, and the time of the next
    /// attempt. Those that failed too often are `dead`; `redeliver` sends them again.
    #[action(
        access = events, idempotent,
        example = json!({ "webhook_id": WEBHOOK_ID, "outcome": "dead" }),
        intents = intents::DELIVERIES
    )]
    fn deliveries(_call: &Call, input: Deliveries) -> Result<DeliveryPage, WebhookError> {
        find(&input.webhook_id)?;
        let (outcome, cursor) = (input.outcome.map(Into::into), input.cursor.as_deref());
        let page = match webhooks::log(&input.webhook_id, outcome, cursor, input.limit) {
            Err(HostError::BadCursor) => return Err(bad_cursor(&input).into()),
            page => page?,
        };
        let items = page.items.into_iter().map(Delivery::from).collect();
        Ok(DeliveryPage { items, next_cursor: page.next })
    }

    /// Send one delivery again, from the first attempt.
    ///
    /// It is tried at once, and then by the whole schedule if it fails.
    #[action(
        access = events, example = json!({ "delivery_id": "dlv_01JD62M3N4P5Q6R7S8T9V0W1X2" }),
        intents = intents::REDELIVER
    )]
    fn redeliver(_call: &Call, input: DeliveryId) -> Result<Redelivered, WebhookError> {
        let delivery = webhooks::redeliver(&input.delivery_id)?;
        Ok(Redelivered { delivery: delivery.ok_or(WebhookError::DeliveryNotFound)?.into() })
    }

    /// Delete a webhook. Unsent events are not sent.
    ///
    /// Undelivered events are still in the inbox: `svc.events` `pull` returns them.
    #[action(
        access = events, destructive, example = json!({ "webhook_id": WEBHOOK_ID }),
        intents = intents::DELETE
    )]
    fn delete(_call: &Call, input: WebhookId) -> Result<Deleted, WebhookError> {
        match webhooks::remove(&input.webhook_id)? {
            true => Ok(Deleted { deleted: true }),
            false => Err(WebhookError::WebhookNotFound),
        }
    }
}

fn find(webhook_id: &str) -> Result<Endpoint, WebhookError> {
    webhooks::get(webhook_id)?.ok_or(WebhookError::WebhookNotFound)
}

/// Returns a webhook. Refuses if its state does not allow the action.
fn allowed(webhook_id: &str, action: &str) -> Result<Endpoint, WebhookError> {
    let endpoint = find(webhook_id)?;
    states::check(webhook_id, endpoint.state.into(), action)?;
    Ok(endpoint)
}

fn shown(endpoint: Endpoint) -> Shown {
    Shown { webhook: endpoint.into() }
}

/// Returns the next step that reads the webhook later: the challenge is being sent, and its result
/// takes some time.
fn see_later(endpoint: &Endpoint) -> Next {
    step_for("get", endpoint.id.as_str()).after_s(SOON_S)
}

fn claim_first() -> Refusal {
    let message = "A person must claim this identity with a one-time phone bind before its events can be sent anywhere.";
    let conflict = json!({ "kind": "identity", "current": "anonymous", "required": "claimed" });
    let refusal = Refusal::common(ErrorCode::PhoneBindingRequired, message);
    refusal.conflict(&conflict).next(Next::claim().then_retry())
}

/// Returns whether the agent has as many webhooks as an agent can have.
fn has_most() -> bool {
    webhooks::all().is_ok_and(|webhooks| webhooks.len() >= MOST_WEBHOOKS)
}

/// Makes the refusal of an address that is not allowed, or of a challenge too many.
fn not_sent(error: HostError) -> WebhookError {
    match error {
        HostError::Limit(text) => {
            let message = format!("Wait before the next challenge: {text}.");
            let wait = Next::action(CAPABILITY, "list").after_s(CHALLENGE_WAIT_S);
            Refusal::common(ErrorCode::RateLimited, message).next(wait).into()
        }
        HostError::Invalid(message) => {
            Refusal { message, ..WebhookError::UrlNotAllowed.into() }.into()
        }
        error => error.into(),
    }
}

/// Refuses a change if the version is no longer the current one.
fn expect(endpoint: Endpoint, expected: Option<Version>) -> Result<(), WebhookError> {
    let current = Webhook::from(endpoint);
    let (version, read) = (current.version, step_for("get", current.webhook_id.as_str()));
    Ok(ensure_version(expected, version, || current, read)?)
}

/// Makes the refusal of a cursor; its next step is the same call without the cursor.
fn bad_cursor(input: &Deliveries) -> Refusal {
    let mut again = step_for("deliveries", input.webhook_id.as_str()).field("limit", input.limit);
    if let Some(outcome) = input.outcome {
        again = again.field("outcome", portolan_sdk::to_value(&outcome));
    }
    Refusal::from(HostError::BadCursor).next(again)
}
