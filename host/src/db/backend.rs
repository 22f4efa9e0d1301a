//! The two databases behind the store, and the little in which their SQL differs.

use crate::db::{DatabaseUrl, DbError};
use serde_json::Value;
use sqlx::{
    AssertSqlSafe, Executor as _, FromRow, PgPool, SqlStr, SqlitePool,
    migrate::Migrator,
    postgres::{PgConnectOptions, PgPoolOptions, PgRow},
    sqlite::{
        SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteRow, SqliteSynchronous,
    },
};
use std::{
    fs::{File, TryLockError},
    path::Path,
    str::FromStr as _,
    time::Duration,
};

static SQLITE_MIGRATIONS: Migrator = sqlx::migrate!("src/db/migrations/sqlite");
static POSTGRES_MIGRATIONS: Migrator = sqlx::migrate!("src/db/migrations/postgres");

/// How long a statement waits for a connection of the pool.
const ACQUIRE: Duration = Duration::from_secs(2);
/// Readers of SQLite: each is a thread of its own.
const SQLITE_READERS: u32 = 4;
const POSTGRES_CONNECTIONS: u32 = 16;

/// The advisory lock that nodes on one PostgreSQL commit under: "portolan" as a number.
const COMMIT_LOCK: i64 = i64::from_be_bytes(*b"portolan");

/// An open database.
#[derive(Debug)]
pub(super) enum Backend {
    Sqlite(Sqlite),
    Postgres(PgPool),
}

#[derive(Debug)]
pub(super) struct Sqlite {
    /// One connection: SQLite has one writer at a time.
    pub(super) writer: SqlitePool,
    pub(super) readers: SqlitePool,
    /// Held while the database is open: two hosts on one file would not know of each other.
    lock: File,
}

/// Runs the same code over the pool that reads, whichever database it is.
macro_rules! read {
    ($store:expr, |$pool:ident| $body:expr) => {
        match &*$store.inner.backend {
            $crate::db::backend::Backend::Sqlite(sqlite) => {
                let $pool = &sqlite.readers;
                $body
            }
            $crate::db::backend::Backend::Postgres(pool) => {
                let $pool = pool;
                $body
            }
        }
    };
}

/// Runs the same code in a transaction that writes, and commits it.
macro_rules! transact {
    ($store:expr, |$transaction:ident| $body:expr) => {
        match &*$store.inner.backend {
            $crate::db::backend::Backend::Sqlite(sqlite) => {
                // A read lock cannot become a write lock once another writer was in between.
                let mut $transaction = sqlite.writer.begin_with("BEGIN IMMEDIATE").await?;
                let result = $body;
                $transaction.commit().await?;
                result
            }
            $crate::db::backend::Backend::Postgres(pool) => {
                let mut $transaction = pool.begin().await?;
                let result = $body;
                $transaction.commit().await?;
                result
            }
        }
    };
}

pub(super) use {read, transact};

impl Backend {
    /// Opens the database, creating it if there is none, and brings its schema up to date.
    pub(super) async fn open(url: &DatabaseUrl) -> Result<Self, DbError> {
        match url {
            DatabaseUrl::Sqlite(path) => Ok(Self::Sqlite(Sqlite::open(path).await?)),
            DatabaseUrl::Postgres(url) => {
                let options =
                    PgConnectOptions::from_str(url)?.application_name("portolan").options([
                        // A node that hangs must not keep the others waiting.
                        ("idle_in_transaction_session_timeout", "10s"),
                        ("lock_timeout", "10s"),
                    ]);
                let pool = PgPoolOptions::new()
                    .max_connections(POSTGRES_CONNECTIONS)
                    .acquire_timeout(ACQUIRE)
                    .connect_with(options)
                    .await?;
                let version = pool.fetch_one("SHOW server_version_num").await?;
                let version: String = sqlx::Row::try_get(&version, 0)?;
                if version.parse::<u32>().is_ok_and(|version| version < 150_000) {
                    return Err(DbError::TooOld(version));
                }
                POSTGRES_MIGRATIONS.run(&pool).await?;
                Ok(Self::Postgres(pool))
            }
        }
    }

    pub(super) async fn close(&self) {
        match self {
            Self::Sqlite(sqlite) => {
                sqlite.readers.close().await;
                sqlite.writer.close().await;
                // The file's end would unlock it too, but others may hold on to this value.
                let _unlocked = sqlite.lock.unlock();
            }
            Self::Postgres(pool) => pool.close().await,
        }
    }

