//! What is stored about a person: its export, and its erasure.
//!
//! Documents are found by the person's ids in their text and handled as their collection declares;
//! those of a collection that declares nothing are deleted. Everything else that names the person is
//! deleted or redacted here.

use crate::{
    Verdict,
    changes::Attachments,
    connection::{Backend, erasure_list, read, transact},
    document::{CollectionId, Expectation},
    error::{DbError, StateError},
    integers::signed,
    query::Collection,
    store::Store,
    unit::Unit,
};
use portolan_vocabulary::{Digest, Erased, HOST, People, Person, Timestamp, redact_ids};
use serde::Serialize;
use serde_json::Value;
use sqlx::AssertSqlSafe;
use std::{collections::BTreeSet, sync::Arc};

/// Documents that are read at once.
const CHUNK: usize = 200;
/// How often a document that others change meanwhile is tried again.
const ATTEMPTS: usize = 20;

/// A stored document that names a person.
#[derive(Debug, Clone, Serialize)]
pub struct PersonalDocument {
    pub capability: String,
    pub collection: String,
    pub id: String,
    /// The personal fields of other people are empty.
    pub document: Value,
}

/// An event about a person, or one that was sent to them.
#[derive(Debug, Clone, Serialize)]
pub struct PersonalEvent {
    pub id: String,
    pub event_type: String,
    pub data: Value,
    pub occurred_at: Timestamp,
}

/// All that is stored about a person.
#[derive(Debug, Clone, Serialize)]
pub struct PersonalData {
    pub owner_id: String,
    pub agents: Vec<String>,
    pub documents: Vec<PersonalDocument>,
    pub events: Vec<PersonalEvent>,
}

/// What an erasure did.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct ErasureCounts {
    pub deleted: u64,
    pub redacted: u64,
    /// Events whose data was removed.
    pub events: u64,
}

/// A document as it is stored, and its collection's number.
type Row = (i64, String, i64, String);

/// A collection as it is stored: capability, name, generation, shape, people.
type Declared = (String, String, i64, String, Option<String>);

/// Statements that remove what else names a person, with `$1` for one of their ids, and `$2` for a
/// pattern that contains it.
const REMOVALS: [&str; 9] = [
    "DELETE FROM quarantined_documents WHERE id = $1 OR id LIKE $2 OR body LIKE $2",
    "DELETE FROM inbox WHERE agent_id = $1 OR agent_id LIKE $2",
    "DELETE FROM inboxes WHERE agent_id = $1 OR agent_id LIKE $2",
    "DELETE FROM webhook_deliveries WHERE webhook_id IN
     (SELECT id FROM webhooks WHERE agent_id = $1 OR agent_id LIKE $2)",
    "DELETE FROM webhooks WHERE agent_id = $1 OR agent_id LIKE $2",
    "DELETE FROM idempotency WHERE agent_id = $1 OR answer LIKE $2",
    "DELETE FROM timers WHERE name = $1 OR name LIKE $2",
    "UPDATE audit SET agent_id = 'agt_00000000000000000000000000'
     WHERE agent_id = $1 OR agent_id LIKE $2",
    "UPDATE audit SET owner_id = 'own_00000000000000000000000000'
     WHERE owner_id = $1 OR owner_id LIKE $2",
];

/// The tombstones of documents whose id names the person.
const TOMBSTONES: &str = "DELETE FROM documents WHERE body IS NULL AND (id = $1 OR id LIKE $2)";

