//! The checkpoints of the sealed audit log, and exports.

use super::{
    audit::{Row as AuditRow, select},
    signing_keys::KeyPurpose,
};
use crate::{
    audit_log::{AuditEntry, AuditLine, Checkpoint, Hash, Head, Seal, leaf},
    connection::{read, transact},
    error::{DbError, KeyError},
    integers::{signed, unsigned},
    signing_key::SigningKey,
    store::Store,
};
use portolan_vocabulary::Timestamp;
use sea_query::{Alias, Expr, ExprTrait as _, Order};
use std::time::Duration;

/// The time that rows wait for others before their checkpoint is signed.
const SEAL_INTERVAL: Duration = Duration::from_secs(1);
/// The number of checkpoints, and of rows, that are read at once.
const PAGE: u64 = 1_000;

const CHECKPOINTS: &str = "SELECT node, number, first_position, last_position, oldest_at, at,
    expired_before, previous, previous_at, root, key_id, signature, leaves FROM audit_checkpoints";

#[derive(sqlx::FromRow)]
struct Row {
    node: String,
    number: i64,
    first_position: i64,
    last_position: i64,
    oldest_at: i64,
    at: i64,
    expired_before: i64,
    previous: String,
    previous_at: Option<i64>,
    root: String,
    key_id: String,
    signature: String,
    leaves: String,
}

/// The place after which an export goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportCursor {
    Checkpoint { node: String, number: u64 },
    Row(i64),
}

impl Store {
    /// Opens the audit log of this node: from now on its rows are numbered and sealed. Seals what the node
    /// had written but not sealed when it ended.
    pub async fn open_audit_log(&self, node: &str) -> Result<(), KeyError> {
        let now = self.inner.clock.now();
        let mut keys = self.signing_keys(KeyPurpose::Audit).await?;
        if keys.is_empty() {
            self.create_signing_key(KeyPurpose::Audit, None, now).await?;
            keys = self.signing_keys(KeyPurpose::Audit).await?;
        }
        let missing = || KeyError::Unreadable("of the audit log".to_owned(), "none".to_owned());
        let key = keys.into_iter().next().ok_or_else(missing)?;
        let head = self.last_checkpoint(node).await?.map(|checkpoint| Head::from(&checkpoint));
        let head = head.unwrap_or_default();
        let rows = self.unsealed_rows(node, head.last).await?;
        self.inner.audit_chain.open(node.to_owned(), key, head, rows);
        Ok(())
    }

    /// Seals the audit log about once a second, for as long as rows are written.
    pub async fn seal_audit_log_until_closed(&self) {
        let chain = &self.inner.audit_chain;
        loop {
            chain.written.notified().await;
            if let Err(error) = self.seal_audit_log(None).await {
                tracing::error!(%error, "the audit log cannot be sealed");
                chain.written.notify_one();
            }
            tokio::time::sleep(SEAL_INTERVAL).await;
        }
    }

    /// Signs checkpoints for all rows that this node has written, and one that the retention has moved, if
    /// it has.
    pub async fn seal_audit_log(&self, expired_before: Option<Timestamp>) -> Result<(), DbError> {
        let chain = &self.inner.audit_chain;
        let _guard = chain.sealing.lock().await;
        while let Some(draft) = chain.draft(self.inner.clock.now(), expired_before) {
            if !self.add_checkpoint(&draft).await? {
                // An earlier attempt may have stored it all the same.
                let stored = self.last_checkpoint(&draft.node).await?;
                if stored.is_none_or(|stored| stored.hash() != draft.hash()) {
                    return Err(DbError::Declaration(format!(
                        "another process writes the audit log as {}: give each host a data folder of its own, and delete the file `node` in a copied one",
                        draft.node
                    )));
                }
            }
            chain.sealed(&draft);
        }
        Ok(())
    }

    /// Returns the next lines of an export of the rows since a time, and the place after which it goes on;
    /// `None` after the last ones.
    pub async fn export_audit_log(
        &self,
        since: Option<Timestamp>,
        after: Option<ExportCursor>,
    ) -> Result<(Vec<AuditLine>, Option<ExportCursor>), KeyError> {
        let mut lines = Vec::new();
        let (mut node, mut number) = (String::new(), 0);
        match after {
            None => {
                self.seal_audit_log(None).await?;
                lines.push(AuditLine::Export { at: self.inner.clock.now(), since });
                lines.extend(self.audit_keys().await?);
            }
            Some(ExportCursor::Checkpoint { node: last_node, number: last_number }) => {
                (node, number) = (last_node, last_number);
            }
            Some(ExportCursor::Row(seq)) => return Ok(self.export_rows(since, seq).await?),
        }
        let checkpoints = self.checkpoints_after(since, &node, number).await?;
        let next = match checkpoints.last() {
            Some(last) if checkpoints.len() as u64 == PAGE => {
                ExportCursor::Checkpoint { node: last.node.clone(), number: last.number }
            }
            _ => ExportCursor::Row(i64::MIN),
        };
        lines.extend(checkpoints.into_iter().map(AuditLine::Checkpoint));
        Ok((lines, Some(next)))
    }

    /// Returns the public keys that verify checkpoints, as lines of an export.
    pub async fn audit_keys(&self) -> Result<Vec<AuditLine>, KeyError> {
        let keys = self.signing_keys(KeyPurpose::Audit).await?;
        let line = |key: SigningKey| AuditLine::Key {
            public_key: key
                .private
                .verifying_key()
                .as_bytes()
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect(),
            id: key.id,
        };
        Ok(keys.into_iter().map(line).collect())
    }

