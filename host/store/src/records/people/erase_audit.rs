//! The erasure of a person from the audit log.

use super::pattern;
use crate::{
    audit_log::{ERASED_AGENT, ERASED_OWNER, commitment},
    connection::{read, transact},
    effects::AuditRecord,
    error::DbError,
    store::Store,
};
use portolan_vocabulary::Timestamp;

/// The number of rows that are changed in one transaction.
const CHUNK: usize = 500;

/// The personal part of a row: its number, salt, agent, owner, client and address.
type Row = (i64, Option<String>, Option<String>, Option<String>, Option<String>, Option<String>);

impl Store {
    /// Removes what is personal from the rows that name this id. The salted hash of it stays in place of the
    /// salt, so the checkpoints stay valid, and nobody can find out whose hash it was.
    pub(super) async fn erase_audit_rows(&self, id: &str) -> Result<(), DbError> {
        let search = self.search().await?;
        let rows: Vec<Row> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT seq, salt, agent_id, owner_id, client_id, address FROM audit
                 WHERE agent_id = $1 OR agent_id LIKE $2 OR owner_id = $1 OR owner_id LIKE $2",
            )
            .bind(id)
            .bind(pattern(id))
            .fetch_all(pool)
            .await?
        });
        drop(search);
        for rows in rows.chunks(CHUNK) {
            transact!(self.inner.backend, |transaction| {
                for row in rows {
                    sqlx::query(
                        "UPDATE audit SET salt = NULL, commitment = coalesce($1, commitment), client_id = NULL, address = NULL,
                         agent_id = CASE WHEN agent_id IS NULL THEN NULL ELSE $2 END,
                         owner_id = CASE WHEN owner_id IS NULL THEN NULL ELSE $3 END
                         WHERE seq = $4",
                    )
                    .bind(hash_of(row))
                    .bind(ERASED_AGENT)
                    .bind(ERASED_OWNER)
                    .bind(row.0)
                    .execute(&mut *transaction)
                    .await?;
                }
            });
        }
        Ok(())
    }
}

/// Returns the salted hash of a row; `None` for a row of an earlier version, which has no salt.
fn hash_of((_, salt, agent_id, owner_id, client_id, address): &Row) -> Option<String> {
    let record = AuditRecord {
        agent_id: agent_id.clone(),
        owner_id: owner_id.clone(),
        client_id: client_id.clone(),
        address: address.clone(),
        ..AuditRecord::of_host("", "", Timestamp::default())
    };
    salt.as_ref().map(|salt| commitment(salt, &record))
}