impl Store {
    /// Returns the ids of a person: the owner's and those of their agents.
    async fn ids_of(&self, owner_id: &str) -> Result<Vec<String>, DbError> {
        let agents: Vec<(String,)> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT d.id FROM documents d JOIN collections c ON c.id = d.collection
                 WHERE c.capability = $1 AND c.name = 'agents' AND d.body LIKE $2 ORDER BY d.id",
            )
            .bind(HOST)
            .bind(pattern(owner_id))
            .fetch_all(pool)
            .await?
        });
        let owner = std::iter::once(owner_id.to_owned());
        Ok(owner.chain(agents.into_iter().map(|(id,)| id)).collect())
    }

    /// Returns whether anything is stored about a person.
    pub async fn is_known(&self, owner_id: &str) -> Result<bool, DbError> {
        Ok(!self.documents_naming(owner_id, None).await?.is_empty())
    }

    /// Returns all documents and events about a person.
    pub async fn export_person(&self, owner_id: &str) -> Result<PersonalData, DbError> {
        let people = self.ids_of(owner_id).await?;
        let mut documents = Vec::new();
        let mut seen = BTreeSet::new();
        for person in &people {
            let mut after = None;
            loop {
                let rows = self.documents_naming(person, after).await?;
                let Some((collection, id, ..)) = rows.last() else { break };
                after = Some((*collection, id.clone()));
                for (collection, id, _, body) in rows {
                    if !seen.insert((collection, id.clone())) {
                        continue;
                    }
                    let Some((capability, name, .., declared)) = self.declared(collection).await?
                    else {
                        continue;
                    };
                    let Ok(mut document) = serde_json::from_str::<Value>(&body) else { continue };
                    if let Some(declared) = people_of(declared.as_deref()) {
                        if !declared.names(&id, &document, &people) {
                            continue;
                        }
                        declared.hide_others(&id, &mut document, &people);
                    }
                    documents.push(PersonalDocument { capability, collection: name, id, document });
                }
            }
        }
        let mut events = Vec::new();
        for person in &people {
            let rows: Vec<(String, String, String, i64)> = read!(self.inner.backend, |pool| {
                sqlx::query_as(
                    "SELECT id, event_type, data, occurred_at FROM events
                     WHERE audience_id = $1 OR subject LIKE $2 OR data LIKE $2 ORDER BY seq",
                )
                .bind(person)
                .bind(pattern(person))
                .fetch_all(pool)
                .await?
            });
            events.extend(rows.into_iter().map(|(id, event_type, data, at)| PersonalEvent {
                id,
                event_type,
                data: serde_json::from_str(&data).unwrap_or_default(),
                occurred_at: Timestamp::from_millis(crate::integers::unsigned(at)),
            }));
        }
        events.sort_by(|one, other| one.id.cmp(&other.id));
        events.dedup_by(|one, other| one.id == other.id);
        let agents = people.into_iter().skip(1).collect();
        Ok(PersonalData { owner_id: owner_id.to_owned(), agents, documents, events })
    }

    /// Erases a person: deletes or redacts all that is stored about them, and records the digest of
    /// their id. A second erasure continues one that was cut off.
    pub async fn erase_person(
        &self,
        owner_id: &str,
        now: Timestamp,
    ) -> Result<ErasureCounts, StateError> {
        let people = self.ids_of(owner_id).await?;
        self.keep_erasure(&digest(owner_id), now).await?;
        let mut counts = ErasureCounts::default();
        let mut indexed = BTreeSet::new();
        self.erase_documents(&people, false, now, &mut counts, &mut indexed).await?;
        counts.events = self.redact_events(&people).await?;
        for person in people.iter().rev() {
            for sql in REMOVALS {
                self.remove(sql, person).await?;
            }
            self.redact_timers(person, &people).await?;
        }
        // The agents' records go last: they tell whose the agents are if the erasure is cut off.
        self.erase_documents(&people, true, now, &mut counts, &mut indexed).await?;
        for person in &people {
            self.remove(TOMBSTONES, person).await?;
        }
        self.forget_words(&indexed).await?;
        Ok(counts)
    }

    async fn owners(&self) -> Result<Vec<String>, DbError> {
        let rows: Vec<(String,)> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT d.id FROM documents d JOIN collections c ON c.id = d.collection
                 WHERE c.capability = $1 AND c.name = 'owners' AND d.body IS NOT NULL",
            )
            .bind(HOST)
            .fetch_all(pool)
            .await?
        });
        Ok(rows.into_iter().map(|(id,)| id).collect())
    }

    /// Runs one of the statements for an id.
    async fn remove(&self, sql: &'static str, person: &str) -> Result<(), DbError> {
        transact!(self.inner.backend, |transaction| {
            sqlx::query(sql)
                .bind(person)
                .bind(pattern(person))
                .execute(&mut *transaction)
                .await?
                .rows_affected()
        });
        Ok(())
    }

    async fn keep_erasure(&self, digest: &str, now: Timestamp) -> Result<(), DbError> {
        transact!(self.inner.backend, |transaction| {
            sqlx::query(
                "INSERT INTO erasures (owner_digest, erased_at) VALUES ($1, $2)
                 ON CONFLICT (owner_digest) DO NOTHING",
            )
            .bind(digest)
            .bind(signed(now.as_millis()))
            .execute(&mut *transaction)
            .await?
            .rows_affected()
        });
        Ok(())
    }

    /// Erases the people again who were erased from the database that a backup has replaced, and
    /// returns their number. To be called when the collections are declared, before the host serves.
    pub async fn erase_after_restore(&self, now: Timestamp) -> Result<u64, StateError> {
        let Backend::Sqlite(sqlite) = &*self.inner.backend else { return Ok(0) };
        let list = erasure_list(&sqlite.path);
        let digests: BTreeSet<String> = match std::fs::read_to_string(&list) {
            Ok(text) => text.lines().map(str::to_owned).collect(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(DbError::File { path: list, error }.into()),
        };
        let owners = self.owners().await?;
        let mut erased = 0;
        for owner_id in owners {
            if digests.contains(&digest(&owner_id)) {
                self.erase_person(&owner_id, now).await?;
                erased += 1;
            }
        }
        for digest in digests {
            self.keep_erasure(&digest, now).await?;
        }
        std::fs::remove_file(&list).map_err(|error| DbError::File { path: list, error })?;
        Ok(erased)
    }

    /// Returns documents whose text or id contains this id, in the order of collection and id.
    async fn documents_naming(
        &self,
        person: &str,
        after: Option<(i64, String)>,
    ) -> Result<Vec<Row>, DbError> {
        let (collection, id) = after.unwrap_or((-1, String::new()));
        let limit = i64::try_from(CHUNK).unwrap_or(i64::MAX);
        Ok(read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT CAST(collection AS BIGINT), id, CAST(revision AS BIGINT), body FROM documents
                 WHERE (collection > $1 OR (collection = $1 AND id > $2))
                 AND body IS NOT NULL AND (body LIKE $3 OR id LIKE $3)
                 ORDER BY collection, id LIMIT $4",
            )
            .bind(collection)
            .bind(id.as_str())
            .bind(pattern(person))
            .bind(limit)
            .fetch_all(pool)
            .await?
        }))
    }

    async fn declared(&self, collection: i64) -> Result<Option<Declared>, DbError> {
        Ok(read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT capability, name, CAST(generation AS BIGINT), shape, people
                 FROM collections WHERE id = $1",
            )
            .bind(collection)
            .fetch_optional(pool)
            .await?
        }))
    }

    async fn is_record_of_agent(&self, collection: i64, id: &str) -> Result<bool, DbError> {
        let declared = self.declared(collection).await?;
        Ok(id.starts_with("agt_")
            && declared
                .is_some_and(|(capability, name, ..)| capability == HOST && name == "agents"))
    }

    /// Erases the documents that name these people: the records of their agents, or all others.
    async fn erase_documents(
        &self,
        people: &[String],
        records_of_agents: bool,
        now: Timestamp,
        counts: &mut ErasureCounts,
        indexed: &mut BTreeSet<i64>,
    ) -> Result<(), StateError> {
        for person in people {
            let mut after = None;
            loop {
                let rows = self.documents_naming(person, after).await?;
                let Some((collection, id, ..)) = rows.last() else { break };
                after = Some((*collection, id.clone()));
                for (collection, id, ..) in rows {
                    if self.is_record_of_agent(collection, &id).await? == records_of_agents {
                        self.erase_document(collection, &id, people, now, counts).await?;
                        indexed.insert(collection);
                    }
                }
            }
        }
        Ok(())
    }

    /// Deletes or redacts one document, as its collection declares.
    async fn erase_document(
        &self,
        collection: i64,
        id: &str,
        people: &[String],
        now: Timestamp,
        counts: &mut ErasureCounts,
    ) -> Result<(), StateError> {
        let Some((capability, name, generation, shape, declared)) =
            self.declared(collection).await?
        else {
            return Ok(());
        };
        let inner = &self.inner;
        let layout =
            inner.layouts.get(&inner.backend, CollectionId(collection), generation, &shape)?;
        let declared = people_of(declared.as_deref());
        let stored = Collection {
            scope: format!("{capability} {name}"),
            name,
            layout,
            people: Arc::new(declared.clone().unwrap_or_default()),
        };
        for _ in 0..ATTEMPTS {
            let mut unit = Unit::new(self.clone(), now).in_any_generation();
            let Some(document) = unit.get(&stored, id).await? else { return Ok(()) };
            let expect = Expectation::Revision(document.revision);
            let mut value: Value = serde_json::from_str(&document.body).unwrap_or_default();
            let outcome = match &declared {
                Some(declared) => declared.erase(id, &mut value, people),
                None => Erased::Deleted,
            };
            let written = match outcome {
                Erased::Unchanged => return Ok(()),
                Erased::Deleted => Err(StateError::Conflict),
                Erased::Changed => unit.put(&stored, id, value.to_string(), expect).await,
            };
            let is_deleted = written.is_err();
            if is_deleted {
                // Also what cannot be written without the person, such as a second unique value.
                unit = Unit::new(self.clone(), now).in_any_generation();
                unit.delete(&stored, id, Expectation::Any).await?;
            }
            let verdict = unit.commit(Attachments::default()).await.map_err(|error| {
                StateError::Limit(format!("the erasure cannot be written: {error}"))
            })?;
            if verdict == Verdict::Committed {
                match is_deleted {
                    true => counts.deleted += 1,
                    false => counts.redacted += 1,
                }
                return Ok(());
            }
        }
        Err(StateError::Conflict)
    }

    /// Removes the data of the events that name these people or were sent to them.
    async fn redact_events(&self, people: &[String]) -> Result<u64, DbError> {
        let mut redacted = 0;
        for person in people {
            let rows: Vec<(i64, String)> = read!(self.inner.backend, |pool| {
                sqlx::query_as(
                    "SELECT CAST(seq AS BIGINT), subject FROM events
                     WHERE audience_id = $1 OR subject LIKE $2 OR data LIKE $2",
                )
                .bind(person)
                .bind(pattern(person))
                .fetch_all(pool)
                .await?
            });
            for rows in rows.chunks(CHUNK) {
                redacted += transact!(self.inner.backend, |transaction| {
                    let mut changed = 0;
                    for (seq, subject) in rows {
                        changed += sqlx::query(
                            "UPDATE events SET data = '{}', subject = $1,
                             audience_id = CASE WHEN audience_id = $2 THEN $3 ELSE audience_id END
                             WHERE seq = $4",
                        )
                        .bind(redact_ids(subject, people))
                        .bind(person)
                        .bind(redact_ids(person, people))
                        .bind(seq)
                        .execute(&mut *transaction)
                        .await?
                        .rows_affected();
                    }
                    changed
                });
            }
        }
        Ok(redacted)
    }

    /// Replaces the person's id in the inputs of timers, which still run for others.
    async fn redact_timers(&self, person: &str, people: &[String]) -> Result<(), DbError> {
        transact!(self.inner.backend, |transaction| {
            sqlx::query("UPDATE timers SET input = replace(input, $1, $2) WHERE input LIKE $3")
                .bind(person)
                .bind(redact_ids(person, people))
                .bind(pattern(person))
                .execute(&mut *transaction)
                .await?
                .rows_affected()
        });
        Ok(())
    }

    /// Removes deleted words from the indexes of SQLite, and the write-ahead log. PostgreSQL removes
    /// both by itself, and neither is in a dump.
    async fn forget_words(&self, collections: &BTreeSet<i64>) -> Result<(), DbError> {
        let Backend::Sqlite(sqlite) = &*self.inner.backend else { return Ok(()) };
        for collection in collections {
            let Some((_, _, generation, shape, _)) = self.declared(*collection).await? else {
                continue;
            };
            let inner = &self.inner;
            let layout =
                inner.layouts.get(&inner.backend, CollectionId(*collection), generation, &shape)?;
            if layout.shape.text().is_empty() {
                continue;
            }
            let table = layout.table();
            transact!(self.inner.backend, |transaction| {
                let sql = format!("INSERT INTO {table}t ({table}t) VALUES ('optimize')");
                sqlx::query(AssertSqlSafe(sql)).execute(&mut *transaction).await?.rows_affected()
            });
        }
        let _guard = sqlite.lock_writer().await?;
        sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&sqlite.others).await?;
        Ok(())
    }
}

fn people_of(declared: Option<&str>) -> Option<People> {
    let people: Vec<Person> = serde_json::from_str(declared?).ok()?;
    People::new(&people).ok()
}

fn pattern(id: &str) -> String {
    format!("%{id}%")
}

fn digest(owner_id: &str) -> String {
    Digest::of(owner_id.as_bytes()).hex()
}
