//! Counts of due work, for the operator.

use crate::{connection::read, error::DbError, integers::signed, integers::unsigned, store::Store};
use portolan_vocabulary::Timestamp;
use sqlx::AssertSqlSafe;

/// The numbers of waiting timers and deliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backlog {
    /// Timers that are due.
    pub timers: u64,
    /// Events on their way to capabilities.
    pub deliveries: u64,
    /// Events on their way to webhooks.
    pub webhooks: u64,
    /// Dead letters.
    pub dead_letters: u64,
}

impl Store {
    /// Counts the due work of all nodes.
    pub async fn backlog(&self, now: Timestamp) -> Result<Backlog, DbError> {
        let (alive, dead) = (self.inner.backend.alive(), self.inner.backend.dead());
        let sql = format!(
            "SELECT (SELECT count(*) FROM timers WHERE due_at <= $1),
             (SELECT count(*) FROM deliveries WHERE {alive} AND due_at <= $1),
             (SELECT count(*) FROM webhook_deliveries WHERE outcome = 'pending' AND due_at <= $1),
             (SELECT count(*) FROM deliveries WHERE {dead})"
        );
        let (timers, deliveries, webhooks, letters): (i64, i64, i64, i64) =
            read!(self.inner.backend, |pool| {
                sqlx::query_as(AssertSqlSafe(sql))
                    .bind(signed(now.as_millis()))
                    .fetch_one(pool)
                    .await?
            });
        Ok(Backlog {
            timers: unsigned(timers),
            deliveries: unsigned(deliveries),
            webhooks: unsigned(webhooks),
            dead_letters: unsigned(letters),
        })
    }
}
