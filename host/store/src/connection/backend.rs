//! The open database, and the SQL in which SQLite and PostgreSQL differ.

use super::{
    native::Reader,
    pooler::{self, ServerSettings},
    postgres::{self, LockTimeouts, PostgresServer},
    schema,
    sqlite::{self, Sqlite},
    transaction::Transaction,
};
use crate::{error::DbError, url::DatabaseUrl};
use sea_query::{PostgresQueryBuilder, SelectStatement, SqliteQueryBuilder};
use sea_query_sqlx::SqlxBinder as _;
use serde_json::json;
use sqlx::{AssertSqlSafe, Executor as _, Row as _, postgres::PgConnectOptions};
use std::sync::Arc;

/// SQL types that both databases have.
pub(crate) const TEXT: &str = "TEXT";
pub(crate) const NUMBER: &str = "BIGINT";

/// An open database.
#[derive(Debug)]
pub(crate) enum Backend {
    Sqlite(Sqlite),
    Postgres(Arc<PostgresServer>),
}

/// Runs the same code over the pool for reads of either database.
macro_rules! read {
    ($backend:expr, |$pool:ident| $body:expr) => {
        match &*$backend {
            $crate::connection::Backend::Sqlite(sqlite) => {
                let $pool = &sqlite.readers;
                $body
            }
            $crate::connection::Backend::Postgres(server) => {
                let $pool = &server.pool;
                $body
            }
        }
    };
}

/// Runs the same code in a transaction that writes, and commits it.
macro_rules! transact {
    ($backend:expr, |$transaction:ident| $body:expr) => {
        match &*$backend {
            $crate::connection::Backend::Sqlite(sqlite) => {
                let _guard = sqlite.lock_writer().await?;
                // `IMMEDIATE` takes the write lock at once: a read lock cannot become a write lock if another
                // transaction has written in between.
                let mut $transaction = sqlite.write_pool.begin_with("BEGIN IMMEDIATE").await?;
                let result = $body;
                $transaction.commit().await?;
                result
            }
            $crate::connection::Backend::Postgres(server) => {
                let mut $transaction = server.pool.begin().await?;
                let result = $body;
                $transaction.commit().await?;
                result
            }
        }
    };
}

/// Runs the same code in a transaction while nothing is committed on any node. Code that removes documents or
/// timers runs in this way: concurrently with a commit, each could wait for the other, because both change
/// the rows that count usage.
macro_rules! transact_alone {
    ($backend:expr, |$transaction:ident| $body:expr) => {
        $crate::connection::transact!($backend, |$transaction| {
            if let Some(lock) = $backend.commit_lock() {
                sqlx::query(sqlx::AssertSqlSafe(lock)).execute(&mut *$transaction).await?;
            }
            $body
        })
    };
}

/// Waits in a transaction until no recordings are being added or removed on any node, and lets none be until its end.
macro_rules! lock_recordings {
    ($backend:expr, $transaction:ident) => {
        if let Some(lock) = $backend.recordings_lock() {
            sqlx::query(sqlx::AssertSqlSafe(lock)).execute(&mut *$transaction).await?;
        }
    };
}

/// Runs the same code in a transaction while recordings are added or removed by nothing else on any node, and no
/// erasure is recorded. Calls are committed meanwhile.
macro_rules! transact_recordings {
    ($backend:expr, |$transaction:ident| $body:expr) => {
        $crate::connection::transact!($backend, |$transaction| {
            $crate::connection::lock_recordings!($backend, $transaction);
            $body
        })
    };
}

pub(crate) use {lock_recordings, read, transact, transact_alone, transact_recordings};

/// Steps of the schema before and after a migration.
#[derive(Debug)]
pub struct Steps {
    /// `None` if there was no schema.
    pub before: Option<i64>,
    pub after: i64,
}

/// Brings the schema of a database up to date, creating the database if there is none.
pub async fn migrate(url: &DatabaseUrl, settings: &ServerSettings) -> Result<Steps, DbError> {
    // The query fails if there is no schema or no database yet.
    const STEP: &str = "SELECT max(version) FROM _sqlx_migrations";
    let (before, after) = match url {
        DatabaseUrl::Sqlite(path) => {
            let reader = Reader::open(path);
            let before: Result<Vec<(Option<i64>,)>, DbError> =
                reader.and_then(|reader| reader.find(STEP, &[json!([])]));
            let before = before.unwrap_or_default();
            (before.first().and_then(|(step,)| *step), sqlite::newest_step())
        }
        DatabaseUrl::Postgres(url) => {
            let url: PgConnectOptions = url.parse()?;
            let (mut connection, ..) = pooler::open_at_start(&url, settings.pooling).await?;
            let before = match connection.fetch_one(STEP).await {
                Ok(row) => row.try_get(0)?,
                Err(_) => None,
            };
            (before, schema::newest_step())
        }
    };
    Backend::open(url, settings).await?.close().await;
    Ok(Steps { before, after })
}

