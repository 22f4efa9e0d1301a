//! What the units of a batch depend on, read at the start of their transaction, under its locks. PostgreSQL gets all
//! queries at once, with the statements that begin the transaction.
//!
//! This is also read for units that turn out not to be valid.

use super::caps::name;
use crate::{
    changes::Changes,
    connection::{RowsQuery, Statements, Transaction},
    effects::{Audience, NewEvent, OutboxCommand, Release, Task, TimerKey},
    error::DbError,
    integers::signed,
    usage::scope,
};
use portolan_vocabulary::{Digest, Timestamp};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A collection's id, generation, shape and scope; the time until which nothing is committed to it; and the
/// usage of the scope.
pub(super) type LayoutRow = (i64, i64, String, String, i64, i64, i64, i64, i64);

/// A timer's capability, name and mode; its setting and bytes if it exists; the usage of the capability.
pub(super) type TimerRow = (String, String, i64, Option<String>, Option<i64>, i64, i64, i64, i64);

/// An owner for whom events are held; the sequence that a release has reached, if one is under way; and 1 if
/// events are due.
pub(super) type HeldState = (String, Option<i64>, i64);

/// An agent, and the last sequence of its inbox.
pub(super) type InboxHead = (String, i64);

/// A webhook, its agent, and the types of events that it wants.
pub(super) type Receiver = (String, String, String);

#[derive(Debug)]
pub(super) struct Reads {
    pub(super) layouts: Vec<LayoutRow>,
    /// The people, and their agents, whom units name and who are erased.
    pub(super) erased: BTreeSet<String>,
    pub(super) validation: ValidationReads,
    pub(super) fan_out: FanOutReads,
}

/// What units are validated against.
#[derive(Debug)]
pub(super) struct ValidationReads {
    pub(super) revisions: Vec<(i64, String, i64)>,
    pub(super) holders: Vec<(i64, i64, String, String)>,
    pub(super) timers: Vec<TimerRow>,
    pub(super) deliveries: Vec<(i64,)>,
    pub(super) answered: Vec<(String, String, String, String)>,
    pub(super) webhook_versions: Vec<(String, i64)>,
    pub(super) webhook_counts: Vec<(String, i64)>,
}

/// What the fan-out of events depends on.
#[derive(Debug)]
pub(super) struct FanOutReads {
    /// The time of the latest event to which rules apply, or release.
    pub(super) now: Timestamp,
    /// The counts of caps: the name, the number of events, and the end of the cap's time.
    pub(super) counts: Vec<(String, i64, i64)>,
    /// `None` if held events are released, which changes these states first.
    pub(super) held: Option<Vec<HeldState>>,
    /// The agents of whom the next two were read.
    pub(super) agents: BTreeSet<String>,
    pub(super) heads: Vec<InboxHead>,
    pub(super) receivers: Vec<Receiver>,
}

impl Reads {
    pub(super) async fn of(
        transaction: &mut Transaction,
        statements: &Statements,
        batch: &[&Changes],
    ) -> Result<Self, DbError> {
        let people = batch.iter().flat_map(|changes| &changes.people);
        let people: BTreeMap<String, &String> =
            people.map(|id| (Digest::of(id.as_bytes()).hex(), id)).collect();
        let digests = people.keys().map(|digest| json!([digest])).collect();
        let outgoing = Outgoing::of(batch);
        let agents: Vec<Value> = outgoing.agents.iter().map(|id| json!([id])).collect();
        let queries: Vec<RowsQuery<'_>> = vec![
            (&statements.layouts, collections(batch)),
            (&statements.erasures, digests),
            (&statements.revisions, documents(batch)),
            (&statements.holders, unique_values(batch)),
            (&statements.timers, timers(batch)),
            (&statements.deliveries, deliveries(batch)),
            (&statements.answered, answers(batch)),
            (&statements.webhook_versions, changed_webhooks(batch)),
            (&statements.webhook_counts, agents_of_added_webhooks(batch)),
            (&statements.counts, outgoing.caps()),
            (&statements.held.states, outgoing.owners()),
            (&statements.inboxes, agents.clone()),
            (&statements.receivers, agents),
        ];
        let mut found = transaction.find_all(queries).await?;
        let layouts = found.take_next()?;
        let erased: Vec<(String,)> = found.take_next()?;
        let id = |(digest,): &(String,)| people.get(digest).map(|id| (*id).clone());
        Ok(Self {
            layouts,
            erased: erased.iter().filter_map(id).collect(),
            validation: ValidationReads {
                revisions: found.take_next()?,
                holders: found.take_next()?,
                timers: found.take_next()?,
                deliveries: found.take_next()?,
                answered: found.take_next()?,
                webhook_versions: found.take_next()?,
                webhook_counts: found.take_next()?,
            },
            fan_out: FanOutReads {
                now: outgoing.now,
                counts: found.take_next()?,
                held: Some(found.take_next()?).filter(|_| outgoing.releases.is_empty()),
                heads: found.take_next()?,
                receivers: found.take_next()?,
                agents: outgoing.agents,
            },
        })
    }
}