    /// The transaction that units are committed in. There is one at a time, on all nodes.
    pub(super) async fn begin_commit(&self) -> Result<Transaction, DbError> {
        match self {
            Self::Sqlite(sqlite) => {
                Ok(Transaction::Sqlite(sqlite.writer.begin_with("BEGIN IMMEDIATE").await?))
            }
            Self::Postgres(pool) => {
                let mut transaction = pool.begin().await?;
                sqlx::query("SELECT pg_advisory_xact_lock($1)")
                    .bind(COMMIT_LOCK)
                    .execute(&mut *transaction)
                    .await?;
                Ok(Transaction::Postgres(transaction))
            }
        }
    }

    pub(super) fn no(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "0",
            Self::Postgres(_) => "false",
        }
    }

    /// The elements of a JSON array as rows `e(value)`.
    pub(super) fn rows(&self, parameter: &str) -> String {
        match self {
            Self::Sqlite(_) => format!("json_each({parameter}) AS e"),
            Self::Postgres(_) => format!("jsonb_array_elements({parameter}::jsonb) AS e(value)"),
        }
    }
}

/// A transaction of either database.
pub(super) enum Transaction {
    Sqlite(sqlx::Transaction<'static, sqlx::Sqlite>),
    Postgres(sqlx::Transaction<'static, sqlx::Postgres>),
}

impl Transaction {
    /// Runs a statement over rows that are JSON arrays; without rows it is not run.
    pub(super) async fn run(&mut self, sql: &SqlStr, rows: Vec<Value>) -> Result<(), DbError> {
        if rows.is_empty() {
            return Ok(());
        }
        let (sql, rows) = (sql.clone(), Value::Array(rows).to_string());
        match self {
            Self::Sqlite(it) => {
                sqlx::query(sql).bind(rows).execute(&mut **it).await?;
            }
            Self::Postgres(it) => {
                sqlx::query(sql).bind(rows).execute(&mut **it).await?;
            }
        }
        Ok(())
    }

    /// The same, with an answer.
    pub(super) async fn find<T>(
        &mut self,
        sql: &SqlStr,
        rows: Vec<Value>,
    ) -> Result<Vec<T>, DbError>
    where
        T: Send + Unpin + for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow>,
    {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let (sql, rows) = (sql.clone(), Value::Array(rows).to_string());
        Ok(match self {
            Self::Sqlite(it) => sqlx::query_as(sql).bind(rows).fetch_all(&mut **it).await?,
            Self::Postgres(it) => sqlx::query_as(sql).bind(rows).fetch_all(&mut **it).await?,
        })
    }

    /// Runs a statement without rows, such as one that makes a table.
    pub(super) async fn execute(&mut self, sql: String) -> Result<(), DbError> {
        let sql = AssertSqlSafe(sql);
        match self {
            Self::Sqlite(it) => {
                sqlx::raw_sql(sql).execute(&mut **it).await?;
            }
            Self::Postgres(it) => {
                sqlx::raw_sql(sql).execute(&mut **it).await?;
            }
        }
        Ok(())
    }

    pub(super) async fn commit(self) -> Result<(), DbError> {
        match self {
            Self::Sqlite(it) => Ok(it.commit().await?),
            Self::Postgres(it) => Ok(it.commit().await?),
        }
    }
}

impl Sqlite {
    async fn open(path: &Path) -> Result<Self, DbError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            create_private_folder(folder)
                .map_err(|error| DbError::File { path: folder.to_owned(), error })?;
        }
        let lock = lock(path)?;
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(5));
        let pool = || SqlitePoolOptions::new().acquire_timeout(ACQUIRE);
        let writer = pool().max_connections(1).connect_with(options.clone()).await?;
        restrict(path).map_err(|error| DbError::File { path: path.to_owned(), error })?;
        SQLITE_MIGRATIONS.run(&writer).await?;
        let readers = pool()
            .max_connections(SQLITE_READERS)
            .connect_with(options.read_only(true).create_if_missing(false))
            .await?;
        Ok(Self { writer, readers, lock })
    }
}

/// Takes the lock beside the database; the system lets go of it when the process ends.
fn lock(path: &Path) -> Result<File, DbError> {
    let mut name = path.as_os_str().to_owned();
    name.push("-lock");
    let file = |error| DbError::File { path: Path::new(&name).to_owned(), error };
    let lock = File::create(&name).map_err(file)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(DbError::InUse(path.to_owned())),
        Err(TryLockError::Error(error)) => Err(file(error)),
    }
}

/// Keys and hashes of secrets are in the database: nobody else may read it.
pub fn create_private_folder(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn restrict(file: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600))
}
