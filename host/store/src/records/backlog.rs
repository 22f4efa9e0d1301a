//! Counts of due work, for the operator.

use crate::{connection::read, error::DbError, integers::signed, integers::unsigned, store::Store};
use portolan_vocabulary::Timestamp;
use sqlx::AssertSqlSafe;

/// The numbers of timers and deliveries that are due, and of dead letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backlog {
    /// The number of due timers.
    pub timers: u64,
    /// The number of due deliveries to capabilities.
    pub deliveries: u64,
    /// The number of due deliveries to webhooks.
    pub webhooks: u64,
    /// The number of dead letters.
    pub dead_letters: u64,
}

impl Store {
    /// Returns the backlog of all nodes together.
    pub async fn backlog(&self, now: Timestamp) -> Result<Backlog, DbError> {
        let (alive, dead) =
            (self.inner.backend.live_condition(), self.inner.backend.dead_condition());
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
