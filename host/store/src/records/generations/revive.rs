//! The retired generation before the serving one, which can serve again.

use super::generation::{Generation, Outdated};
use crate::{
    connection::read, document::CollectionId, error::DbError, integers::unsigned,
    query::declaration_text, store::Store,
};
use sqlx::AssertSqlSafe;

impl Store {
    /// Returns the retired generation that the serving one has replaced. The inner error is the number of
    /// documents that were written since and that it lacks. Returns `None` if there is no such generation, or
    /// if its declaration is another one.
    pub async fn find_revivable(
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
}

/// Returns the SQL to count the documents of the serving generation that were written since it replaced the
/// retired one. It compares revisions and not times, because a call that began before the replacement may
/// commit after it. A document without a body whose revision the retired generation has with a body was not
/// written but quarantined.
pub(super) fn written_since(serving: CollectionId, retired: CollectionId) -> String {
    format!(
        "documents d LEFT JOIN documents r ON r.collection = {} AND r.id = d.id
         AND r.revision = d.revision AND (d.body IS NULL OR r.body IS NOT NULL)
         WHERE d.collection = {} AND r.id IS NULL",
        retired.0, serving.0
    )
}
