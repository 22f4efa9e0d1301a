//! The unit of work: what one call has read and wants to write.

use super::{cause::Cause, layer::Layer};
use crate::{
    changes::{Attachments, Changes, Write},
    commit::{CommitResult, Verdict},
    document::{CollectionId, DocumentKey, Stored, UniqueKey},
    effects::{AuditRecord, TimerChange},
    query::Collection,
    store::Store,
    usage::Usage,
};
use portolan_vocabulary::{Keyring, PEOPLE_OF, Timestamp, person_ids};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// The read set of a call, and its writes in layers: one for the call and one for each open
/// savepoint. It is committed whole or not at all.
#[derive(Debug)]
pub struct Unit {
    pub(crate) store: Store,
    /// The time of the call, and of everything that it writes.
    pub(crate) now: Timestamp,
    /// Every document that was read; reading it again gives the same revision.
    pub(crate) reads: BTreeMap<DocumentKey, Stored>,
    /// The holder of each unique value that was read.
    pub(crate) holders: BTreeMap<UniqueKey, Option<String>>,
    /// The writes of the call, then those since each open savepoint.
    pub(super) layers: Vec<Layer>,
    /// The writes that are committed even if the call is refused.
    pub(super) kept: Layer,
    /// The audit records of nested calls that are discarded if the call is refused.
    pub(super) audit: Vec<AuditRecord>,
    /// The audit records of nested calls that are committed even if the call is refused.
    pub(super) kept_audit: Vec<AuditRecord>,
    /// The number of statements that have read the database: several may have seen different
    /// states.
    read_statements: u32,
    /// The number of nested calls, refused ones included.
    pub(super) nested_calls: usize,
    /// The number of contents of files that the call has stored, also those of what was rolled back.
    stored_contents: usize,
    /// The bytes of everything that the call has written, also of what was rolled back.
    pub(super) written_bytes: usize,
    /// The number of indexed values that were written; each is a row of an index.
    pub(super) written_keys: usize,
    /// The bytes of the read set.
    pub(super) read_bytes: usize,
    /// The maximum number of bytes that further reads may take.
    pub(super) read_limit: usize,
    /// The capability within whose share and quota of time queries run; empty for the host.
    pub(super) reader: Arc<str>,
    /// Why the last request was refused, if the caller can be told.
    pub(super) cause: Option<Cause>,
    /// Whether the unit may also change documents of replaced generations.
    allows_replaced_generations: bool,
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
            nested_calls: 0,
            stored_contents: 0,
            written_bytes: 0,
            written_keys: 0,
            read_bytes: 0,
            read_limit: usize::MAX,
            reader: Arc::default(),
            cause: None,
            allows_replaced_generations: false,
        }
    }

    /// Permits changes of documents of replaced generations, too.
    pub(crate) fn allow_replaced_generations(mut self) -> Self {
        self.allows_replaced_generations = true;
        self
    }

    /// Returns this call's latest write of a document.
    pub(crate) fn find_write(&self, key: &DocumentKey) -> Option<&Write> {
        self.layers.iter().rev().find_map(|layer| layer.writes.get(key))
    }

    /// Returns the id of the document that has a unique value by a write of this call.
    pub(crate) fn find_claim(&self, key: &UniqueKey) -> Option<&str> {
        let holder = self.layers.iter().rev().find_map(|layer| layer.claims.get(key))?;
        let document = DocumentKey { collection: key.collection, id: holder.clone() };
        // A later write may have removed the value again.
        self.find_write(&document).is_some_and(|write| write.claims(key)).then_some(holder.as_str())
    }

    /// Returns the number of documents that the unit writes.
    pub fn write_count(&self) -> usize {
        self.layers.iter().map(|layer| layer.writes.len()).sum()
    }

    /// Returns the ids of the documents of a collection that this call has written.
    pub fn written_ids(&self, collection: &Collection) -> Vec<String> {
        self.writes_in(collection.id()).map(|(key, _)| key.id.clone()).collect()
    }

    /// Returns this call's latest write of each document of a collection.
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

    /// Counts a content of a file that the call stores, and returns how many there are now.
    pub fn count_stored_content(&mut self) -> usize {
        self.stored_contents += 1;
        self.stored_contents
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

    /// Returns the host's secret keys.
    pub fn keys(&self) -> &Keyring {
        &self.store.inner.keys
    }

    /// Returns the time of the call.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    pub fn has_no_writes(&self) -> bool {
        self.layers.iter().all(Layer::is_empty)
    }

    /// Returns whether the reads may come from different states of the database.
    pub fn needs_validation(&self) -> bool {
        self.read_statements > 1
    }

    /// Returns the changes to be committed.
    pub(crate) fn into_changes(mut self) -> Changes {
        while self.layers.len() > 1 {
            self.release();
        }
        let layer = self.layers.pop().unwrap_or_default();
        let mut growth: BTreeMap<CollectionId, Usage> = BTreeMap::new();
        for (key, write) in &layer.writes {
            // Every document is read before it is written, so `reads` has its former state.
            let growth = growth.entry(key.collection).or_default();
            *growth += write.growth(&key.id, self.reads.get(key));
        }
        let people = match self.allows_replaced_generations {
            true => BTreeSet::new(),
            false => named_people(&layer),
        };
        Changes {
            people,
            reads: self.reads.into_iter().map(|(key, stored)| (key, stored.revision)).collect(),
            holders: self.holders,
            writes: layer.writes,
            events: layer.events,
            timers: layer.timers,
            commands: layer.commands,
            audit: self.audit,
            growth,
            allows_replaced_generations: self.allows_replaced_generations,
            ..Changes::default()
        }
    }

    /// Commits the unit whole or not at all. What its guards would undo stays if it is committed, and also if that is
    /// unknown: after an error, or if the caller does not wait for the verdict.
    pub async fn commit(self, attachments: Attachments) -> CommitResult {
        let inner = Arc::clone(&self.store.inner);
        let guards = self.layers.iter().flat_map(|layer| layer.guards.iter().cloned());
        let guards: Vec<_> = guards.collect();
        let Attachments { task, answer, audit } = attachments;
        let mut changes = Changes { task, answer, ..self.into_changes() };
        changes.audit.extend(audit);
        changes.audit.iter_mut().for_each(AuditRecord::make_storable);
        guards.iter().for_each(|guard| guard.disarm());
        let committed = match changes.has_no_writes() {
            true => inner.validator.validate(changes).await,
            false => inner.committer.commit(changes).await,
        };
        if committed.as_ref().is_ok_and(|verdict| *verdict != Verdict::Committed) {
            guards.iter().for_each(|guard| guard.arm());
        }
        committed
    }

    /// Notes the cause of a refused request. It replaces an earlier one, and outlives a rollback: a component
    /// tells its caller only that it failed.
    pub fn note(&mut self, cause: Cause) {
        self.cause = Some(cause);
    }

    /// Returns the cause of the last refused request that has one.
    pub fn cause(&self) -> Option<&Cause> {
        self.cause.as_ref()
    }
}

/// Returns the people, and their agents, whom documents, events and timers name. Timers for exports and erasures are left out:
/// each names the person whose data was requested.
fn named_people(layer: &Layer) -> BTreeSet<String> {
    let documents = layer.writes.values().flat_map(|write| write.people.iter().cloned());
    let events = layer.events.iter().flat_map(|event| {
        let audience = event.owner().map(String::as_str).unwrap_or_default();
        [audience, &event.subject, &event.data].into_iter().flat_map(person_ids).map(str::to_owned)
    });
    let timers = layer.timers.iter().filter(|(key, _)| !key.capability.starts_with(PEOPLE_OF));
    let timers = timers.flat_map(|(key, change)| match change {
        TimerChange::Set { input, .. } => {
            person_ids(&key.name).chain(person_ids(input)).map(str::to_owned).collect()
        }
        TimerChange::Cancel => Vec::new(),
    });
    documents.chain(events).chain(timers).collect()
}
