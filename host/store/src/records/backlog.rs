//! What is due and not done yet, counted for the operator.

use crate::{connection::read, error::DbError, integers::signed, integers::unsigned, store::Store};
use portolan_vocabulary::Timestamp;
use sqlx::AssertSqlSafe;

/// How much waits at this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backlog {
    /// Timers whose time has come.
    pub timers: u64,
    /// Events on their way to capabilities.
    pub deliveries: u64,
    /// Events on their way to webhooks.
    pub webhooks: u64,
    /// Deliveries that were given up.
    pub dead_letters: u64,
}

impl Store {
    /// Counts in the whole database, whichever node will do the work.
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
