//! What the operator is told about the health of the database and of webhooks.

use crate::{
    connection::{read, transact},
    error::DbError,
    integers::unsigned,
    store::Store,
};
use portolan_vocabulary::Timestamp;
use serde::Serialize;

/// The maximum number of webhooks that are listed.
const MAX_LISTED: i64 = 100;

/// A webhook whose address does not take events.
#[derive(Debug, Clone, Serialize)]
pub struct FailingWebhook {
    pub id: String,
    pub agent_id: String,
    /// `active`, or `disabled` if it failed for too long.
    pub state: String,
    pub failing_since: Option<Timestamp>,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
}

/// Id, agent, state, since when it fails, last error.
type Row = (String, String, String, Option<i64>, Option<String>);

impl Store {
    /// Ensures that the database takes writes: a transaction begins to write, and writes nothing.
    ///
    /// # Errors
    ///
    /// Fails if the database is read-only or gone, or if others write for too long.
    pub async fn ensure_writable(&self) -> Result<(), DbError> {
        transact!(self.inner.backend, |transaction| {
            // No operator has this name.
            sqlx::query("DELETE FROM operators WHERE name = ''").execute(&mut *transaction).await?;
        });
        Ok(())
    }

    /// Returns the webhooks whose last attempts failed, those that fail the longest first, at most 100.
    pub async fn failing_webhooks(&self) -> Result<Vec<FailingWebhook>, DbError> {
        let rows: Vec<Row> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT id, agent_id, state, failing_since, last_error FROM webhooks
                 WHERE failing_since IS NOT NULL OR state = 'disabled'
                 ORDER BY coalesce(failing_since, 0), id LIMIT $1",
            )
            .bind(MAX_LISTED)
            .fetch_all(pool)
            .await?
        });
        let webhook = |(id, agent_id, state, failing_since, last_error): Row| {
            let failing_since = failing_since.map(|at| Timestamp::from_millis(unsigned(at)));
            FailingWebhook { id, agent_id, state, failing_since, last_error }
        };
        Ok(rows.into_iter().map(webhook).collect())
    }
}
