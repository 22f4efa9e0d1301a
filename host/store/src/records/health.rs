//! The health of the database and of webhooks, for the operator.

use crate::{
    connection::{Backend, read, transact},
    error::DbError,
    integers::unsigned,
    store::Store,
};
use portolan_vocabulary::{Keyring, Timestamp};
use serde::Serialize;
use std::time::Instant;

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
    /// Fails if the database is read-only or missing, or if others write for too long.
    pub async fn ensure_writable(&self) -> Result<(), DbError> {
        transact!(self.inner.backend, |transaction| {
            // No operator has this name.
            sqlx::query("DELETE FROM operators WHERE name = ''").execute(&mut *transaction).await?;
        });
        Ok(())
    }

    /// Returns the time of the database server's clock; `None` on SQLite, which has none of its own.
    pub async fn server_time(&self) -> Result<Option<Timestamp>, DbError> {
        let Backend::Postgres(server) = &*self.inner.backend else { return Ok(None) };
        let now = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)";
        let now: i64 = sqlx::query_scalar(now).fetch_one(&server.pool).await?;
        Ok(Some(Timestamp::from_millis(unsigned(now))))
    }

    /// Corrects the clock by that of the database server, so that the nodes of a database have one time for what is due
    /// and for leases. Does nothing while the last measurement is good, on SQLite, and with a fixed clock.
    ///
    /// # Errors
    ///
    /// Fails if the server cannot be asked.
    pub async fn follow_server_clock(&self) -> Result<(), DbError> {
        let (clock, begun) = (&self.inner.clock, Instant::now());
        let Some(own) = clock.followed() else { return Ok(()) };
        if self.inner.server_clock.is_known(own, begun) {
            return Ok(());
        }
        let Some(server) = self.server_time().await? else { return Ok(()) };
        let request = (begun, begun.elapsed());
        if let Some(correction) = self.inner.server_clock.note((own, server), request) {
            tracing::warn!(
                milliseconds = correction,
                "the clock is corrected by that of the database server; let both machines follow a time server"
            );
            clock.correct(correction);
        }
        Ok(())
    }

    /// Returns the time of the newest row of the audit log; `None` if it has no rows.
    pub async fn newest_row_at(&self) -> Result<Option<Timestamp>, DbError> {
        let newest: Option<i64> = read!(self.inner.backend, |pool| {
            sqlx::query_scalar("SELECT max(at) FROM audit").fetch_one(pool).await?
        });
        Ok(newest.map(|at| Timestamp::from_millis(unsigned(at))))
    }

    /// Returns the names of the secret keys that seal signing keys and that are not in this keyring.
    pub async fn missing_keys(&self, keys: &Keyring) -> Result<Vec<String>, DbError> {
        let sealed_by: Vec<String> = read!(self.inner.backend, |pool| {
            let names = "SELECT DISTINCT sealed_by FROM signing_keys WHERE sealed_by <> ''";
            sqlx::query_scalar(names).fetch_all(pool).await?
        });
        let own = keys.names();
        Ok(sealed_by.into_iter().filter(|name| !own.contains(name)).collect())
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
