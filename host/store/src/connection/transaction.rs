//! The transaction that commits units of work, on either database.

use super::{
    native::{FromNative, NativeTransaction},
    postgres::PostgresTransaction,
};
use crate::error::DbError;
use serde_json::Value;
use sqlx::{FromRow, SqlStr, postgres::PgRow};

/// A query with its rows, which are JSON arrays. Without rows it finds nothing.
pub(crate) type RowsQuery<'a> = (&'a SqlStr, Vec<Value>);

/// A transaction of either database, which is rolled back when it is dropped without a commit.
pub(crate) enum Transaction {
    Sqlite(NativeTransaction),
    Postgres(PostgresTransaction),
}

/// What several queries find, in their order.
pub(crate) enum Found<'a> {
    /// The queries run one by one.
    Sqlite(&'a mut NativeTransaction, std::vec::IntoIter<RowsQuery<'a>>),
    Postgres(std::vec::IntoIter<Vec<PgRow>>),
}

impl Transaction {
    /// Runs a statement over rows that are JSON arrays; does nothing without rows. On PostgreSQL it is sent with the
    /// next query or the end of the transaction, or by `send`, which then returns its error.
    pub(crate) async fn run(&mut self, sql: &SqlStr, rows: Vec<Value>) -> Result<(), DbError> {
        if rows.is_empty() {
            return Ok(());
        }
        match self {
            Self::Sqlite(transaction) => transaction.run(sql.as_str(), &rows),
            Self::Postgres(transaction) => transaction.run(sql, rows).await,
        }
    }

    /// Waits until the statements have run that were not sent yet. The error is that of the first one that fails.
    pub(crate) async fn send(&mut self) -> Result<(), DbError> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(transaction) => transaction.send().await.map(drop),
        }
    }

    /// Runs a query over rows that are JSON arrays and returns what it found.
    pub(crate) async fn find<T>(
        &mut self,
        sql: &SqlStr,
        rows: Vec<Value>,
    ) -> Result<Vec<T>, DbError>
    where
        T: FromNative + for<'r> FromRow<'r, PgRow>,
    {
        self.find_all(vec![(sql, rows)]).await?.take_next()
    }

    /// Runs queries in their order. PostgreSQL gets all of them at once.
    pub(crate) async fn find_all<'a>(
        &'a mut self,
        queries: Vec<RowsQuery<'a>>,
    ) -> Result<Found<'a>, DbError> {
        Ok(match self {
            Self::Sqlite(transaction) => Found::Sqlite(transaction, queries.into_iter()),
            Self::Postgres(transaction) => {
                Found::Postgres(transaction.find_all(queries).await?.into_iter())
            }
        })
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
            Self::Postgres(transaction) => transaction.commit().await,
        }
    }

    pub(crate) async fn roll_back(self) -> Result<(), DbError> {
        match self {
            Self::Sqlite(transaction) => {
                drop(transaction);
                Ok(())
            }
            Self::Postgres(transaction) => transaction.roll_back().await,
        }
    }
}

impl Found<'_> {
    /// Returns what the next query has found; nothing after the last query.
    pub(crate) fn take_next<T>(&mut self) -> Result<Vec<T>, DbError>
    where
        T: FromNative + for<'r> FromRow<'r, PgRow>,
    {
        match self {
            Self::Sqlite(transaction, queries) => match queries.next() {
                Some((sql, rows)) if !rows.is_empty() => transaction.find(sql.as_str(), &rows),
                _ => Ok(Vec::new()),
            },
            Self::Postgres(found) => {
                let rows = found.next().unwrap_or_default();
                let rows: Result<Vec<T>, sqlx::Error> = rows.iter().map(T::from_row).collect();
                Ok(rows?)
            }
        }
    }
}
