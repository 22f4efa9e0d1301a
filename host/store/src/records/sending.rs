//! Leases of webhooks, and the results of deliveries to them.
//!
//! A node leases a webhook and sends its due deliveries; no other node sends to this webhook until the
//! lease has expired. The lease of a node that dies expires, and another node takes the webhook.

use super::inbox::{EVENT, InboxEntry};
use crate::{
    connection::{read, transact},
    error::DbError,
    integers::{instant, signed, unsigned},
    store::Store,
    webhook::{DeliveryOutcome, Webhook, WebhookState},
};
use portolan_vocabulary::Timestamp;
use sqlx::{AssertSqlSafe, FromRow};

/// A delivery that is due.
#[derive(Debug, Clone)]
pub struct DueDelivery {
    pub id: String,
    pub challenge: bool,
    pub attempts: u32,
    /// The event. Its sequence is that in the agent's inbox, or 0 if the event is in no inbox.
    pub event: InboxEntry,
    /// The event's place in a trace.
    pub trace: Option<String>,
}

/// The result of one attempt to send.
#[derive(Debug, Clone)]
pub struct Attempt {
    pub delivery_id: String,
    /// The sequence of the inbox entry that a success acknowledges; 0 if there is none.
    pub inbox_seq: u64,
    pub outcome: DeliveryOutcome,
    /// The time of the next attempt.
    pub due_at: Timestamp,
    pub at: Timestamp,
    pub status: Option<u16>,
    pub response: Option<String>,
    pub error: Option<String>,
    pub duration_ms: u32,
}

#[derive(FromRow)]
struct DueRow {
    delivery_id: String,
    challenge: i64,
    attempts: i64,
    inbox_seq: Option<i64>,
    id: String,
    event_type: String,
    subject: String,
    data: String,
    occurred_at: i64,
    trace: Option<String>,
}

/// The condition that no earlier delivery of the same subject as `d` is pending, challenges aside.
const IS_FIRST_OF_SUBJECT: &str =
    "NOT EXISTS (SELECT 1 FROM webhook_deliveries p WHERE p.webhook_id = d.webhook_id
     AND p.outcome = 'pending' AND p.challenge = 0 AND p.subject = d.subject AND p.seq < d.seq)";

