//! What one call read and wants to write: committed whole, or not at all.

use crate::{
    changes::{Attachments, Changes, Write},
    commit::Answer,
    document::{CollectionId, DocumentKey, Stored, UniqueKey},
    effects::{AuditRecord, NewEvent, OutboxCommand, TimerChange, TimerKey},
    query::Collection,
    store::Store,
};
use portolan_vocabulary::{Keyring, Timestamp};
use std::collections::BTreeMap;

/// What a callee's refusal takes back.
#[derive(Debug, Default, Clone)]
struct Layer {
    writes: BTreeMap<DocumentKey, Write>,
    /// Unique values that documents of this layer have now.
    claims: BTreeMap<UniqueKey, String>,
    events: Vec<NewEvent>,
    timers: BTreeMap<TimerKey, TimerChange>,
    commands: Vec<OutboxCommand>,
}

impl Layer {
    fn extend(&mut self, later: Self) {
        self.writes.extend(later.writes);
        self.claims.extend(later.claims);
        self.events.extend(later.events);
        self.commands.extend(later.commands);
        self.timers.extend(later.timers);
    }
}

/// Reads, and writes in layers: one for the call, and one for each call within it.
#[derive(Debug)]
pub struct Unit {
    pub(crate) store: Store,
    /// Time of the call, and of everything it writes.
    pub(crate) now: Timestamp,
    /// Every document that was count_read at, so that looking again shows the same.
    pub(crate) reads: BTreeMap<DocumentKey, Stored>,
    /// Which document had each unique value that was count_read at.
    pub(crate) holders: BTreeMap<UniqueKey, Option<String>>,
    layers: Vec<Layer>,
    /// What is committed even if the call is refused in the end.
    kept: Layer,
    /// What calls within the call did.
    audit: Vec<AuditRecord>,
    /// What of it is committed even if the call is refused in the end.
    kept_audit: Vec<AuditRecord>,
    /// Statements that read the database so far: what more than one found may not fit together.
    read_statements: u32,
}

impl Unit {
    pub fn new(store: Store, now: Timestamp) -> Self {
        Self {
            store,
            now,
            reads: BTreeMap::new(),
            holders: BTreeMap::new(),
            layers: vec![Layer::default()],
            kept: Layer::default(),
            audit: Vec::new(),
            kept_audit: Vec::new(),
            read_statements: 0,
        }
    }

    /// What this call has made of a document so far.
    pub(crate) fn written(&self, key: &DocumentKey) -> Option<&Write> {
        self.layers.iter().rev().find_map(|layer| layer.writes.get(key))
    }

    /// The document that has a unique value by this call's own doing.
    pub(crate) fn claimed(&self, key: &UniqueKey) -> Option<&str> {
        let holder = self.layers.iter().rev().find_map(|layer| layer.claims.get(key))?;
        let document = DocumentKey { collection: key.collection, id: holder.clone() };
        // A later write may have given the value up again.
        self.written(&document).is_some_and(|write| write.claims(key)).then_some(holder.as_str())
    }

    pub(crate) fn write_count(&self) -> usize {
        self.layers.iter().map(|layer| layer.writes.len()).sum()
    }

    /// Ids of the documents of a collection that this call has written so far.
    pub fn written_ids(&self, collection: &Collection) -> Vec<String> {
        self.writes_in(collection.id()).map(|(key, _)| key.id.clone()).collect()
    }

    /// Every document of a collection that this call has written, as it is now.
    pub(crate) fn writes_in(
        &self,
        collection: CollectionId,
    ) -> impl Iterator<Item = (&DocumentKey, &Write)> {
        let mut latest = BTreeMap::new();
        for layer in &self.layers {
            latest.extend(layer.writes.iter().filter(|(key, _)| key.collection == collection));
        }
        latest.into_iter()
    }

    pub(crate) fn count_read(&mut self) {
        self.read_statements += 1;
    }

    pub(crate) fn write(&mut self, key: DocumentKey, write: Write) {
        let claims: Vec<_> = write.unique_keys(key.collection).collect();
        if let Some(layer) = self.layers.last_mut() {
            layer.claims.extend(claims.into_iter().map(|claim| (claim, key.id.clone())));
            layer.writes.insert(key, write);
        }
    }

    pub fn publish(&mut self, event: NewEvent) {
        if let Some(layer) = self.layers.last_mut() {
            layer.events.push(event);
        }
    }

