//! Reads single documents in batches: requests that arrive while a statement runs are answered by
//! the next statement.

use super::{backend::Backend, native::Reader, postgres::PostgresServer, statements::Statements};
use crate::{
    document::{CollectionId, DocumentKey, Stored},
    error::DbError,
    integers::{instant, unsigned},
};
use serde_json::{Value, json};
use sqlx::PgConnection;
use std::{collections::HashMap, sync::Arc, time::Duration};
use tokio::sync::{mpsc, oneshot};

/// The queue's capacity; further callers wait to enqueue.
const WAITING: usize = 4_096;
/// The time-out of one statement.
const READ_TIMEOUT: Duration = Duration::from_secs(10);
/// The most documents of one statement; a single request may ask for more.
const BATCH: usize = 1_024;

type Answer = Result<HashMap<DocumentKey, Stored>, Arc<DbError>>;

struct Request {
    keys: Vec<DocumentKey>,
    answer: oneshot::Sender<Answer>,
}

/// A handle to the task that reads documents.
#[derive(Debug, Clone)]
pub(crate) struct DocumentReader {
    requests: mpsc::Sender<Request>,
}

impl DocumentReader {
    pub(crate) fn start(backend: &Backend, statements: Arc<Statements>) -> Result<Self, DbError> {
        let mut source = match backend {
            Backend::Sqlite(sqlite) => Source::Sqlite(Reader::open(&sqlite.path)?),
            Backend::Postgres(server) => Source::Postgres(Arc::clone(server), None),
        };
        let (requests, mut waiting) = mpsc::channel::<Request>(WAITING);
        backend.spawn("portolan-read", async move {
            while let Some(first) = waiting.recv().await {
                let mut count = first.keys.len();
                let mut requests = vec![first];
                while count < BATCH
                    && let Ok(request) = waiting.try_recv()
                {
                    count += request.keys.len();
                    requests.push(request);
                }
                answer(&mut source, &statements, requests).await;
            }
        })?;
        Ok(Self { requests })
    }

    /// Returns the documents that exist or existed, all from one snapshot.
    pub(crate) async fn find(&self, keys: Vec<DocumentKey>) -> Answer {
        let (answer, answered) = oneshot::channel();
        let closed = || Arc::new(DbError::Closed);
        self.requests.send(Request { keys, answer }).await.map_err(|_| closed())?;
        answered.await.map_err(|_| closed())?
    }
}

async fn answer(source: &mut Source, statements: &Statements, requests: Vec<Request>) {
    let keys = requests.iter().flat_map(|request| &request.keys);
    let rows = keys.map(|key| json!([key.collection.0, key.id])).collect();
    let found = tokio::time::timeout(READ_TIMEOUT, source.find(statements, rows)).await;
    let found = found.unwrap_or(Err(DbError::Silent)).map_err(Arc::new);
    for Request { keys, answer } in requests {
        let own = found.as_ref().map_err(Arc::clone).map(|found| {
            let own = keys.into_iter().filter_map(|key| {
                let stored = found.get(&key)?.clone();
                Some((key, stored))
            });
            own.collect()
        });
        // The call may have timed out.
        let _sent = answer.send(own);
    }
}

/// A dedicated connection.
enum Source {
    Sqlite(Reader),
    Postgres(Arc<PostgresServer>, Option<PgConnection>),
}

impl Source {
    async fn find(
        &mut self,
        statements: &Statements,
        rows: Vec<Value>,
    ) -> Result<HashMap<DocumentKey, Stored>, DbError> {
        let sql = &statements.documents;
        let rows = match self {
            Self::Sqlite(reader) => reader.find(sql.as_str(), &rows)?,
            Self::Postgres(server, last) => {
                let rows = Value::Array(rows).to_string();
                let query = || sqlx::query_as(sql.clone()).bind(&rows);
                // The server may have restarted since the last statement.
                let again = match last.take() {
                    Some(mut connection) => match query().fetch_all(&mut connection).await {
                        Ok(rows) => Some((rows, connection)),
                        Err(_) => None,
                    },
                    None => None,
                };
                let (rows, connection) = match again {
                    Some(found) => found,
                    None => {
                        let mut connection = server.connect().await?;
                        (query().fetch_all(&mut connection).await?, connection)
                    }
                };
                *last = Some(connection);
                rows
            }
        };
        Ok(rows.into_iter().map(stored).collect())
    }
}

type Row = (i64, String, i64, Option<String>, i64, i64);

fn stored((collection, id, revision, body, created_at, updated_at): Row) -> (DocumentKey, Stored) {
    let stored = Stored {
        revision: unsigned(revision),
        body,
        created_at: instant(created_at),
        updated_at: instant(updated_at),
    };
    (DocumentKey { collection: CollectionId(collection), id }, stored)
}
