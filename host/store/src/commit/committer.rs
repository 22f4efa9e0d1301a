//! Group commit: one task takes all waiting units of work, reads the state that they depend on once,
//! validates them one after the other against it, and writes the valid ones in one transaction.
//!
//! Units gather while a transaction is written to disk, so many units share one sync. SQLite has one writer. On
//! PostgreSQL, nodes commit at the same time, each under the locks of its units. So the state that a unit was
//! validated against cannot change before the unit is written.

use super::{
    apply::WriteBatch, locks::Locks, quotas::QuotaState, rates::Rates, reads::Reads,
    signals::Signals, validation::ValidationState, verdict::Verdict,
};
use crate::{
    audit_log::AuditChain,
    changes::Changes,
    connection::{Backend, LockTimeouts, Statements},
    document::CollectionId,
    error::DbError,
    integers::{signed, unsigned},
    query::Layouts,
    usage::Usage,
};
use portolan_vocabulary::{Clock, Quotas};
use serde_json::json;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::{mpsc, oneshot};

/// The maximum number of units of one transaction.
const BATCH: usize = 256;
/// The maximum number of documents of one transaction; a single unit may have more.
const BATCH_DOCUMENTS: usize = 4_096;
/// The linger: the time for which a group commit waits for as many units as last time, where a transaction
/// costs several round trips to a server. It is shorter than one round trip.
const LINGER: Duration = Duration::from_micros(300);
/// The time-out of one transaction; it is longer than a batch waits for a transaction that must be alone.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a batch waits for locks. The second time is longer than the commit of another node takes.
const BATCH_TIMEOUTS: LockTimeouts =
    LockTimeouts { commit: Duration::from_secs(10), each: Duration::from_secs(1) };
/// The same for a unit by itself, after its batch has waited.
const UNIT_TIMEOUTS: LockTimeouts =
    LockTimeouts { commit: Duration::from_millis(100), each: Duration::from_millis(100) };
/// How long the units of a batch are committed one by one, in all.
const UNITS_TIMEOUT: Duration = Duration::from_secs(5);
/// The queue's capacity; further callers wait to enqueue.
const QUEUE_CAPACITY: usize = 4_096;

pub(crate) type CommitResult = Result<Verdict, Arc<DbError>>;

struct Job {
    changes: Changes,
    /// Empty on SQLite.
    locks: Locks,
    reply: oneshot::Sender<CommitResult>,
}

/// A handle to the task that commits.
#[derive(Debug, Clone)]
pub(crate) struct Committer {
    jobs: mpsc::Sender<Job>,
    /// The maximum number of locks of a batch; `None` on SQLite, where units need none.
    batch_locks: Option<usize>,
}

impl Committer {
    pub(crate) fn start(database: Database) -> Result<Self, DbError> {
        let (jobs, queue) = mpsc::channel(QUEUE_CAPACITY);
        let batch_locks = database.backend.batch_locks();
        database.backend.clone().spawn("portolan-commit", run(database, queue))?;
        Ok(Self { jobs, batch_locks })
    }

    /// Returns the number of units that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.jobs.max_capacity() - self.jobs.capacity()
    }

    pub(crate) async fn commit(&self, changes: Changes) -> CommitResult {
        let (reply, committed) = oneshot::channel();
        let closed = || Arc::new(DbError::Closed);
        let locks = match self.batch_locks {
            None => Locks::default(),
            Some(most) => Some(Locks::of(&changes))
                .filter(|locks| locks.len() <= most)
                .unwrap_or_else(Locks::alone),
        };
        self.jobs.send(Job { changes, locks, reply }).await.map_err(|_| closed())?;
        committed.await.map_err(|_| closed())?
    }
}

/// The handles that the committing task needs.
pub(crate) struct Database {
    pub(crate) backend: Arc<Backend>,
    pub(crate) statements: Arc<Statements>,
    pub(crate) layouts: Layouts,
    pub(crate) signals: Signals,
    pub(crate) quotas: Quotas,
    pub(crate) rates: Rates,
    pub(crate) clock: Clock,
    pub(crate) audit_chain: Arc<AuditChain>,
}

async fn run(database: Database, mut queue: mpsc::Receiver<Job>) {
    let mut deferred = None;
    let mut expected = 1;
    let linger = match &*database.backend {
        Backend::Sqlite(_) => Duration::ZERO,
        Backend::Postgres(_) => LINGER,
    };
    loop {
        let Some(first) = (match deferred.take() {
            Some(job) => Some(job),
            None => queue.recv().await,
        }) else {
            return;
        };
        let mut batch = Batch::new(first);
        deferred = batch.gather(&mut queue, &database.backend, (expected, linger)).await;
        expected = batch.jobs.len();
        batch.commit(&database).await;
    }
}

/// Units that are committed together.
struct Batch {
    jobs: Vec<Job>,
    /// The number of documents that the units read and write.
    documents: usize,
    locks: Locks,
}

impl Batch {
    fn new(first: Job) -> Self {
        let (documents, locks) = (first.changes.weight(), first.locks.clone());
        Self { jobs: vec![first], documents, locks }
    }

    /// Adds the units that wait. Callers whose units were just committed enqueue their next ones at about the
    /// same time, so this waits until the batch is as large as the last one, at most for `linger`. Returns a unit
    /// that would make the batch too large.
    async fn gather(
        &mut self,
        queue: &mut mpsc::Receiver<Job>,
        backend: &Backend,
        (expected, linger): (usize, Duration),
    ) -> Option<Job> {
        let begun = Instant::now();
        while self.jobs.len() < BATCH {
            let Ok(job) = queue.try_recv() else {
                if self.jobs.len() >= expected || begun.elapsed() >= linger {
                    break;
                }
                tokio::task::yield_now().await;
                continue;
            };
            let documents = self.documents + job.changes.weight();
            let locks = self.locks.len() + job.locks.len();
            if documents > BATCH_DOCUMENTS || backend.batch_locks().is_some_and(|most| locks > most)
            {
                return Some(job);
            }
            self.documents = documents;
            self.locks.extend(&job.locks);
            self.jobs.push(job);
        }
        None
    }

