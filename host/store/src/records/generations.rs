//! Generations of a collection: how its documents get the form of another version, or other indexes, while
//! calls go on.
//!
//! A collection is a row of `collections`. A version with another form of the documents, or with other indexes
//! over many of them, gets a second row, which is filled while the first one serves:
//!
//! 1. [`Store::begin_generation`] makes the second row. From then on, the database notes the id of every
//!    document of the first row that changes.
//! 2. [`Store::copy_documents`] writes migrated documents, in the order of their ids.
//! 3. [`Store::follow_changes`] does the same for the noted ones.
//! 4. [`Store::fence`] ends commits to the first row for some seconds, and the last changes are followed.
//! 5. [`Store::switch`] lets the second row serve, and retires the first one.
//!
//! Every step is one short transaction that checks what it was computed from, so that a crash at any time,
//! or another node that does the same, loses nothing and does no harm. A document that cannot be migrated
//! is quarantined with its old body. Documents that are only indexed anew stay as they are; one that does not fit
//! its index, or has a unique value that another one has, is an error.

use super::{quarantine::kept_reason, sweep::DAY_MS};
use crate::{
    connection::{NUMBER, TEXT, Transaction, read},
    document::{CollectionId, Stored, UniqueKey},
    error::DbError,
    integers::{signed, unsigned},
    query::{Entry, Layout, Shape, declaration_text, shape},
    store::Store,
    unit::DOCUMENT_BYTES,
    usage::{capability_of, scope},
};
use portolan_vocabulary::{self as vocabulary, People, Timestamp};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, SqlSafeStr as _, SqlStr};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// The maximum number of documents that are written in one transaction, because calls wait meanwhile.
const CHUNK: usize = 200;
/// How long a replaced generation is kept.
const RETIRED_DAYS: u64 = 7;
/// How long one is kept whose documents the next one has unchanged: for the calls that still read it.
const REINDEXED_MS: u64 = 60 * 60 * 1000;
/// The maximum number of documents that the sweep deletes in one transaction.
const SWEPT: usize = 1_000;

/// A serving collection whose documents have another version than the declared one, or other indexes.
#[derive(Debug, Clone)]
pub struct Outdated {
    id: CollectionId,
    scope: String,
    pub declared: vocabulary::Collection,
    /// The version of the stored documents.
    pub version: u32,
    pub documents: u64,
    /// Whether only the indexes differ.
    pub reindexes: bool,
}

/// A generation that is being filled.
#[derive(Debug, Clone)]
pub struct Generation {
    from: CollectionId,
    to: CollectionId,
    pub collection: String,
    pub test_mode: bool,
    pub from_version: u32,
    pub to_version: u32,
    /// The number of documents when it began.
    pub documents: u64,
    /// Whether it is the retired generation before the serving one, which needs no copies.
    pub revived: bool,
    /// Whether the documents stay as they are, and only their indexes differ.
    pub reindexes: bool,
    layout: Arc<Layout>,
    people: Arc<People>,
}

/// A document as it is before its migration.
#[derive(Debug, Clone)]
pub struct OldDocument {
    pub id: String,
    stored: Stored,
    /// The revision in the list of changes; 0 if the document is not in that list.
    noted: u64,
}

/// A document with the outcome of its migration: its new body, or why there is none.
pub type Migrated = (OldDocument, Result<Value, String>);

impl OldDocument {
    /// Returns the body; none if the document was deleted.
    pub fn body(&self) -> Option<&str> {
        self.stored.body.as_deref()
    }
}

/// The row of a serving collection: id, version, shape, documents.
type Serving = (i64, i64, String, i64);

/// The row of a collection: state, version, shape, generation, what follows it, until when it is fenced,
/// what migrates it, what was copied.
type Row = (String, i64, String, i64, Option<i64>, i64, Option<String>, Option<String>);

impl Store {
    /// Returns the collections of a capability, of both modes, whose stored documents have another version
    /// than the declared one, and those of many documents that have other indexes.
    pub async fn outdated(
        &self,
        capability: &str,
        declared: &[vocabulary::Collection],
    ) -> Result<Vec<Outdated>, DbError> {
        let mut outdated = Vec::new();
        for test_mode in [false, true] {
            for declaration in declared {
                let scope = scope(capability, test_mode);
                let row: Option<Serving> = read!(self.inner.backend, |pool| {
                    sqlx::query_as(
                        "SELECT c.id, CAST(c.version AS BIGINT), c.shape, coalesce(u.documents, 0)
                         FROM collections c LEFT JOIN collection_usage u ON u.collection = c.id
                         WHERE c.capability = $1 AND c.name = $2",
                    )
                    .bind(&scope)
                    .bind(&declaration.name)
                    .fetch_optional(pool)
                    .await?
                });
                let Some((id, version, shape, documents)) = row else { continue };
                let version = u32::try_from(version).unwrap_or(u32::MAX);
                let documents = unsigned(documents);
                // Few documents are indexed in the transaction that declares the collection.
                let reindexes = version == declaration.version
                    && shape != declaration_text(declaration)
                    && documents > CHUNK as u64;
                if version != declaration.version || reindexes {
                    outdated.push(Outdated {
                        id: CollectionId(id),
                        scope,
                        declared: declaration.clone(),
                        version,
                        documents,
                        reindexes,
                    });
                }
            }
        }
        Ok(outdated)
    }

