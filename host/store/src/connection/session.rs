//! A session of PostgreSQL that runs batches of statements.

use super::{
    batch::{Batch, Prepared},
    pooler::Pooling,
};
use futures_util::TryStreamExt as _;
use sqlx::{AssertSqlSafe, Either, PgConnection, postgres::PgRow};
use std::time::Instant;

/// A connection with the statements that it has prepared. After an error it is not to be used again.
#[derive(Debug)]
pub(super) struct Session {
    connection: PgConnection,
    /// `None` if a pooler gives each transaction another session.
    prepared: Option<Prepared>,
    pub(super) opened: Instant,
}

impl Session {
    pub(super) fn new(connection: PgConnection, pooling: Pooling) -> Self {
        let prepared = (pooling == Pooling::None).then(Prepared::default);
        Self { connection, prepared, opened: Instant::now() }
    }

    pub(super) fn into_connection(self) -> PgConnection {
        self.connection
    }

    /// Sends statements, and returns the rows that each query has found. The error is that of the first statement
    /// that fails; those behind it have not run.
    pub(super) async fn send(&mut self, batch: &Batch) -> Result<Vec<Vec<PgRow>>, sqlx::Error> {
        let (text, wanted) = batch.text(self.prepared.as_mut());
        let mut wanted = wanted.into_iter();
        let mut answers = sqlx::raw_sql(AssertSqlSafe(text)).fetch_many(&mut self.connection);
        let (mut found, mut rows) = (Vec::new(), Vec::new());
        while let Some(answer) = answers.try_next().await? {
            match answer {
                Either::Right(row) => rows.push(row),
                // The end of a statement.
                Either::Left(_) => {
                    let rows = std::mem::take(&mut rows);
                    if wanted.next() == Some(true) {
                        found.push(rows);
                    }
                }
            }
        }
        Ok(found)
    }
}
