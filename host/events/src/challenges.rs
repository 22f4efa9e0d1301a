//! The challenges of webhooks: how many an agent may cause, and how many one host may get.
//!
//! The counts are in the database, so that all nodes share them. Without them, agents could have this host
//! send requests to somebody who has not asked for any.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use portolan_store::{Audience, NewEvent, OutboxCommand, StateError, Unit, Webhook};
use portolan_vocabulary::{Digest, WEBHOOK_CHALLENGE, entropy};
use reqwest::Url;
use serde_json::json;

const HOUR_MS: u64 = 3_600_000;
/// The maximum number of challenges that an agent causes in an hour.
const BY_AGENT: u64 = 20;
/// The maximum number of challenges that the webhooks of all agents at one host name get in an hour.
const BY_HOST: u64 = 120;

/// Sends a webhook a random text, which it must repeat in its answer. `Limit` if there were too many for
/// its agent or its host.
pub(crate) async fn publish(
    unit: &mut Unit,
    webhook: &Webhook,
    subject: &str,
) -> Result<(), StateError> {
    let host = Url::parse(&webhook.url).ok().and_then(|url| url.host_str().map(str::to_owned));
    let limits = [
        ("agent", Some(webhook.agent_id.clone()), BY_AGENT, "webhooks of this agent"),
        ("host", host, BY_HOST, "webhooks at this host"),
    ];
    for (kind, value, most, whose) in limits {
        // A counter outlives an erasure by an hour at most, so it does not name the agent.
        let name = format!("challenges/{kind}/{}", Digest::of_value(&json!(value)).hex());
        match unit.count_use(name, (HOUR_MS / most, most)).await? {
            Ok(count) => unit.add_command(OutboxCommand::Count(count)),
            Err(open_at) => {
                return Err(StateError::Limit(format!(
                    "too many challenges were sent to {whose}: at most {most} in an hour; the next one \
                     at {open_at}"
                )));
            }
        }
    }
    let text = STANDARD.encode(entropy::<24>());
    let data = json!({ "v": 1, "webhook_id": webhook.id, "challenge": text });
    let audience = Audience::Webhook { id: webhook.id.clone(), challenge: true };
    let now = unit.now();
    unit.publish(NewEvent::of_host(WEBHOOK_CHALLENGE, subject, audience, &data, now));
    Ok(())
}
