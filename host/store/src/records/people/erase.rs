//! The erasure of all that is stored about a person.

use super::{CHUNK, StoredCollection, pattern};
use crate::{
    Verdict,
    changes::Attachments,
    connection::{Backend, lock_recordings, read, transact, transact_alone},
    document::{CollectionId, Expectation},
    effects::IdempotencyKey,
    error::{DbError, StateError},
    query::{Collection, Layout},
    store::Store,
    unit::Unit,
};
use portolan_vocabulary::{Erased, HOST, Timestamp, redact_ids};
use serde::Serialize;
use serde_json::Value;
use sqlx::AssertSqlSafe;
use std::{collections::BTreeSet, sync::Arc};

/// The maximum number of attempts to erase a document that is changed concurrently.
const ATTEMPTS: usize = 20;

/// The number of events that are redacted in one transaction.
const EVENTS_PER_TRANSACTION: usize = 200;

/// The length of the ULID in an identifier.
const ULID_LENGTH: usize = 26;

/// How much an erasure has deleted and redacted.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct ErasureCounts {
    /// The number of deleted documents.
    pub deleted: u64,
    /// The number of redacted documents.
    pub redacted: u64,
    /// The number of events whose data was removed.
    pub events: u64,
    /// The number of removed answers of calls with an idempotency key.
    pub answers: u64,
}

/// Statements that remove the other rows that name a person, with `$1` for one of their ids, and `$2` for a
/// pattern that contains it. The timer that may have requested the erasure stays until the erasure is done.
const REMOVALS: [&str; 14] = [
    "DELETE FROM quarantined_documents WHERE id = $1 OR id LIKE $2 OR body LIKE $2",
    // A reason can repeat what a document contained before the erasure. `$1 <> $2` is always true; it uses
    // the parameters.
    "DELETE FROM quarantined_documents WHERE body IS NULL AND $1 <> $2 AND NOT EXISTS
     (SELECT 1 FROM documents d WHERE d.collection = quarantined_documents.collection
      AND d.id = quarantined_documents.id AND d.revision = quarantined_documents.revision)",
    "DELETE FROM inbox WHERE agent_id = $1 OR agent_id LIKE $2",
    "DELETE FROM inboxes WHERE agent_id = $1 OR agent_id LIKE $2",
    "DELETE FROM held_events WHERE owner_id = $1 OR owner_id LIKE $2",
    "DELETE FROM held_counts WHERE owner_id = $1 OR owner_id LIKE $2",
    "DELETE FROM email_notices WHERE owner_id = $1 OR owner_id LIKE $2",
    "DELETE FROM counters WHERE name = $1 OR name LIKE $2",
    "DELETE FROM webhook_deliveries WHERE webhook_id IN
     (SELECT id FROM webhooks WHERE agent_id = $1 OR agent_id LIKE $2)",
    "DELETE FROM webhooks WHERE agent_id = $1 OR agent_id LIKE $2",
    "DELETE FROM recordings WHERE request_id IN
     (SELECT request_id FROM recording_people WHERE person = $1 OR person LIKE $2)",
    "DELETE FROM recording_people WHERE person = $1 OR person LIKE $2 OR NOT EXISTS
     (SELECT 1 FROM recordings r WHERE r.request_id = recording_people.request_id)",
    // A copy of the recordings without the keys cannot be read. A backup from before the erasure has both.
    "DELETE FROM recording_keys WHERE name = $1 OR name LIKE $2",
    "DELETE FROM timers WHERE (name = $1 OR name LIKE $2)
     AND NOT (capability LIKE ':people/%' AND name LIKE 'erase/%')",
];

/// The tombstones of documents whose id names the person.
const TOMBSTONES: &str = "DELETE FROM documents WHERE body IS NULL AND (id = $1 OR id LIKE $2)";

/// An erasure in progress.
struct Erasure<'e> {
    store: &'e Store,
    /// The person's ids.
    ids: &'e [String],
    now: Timestamp,
    counts: ErasureCounts,
    /// The identifiers in the ids of the documents that were changed, such as those of messages.
    documents: BTreeSet<String>,
}

