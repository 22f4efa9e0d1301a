//! Dead letters: deliveries of events that failed too often. The operator may make them due again, or remove them.

use crate::{
    connection::read, connection::transact, error::DbError, integers::signed, integers::unsigned,
    store::Store,
};
use portolan_vocabulary::Timestamp;
use serde::Serialize;
use serde_json::Value;
use sqlx::AssertSqlSafe;
use std::collections::BTreeSet;

/// A delivery that failed too often.
#[derive(Debug, Serialize)]
pub struct DeadLetter {
    pub id: i64,
    /// The capability and the internal action that failed.
    pub capability: String,
    pub action: String,
    pub attempts: u64,
    /// Why the last attempt failed.
    pub last_error: String,
    pub event_id: String,
    pub event_type: String,
    pub subject: String,
    pub occurred_at: Timestamp,
    pub data: Value,
}

/// What became of dead letters that were to be removed.
#[derive(Debug, PartialEq, Eq)]
pub struct DroppedLetters {
    /// The number of dead letters that were removed.
    pub dropped: u64,
    /// The numbers that no dead letter has, in ascending order.
    pub missing: Vec<i64>,
}

type Row = (i64, String, String, i64, Option<String>, String, String, String, i64, String);

impl Store {
    /// Returns dead letters with an id above `after`, the oldest first.
    pub async fn dead_letters(&self, after: i64, limit: u32) -> Result<Vec<DeadLetter>, DbError> {
        let dead = self.inner.backend.dead_condition();
        let sql = format!(
            "SELECT d.id, d.capability, d.action, d.attempts, d.last_error,
             e.id, e.event_type, e.subject, e.occurred_at, e.data
             FROM deliveries d JOIN events e ON e.seq = d.event_seq
             WHERE d.{dead} AND d.id > $1 ORDER BY d.id LIMIT $2"
        );
        let rows: Vec<Row> = read!(self.inner.backend, |pool| {
            sqlx::query_as(AssertSqlSafe(sql))
                .bind(after)
                .bind(i64::from(limit))
                .fetch_all(pool)
                .await?
        });
        Ok(rows.into_iter().map(letter).collect())
    }

    /// Makes these dead letters due again, or all if `ids` is `None`. Returns their number.
    pub async fn replay(&self, ids: Option<&[i64]>, now: Timestamp) -> Result<u64, DbError> {
        let dead = self.inner.backend.dead_condition();
        let again = format!(
            "UPDATE deliveries SET dead = {}, attempts = 0, due_at = $1 WHERE {dead}",
            self.inner.backend.false_literal()
        );
        let all = [None];
        let some: Vec<Option<i64>> = ids.unwrap_or_default().iter().copied().map(Some).collect();
        let wanted = if ids.is_some() { some.as_slice() } else { all.as_slice() };
        let count = transact!(self.inner.backend, |transaction| {
            let mut count = 0;
            for id in wanted {
                let sql = format!("{again} AND id = coalesce($2, id)");
                let done = sqlx::query(AssertSqlSafe(sql))
                    .bind(signed(now.as_millis()))
                    .bind(id)
                    .execute(&mut *transaction)
                    .await?;
                count += done.rows_affected();
            }
            count
        });
        self.inner.signals.work.notify_one();
        Ok(count)
    }

    /// Removes these dead letters, or all if `ids` is `None`. Their events stay in logs and inboxes.
    pub async fn drop_dead_letters(&self, ids: Option<&[i64]>) -> Result<DroppedLetters, DbError> {
        let remove =
            format!("DELETE FROM deliveries WHERE {}", self.inner.backend.dead_condition());
        let Some(ids) = ids else {
            let dropped = transact!(self.inner.backend, |transaction| {
                let done = sqlx::query(AssertSqlSafe(remove)).execute(&mut *transaction).await?;
                done.rows_affected()
            });
            return Ok(DroppedLetters { dropped, missing: Vec::new() });
        };
        let wanted: BTreeSet<i64> = ids.iter().copied().collect();
        let (dropped, missing) = transact!(self.inner.backend, |transaction| {
            let (mut dropped, mut missing) = (0, Vec::new());
            for id in &wanted {
                let sql = format!("{remove} AND id = $1");
                let done =
                    sqlx::query(AssertSqlSafe(sql)).bind(*id).execute(&mut *transaction).await?;
                match done.rows_affected() {
                    0 => missing.push(*id),
                    rows => dropped += rows,
                }
            }
            (dropped, missing)
        });
        Ok(DroppedLetters { dropped, missing })
    }
}

fn letter(row: Row) -> DeadLetter {
    let (id, capability, action, attempts, error, event_id, event_type, subject, occurred_at, data) =
        row;
    DeadLetter {
        id,
        capability,
        action,
        attempts: unsigned(attempts),
        last_error: error.unwrap_or_default(),
        event_id,
        event_type,
        subject,
        occurred_at: Timestamp::from_millis(unsigned(occurred_at)),
        data: serde_json::from_str(&data).unwrap_or_default(),
    }
}
