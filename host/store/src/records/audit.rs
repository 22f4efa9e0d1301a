//! Queries of the audit log.

use crate::{
    audit_log::AuditEntry, effects::AuditRecord, error::DbError, integers::signed,
    integers::unsigned, store::Store, texts::is_storable,
};
use portolan_vocabulary::{Timestamp, operator_caller};
use sea_query::{Alias, Expr, ExprTrait as _, LikeExpr, Order, SelectStatement};
use serde_json::json;

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
    /// The name of the operator who did it, or began it.
    pub operator: Option<String>,
    /// Whether to leave out what capabilities have called for the caller.
    pub is_direct: bool,
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

/// The characters that mean something in a pattern.
const ESCAPED: &str = "%_!";

const COLUMNS: [&str; 19] = [
    "seq",
    "at",
    "request_id",
    "agent_id",
    "owner_id",
    "client_id",
    "address",
    "via",
    "capability",
    "version",
    "digest",
    "action",
    "outcome",
    "duration_us",
    "count",
    "node",
    "position",
    "salt",
    "commitment",
];

#[derive(sqlx::FromRow)]
pub(super) struct Row {
    seq: i64,
    at: i64,
    request_id: String,
    agent_id: Option<String>,
    owner_id: Option<String>,
    client_id: Option<String>,
    address: Option<String>,
    via: String,
    capability: String,
    version: String,
    digest: String,
    action: String,
    outcome: String,
    duration_us: i64,
    count: i64,
    node: String,
    position: i64,
    salt: Option<String>,
    commitment: Option<String>,
}

impl Store {
    /// Returns rows of the audit log, the newest first.
    pub async fn audit(&self, query: &AuditQuery) -> Result<Vec<AuditEntry>, DbError> {
        if !query.is_storable() {
            return Ok(Vec::new());
        }
        let rows: Vec<Row> = self.inner.backend.fetch(&query.statement()).await?;
        Ok(rows.into_iter().map(AuditEntry::from).collect())
    }
}

/// Returns the statement that selects whole rows.
pub(super) fn select() -> SelectStatement {
    let mut statement = SelectStatement::new();
    statement.from(Alias::new("audit")).columns(COLUMNS.map(Alias::new));
    statement
}

impl AuditQuery {
    /// Returns whether a row may have the texts of the filter.
    fn is_storable(&self) -> bool {
        let outcome = match &self.outcome {
            Some(Outcome::Is(code)) => Some(code),
            Some(Outcome::Failed) | None => None,
        };
        let texts =
            [&self.agent_id, &self.owner_id, &self.capability, &self.action, &self.request_id];
        texts.into_iter().flatten().chain(outcome).all(|text| is_storable(text))
    }

    fn statement(&self) -> SelectStatement {
        let column = |name: &'static str| Expr::col(Alias::new(name));
        let instant = |instant: Timestamp| signed(instant.as_millis());
        let mut statement = select();
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
        let is_of = |name: &String| column("via").like(begins_with(&operator_caller(name)));
        statement.and_where_option(self.operator.as_ref().map(is_of));
        statement.and_where_option(self.is_direct.then(|| column("via").eq("[]")));
        statement.and_where_option(self.since.map(|since| column("at").gte(instant(since))));
        statement.and_where_option(self.until.map(|until| column("at").lt(instant(until))));
        statement.and_where_option(self.before.map(|before| column("seq").lt(before)));
        statement.order_by(Alias::new("seq"), Order::Desc).limit(self.limit);
        statement
    }
}

/// Returns the pattern of a JSON array whose first element is this text.
fn begins_with(text: &str) -> LikeExpr {
    let list = json!([text]).to_string();
    let start = list.trim_end_matches(']');
    let escape = |letter: char| ESCAPED.contains(letter).then_some('!').into_iter().chain([letter]);
    let escaped: String = start.chars().flat_map(escape).collect();
    LikeExpr::new(format!("{escaped}%")).escape('!')
}

impl From<Row> for AuditEntry {
    fn from(row: Row) -> Self {
        let record = AuditRecord {
            at: Timestamp::from_millis(unsigned(row.at)),
            request_id: row.request_id,
            agent_id: row.agent_id,
            owner_id: row.owner_id,
            client_id: row.client_id,
            address: row.address,
            via: serde_json::from_str(&row.via).unwrap_or_default(),
            capability: row.capability,
            version: row.version,
            digest: row.digest,
            action: row.action,
            outcome: row.outcome,
            duration_us: unsigned(row.duration_us),
            count: unsigned(row.count),
        };
        Self {
            seq: row.seq,
            record,
            node: row.node,
            position: unsigned(row.position),
            salt: row.salt,
            commitment: row.commitment,
        }
    }
}
