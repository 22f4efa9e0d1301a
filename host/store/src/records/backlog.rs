//! Counts of due work, for the operator.

use crate::{
    connection::read,
    error::DbError,
    integers::{instant, signed, unsigned},
    store::Store,
};
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
    /// Since when the oldest due timer, delivery to a capability and delivery to a webhook are due.
    pub timers_since: Option<Timestamp>,
    pub deliveries_since: Option<Timestamp>,
    pub webhooks_since: Option<Timestamp>,
}

/// The columns of the query: four counts, and the due times of the oldest.
type Row = (i64, i64, i64, i64, Option<i64>, Option<i64>, Option<i64>);

impl Store {
    /// Returns the backlog of all nodes together.
    pub async fn backlog(&self, now: Timestamp) -> Result<Backlog, DbError> {
        let (alive, dead) =
            (self.inner.backend.live_condition(), self.inner.backend.dead_condition());
        let sql = format!(
            "SELECT (SELECT count(*) FROM timers WHERE due_at <= $1),
             (SELECT count(*) FROM deliveries WHERE {alive} AND due_at <= $1),
             (SELECT count(*) FROM webhook_deliveries WHERE outcome = 'pending' AND due_at <= $1),
             (SELECT count(*) FROM deliveries WHERE {dead}),
             (SELECT min(due_at) FROM timers WHERE due_at <= $1),
             (SELECT min(due_at) FROM deliveries WHERE {alive} AND due_at <= $1),
             (SELECT min(due_at) FROM webhook_deliveries WHERE outcome = 'pending' AND due_at <= $1)"
        );
        let (timers, deliveries, webhooks, letters, since_timer, since_delivery, since_webhook): Row =
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
            timers_since: since_timer.map(instant),
            deliveries_since: since_delivery.map(instant),
            webhooks_since: since_webhook.map(instant),
        })
    }
}