    /// Returns the retired generation that the serving one has replaced, if it is as declared; or the
    /// number of documents that were written since, which it lacks. None if there is no such
    /// generation.
    pub async fn revivable(
        &self,
        outdated: &Outdated,
    ) -> Result<Option<Result<Generation, u64>>, DbError> {
        let row: Option<(i64, i64, String)> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT id, generation, shape FROM collections
                 WHERE replaced_by = $1 AND version = $2 AND state = 'retired'
                 ORDER BY retired_at DESC LIMIT 1",
            )
            .bind(outdated.id.0)
            .bind(i64::from(outdated.declared.version))
            .fetch_optional(pool)
            .await?
        });
        let Some((id, generation, shape)) = row else { return Ok(None) };
        if shape != declaration_text(&outdated.declared) {
            return Ok(None);
        }
        let sql = format!("SELECT count(*) FROM {}", written_since(outdated.id, CollectionId(id)));
        let written: i64 = read!(self.inner.backend, |pool| {
            sqlx::query_scalar(AssertSqlSafe(sql.as_str())).fetch_one(pool).await?
        });
        let written = unsigned(written);
        if written > 0 {
            return Ok(Some(Err(written)));
        }
        let layout =
            self.inner.layouts.get(&self.inner.backend, CollectionId(id), generation, &shape)?;
        outdated.generation(CollectionId(id), layout, true).map(|generation| Some(Ok(generation)))
    }

    /// Begins to fill a generation with documents of the declared version, or goes on with the one that the
    /// same component (`migrated_by`) has begun. None if the collection was replaced meanwhile.
    pub async fn begin_generation(
        &self,
        outdated: &Outdated,
        migrated_by: &str,
    ) -> Result<Option<Generation>, DbError> {
        let (store, outdated) = (self.clone(), outdated.clone());
        let migrated_by = migrated_by.to_owned();
        self.exclusively(async move { store.begin(&outdated, &migrated_by).await }).await
    }

    async fn begin(
        &self,
        outdated: &Outdated,
        migrated_by: &str,
    ) -> Result<Option<Generation>, DbError> {
        let backend = &self.inner.backend;
        let declared = &outdated.declared;
        let text = declaration_text(declared);
        let version = i64::from(declared.version);
        let from = outdated.id;
        let mut transaction = backend.begin_commit().await?;
        let Some((state, stored, _, _, followed_by, ..)) = self.row(&mut transaction, from).await?
        else {
            return Ok(None);
        };
        if state != "serving" || stored != i64::from(outdated.version) {
            transaction.roll_back().await?;
            return Ok(None);
        }
        if let Some(begun) = followed_by.map(CollectionId) {
            if let Some((_, of, shape, generation, _, _, by, _)) =
                self.row(&mut transaction, begun).await?
                && (of, shape.as_str(), by.as_deref()) == (version, &text, Some(migrated_by))
            {
                transaction.roll_back().await?;
                let layout = self.inner.layouts.get(backend, begun, generation, &text)?;
                return outdated.generation(begun, layout, false).map(Some);
            }
            self.give_up(&mut transaction, from, begun, &declared.name).await?;
        }
        let people = declared.people.as_ref().map(|people| json!(people).to_string());
        let kept_people = match outdated.reindexes {
            // Documents may name people as an earlier declaration said.
            true => format!("(SELECT people FROM collections WHERE id = {})", from.0),
            false => backend.part(3, TEXT),
        };
        let name = format!("{} (filling)", declared.name);
        let added = json!([outdated.scope, name, text, people, version, migrated_by]);
        let sql = format!(
            "INSERT INTO collections
             (capability, name, shape, generation, people, version, state, migrated_by, copied_to)
             SELECT {}, {}, {}, 1, {kept_people}, {}, 'filling', {}, '' FROM {}",
            backend.part(0, TEXT),
            backend.part(1, TEXT),
            backend.part(2, TEXT),
            backend.part(4, NUMBER),
            backend.part(5, TEXT),
            backend.row_source()
        );
        transaction.run(&sql_text(sql), vec![added]).await?;
        let key = vec![json!([outdated.scope, name])];
        let rows: Vec<(i64, i64, String)> =
            transaction.find(&self.inner.statements.collection, key).await?;
        let Some((to, generation, _)) = rows.into_iter().next() else {
            return Err(DbError::Declaration(name));
        };
        let layout = Layout::new(backend, CollectionId(to), generation, &text)?;
        layout.create(&mut transaction).await?;
        self.set(&mut transaction, from, &[("followed_by", NUMBER, json!(to))]).await?;
        transaction.commit().await?;
        let layout = self.inner.layouts.get(backend, CollectionId(to), generation, &text)?;
        outdated.generation(CollectionId(to), layout, false).map(Some)
    }

    /// Gives up generations that are being filled: the serving ones are no longer followed.
    pub async fn give_up_generations(&self, generations: &[Generation]) -> Result<(), DbError> {
        let (store, generations) = (self.clone(), generations.to_vec());
        self.exclusively(async move {
            let mut transaction = store.inner.backend.begin_commit().await?;
            for generation in generations.iter().filter(|generation| !generation.revived) {
                let (from, to) = (generation.from, generation.to);
                store.give_up(&mut transaction, from, to, &generation.collection).await?;
            }
            transaction.commit().await
        })
        .await
    }

    pub(super) async fn give_up(
        &self,
        transaction: &mut Transaction,
        from: CollectionId,
        to: CollectionId,
        name: &str,
    ) -> Result<(), DbError> {
        self.set(
            transaction,
            from,
            &[("followed_by", NUMBER, Value::Null), ("fenced_until", NUMBER, json!(0))],
        )
        .await?;
        self.drop_changes(transaction, from).await?;
        let Some((state, ..)) = self.row(transaction, to).await? else { return Ok(()) };
        if state == "filling" {
            let name = format!("{name} (retired {})", to.0);
            self.set(
                transaction,
                to,
                &[
                    ("state", TEXT, json!("retired")),
                    ("name", TEXT, json!(name)),
                    ("retired_at", NUMBER, json!(0)),
                ],
            )
            .await?;
        }
        Ok(())
    }

    /// Returns the next documents to copy and the id after which they begin; none if all documents are
    /// copied. The documents have at most `bytes` bytes in total; the first one may have more.
    pub async fn next_documents(
        &self,
        generation: &Generation,
        bytes: usize,
    ) -> Result<Option<(String, Vec<OldDocument>)>, DbError> {
        if generation.revived {
            return Ok(None);
        }
        let row: Option<(String, Option<String>)> = read!(self.inner.backend, |pool| {
            sqlx::query_as("SELECT state, copied_to FROM collections WHERE id = $1")
                .bind(generation.to.0)
                .fetch_optional(pool)
                .await?
        });
        let Some((_, copied_to)) = row.filter(|(state, _)| state == "filling") else {
            return Err(DbError::GenerationReplaced(generation.collection.clone()));
        };
        let Some(after) = copied_to else { return Ok(None) };
        let documents = self.documents_after(generation, &after, bytes).await?;
        Ok(Some((after, documents)))
    }

    async fn documents_after(
        &self,
        generation: &Generation,
        after: &str,
        bytes: usize,
    ) -> Result<Vec<OldDocument>, DbError> {
        let rows: Vec<(String, i64, Option<String>, i64, i64)> =
            read!(self.inner.backend, |pool| {
                sqlx::query_as(
                    "SELECT id, revision, body, created_at, updated_at FROM documents
                 WHERE collection = $1 AND id > $2 AND body IS NOT NULL ORDER BY id LIMIT $3",
                )
                .bind(generation.from.0)
                .bind(after)
                .bind(signed(CHUNK as u64))
                .fetch_all(pool)
                .await?
            });
        let document = |(id, revision, body, created_at, updated_at)| OldDocument {
            id,
            stored: stored(revision, body, created_at, updated_at),
            noted: 0,
        };
        Ok(at_most(rows.into_iter().map(document), bytes))
    }

    /// Returns a sample of the documents: the first and the last ones by their ids.
    pub async fn sample_documents(
        &self,
        outdated: &Outdated,
        bytes: usize,
    ) -> Result<Vec<OldDocument>, DbError> {
        let mut sample = BTreeMap::new();
        for order in ["ASC", "DESC"] {
            let sql = format!(
                "SELECT id, revision, body, created_at, updated_at FROM documents
                 WHERE collection = $1 AND body IS NOT NULL ORDER BY id {order} LIMIT {}",
                CHUNK / 2
            );
            let rows: Vec<(String, i64, Option<String>, i64, i64)> =
                read!(self.inner.backend, |pool| {
                    let query = sqlx::query_as(AssertSqlSafe(sql.as_str()));
                    query.bind(outdated.id.0).fetch_all(pool).await?
                });
            for (id, revision, body, created_at, updated_at) in rows {
                let stored = stored(revision, body, created_at, updated_at);
                sample.insert(id.clone(), OldDocument { id, stored, noted: 0 });
            }
        }
        Ok(at_most(sample.into_values(), bytes))
    }

    /// Writes migrated documents whose ids follow `after`. An empty list means that all documents are copied.
    /// Returns false, and writes nothing, if other documents have been copied since `after` was read.
    pub async fn copy_documents(
        &self,
        generation: &Generation,
        after: String,
        migrated: Vec<Migrated>,
        now: Timestamp,
    ) -> Result<bool, DbError> {
        let (store, generation) = (self.clone(), generation.clone());
        self.exclusively(async move {
            let mut transaction = store.inner.backend.begin_commit().await?;
            let row = store.row(&mut transaction, generation.to).await?;
            let Some((state, .., Some(copied_to))) = row else { return Ok(false) };
            if state != "filling" || copied_to != after {
                transaction.roll_back().await?;
                return Ok(false);
            }
            let last = migrated.last().map(|(document, _)| document.id.clone());
            store.write(&mut transaction, &generation, migrated, false, now).await?;
            store.set(&mut transaction, generation.to, &[("copied_to", TEXT, json!(last))]).await?;
            transaction.commit().await?;
            Ok(true)
        })
        .await
    }

    /// Returns at most 200 documents that have changed since the filling of the generation began: those whose
    /// ids follow `after`, in the order of their ids. They have at most `bytes` bytes in total; the first one
    /// may have more.
    pub async fn changed_documents(
        &self,
        generation: &Generation,
        after: &str,
        bytes: usize,
    ) -> Result<Vec<OldDocument>, DbError> {
        type Changed = (String, i64, Option<i64>, Option<String>, Option<i64>, Option<i64>);
        let rows: Vec<Changed> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT g.id, g.revision, d.revision, d.body, d.created_at, d.updated_at
                 FROM generation_changes g
                 LEFT JOIN documents d ON d.collection = g.collection AND d.id = g.id
                 WHERE g.collection = $1 AND g.id > $2 ORDER BY g.id LIMIT $3",
            )
            .bind(generation.from.0)
            .bind(after)
            .bind(signed(CHUNK as u64))
            .fetch_all(pool)
            .await?
        });
        let document = |(id, noted, revision, body, created_at, updated_at): Changed| OldDocument {
            id,
            stored: stored(
                revision.unwrap_or(0),
                body,
                created_at.unwrap_or(0),
                updated_at.unwrap_or(0),
            ),
            noted: unsigned(noted),
        };
        Ok(at_most(rows.into_iter().map(document), bytes))
    }

    /// Writes changed documents after their migration. If the serving generation is fenced (`fenced`), these
    /// are the last changes, and a document is quarantined if another one has its unique value. Otherwise the
    /// id of such a document is returned, and its change has to be followed again.
    pub async fn follow_changes(
        &self,
        generation: &Generation,
        migrated: Vec<Migrated>,
        fenced: bool,
        now: Timestamp,
    ) -> Result<Vec<String>, DbError> {
        let (store, generation) = (self.clone(), generation.clone());
        self.exclusively(async move {
            let mut transaction = store.inner.backend.begin_commit().await?;
            let row = store.row(&mut transaction, generation.to).await?;
            if row.is_none_or(|(state, ..)| state != "filling") {
                transaction.roll_back().await?;
                return Ok(Vec::new());
            }
            let deferred =
                store.write(&mut transaction, &generation, migrated, fenced, now).await?;
            transaction.commit().await?;
            Ok(deferred)
        })
        .await
    }

    /// Returns the number of changes that are still to be followed.
    pub async fn count_changes(&self, generation: &Generation) -> Result<u64, DbError> {
        let count: i64 = read!(self.inner.backend, |pool| {
            sqlx::query_scalar("SELECT count(*) FROM generation_changes WHERE collection = $1")
                .bind(generation.from.0)
                .fetch_one(pool)
                .await?
        });
        Ok(unsigned(count))
    }

    /// Blocks commits to the serving generations until the time `until`.
    pub async fn fence(&self, generations: &[Generation], until: Timestamp) -> Result<(), DbError> {
        let (store, generations) = (self.clone(), generations.to_vec());
        self.exclusively(async move {
            let mut transaction = store.inner.backend.begin_commit().await?;
            for generation in generations {
                let until = json!(until.as_millis());
                store
                    .set(&mut transaction, generation.from, &[("fenced_until", NUMBER, until)])
                    .await?;
            }
            transaction.commit().await
        })
        .await
    }

    /// Lets the filled generations serve, all at once. Returns false, and changes nothing, if one is not
    /// filled or not fenced.
    pub async fn switch(
        &self,
        generations: &[Generation],
        now: Timestamp,
    ) -> Result<bool, DbError> {
        let (store, generations) = (self.clone(), generations.to_vec());
        self.exclusively(async move {
            let mut transaction = store.inner.backend.begin_commit().await?;
            for generation in &generations {
                if !store.is_complete(&mut transaction, generation, now).await? {
                    transaction.roll_back().await?;
                    return Ok(false);
                }
                let Generation { from, to, collection, .. } = generation;
                let retired = format!("{collection} (retired {})", from.0);
                let retire = [
                    ("state", TEXT, json!("retired")),
                    ("name", TEXT, json!(retired)),
                    ("retired_at", NUMBER, json!(generation.retired_at(now))),
                    ("replaced_by", NUMBER, json!(to.0)),
                    ("followed_by", NUMBER, Value::Null),
                    ("fenced_until", NUMBER, json!(0)),
                ];
                store.set(&mut transaction, *from, &retire).await?;
                let serve = [
                    ("state", TEXT, json!("serving")),
                    ("name", TEXT, json!(collection)),
                    ("retired_at", NUMBER, Value::Null),
                    ("replaced_by", NUMBER, Value::Null),
                    ("migrated_by", TEXT, Value::Null),
                ];
                store.set(&mut transaction, *to, &serve).await?;
                store.keep_quarantined(&mut transaction, *from, *to).await?;
            }
            transaction.commit().await?;
            Ok(true)
        })
        .await
    }

    async fn is_complete(
        &self,
        transaction: &mut Transaction,
        generation: &Generation,
        now: Timestamp,
    ) -> Result<bool, DbError> {
        let (from, to) = (
            self.row(transaction, generation.from).await?,
            self.row(transaction, generation.to).await?,
        );
        let (Some(from), Some(to)) = (from, to) else { return Ok(false) };
        let fenced = from.0 == "serving" && unsigned(from.5) > now.as_millis();
        let (from, to) = (generation.from.0, (to.0, to.7));
        if generation.revived {
            let written = written_since(generation.from, generation.to);
            let written = self.count(transaction, &written).await?;
            return Ok(fenced && to.0 == "retired" && written == 0);
        }
        let changes = format!("generation_changes t WHERE t.collection = {from}");
        let changes = self.count(transaction, &changes).await?;
        Ok(fenced && to == ("filling".to_owned(), None) && changes == 0)
    }

    /// Counts the rows of a join with a condition, both of which consist of names and numbers.
    async fn count(&self, transaction: &mut Transaction, of: &str) -> Result<i64, DbError> {
        let sql =
            format!("SELECT count(*) FROM {} CROSS JOIN {of}", self.inner.backend.row_source());
        let counts: Vec<(i64,)> = transaction.find(&sql_text(sql), vec![json!([])]).await?;
        Ok(counts.first().map_or(0, |(count,)| *count))
    }

    async fn row(
        &self,
        transaction: &mut Transaction,
        collection: CollectionId,
    ) -> Result<Option<Row>, DbError> {
        let backend = &self.inner.backend;
        let sql = format!(
            "SELECT t.state, CAST(t.version AS BIGINT), t.shape, t.generation, t.followed_by,
             t.fenced_until, t.migrated_by, t.copied_to FROM {} JOIN collections t ON t.id = {}",
            backend.row_source(),
            backend.part(0, NUMBER)
        );
        let rows: Vec<Row> = transaction.find(&sql_text(sql), vec![json!([collection.0])]).await?;
        Ok(rows.into_iter().next())
    }

    /// Sets columns, with their types, of a collection's row.
    async fn set(
        &self,
        transaction: &mut Transaction,
        collection: CollectionId,
        columns: &[(&str, &str, Value)],
    ) -> Result<(), DbError> {
        let backend = &self.inner.backend;
        let assignment = |(place, (name, kind, _)): (usize, &(&str, &str, Value))| {
            format!("{name} = {}", backend.part(place, kind))
        };
        let assignments: Vec<_> = columns.iter().enumerate().map(assignment).collect();
        let sql = format!(
            "UPDATE collections SET {} FROM {} WHERE collections.id = {}",
            assignments.join(", "),
            backend.row_source(),
            backend.part(columns.len(), NUMBER)
        );
        let values = columns.iter().map(|(.., value)| value.clone());
        let row = values.chain([json!(collection.0)]).collect();
        transaction.run(&sql_text(sql), vec![Value::Array(row)]).await
    }

    async fn drop_changes(
        &self,
        transaction: &mut Transaction,
        collection: CollectionId,
    ) -> Result<(), DbError> {
        let sql = self.removal("generation_changes", &[("collection", NUMBER)]);
        transaction.run(&sql, vec![json!([collection.0])]).await
    }

    /// Returns the statement that deletes the rows whose columns equal the elements.
    fn removal(&self, table: &str, columns: &[(&str, &str)]) -> SqlStr {
        let backend = &self.inner.backend;
        let parts = columns.iter().enumerate().map(|(place, (_, kind))| backend.part(place, kind));
        let parts: Vec<_> = parts.collect();
        let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
        sql_text(format!(
            "DELETE FROM {table} WHERE ({}) IN (SELECT {} FROM {})",
            names.join(", "),
            parts.join(", "),
            backend.row_source()
        ))
    }

    /// Keeps the documents in quarantine that this migration could not try.
    async fn keep_quarantined(
        &self,
        transaction: &mut Transaction,
        from: CollectionId,
        to: CollectionId,
    ) -> Result<(), DbError> {
        let backend = &self.inner.backend;
        let sql = format!(
            "UPDATE quarantined_documents SET collection = {} FROM {}
             WHERE quarantined_documents.collection = {} AND quarantined_documents.body IS NOT NULL
             AND NOT EXISTS (SELECT 1 FROM quarantined_documents q
                 WHERE q.collection = {} AND q.id = quarantined_documents.id)",
            backend.part(1, NUMBER),
            backend.row_source(),
            backend.part(0, NUMBER),
            backend.part(1, NUMBER),
        );
        transaction.run(&sql_text(sql), vec![json!([from.0, to.0])]).await
    }

    /// Writes the outcome of the migration of documents that have not changed since they were read. Returns
    /// the ids of those that are to be written again.
    async fn write(
        &self,
        transaction: &mut Transaction,
        generation: &Generation,
        migrated: Vec<Migrated>,
        fenced: bool,
        now: Timestamp,
    ) -> Result<Vec<String>, DbError> {
        let statements = &self.inner.statements;
        let (from, to, layout) = (generation.from.0, generation.to, &generation.layout);
        let keys = migrated.iter().map(|(document, _)| json!([from, document.id])).collect();
        let rows: Vec<(i64, String, i64)> = transaction.find(&statements.revisions, keys).await?;
        let revisions: BTreeMap<String, i64> =
            rows.into_iter().map(|(_, id, revision)| (id, revision)).collect();
        let is_current = |document: &OldDocument| {
            let revision = revisions.get(&document.id).copied().unwrap_or(0);
            unsigned(revision) == document.stored.revision
        };
        let mut outcomes: Vec<(OldDocument, Outcome)> = migrated
            .into_iter()
            .filter(|(document, _)| is_current(document))
            .map(|(document, migrated)| {
                let outcome = generation.outcome(&document, migrated);
                (document, outcome)
            })
            .collect();
        let ids: Vec<Value> =
            outcomes.iter().map(|(document, _)| json!([to.0, document.id])).collect();
        transaction.run(&statements.drop_unique_keys, ids.clone()).await?;
        self.resolve_duplicates(transaction, to, &mut outcomes, fenced).await?;
        if generation.reindexes {
            ensure_indexed(&generation.collection, &outcomes)?;
        }
        let (mut noted, mut deferred) = (Vec::new(), Vec::new());
        let (mut documents, mut entries, mut uniques, mut quarantined) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (document, outcome) in &outcomes {
            let OldDocument { id, stored, noted: revision } = document;
            let (created_at, updated_at) =
                (stored.created_at.as_millis(), stored.updated_at.as_millis());
            let row = |body: Option<&str>| {
                json!([to.0, id, stored.revision, body, created_at, updated_at])
            };
            if matches!(outcome, Outcome::Deferred) {
                deferred.push(json!([from, id, stored.revision]));
                continue;
            }
            noted.push(json!([from, id, revision]));
            match outcome {
                Outcome::Written { body, entry } => {
                    documents.push(row(Some(body)));
                    entries.push((id.as_str(), Some(entry)));
                    let keys = UniqueKey::of(entry, to);
                    uniques.extend(keys.map(|key| json!([to.0, key.place, key.key, id])));
                }
                Outcome::Quarantined(reason) => {
                    documents.push(row(None));
                    entries.push((id.as_str(), None));
                    let (version, body) = (generation.from_version, &stored.body);
                    quarantined.push(json!([
                        to.0,
                        id,
                        stored.revision,
                        version,
                        body,
                        created_at,
                        updated_at,
                        reason,
                        now.as_millis()
                    ]));
                }
                Outcome::Deleted | Outcome::Deferred => {
                    documents.push(row(None));
                    entries.push((id.as_str(), None));
                }
            }
        }
        transaction.run(&statements.put_documents, documents).await?;
        layout.write(transaction, &entries).await?;
        transaction.run(&statements.put_unique_keys, uniques).await?;
        let released =
            self.removal("quarantined_documents", &[("collection", NUMBER), ("id", TEXT)]);
        transaction.run(&released, ids).await?;
        transaction.run(&self.insertion(QUARANTINE), quarantined).await?;
        let followed = self.removal(
            "generation_changes",
            &[("collection", NUMBER), ("id", TEXT), ("revision", NUMBER)],
        );
        transaction.run(&followed, noted).await?;
        transaction.run(&self.insertion(CHANGES), deferred).await?;
        let is_deferred = |outcome: &Outcome| matches!(outcome, Outcome::Deferred);
        let deferred = outcomes.into_iter().filter(|(_, outcome)| is_deferred(outcome));
        Ok(deferred.map(|(document, _)| document.id).collect())
    }

    /// Finds documents whose unique values other documents have. A value may have passed from one document
    /// to another while they were copied, so such a document is written again later, unless the serving
    /// generation is fenced.
    async fn resolve_duplicates(
        &self,
        transaction: &mut Transaction,
        to: CollectionId,
        outcomes: &mut [(OldDocument, Outcome)],
        fenced: bool,
    ) -> Result<(), DbError> {
        let keys = outcomes.iter().flat_map(|(_, outcome)| outcome.unique_keys(to));
        let rows = keys.map(|key| json!([to.0, key.place, key.key])).collect();
        let held: Vec<(i64, i64, String, String)> =
            transaction.find(&self.inner.statements.holders, rows).await?;
        let mut held: BTreeSet<UniqueKey> = held
            .into_iter()
            .map(|(_, place, key, _)| UniqueKey {
                collection: to,
                place: usize::try_from(place).unwrap_or(0),
                key,
            })
            .collect();
        for (_, outcome) in outcomes {
            let keys: Vec<UniqueKey> = outcome.unique_keys(to).collect();
            if keys.iter().any(|key| held.contains(key)) {
                *outcome = match fenced {
                    true => Outcome::Quarantined(
                        "another document has the same value of a unique index".to_owned(),
                    ),
                    false => Outcome::Deferred,
                };
            } else {
                held.extend(keys);
            }
        }
        Ok(())
    }

    /// Returns the statement that adds rows to a table, or replaces those with the same key.
    fn insertion(&self, (table, columns): (&str, &[(&str, &str)])) -> SqlStr {
        let backend = &self.inner.backend;
        let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
        let parts = columns.iter().enumerate().map(|(place, (_, kind))| backend.part(place, kind));
        let parts: Vec<_> = parts.collect();
        let others: Vec<_> =
            names.iter().skip(2).map(|name| format!("{name} = excluded.{name}")).collect();
        sql_text(format!(
            "INSERT INTO {table} ({}) SELECT {} FROM {} WHERE true
             ON CONFLICT (collection, id) DO UPDATE SET {}",
            names.join(", "),
            parts.join(", "),
            backend.row_source(),
            others.join(", ")
        ))
    }

    /// Deletes generations that were retired too long ago, in short transactions.
    pub(super) async fn sweep_generations(&self, now: Timestamp) -> Result<(), DbError> {
        let before = signed(now.as_millis().saturating_sub(RETIRED_DAYS * DAY_MS));
        let rows: Vec<(i64, i64)> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT id, generation FROM collections WHERE state = 'retired' AND retired_at <= $1",
            )
            .bind(before)
            .fetch_all(pool)
            .await?
        });
        for (id, generation) in rows {
            let store = self.clone();
            self.exclusively(async move { store.remove_generation(id, generation).await }).await?;
        }
        Ok(())
    }

    async fn remove_generation(&self, id: i64, generation: i64) -> Result<(), DbError> {
        let backend = &self.inner.backend;
        let some = format!(
            "DELETE FROM documents WHERE collection = {id} AND id IN
             (SELECT id FROM documents WHERE collection = {id} ORDER BY id LIMIT {SWEPT})"
        );
        loop {
            let mut transaction = backend.begin_commit().await?;
            transaction.execute(some.clone()).await?;
            let left = format!("documents d WHERE d.collection = {id}");
            let left = self.count(&mut transaction, &left).await?;
            transaction.commit().await?;
            if left == 0 {
                break;
            }
        }
        let mut transaction = backend.begin_commit().await?;
        for generation in [generation - 1, generation] {
            for suffix in ["t", "m", ""] {
                let drop = format!("DROP TABLE IF EXISTS x{id}_{generation}{suffix}");
                transaction.execute(drop).await?;
            }
        }
        for table in ["unique_keys", "quarantined_documents", "collection_usage"] {
            let remove = format!("DELETE FROM {table} WHERE collection = {id}");
            transaction.execute(remove).await?;
        }
        let remove = format!("DELETE FROM collections WHERE id = {id} AND state = 'retired'");
        transaction.execute(remove).await?;
        transaction.commit().await
    }

    /// Runs work that may block its thread, as a commit on SQLite does.
    pub(super) async fn exclusively<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, DbError>> + Send + 'static,
    ) -> Result<T, DbError> {
        let (done, result) = tokio::sync::oneshot::channel();
        self.inner.backend.spawn("portolan-index", async move {
            let _sent = done.send(work.await);
        })?;
        result.await.map_err(|_| DbError::Closed)?
    }
}