    /// Commits the units and answers the caller of each.
    async fn commit(self, database: &Database) {
        let verdicts = self.verdicts(database).await;
        for (job, verdict) in self.jobs.into_iter().zip(verdicts) {
            // The send fails if the caller has timed out; its unit is committed all the same.
            let _sent = job.reply.send(verdict);
        }
    }

    /// A unit whose content the database refuses, or whose locks another node keeps, must not fail the others, so
    /// after such an error each unit is committed by itself.
    async fn verdicts(&self, database: &Database) -> Vec<CommitResult> {
        let changes: Vec<_> = self.jobs.iter().map(|job| &job.changes).collect();
        let error = match commit(database, (&self.locks, BATCH_TIMEOUTS), &changes).await {
            Ok(verdicts) => return verdicts.into_iter().map(Ok).collect(),
            // Alone, a batch needs one lock and waits for no other batch.
            Err(error) if error.is_about_locks() => {
                match commit(database, (&Locks::alone(), BATCH_TIMEOUTS), &changes).await {
                    Ok(verdicts) => return verdicts.into_iter().map(Ok).collect(),
                    Err(error) => error,
                }
            }
            Err(error) => error,
        };
        if changes.len() == 1 || !is_of_one_unit(&error) {
            let error = Arc::new(error);
            return changes.iter().map(|_| Err(Arc::clone(&error))).collect();
        }
        self.verdicts_one_by_one(database).await
    }

    /// Commits each unit by itself, until an error that is not about a single unit, or for so long that the next
    /// batch has waited enough.
    async fn verdicts_one_by_one(&self, database: &Database) -> Vec<CommitResult> {
        let begun = Instant::now();
        let mut failed = None;
        let mut verdicts = Vec::with_capacity(self.jobs.len());
        for job in &self.jobs {
            if let Some(error) = &failed {
                verdicts.push(Err(Arc::clone(error)));
                continue;
            }
            match commit(database, (&job.locks, UNIT_TIMEOUTS), &[&job.changes]).await {
                Ok(verdict) => verdicts.extend(verdict.into_iter().map(Ok)),
                Err(error) => {
                    let is_of_one_unit = is_of_one_unit(&error);
                    let error = Arc::new(error);
                    if !is_of_one_unit || begun.elapsed() > UNITS_TIMEOUT {
                        failed = Some(Arc::clone(&error));
                    }
                    verdicts.push(Err(error));
                }
            }
        }
        verdicts
    }
}

/// Returns whether other units of the batch may be committed after this error.
fn is_of_one_unit(error: &DbError) -> bool {
    error.is_about_content() || error.is_lock_timeout()
}

/// Commits within a time-out, because a server that hangs must not block all later commits.
/// Dropping the transaction closes its connection.
async fn commit(
    database: &Database,
    locks: (&Locks, LockTimeouts),
    batch: &[&Changes],
) -> Result<Vec<Verdict>, DbError> {
    let committed = tokio::time::timeout(COMMIT_TIMEOUT, commit_all(database, locks, batch)).await;
    committed.map_err(|_| DbError::TimedOut)?
}

async fn commit_all(
    database: &Database,
    (locks, timeouts): (&Locks, LockTimeouts),
    batch: &[&Changes],
) -> Result<Vec<Verdict>, DbError> {
    let Database { backend, statements, .. } = database;
    let mut transaction = match locks.in_order() {
        Some(locks) => backend.begin_shared(&locks, timeouts).await?,
        None => backend.begin_alone().await?,
    };
    let mut quotas = QuotaState::new(&database.quotas, &database.rates);
    let reads = Reads::of(&mut transaction, statements, batch).await?;
    let now = signed(database.clock.now().as_millis());
    let (mut layouts, mut replaced) = (BTreeMap::new(), BTreeSet::new());
    for (id, generation, text, scope, fenced_until, documents, tombstones, bytes, timers) in
        reads.layouts
    {
        let id = CollectionId(id);
        if fenced_until > now {
            replaced.insert(id);
        }
        quotas.add_collection(id, scope, Usage { documents, tombstones, bytes, timers });
        layouts.insert(id, database.layouts.get(backend, id, generation, &text)?);
    }
    let mut state = ValidationState::new(reads.validation, quotas);
    let mut applied = WriteBatch::default();
    let mut verdicts = Vec::with_capacity(batch.len());
    for changes in batch {
        let verdict = match changes.uses_replaced(&replaced) {
            true => Verdict::Replaced,
            false if !changes.people.is_disjoint(&reads.erased) => Verdict::Erased,
            false => state.validate(changes),
        };
        if verdict == Verdict::Committed {
            state.apply(changes);
            applied.add(changes);
        }
        verdicts.push(verdict);
    }
    if verdicts.contains(&Verdict::Committed) {
        let chain = &database.audit_chain;
        if let Some(node) = chain.unconfirmed() {
            let last: Vec<(i64,)> =
                transaction.find(&statements.last_audit_row, vec![json!([node])]).await?;
            chain.settle(last.first().map_or(0, |(position,)| unsigned(*position)));
        }
        let announcement =
            applied.write(&mut transaction, statements, (&layouts, reads.fan_out), chain).await?;
        transaction.commit().await?;
        chain.confirm();
        state.store_rates();
        database.signals.announce_commit(announcement);
    } else {
        transaction.roll_back().await?;
    }
    Ok(verdicts)
}
