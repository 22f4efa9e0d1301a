//! Fan-out of events to inboxes and webhook deliveries, in the transaction that writes the events,
//! so that the sequences of inboxes have no gaps. The delivery rules of people apply here and nowhere else.

use super::{
    caps::CapCounts,
    email_notices::EmailNotices,
    holding::Holding,
    reads::{FanOutReads, InboxHead, Receiver},
    releasing::{Released, release},
    signals::Announcement,
};
use crate::{
    connection::{Statements, Transaction},
    effects::{Audience, NewEvent, OutboxCommand, Release},
    error::DbError,
    integers::{signed, unsigned},
    webhook::Webhook,
};
use portolan_vocabulary::{Timestamp, entropy, new_identifier};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// An event on its way to inboxes.
struct Incoming<'a> {
    id: &'a str,
    event_type: &'a str,
    occurred_at: Timestamp,
    agents: Vec<String>,
}

/// Adds each event to the inboxes of its audience, with a delivery for each webhook of these agents that
/// wants events of its type; and in the same way, first, the held events that are released. `reconsidered` are
/// the owners whose rules have changed.
pub(super) async fn fan_out(
    transaction: &mut Transaction,
    statements: &Statements,
    reads: FanOutReads,
    (events, releases): (&[&NewEvent], &[&Release]),
    reconsidered: &[&str],
) -> Result<Announcement, DbError> {
    let FanOutReads { now, counts, held, agents: known, mut heads, mut receivers } = reads;
    let mut holding = Holding::new(CapCounts::of(counts), reconsidered, now);
    let mut released = Vec::new();
    for step in releases {
        released.extend(release(transaction, statements, &mut holding, step).await?);
    }
    let held = match held {
        Some(states) => states,
        None => transaction.find(&statements.held.states, holding.owners(events)).await?,
    };
    holding.note_behind(held);
    let mut notices = EmailNotices::default();
    for event in &released {
        if let Some((owner_id, now)) = &event.told {
            notices.add(owner_id, &event.event_type, &event.event_id, *now);
        }
    }
    let mut entries: Vec<Incoming<'_>> = released.iter().map(Incoming::late).collect();
    let (mut deliveries, mut to_all) = (Vec::new(), false);
    for event in events {
        if !holding.admits(event) {
            continue;
        }
        match &event.audience {
            Audience::Agent(id) => entries.push(Incoming::new(event, vec![id.clone()])),
            Audience::Owner(owner_id) => {
                if event.has_email {
                    notices.add(owner_id, &event.event_type, &event.id, event.occurred_at);
                }
                entries.push(Incoming::new(event, event.agents.clone()));
            }
            Audience::Listeners => {
                // Other agents get it when they read their inboxes next.
                let found: Vec<(String,)> =
                    transaction.find(&statements.webhook_agents, vec![json!([])]).await?;
                let agents = found.into_iter().map(|(id,)| id).collect();
                entries.push(Incoming::new(event, agents));
                to_all = true;
            }
            Audience::Webhook { id, challenge } => {
                if *challenge {
                    // Only the newest challenge of a webhook is sent.
                    transaction.run(&statements.drop_challenges, vec![json!([id])]).await?;
                }
                deliveries.push(Incoming::new(event, Vec::new()).delivery(id, None, *challenge));
            }
            Audience::Capabilities => {}
        }
    }
    let has_held = holding.write(transaction, statements).await?;
    let has_timers = notices.write(transaction, statements).await? || has_held;
    let agents: BTreeSet<String> =
        entries.iter().flat_map(|event| &event.agents).cloned().collect();
    let further: Vec<Value> = agents.difference(&known).map(|id| json!([id])).collect();
    let (further_heads, further_receivers) = read_inboxes(transaction, statements, further).await?;
    heads.extend(further_heads);
    receivers.extend(further_receivers);
    let heads = heads.into_iter().filter(|(agent, _)| agents.contains(agent));
    let mut heads: BTreeMap<String, u64> =
        heads.map(|(agent, last)| (agent, unsigned(last))).collect();
    let mut wanting: BTreeMap<String, Vec<(String, Vec<String>)>> = BTreeMap::new();
    for (id, agent, types) in receivers {
        let types = serde_json::from_str(&types).unwrap_or_default();
        wanting.entry(agent).or_default().push((id, types));
    }
    let mut inbox = Vec::new();
    for event in &entries {
        for agent in &event.agents {
            let last = heads.entry(agent.clone()).or_insert(0);
            *last += 1;
            inbox.push(json!([agent, last, event.id]));
            for (webhook, types) in wanting.get(agent).into_iter().flatten() {
                if types.is_empty() || types.iter().any(|wanted| wanted == event.event_type) {
                    deliveries.push(event.delivery(webhook, Some(*last), false));
                }
            }
        }
    }
    let heads = heads.iter().map(|(agent, last)| json!([agent, last])).collect();
    transaction.run(&statements.put_inboxes, heads).await?;
    transaction.run(&statements.add_inbox, inbox).await?;
    let sending = !deliveries.is_empty();
    transaction.run(&statements.add_webhook_deliveries, deliveries).await?;
    let agents = if to_all { Vec::new() } else { agents.into_iter().collect() };
    Ok(Announcement { work: has_timers, sending, agents, to_all })
}

/// Reads the heads of inboxes and the webhooks of agents that only an event to all listeners reaches. `agents` are rows
/// with their ids.
async fn read_inboxes(
    transaction: &mut Transaction,
    statements: &Statements,
    agents: Vec<Value>,
) -> Result<(Vec<InboxHead>, Vec<Receiver>), DbError> {
    let queries = vec![(&statements.inboxes, agents.clone()), (&statements.receivers, agents)];
    let mut found = transaction.find_all(queries).await?;
    Ok((found.take_next()?, found.take_next()?))
}

