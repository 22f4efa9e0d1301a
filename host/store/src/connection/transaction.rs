//! The transaction that commits units of work, on either database.

use super::{
    native::{FromNative, NativeTransaction},
    postgres::PostgresTransaction,
};
use crate::error::DbError;
use serde_json::Value;
use sqlx::{FromRow, SqlStr, postgres::PgRow};

/// A transaction of either database, which is rolled back when it is dropped without a commit.
pub(crate) enum Transaction {
    Sqlite(NativeTransaction),
    Postgres(PostgresTransaction),
}

impl Transaction {
    /// Runs a statement over rows that are JSON arrays; does nothing without rows.
    pub(crate) async fn run(&mut self, sql: &SqlStr, rows: Vec<Value>) -> Result<(), DbError> {
        if rows.is_empty() {
            return Ok(());
        }
        match self {
            Self::Sqlite(transaction) => transaction.run(sql.as_str(), &rows),
            Self::Postgres(transaction) => {
                let rows = Value::Array(rows).to_string();
                sqlx::query(sql.clone()).bind(rows).execute(transaction.connection()?).await?;
                Ok(())
            }
        }
    }

    /// Runs a query over rows that are JSON arrays and returns what it found.
    pub(crate) async fn find<T>(
        &mut self,
        sql: &SqlStr,
        rows: Vec<Value>,
    ) -> Result<Vec<T>, DbError>
    where
        T: Send + Unpin + FromNative + for<'r> FromRow<'r, PgRow>,
    {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        match self {
            Self::Sqlite(transaction) => transaction.find(sql.as_str(), &rows),
            Self::Postgres(transaction) => {
                let rows = Value::Array(rows).to_string();
                Ok(sqlx::query_as(sql.clone())
                    .bind(rows)
                    .fetch_all(transaction.connection()?)
                    .await?)
            }
        }
    }

    /// Runs a statement without parameters, such as one that creates a table.
    pub(crate) async fn execute(&mut self, sql: String) -> Result<(), DbError> {
        match self {
            Self::Sqlite(transaction) => transaction.execute(&sql),
            Self::Postgres(transaction) => transaction.execute(sql).await,
        }
    }

    pub(crate) async fn commit(self) -> Result<(), DbError> {
        match self {
            Self::Sqlite(transaction) => transaction.commit(),
            Self::Postgres(transaction) => transaction.finish("COMMIT".to_owned()).await,
        }
    }

    pub(crate) async fn roll_back(self) -> Result<(), DbError> {
        match self {
            Self::Sqlite(transaction) => {
                drop(transaction);
                Ok(())
            }
            Self::Postgres(transaction) => transaction.finish("ROLLBACK".to_owned()).await,
        }
    }
}
