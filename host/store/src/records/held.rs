//! The events that are held by people's delivery rules.

use crate::{
    connection::read,
    error::DbError,
    integers::{signed, unsigned},
    store::Store,
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
        let count: i64 = read!(self.inner.backend, |pool| {
            sqlx::query_scalar("SELECT count(*) FROM held_events WHERE owner_id = $1")
                .bind(owner_id)
                .fetch_one(pool)
                .await?
        });
        Ok(unsigned(count))
    }

    /// Returns the first events of a person whose digest is due, in their order.
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
                 ORDER BY h.event_seq LIMIT $3",
            )
            .bind(owner_id)
            .bind(signed(now.as_millis()))
            .bind(SUMMARIZED)
            .fetch_all(pool)
            .await?
        }))
    }
}
