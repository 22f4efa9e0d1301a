//! Reads single documents in batches: requests that arrive while a statement runs are answered by
//! the next statement.

use super::{
    backend::Backend,
    read_connection::{ReadConnection, next_batch, split_batch},
    statements::Statements,
};
use crate::{
    document::{CollectionId, DocumentKey, Stored},
    error::DbError,
    integers::{instant, unsigned},
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};
use tokio::sync::{mpsc, oneshot};

/// The queue's capacity; further callers wait to enqueue.
const QUEUE_CAPACITY: usize = 4_096;
/// The time-out of one statement.
const READ_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum number of documents of one statement; a single request may ask for more.
const BATCH: usize = 1_024;

/// The documents that exist or existed; `None` if they are larger than the request allows.
type Found = Option<HashMap<DocumentKey, Stored>>;
type ReadResult = Result<Found, Arc<DbError>>;

struct Request {
    keys: BTreeSet<DocumentKey>,
    /// The maximum number of bytes of all documents.
    max_bytes: usize,
    reply: oneshot::Sender<ReadResult>,
}

/// A handle to the task that reads documents.
#[derive(Debug, Clone)]
pub(crate) struct DocumentReader {
    requests: mpsc::Sender<Request>,
}

impl DocumentReader {
    pub(crate) fn start(backend: &Backend, statements: Arc<Statements>) -> Result<Self, DbError> {
        let mut connection = ReadConnection::open(backend)?;
        let (requests, mut queue) = mpsc::channel::<Request>(QUEUE_CAPACITY);
        backend.spawn("portolan-read", async move {
            let size = |request: &Request| request.keys.len();
            while let Some(requests) = next_batch(&mut queue, size, BATCH).await {
                answer_requests(&mut connection, &statements, requests).await;
            }
        })?;
        Ok(Self { requests })
    }

    /// Returns the documents that exist or existed, all from one snapshot. Returns `None` if they are larger
    /// than `max_bytes` bytes together.
    pub(crate) async fn find(&self, keys: BTreeSet<DocumentKey>, max_bytes: usize) -> ReadResult {
        let (reply, received) = oneshot::channel();
        let closed = || Arc::new(DbError::Closed);
        self.requests.send(Request { keys, max_bytes, reply }).await.map_err(|_| closed())?;
        received.await.map_err(|_| closed())?
    }
}

/// Answers requests with one statement, or with several if the database refuses the content of one.
async fn answer_requests(
    connection: &mut ReadConnection,
    statements: &Statements,
    requests: Vec<Request>,
) {
    let mut batches = vec![requests];
    while let Some(mut requests) = batches.pop() {
        match read(connection, statements, &requests).await {
            Ok(responses) => {
                for (request, documents) in requests.into_iter().zip(responses) {
                    // The send fails if the call has timed out.
                    let _sent = request.reply.send(Ok(documents));
                }
            }
            Err(error) => match split_batch(&mut requests, &error) {
                Some(rest) => batches.extend([rest, requests]),
                None => {
                    let error = Arc::new(error);
                    for request in requests {
                        let _sent = request.reply.send(Err(Arc::clone(&error)));
                    }
                }
            },
        }
    }
}

/// Returns the documents of each request, in the order of the requests.
async fn read(
    connection: &mut ReadConnection,
    statements: &Statements,
    requests: &[Request],
) -> Result<Vec<Found>, DbError> {
    let rows = Responses::new(requests).rows();
    let begin = || Responses::new(requests);
    let read = connection.fold(&statements.documents, rows, begin, Responses::add);
    let found = tokio::time::timeout(READ_TIMEOUT, read).await;
    found.unwrap_or(Err(DbError::TimedOut)).map(Responses::into_found)
}

/// The documents of each request, added as they are read, so that no more memory is used than the requests
/// allow.
struct Responses<'a> {
    /// The indexes of the requests that want each document.
    requested_by: HashMap<&'a DocumentKey, Vec<usize>>,
    /// For each request, the bytes that are left and the documents.
    responses: Vec<(usize, Found)>,
}

impl<'a> Responses<'a> {
    fn new(requests: &'a [Request]) -> Self {
        let mut requested_by: HashMap<_, Vec<usize>> = HashMap::new();
        for (number, request) in requests.iter().enumerate() {
            for key in &request.keys {
                requested_by.entry(key).or_default().push(number);
            }
        }
        let response = |request: &Request| (request.max_bytes, Some(HashMap::new()));
        Self { requested_by, responses: requests.iter().map(response).collect() }
    }

    fn rows(&self) -> Vec<Value> {
        self.requested_by.keys().map(|key| json!([key.collection.0, key.id])).collect()
    }

    fn add(&mut self, row: Row) {
        let (key, stored) = stored(row);
        let bytes = stored.bytes(&key.id);
        for number in self.requested_by.get(&key).into_iter().flatten() {
            let Some((remaining, documents)) = self.responses.get_mut(*number) else { continue };
            match (remaining.checked_sub(bytes), documents.as_mut()) {
                (Some(rest), Some(found)) => {
                    *remaining = rest;
                    found.insert(key.clone(), stored.clone());
                }
                _ => *documents = None,
            }
        }
    }

    fn into_found(self) -> Vec<Found> {
        self.responses.into_iter().map(|(_, found)| found).collect()
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