/// A table whose key is a collection and an id: its name, and its columns with their types.
type Columns = (&'static str, &'static [(&'static str, &'static str)]);

const QUARANTINE: Columns = (
    "quarantined_documents",
    &[
        ("collection", NUMBER),
        ("id", TEXT),
        ("revision", NUMBER),
        ("version", NUMBER),
        ("body", TEXT),
        ("created_at", NUMBER),
        ("updated_at", NUMBER),
        ("reason", TEXT),
        ("quarantined_at", NUMBER),
    ],
);

const CHANGES: Columns =
    ("generation_changes", &[("collection", NUMBER), ("id", TEXT), ("revision", NUMBER)]);

/// The outcome for a document in the new generation.
#[derive(Debug)]
enum Outcome {
    Written {
        body: String,
        entry: Entry,
    },
    Quarantined(String),
    Deleted,
    /// It is written again later.
    Deferred,
}

impl Outcome {
    fn unique_keys(&self, collection: CollectionId) -> impl Iterator<Item = UniqueKey> + '_ {
        let entry = match self {
            Self::Written { entry, .. } => Some(entry),
            _ => None,
        };
        entry.into_iter().flat_map(move |entry| UniqueKey::of(entry, collection))
    }
}

impl Generation {
    /// Returns the outcome for a document. A document that a call could not write is quarantined.
    fn outcome(&self, document: &OldDocument, migrated: Result<Value, String>) -> Outcome {
        if document.stored.body.is_none() {
            return Outcome::Deleted;
        }
        let checked = match (self.reindexes, &document.stored.body) {
            (true, Some(body)) => self.index(body),
            _ => migrated.and_then(|value| self.check(&document.id, value)),
        };
        match checked {
            Ok((body, entry)) => Outcome::Written { body, entry },
            Err(reason) => Outcome::Quarantined(kept_reason(&reason)),
        }
    }

