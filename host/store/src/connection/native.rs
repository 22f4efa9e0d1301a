//! SQLite without a thread switch for each statement: for the one writer, for reads of single documents and
//! of read sets, and for queries. These functions block, so they run on threads of their own.

use crate::{error::DbError, integers::signed};
use rusqlite::{
    Connection, OpenFlags, Row, params_from_iter,
    types::{Null, ToSqlOutput},
};
use serde_json::Value;
use std::{path::Path, sync::Arc, time::Duration};
use tokio::sync::{Mutex, OwnedMappedMutexGuard, OwnedMutexGuard};

/// The capacity of the cache of prepared statements; each collection has up to six.
const STATEMENTS: usize = 512;
/// The same of a connection for queries.
const QUERY_STATEMENTS: usize = 100;
/// The number of SQLite's instructions between two checks of the clock: some tens of microseconds.
const INSTRUCTIONS: i32 = 4_000;
/// The time-out for locks of other processes, such as a backup.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The time-out of the wait for the writer's connection. Only the making of an index over many documents
/// keeps the connection for long.
const WRITER_TIMEOUT: Duration = Duration::from_secs(10);

/// The connection that writes; `None` after it is closed. One task at a time can lock it and begin a
/// transaction; all others wait in a queue.
#[derive(Debug)]
pub(crate) struct Writer(Arc<Mutex<Option<Connection>>>);

type ConnectionGuard = OwnedMappedMutexGuard<Option<Connection>, Connection>;

/// The writer's transaction, which is rolled back when it is dropped without a commit.
#[derive(Debug)]
pub(crate) struct NativeTransaction(ConnectionGuard);

impl Writer {
    pub(crate) fn open(path: &Path) -> Result<Self, DbError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        connection.execute_batch(
            "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON; PRAGMA wal_autocheckpoint = 4000",
        )?;
        Ok(Self(Arc::new(Mutex::new(Some(connection)))))
    }

    /// Waits for the connection and begins a transaction. The statement blocks the thread.
    pub(crate) async fn begin(&self) -> Result<NativeTransaction, DbError> {
        let connection = self.lock().await?;
        // `IMMEDIATE` takes the write lock at once: a read lock cannot become a write lock if another
        // transaction has written in between.
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Ok(NativeTransaction(connection))
    }

    /// Waits for the connection. The error is `Busy` after the time-out, and `Closed` if it was closed.
    pub(crate) async fn lock(&self) -> Result<ConnectionGuard, DbError> {
        let connection = tokio::time::timeout(WRITER_TIMEOUT, Arc::clone(&self.0).lock_owned());
        let connection = connection.await.map_err(|_| DbError::Busy)?;
        OwnedMutexGuard::try_map(connection, Option::as_mut).map_err(|_| DbError::Closed)
    }

    /// Merges the write-ahead log into the database and closes the file.
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
            statement.execute(params_from_iter(parameters(row)))?;
        }
        Ok(())
    }

    pub(crate) fn find<T: FromNative>(&self, sql: &str, rows: &[Value]) -> Result<Vec<T>, DbError> {
        let mut found = Vec::with_capacity(rows.len());
        for_each_row(&self.0, sql, rows, |row| found.push(row))?;
        Ok(found)
    }

    pub(crate) fn execute(&self, sql: &str) -> Result<(), DbError> {
        Ok(self.0.execute_batch(sql)?)
    }

    pub(crate) fn commit(self) -> Result<(), DbError> {
        self.0.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.0
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

    /// Runs a query once for each row of parameters, all in one snapshot, and returns the found rows.
    pub(crate) fn find<T: FromNative>(&self, sql: &str, rows: &[Value]) -> Result<Vec<T>, DbError> {
        let mut found = Vec::with_capacity(rows.len());
        self.for_each_row(sql, rows, |row| found.push(row))?;
        Ok(found)
    }

    /// Runs a query once for each row of parameters, all in one snapshot, and calls `take` with each found
    /// row.
    pub(crate) fn for_each_row<T: FromNative>(
        &self,
        sql: &str,
        rows: &[Value],
        take: impl FnMut(T),
    ) -> Result<(), DbError> {
        let snapshot = self.0.unchecked_transaction()?;
        for_each_row(&snapshot, sql, rows, take)?;
        Ok(snapshot.commit()?)
    }
}

