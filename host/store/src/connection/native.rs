//! SQLite without a thread hop for each statement: for the one writer, and for reads of single
//! documents. What runs here blocks, so it runs on threads of its own.

use crate::error::DbError;
use rusqlite::{
    Connection, OpenFlags, Row, params_from_iter,
    types::{Null, ToSqlOutput},
};
use serde_json::Value;
use std::{path::Path, sync::Arc, time::Duration};
use tokio::sync::{Mutex, OwnedMappedMutexGuard, OwnedMutexGuard};

/// Statements that are kept planned; each collection has up to six.
const STATEMENTS: usize = 512;
/// Only what is not this host, such as a backup, can hold the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a writer waits for its turn. All turns are short, but for an index that is made of many
/// documents.
const WRITER_TIMEOUT: Duration = Duration::from_secs(10);

/// The connection that writes, until it is closed. Who has it may begin a transaction; all others
/// wait in a line.
#[derive(Debug)]
pub(crate) struct Writer(Arc<Mutex<Option<Connection>>>);

type Turn = OwnedMappedMutexGuard<Option<Connection>, Connection>;

/// The writer's transaction; dropped without a commit, nothing of it stays.
#[derive(Debug)]
pub(crate) struct NativeTransaction(Turn);

impl Writer {
    pub(crate) fn open(path: &Path) -> Result<Self, DbError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        connection.execute_batch(
            "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = 4000",
        )?;
        Ok(Self(Arc::new(Mutex::new(Some(connection)))))
    }

    /// Begins a transaction when it is this one's turn. Blocks while it does.
    pub(crate) async fn begin(&self) -> Result<NativeTransaction, DbError> {
        let connection = self.turn().await?;
        // A read lock cannot become a write lock once another writer was in between.
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Ok(NativeTransaction(connection))
    }

    /// Waits until nobody else of this host writes.
    pub(crate) async fn turn(&self) -> Result<Turn, DbError> {
        let connection = tokio::time::timeout(WRITER_TIMEOUT, Arc::clone(&self.0).lock_owned());
        let connection = connection.await.map_err(|_| DbError::Busy)?;
        OwnedMutexGuard::try_map(connection, Option::as_mut).map_err(|_| DbError::Closed)
    }

    /// Moves what is in the log into the database, and lets go of the file.
    pub(crate) async fn close(&self) {
        if let Some(connection) = self.0.lock().await.take()
            && let Err(error) = connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
        {
            tracing::warn!(%error, "the log is left beside the database");
        }
    }
}

impl NativeTransaction {
    pub(crate) fn run(&self, sql: &str, rows: &[Value]) -> Result<(), DbError> {
        let mut statement = self.0.prepare_cached(sql)?;
        for row in rows {
            statement.execute(params_from_iter(parts(row)))?;
        }
        Ok(())
    }

    pub(crate) fn find<T: FromNative>(&self, sql: &str, rows: &[Value]) -> Result<Vec<T>, DbError> {
        find(&self.0, sql, rows)
    }

    pub(crate) fn execute(&self, sql: &str) -> Result<(), DbError> {
        Ok(self.0.execute_batch(sql)?)
    }

    pub(crate) fn commit(self) -> Result<(), DbError> {
        self.0.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }
}

impl Drop for NativeTransaction {
    fn drop(&mut self) {
        if !self.0.is_autocommit()
            && let Err(error) = self.0.execute_batch("ROLLBACK")
        {
            tracing::error!(%error, "a transaction cannot be rolled back");
        }
    }
}

/// A connection that reads.
#[derive(Debug)]
pub(crate) struct Reader(Connection);

impl Reader {
    pub(crate) fn open(path: &Path) -> Result<Self, DbError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        Ok(Self(connection))
    }

    /// What it finds is of one moment: each row is looked for by itself.
    pub(crate) fn find<T: FromNative>(&self, sql: &str, rows: &[Value]) -> Result<Vec<T>, DbError> {
        let snapshot = self.0.unchecked_transaction()?;
        let found = find(&snapshot, sql, rows)?;
        snapshot.commit()?;
        Ok(found)
    }
}

/// A row's values in their order.
pub(crate) trait FromNative: for<'r> TryFrom<&'r Row<'r>, Error = rusqlite::Error> {}

impl<T: for<'r> TryFrom<&'r Row<'r>, Error = rusqlite::Error>> FromNative for T {}

fn find<T: FromNative>(
    connection: &Connection,
    sql: &str,
    rows: &[Value],
) -> Result<Vec<T>, DbError> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut all = Vec::with_capacity(rows.len());
    for row in rows {
        let found = statement.query_map(params_from_iter(parts(row)), |row| T::try_from(row))?;
        for found in found {
            all.push(found?);
        }
    }
    Ok(all)
}

/// The elements of a JSON array as parameters.
fn parts(row: &Value) -> impl Iterator<Item = ToSqlOutput<'_>> {
    row.as_array().into_iter().flatten().map(part)
}

fn part(value: &Value) -> ToSqlOutput<'_> {
    match value {
        Value::Null => ToSqlOutput::from(Null),
        Value::Bool(value) => ToSqlOutput::from(*value),
        Value::Number(number) => match number.as_i64() {
            Some(number) => ToSqlOutput::from(number),
            None => ToSqlOutput::from(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => ToSqlOutput::from(text.as_str()),
        Value::Array(_) | Value::Object(_) => ToSqlOutput::from(value.to_string()),
    }
}
