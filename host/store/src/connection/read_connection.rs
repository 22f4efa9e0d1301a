//! A dedicated connection for reads. Each read is one statement, and so sees one snapshot.

use super::{
    backend::Backend,
    batch::plain,
    native::{FromNative, Reader},
    pooler::Pooling,
    postgres::{KEY_SETTINGS, PostgresServer},
};
use crate::error::DbError;
use futures_util::TryStreamExt as _;
use serde_json::Value;
use sqlx::{
    AssertSqlSafe, Either, Executor as _, FromRow, PgConnection, Postgres, SqlStr, postgres::PgRow,
};
use std::{sync::Arc, time::Instant};
use tokio::sync::mpsc;

/// A connection of one task. On SQLite a read blocks the thread.
pub(crate) enum ReadConnection {
    Sqlite(Reader),
    /// The connection, and when it was opened; `None` before the first read, and after a read that failed.
    Postgres(Arc<PostgresServer>, Option<(PgConnection, Instant)>),
}

impl ReadConnection {
    pub(crate) fn open(backend: &Backend) -> Result<Self, DbError> {
        Ok(match backend {
            Backend::Sqlite(sqlite) => Self::Sqlite(Reader::open(&sqlite.path)?),
            Backend::Postgres(server) => Self::Postgres(Arc::clone(server), None),
        })
    }

    /// Runs a statement over rows that are JSON arrays, adds the found rows one by one to a state, and
    /// returns the state. `begin` creates the empty state, once for each attempt.
    pub(crate) async fn fold<T, S>(
        &mut self,
        sql: &SqlStr,
        rows: Vec<Value>,
        begin: impl Fn() -> S,
        add: impl Fn(&mut S, T),
    ) -> Result<S, DbError>
    where
        T: Send + Unpin + FromNative + for<'r> FromRow<'r, PgRow>,
    {
        match self {
            Self::Sqlite(reader) => {
                let mut state = begin();
                reader.for_each_row(sql.as_str(), &rows, |row| add(&mut state, row))?;
                Ok(state)
            }
            Self::Postgres(server, idle) => {
                let statement = Statement::new(server.pooling, sql, rows);
                // The server may have restarted since the last statement.
                let idle_now = idle.take().filter(|(_, opened)| !server.is_outdated(*opened));
                let reused = match idle_now {
                    Some((connection, opened)) => {
                        match read(connection, &statement, begin(), &add).await {
                            Err(error) if error.is_about_content() => return Err(error),
                            read => {
                                read.ok().map(|(connection, state)| (connection, opened, state))
                            }
                        }
                    }
                    None => None,
                };
                let (connection, opened, state) = match reused {
                    Some(read) => read,
                    None => {
                        let (connection, opened) = (server.connect().await?, Instant::now());
                        let (connection, state) =
                            read(connection, &statement, begin(), &add).await?;
                        (connection, opened, state)
                    }
                };
                *idle = Some((connection, opened));
                Ok(state)
            }
        }
    }
}

/// A statement over rows, as the connections take it.
enum Statement {
    /// With its rows as a parameter.
    Prepared(SqlStr, String),
    /// With its rows in its text, after a statement with the settings of the transaction. A simple query of several
    /// statements is one transaction, also for a pooler, and ends it whether or not it fails.
    Plain(String),
}

impl Statement {
    fn new(pooling: Pooling, sql: &SqlStr, rows: Vec<Value>) -> Self {
        match pooling {
            Pooling::None => Self::Prepared(sql.clone(), Value::Array(rows).to_string()),
            Pooling::Transaction => Self::Plain(format!("{KEY_SETTINGS};\n{}", plain(sql, rows))),
        }
    }
}

/// Runs a statement, and returns the connection with the state.
async fn read<T, S>(
    mut connection: PgConnection,
    statement: &Statement,
    mut state: S,
    add: &impl Fn(&mut S, T),
) -> Result<(PgConnection, S), DbError>
where
    T: Send + Unpin + for<'r> FromRow<'r, PgRow>,
{
    let (mut found, mut other_statements) = match statement {
        Statement::Prepared(sql, rows) => {
            let query = sqlx::query::<Postgres>(sql.clone()).bind(rows.as_str());
            (connection.fetch_many(query), 0)
        }
        Statement::Plain(text) => (connection.fetch_many(AssertSqlSafe(text.clone())), 1),
    };
    while let Some(step) = found.try_next().await? {
        match step {
            Either::Right(row) if other_statements == 0 => add(&mut state, T::from_row(&row)?),
            Either::Right(_) => {}
            // The end of a statement.
            Either::Left(_) => other_statements = 0,
        }
    }
    drop(found);
    Ok((connection, state))
}

/// Takes the second half out of a batch whose statement has failed, so that each half is read by itself and only
/// the request whose content the database refuses fails in the end. Returns `None` if that is the only request, or
/// if the error is about all requests.
pub(crate) fn split_batch<R>(batch: &mut Vec<R>, error: &DbError) -> Option<Vec<R>> {
    let half = batch.len() / 2;
    (half > 0 && error.is_about_content()).then(|| batch.split_off(batch.len() - half))
}

/// Waits for a request, and returns it with further waiting requests, until their sizes add up to `limit`.
/// Returns `None` when the channel is closed.
pub(crate) async fn next_batch<R>(
    queue: &mut mpsc::Receiver<R>,
    size: impl Fn(&R) -> usize,
    limit: usize,
) -> Option<Vec<R>> {
    let first = queue.recv().await?;
    let mut total = size(&first);
    let mut batch = vec![first];
    while total < limit
        && let Ok(request) = queue.try_recv()
    {
        total += size(&request);
        batch.push(request);
    }
    Some(batch)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error of a row that is too big.
    fn content_error() -> DbError {
        let code = rusqlite::ffi::Error { code: rusqlite::ErrorCode::TooBig, extended_code: 18 };
        DbError::Native(rusqlite::Error::SqliteFailure(code, None))
    }

    #[test]
    fn only_the_refused_requests_of_a_batch_fail() {
        let is_refused = |request: &u32| [3, 700].contains(request);
        let (mut answered, mut failed, mut statements) = (Vec::new(), Vec::new(), 0);
        let mut batches = vec![(0..1_000).collect::<Vec<u32>>()];
        while let Some(mut batch) = batches.pop() {
            statements += 1;
            if !batch.iter().any(is_refused) {
                answered.extend(batch);
                continue;
            }
            match split_batch(&mut batch, &content_error()) {
                Some(rest) => batches.extend([rest, batch]),
                None => failed.extend(batch),
            }
        }
        assert_eq!(failed, [3, 700]);
        assert_eq!(answered.len(), 998);
        assert!(answered.is_sorted() && statements < 45, "{statements}");
    }

    #[test]
    fn an_error_about_all_requests_fails_them_at_once() {
        let mut batch = vec![1, 2, 3];
        assert_eq!(split_batch(&mut batch, &DbError::TimedOut), None);
        assert_eq!(batch, [1, 2, 3]);
    }
}
