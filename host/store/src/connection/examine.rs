//! Looks at a database from outside, without changing it: for `portolan doctor`, also while a host uses it.

use super::{
    pooler::{self, ServerSettings},
    schema, sqlite,
};
use crate::{error::DbError, integers::unsigned, url::DatabaseUrl};
use portolan_vocabulary::Timestamp;
use rusqlite::{Connection as SqliteConnection, OpenFlags};
use sqlx::{Connection as _, Executor as _, Row as _, postgres::PgConnectOptions};
use std::{
    fs::{File, TryLockError},
    path::Path,
    time::{Duration, Instant},
};

/// The number of SQLite's instructions between two looks at the time.
const INSTRUCTIONS: i32 = 10_000;
const STEP: &str = "SELECT max(version) FROM _sqlx_migrations";
const SEALED_BY: &str = "SELECT DISTINCT sealed_by FROM signing_keys WHERE sealed_by <> ''";
const NEWEST_ROW: &str = "SELECT max(at) FROM audit";

/// The findings of a look at a database.
#[derive(Debug, Default)]
pub struct Examination {
    /// The step of the schema; `None` if there is none yet.
    pub step: Option<i64>,
    /// The newest step that this version knows.
    pub newest_step: i64,
    /// The names of the secret keys that seal the signing keys.
    pub sealed_by: Vec<String>,
    /// The time of the newest row of the audit log.
    pub newest_row_at: Option<Timestamp>,
    /// The clock of the database server; `None` on SQLite.
    pub server_time: Option<Timestamp>,
    /// The damage, if any was found.
    pub damage: Option<String>,
    /// Whether the time was over before all pages were checked for damage.
    pub is_cut_short: bool,
    /// Whether the server takes no writes, for example because it is a standby.
    pub is_read_only: bool,
    /// The open connections of the server, and their maximum.
    pub connections: Option<(u64, u64)>,
}

/// Returns whether a host uses an SQLite database now.
pub fn is_in_use(path: &Path) -> bool {
    let lock = File::open(sqlite::lock_path(path));
    // The lock file is created by the first host.
    lock.is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Looks at a database for at most about this time. Returns `None` if there is no file yet.
pub async fn examine(
    url: &DatabaseUrl,
    settings: &ServerSettings,
    time: Duration,
) -> Result<Option<Examination>, DbError> {
    match url {
        DatabaseUrl::Sqlite(path) if !path.exists() => Ok(None),
        DatabaseUrl::Sqlite(path) => {
            let owned = path.clone();
            let looked = tokio::task::spawn_blocking(move || examine_file(&owned, time)).await;
            let unusable = |error| DbError::Unusable { path: path.clone(), error: Box::new(error) };
            looked.map_err(|_| DbError::Closed)?.map(Some).map_err(unusable)
        }
        DatabaseUrl::Postgres(url) => {
            let options: PgConnectOptions = url.parse().map_err(DbError::Sqlx)?;
            let looked = tokio::time::timeout(time, examine_server(&options, settings)).await;
            let looked = looked.unwrap_or_else(|_| Err(DbError::Sqlx(sqlx::Error::PoolTimedOut)));
            looked.map(Some).map_err(|error| match error {
                DbError::Sqlx(error) => pooler::not_connected(&options, error),
                other => other,
            })
        }
    }
}

fn examine_file(path: &Path, time: Duration) -> Result<Examination, DbError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = SqliteConnection::open_with_flags(path, flags)?;
    database.busy_timeout(time)?;
    let count: i64 = database.query_row(
        "SELECT count(*) FROM sqlite_master WHERE name = '_sqlx_migrations'",
        [],
        |row| row.get(0),
    )?;
    let mut found = Examination { newest_step: sqlite::newest_step(), ..Examination::default() };
    if count == 0 {
        return Ok(found);
    }
    found.step = database.query_row(STEP, [], |row| row.get(0))?;
    // Earlier steps have other tables.
    if found.step == Some(found.newest_step) {
        let mut names = database.prepare(SEALED_BY)?;
        found.sealed_by = names.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let newest: Option<i64> = database.query_row(NEWEST_ROW, [], |row| row.get(0))?;
        found.newest_row_at = newest.map(|at| Timestamp::from_millis(unsigned(at)));
    }
    let started = Instant::now();
    database.progress_handler(INSTRUCTIONS, Some(move || started.elapsed() > time))?;
    match database.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0)) {
        Ok(result) => found.damage = (result != "ok").then_some(result),
        Err(error)
            if error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted) =>
        {
            found.is_cut_short = true;
        }
        Err(error) => found.damage = Some(error.to_string()),
    }
    Ok(found)
}

/// Every statement is a simple query, which needs no session of its own.
async fn examine_server(
    options: &PgConnectOptions,
    settings: &ServerSettings,
) -> Result<Examination, DbError> {
    let (mut server, ..) = pooler::open(options, settings.pooling, Duration::ZERO).await?;
    let row = server.fetch_one(
        "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT),
                current_setting('transaction_read_only') = 'on',
                (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
                CAST(current_setting('max_connections') AS BIGINT),
                to_regclass('_sqlx_migrations') IS NOT NULL",
    );
    let row = row.await?;
    let mut found = Examination {
        newest_step: schema::newest_step(),
        server_time: Some(Timestamp::from_millis(unsigned(row.try_get(0)?))),
        is_read_only: row.try_get(1)?,
        connections: Some((unsigned(row.try_get(2)?), unsigned(row.try_get(3)?))),
        ..Examination::default()
    };
    if row.try_get(4)? {
        found.step = server.fetch_one(STEP).await?.try_get(0)?;
    }
    if found.step == Some(found.newest_step) {
        for row in server.fetch_all(SEALED_BY).await? {
            found.sealed_by.push(row.try_get(0)?);
        }
        let newest: Option<i64> = server.fetch_one(NEWEST_ROW).await?.try_get(0)?;
        found.newest_row_at = newest.map(|at| Timestamp::from_millis(unsigned(at)));
    }
    server.close().await?;
    Ok(found)
}
