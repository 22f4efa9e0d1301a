//! The changes that a unit of work asks for: its read set and its write set.

use crate::{
    document::{CollectionId, DocumentKey, Stored, UniqueKey},
    effects::{AuditRecord, NewEvent, OutboxCommand, StoredAnswer, Task, TimerChange, TimerKey},
    integers::signed,
    query::Entry,
    usage::Usage,
};
use portolan_vocabulary::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// The changes that a unit of work commits when it has ended: its read set, which must still be current,
/// and its write set.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) reads: BTreeMap<DocumentKey, u64>,
    pub(crate) holders: BTreeMap<UniqueKey, Option<String>>,
    pub(crate) writes: BTreeMap<DocumentKey, Write>,
    pub(crate) events: Vec<NewEvent>,
    pub(crate) timers: BTreeMap<TimerKey, TimerChange>,
    pub(crate) commands: Vec<OutboxCommand>,
    pub(crate) task: Option<Task>,
    pub(crate) answer: Option<StoredAnswer>,
    pub(crate) audit: Vec<AuditRecord>,
    /// By how much the writes change the usage of each collection.
    pub(crate) growth: BTreeMap<CollectionId, Usage>,
    /// The people, and their agents, whom the written documents, events and timers name; empty for an erasure.
    pub(crate) people: BTreeSet<String>,
    /// Whether the unit may also change documents of replaced generations, as an erasure does.
    pub(crate) allows_replaced_generations: bool,
}

impl Changes {
    /// Returns the number of reads and writes of documents, and of held events that are released.
    pub(crate) fn weight(&self) -> usize {
        let released: usize = self.commands.iter().map(OutboxCommand::released).sum();
        self.reads.len() + self.writes.len() + released
    }

    /// Returns whether a commit would change nothing.
    pub(crate) fn has_no_writes(&self) -> bool {
        let records = self.task.is_none() && self.answer.is_none() && self.audit.is_empty();
        let effects = self.events.is_empty() && self.timers.is_empty() && self.commands.is_empty();
        records && effects && self.writes.is_empty()
    }

    /// Returns the collections whose documents are read or written.
    pub(crate) fn collections(&self) -> BTreeSet<&CollectionId> {
        self.reads.keys().map(|key| &key.collection).chain(self.growth.keys()).collect()
    }

    /// Returns whether the unit reads or writes documents of one of these replaced generations although it
    /// may not.
    pub(crate) fn uses_replaced(&self, replaced: &BTreeSet<CollectionId>) -> bool {
        let mut used = self.collections().into_iter();
        !self.allows_replaced_generations && used.any(|collection| replaced.contains(collection))
    }
}

/// A write of a document.
#[derive(Debug, Clone)]
pub(crate) struct Write {
    pub(crate) revision: u64,
    /// `None` deletes the document.
    pub(crate) body: Option<String>,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    /// The index entry; `None` when the document is deleted.
    pub(crate) entry: Option<Entry>,
    /// The generation of the layout that the entry was made for.
    pub(crate) generation: i64,
    /// The people, and their agents, whom the document names at declared paths.
    pub(crate) people: BTreeSet<String>,
}

impl Write {
    pub(crate) fn unique_keys(
        &self,
        collection: CollectionId,
    ) -> impl Iterator<Item = UniqueKey> + '_ {
        self.entry.iter().flat_map(move |entry| UniqueKey::of(entry, collection))
    }

    /// Returns by how much the write changes the usage of its collection. `replaced` is the document before
    /// the write.
    pub(crate) fn growth(&self, id: &str, replaced: Option<&Stored>) -> Usage {
        let mut growth = usage(id, self.body.as_deref());
        if let Some(replaced) = replaced.filter(|replaced| replaced.revision > 0) {
            growth -= usage(id, replaced.body.as_deref());
        }
        growth
    }

    pub(crate) fn claims(&self, key: &UniqueKey) -> bool {
        let keys = self.entry.as_ref().and_then(|entry| entry.uniques.get(key.place));
        keys.is_some_and(|keys| keys.contains(&key.key))
    }
}

/// Returns the usage of a document, or of a tombstone if there is no body.
fn usage(id: &str, body: Option<&str>) -> Usage {
    let bytes = |body: &str| signed((id.len() + body.len()) as u64);
    Usage {
        documents: i64::from(body.is_some()),
        tombstones: i64::from(body.is_none()),
        bytes: body.map_or(0, bytes),
        timers: 0,
    }
}

/// The records that are committed together with a unit of work.
#[derive(Debug, Default)]
pub struct Attachments {
    pub task: Option<Task>,
    pub answer: Option<StoredAnswer>,
    pub audit: Option<AuditRecord>,
}

impl Attachments {
    pub fn is_empty(&self) -> bool {
        self.task.is_none() && self.answer.is_none() && self.audit.is_none()
    }
}