    /// Returns the entry of a document that stays as it is.
    fn index(&self, body: &str) -> Result<(String, Entry), String> {
        let value: Value = serde_json::from_str(body).unwrap_or_default();
        let entry = self.layout.shape.entry(&value).map_err(|error| error.to_string())?;
        Ok((body.to_owned(), entry))
    }

    /// Returns the time from which the replaced generation counts as retired.
    fn retired_at(&self, now: Timestamp) -> u64 {
        let now = now.as_millis();
        match self.reindexes && !self.revived {
            true => (now + REINDEXED_MS).saturating_sub(RETIRED_DAYS * DAY_MS),
            false => now,
        }
    }

    fn check(&self, id: &str, value: Value) -> Result<(String, Entry), String> {
        let entry = check(&self.people, &self.layout.shape, id, &value)?;
        let body = value.to_string();
        match body.len() > DOCUMENT_BYTES {
            true => Err(format!("the migrated document is larger than {DOCUMENT_BYTES} bytes")),
            false => Ok((body, entry)),
        }
    }
}

/// Ensures that documents that are indexed anew fit their indexes.
fn ensure_indexed(collection: &str, outcomes: &[(OldDocument, Outcome)]) -> Result<(), DbError> {
    for (document, outcome) in outcomes {
        if let Outcome::Quarantined(error) = outcome {
            return Err(DbError::Unindexable {
                collection: collection.to_owned(),
                id: document.id.clone(),
                error: error.clone(),
            });
        }
    }
    Ok(())
}

