//! What the documents and timers of every capability take, for the operator.

use crate::{
    connection::read,
    error::DbError,
    store::Store,
    usage::{Usage, capability_of},
};

/// What one mode of a capability takes.
#[derive(Debug, Clone)]
pub struct CapabilityUsage {
    pub capability: String,
    pub test_mode: bool,
    pub usage: Usage,
}

impl Store {
    /// Returns what each capability takes, ordered by id, live mode first. The host's own records are left
    /// out.
    pub async fn usage(&self) -> Result<Vec<CapabilityUsage>, DbError> {
        let rows: Vec<(String, i64, i64, i64, i64)> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT capability, documents, tombstones, bytes, timers FROM usage
                 WHERE capability NOT LIKE ':%' ORDER BY capability",
            )
            .fetch_all(pool)
            .await?
        });
        let usage =
            |(scope, documents, tombstones, bytes, timers): (String, i64, i64, i64, i64)| {
                let capability = capability_of(&scope);
                CapabilityUsage {
                    test_mode: capability != scope,
                    capability: capability.to_owned(),
                    usage: Usage { documents, tombstones, bytes, timers },
                }
            };
        Ok(rows.into_iter().map(usage).collect())
    }
}
