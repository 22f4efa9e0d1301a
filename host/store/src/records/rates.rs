//! The callers' use of their rates, as nodes tell each other.

use crate::{
    connection::{read, transact},
    error::DbError,
    integers::{signed, unsigned},
    store::Store,
};
use portolan_vocabulary::Timestamp;

/// The maximum number of counts that are read at a start.
const MAX_COUNTS: i64 = 100_000;

impl Store {
    /// Returns the buckets that are not full: the key of each, and when it is full, in microseconds since
    /// the Unix epoch.
    pub async fn shared_rates(&self, now: Timestamp) -> Result<Vec<(String, u64)>, DbError> {
        let rows: Vec<(String, i64)> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT account, full_at FROM rates WHERE full_at > $1
                 ORDER BY full_at DESC LIMIT $2",
            )
            .bind(micros(now))
            .bind(MAX_COUNTS)
            .fetch_all(pool)
            .await?
        });
        Ok(rows.into_iter().map(|(account, full_at)| (account, unsigned(full_at))).collect())
    }

    /// Adds what this node has taken out of buckets: the key of each, and the time in microseconds in which
    /// that refills. Returns the key of each, and when it is full by what all nodes have taken.
    pub async fn share_rates(
        &self,
        shares: &[(&str, u64)],
        now: Timestamp,
    ) -> Result<Vec<(String, u64)>, DbError> {
        if shares.is_empty() {
            return Ok(Vec::new());
        }
        Ok(transact!(self.inner.backend, |transaction| {
            let mut sums = Vec::with_capacity(shares.len());
            for (account, taken) in shares {
                let full_at: i64 = sqlx::query_scalar(
                    "INSERT INTO rates (account, full_at) VALUES ($1, $2 + $3)
                     ON CONFLICT (account) DO UPDATE SET full_at =
                       CASE WHEN rates.full_at > $2 THEN rates.full_at ELSE $2 END + $3
                     RETURNING full_at",
                )
                .bind(*account)
                .bind(micros(now))
                .bind(signed(*taken))
                .fetch_one(&mut *transaction)
                .await?;
                sums.push(((*account).to_owned(), unsigned(full_at)));
            }
            sums
        }))
    }
}

/// Returns a time in microseconds since the Unix epoch.
pub(super) fn micros(at: Timestamp) -> i64 {
    signed(at.as_millis()).saturating_mul(1000)
}