    async fn export_rows(
        &self,
        since: Option<Timestamp>,
        after: i64,
    ) -> Result<(Vec<AuditLine>, Option<ExportCursor>), DbError> {
        let column = |name: &'static str| Expr::col(Alias::new(name));
        let mut statement = select();
        statement.and_where(column("seq").gt(after));
        let since = since.map(|since| column("at").gte(signed(since.as_millis())));
        statement.and_where_option(since).order_by(Alias::new("seq"), Order::Asc).limit(PAGE);
        let rows: Vec<AuditRow> = self.inner.backend.fetch(&statement).await?;
        let rows: Vec<AuditEntry> = rows.into_iter().map(AuditEntry::from).collect();
        let next = rows.last().filter(|_| rows.len() as u64 == PAGE);
        let next = next.map(|last| ExportCursor::Row(last.seq));
        Ok((rows.into_iter().map(|row| AuditLine::Row(Box::new(row))).collect(), next))
    }

    async fn checkpoints_after(
        &self,
        since: Option<Timestamp>,
        node: &str,
        number: u64,
    ) -> Result<Vec<Checkpoint>, DbError> {
        let sql = format!(
            "{CHECKPOINTS} WHERE (node > $1 OR (node = $1 AND number > $2)) AND at >= $3
             ORDER BY node, number LIMIT {PAGE}"
        );
        let rows: Vec<Row> = read!(self.inner.backend, |pool| {
            sqlx::query_as(sqlx::AssertSqlSafe(sql.as_str()))
                .bind(node)
                .bind(signed(number))
                .bind(signed(since.unwrap_or_default().as_millis()))
                .fetch_all(pool)
                .await?
        });
        Ok(rows.into_iter().map(Checkpoint::from).collect())
    }

    async fn last_checkpoint(&self, node: &str) -> Result<Option<Checkpoint>, DbError> {
        let sql = format!("{CHECKPOINTS} WHERE node = $1 ORDER BY number DESC LIMIT 1");
        let row: Option<Row> = read!(self.inner.backend, |pool| {
            sqlx::query_as(sqlx::AssertSqlSafe(sql.as_str()))
                .bind(node)
                .fetch_optional(pool)
                .await?
        });
        Ok(row.map(Checkpoint::from))
    }

    /// Returns the hashes and times of the rows that a node wrote after its last checkpoint. A row that is no
    /// longer there has a hash that no row has.
    async fn unsealed_rows(
        &self,
        node: &str,
        sealed: u64,
    ) -> Result<Vec<(Hash, Timestamp)>, DbError> {
        let column = |name: &'static str| Expr::col(Alias::new(name));
        let mut statement = select();
        statement
            .and_where(column("node").eq(node))
            .and_where(column("position").gt(signed(sealed)))
            .order_by(Alias::new("position"), Order::Asc);
        let rows: Vec<AuditRow> = self.inner.backend.fetch(&statement).await?;
        let mut hashes: Vec<(Hash, Timestamp)> = Vec::new();
        for row in rows.into_iter().map(AuditEntry::from) {
            let next = sealed + hashes.len() as u64 + 1;
            let missing = usize::try_from(row.position.saturating_sub(next)).unwrap_or(0);
            hashes
                .extend(std::iter::repeat_n(([0; 32], row.record.at), missing.min(PAGE as usize)));
            if row.position < next {
                continue;
            }
            let hash = match (row.salt, row.commitment) {
                (None, Some(hash)) => leaf(&row.node, row.position, &hash, &row.record),
                (salt, _) => {
                    let salt = salt.unwrap_or_default();
                    Seal { node: row.node, position: row.position, salt }.leaf(&row.record)
                }
            };
            hashes.push((hash, row.record.at));
        }
        Ok(hashes)
    }

    /// Stores a checkpoint. Returns whether there was none with its number.
    async fn add_checkpoint(&self, checkpoint: &Checkpoint) -> Result<bool, DbError> {
        let leaves = serde_json::json!(checkpoint.leaves).to_string();
        let added = transact!(self.inner.backend, |transaction| {
            sqlx::query(
                "INSERT INTO audit_checkpoints (node, number, first_position, last_position,
                   oldest_at, at, expired_before, previous, previous_at, root, key_id, signature,
                   leaves)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
                 ON CONFLICT (node, number) DO NOTHING",
            )
            .bind(checkpoint.node.as_str())
            .bind(signed(checkpoint.number))
            .bind(signed(checkpoint.first))
            .bind(signed(checkpoint.last))
            .bind(signed(checkpoint.oldest_at.as_millis()))
            .bind(signed(checkpoint.at.as_millis()))
            .bind(signed(checkpoint.expired_before.as_millis()))
            .bind(checkpoint.previous.as_str())
            .bind(checkpoint.previous_at.map(|at| signed(at.as_millis())))
            .bind(checkpoint.root.as_str())
            .bind(checkpoint.key_id.as_str())
            .bind(checkpoint.signature.as_str())
            .bind(leaves.as_str())
            .execute(&mut *transaction)
            .await?
            .rows_affected()
        });
        Ok(added == 1)
    }
}

impl From<Row> for Checkpoint {
    fn from(row: Row) -> Self {
        let time = |millis: i64| Timestamp::from_millis(unsigned(millis));
        Self {
            node: row.node,
            number: unsigned(row.number),
            first: unsigned(row.first_position),
            last: unsigned(row.last_position),
            oldest_at: time(row.oldest_at),
            at: time(row.at),
            expired_before: time(row.expired_before),
            previous: row.previous,
            previous_at: row.previous_at.map(time),
            root: row.root,
            key_id: row.key_id,
            signature: row.signature,
            leaves: serde_json::from_str(&row.leaves).unwrap_or_default(),
        }
    }
}