impl Backend {
    /// Opens the database, creating it if there is none, and brings its schema up to date.
    pub(crate) async fn open(
        url: &DatabaseUrl,
        settings: &ServerSettings,
    ) -> Result<Self, DbError> {
        match url {
            DatabaseUrl::Sqlite(path) => Ok(Self::Sqlite(Sqlite::open(path).await?)),
            DatabaseUrl::Postgres(url) => {
                Ok(Self::Postgres(Arc::new(PostgresServer::open(url, settings).await?)))
            }
        }
    }

    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite(sqlite) => sqlite.close().await,
            Self::Postgres(server) => server.close().await,
        }
    }

    /// Begins a transaction in which nothing else is committed on any node. On SQLite this blocks the thread.
    pub(crate) async fn begin_alone(&self) -> Result<Transaction, DbError> {
        Ok(match self {
            Self::Sqlite(sqlite) => {
                sqlite.ensure_in_place()?;
                Transaction::Sqlite(sqlite.writer.begin().await?)
            }
            Self::Postgres(server) => Transaction::Postgres(server.begin_alone().await?),
        })
    }

    /// Begins a transaction beside those of other nodes, under these locks: the number of each, in ascending
    /// order, and whether it is exclusive. PostgreSQL takes them with the first query, which fails if it cannot. On
    /// SQLite nothing else is committed.
    pub(crate) async fn begin_shared(
        &self,
        locks: &[(i64, bool)],
        timeouts: LockTimeouts,
    ) -> Result<Transaction, DbError> {
        Ok(match self {
            Self::Sqlite(_) => self.begin_alone().await?,
            Self::Postgres(server) => Transaction::Postgres(server.begin_shared(locks, timeouts)),
        })
    }

    /// Returns the maximum number of locks that a transaction should take; `None` on SQLite, where it takes none.
    pub(crate) fn batch_locks(&self) -> Option<usize> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(server) => Some(server.batch_locks),
        }
    }

    /// Returns the statement that waits until nothing is being committed; `None` on SQLite, where the writer's
    /// lock does that.
    pub(crate) fn commit_lock(&self) -> Option<String> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(_) => Some(postgres::commit_lock()),
        }
    }

    /// Returns the statement that waits until no recordings are being added or removed; `None` on SQLite, where the
    /// writer's lock does that.
    pub(crate) fn recordings_lock(&self) -> Option<String> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(_) => Some(postgres::recordings_lock()),
        }
    }

    /// Runs a task that uses the database. On SQLite the task gets its own thread, because statements block.
    pub(crate) fn spawn(
        &self,
        name: &str,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), DbError> {
        match self {
            Self::Sqlite(_) => {
                let runtime = tokio::runtime::Handle::current();
                let thread = std::thread::Builder::new().name(name.to_owned());
                thread.spawn(move || runtime.block_on(task)).map_err(sqlx::Error::from)?;
            }
            Self::Postgres(_) => drop(tokio::spawn(task)),
        }
        Ok(())
    }

    pub(crate) fn false_literal(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "0",
            Self::Postgres(_) => "false",
        }
    }

    /// Returns the source of a statement's rows. PostgreSQL gets all rows at once, as JSON; SQLite
    /// gets them one by one, because its statements need no round trip.
    pub(crate) fn row_source(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "(SELECT 1) AS e",
            Self::Postgres(_) => "jsonb_array_elements($1::jsonb) AS e(value)",
        }
    }

    /// Returns the expression for an element of a row of `row_source`, of this type.
    pub(crate) fn parameter(&self, place: usize, kind: &str) -> String {
        match self {
            Self::Sqlite(_) => format!("?{}", place + 1),
            Self::Postgres(_) if kind == TEXT => format!("(e.value ->> {place})"),
            Self::Postgres(_) => format!("CAST(e.value ->> {place} AS {kind})"),
        }
    }

    /// Returns the word before a subquery of a join that uses the row of `row_source`. On SQLite it has none,
    /// because elements of the row are parameters.
    pub(crate) fn lateral(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "",
            Self::Postgres(_) => "LATERAL",
        }
    }

    /// Returns the condition of a delivery that is not a dead letter.
    pub(crate) fn live_condition(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "dead = 0",
            Self::Postgres(_) => "dead = false",
        }
    }

    /// Returns the condition of a dead letter.
    pub(crate) fn dead_condition(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "dead = 1",
            Self::Postgres(_) => "dead = true",
        }
    }

    /// Returns the end of a subquery that skips rows locked by other nodes.
    pub(crate) fn skip_locked(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "",
            Self::Postgres(_) => "FOR UPDATE SKIP LOCKED",
        }
    }

    /// Fetches the rows of a query that was built for either database.
    pub(crate) async fn fetch<T>(&self, statement: &SelectStatement) -> Result<Vec<T>, DbError>
    where
        T: Send
            + Unpin
            + for<'r> sqlx::FromRow<'r, sqlx::sqlite::SqliteRow>
            + for<'r> sqlx::FromRow<'r, sqlx::postgres::PgRow>,
    {
        Ok(match self {
            Self::Sqlite(sqlite) => {
                let (sql, values) = statement.build_sqlx(SqliteQueryBuilder);
                sqlx::query_as_with(AssertSqlSafe(sql), values).fetch_all(&sqlite.readers).await?
            }
            Self::Postgres(server) => {
                let (sql, values) = statement.build_sqlx(PostgresQueryBuilder);
                sqlx::query_as_with(AssertSqlSafe(sql), values).fetch_all(&server.pool).await?
            }
        })
    }
}
