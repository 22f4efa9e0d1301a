//! A generation is no longer filled.

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

    pub(in crate::records) async fn give_up(
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

    async fn drop_changes(
        &self,
        transaction: &mut Transaction,
        collection: CollectionId,
    ) -> Result<(), DbError> {
        let sql = self.removal("generation_changes", &[("collection", NUMBER)]);
        transaction.run(&sql, vec![json!([collection.0])]).await
    }
}
