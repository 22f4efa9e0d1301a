//! Reads and writes of single documents; a call sees its own writes over the database's documents.

use super::{cause::Cause, unit_of_work::Unit};
use crate::{
    changes::Write,
    connection::read,
    document::{CollectionId, Document, DocumentKey, Expectation, Stored, UniqueKey},
    error::{DbError, StateError},
    integers::signed,
    query::{Collection, find_many},
    texts::is_storable,
};
use portolan_vocabulary::{Timestamp, plain_json};
use serde_json::Value;
use std::collections::{BTreeSet, btree_map::Entry};

const ID_BYTES: usize = 128;
/// The maximum size of a document.
pub(crate) const DOCUMENT_BYTES: usize = 256 << 10;
/// The maximum number of documents that one call may read.
const READS: usize = 10_000;
/// The most documents of a read that shares a statement with the reads of other calls.
const BATCHED: usize = 16;
/// The maximum number of documents that one call may write.
const WRITES: usize = 1_000;
/// The maximum number of indexed values that one call may write, which take about 0.3 s of the writer's time.
const KEYS: usize = 20_000;
/// The maximum size of a document in the indexes: this many times the document's own, and a part for small
/// documents. Quotas count documents without their indexes.
const INDEX_BYTES_FACTOR: usize = 4;
const INDEX_BYTES_FREE: usize = 4 << 10;

impl Unit {
    pub async fn get(
        &mut self,
        collection: &Collection,
        id: &str,
    ) -> Result<Option<Document>, StateError> {
        let mut found = self.get_many(collection, &[id]).await?;
        Ok(found.pop().flatten())
    }

    /// Returns the document, or `None`, for each id in order. A document that this call has written or read
    /// before is returned as it was then; all others are read from one snapshot. An id with U+0000 has none.
    pub async fn get_many(
        &mut self,
        collection: &Collection,
        ids: &[&str],
    ) -> Result<Vec<Option<Document>>, StateError> {
        let key = |id: &str| DocumentKey { collection: collection.id(), id: id.to_owned() };
        let unknown: Vec<&str> = ids
            .iter()
            .filter(|id| {
                let key = key(id);
                self.find_write(&key).is_none() && !self.reads.contains_key(&key)
            })
            .copied()
            .collect();
        self.load(collection.id(), &unknown).await?;
        self.ensure_read_limit(ids.iter().map(|id| self.bytes_of(&key(id))).sum())?;
        let document = |id: &&str| {
            let key = key(id);
            let stored = match self.find_write(&key) {
                Some(write) => Stored {
                    revision: write.revision,
                    body: write.body.clone(),
                    created_at: write.created_at,
                    updated_at: write.updated_at,
                },
                None => self.reads.get(&key).cloned().unwrap_or_default(),
            };
            Some(Document {
                id: key.id,
                revision: stored.revision,
                body: stored.body?,
                created_at: stored.created_at,
                updated_at: stored.updated_at,
            })
        };
        Ok(ids.iter().map(document).collect())
    }

