//! The transaction that units are committed in, on either database.

use crate::{
    DbError,
    backend::connect,
    native::{FromNative, NativeTransaction},
    signals::Told,
};
use serde_json::Value;
use sqlx::{
    AssertSqlSafe, FromRow, PgConnection, PgPool, SqlStr,
    postgres::{PgConnectOptions, PgRow},
};
use std::sync::{Arc, Mutex, PoisonError};

/// The advisory lock that nodes on one PostgreSQL commit under: "portolan" as a number.
const COMMIT_LOCK: i64 = i64::from_be_bytes(*b"portolan");

#[derive(Debug)]
pub(super) struct PostgresServer {
    pub(super) pool: PgPool,
    /// The connection of the last commit: the pool would ask before and after each use whether it
    /// still works.
    pub(super) last: Arc<Mutex<Option<PgConnection>>>,
}

/// A transaction of either database; dropped without a commit, nothing of it stays.
pub(super) enum Transaction {
    Sqlite(NativeTransaction),
    Postgres(PostgresTransaction),
}

pub(super) struct PostgresTransaction {
    connection: Option<PgConnection>,
    last: Arc<Mutex<Option<PgConnection>>>,
}

impl PostgresServer {
    /// Begins when no other node commits.
    pub(super) async fn begin(&self) -> Result<PostgresTransaction, DbError> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(connection) = last {
            match self.begin_on(connection).await {
                // The server may have gone and come back since the last commit.
                Err(DbError::Sqlx(error)) if error.as_database_error().is_none() => {}
                begun => return begun,
            }
        }
        self.begin_on(self.connect().await?).await
    }

    /// A connection beside the pool.
    pub(super) async fn connect(&self) -> Result<PgConnection, DbError> {
        if self.pool.is_closed() {
            return Err(DbError::Closed);
        }
        let options = self.pool.connect_options();
        // What these connections do, they find by keys. Fresh tables have no statistics yet that
        // would tell the planner so.
        let options = PgConnectOptions::clone(&options).options([
            ("plan_cache_mode", "force_generic_plan"),
            ("enable_seqscan", "off"),
            ("enable_hashjoin", "off"),
            ("enable_mergejoin", "off"),
            ("jit", "off"),
        ]);
        Ok(connect(&options).await?)
    }

    async fn begin_on(&self, connection: PgConnection) -> Result<PostgresTransaction, DbError> {
        let last = Arc::clone(&self.last);
        let mut transaction = PostgresTransaction { connection: Some(connection), last };
        let begin = format!("BEGIN; SELECT pg_advisory_xact_lock({COMMIT_LOCK})");
        transaction.execute(begin).await?;
        Ok(transaction)
    }
}

impl PostgresTransaction {
    fn connection(&mut self) -> Result<&mut PgConnection, DbError> {
        self.connection.as_mut().ok_or(DbError::Closed)
    }

    async fn execute(&mut self, sql: String) -> Result<(), DbError> {
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(self.connection()?).await?;
        Ok(())
    }

    async fn end(mut self, sql: String) -> Result<(), DbError> {
        self.execute(sql).await?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = self.connection.take();
        Ok(())
    }
}

impl Transaction {
    /// Runs a statement over rows that are JSON arrays; without rows it is not run.
    pub(super) async fn run(&mut self, sql: &SqlStr, rows: Vec<Value>) -> Result<(), DbError> {
        if rows.is_empty() {
            return Ok(());
        }
        match self {
            Self::Sqlite(it) => it.run(sql.as_str(), &rows),
            Self::Postgres(it) => {
                let rows = Value::Array(rows).to_string();
                sqlx::query(sql.clone()).bind(rows).execute(it.connection()?).await?;
                Ok(())
            }
        }
    }

    /// The same, with an answer.
    pub(super) async fn find<T>(
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
            Self::Sqlite(it) => it.find(sql.as_str(), &rows),
            Self::Postgres(it) => {
                let rows = Value::Array(rows).to_string();
                Ok(sqlx::query_as(sql.clone()).bind(rows).fetch_all(it.connection()?).await?)
            }
        }
    }

    /// Runs a statement without rows, such as one that makes a table.
    pub(super) async fn execute(&mut self, sql: String) -> Result<(), DbError> {
        match self {
            Self::Sqlite(it) => it.execute(&sql),
            Self::Postgres(it) => it.execute(sql).await,
        }
    }

    pub(super) async fn commit(self) -> Result<(), DbError> {
        match self {
            Self::Sqlite(it) => it.commit(),
            Self::Postgres(it) => it.end("COMMIT".to_owned()).await,
        }
    }

    /// The same, and tells the other nodes of it.
    pub(super) async fn commit_and_tell(self, told: &Told) -> Result<(), DbError> {
        match self {
            // There are no other nodes.
            Self::Sqlite(it) => it.commit(),
            Self::Postgres(it) => it.end(format!("{}COMMIT", told.sql())).await,
        }
    }

    pub(super) async fn roll_back(self) -> Result<(), DbError> {
        match self {
            Self::Sqlite(it) => {
                drop(it);
                Ok(())
            }
            Self::Postgres(it) => it.end("ROLLBACK".to_owned()).await,
        }
    }
}