impl Store {
    /// Leases webhooks with due deliveries until `until`, and returns their ids. `lease` names the holder.
    pub async fn lease_webhooks(
        &self,
        now: Timestamp,
        until: Timestamp,
        lease: &str,
        limit: usize,
    ) -> Result<Vec<String>, DbError> {
        let due = format!(
            "w.leased_until <= $1 AND EXISTS (SELECT 1 FROM webhook_deliveries d
             WHERE d.webhook_id = w.id AND d.outcome = 'pending' AND d.due_at <= $1
             AND (d.challenge = 1 OR (w.state = 'active' AND w.rest_until <= $1 AND {IS_FIRST_OF_SUBJECT})))"
        );
        let now = signed(now.as_millis());
        let found: Option<i64> = read!(self.inner.backend, |pool| {
            sqlx::query_scalar(AssertSqlSafe(format!(
                "SELECT CAST(1 AS BIGINT) FROM webhooks w WHERE {due} LIMIT 1"
            )))
            .bind(now)
            .fetch_optional(pool)
            .await?
        });
        // This read spares the write if nothing is due.
        if found.is_none() {
            return Ok(Vec::new());
        }
        let skip = self.inner.backend.skip_locked();
        let sql = format!(
            "UPDATE webhooks SET leased_until = $2, lease = $3 WHERE id IN
             (SELECT w.id FROM webhooks w WHERE {due} ORDER BY w.leased_until LIMIT $4 {skip})
             RETURNING id"
        );
        let rows: Vec<(String,)> = transact!(self.inner.backend, |transaction| {
            sqlx::query_as(AssertSqlSafe(sql))
                .bind(now)
                .bind(signed(until.as_millis()))
                .bind(lease)
                .bind(signed(limit as u64))
                .fetch_all(&mut *transaction)
                .await?
        });
        Ok(rows.into_iter().map(|(id,)| id).collect())
    }

    /// Returns the due deliveries of a webhook, the oldest first. A challenge is due in every state of the
    /// webhook. An event is due only while the webhook is active and not backing off, and only the first
    /// pending one of each subject.
    pub async fn due_deliveries(
        &self,
        webhook: &Webhook,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<DueDelivery>, DbError> {
        let event = EVENT.map(|name| format!("e.{name}")).join(", ");
        let sql = format!(
            "SELECT d.id AS delivery_id, d.challenge, d.attempts, d.inbox_seq, {event}, e.trace
             FROM webhook_deliveries d JOIN events e ON e.seq = d.event_seq
             WHERE d.webhook_id = $1 AND d.outcome = 'pending' AND d.due_at <= $2
             AND (d.challenge = 1 OR ($3 = 1 AND {IS_FIRST_OF_SUBJECT})) ORDER BY d.seq LIMIT $4"
        );
        let is_cooling_down = webhook.health.cooldown_until > now;
        let all = i64::from(webhook.state == WebhookState::Active && !is_cooling_down);
        let rows: Vec<DueRow> = read!(self.inner.backend, |pool| {
            sqlx::query_as(AssertSqlSafe(sql))
                .bind(&webhook.id)
                .bind(signed(now.as_millis()))
                .bind(all)
                .bind(signed(limit as u64))
                .fetch_all(pool)
                .await?
        });
        let due = |row: DueRow| DueDelivery {
            id: row.delivery_id,
            challenge: row.challenge != 0,
            attempts: u32::try_from(row.attempts).unwrap_or(0),
            event: InboxEntry {
                seq: unsigned(row.inbox_seq.unwrap_or(0)),
                event_id: row.id,
                event_type: row.event_type,
                subject: row.subject,
                data: row.data,
                occurred_at: instant(row.occurred_at),
            },
            trace: row.trace,
        };
        Ok(rows.into_iter().map(due).collect())
    }

    /// Records the results of attempts and renews the lease until `until`. A delivered event is
    /// acknowledged. A new `state` is written if the webhook still has the version that was read; the
    /// pending deliveries of a webhook that this disables become dead. Returns false if another node has
    /// taken the lease and so may have sent the same deliveries again.
    pub async fn record_attempts(
        &self,
        webhook: &Webhook,
        (lease, until): (&str, Timestamp),
        attempts: &[Attempt],
        state: Option<WebhookState>,
    ) -> Result<bool, DbError> {
        let millis = |at: Timestamp| signed(at.as_millis());
        let health = &webhook.health;
        let has_lease = transact!(self.inner.backend, |transaction| {
            let has_lease = sqlx::query(
                "UPDATE webhooks SET leased_until = $3, failures = $4, failing_since = $5,
                 last_success_at = $6, rest_until = $7, last_error = $8 WHERE id = $1 AND lease = $2",
            )
            .bind(&webhook.id)
            .bind(lease)
            .bind(millis(until))
            .bind(signed(health.failures))
            .bind(health.failing_since.map(millis))
            .bind(health.last_success_at.map(millis))
            .bind(millis(health.cooldown_until))
            .bind(&webhook.last_error)
            .execute(&mut *transaction)
            .await?
            .rows_affected()
                > 0;
            for attempt in attempts {
                sqlx::query(
                    "UPDATE webhook_deliveries SET outcome = $2, attempts = attempts + 1, due_at = $3,
                     last_attempt_at = $4, status = $5, response = $6, error = $7, duration_ms = $8
                     WHERE id = $1 AND outcome = 'pending'",
                )
                .bind(&attempt.delivery_id)
                .bind(attempt.outcome.name())
                .bind(millis(attempt.due_at))
                .bind(millis(attempt.at))
                .bind(attempt.status.map(i64::from))
                .bind(&attempt.response)
                .bind(&attempt.error)
                .bind(i64::from(attempt.duration_ms))
                .execute(&mut *transaction)
                .await?;
                if attempt.outcome == DeliveryOutcome::Delivered && attempt.inbox_seq > 0 {
                    sqlx::query(
                        "UPDATE inbox SET acknowledged = 1 WHERE agent_id = $1 AND seq = $2",
                    )
                    .bind(&webhook.agent_id)
                    .bind(signed(attempt.inbox_seq))
                    .execute(&mut *transaction)
                    .await?;
                }
            }
            let mut changed = false;
            if let Some(state) = state {
                changed = sqlx::query(
                    "UPDATE webhooks SET state = $3, version = version + 1, updated_at = $4
                     WHERE id = $1 AND version = $2",
                )
                .bind(&webhook.id)
                .bind(signed(webhook.version))
                .bind(state.name())
                .bind(attempts.last().map_or(0, |attempt| millis(attempt.at)))
                .execute(&mut *transaction)
                .await?
                .rows_affected()
                    > 0;
            }
            if changed && state == Some(WebhookState::Disabled) {
                sqlx::query(
                    "UPDATE webhook_deliveries SET outcome = 'dead'
                     WHERE webhook_id = $1 AND outcome = 'pending' AND challenge = 0",
                )
                .bind(&webhook.id)
                .execute(&mut *transaction)
                .await?;
            }
            has_lease
        });
        Ok(has_lease)
    }

    /// Releases the lease of a webhook.
    pub async fn release_webhook(&self, id: &str, lease: &str) -> Result<(), DbError> {
        transact!(self.inner.backend, |transaction| {
            sqlx::query("UPDATE webhooks SET leased_until = 0 WHERE id = $1 AND lease = $2")
                .bind(id)
                .bind(lease)
                .execute(&mut *transaction)
                .await?;
        });
        Ok(())
    }

    /// Releases all leases of a node, whose names begin with the node's name and a slash.
    pub async fn release_webhooks(&self, node: &str) -> Result<(), DbError> {
        transact!(self.inner.backend, |transaction| {
            sqlx::query("UPDATE webhooks SET leased_until = 0 WHERE lease LIKE $1")
                .bind(format!("{node}/%"))
                .execute(&mut *transaction)
                .await?;
        });
        Ok(())
    }
}