    /// Writes the whole document and returns its new revision. The error is `Conflict` if the expectation
    /// is not met.
    pub async fn put(
        &mut self,
        collection: &Collection,
        id: &str,
        body: String,
        expect: Expectation,
    ) -> Result<u64, StateError> {
        check_id(id)?;
        check_size(id, &body)?;
        let value = match serde_json::from_str(&body) {
            Ok(value @ Value::Object(_)) => value,
            _ => return Err(StateError::Invalid(format!("the body of {id} is not a JSON object"))),
        };
        let body = plain_json(body, &value);
        check_size(id, &body)?;
        if let Some(person) = collection.people.find_undeclared_person(id, &value) {
            self.note(Cause::UndeclaredPerson(person.clone()));
            let collection = collection.name.clone();
            return Err(StateError::UndeclaredPerson { person, collection });
        }
        let entry = collection
            .shape()
            .entry(&value)
            .map_err(|error| StateError::Invalid(error.to_string()))?;
        let index_limit = INDEX_BYTES_FACTOR * body.len() + INDEX_BYTES_FREE;
        let index_bytes = collection.layout.index_bytes(id, &entry);
        if index_bytes > index_limit {
            return Err(StateError::Limit(format!(
                "the indexes of {id} take {index_bytes} bytes, and at most {index_limit} are possible for a document of its size: declare fewer indexes"
            )));
        }
        self.written_keys += entry.key_count();
        if self.written_keys > KEYS {
            let text = format!(
                "a call can write at most {KEYS} indexed values: index fewer paths, or write fewer documents in one call"
            );
            return Err(StateError::Limit(text));
        }
        let (revision, created_at) = self.check_expectation(collection, id, expect).await?;
        let write = Write {
            revision: revision + 1,
            body: Some(body),
            created_at: created_at.unwrap_or(self.now),
            updated_at: self.now,
            entry: Some(entry),
            generation: collection.layout.generation,
            people: collection.people.person_ids(id, &value),
        };
        self.check_unique(collection.id(), id, &write).await?;
        self.write(DocumentKey { collection: collection.id(), id: id.to_owned() }, write);
        Ok(revision + 1)
    }

    pub async fn delete(
        &mut self,
        collection: &Collection,
        id: &str,
        expect: Expectation,
    ) -> Result<(), StateError> {
        let (revision, created_at) = self.check_expectation(collection, id, expect).await?;
        // Deleting a missing document changes nothing.
        if let Some(created_at) = created_at {
            let write = Write {
                revision: revision + 1,
                body: None,
                created_at,
                updated_at: self.now,
                entry: None,
                generation: collection.layout.generation,
                people: BTreeSet::new(),
            };
            self.write(DocumentKey { collection: collection.id(), id: id.to_owned() }, write);
        }
        Ok(())
    }

    /// Returns the current revision, and the creation time if the document exists. The error is `Conflict` if
    /// the expectation is not met, and `Limit` if the call may write no further document.
    async fn check_expectation(
        &mut self,
        collection: &Collection,
        id: &str,
        expect: Expectation,
    ) -> Result<(u64, Option<Timestamp>), StateError> {
        let key = DocumentKey { collection: collection.id(), id: id.to_owned() };
        if self.find_write(&key).is_none() && !self.reads.contains_key(&key) {
            self.load(collection.id(), &[id]).await?;
        }
        let (revision, created_at) = match self.find_write(&key) {
            Some(write) => (write.revision, write.body.as_ref().map(|_| write.created_at)),
            None => match self.reads.get(&key) {
                Some(stored) => (stored.revision, stored.body.as_ref().map(|_| stored.created_at)),
                None => (0, None),
            },
        };
        let is_met = match expect {
            Expectation::Any => true,
            Expectation::Absent => created_at.is_none(),
            Expectation::Revision(expected) => created_at.is_some() && expected == revision,
        };
        if self.find_write(&key).is_none() && self.write_count() >= WRITES {
            let text = format!("a call can write at most {WRITES} documents");
            return Err(StateError::Limit(text));
        }
        if is_met { Ok((revision, created_at)) } else { Err(StateError::Conflict) }
    }

    /// Loads documents into the read set. An id that no document can have is left out.
    async fn load(&mut self, collection: CollectionId, ids: &[&str]) -> Result<(), StateError> {
        let ids: Vec<&str> = ids.iter().filter(|id| is_storable(id)).copied().collect();
        if ids.is_empty() {
            return Ok(());
        }
        if self.reads.len() + ids.len() > READS {
            return Err(StateError::Limit(format!("a call can read at most {READS} documents")));
        }
        let key = |id: &str| DocumentKey { collection, id: id.to_owned() };
        let keys: BTreeSet<DocumentKey> = ids.into_iter().map(key).collect();
        let found = match keys.len() > BATCHED {
            true => {
                let queries = self.queries();
                let ids = keys.iter().map(|key| key.id.clone());
                find_many(&queries, collection, ids, self.read_limit).await?
            }
            false => {
                let reader = self.store.inner.documents.clone();
                reader.find(keys.clone(), self.read_limit).await.map_err(DbError::Shared)?
            }
        };
        let mut found = found.ok_or_else(read_limit_error)?;
        self.count_read();
        for key in keys {
            let stored = found.remove(&key).unwrap_or_default();
            self.add_read(key, stored);
        }
        Ok(())
    }

