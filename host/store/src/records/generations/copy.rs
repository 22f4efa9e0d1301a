//! Copies all documents into the new generation, in the order of their ids.

use super::{
    document::{CHUNK, Migrated, OldDocument, stored, take_bytes},
    generation::{Generation, Outdated},
};
use crate::{
    connection::{TEXT, read},
    error::DbError,
    integers::signed,
    store::Store,
};
use portolan_vocabulary::Timestamp;
use serde_json::json;
use sqlx::AssertSqlSafe;
use std::collections::BTreeMap;

impl Store {
    /// Returns the next documents to copy and the id that they follow; `None` if all documents are copied.
    /// The documents have at most `bytes` bytes in total; the first one may have more. The error is
    /// `GenerationReplaced` if the generation is no longer being filled.
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
            change_revision: 0,
        };
        Ok(take_bytes(rows.into_iter().map(document), bytes))
    }

    /// Returns a sample of the documents: the first and the last ones by their ids, of at most `bytes` bytes
    /// in total.
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
                sample.insert(id.clone(), OldDocument { id, stored, change_revision: 0 });
            }
        }
        Ok(take_bytes(sample.into_values(), bytes))
    }

    /// Writes migrated documents whose ids follow `after`. An empty list means that all documents are copied.
    /// Returns false, and writes nothing, if other documents have been copied since `after` was read, or if
    /// the generation is no longer being filled.
    pub async fn copy_documents(
        &self,
        generation: &Generation,
        after: String,
        migrated: Vec<Migrated>,
        now: Timestamp,
    ) -> Result<bool, DbError> {
        let (store, generation) = (self.clone(), generation.clone());
        self.run_blocking(async move {
            let mut transaction = store.inner.backend.begin_alone().await?;
            let row = store.find_row(&mut transaction, generation.to).await?;
            let Some((state, .., Some(copied_to))) = row else { return Ok(false) };
            if state != "filling" || copied_to != after {
                transaction.roll_back().await?;
                return Ok(false);
            }
            let last = migrated.last().map(|(document, _)| document.id.clone());
            store.write(&mut transaction, &generation, migrated, false, now).await?;
            store
                .set_columns(&mut transaction, generation.to, &[("copied_to", TEXT, json!(last))])
                .await?;
            transaction.commit().await?;
            Ok(true)
        })
        .await
    }
}
