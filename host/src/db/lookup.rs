//! Reads single documents for many calls at once: what is asked for while a statement is on its way
//! goes with the next one.

use crate::{
    db::{
        DbError,
        backend::Backend,
        statements::Statements,
        unit::{CollectionId, DocumentKey, Stored},
        unsigned,
    },
    vocabulary::Timestamp,
};
use serde_json::{Value, json};
use std::{collections::HashMap, sync::Arc};
use tokio::sync::{Semaphore, mpsc, oneshot};

/// Questions that wait at most; more callers wait to ask.
const WAITING: usize = 4_096;
/// Documents of one statement at most; a question by itself may ask for more.
const BATCH: usize = 1_024;
/// Statements on their way at once.
const AT_ONCE: usize = 2;

type Answer = Result<HashMap<DocumentKey, Stored>, Arc<DbError>>;

struct Question {
    keys: Vec<DocumentKey>,
    answer: oneshot::Sender<Answer>,
}

/// Where documents are asked for.
#[derive(Debug, Clone)]
pub(super) struct Lookup {
    questions: mpsc::Sender<Question>,
}

impl Lookup {
    pub(super) fn start(backend: Arc<Backend>, statements: Arc<Statements>) -> Self {
        let (questions, mut waiting) = mpsc::channel::<Question>(WAITING);
        tokio::spawn(async move {
            let places = Arc::new(Semaphore::new(AT_ONCE));
            while let Some(first) = waiting.recv().await {
                let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
                let mut count = first.keys.len();
                let mut questions = vec![first];
                while count < BATCH
                    && let Ok(question) = waiting.try_recv()
                {
                    count += question.keys.len();
                    questions.push(question);
                }
                let (backend, statements) = (Arc::clone(&backend), Arc::clone(&statements));
                tokio::spawn(async move {
                    answer(&backend, &statements, questions).await;
                    drop(place);
                });
            }
        });
        Self { questions }
    }

    /// The documents that are or were there, all as of one moment.
    pub(super) async fn find(&self, keys: Vec<DocumentKey>) -> Answer {
        let (answer, answered) = oneshot::channel();
        let closed = || Arc::new(DbError::Closed);
        self.questions.send(Question { keys, answer }).await.map_err(|_| closed())?;
        answered.await.map_err(|_| closed())?
    }
}

async fn answer(backend: &Backend, statements: &Statements, questions: Vec<Question>) {
    let keys = questions.iter().flat_map(|question| &question.keys);
    let rows = keys.map(|key| json!([key.collection.0, key.id])).collect();
    let found = find(backend, statements, rows).await.map_err(Arc::new);
    for Question { keys, answer } in questions {
        let own = found.as_ref().map_err(Arc::clone).map(|found| {
            let own = keys.into_iter().filter_map(|key| {
                let stored = found.get(&key)?.clone();
                Some((key, stored))
            });
            own.collect()
        });
        // The call may have run out of time.
        let _heard = answer.send(own);
    }
}

async fn find(
    backend: &Backend,
    statements: &Statements,
    rows: Vec<Value>,
) -> Result<HashMap<DocumentKey, Stored>, DbError> {
    type Row = (i64, String, i64, Option<String>, i64, i64);
    let (sql, rows) = (statements.documents.clone(), Value::Array(rows).to_string());
    let rows: Vec<Row> = match backend {
        Backend::Sqlite(sqlite) => {
            sqlx::query_as(sql).bind(rows).fetch_all(&sqlite.readers).await?
        }
        Backend::Postgres(pool) => sqlx::query_as(sql).bind(rows).fetch_all(pool).await?,
    };
    let stored = |(collection, id, revision, body, created_at, updated_at): Row| {
        let stored = Stored {
            revision: unsigned(revision),
            body,
            created_at: Timestamp::from_millis(unsigned(created_at)),
            updated_at: Timestamp::from_millis(unsigned(updated_at)),
        };
        (DocumentKey { collection: CollectionId(collection), id }, stored)
    };
    Ok(rows.into_iter().map(stored).collect())
}
