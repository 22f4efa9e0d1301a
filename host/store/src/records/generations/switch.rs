//! Lets the filled generation serve, and retires the former one.

use super::{generation::Generation, revive::written_since, rows::sql_text, sweep::RETIRED_MS};
use crate::{
    connection::{NUMBER, TEXT, Transaction},
    document::CollectionId,
    error::DbError,
    integers::unsigned,
    store::Store,
};
use portolan_vocabulary::Timestamp;
use serde_json::{Value, json};

/// How long a replaced generation is kept, for the calls that still read it, if the next one has the same
/// documents with other indexes.
const REINDEXED_MS: u64 = 60 * 60 * 1000;

impl Store {
    /// Blocks commits to the serving generations until the time `until`.
    pub async fn fence(&self, generations: &[Generation], until: Timestamp) -> Result<(), DbError> {
        let (store, generations) = (self.clone(), generations.to_vec());
        self.run_blocking(async move {
            let mut transaction = store.inner.backend.begin_alone().await?;
            for generation in generations {
                let until = json!(until.as_millis());
                store
                    .set_columns(
                        &mut transaction,
                        generation.from,
                        &[("fenced_until", NUMBER, until)],
                    )
                    .await?;
            }
            transaction.commit().await
        })
        .await
    }

    /// Lets the filled generations serve, all at once. Returns false, and changes nothing, if one of them is
    /// not complete, or if the generation that it replaces is not fenced.
    pub async fn switch(
        &self,
        generations: &[Generation],
        now: Timestamp,
    ) -> Result<bool, DbError> {
        let (store, generations) = (self.clone(), generations.to_vec());
        self.run_blocking(async move {
            let mut transaction = store.inner.backend.begin_alone().await?;
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
                store.set_columns(&mut transaction, *from, &retire).await?;
                let serve = [
                    ("state", TEXT, json!("serving")),
                    ("name", TEXT, json!(collection)),
                    ("retired_at", NUMBER, Value::Null),
                    ("replaced_by", NUMBER, Value::Null),
                    ("migrated_by", TEXT, Value::Null),
                ];
                store.set_columns(&mut transaction, *to, &serve).await?;
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
            self.find_row(transaction, generation.from).await?,
            self.find_row(transaction, generation.to).await?,
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

    /// Moves the documents that an earlier migration has quarantined to the new generation. This migration
    /// could not try them, because they are in no collection.
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
            backend.parameter(1, NUMBER),
            backend.row_source(),
            backend.parameter(0, NUMBER),
            backend.parameter(1, NUMBER),
        );
        transaction.run(&sql_text(sql), vec![json!([from.0, to.0])]).await
    }
}

impl Generation {
    /// Returns the time from which the replaced generation counts as retired. If only the indexes differ, the
    /// time is in the past, so that the generation is deleted after `REINDEXED_MS`.
    fn retired_at(&self, now: Timestamp) -> u64 {
        let now = now.as_millis();
        match self.reindexes && !self.revived {
            true => (now + REINDEXED_MS).saturating_sub(RETIRED_MS),
            false => now,
        }
    }
}
