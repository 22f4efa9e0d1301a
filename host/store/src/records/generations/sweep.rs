//! Deletes generations that were retired too long ago.

use crate::{
    connection::read, error::DbError, integers::signed, records::sweep::DAY_MS, store::Store,
};
use portolan_vocabulary::Timestamp;

/// How long a replaced generation is kept.
pub(super) const RETIRED_MS: u64 = 7 * DAY_MS;
/// The maximum number of documents that the sweep deletes in one transaction.
const SWEEP_CHUNK: usize = 1_000;

impl Store {
    /// Deletes generations that were retired too long ago, in short transactions.
    pub(in crate::records) async fn sweep_generations(
        &self,
        now: Timestamp,
    ) -> Result<(), DbError> {
        let before = signed(now.as_millis().saturating_sub(RETIRED_MS));
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
            self.run_blocking(async move { store.remove_generation(id, generation).await }).await?;
        }
        Ok(())
    }

    async fn remove_generation(&self, id: i64, generation: i64) -> Result<(), DbError> {
        let backend = &self.inner.backend;
        let some = format!(
            "DELETE FROM documents WHERE collection = {id} AND id IN
             (SELECT id FROM documents WHERE collection = {id} ORDER BY id LIMIT {SWEEP_CHUNK})"
        );
        loop {
            let mut transaction = backend.begin_alone().await?;
            transaction.execute(some.clone()).await?;
            let left = format!("documents d WHERE d.collection = {id}");
            let left = self.count(&mut transaction, &left).await?;
            transaction.commit().await?;
            if left == 0 {
                break;
            }
        }
        let mut transaction = backend.begin_alone().await?;
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
}
