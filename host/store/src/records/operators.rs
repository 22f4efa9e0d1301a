//! The tokens of operators.

use crate::{
    connection::{read, transact},
    error::DbError,
    integers::{signed, unsigned},
    store::Store,
    texts::is_storable,
};
use portolan_vocabulary::{OperatorRole, Timestamp};

/// The token of an operator.
#[derive(Debug, Clone)]
pub struct OperatorRecord {
    pub name: String,
    pub role: OperatorRole,
    /// SHA-256 of the token in hexadecimal digits.
    pub token_hash: String,
    /// The name of the operator who made or renewed the token.
    pub made_by: String,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    /// The start of the day on which the token was last used; `None` if it never was.
    pub last_used_at: Option<Timestamp>,
}

/// Name, role, hash, maker, creation, expiry, last use.
type Row = (String, String, String, String, i64, i64, Option<i64>);

impl Store {
    /// Returns every operator's token, by name. A row whose role this version does not know is left out.
    pub async fn operators(&self) -> Result<Vec<OperatorRecord>, DbError> {
        let rows: Vec<Row> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT name, role, token_hash, made_by, created_at, expires_at, last_used_at
                 FROM operators ORDER BY name",
            )
            .fetch_all(pool)
            .await?
        });
        Ok(rows.into_iter().filter_map(record).collect())
    }

    /// Adds an operator. Returns whether the name was free.
    pub async fn add_operator(&self, record: &OperatorRecord) -> Result<bool, DbError> {
        let added = transact!(self.inner.backend, |transaction| {
            sqlx::query(
                "INSERT INTO operators (name, role, token_hash, made_by, created_at, expires_at)
                 VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (name) DO NOTHING",
            )
            .bind(record.name.as_str())
            .bind(record.role.name())
            .bind(record.token_hash.as_str())
            .bind(record.made_by.as_str())
            .bind(signed(record.created_at.as_millis()))
            .bind(signed(record.expires_at.as_millis()))
            .execute(&mut *transaction)
            .await?
            .rows_affected()
        });
        Ok(added == 1)
    }

    /// Replaces the token of an operator, who keeps the role and the time of the last use. Returns whether
    /// there is such an operator.
    pub async fn renew_operator(&self, record: &OperatorRecord) -> Result<bool, DbError> {
        if !is_storable(&record.name) {
            return Ok(false);
        }
        let renewed = transact!(self.inner.backend, |transaction| {
            sqlx::query(
                "UPDATE operators SET token_hash = $2, made_by = $3, created_at = $4, expires_at = $5
                 WHERE name = $1",
            )
            .bind(record.name.as_str())
            .bind(record.token_hash.as_str())
            .bind(record.made_by.as_str())
            .bind(signed(record.created_at.as_millis()))
            .bind(signed(record.expires_at.as_millis()))
            .execute(&mut *transaction)
            .await?
            .rows_affected()
        });
        Ok(renewed == 1)
    }

    /// Removes an operator. Returns whether there was one.
    pub async fn remove_operator(&self, name: &str) -> Result<bool, DbError> {
        if !is_storable(name) {
            return Ok(false);
        }
        let removed = transact!(self.inner.backend, |transaction| {
            sqlx::query("DELETE FROM operators WHERE name = $1")
                .bind(name)
                .execute(&mut *transaction)
                .await?
                .rows_affected()
        });
        Ok(removed == 1)
    }

    /// Records the day on which an operator's token was used.
    pub async fn put_operator_use(&self, name: &str, day: Timestamp) -> Result<(), DbError> {
        transact!(self.inner.backend, |transaction| {
            sqlx::query(
                "UPDATE operators SET last_used_at = $2
                 WHERE name = $1 AND coalesce(last_used_at, 0) < $2",
            )
            .bind(name)
            .bind(signed(day.as_millis()))
            .execute(&mut *transaction)
            .await?;
        });
        Ok(())
    }
}

fn record(row: Row) -> Option<OperatorRecord> {
    let (name, role, token_hash, made_by, created_at, expires_at, last_used_at) = row;
    let instant = |millis| Timestamp::from_millis(unsigned(millis));
    Some(OperatorRecord {
        name,
        role: OperatorRole::from_name(&role)?,
        token_hash,
        made_by,
        created_at: instant(created_at),
        expires_at: instant(expires_at),
        last_used_at: last_used_at.map(instant),
    })
}