impl<'a> Incoming<'a> {
    fn new(event: &'a NewEvent, agents: Vec<String>) -> Self {
        let (id, event_type) = (&event.id, &event.event_type);
        Self { id, event_type, occurred_at: event.occurred_at, agents }
    }

    /// Makes an event that was held.
    fn late(event: &'a Released) -> Self {
        let Released { event_id, event_type, occurred_at, agents, .. } = event;
        Self { id: event_id, event_type, occurred_at: *occurred_at, agents: agents.clone() }
    }

    /// Returns the row of a delivery of the event to a webhook.
    fn delivery(&self, webhook: &str, inbox_seq: Option<u64>, challenge: bool) -> Value {
        let id = new_identifier("dlv", self.occurred_at, u128::from_le_bytes(entropy()));
        json!([self.id, id, webhook, inbox_seq, u8::from(challenge)])
    }
}

/// Runs the outbox commands of the calls, in their order.
pub(super) async fn run_commands(
    transaction: &mut Transaction,
    statements: &Statements,
    commands: &[&OutboxCommand],
) -> Result<Announcement, DbError> {
    let mut announcement = Announcement::default();
    let (mut marks, mut behind) = (Vec::new(), BTreeSet::new());
    for command in commands {
        let (statement, row) = match command {
            OutboxCommand::Polled { agent_id, at } => {
                (&statements.put_polled, json!([agent_id, signed(at.as_millis())]))
            }
            OutboxCommand::AddBroadcasts { agent_id } => {
                behind.insert(agent_id.as_str());
                continue;
            }
            OutboxCommand::Mark { agent_id, seq, acknowledged } => {
                if !acknowledged && !announcement.agents.contains(agent_id) {
                    announcement.agents.push(agent_id.clone());
                }
                marks.push(json!([agent_id, seq, u8::from(*acknowledged)]));
                continue;
            }
            OutboxCommand::AddWebhook { webhook, .. }
            | OutboxCommand::PutWebhook { webhook, .. } => {
                // Deliveries that waited while the webhook was paused may be due.
                announcement.sending = true;
                (&statements.put_webhooks, row(webhook))
            }
            OutboxCommand::DropWebhook { id, .. } => {
                let row = vec![json!([id])];
                transaction.run(&statements.drop_webhook_deliveries, row).await?;
                (&statements.drop_webhooks, json!([id]))
            }
            OutboxCommand::DropWebhooksOf { agent_id } => {
                let row = vec![json!([agent_id])];
                transaction.run(&statements.drop_deliveries_of, row).await?;
                (&statements.drop_webhooks_of, json!([agent_id]))
            }
            OutboxCommand::EmptyInboxOf { agent_id, before } => {
                (&statements.empty_inbox_of, json!([agent_id, signed(before.as_millis())]))
            }
            OutboxCommand::Redeliver { delivery_id, at } => {
                announcement.sending = true;
                (&statements.redeliver, json!([delivery_id, signed(at.as_millis())]))
            }
            // Held events are delivered with the new ones.
            OutboxCommand::ReconsiderHeld { .. } | OutboxCommand::Release(_) => continue,
            OutboxCommand::TakeEmailNotices { owner_id, told } => {
                let told = told.iter();
                let told =
                    told.map(|(event_type, events)| json!([owner_id, event_type, signed(*events)]));
                transaction.run(&statements.email_notices.take, told.collect()).await?;
                (&statements.email_notices.drop_empty, json!([owner_id]))
            }
            OutboxCommand::Count(count) => {
                let (first, step) = (signed(count.after(0)), signed(count.step));
                let expires_at = signed(count.expires_at.as_millis());
                (&statements.add_counts, json!([count.name, first, step, expires_at]))
            }
        };
        transaction.run(statement, vec![row]).await?;
    }
    add_broadcasts(transaction, statements, &behind).await?;
    transaction.run(&statements.mark_inbox, marks).await?;
    Ok(announcement)
}

/// Adds the events to all listeners that the inboxes of these agents do not have yet.
async fn add_broadcasts(
    transaction: &mut Transaction,
    statements: &Statements,
    agents: &BTreeSet<&str>,
) -> Result<(), DbError> {
    let keys = || agents.iter().map(|id| json!([id])).collect::<Vec<_>>();
    let missing: Vec<(String, String)> =
        transaction.find(&statements.missing_broadcasts, keys()).await?;
    if !missing.is_empty() {
        let heads: Vec<(String, i64)> = transaction.find(&statements.inboxes, keys()).await?;
        let mut heads: BTreeMap<String, u64> =
            heads.into_iter().map(|(agent, last)| (agent, unsigned(last))).collect();
        let mut inbox = Vec::new();
        for (agent, event_id) in &missing {
            let last = heads.entry(agent.clone()).or_insert(0);
            *last += 1;
            inbox.push(json!([agent, last, event_id]));
        }
        let heads = heads.iter().map(|(agent, last)| json!([agent, last])).collect();
        transaction.run(&statements.put_inboxes, heads).await?;
        transaction.run(&statements.add_inbox, inbox).await?;
    }
    transaction.run(&statements.put_broadcasts, keys()).await
}

fn row(webhook: &Webhook) -> Value {
    let millis = |at: Timestamp| signed(at.as_millis());
    json!([
        webhook.id,
        webhook.agent_id,
        u8::from(webhook.test_mode),
        webhook.url,
        json!(webhook.types).to_string(),
        webhook.description,
        webhook.state.name(),
        webhook.secret,
        webhook.previous_secret,
        webhook.previous_until.map(millis),
        webhook.version,
        millis(webhook.created_at),
        millis(webhook.updated_at),
        webhook.last_error,
    ])
}
