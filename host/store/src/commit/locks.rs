//! The locks under which a batch of units is committed on PostgreSQL. Each thing that a unit reads or writes has a
//! lock, so units of different nodes wait for each other only if they share one of them.
//!
//! All locks of a batch are taken at its start, in the order of their numbers, and kept until its end. So the
//! outcome is that of committing one unit after the other, and no two batches wait for each other.

use crate::{
    changes::Changes,
    document::{DocumentKey, UniqueKey},
    effects::{Audience, IdempotencyKey, NewEvent, OutboxCommand, Task, TimerKey},
};
use siphasher::sip::SipHasher13;
use std::{collections::BTreeMap, hash::Hasher as _};

/// The subject of a lock. The numbers are the same on all nodes, of whatever version.
#[derive(Debug, Clone, Copy)]
enum Subject {
    Document = 1,
    UniqueValue = 2,
    Timer = 3,
    Delivery = 4,
    Answer = 5,
    /// An agent's inbox and webhooks.
    Agent = 6,
    /// An owner's held events, what the caps have counted, and what is to be told by email.
    Owner = 7,
    Webhook = 8,
    Counter = 9,
    /// The deliveries about one subject, which keep their order.
    Lane = 10,
    WebhookDelivery = 11,
}

/// The locks of a unit or of a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Locks {
    /// The number of each lock, and whether the unit changes the subject of the lock. Units that only read
    /// share the lock.
    keys: BTreeMap<i64, bool>,
    /// Whether nothing else may be committed at the same time.
    alone: bool,
}

impl Locks {
    pub(super) fn of(changes: &Changes) -> Self {
        let mut locks = Self::default();
        changes.reads.keys().for_each(|key| locks.document(key, false));
        for (key, holder) in &changes.holders {
            locks.unique_value(key, false);
            // A unit that releases the value writes the document that holds it.
            if let Some(id) = holder {
                let id = id.clone();
                locks.document(&DocumentKey { collection: key.collection, id }, false);
            }
        }
        for (key, write) in &changes.writes {
            locks.document(key, true);
            write.unique_keys(key.collection).for_each(|key| locks.unique_value(&key, true));
        }
        match &changes.task {
            Some(Task::Timer { key, .. }) => locks.timer(key),
            Some(Task::Delivery { id }) => locks.add(Subject::Delivery, &[&id.to_le_bytes()], true),
            None => {}
        }
        changes.timers.keys().for_each(|key| locks.timer(key));
        changes.answer.iter().for_each(|answer| locks.answer(&answer.key));
        changes.events.iter().for_each(|event| locks.event(event));
        changes.commands.iter().for_each(|command| locks.command(command));
        locks
    }

    /// Returns the locks of a batch that is committed while nothing else is.
    pub(super) fn alone() -> Self {
        Self { keys: BTreeMap::new(), alone: true }
    }

