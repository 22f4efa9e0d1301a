//! Abandons a generation, which is then no longer filled.

use super::generation::Generation;
use crate::{
    connection::{NUMBER, TEXT, Transaction},
    document::CollectionId,
    error::DbError,
    store::Store,
};
use serde_json::{Value, json};

impl Store {
    /// Gives up generations that are being filled: the serving ones are no longer followed.
    pub async fn abandon_generations(&self, generations: &[Generation]) -> Result<(), DbError> {
        let (store, generations) = (self.clone(), generations.to_vec());
        self.run_blocking(async move {
            let mut transaction = store.inner.backend.begin_alone().await?;
            for generation in generations.iter().filter(|generation| !generation.revived) {
                let (from, to) = (generation.from, generation.to);
                store.abandon(&mut transaction, from, to, &generation.collection).await?;
            }
            transaction.commit().await
        })
        .await
    }

    pub(in crate::records) async fn abandon(
        &self,
        transaction: &mut Transaction,
        from: CollectionId,
        to: CollectionId,
        name: &str,
    ) -> Result<(), DbError> {
        self.set_columns(
            transaction,
            from,
            &[("followed_by", NUMBER, Value::Null), ("fenced_until", NUMBER, json!(0))],
        )
        .await?;
        self.drop_changes(transaction, from).await?;
        let Some((state, ..)) = self.find_row(transaction, to).await? else { return Ok(()) };
        if state == "filling" {
            let name = format!("{name} (retired {})", to.0);
            self.set_columns(
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

    async fn drop_changes(
        &self,
        transaction: &mut Transaction,
        collection: CollectionId,
    ) -> Result<(), DbError> {
        let sql = self.delete_statement("generation_changes", &[("collection", NUMBER)]);
        transaction.run(&sql, vec![json!([collection.0])]).await
    }
}
