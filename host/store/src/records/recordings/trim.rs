//! Removes recordings that are too old, the oldest if there are too many or they take too much, and those of people who
//! were erased by a node that knows nothing of recordings; then the keys that no recording needs.

use super::seal::DAY;
use crate::{
    connection::{read, transact_recordings},
    error::DbError,
    integers::{signed, unsigned},
    store::Store,
};
use portolan_vocabulary::{Digest, Timestamp};
use serde::Serialize;

/// Statements that remove the recordings that name a person or agent, with `$1` for the id, and the rows that belong to
/// them.
const OF_PERSON: [&str; 3] = [
    "DELETE FROM recordings WHERE request_id IN
     (SELECT request_id FROM recording_people WHERE person = $1)",
    "DELETE FROM recording_people WHERE person = $1 OR NOT EXISTS
     (SELECT 1 FROM recordings r WHERE r.request_id = recording_people.request_id)",
    "DELETE FROM recording_keys WHERE name = $1",
];

/// Statements that remove keys that no recording needs, with `$1` for a pattern of the names of keys of days. Any other
/// key is that of somebody whom a recording names.
const UNUSED_KEYS: [&str; 2] = [
    "DELETE FROM recording_keys WHERE name LIKE $1 AND NOT EXISTS
     (SELECT 1 FROM recordings r WHERE r.key_names = recording_keys.name)",
    "DELETE FROM recording_keys WHERE name NOT LIKE $1 AND NOT EXISTS
     (SELECT 1 FROM recording_people p WHERE p.person = recording_keys.name)",
];

/// How many recordings there are, and how much they take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RecordingUse {
    pub calls: u64,
    pub bytes: u64,
}

impl Store {
    /// Returns how many recordings there are.
    pub async fn recording_use(&self) -> Result<RecordingUse, DbError> {
        let (calls, bytes): (i64, i64) = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT CAST(count(*) AS BIGINT), CAST(coalesce(sum(bytes), 0) AS BIGINT)
                 FROM recordings",
            )
            .fetch_one(pool)
            .await?
        });
        Ok(RecordingUse { calls: unsigned(calls), bytes: unsigned(bytes) })
    }

    /// Removes recordings from before this time, the oldest ones beyond `most`, and those that name people on the list
    /// of erasures; and the keys that no recording needs.
    pub async fn trim_recordings(
        &self,
        before: Timestamp,
        most: RecordingUse,
    ) -> Result<(), DbError> {
        let before = signed(before.as_millis());
        self.remove_recordings(before, "").await?;
        let used = self.recording_use().await?;
        if used.calls > most.calls || used.bytes > most.bytes {
            let (mut calls, mut bytes) = (used.calls, used.bytes);
            let oldest: Vec<(i64, String, i64)> = read!(self.inner.backend, |pool| {
                sqlx::query_as(
                    "SELECT at, request_id, bytes FROM recordings ORDER BY at, request_id",
                )
                .fetch_all(pool)
                .await?
            });
            let excess = oldest.into_iter().take_while(|(_, _, size)| {
                let is_excess = calls > most.calls || bytes > most.bytes;
                (calls, bytes) = (calls.saturating_sub(1), bytes.saturating_sub(unsigned(*size)));
                is_excess
            });
            if let Some((at, request_id, _)) = excess.last() {
                self.remove_recordings(at, &request_id).await?;
            }
        }
        self.remove_recordings_of_erased().await?;
        self.remove_unused_recording_keys().await
    }

    /// Removes the recordings of people on the list of erasures, and their keys. A node of an earlier version, or a
    /// list of erasures that is merged, erases without knowing of recordings.
    async fn remove_recordings_of_erased(&self) -> Result<(), DbError> {
        let people: Vec<String> = read!(self.inner.backend, |pool| {
            sqlx::query_scalar("SELECT DISTINCT person FROM recording_people")
                .fetch_all(pool)
                .await?
        });
        if people.is_empty() {
            return Ok(());
        }
        let erased = self.recorded_erasures().await?;
        let is_erased = |person: &&String| erased.contains(&Digest::of(person.as_bytes()).hex());
        for person in people.iter().filter(is_erased) {
            transact_recordings!(self.inner.backend, |transaction| {
                for sql in OF_PERSON {
                    sqlx::query(sql).bind(person.as_str()).execute(&mut *transaction).await?;
                }
            });
        }
        Ok(())
    }

    async fn remove_unused_recording_keys(&self) -> Result<(), DbError> {
        transact_recordings!(self.inner.backend, |transaction| {
            for sql in UNUSED_KEYS {
                sqlx::query(sql).bind(format!("{DAY}%")).execute(&mut *transaction).await?;
            }
        });
        Ok(())
    }

    /// Removes the recordings before this time, and those of this time up to a request.
    async fn remove_recordings(&self, at: i64, request_id: &str) -> Result<(), DbError> {
        transact_recordings!(self.inner.backend, |transaction| {
            let removed = sqlx::query(
                "DELETE FROM recordings WHERE at < $1 OR (at = $1 AND request_id <= $2)",
            )
            .bind(at)
            .bind(request_id)
            .execute(&mut *transaction)
            .await?
            .rows_affected();
            if removed > 0 {
                sqlx::query(
                    "DELETE FROM recording_people WHERE NOT EXISTS (SELECT 1 FROM recordings r
                     WHERE r.request_id = recording_people.request_id)",
                )
                .execute(&mut *transaction)
                .await?;
            }
        });
        Ok(())
    }
}