/// A connection that runs queries. Between two of them, any thread may use it.
#[derive(Debug)]
pub(super) struct QueryConnection(Connection);

impl QueryConnection {
    pub(super) fn open(path: &Path) -> Result<Self, DbError> {
        let Reader(connection) = Reader::open(path)?;
        connection.set_prepared_statement_cache_capacity(QUERY_STATEMENTS);
        Ok(Self(connection))
    }

    /// Runs a query, and returns its rows as long as they are wanted, and whether an unwanted one has ended it.
    /// `may_continue` is called after each `INSTRUCTIONS` instructions, and false interrupts the query.
    pub(super) fn fetch<T: FromNative>(
        &self,
        sql: &str,
        values: &sea_query::Values,
        may_continue: Option<impl FnMut() -> bool + Send + 'static>,
        mut is_wanted: impl FnMut(&T) -> bool,
    ) -> Result<(Vec<T>, bool), DbError> {
        let stop = may_continue.map(|mut may_continue| move || !may_continue());
        self.0.progress_handler(INSTRUCTIONS, stop)?;
        let mut statement = self.0.prepare_cached(sql)?;
        let values: Vec<_> = values.iter().map(value).collect::<Result<_, _>>()?;
        let rows = statement.query_map(params_from_iter(values), |row| T::try_from(row))?;
        let mut fetched = Vec::new();
        for row in rows {
            let row = row?;
            if !is_wanted(&row) {
                return Ok((fetched, true));
            }
            fetched.push(row);
        }
        Ok((fetched, false))
    }
}

/// Returns a value of a statement as a parameter.
fn value(value: &sea_query::Value) -> Result<ToSqlOutput<'_>, DbError> {
    use sea_query::Value as Sql;
    Ok(match value {
        Sql::Bool(Some(value)) => ToSqlOutput::from(*value),
        Sql::Int(Some(value)) => ToSqlOutput::from(*value),
        Sql::BigInt(Some(value)) => ToSqlOutput::from(*value),
        Sql::Unsigned(Some(value)) => ToSqlOutput::from(*value),
        Sql::BigUnsigned(Some(value)) => ToSqlOutput::from(signed(*value)),
        Sql::Double(Some(value)) => ToSqlOutput::from(*value),
        Sql::String(Some(value)) => ToSqlOutput::from(value.as_str()),
        Sql::Bytes(Some(value)) => ToSqlOutput::from(value.as_slice()),
        Sql::Bool(None) | Sql::BigInt(None) | Sql::Double(None) | Sql::String(None) => {
            ToSqlOutput::from(Null)
        }
        other => return Err(DbError::Declaration(format!("the parameter {other:?}"))),
    })
}

/// A type that is read from the values of a row, in their order.
pub(crate) trait FromNative: for<'r> TryFrom<&'r Row<'r>, Error = rusqlite::Error> {}

impl<T: for<'r> TryFrom<&'r Row<'r>, Error = rusqlite::Error>> FromNative for T {}

fn for_each_row<T: FromNative>(
    connection: &Connection,
    sql: &str,
    rows: &[Value],
    mut take: impl FnMut(T),
) -> Result<(), DbError> {
    let mut statement = connection.prepare_cached(sql)?;
    for row in rows {
        let found =
            statement.query_map(params_from_iter(parameters(row)), |row| T::try_from(row))?;
        for found in found {
            take(found?);
        }
    }
    Ok(())
}

/// Returns the elements of a JSON array as parameters.
fn parameters(row: &Value) -> impl Iterator<Item = ToSqlOutput<'_>> {
    row.as_array().into_iter().flatten().map(parameter)
}

fn parameter(value: &Value) -> ToSqlOutput<'_> {
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
