//! The next notices of a person by email, and the number of emails that wait.

use crate::{
    connection::read,
    error::DbError,
    integers::{signed, unsigned},
    store::Store,
};
use portolan_vocabulary::{OUTGOING_EMAIL, Timestamp};

/// The maximum number of types of events that one email tells.
const TYPES: i64 = 500;

/// The events of one type that a person has not been told by email.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmailNotice {
    pub event_type: String,
    pub events: u64,
    /// The capability and the data of the newest event, while that is kept.
    pub newest: Option<(String, String)>,
}

impl Store {
    /// Returns what a person is told by email next, the newest first.
    pub async fn email_notices(&self, owner_id: &str) -> Result<Vec<EmailNotice>, DbError> {
        type Row = (String, i64, Option<String>, Option<String>);
        let rows: Vec<Row> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT n.event_type, n.events, e.capability, e.data FROM email_notices n
                 LEFT JOIN events e ON e.seq = n.event_seq
                 WHERE n.owner_id = $1 ORDER BY n.event_seq DESC LIMIT $2",
            )
            .bind(owner_id)
            .bind(TYPES)
            .fetch_all(pool)
            .await?
        });
        let notice = |(event_type, events, capability, data): Row| EmailNotice {
            event_type,
            events: unsigned(events),
            newest: capability.zip(data),
        };
        Ok(rows.into_iter().map(notice).collect())
    }

    /// Returns the number of emails that wait, and how many of them are due.
    pub async fn waiting_emails(&self, now: Timestamp) -> Result<(u64, u64), DbError> {
        let (waiting, due): (i64, i64) = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT count(*), count(CASE WHEN due_at <= $2 THEN 1 END) FROM timers
                 WHERE capability = $1",
            )
            .bind(OUTGOING_EMAIL)
            .bind(signed(now.as_millis()))
            .fetch_one(pool)
            .await?
        });
        Ok((unsigned(waiting), unsigned(due)))
    }
}