impl Store {
    /// Erases a person: deletes or redacts all that is stored about them, and records the digest of the
    /// owner's id. The records of the agents and the owner are erased last, so that a second erasure, or the
    /// next start of the host, can continue an erasure that was interrupted. [`Store::scrub`] then overwrites
    /// what the database's file still has of the deleted rows.
    pub async fn erase_person(
        &self,
        ids: &[String],
        now: Timestamp,
    ) -> Result<ErasureCounts, StateError> {
        let Some((owner_id, agents)) = ids.split_first() else {
            return Ok(ErasureCounts::default());
        };
        for id in ids {
            self.record_erasure(id, now).await?;
        }
        let mut erasure = Erasure {
            store: self,
            ids,
            now,
            counts: ErasureCounts::default(),
            documents: BTreeSet::new(),
        };
        erasure.erase_documents().await?;
        erasure.redact_events().await?;
        erasure.delete_answers().await?;
        for id in ids {
            for sql in REMOVALS {
                self.run_removal(sql, id).await?;
            }
            self.erase_audit_rows(id).await?;
            erasure.redact_timers(id).await?;
        }
        for agent_id in agents {
            erasure.erase_record("agents", agent_id).await?;
        }
        erasure.erase_record("owners", owner_id).await?;
        for id in ids {
            self.run_removal(TOMBSTONES, id).await?;
        }
        self.purge_deleted_words().await?;
        Ok(erasure.counts)
    }

    /// Runs a statement of `REMOVALS`, or `TOMBSTONES`, for an id.
    async fn run_removal(&self, sql: &'static str, id: &str) -> Result<(), DbError> {
        transact_alone!(self.inner.backend, |transaction| {
            lock_recordings!(self.inner.backend, transaction);
            sqlx::query(sql)
                .bind(id)
                .bind(pattern(id))
                .execute(&mut *transaction)
                .await?
                .rows_affected()
        });
        Ok(())
    }

    /// Returns the next stored answers in the order of their keys.
    async fn answers_after(
        &self,
        after: &IdempotencyKey,
    ) -> Result<Vec<(IdempotencyKey, String)>, DbError> {
        type Row = (String, String, String, String, String);
        let rows: Vec<Row> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT agent_id, capability, action, key, answer FROM idempotency
                 WHERE (agent_id, capability, action, key) > ($1, $2, $3, $4)
                 ORDER BY agent_id, capability, action, key LIMIT $5",
            )
            .bind(after.agent_id.as_str())
            .bind(after.capability.as_str())
            .bind(after.action.as_str())
            .bind(after.key.as_str())
            .bind(CHUNK)
            .fetch_all(pool)
            .await?
        });
        let row = |(agent_id, capability, action, key, answer): Row| {
            (IdempotencyKey { agent_id, capability, action, key }, answer)
        };
        Ok(rows.into_iter().map(row).collect())
    }

    /// Removes deleted words from the indexes of SQLite, also those of documents that a capability has deleted
    /// before. PostgreSQL removes them by itself, and its dumps do not contain indexes.
    async fn purge_deleted_words(&self) -> Result<(), DbError> {
        let backend = &*self.inner.backend;
        let Backend::Sqlite(_) = backend else { return Ok(()) };
        let collections: Vec<i64> = read!(backend, |pool| {
            sqlx::query_scalar("SELECT id FROM collections ORDER BY id").fetch_all(pool).await?
        });
        for collection in collections {
            let Some(declared) = self.find_collection_by_id(collection).await? else { continue };
            let layout = self.layout(collection, &declared)?;
            if layout.shape.text().is_empty() {
                continue;
            }
            let table = layout.table();
            transact!(backend, |transaction| {
                let sql = format!("INSERT INTO {table}t ({table}t) VALUES ('optimize')");
                sqlx::query(AssertSqlSafe(sql)).execute(&mut *transaction).await?.rows_affected()
            });
        }
        Ok(())
    }

    fn layout(&self, collection: i64, declared: &StoredCollection) -> Result<Arc<Layout>, DbError> {
        let inner = &self.inner;
        let id = CollectionId(collection);
        inner.layouts.get(&inner.backend, id, declared.generation, &declared.shape)
    }
}