    /// Adds the locks of another unit of the batch.
    pub(super) fn extend(&mut self, other: &Self) {
        self.alone |= other.alone;
        for (key, changes) in &other.keys {
            *self.keys.entry(*key).or_default() |= *changes;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns the numbers of the locks in the order in which they are taken, and whether each is exclusive.
    /// `None` if nothing else may be committed at the same time.
    pub(super) fn in_order(&self) -> Option<Vec<(i64, bool)>> {
        let keys = || self.keys.iter().map(|(key, changes)| (*key, *changes)).collect();
        (!self.alone).then(keys)
    }

    fn add(&mut self, subject: Subject, parts: &[&[u8]], changes: bool) {
        let mut hasher = SipHasher13::new();
        hasher.write(&[subject as u8]);
        for part in parts {
            hasher.write(&part.len().to_le_bytes());
            hasher.write(part);
        }
        let key = i64::from_le_bytes(hasher.finish().to_le_bytes());
        *self.keys.entry(key).or_default() |= changes;
    }

    fn document(&mut self, key: &DocumentKey, changes: bool) {
        let DocumentKey { collection, id } = key;
        self.add(Subject::Document, &[&collection.0.to_le_bytes(), id.as_bytes()], changes);
    }

    fn unique_value(&mut self, key: &UniqueKey, changes: bool) {
        let UniqueKey { collection, place, key } = key;
        let (collection, place) = (collection.0.to_le_bytes(), place.to_le_bytes());
        self.add(Subject::UniqueValue, &[&collection, &place, key.as_bytes()], changes);
    }

    fn timer(&mut self, key: &TimerKey) {
        let TimerKey { capability, name, test_mode } = key;
        let parts: [&[u8]; 3] = [capability.as_bytes(), name.as_bytes(), &[u8::from(*test_mode)]];
        self.add(Subject::Timer, &parts, true);
    }

    fn answer(&mut self, key: &IdempotencyKey) {
        let IdempotencyKey { agent_id, capability, action, key } = key;
        let parts = [agent_id, capability, action, key].map(|part| part.as_bytes());
        self.add(Subject::Answer, &parts, true);
    }

    fn named(&mut self, subject: Subject, name: &str) {
        self.add(subject, &[name.as_bytes()], true);
    }

    fn event(&mut self, event: &NewEvent) {
        match &event.audience {
            Audience::Agent(id) => self.named(Subject::Agent, id),
            Audience::Webhook { id, .. } => self.named(Subject::Webhook, id),
            // It reaches agents with webhooks, which only the database knows; and no inbox that is brought up to date
            // meanwhile misses it.
            Audience::Listeners => self.alone = true,
            Audience::Owner(_) | Audience::Capabilities => {}
        }
        event.agents.iter().for_each(|id| self.named(Subject::Agent, id));
        if let Some(rules) = &event.rules {
            self.named(Subject::Owner, &rules.owner_id);
        }
        event
            .owner()
            .iter()
            .filter(|_| event.has_email)
            .for_each(|id| self.named(Subject::Owner, id));
        if !event.subscribers.is_empty() {
            self.named(Subject::Lane, &event.subject);
        }
    }

    fn command(&mut self, command: &OutboxCommand) {
        match command {
            OutboxCommand::Polled { agent_id, .. }
            | OutboxCommand::AddBroadcasts { agent_id }
            | OutboxCommand::Mark { agent_id, .. }
            | OutboxCommand::DropWebhooksOf { agent_id }
            | OutboxCommand::EmptyInboxOf { agent_id, .. } => self.named(Subject::Agent, agent_id),
            OutboxCommand::AddWebhook { webhook, .. }
            | OutboxCommand::PutWebhook { webhook, .. } => {
                self.named(Subject::Agent, &webhook.agent_id);
                self.named(Subject::Webhook, &webhook.id);
            }
            OutboxCommand::DropWebhook { id, agent_id, .. } => {
                self.named(Subject::Agent, agent_id);
                self.named(Subject::Webhook, id);
            }
            OutboxCommand::Redeliver { delivery_id, .. } => {
                self.named(Subject::WebhookDelivery, delivery_id);
            }
            OutboxCommand::Count(count) => self.named(Subject::Counter, &count.name),
            OutboxCommand::ReconsiderHeld { owner_id }
            | OutboxCommand::TakeEmailNotices { owner_id, .. } => {
                self.named(Subject::Owner, owner_id);
            }
            OutboxCommand::Release(release) => {
                self.named(Subject::Owner, &release.rules.owner_id);
                release.agents.iter().for_each(|id| self.named(Subject::Agent, id));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{changes::Write, document::CollectionId};
    use portolan_vocabulary::Timestamp;

    fn document(id: &str) -> DocumentKey {
        DocumentKey { collection: CollectionId(1), id: id.to_owned() }
    }

    fn write() -> Write {
        let (created_at, updated_at) = (Timestamp::default(), Timestamp::default());
        let (entry, generation, people) = (None, 1, std::collections::BTreeSet::new());
        Write { revision: 1, body: None, created_at, updated_at, entry, generation, people }
    }

    fn unit(read: &str, written: &str) -> Locks {
        let mut changes = Changes::default();
        changes.reads.insert(document(read), 1);
        changes.reads.insert(document(written), 1);
        changes.writes.insert(document(written), write());
        Locks::of(&changes)
    }

    #[test]
    fn what_is_only_read_is_shared_and_what_is_written_is_not() {
        let locks = unit("a", "b");
        let locks = locks.in_order().unwrap();
        assert_eq!(locks.len(), 2);
        assert_eq!(locks.iter().filter(|(_, exclusive)| *exclusive).count(), 1);
    }

    #[test]
    fn a_batch_has_the_stricter_lock_of_its_units_in_one_order() {
        let mut batch = unit("a", "b");
        batch.extend(&unit("b", "a"));
        let locks = batch.in_order().unwrap();
        assert!(locks.iter().all(|(_, exclusive)| *exclusive));
        let numbers: Vec<_> = locks.iter().map(|(number, _)| number).collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
        let mut other = unit("b", "a");
        other.extend(&unit("a", "b"));
        assert_eq!(batch, other);
    }

    #[test]
    fn an_event_to_all_listeners_is_committed_alone() {
        let event = NewEvent::of_host(
            "catalog.changed",
            "",
            Audience::Listeners,
            &serde_json::json!({}),
            Timestamp::default(),
        );
        let changes = Changes { events: vec![event], ..Changes::default() };
        assert_eq!(Locks::of(&changes).in_order(), None);
    }

    /// Nodes of several versions must agree.
    #[test]
    fn the_numbers_of_locks_never_change() {
        assert_eq!(
            unit("a", "b").in_order().unwrap(),
            [(-2_015_372_339_842_075_704, false), (2_435_452_378_946_499_606, true)]
        );
    }
}
