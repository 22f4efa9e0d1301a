//! Pending timers, for the operator.

use crate::{
    connection::{read, transact_alone},
    error::DbError,
    integers::{signed, unsigned},
    store::Store,
};
use portolan_vocabulary::Timestamp;
use serde::Serialize;

/// The pending timers of one action.
#[derive(Debug, Clone, Serialize)]
pub struct PendingTimers {
    pub capability: String,
    pub action: String,
    pub pending: u64,
    /// The number of pending timers that are due.
    pub due: u64,
    /// When the first pending timer is due.
    pub next_due_at: Timestamp,
}

impl Store {
    /// Counts the pending timers by capability and action.
    pub async fn pending_timers(&self, now: Timestamp) -> Result<Vec<PendingTimers>, DbError> {
        let rows: Vec<(String, String, i64, i64, i64)> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT capability, action, count(*),
                  count(CASE WHEN due_at <= $1 THEN 1 END), min(due_at)
                 FROM timers GROUP BY capability, action ORDER BY capability, action",
            )
            .bind(signed(now.as_millis()))
            .fetch_all(pool)
            .await?
        });
        let pending =
            |(capability, action, pending, due, next): (String, String, i64, i64, i64)| {
                PendingTimers {
                    capability,
                    action,
                    pending: unsigned(pending),
                    due: unsigned(due),
                    next_due_at: Timestamp::from_millis(unsigned(next)),
                }
            };
        Ok(rows.into_iter().map(pending).collect())
    }

    /// Removes every pending timer of a capability in both modes, and returns their number.
    pub async fn drop_timers(&self, capability: &str) -> Result<u64, DbError> {
        Ok(transact_alone!(self.inner.backend, |transaction| {
            sqlx::query("DELETE FROM timers WHERE capability = $1")
                .bind(capability)
                .execute(&mut *transaction)
                .await?
                .rows_affected()
        }))
    }
}
