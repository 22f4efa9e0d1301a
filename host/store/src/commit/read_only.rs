//! Validates units that write nothing. They need no transaction and do not wait for those that write: all
//! that they have read must be current in one snapshot.

use super::{committer::CommitResult, validation::read_conflict, verdict::Verdict};
use crate::{
    changes::Changes,
    connection::{
        Backend, FENCE, HOLDER, REVISION, ReadConnection, Statements, next_batch, split_batch,
    },
    document::{CollectionId, DocumentKey, UniqueKey},
    error::DbError,
    integers::signed,
};
use portolan_vocabulary::Clock;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};
use tokio::sync::{mpsc, oneshot};

/// The queue's capacity; further callers wait to enqueue.
const QUEUE_CAPACITY: usize = 4_096;
/// The time-out of one statement.
const READ_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum number of documents of one statement; a single unit may have read more.
const BATCH: usize = 1_024;

struct Job {
    changes: Changes,
    reply: oneshot::Sender<CommitResult>,
}

/// A handle to the task that validates.
#[derive(Debug, Clone)]
pub(crate) struct ReadValidator {
    jobs: mpsc::Sender<Job>,
}

impl ReadValidator {
    pub(crate) fn start(
        backend: &Backend,
        statements: Arc<Statements>,
        clock: Clock,
    ) -> Result<Self, DbError> {
        let mut connection = ReadConnection::open(backend)?;
        let (jobs, mut queue) = mpsc::channel::<Job>(QUEUE_CAPACITY);
        backend.spawn("portolan-validate", async move {
            let size = |job: &Job| job.changes.weight();
            while let Some(batch) = next_batch(&mut queue, size, BATCH).await {
                answer_jobs(&mut connection, &statements, &clock, batch).await;
            }
        })?;
        Ok(Self { jobs })
    }

    /// Validates a unit, which must write nothing. The verdict is `Committed` if all that the unit has read
    /// is current.
    pub(crate) async fn validate(&self, changes: Changes) -> CommitResult {
        let (reply, validated) = oneshot::channel();
        let closed = || Arc::new(DbError::Closed);
        self.jobs.send(Job { changes, reply }).await.map_err(|_| closed())?;
        validated.await.map_err(|_| closed())?
    }
}

/// Validates units with one statement, or with several if the database refuses the content of one.
async fn answer_jobs(
    connection: &mut ReadConnection,
    statements: &Statements,
    clock: &Clock,
    jobs: Vec<Job>,
) {
    let mut batches = vec![jobs];
    while let Some(mut batch) = batches.pop() {
        let changes: Vec<_> = batch.iter().map(|job| &job.changes).collect();
        let read = ReadState::read(connection, statements, &changes);
        let state = tokio::time::timeout(READ_TIMEOUT, read).await;
        let state = match state.unwrap_or(Err(DbError::TimedOut)) {
            Ok(state) => Ok(state),
            Err(error) => {
                if let Some(rest) = split_batch(&mut batch, &error) {
                    batches.extend([rest, batch]);
                    continue;
                }
                Err(Arc::new(error))
            }
        };
        let now = signed(clock.now().as_millis());
        let replaced =
            state.as_ref().map(|state| state.replaced_collections(now)).unwrap_or_default();
        for job in batch {
            let verdict = match &state {
                Ok(state) => Ok(state.validate(&job.changes, &replaced)),
                Err(error) => Err(Arc::clone(error)),
            };
            // The send fails if the call has timed out.
            let _sent = job.reply.send(verdict);
        }
    }
}

/// The current state, from one snapshot, of what the units of a batch have read.
#[derive(Debug, Default)]
struct ReadState {
    revisions: BTreeMap<DocumentKey, u64>,
    holders: BTreeMap<UniqueKey, String>,
    /// The time until which nothing is committed to a collection, in milliseconds.
    fences: BTreeMap<CollectionId, i64>,
}

type Row = (i64, i64, i64, String, Option<String>);

impl ReadState {
    async fn read(
        connection: &mut ReadConnection,
        statements: &Statements,
        batch: &[&Changes],
    ) -> Result<Self, DbError> {
        let documents: BTreeSet<_> =
            batch.iter().flat_map(|changes| changes.reads.keys()).collect();
        let holders: BTreeSet<_> =
            batch.iter().flat_map(|changes| changes.holders.keys()).collect();
        let collections: BTreeSet<_> =
            batch.iter().flat_map(|changes| changes.collections()).collect();
        let document = |key: &DocumentKey| json!([REVISION, key.collection.0, 0, key.id]);
        let holder = |key: &UniqueKey| json!([HOLDER, key.collection.0, key.place, key.key]);
        let collection = |id: &CollectionId| json!([FENCE, id.0, 0, ""]);
        let documents = documents.into_iter().map(document);
        let holders = holders.into_iter().map(holder);
        let collections = collections.into_iter().map(collection);
        let rows: Vec<Value> = documents.chain(holders).chain(collections).collect();
        connection.fold(&statements.read_set, rows, Self::default, Self::add).await
    }

    fn add(&mut self, (kind, collection, place, key, found): Row) {
        let (collection, Some(found)) = (CollectionId(collection), found) else { return };
        match kind {
            REVISION => {
                let key = DocumentKey { collection, id: key };
                self.revisions.insert(key, found.parse().unwrap_or(0));
            }
            HOLDER => {
                let place = usize::try_from(place).unwrap_or(0);
                self.holders.insert(UniqueKey { collection, place, key }, found);
            }
            _ => {
                self.fences.insert(collection, found.parse().unwrap_or(i64::MAX));
            }
        }
    }

    /// Returns the collections to which nothing is committed now: they are fenced or retired.
    fn replaced_collections(&self, now: i64) -> BTreeSet<CollectionId> {
        let fenced = self.fences.iter().filter(|(_, until)| **until > now);
        fenced.map(|(collection, _)| *collection).collect()
    }

    fn validate(&self, changes: &Changes, replaced: &BTreeSet<CollectionId>) -> Verdict {
        if changes.uses_replaced(replaced) {
            return Verdict::Replaced;
        }
        read_conflict(changes, &self.revisions, &self.holders)
            .map_or(Verdict::Committed, Verdict::Conflict)
    }
}
