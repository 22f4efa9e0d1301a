//! The collections that need another generation.

use super::{document::CHUNK, generation::Outdated};
use crate::{
    connection::read, document::CollectionId, error::DbError, integers::unsigned,
    query::declaration_text, store::Store, usage::scope,
};
use portolan_vocabulary as vocabulary;

/// The row of a serving collection: id, version, shape, documents.
type Serving = (i64, i64, String, i64);

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
                        "SELECT c.id, CAST(c.version AS BIGINT), c.shape, CAST(coalesce(
                             (SELECT sum(u.documents) FROM collection_usage u WHERE u.collection = c.id), 0
                         ) AS BIGINT)
                         FROM collections c WHERE c.capability = $1 AND c.name = $2",
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
}
