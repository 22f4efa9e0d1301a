//! Validates units of work, one after the other, against the state that was read at the start of the
//! transaction.

use super::{
    quotas::QuotaState,
    reads::ValidationReads,
    verdict::{ConflictKey, Verdict},
};
use crate::{
    changes::Changes,
    document::{CollectionId, DocumentKey, UniqueKey},
    effects::{OutboxCommand, Task, TimerChange, TimerKey},
    integers::unsigned,
    usage::Usage,
};
use std::collections::{BTreeMap, BTreeSet};

/// The state of everything that the units of a batch depend on: first that in the database, then with the
/// writes of each valid unit applied.
#[derive(Debug)]
pub(super) struct ValidationState<'a> {
    quotas: QuotaState<'a>,
    revisions: BTreeMap<DocumentKey, u64>,
    holders: BTreeMap<UniqueKey, String>,
    settings: BTreeMap<TimerKey, String>,
    deliveries: BTreeSet<i64>,
    answered: BTreeSet<(String, String, String, String)>,
    /// The version of each webhook.
    webhooks: BTreeMap<String, u64>,
    /// The number of webhooks of each agent that adds one.
    webhook_counts: BTreeMap<String, u64>,
}

impl<'a> ValidationState<'a> {
    pub(super) fn new(reads: ValidationReads, mut quotas: QuotaState<'a>) -> Self {
        let mut settings = BTreeMap::new();
        for (capability, name, mode, setting, size, documents, tombstones, bytes, timers) in
            reads.timers
        {
            let key = TimerKey { capability, name, test_mode: mode != 0 };
            quotas.add_timer(&key, size, Usage { documents, tombstones, bytes, timers });
            settings.extend(setting.map(|setting| (key, setting)));
        }
        let version = |(id, version)| (id, unsigned(version));
        let revision = |(collection, id, revision): (i64, String, i64)| {
            (DocumentKey { collection: CollectionId(collection), id }, unsigned(revision))
        };
        let holder = |(collection, place, key, id): (i64, i64, String, String)| {
            let place = usize::try_from(place).unwrap_or(0);
            (UniqueKey { collection: CollectionId(collection), place, key }, id)
        };
        Self {
            quotas,
            revisions: reads.revisions.into_iter().map(revision).collect(),
            holders: reads.holders.into_iter().map(holder).collect(),
            settings,
            deliveries: reads.deliveries.into_iter().map(|(id,)| id).collect(),
            answered: reads.answered.into_iter().collect(),
            webhooks: reads.webhook_versions.into_iter().map(version).collect(),
            webhook_counts: reads.webhook_counts.into_iter().map(version).collect(),
        }
    }

    pub(super) fn validate(&self, changes: &Changes) -> Verdict {
        let due = match &changes.task {
            None => true,
            Some(Task::Timer { key, setting }) => self.settings.get(key) == Some(setting),
            Some(Task::Delivery { id }) => self.deliveries.contains(id),
        };
        if !due {
            return Verdict::Superseded;
        }
        let answered =
            changes.answer.as_ref().filter(|answer| self.answered.contains(&answer.key.parts()));
        let version = |id| self.webhooks.get(id).copied().unwrap_or(0);
        let mut webhooks = changes.commands.iter().filter_map(OutboxCommand::webhook);
        let webhook = webhooks.find(|(id, seen)| version(*id) != *seen);
        let added = changes.commands.iter().find_map(|command| match command {
            OutboxCommand::AddWebhook { webhook, existing } => {
                let count = self.webhook_counts.get(&webhook.agent_id).copied().unwrap_or(0);
                (count != *existing).then_some(&webhook.agent_id)
            }
            _ => None,
        });
        let conflict = read_conflict(changes, &self.revisions, &self.holders)
            .or_else(|| answered.map(|answer| ConflictKey::of(&answer.key)))
            .or_else(|| webhook.map(|(id, _)| ConflictKey::of(&id)))
            .or_else(|| added.map(ConflictKey::of));
        if let Some(key) = conflict {
            return Verdict::Conflict(key);
        }
        self.quotas.find_exceeded(changes).map_or(Verdict::Committed, Verdict::QuotaExceeded)
    }

    /// Keeps the rates with which the next transactions are compared. To be called after this transaction is
    /// committed.
    pub(super) fn store_rates(self) {
        self.quotas.store_rates();
    }

    /// Applies the writes of a valid unit, so that later units are validated against them.
    pub(super) fn apply(&mut self, changes: &Changes) {
        self.quotas.apply(changes);
        for (key, write) in &changes.writes {
            self.revisions.insert(key.clone(), write.revision);
            self.holders
                .retain(|held, holder| held.collection != key.collection || *holder != key.id);
        }
        for (key, write) in &changes.writes {
            for unique in write.unique_keys(key.collection) {
                self.holders.insert(unique, key.id.clone());
            }
        }
        match &changes.task {
            Some(Task::Timer { key, .. }) => {
                self.settings.remove(key);
            }
            Some(Task::Delivery { id }) => {
                self.deliveries.remove(id);
            }
            None => {}
        }
        for (key, change) in &changes.timers {
            match change {
                TimerChange::Set { setting, .. } => {
                    self.settings.insert(key.clone(), setting.clone());
                }
                TimerChange::Cancel => {
                    self.settings.remove(key);
                }
            }
        }
        for command in &changes.commands {
            match command {
                OutboxCommand::AddWebhook { webhook, .. } => {
                    *self.webhook_counts.entry(webhook.agent_id.clone()).or_insert(0) += 1;
                    self.webhooks.insert(webhook.id.clone(), webhook.version);
                }
                OutboxCommand::PutWebhook { webhook, .. } => {
                    self.webhooks.insert(webhook.id.clone(), webhook.version);
                }
                OutboxCommand::DropWebhook { id, .. } => {
                    self.webhooks.remove(id);
                }
                _ => {}
            }
        }
        self.answered.extend(changes.answer.iter().map(|answer| answer.key.parts()));
    }
}

/// Returns the conflict key of a document or a unique key that has changed since the unit read it, if there
/// is one.
pub(super) fn read_conflict(
    changes: &Changes,
    revisions: &BTreeMap<DocumentKey, u64>,
    holders: &BTreeMap<UniqueKey, String>,
) -> Option<ConflictKey> {
    let revision = |key| revisions.get(key).copied().unwrap_or(0);
    let read = changes.reads.iter().find(|(key, seen)| revision(key) != **seen);
    let held = || changes.holders.iter().find(|(key, seen)| holders.get(*key) != seen.as_ref());
    let read = read.map(|(key, _)| ConflictKey::of(key));
    read.or_else(|| held().map(|(key, _)| ConflictKey::of(key)))
}
