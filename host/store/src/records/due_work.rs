//! Due work: timers, and deliveries of events to subscribed capabilities.
//!
//! A node that takes work delays its due time by a lease, and deletes the work in the transaction of the
//! call's writes. The leases of a node that dies expire, and another node takes the work.

use crate::{
    connection::{Backend, read, transact},
    effects::{Task, TimerKey},
    error::DbError,
    integers::{signed, unsigned},
    store::Store,
    texts::storable,
};
use portolan_vocabulary::Timestamp;
use sqlx::AssertSqlSafe;
use std::collections::BTreeSet;

/// The lease of taken work; it is far longer than a call.
const LEASE_MS: u64 = 30_000;
/// A delivery that has failed this often becomes a dead letter.
pub const MAX_ATTEMPTS: u32 = 8;

/// An internal action to be run.
#[derive(Debug, Clone)]
pub struct DueWork {
    pub task: Task,
    pub capability: String,
    pub action: String,
    /// JSON.
    pub input: String,
    pub test_mode: bool,
    pub attempts: u32,
    /// The event's place in a trace, if the work is its delivery.
    pub trace: Option<String>,
}

impl Store {
    /// Returns the time when the next work is due.
    pub async fn next_due(&self) -> Result<Option<Timestamp>, DbError> {
        let alive = self.inner.backend.live_condition();
        let sql = format!(
            "SELECT MIN(due_at) FROM (SELECT MIN(due_at) AS due_at FROM timers
             UNION ALL SELECT MIN(due_at) AS due_at FROM deliveries WHERE {alive}) AS due"
        );
        let due: Option<i64> =
            read!(self.inner.backend, |pool| sqlx::query_scalar(AssertSqlSafe(sql))
                .fetch_one(pool)
                .await?);
        Ok(due.map(|due| Timestamp::from_millis(unsigned(due))))
    }

    /// Returns the number of the newest event, 0 before the first.
    pub async fn last_event(&self) -> Result<i64, DbError> {
        let sql = "SELECT MAX(seq) FROM events";
        let last: Option<i64> =
            read!(self.inner.backend, |pool| sqlx::query_scalar(sql).fetch_one(pool).await?);
        Ok(last.unwrap_or(0))
    }

    /// Returns whether a delivery of an event up to this one has not failed or ended yet.
    pub async fn has_new_deliveries(&self, last_event: i64) -> Result<bool, DbError> {
        let alive = self.inner.backend.live_condition();
        let sql = format!(
            "SELECT COUNT(*) FROM (SELECT 1 AS one FROM deliveries
             WHERE {alive} AND attempts = 0 AND event_seq <= $1 LIMIT 1) AS found"
        );
        let found: i64 = read!(self.inner.backend, |pool| sqlx::query_scalar(AssertSqlSafe(sql))
            .bind(last_event)
            .fetch_one(pool)
            .await?);
        Ok(found > 0)
    }

    /// Returns the capabilities that have due work, ordered by id. The query skips from one capability to the
    /// next in an index, so its cost does not depend on the amount of work.
    pub async fn due_capabilities(&self, now: Timestamp) -> Result<BTreeSet<String>, DbError> {
        let alive = self.inner.backend.live_condition();
        let due = |table: &str, only: &str| {
            format!(
                "WITH RECURSIVE names(capability) AS (
                  SELECT MIN(capability) FROM {table} WHERE {only}
                  UNION ALL
                  SELECT (SELECT MIN(later.capability) FROM {table} later
                          WHERE later.capability > names.capability AND {only})
                  FROM names WHERE names.capability IS NOT NULL)
                 SELECT names.capability FROM names WHERE EXISTS
                  (SELECT 1 FROM {table} one
                   WHERE one.capability = names.capability AND one.due_at <= $1 AND {only})"
            )
        };
        let (timers, deliveries) = (due("timers", "1 = 1"), due("deliveries", alive));
        let names: (Vec<String>, Vec<String>) = read!(self.inner.backend, |pool| {
            let timers = sqlx::query_scalar(AssertSqlSafe(timers))
                .bind(signed(now.as_millis()))
                .fetch_all(pool)
                .await?;
            let deliveries = sqlx::query_scalar(AssertSqlSafe(deliveries))
                .bind(signed(now.as_millis()))
                .fetch_all(pool)
                .await?;
            (timers, deliveries)
        });
        Ok(names.0.into_iter().chain(names.1).collect())
    }

    /// Takes at most this many due timers of a capability, the oldest first.
    pub async fn lease_timers(
        &self,
        now: Timestamp,
        capability: &str,
        most: usize,
    ) -> Result<Vec<DueWork>, DbError> {
        type Row = (String, String, i64, String, String, String, i64);
        let skip = self.inner.backend.skip_locked();
        let sql = format!(
            "UPDATE timers SET due_at = $1 WHERE capability = $3 AND (name, test_mode) IN
             (SELECT name, test_mode FROM timers
              WHERE due_at <= $2 AND capability = $3 ORDER BY due_at LIMIT $4 {skip})
             RETURNING capability, name, test_mode, setting, action, input, attempts"
        );
        let rows: Vec<Row> = transact!(self.inner.backend, |transaction| {
            sqlx::query_as(AssertSqlSafe(sql))
                .bind(signed(now.as_millis() + LEASE_MS))
                .bind(signed(now.as_millis()))
                .bind(capability)
                .bind(i64::try_from(most).unwrap_or(i64::MAX))
                .fetch_all(&mut *transaction)
                .await?
        });
        let work = |(capability, name, mode, setting, action, input, attempts): Row| {
            let test_mode = mode != 0;
            let key = TimerKey { capability: capability.clone(), name, test_mode };
            DueWork {
                task: Task::Timer { key, setting },
                capability,
                action,
                input,
                test_mode,
                attempts: u32::try_from(attempts).unwrap_or(0),
                trace: None,
            }
        };
        Ok(rows.into_iter().map(work).collect())
    }

    /// Takes at most this many due deliveries to a capability that are the first of their lane.
    pub async fn lease_deliveries(
        &self,
        now: Timestamp,
        capability: &str,
        most: usize,
    ) -> Result<Vec<DueWork>, DbError> {
        let (alive, skip) = (self.inner.backend.live_condition(), self.inner.backend.skip_locked());
        let sql = format!(
            "UPDATE deliveries SET due_at = $1 WHERE id IN
             (SELECT d.id FROM deliveries d
              WHERE d.{alive} AND d.capability = $3 AND d.due_at <= $2 AND NOT EXISTS
              (SELECT 1 FROM deliveries p WHERE p.lane = d.lane AND p.{alive} AND p.id < d.id)
              ORDER BY d.due_at LIMIT $4 {skip})
             RETURNING id, capability, action, attempts, event_seq"
        );
        let taken: Vec<(i64, String, String, i64, i64)> =
            transact!(self.inner.backend, |transaction| {
                sqlx::query_as(AssertSqlSafe(sql))
                    .bind(signed(now.as_millis() + LEASE_MS))
                    .bind(signed(now.as_millis()))
                    .bind(capability)
                    .bind(i64::try_from(most).unwrap_or(i64::MAX))
                    .fetch_all(&mut *transaction)
                    .await?
            });
        let mut work = Vec::with_capacity(taken.len());
        for (id, capability, action, attempts, seq) in taken {
            let event: (String, String, String, String, i64, Option<String>) = read!(
                self.inner.backend,
                |pool| {
                    sqlx::query_as(
                    "SELECT id, event_type, subject, data, test_mode, trace FROM events WHERE seq = $1",
                )
                .bind(seq)
                .fetch_one(pool)
                .await?
                }
            );
            let (event_id, event_type, subject, data, mode, trace) = event;
            let data: serde_json::Value = serde_json::from_str(&data).unwrap_or_default();
            let input = serde_json::json!({
                "id": event_id, "event_type": event_type, "subject": subject, "data": data,
            });
            work.push(DueWork {
                task: Task::Delivery { id },
                capability,
                action,
                input: input.to_string(),
                test_mode: mode != 0,
                attempts: u32::try_from(attempts).unwrap_or(0),
                trace,
            });
        }
        Ok(work)
    }

    /// Ends the leases that a stopped host has left on SQLite, where no other host runs. Failed work keeps
    /// its backoff. Does nothing on PostgreSQL, where other nodes may have leases.
    pub(crate) async fn release_leases(&self) -> Result<(), DbError> {
        let Backend::Sqlite(_) = &*self.inner.backend else { return Ok(()) };
        for sql in [
            "UPDATE timers SET due_at = at WHERE attempts = 0 AND due_at > at",
            "UPDATE deliveries SET due_at = 0 WHERE attempts = 0 AND dead = 0",
            "UPDATE webhooks SET leased_until = 0 WHERE leased_until > 0",
        ] {
            transact!(self.inner.backend, |transaction| {
                sqlx::query(sql).execute(&mut *transaction).await?;
            });
        }
        Ok(())
    }

    /// Reschedules work to `until` after a failure. A delivery that has failed `MAX_ATTEMPTS` times becomes a
    /// dead letter.
    pub async fn reschedule(
        &self,
        work: &DueWork,
        until: Timestamp,
        error: &str,
    ) -> Result<(), DbError> {
        let attempts = i64::from(work.attempts + 1);
        let (until, error) = (signed(until.as_millis()), storable(error));
        transact!(self.inner.backend, |transaction| {
            match &work.task {
                Task::Timer { key, setting } => {
                    sqlx::query(
                        "UPDATE timers SET due_at = $1, attempts = $2, last_error = $3
                         WHERE capability = $4 AND name = $5 AND setting = $6",
                    )
                    .bind(until)
                    .bind(attempts)
                    .bind(error.as_str())
                    .bind(&key.capability)
                    .bind(&key.name)
                    .bind(setting)
                    .execute(&mut *transaction)
                    .await?;
                }
                Task::Delivery { id } => {
                    sqlx::query(
                        "UPDATE deliveries SET due_at = $1, attempts = $2, last_error = $3, dead = $4 WHERE id = $5",
                    )
                    .bind(until)
                    .bind(attempts)
                    .bind(error.as_str())
                    .bind(attempts >= i64::from(MAX_ATTEMPTS))
                    .bind(id)
                    .execute(&mut *transaction)
                    .await?;
                }
            }
        });
        Ok(())
    }
}