/// Checks what a call checks when it writes a document.
fn check(people: &People, shape: &Shape, id: &str, value: &Value) -> Result<Entry, String> {
    if !value.is_object() {
        return Err("the migrated document is not a JSON object".to_owned());
    }
    if let Some(at) = people.undeclared(id, value) {
        return Err(format!("undeclared_person: the migrated document names a person at {at}"));
    }
    shape.entry(value).map_err(|error| error.to_string())
}

impl Outdated {
    /// Checks that a migrated document can be stored; the error says why not.
    pub fn check(&self, id: &str, value: &Value) -> Result<(), String> {
        let people = People::new(self.declared.people.as_deref().unwrap_or_default())?;
        let shape = shape(&self.declared).map_err(|error| error.to_string())?;
        check(&people, &shape, id, value).map(|_entry| ())
    }

    pub fn test_mode(&self) -> bool {
        capability_of(&self.scope) != self.scope
    }

    fn generation(
        &self,
        to: CollectionId,
        layout: Arc<Layout>,
        revived: bool,
    ) -> Result<Generation, DbError> {
        let name = &self.declared.name;
        let people = People::new(self.declared.people.as_deref().unwrap_or_default())
            .map_err(|error| DbError::Declaration(format!("{name}: {error}")))?;
        Ok(Generation {
            from: self.id,
            to,
            collection: name.clone(),
            test_mode: self.test_mode(),
            from_version: self.version,
            to_version: self.declared.version,
            documents: self.documents,
            revived,
            reindexes: self.reindexes,
            layout,
            people: Arc::new(people),
        })
    }
}