/// The events and releases of a batch.
struct Outgoing<'a> {
    events: Vec<&'a NewEvent>,
    releases: Vec<&'a Release>,
    /// The agents whose inboxes they may reach, but for those of events to all listeners.
    agents: BTreeSet<String>,
    now: Timestamp,
}

impl<'a> Outgoing<'a> {
    fn of(batch: &[&'a Changes]) -> Self {
        let events: Vec<&NewEvent> = batch.iter().flat_map(|changes| &changes.events).collect();
        let releases = commands(batch).filter_map(|command| match command {
            OutboxCommand::Release(release) => Some(release),
            _ => None,
        });
        let releases: Vec<&Release> = releases.collect();
        let mut agents = BTreeSet::new();
        for event in &events {
            match &event.audience {
                Audience::Agent(id) => {
                    agents.insert(id.clone());
                }
                Audience::Owner(_) => agents.extend(event.agents.iter().cloned()),
                Audience::Listeners | Audience::Webhook { .. } | Audience::Capabilities => {}
            }
        }
        agents.extend(releases.iter().flat_map(|release| &release.agents).cloned());
        let with_rules = events.iter().filter(|event| event.rules.is_some());
        let times = with_rules.map(|event| event.occurred_at);
        let now = times.chain(releases.iter().map(|release| release.at)).max().unwrap_or_default();
        Self { events, releases, agents, now }
    }

    /// Returns rows with the names of the caps that may count.
    fn caps(&self) -> Vec<Value> {
        let mut names = BTreeSet::new();
        for event in &self.events {
            let Some(rules) = &event.rules else { continue };
            names.extend(rules.rules.caps_of(&event.event_type).map(|cap| name(rules, cap)));
        }
        for Release { rules, .. } in &self.releases {
            names.extend(rules.rules.caps.iter().map(|cap| name(rules, cap)));
        }
        names.into_iter().map(|name| json!([name])).collect()
    }

    /// Returns rows with the owners for whom there are events, unless held events are released.
    fn owners(&self) -> Vec<Value> {
        if !self.releases.is_empty() {
            return Vec::new();
        }
        let rules = self.events.iter().filter_map(|event| event.rules.as_ref());
        let owners: BTreeSet<&String> = rules.map(|rules| &rules.owner_id).collect();
        let now = signed(self.now.as_millis());
        owners.into_iter().map(|owner_id| json!([owner_id, now])).collect()
    }
}

fn commands<'a>(batch: &[&'a Changes]) -> impl Iterator<Item = &'a OutboxCommand> {
    batch.iter().flat_map(|changes| &changes.commands)
}

fn collections(batch: &[&Changes]) -> Vec<Value> {
    let used: BTreeSet<_> = batch.iter().flat_map(|changes| changes.collections()).collect();
    used.into_iter().map(|id| json!([id.0])).collect()
}

fn documents(batch: &[&Changes]) -> Vec<Value> {
    let documents: BTreeSet<_> = batch.iter().flat_map(|changes| changes.reads.keys()).collect();
    documents.into_iter().map(|key| json!([key.collection.0, key.id])).collect()
}

fn unique_values(batch: &[&Changes]) -> Vec<Value> {
    let keys: BTreeSet<_> = batch.iter().flat_map(|changes| changes.holders.keys()).collect();
    keys.into_iter().map(|key| json!([key.collection.0, key.place, key.key])).collect()
}

fn timers(batch: &[&Changes]) -> Vec<Value> {
    let ended = batch.iter().filter_map(|changes| match &changes.task {
        Some(Task::Timer { key, .. }) => Some(key),
        _ => None,
    });
    let changed = batch.iter().flat_map(|changes| changes.timers.keys());
    let keys: BTreeSet<&TimerKey> = ended.chain(changed).collect();
    let row = |key: &TimerKey| {
        let scope = scope(&key.capability, key.test_mode);
        json!([key.capability, key.name, u8::from(key.test_mode), scope])
    };
    keys.into_iter().map(row).collect()
}

fn deliveries(batch: &[&Changes]) -> Vec<Value> {
    let ids = batch.iter().filter_map(|changes| match &changes.task {
        Some(Task::Delivery { id }) => Some(id),
        _ => None,
    });
    ids.map(|id| json!([id])).collect()
}

fn answers(batch: &[&Changes]) -> Vec<Value> {
    let answers = batch.iter().filter_map(|changes| changes.answer.as_ref()).map(|answer| {
        let key = &answer.key;
        json!([key.agent_id, key.capability, key.action, key.key, answer.now.as_millis()])
    });
    answers.collect()
}

fn changed_webhooks(batch: &[&Changes]) -> Vec<Value> {
    commands(batch).filter_map(OutboxCommand::webhook).map(|(id, _)| json!([id])).collect()
}

fn agents_of_added_webhooks(batch: &[&Changes]) -> Vec<Value> {
    let agents = commands(batch).filter_map(|command| match command {
        OutboxCommand::AddWebhook { webhook, .. } => Some(&webhook.agent_id),
        _ => None,
    });
    let agents: BTreeSet<&String> = agents.collect();
    agents.into_iter().map(|agent_id| json!([agent_id])).collect()
}
