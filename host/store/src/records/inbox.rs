//! Reads of inboxes, and the removal of expired events from them.

use super::sweep::DAY_MS;
use crate::{
    connection::{read, transact},
    error::DbError,
    integers::{signed, unsigned},
    store::Store,
    texts::storable_of,
};
use portolan_vocabulary::{STREAM_GAP, Timestamp};
use sea_query::{Alias, Expr, ExprTrait as _, JoinType, Order as SortOrder, SelectStatement};
use sqlx::FromRow;
use std::collections::BTreeMap;

/// The state of an inbox.
#[derive(Debug, Clone, Copy)]
pub struct InboxHead {
    /// The newest sequence.
    pub last: u64,
    pub polled_at: Option<Timestamp>,
    /// Whether there are events to all listeners that the inbox does not have yet
    /// ([`OutboxCommand::AddBroadcasts`](crate::OutboxCommand::AddBroadcasts)).
    pub is_behind: bool,
}

/// The first and the last sequence of the events that an agent has not acknowledged in time.
#[derive(Debug)]
pub struct Gap {
    pub agent_id: String,
    pub from: u64,
    pub to: u64,
}

/// An event of an inbox.
#[derive(Debug, Clone)]
pub struct InboxEntry {
    pub seq: u64,
    pub event_id: String,
    pub event_type: String,
    pub subject: String,
    /// A JSON object.
    pub data: String,
    pub occurred_at: Timestamp,
}

/// The columns of the table of events that an inbox entry needs.
pub(crate) const EVENT: [&str; 5] = ["id", "event_type", "subject", "data", "occurred_at"];

fn column(table: &str, name: &str) -> Expr {
    Expr::col((Alias::new(table), Alias::new(name)))
}

/// Selects the events `e` in the entries `i` of an inbox.
fn events_of(agent_id: &str) -> SelectStatement {
    let same = column("i", "event_seq").eq(column("e", "seq"));
    let mut statement = SelectStatement::new();
    statement
        .from_as(Alias::new("inbox"), Alias::new("i"))
        .join_as(JoinType::InnerJoin, Alias::new("events"), Alias::new("e"), same)
        .and_where(column("i", "agent_id").eq(agent_id));
    statement
}

fn older_than(now: Timestamp, days: u64) -> i64 {
    signed(now.as_millis().saturating_sub(days * DAY_MS))
}

#[derive(FromRow)]
struct Row {
    seq: i64,
    id: String,
    event_type: String,
    subject: String,
    data: String,
    occurred_at: i64,
}

impl From<Row> for InboxEntry {
    fn from(row: Row) -> Self {
        Self {
            seq: unsigned(row.seq),
            event_id: row.id,
            event_type: row.event_type,
            subject: row.subject,
            data: row.data,
            occurred_at: Timestamp::from_millis(unsigned(row.occurred_at)),
        }
    }
}

