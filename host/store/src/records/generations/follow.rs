//! Follows the documents that have changed since the filling began.

use super::{
    document::{CHUNK, Migrated, OldDocument, stored, take_bytes},
    generation::Generation,
};
use crate::{
    connection::read,
    error::DbError,
    integers::{signed, unsigned},
    store::Store,
};
use portolan_vocabulary::Timestamp;

impl Store {
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
            change_revision: unsigned(noted),
        };
        Ok(take_bytes(rows.into_iter().map(document), bytes))
    }

    /// Writes changed documents after their migration. If the serving generation is fenced (`fenced`), these
    /// are the last changes, and a document is quarantined if another one has its unique value. Otherwise the
    /// id of such a document is returned, and its change has to be followed again. Writes nothing if the
    /// generation is no longer being filled.
    pub async fn follow_changes(
        &self,
        generation: &Generation,
        migrated: Vec<Migrated>,
        fenced: bool,
        now: Timestamp,
    ) -> Result<Vec<String>, DbError> {
        let (store, generation) = (self.clone(), generation.clone());
        self.run_blocking(async move {
            let mut transaction = store.inner.backend.begin_alone().await?;
            let row = store.find_row(&mut transaction, generation.to).await?;
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
}
