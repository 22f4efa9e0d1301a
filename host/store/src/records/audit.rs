//! Queries of the audit log.

use crate::{
    effects::AuditRecord, error::DbError, integers::signed, integers::unsigned, store::Store,
};
use portolan_vocabulary::Timestamp;
use sea_query::{Alias, Expr, ExprTrait as _, Order, SelectStatement};
use serde::Serialize;

/// A filter over the audit log; all given conditions must hold.
#[derive(Debug, Clone, Default)]
pub struct AuditQuery {
    /// The earliest time, inclusive.
    pub since: Option<Timestamp>,
    /// The latest time, exclusive.
    pub until: Option<Timestamp>,
    pub agent_id: Option<String>,
    pub owner_id: Option<String>,
    pub capability: Option<String>,
    pub action: Option<String>,
    pub request_id: Option<String>,
    pub outcome: Option<Outcome>,
    /// The `seq` of the last row of the page before: only rows with a lower `seq` are returned.
    pub before: Option<i64>,
    pub limit: u64,
}

/// A filter by the outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Any error code.
    Failed,
    /// `ok` or an error code.
    Is(String),
}

/// A row of the audit log.
#[derive(Debug, Serialize)]
pub struct AuditEntry {
    /// The number of the row; rows are numbered in the order in which they were written.
    pub seq: i64,
    #[serde(flatten)]
    pub record: AuditRecord,
}

const COLUMNS: [&str; 12] = [
    "seq",
    "at",
    "request_id",
    "agent_id",
    "owner_id",
    "via",
    "capability",
    "version",
    "digest",
    "action",
    "outcome",
    "duration_us",
];

type Row = (
    i64,
    i64,
    String,
    Option<String>,
    Option<String>,
    String,
    String,
    String,
    String,
    String,
    String,
    i64,
);

impl Store {
    /// Returns rows of the audit log, the newest first.
    pub async fn audit(&self, query: &AuditQuery) -> Result<Vec<AuditEntry>, DbError> {
        let rows: Vec<Row> = self.inner.backend.fetch(&query.statement()).await?;
        Ok(rows.into_iter().map(entry).collect())
    }
}

impl AuditQuery {
    fn statement(&self) -> SelectStatement {
        let column = |name: &'static str| Expr::col(Alias::new(name));
        let instant = |instant: Timestamp| signed(instant.as_millis());
        let mut statement = SelectStatement::new();
        statement.from(Alias::new("audit")).columns(COLUMNS.map(Alias::new));
        let texts = [
            ("agent_id", &self.agent_id),
            ("owner_id", &self.owner_id),
            ("capability", &self.capability),
            ("action", &self.action),
            ("request_id", &self.request_id),
        ];
        for (name, text) in texts {
            statement.and_where_option(text.as_deref().map(|text| column(name).eq(text)));
        }
        statement.and_where_option(self.outcome.as_ref().map(|outcome| match outcome {
            Outcome::Failed => column("outcome").ne("ok"),
            Outcome::Is(code) => column("outcome").eq(code),
        }));
        statement.and_where_option(self.since.map(|since| column("at").gte(instant(since))));
        statement.and_where_option(self.until.map(|until| column("at").lt(instant(until))));
        statement.and_where_option(self.before.map(|before| column("seq").lt(before)));
        statement.order_by(Alias::new("seq"), Order::Desc).limit(self.limit);
        statement
    }
}

fn entry(row: Row) -> AuditEntry {
    let (
        seq,
        at,
        request_id,
        agent_id,
        owner_id,
        via,
        capability,
        version,
        digest,
        action,
        outcome,
        duration_us,
    ) = row;
    let record = AuditRecord {
        at: Timestamp::from_millis(unsigned(at)),
        request_id,
        agent_id,
        owner_id,
        via: serde_json::from_str(&via).unwrap_or_default(),
        capability,
        version,
        digest,
        action,
        outcome,
        duration_us: unsigned(duration_us),
    };
    AuditEntry { seq, record }
}