impl Erasure<'_> {
    /// Erases the documents that name the person, except the records of agents and owners themselves.
    async fn erase_documents(&mut self) -> Result<(), StateError> {
        for person in self.ids {
            let mut after = None;
            loop {
                let rows = self.store.documents_naming(person, after).await?;
                let Some((collection, id, ..)) = rows.last() else { break };
                after = Some((*collection, id.clone()));
                for (collection, id, ..) in rows {
                    let Some(declared) = self.store.find_collection_by_id(collection).await? else {
                        continue;
                    };
                    if !(declared.is_identity_record() && self.ids.contains(&id)) {
                        self.erase_document(collection, &declared, &id).await?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Erases the record of an agent or an owner.
    async fn erase_record(&mut self, name: &str, id: &str) -> Result<(), StateError> {
        let collection: Option<i64> = read!(self.store.inner.backend, |pool| {
            sqlx::query_scalar(
                "SELECT CAST(id AS BIGINT) FROM collections WHERE capability = $1 AND name = $2",
            )
            .bind(HOST)
            .bind(name)
            .fetch_optional(pool)
            .await
            .map_err(DbError::from)?
        });
        let Some(collection) = collection else { return Ok(()) };
        match self.store.find_collection_by_id(collection).await? {
            Some(declared) => self.erase_document(collection, &declared, id).await,
            None => Ok(()),
        }
    }

    /// Deletes or redacts one document, as its collection declares.
    async fn erase_document(
        &mut self,
        collection: i64,
        declared: &StoredCollection,
        id: &str,
    ) -> Result<(), StateError> {
        let people = declared.people();
        let stored = Collection {
            scope: format!("{} {}", declared.capability, declared.name),
            name: declared.name.clone(),
            layout: self.store.layout(collection, declared)?,
            people: Arc::new(people.clone().unwrap_or_default()),
        };
        for _ in 0..ATTEMPTS {
            let mut unit = Unit::new(self.store.clone(), self.now).allow_replaced_generations();
            let Some(document) = unit.get(&stored, id).await? else { return Ok(()) };
            let expect = Expectation::Revision(document.revision);
            let mut value: Value = serde_json::from_str(&document.body).unwrap_or_default();
            let outcome = match &people {
                Some(people) => people.erase(id, &mut value, self.ids),
                None => Erased::Deleted,
            };
            let written = match outcome {
                Erased::Unchanged => return Ok(()),
                Erased::Deleted => Err(StateError::Conflict),
                Erased::Changed => unit.put(&stored, id, value.to_string(), expect).await,
            };
            if let Err(StateError::Db(error)) = written {
                return Err(StateError::Db(error));
            }
            let is_deleted = written.is_err();
            if is_deleted {
                // A redacted document that cannot be written is deleted too, for example because it would
                // have the same unique value as another one.
                unit = Unit::new(self.store.clone(), self.now).allow_replaced_generations();
                unit.delete(&stored, id, Expectation::Any).await?;
            }
            let verdict = unit.commit(Attachments::default()).await.map_err(|error| {
                StateError::Limit(format!("the erasure cannot be written: {error}"))
            })?;
            if verdict == Verdict::Committed {
                match is_deleted {
                    true => self.counts.deleted += 1,
                    false => self.counts.redacted += 1,
                }
                self.documents.extend(identifiers(id).map(str::to_owned));
                return Ok(());
            }
        }
        Err(StateError::Conflict)
    }

    /// Removes the data of the events that name the person or were sent to them. Also removes their pending
    /// deliveries to capabilities, which could not read an event without its data.
    async fn redact_events(&mut self) -> Result<(), DbError> {
        let backend = &*self.store.inner.backend;
        for person in self.ids {
            let search = self.store.search().await?;
            let rows: Vec<(i64, String)> = read!(backend, |pool| {
                sqlx::query_as(
                    "SELECT CAST(seq AS BIGINT), subject FROM events
                     WHERE audience_id = $1 OR subject LIKE $2 OR data LIKE $2",
                )
                .bind(person)
                .bind(pattern(person))
                .fetch_all(pool)
                .await?
            });
            drop(search);
            for rows in rows.chunks(EVENTS_PER_TRANSACTION) {
                self.counts.events += transact!(backend, |transaction| {
                    let mut changed = 0;
                    for (seq, subject) in rows {
                        let subject = redact_ids(subject, self.ids);
                        sqlx::query("DELETE FROM deliveries WHERE event_seq = $1")
                            .bind(seq)
                            .execute(&mut *transaction)
                            .await?;
                        sqlx::query(
                            "UPDATE webhook_deliveries SET subject = $1 WHERE event_seq = $2",
                        )
                        .bind(subject.as_str())
                        .bind(seq)
                        .execute(&mut *transaction)
                        .await?;
                        changed += sqlx::query(
                            "UPDATE events SET data = '{}', subject = $1,
                             audience_id = CASE WHEN audience_id = $2 THEN $3 ELSE audience_id END
                             WHERE seq = $4",
                        )
                        .bind(subject.as_str())
                        .bind(person)
                        .bind(redact_ids(person, self.ids))
                        .bind(seq)
                        .execute(&mut *transaction)
                        .await?
                        .rows_affected();
                    }
                    changed
                });
            }
        }
        Ok(())
    }

    /// Deletes the stored answers to the person's agents, and those to others that name the person or a
    /// changed document: they can contain its text.
    async fn delete_answers(&mut self) -> Result<(), DbError> {
        let store = self.store;
        let mut after = IdempotencyKey {
            agent_id: String::new(),
            capability: String::new(),
            action: String::new(),
            key: String::new(),
        };
        loop {
            let rows = store.answers_after(&after).await?;
            let Some((last, _)) = rows.last() else { return Ok(()) };
            after = last.clone();
            let affected = rows.iter().filter(|(key, answer)| {
                let is_theirs = self.ids.iter().any(|id| key.agent_id.contains(id));
                is_theirs || identifiers(answer).any(|id| self.is_affected(id))
            });
            let keys: Vec<_> = affected.map(|(key, _)| key).collect();
            self.counts.answers += transact!(store.inner.backend, |transaction| {
                let mut deleted = 0;
                for key in keys {
                    deleted += sqlx::query(
                        "DELETE FROM idempotency
                         WHERE agent_id = $1 AND capability = $2 AND action = $3 AND key = $4",
                    )
                    .bind(key.agent_id.as_str())
                    .bind(key.capability.as_str())
                    .bind(key.action.as_str())
                    .bind(key.key.as_str())
                    .execute(&mut *transaction)
                    .await?
                    .rows_affected();
                }
                deleted
            });
        }
    }

    fn is_affected(&self, id: &str) -> bool {
        self.documents.contains(id) || self.ids.iter().any(|person| person == id)
    }

    /// Replaces the person's id in the inputs of timers, which still run for others. An approved call that names the
    /// person is not made any more.
    async fn redact_timers(&self, id: &str) -> Result<(), DbError> {
        transact_alone!(self.store.inner.backend, |transaction| {
            sqlx::query("DELETE FROM timers WHERE input LIKE $1 AND capability LIKE ':approved/%'")
                .bind(pattern(id))
                .execute(&mut *transaction)
                .await?;
            let sql = "UPDATE timers SET input = replace(input, $1, $2)
                       WHERE input LIKE $3 AND capability NOT LIKE ':people/%'";
            sqlx::query(sql)
                .bind(id)
                .bind(redact_ids(id, self.ids))
                .bind(pattern(id))
                .execute(&mut *transaction)
                .await?
                .rows_affected()
        });
        Ok(())
    }
}

/// Returns the identifiers in a text: a prefix, an underscore and a ULID.
fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| {
        word.rsplit_once('_').is_some_and(|(prefix, ulid)| {
            let is_ulid = |c: u8| c.is_ascii_digit() || c.is_ascii_uppercase();
            !prefix.is_empty() && ulid.len() == ULID_LENGTH && ulid.bytes().all(is_ulid)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::identifiers;

    #[test]
    fn identifiers_are_found_in_ids_and_in_json() {
        let found = |text: &'static str| identifiers(text).collect::<Vec<_>>();
        let (message, owner) = ("msg_01J00000000000000000000001", "own_01J00000000000000000000002");
        let json = r#"{"message_id":"msg_01J00000000000000000000001","text":"a_b own_"}"#;
        assert_eq!(found(json), [message]);
        let both = "msg_01J00000000000000000000001/own_01J00000000000000000000002";
        assert_eq!(found(both), [message, owner]);
        assert_eq!(found("_01J00000000000000000000001"), Vec::<&str>::new());
    }
}
