//! The sweep: deletes records whose retention has ended.

use super::rates::micros;
use crate::{
    connection::{read, transact, transact_alone},
    error::DbError,
    integers::{signed, unsigned},
    store::Store,
};
use portolan_vocabulary::Timestamp;
use sqlx::AssertSqlSafe;

pub(crate) const DAY_MS: u64 = 24 * 3600 * 1000;
/// The retention of tombstones. While the tombstone of a document exists, a document that is created again
/// under its id continues its revisions.
const TOMBSTONE_DAYS: u64 = 30;

/// The maximum number of rows deleted in one transaction, because calls wait meanwhile.
const CHUNK: u64 = 1_000;

impl Store {
    /// Deletes expired answers and counters; rates of which everything is left; deliveries to webhooks and
    /// entries of inboxes and held events older than `event_days`, and
    /// events of this age that have no delivery to a capability left; audit rows older than `audit_days`; old
    /// tombstones; and replaced generations of collections.
    pub async fn sweep(
        &self,
        now: Timestamp,
        event_days: u64,
        audit_days: u64,
    ) -> Result<(), DbError> {
        let before = |days: u64| signed(now.as_millis().saturating_sub(days * DAY_MS));
        // Each removal has a table, its key, a condition, and the time in it. The rows of these are counted.
        let counted = [
            (
                "documents",
                "collection, id",
                "body IS NULL AND updated_at <= $1",
                before(TOMBSTONE_DAYS),
            ),
            (
                "held_events",
                "owner_id, event_seq",
                "event_seq IN (SELECT seq FROM events WHERE occurred_at <= $1)",
                before(event_days),
            ),
        ];
        for (table, key, old, before) in counted {
            let sql = delete_statement(table, key, old);
            loop {
                let removed = transact_alone!(self.inner.backend, |transaction| {
                    let query = sqlx::query(AssertSqlSafe(sql.as_str())).bind(before);
                    query.execute(&mut *transaction).await?.rows_affected()
                });
                if removed < CHUNK {
                    break;
                }
            }
        }
        let removals = [
            ("idempotency", "agent_id, capability, action, key", "expires_at <= $1", before(0)),
            ("webhook_deliveries", "seq", "created_at <= $1", before(event_days)),
            (
                "inbox",
                "agent_id, seq",
                "event_seq IN (SELECT seq FROM events WHERE occurred_at <= $1)",
                before(event_days),
            ),
            (
                "events",
                "seq",
                "occurred_at <= $1
                 AND NOT EXISTS (SELECT 1 FROM deliveries WHERE deliveries.event_seq = events.seq)
                 AND NOT EXISTS (SELECT 1 FROM inbox WHERE inbox.event_seq = events.seq)
                 AND NOT EXISTS (SELECT 1 FROM held_events WHERE held_events.event_seq = events.seq)",
                before(event_days),
            ),
            ("audit", "seq", "at <= $1", before(audit_days)),
            ("rates", "account", "full_at <= $1", micros(now)),
            // The last checkpoint of each node stays: the next one follows it.
            (
                "audit_checkpoints",
                "node, number",
                "at <= $1 AND number < (SELECT max(number) FROM audit_checkpoints last
                                        WHERE last.node = audit_checkpoints.node)",
                before(audit_days),
            ),
            ("counters", "name", "expires_at <= $1", before(0)),
        ];
        if self.has_audit_rows_until(before(audit_days)).await? {
            // The next checkpoint marks the rows that are deleted now as expired.
            let expired = Timestamp::from_millis(unsigned(before(audit_days)));
            self.seal_audit_log(Some(expired)).await?;
        }
        for (table, key, old, before) in removals {
            let sql = delete_statement(table, key, old);
            loop {
                let removed = transact!(self.inner.backend, |transaction| {
                    let query = sqlx::query(AssertSqlSafe(sql.as_str())).bind(before);
                    query.execute(&mut *transaction).await?.rows_affected()
                });
                if removed < CHUNK {
                    break;
                }
            }
        }
        self.sweep_generations(now).await
    }

    async fn has_audit_rows_until(&self, before: i64) -> Result<bool, DbError> {
        let oldest: Option<i64> = read!(self.inner.backend, |pool| {
            sqlx::query_scalar("SELECT at FROM audit WHERE at <= $1 ORDER BY at LIMIT 1")
                .bind(before)
                .fetch_optional(pool)
                .await?
        });
        Ok(oldest.is_some())
    }
}

/// Returns the statement that removes some of a table's rows under a condition.
fn delete_statement(table: &str, key: &str, old: &str) -> String {
    format!(
        "DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {table} WHERE {old} LIMIT {CHUNK})"
    )
}