    /// Adds a document to the read set. If the unit has already read the document, the read set keeps the
    /// first revision, so that a change in between is a conflict at the commit.
    pub(super) fn add_read(&mut self, key: DocumentKey, stored: Stored) {
        if let Entry::Vacant(vacant) = self.reads.entry(key) {
            let bytes = stored.bytes(&vacant.key().id);
            vacant.insert(stored);
            self.read_bytes += bytes;
            self.read_limit = self.read_limit.saturating_sub(bytes);
        }
    }

    /// Ensures that this many bytes may be read in addition to the read set.
    pub(super) fn ensure_read_limit(&self, bytes: usize) -> Result<(), StateError> {
        if bytes > self.read_limit { Err(read_limit_error()) } else { Ok(()) }
    }

    /// Returns the bytes of memory that a document of the read set or the write set takes.
    fn bytes_of(&self, key: &DocumentKey) -> usize {
        let body = match self.find_write(key) {
            Some(write) => write.body.as_ref(),
            None => self.reads.get(key).and_then(|stored| stored.body.as_ref()),
        };
        size_of::<Document>() + key.id.len() + body.map_or(0, String::len)
    }

    /// Ensures that every unique value of a write is free or already the document's own.
    async fn check_unique(
        &mut self,
        collection: CollectionId,
        id: &str,
        write: &Write,
    ) -> Result<(), StateError> {
        for key in write.unique_keys(collection) {
            if let Some(holder) = self.find_claim(&key) {
                if holder == id {
                    continue;
                }
                return Err(StateError::Duplicate(holder.to_owned()));
            }
            let holder = match self.holders.get(&key) {
                Some(holder) => holder.clone(),
                None => {
                    let holder = self.find_holder(&key).await?;
                    self.count_read();
                    self.holders.insert(key, holder.clone());
                    holder
                }
            };
            let Some(holder) = holder.filter(|holder| holder != id) else { continue };
            // If this call has written the holder, the holder no longer has the value: otherwise
            // `claimed` would have returned it.
            let document = DocumentKey { collection, id: holder };
            if self.find_write(&document).is_none() {
                return Err(StateError::Duplicate(document.id));
            }
        }
        Ok(())
    }
}

fn read_limit_error() -> StateError {
    let text = "the memory of a call also holds what it reads: read less in one call";
    StateError::Limit(text.to_owned())
}

fn check_size(id: &str, body: &str) -> Result<(), StateError> {
    if body.len() > DOCUMENT_BYTES {
        let text = format!("the document {id} is larger than {DOCUMENT_BYTES} bytes");
        return Err(StateError::Limit(text));
    }
    Ok(())
}

fn check_id(id: &str) -> Result<(), StateError> {
    if id.is_empty() || id.len() > ID_BYTES || id.contains(char::is_control) {
        let text =
            format!("a document's id must have 1 to {ID_BYTES} bytes and no control characters");
        return Err(StateError::Invalid(text));
    }
    Ok(())
}

impl Unit {
    /// Finds the document that has a unique value in the database.
    async fn find_holder(&self, key: &UniqueKey) -> Result<Option<String>, DbError> {
        let sql = "SELECT id FROM unique_keys WHERE collection = $1 AND place = $2 AND key = $3";
        let place = signed(key.place as u64);
        Ok(read!(self.store.inner.backend, |pool| {
            sqlx::query_scalar(sql)
                .bind(key.collection.0)
                .bind(place)
                .bind(&key.key)
                .fetch_optional(pool)
                .await?
        }))
    }
}