impl Store {
    /// Returns the state of an inbox; `None` if the agent has none yet.
    pub async fn inbox_head(&self, agent_id: &str) -> Result<Option<InboxHead>, DbError> {
        let row: Option<(i64, Option<i64>, i64, i64)> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT last_seq, polled_at, broadcast_seq,
                     (SELECT coalesce(max(seq), 0) FROM events WHERE audience = 'listeners')
                 FROM inboxes WHERE agent_id = $1",
            )
            .bind(agent_id)
            .fetch_optional(pool)
            .await?
        });
        Ok(row.map(|(last, polled_at, broadcast, newest)| InboxHead {
            last: unsigned(last),
            polled_at: polled_at.map(|at| Timestamp::from_millis(unsigned(at))),
            is_behind: polled_at.is_some() && broadcast < newest,
        }))
    }

    /// Returns events after this sequence that are not acknowledged, in order; of these types, or
    /// of all types if `types` is empty.
    pub async fn unacknowledged(
        &self,
        agent_id: &str,
        after: u64,
        types: &[String],
        limit: usize,
    ) -> Result<Vec<InboxEntry>, DbError> {
        let mut statement = events_of(agent_id);
        statement
            .expr(column("i", "seq"))
            .exprs(EVENT.map(|name| column("e", name)))
            .and_where(column("i", "acknowledged").eq(0))
            .and_where(column("i", "seq").gt(signed(after)))
            .order_by_expr(column("i", "seq"), SortOrder::Asc)
            .limit(limit as u64);
        if !types.is_empty() {
            statement.and_where(column("e", "event_type").is_in(storable_of(types)));
        }
        let rows: Vec<Row> = self.inner.backend.fetch(&statement).await?;
        Ok(rows.into_iter().map(InboxEntry::from).collect())
    }

    /// Returns the sequences in an inbox of those of these events that it contains, by event id.
    pub async fn inbox_sequences(
        &self,
        agent_id: &str,
        event_ids: &[String],
    ) -> Result<BTreeMap<String, u64>, DbError> {
        if event_ids.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut statement = events_of(agent_id);
        statement
            .expr(column("e", "id"))
            .expr(column("i", "seq"))
            .and_where(column("e", "id").is_in(storable_of(event_ids)));
        let rows: Vec<(String, i64)> = self.inner.backend.fetch(&statement).await?;
        Ok(rows.into_iter().map(|(id, seq)| (id, unsigned(seq))).collect())
    }

    /// Returns the sequences of the first `limit` events of these types that an agent has acknowledged and that
    /// occurred at or after `since`. No types means any type.
    pub async fn acknowledged_since(
        &self,
        agent_id: &str,
        since: Timestamp,
        types: &[String],
        limit: usize,
    ) -> Result<Vec<u64>, DbError> {
        let mut statement = events_of(agent_id);
        statement
            .expr(column("i", "seq"))
            .and_where(column("i", "acknowledged").eq(1))
            .and_where(column("e", "occurred_at").gte(signed(since.as_millis())))
            .order_by_expr(column("i", "seq"), SortOrder::Asc)
            .limit(limit as u64);
        if !types.is_empty() {
            statement.and_where(column("e", "event_type").is_in(storable_of(types)));
        }
        let rows: Vec<(i64,)> = self.inner.backend.fetch(&statement).await?;
        Ok(rows.into_iter().map(|(seq,)| unsigned(seq)).collect())
    }

    /// Returns the ranges of events older than `days` that agents have not acknowledged, of at most 100
    /// agents.
    pub async fn gaps(&self, now: Timestamp, days: u64) -> Result<Vec<Gap>, DbError> {
        let before = older_than(now, days);
        let rows: Vec<(String, i64, i64)> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT i.agent_id, min(i.seq), max(i.seq) FROM inbox i
                 JOIN events e ON e.seq = i.event_seq
                 WHERE i.acknowledged = 0 AND e.occurred_at <= $1 AND e.event_type <> $2
                 GROUP BY i.agent_id LIMIT 100",
            )
            .bind(before)
            .bind(STREAM_GAP)
            .fetch_all(pool)
            .await?
        });
        let gap = |(agent_id, from, to)| Gap { agent_id, from: unsigned(from), to: unsigned(to) };
        Ok(rows.into_iter().map(gap).collect())
    }

    /// Deletes the events older than `days` in these gaps from the inboxes. To be called after the gaps were
    /// announced to the agents.
    pub async fn delete_gaps(
        &self,
        gaps: &[Gap],
        now: Timestamp,
        days: u64,
    ) -> Result<(), DbError> {
        let before = older_than(now, days);
        transact!(self.inner.backend, |transaction| {
            for gap in gaps {
                sqlx::query(
                    "DELETE FROM inbox WHERE agent_id = $1 AND seq BETWEEN $2 AND $3
                     AND event_seq IN (SELECT seq FROM events WHERE occurred_at <= $4)",
                )
                .bind(&gap.agent_id)
                .bind(signed(gap.from))
                .bind(signed(gap.to))
                .bind(before)
                .execute(&mut *transaction)
                .await?;
            }
        });
        Ok(())
    }
}
