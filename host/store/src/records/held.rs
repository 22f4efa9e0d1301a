//! The events that are held by people's delivery rules.

use crate::{
    connection::read,
    error::DbError,
    integers::{signed, unsigned},
    store::Store,
    texts::is_storable,
};
use portolan_vocabulary::{EventParts, Timestamp};

/// The maximum number of events that one digest summarizes.
const SUMMARIZED: i64 = 1_000;

/// A held event that a digest summarizes.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct HeldEvent {
    event_seq: i64,
    pub event_type: String,
    pub subject: String,
    data: String,
}

impl HeldEvent {
    pub fn sequence(&self) -> u64 {
        unsigned(self.event_seq)
    }

    /// Returns the parts of the event that delivery rules are about.
    pub fn parts(&self) -> EventParts<'_> {
        EventParts { event_type: &self.event_type, subject: &self.subject, data: &self.data }
    }
}

impl Store {
    /// Returns the number of events that are held for a person.
    pub async fn held_count(&self, owner_id: &str) -> Result<u64, DbError> {
        if !is_storable(owner_id) {
            return Ok(0);
        }
        let count: i64 = read!(self.inner.backend, |pool| {
            sqlx::query_scalar(
                "SELECT coalesce((SELECT events FROM held_owners WHERE owner_id = $1), 0)
                 + CAST(coalesce((SELECT sum(events) FROM held_counts WHERE owner_id = $1), 0)
                 AS BIGINT)",
            )
            .bind(owner_id)
            .fetch_one(pool)
            .await?
        });
        Ok(unsigned(count))
    }

    /// Returns the first events of a person whose digest is due, in their order; none while a release is under
    /// way, because it may deliver them.
    pub async fn summarized_events(
        &self,
        owner_id: &str,
        now: Timestamp,
    ) -> Result<Vec<HeldEvent>, DbError> {
        Ok(read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT h.event_seq, e.event_type, e.subject, e.data FROM held_events h
                 JOIN events e ON e.seq = h.event_seq
                 WHERE h.owner_id = $1 AND h.due_at <= $2 AND h.summarized = 1
                 AND NOT EXISTS (SELECT 1 FROM held_owners o
                   WHERE o.owner_id = $1 AND o.released_to IS NOT NULL)
                 ORDER BY h.due_at, h.event_seq LIMIT $3",
            )
            .bind(owner_id)
            .bind(signed(now.as_millis()))
            .bind(SUMMARIZED)
            .fetch_all(pool)
            .await?
        }))
    }

    /// Returns the numbers of a person's events, by type, that were beyond the limit of held events and whose
    /// digest is due.
    pub async fn counted_events(
        &self,
        owner_id: &str,
        now: Timestamp,
    ) -> Result<Vec<(String, u64)>, DbError> {
        let rows: Vec<(String, i64)> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT event_type, events FROM held_counts
                 WHERE owner_id = $1 AND due_at <= $2 ORDER BY event_type",
            )
            .bind(owner_id)
            .bind(signed(now.as_millis()))
            .fetch_all(pool)
            .await?
        });
        Ok(rows.into_iter().map(|(event_type, events)| (event_type, unsigned(events))).collect())
    }
}
