//! Reads of webhooks and their delivery logs.

use crate::{
    connection::read,
    error::DbError,
    integers::{instant, unsigned},
    store::Store,
    texts::is_storable,
    webhook::{Delivery, DeliveryOutcome, Health, OUTCOMES, STATES, Webhook, WebhookState},
};
use sqlx::{AssertSqlSafe, FromRow};

#[derive(FromRow)]
struct WebhookRow {
    id: String,
    agent_id: String,
    test_mode: i64,
    url: String,
    types: String,
    description: Option<String>,
    state: String,
    secret: String,
    previous_secret: Option<String>,
    previous_until: Option<i64>,
    version: i64,
    created_at: i64,
    updated_at: i64,
    last_error: Option<String>,
    failures: i64,
    failing_since: Option<i64>,
    last_success_at: Option<i64>,
    rest_until: i64,
}

const WEBHOOK: &str = "id, agent_id, test_mode, url, types, description, state, secret, previous_secret, previous_until, version, created_at, updated_at, last_error, failures, failing_since, last_success_at, rest_until";

impl From<WebhookRow> for Webhook {
    fn from(row: WebhookRow) -> Self {
        let state = STATES.iter().find(|(_, name)| *name == row.state);
        Self {
            id: row.id,
            agent_id: row.agent_id,
            test_mode: row.test_mode != 0,
            url: row.url,
            types: serde_json::from_str(&row.types).unwrap_or_default(),
            description: row.description,
            state: state.map_or(WebhookState::Disabled, |(state, _)| *state),
            secret: row.secret,
            previous_secret: row.previous_secret,
            previous_until: row.previous_until.map(instant),
            version: unsigned(row.version),
            created_at: instant(row.created_at),
            updated_at: instant(row.updated_at),
            last_error: row.last_error,
            health: Health {
                failures: unsigned(row.failures),
                failing_since: row.failing_since.map(instant),
                last_success_at: row.last_success_at.map(instant),
                cooldown_until: instant(row.rest_until),
            },
        }
    }
}

#[derive(FromRow)]
struct DeliveryRow {
    seq: i64,
    delivery_id: String,
    webhook_id: String,
    outcome: String,
    attempts: i64,
    due_at: i64,
    created_at: i64,
    last_attempt_at: Option<i64>,
    status: Option<i64>,
    response: Option<String>,
    error: Option<String>,
    duration_ms: Option<i64>,
    event_id: String,
    event_type: String,
    subject: String,
}

const DELIVERY: &str = "d.seq, d.id AS delivery_id, d.webhook_id, d.outcome, d.attempts, d.due_at, d.created_at, d.last_attempt_at, d.status, d.response, d.error, d.duration_ms, e.id AS event_id, e.event_type, e.subject";

impl From<DeliveryRow> for Delivery {
    fn from(row: DeliveryRow) -> Self {
        let outcome = OUTCOMES.iter().find(|(_, name)| *name == row.outcome);
        let outcome = outcome.map_or(DeliveryOutcome::Dead, |(outcome, _)| *outcome);
        Self {
            seq: row.seq,
            id: row.delivery_id,
            webhook_id: row.webhook_id,
            event_id: row.event_id,
            event_type: row.event_type,
            subject: row.subject,
            outcome,
            attempts: u32::try_from(row.attempts).unwrap_or(0),
            created_at: instant(row.created_at),
            last_attempt_at: row.last_attempt_at.map(instant),
            next_attempt_at: (outcome == DeliveryOutcome::Pending).then(|| instant(row.due_at)),
            status: row.status.and_then(|status| u16::try_from(status).ok()),
            response: row.response,
            error: row.error,
            duration_ms: row.duration_ms.and_then(|time| u32::try_from(time).ok()),
        }
    }
}

impl Store {
    pub async fn webhook(&self, id: &str) -> Result<Option<Webhook>, DbError> {
        if !is_storable(id) {
            return Ok(None);
        }
        let sql = format!("SELECT {WEBHOOK} FROM webhooks WHERE id = $1");
        let row: Option<WebhookRow> = read!(self.inner.backend, |pool| {
            sqlx::query_as(AssertSqlSafe(sql)).bind(id).fetch_optional(pool).await?
        });
        Ok(row.map(Webhook::from))
    }

    /// Returns the webhooks of an agent, the oldest first.
    pub async fn webhooks_of(&self, agent_id: &str) -> Result<Vec<Webhook>, DbError> {
        let sql = format!("SELECT {WEBHOOK} FROM webhooks WHERE agent_id = $1 ORDER BY id");
        let rows: Vec<WebhookRow> = read!(self.inner.backend, |pool| {
            sqlx::query_as(AssertSqlSafe(sql)).bind(agent_id).fetch_all(pool).await?
        });
        Ok(rows.into_iter().map(Webhook::from).collect())
    }

    /// Returns entries of a webhook's delivery log with a `seq` below `before`, of this outcome or of all,
    /// the newest first.
    pub async fn webhook_log(
        &self,
        webhook_id: &str,
        outcome: Option<DeliveryOutcome>,
        before: i64,
        limit: u32,
    ) -> Result<Vec<Delivery>, DbError> {
        let sql = format!(
            "SELECT {DELIVERY} FROM webhook_deliveries d JOIN events e ON e.seq = d.event_seq
             WHERE d.webhook_id = $1 AND d.seq < $2 AND d.outcome = coalesce($3, d.outcome)
             ORDER BY d.seq DESC LIMIT $4"
        );
        let rows: Vec<DeliveryRow> = read!(self.inner.backend, |pool| {
            sqlx::query_as(AssertSqlSafe(sql))
                .bind(webhook_id)
                .bind(before)
                .bind(outcome.map(DeliveryOutcome::name))
                .bind(i64::from(limit))
                .fetch_all(pool)
                .await?
        });
        Ok(rows.into_iter().map(Delivery::from).collect())
    }

    pub async fn webhook_delivery(&self, id: &str) -> Result<Option<Delivery>, DbError> {
        if !is_storable(id) {
            return Ok(None);
        }
        let sql = format!(
            "SELECT {DELIVERY} FROM webhook_deliveries d JOIN events e ON e.seq = d.event_seq
             WHERE d.id = $1"
        );
        let row: Option<DeliveryRow> = read!(self.inner.backend, |pool| {
            sqlx::query_as(AssertSqlSafe(sql)).bind(id).fetch_optional(pool).await?
        });
        Ok(row.map(Delivery::from))
    }
}