/// Returns the rows, for a count, of the documents of the serving generation that were written since it
/// replaced the retired one. Revisions tell, not times: a call that began before may commit after. A document
/// without a body is quarantined if the retired one has the same revision with a body.
fn written_since(serving: CollectionId, retired: CollectionId) -> String {
    format!(
        "documents d LEFT JOIN documents r ON r.collection = {} AND r.id = d.id
         AND r.revision = d.revision AND (d.body IS NULL OR r.body IS NOT NULL)
         WHERE d.collection = {} AND r.id IS NULL",
        retired.0, serving.0
    )
}

fn stored(revision: i64, body: Option<String>, created_at: i64, updated_at: i64) -> Stored {
    Stored {
        revision: unsigned(revision),
        body,
        created_at: Timestamp::from_millis(unsigned(created_at)),
        updated_at: Timestamp::from_millis(unsigned(updated_at)),
    }
}

/// Returns the first documents that have at most `bytes` bytes in total; the first one even if it has more.
fn at_most(documents: impl Iterator<Item = OldDocument>, bytes: usize) -> Vec<OldDocument> {
    let mut total = 0;
    let fits = |document: &OldDocument| {
        let first = total == 0;
        total += document.stored.bytes(&document.id);
        first || total <= bytes
    };
    documents.take_while(fits).collect()
}

fn sql_text(text: String) -> SqlStr {
    AssertSqlSafe(text).into_sql_str()
}
