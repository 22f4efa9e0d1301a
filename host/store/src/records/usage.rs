//! How much the documents and timers of every capability take of its quotas, for the operator.

use crate::{
    connection::read,
    error::DbError,
    integers::unsigned,
    store::Store,
    usage::{Usage, capability_of},
};
use serde::Serialize;

/// How much of a quota one mode of a capability uses.
#[derive(Debug, Clone, Serialize)]
pub struct QuotaUse {
    pub capability: String,
    pub test_mode: bool,
    pub quota: &'static str,
    pub used: u64,
    pub limit: u64,
}

impl Store {
    /// Returns how much each capability uses of each quota that limits what is stored, ordered by id, live
    /// mode first. Quotas of which nothing is used, and the host's own records, are left out.
    pub async fn quota_uses(&self) -> Result<Vec<QuotaUse>, DbError> {
        let rows: Vec<(String, i64, i64, i64, i64)> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT capability, CAST(sum(documents) AS BIGINT), CAST(sum(tombstones) AS BIGINT),
                 CAST(sum(bytes) AS BIGINT), CAST(sum(timers) AS BIGINT)
                 FROM (
                     SELECT c.capability, u.documents, u.tombstones, u.bytes, 0 AS timers
                     FROM collections c JOIN collection_usage u ON u.collection = c.id
                     WHERE c.state = 'serving'
                     UNION ALL SELECT capability, 0, 0, bytes, timers FROM timer_usage
                 ) AS parts
                 WHERE capability NOT LIKE ':%' GROUP BY capability ORDER BY capability",
            )
            .fetch_all(pool)
            .await?
        });
        let mut uses = Vec::new();
        for (scope, documents, tombstones, bytes, timers) in rows {
            let usage = Usage { documents, tombstones, bytes, timers };
            let capability = capability_of(&scope);
            for quota in Usage::QUOTAS {
                let limit = self.quotas().limit(capability, quota);
                let (Some(limit), used @ 1..) = (limit, unsigned(usage.of(quota))) else {
                    continue;
                };
                uses.push(QuotaUse {
                    capability: capability.to_owned(),
                    test_mode: capability != scope,
                    quota: quota.name(),
                    used,
                    limit,
                });
            }
        }
        Ok(uses)
    }
}