    pub fn add_command(&mut self, command: OutboxCommand) {
        if let Some(layer) = self.layers.last_mut() {
            layer.commands.push(command);
        }
    }

    pub fn change_timer(&mut self, key: TimerKey, change: TimerChange) {
        if let Some(layer) = self.layers.last_mut() {
            layer.timers.insert(key, change);
        }
    }

    /// What this call has made of a timer so far.
    pub fn timer_change(&self, key: &TimerKey) -> Option<&TimerChange> {
        self.layers.iter().rev().find_map(|layer| layer.timers.get(key))
    }

    /// What was published and not taken back, in command.
    pub fn events(&self) -> impl Iterator<Item = &NewEvent> {
        self.layers.iter().flat_map(|layer| &layer.events)
    }

    pub fn events_mut(&mut self) -> impl Iterator<Item = &mut NewEvent> {
        self.layers.iter_mut().flat_map(|layer| &mut layer.events)
    }

    /// Notes what a call within the call did: forgotten with its writes, unless they are kept in any
    /// case.
    pub fn record_nested_call(&mut self, record: AuditRecord, in_any_case: bool) {
        self.kept_audit.extend(in_any_case.then(|| record.clone()));
        self.audit.push(record);
    }

    pub fn event_count(&self) -> usize {
        self.layers.iter().map(|layer| layer.events.len()).sum()
    }

    pub fn timer_count(&self) -> usize {
        self.layers.iter().map(|layer| layer.timers.len()).sum()
    }

    /// How many timers of a capability this call sets.
    pub fn timers_set_for(&self, capability: &str) -> usize {
        let keys = self.layers.iter().flat_map(|layer| layer.timers.keys());
        keys.filter(|key| key.capability == capability).count()
    }

    /// From here on, what is written can be taken back by itself.
    pub fn savepoint(&mut self) {
        self.layers.push(Layer::default());
    }

    /// Makes what was written since the last `begin` part of what was written before it.
    pub fn release(&mut self) {
        if self.layers.len() > 1
            && let Some(top) = self.layers.pop()
            && let Some(below) = self.layers.last_mut()
        {
            below.extend(top);
        }
    }

    /// The same, and it stays even if everything else is forgotten: a callee that counts attempts
    /// must not lose count because its caller refuses.
    pub fn release_and_keep(&mut self) {
        if let Some(top) = self.layers.last() {
            self.kept.extend(top.clone());
        }
        self.release();
    }

    /// Takes back what was written since the last `begin`.
    pub fn rollback(&mut self) {
        if self.layers.len() > 1 {
            self.layers.pop();
        }
    }

    /// Forgets every write.
    pub fn discard_all(&mut self) {
        self.kept = Layer::default();
        self.kept_audit.clear();
        self.discard();
    }

    /// Forgets every write but those that are kept in any case; what was read stays, to be held
    /// against the database.
    pub fn discard(&mut self) {
        self.audit = std::mem::take(&mut self.kept_audit);
        self.layers = vec![std::mem::take(&mut self.kept)];
    }

    /// The host's secret keys.
    pub fn keys(&self) -> &Keyring {
        &self.store.inner.keys
    }

    /// Time of the call.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    pub fn writes_nothing(&self) -> bool {
        self.layers.iter().all(|layer| {
            layer.writes.is_empty()
                && layer.events.is_empty()
                && layer.timers.is_empty()
                && layer.commands.is_empty()
        })
    }

    /// Whether what was read may be of different moments.
    pub fn needs_validation(&self) -> bool {
        self.read_statements > 1
    }

    /// What is to be committed.
    pub(crate) fn into_changes(mut self) -> Changes {
        while self.layers.len() > 1 {
            self.release();
        }
        let layer = self.layers.pop().unwrap_or_default();
        Changes {
            reads: self.reads.into_iter().map(|(key, stored)| (key, stored.revision)).collect(),
            holders: self.holders,
            writes: layer.writes,
            events: layer.events,
            timers: layer.timers,
            commands: layer.commands,
            audit: self.audit,
            ..Changes::default()
        }
    }

    /// Commits everything, or nothing.
    pub async fn commit(self, attachments: Attachments) -> Answer {
        let committer = self.store.inner.committer.clone();
        let Attachments { task, kept, audit } = attachments;
        let mut changes = Changes { task, kept, ..self.into_changes() };
        changes.audit.extend(audit);
        committer.commit(changes).await
    }
}
