//! The one writer of units: takes what waits, checks it unit by unit against one reading of the
//! database, and writes all that holds in one transaction.
//!
//! While one transaction is on its way to the disk the next ones gather, so the disk is waited for
//! once for many units. Nodes on one PostgreSQL take turns under a lock; so everywhere units are
//! committed one after the other, and what a unit was checked against cannot change under it.

use crate::{
    DbError,
    apply::Applied,
    backend::Backend,
    collections::Layouts,
    effects::{AuditRecord, KeptAnswer, Order, Task, TimerChange, TimerKey},
    signals::Signals,
    statements::Statements,
    transaction::Transaction,
    unit::{Changes, CollectionId, DocumentKey, UniqueKey, Unit},
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hash, Hasher as _},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::{mpsc, oneshot};

/// Units of one transaction at most.
const BATCH: usize = 256;
/// Documents of one transaction at most; a unit by itself may have more.
const BATCH_DOCUMENTS: usize = 4_096;
/// How long to wait for as many units as last time where each transaction costs several ways to a
/// server and back; less than one takes.
const MOMENT: Duration = Duration::from_micros(300);
/// How long a server may take for one transaction; longer than it waits for another node's.
const PATIENCE: Duration = Duration::from_secs(15);
/// Units that wait at most; more callers wait to hand theirs in.
const WAITING: usize = 4_096;

/// How a unit's commit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is on disk.
    Committed,
    /// Something it read has changed; nothing was written. Run the call again.
    Conflict(Spot),
    /// The timer or the delivery it ran for is no longer to be done; nothing was written.
    Superseded,
}

/// Where a conflict was: the same number for the same document or value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot(pub u64);

impl Spot {
    fn of(key: &impl Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// What a commit takes beside the unit itself.
#[derive(Debug, Default)]
pub struct Attachments {
    pub task: Option<Task>,
    pub kept: Option<KeptAnswer>,
    pub audit: Option<AuditRecord>,
}

impl Attachments {
    pub fn is_empty(&self) -> bool {
        self.task.is_none() && self.kept.is_none() && self.audit.is_none()
    }
}

type Answer = Result<Verdict, Arc<DbError>>;

struct Job {
    changes: Changes,
    answer: oneshot::Sender<Answer>,
}

/// Where units are handed in.
#[derive(Debug, Clone)]
pub(super) struct Committer {
    jobs: mpsc::Sender<Job>,
}

impl Committer {
    pub(super) fn start(database: Database) -> Result<Self, DbError> {
        let (jobs, waiting) = mpsc::channel(WAITING);
        database.backend.clone().spawn("portolan-commit", work(database, waiting))?;
        Ok(Self { jobs })
    }

    pub(super) async fn commit(&self, changes: Changes) -> Answer {
        let (answer, committed) = oneshot::channel();
        let closed = || Arc::new(DbError::Closed);
        self.jobs.send(Job { changes, answer }).await.map_err(|_| closed())?;
        committed.await.map_err(|_| closed())?
    }
}

impl Unit {
    /// Commits everything, or nothing.
    pub async fn commit(self, attachments: Attachments) -> Answer {
        let committer = self.store.inner.committer.clone();
        let Attachments { task, kept, audit } = attachments;
        let mut changes = Changes { task, kept, ..self.into_changes() };
        changes.audit.extend(audit);
        committer.commit(changes).await
    }
}

/// What it takes to commit.
pub(super) struct Database {
    pub(super) backend: Arc<Backend>,
    pub(super) statements: Arc<Statements>,
    pub(super) layouts: Layouts,
    pub(super) signals: Signals,
}

async fn work(database: Database, mut waiting: mpsc::Receiver<Job>) {
    let mut left = None;
    let mut expected = 1;
    let moment = match &*database.backend {
        Backend::Sqlite(_) => Duration::ZERO,
        Backend::Postgres(_) => MOMENT,
    };
    loop {
        let Some(first) = (match left.take() {
            Some(job) => Some(job),
            None => waiting.recv().await,
        }) else {
            return;
        };
        let batch = gather(first, &mut left, &mut waiting, expected, moment).await;
        expected = batch.len();
        settle(&database, batch).await;
    }
}

/// What waits. Those whose units were just committed hand in their next ones at about the same time,
/// but not at once: as many as last time are waited for, for a moment.
async fn gather(
    first: Job,
    left: &mut Option<Job>,
    waiting: &mut mpsc::Receiver<Job>,
    expected: usize,
    moment: Duration,
) -> Vec<Job> {
    let begun = Instant::now();
    let mut documents = first.changes.documents();
    let mut batch = vec![first];
    while batch.len() < BATCH {
        let Ok(job) = waiting.try_recv() else {
            if batch.len() >= expected || begun.elapsed() >= moment {
                break;
            }
            tokio::task::yield_now().await;
            continue;
        };
        documents += job.changes.documents();
        if documents > BATCH_DOCUMENTS {
            *left = Some(job);
            break;
        }
        batch.push(job);
    }
    batch
}

/// Commits a batch and answers every unit of it. Content that the database cannot take must not
/// fail the units beside it, so then each is tried by itself.
async fn settle(database: &Database, batch: Vec<Job>) {
    let changes: Vec<&Changes> = batch.iter().map(|job| &job.changes).collect();
    let verdicts = match commit(database, &changes).await {
        Ok(verdicts) => verdicts.into_iter().map(Ok).collect(),
        Err(error) if changes.len() > 1 && error.is_about_content() => {
            let mut verdicts = Vec::new();
            for one in &changes {
                match commit(database, &[one]).await {
                    Ok(verdict) => verdicts.extend(verdict.into_iter().map(Ok)),
                    Err(error) => verdicts.push(Err(Arc::new(error))),
                }
            }
            verdicts
        }
        Err(error) => {
            let error = Arc::new(error);
            changes.iter().map(|_| Err(Arc::clone(&error))).collect::<Vec<_>>()
        }
    };
    for (job, verdict) in batch.into_iter().zip(verdicts) {
        // Its caller may have given up waiting; what is committed stays so.
        let _heard = job.answer.send(verdict);
    }
}

/// A server that has frozen must not hold up every commit after this one: what is dropped closes its
/// connection.
async fn commit(database: &Database, batch: &[&Changes]) -> Result<Vec<Verdict>, DbError> {
    let committed = tokio::time::timeout(PATIENCE, commit_all(database, batch)).await;
    committed.map_err(|_| DbError::Silent)?
}

async fn commit_all(database: &Database, batch: &[&Changes]) -> Result<Vec<Verdict>, DbError> {
    let Database { backend, statements, .. } = database;
    let mut transaction = backend.begin_commit().await?;
    let mut present = Present::read(&mut transaction, statements, batch).await?;
    let mut applied = Applied::default();
    let mut verdicts = Vec::with_capacity(batch.len());
    for changes in batch {
        let verdict = present.judge(changes);
        if verdict == Verdict::Committed {
            present.take(changes);
            applied.add(changes);
        }
        verdicts.push(verdict);
    }
    if verdicts.contains(&Verdict::Committed) {
        let collections = applied.collections();
        let rows: Vec<(i64, i64, String)> =
            transaction.find(&statements.layouts, collections).await?;
        let mut layouts = BTreeMap::new();
        for (id, generation, text) in rows {
            let id = CollectionId(id);
            layouts.insert(id, database.layouts.get(backend, id, generation, &text)?);
        }
        let told = applied.write(&mut transaction, statements, &layouts).await?;
        transaction.commit_and_tell(&told).await?;
        database.signals.tell(&told);
    } else {
        transaction.roll_back().await?;
    }
    Ok(verdicts)
}

/// What the database has of all that a batch speaks of, and what its units make of it.
#[derive(Debug)]
struct Present {
    revisions: BTreeMap<DocumentKey, u64>,
    holders: BTreeMap<UniqueKey, String>,
    settings: BTreeMap<TimerKey, String>,
    deliveries: BTreeSet<i64>,
    answered: BTreeSet<(String, String, String, String)>,
    /// Versions.
    webhooks: BTreeMap<String, u64>,
    /// How many an agent has.
    webhook_counts: BTreeMap<String, u64>,
}

impl Present {
    async fn read(
        transaction: &mut Transaction,
        statements: &Statements,
        batch: &[&Changes],
    ) -> Result<Self, DbError> {
        let documents: BTreeSet<_> = batch.iter().flat_map(|it| it.reads.keys()).collect();
        let rows: Vec<Value> =
            documents.iter().map(|key| json!([key.collection.0, key.id])).collect();
        let revisions: Vec<(i64, String, i64)> =
            transaction.find(&statements.revisions, rows).await?;
        let holders: BTreeSet<_> = batch.iter().flat_map(|it| it.holders.keys()).collect();
        let rows = holders.iter().map(|key| json!([key.collection.0, key.place, key.key]));
        let holders: Vec<(i64, i64, String, String)> =
            transaction.find(&statements.holders, rows.collect()).await?;
        let tasks = || batch.iter().filter_map(|it| it.task.as_ref());
        let timers = tasks().filter_map(|task| match task {
            Task::Timer { key, .. } => {
                Some(json!([key.capability, key.name, u8::from(key.test_mode)]))
            }
            Task::Delivery { .. } => None,
        });
        let settings: Vec<(String, String, i64, String)> =
            transaction.find(&statements.settings, timers.collect()).await?;
        let deliveries = tasks().filter_map(|task| match task {
            Task::Delivery { id } => Some(json!([id])),
            Task::Timer { .. } => None,
        });
        let deliveries: Vec<(i64,)> =
            transaction.find(&statements.deliveries, deliveries.collect()).await?;
        let kept = batch.iter().filter_map(|it| it.kept.as_ref()).map(|kept| {
            let key = &kept.key;
            json!([key.agent_id, key.capability, key.action, key.key, kept.now.as_millis()])
        });
        let answered: Vec<(String, String, String, String)> =
            transaction.find(&statements.answered, kept.collect()).await?;
        let webhooks = batch.iter().flat_map(|it| &it.orders).filter_map(Order::webhook);
        let webhooks = webhooks.map(|(id, _)| json!([id])).collect();
        let webhooks: Vec<(String, i64)> =
            transaction.find(&statements.webhook_versions, webhooks).await?;
        let added = batch.iter().flat_map(|it| &it.orders).filter_map(|order| match order {
            Order::AddWebhook { webhook, .. } => Some(&webhook.agent_id),
            _ => None,
        });
        let added: BTreeSet<_> = added.collect();
        let added = added.into_iter().map(|agent_id| json!([agent_id])).collect();
        let counts: Vec<(String, i64)> =
            transaction.find(&statements.webhook_counts, added).await?;
        let version = |(id, version)| (id, crate::unsigned(version));
        let revision = |(collection, id, revision): (i64, String, i64)| {
            (DocumentKey { collection: CollectionId(collection), id }, crate::unsigned(revision))
        };
        let holder = |(collection, place, key, id): (i64, i64, String, String)| {
            let place = usize::try_from(place).unwrap_or(0);
            (UniqueKey { collection: CollectionId(collection), place, key }, id)
        };
        let setting = |(capability, name, mode, setting): (String, String, i64, String)| {
            (TimerKey { capability, name, test_mode: mode != 0 }, setting)
        };
        Ok(Self {
            revisions: revisions.into_iter().map(revision).collect(),
            holders: holders.into_iter().map(holder).collect(),
            settings: settings.into_iter().map(setting).collect(),
            deliveries: deliveries.into_iter().map(|(id,)| id).collect(),
            answered: answered.into_iter().collect(),
            webhooks: webhooks.into_iter().map(version).collect(),
            webhook_counts: counts.into_iter().map(version).collect(),
        })
    }

    fn judge(&self, changes: &Changes) -> Verdict {
        let due = match &changes.task {
            None => true,
            Some(Task::Timer { key, setting }) => self.settings.get(key) == Some(setting),
            Some(Task::Delivery { id }) => self.deliveries.contains(id),
        };
        if !due {
            return Verdict::Superseded;
        }
        let revision = |key| self.revisions.get(key).copied().unwrap_or(0);
        let read = changes.reads.iter().find(|(key, seen)| revision(key) != **seen);
        let mut holders = changes.holders.iter();
        let held = holders.find(|(key, seen)| self.holders.get(*key) != seen.as_ref());
        let kept = changes.kept.as_ref().filter(|kept| self.answered.contains(&kept.key.parts()));
        let version = |id| self.webhooks.get(id).copied().unwrap_or(0);
        let mut webhooks = changes.orders.iter().filter_map(Order::webhook);
        let webhook = webhooks.find(|(id, seen)| version(*id) != *seen);
        let added = changes.orders.iter().find_map(|order| match order {
            Order::AddWebhook { webhook, beside } => {
                let count = self.webhook_counts.get(&webhook.agent_id).copied().unwrap_or(0);
                (count != *beside).then_some(&webhook.agent_id)
            }
            _ => None,
        });
        let spot = read
            .map(|(key, _)| Spot::of(key))
            .or_else(|| held.map(|(key, _)| Spot::of(key)))
            .or_else(|| kept.map(|kept| Spot::of(&kept.key)))
            .or_else(|| webhook.map(|(id, _)| Spot::of(&id)))
            .or_else(|| added.map(Spot::of));
        spot.map_or(Verdict::Committed, Verdict::Conflict)
    }

    /// From here on the units behind this one see what it wrote.
    fn take(&mut self, changes: &Changes) {
        for (key, write) in &changes.writes {
            self.revisions.insert(key.clone(), write.revision);
            self.holders
                .retain(|held, holder| held.collection != key.collection || *holder != key.id);
        }
        for (key, write) in &changes.writes {
            for unique in write.unique_keys(key.collection) {
                self.holders.insert(unique, key.id.clone());
            }
        }
        match &changes.task {
            Some(Task::Timer { key, .. }) => {
                self.settings.remove(key);
            }
            Some(Task::Delivery { id }) => {
                self.deliveries.remove(id);
            }
            None => {}
        }
        for (key, change) in &changes.timers {
            match change {
                TimerChange::Set { setting, .. } => {
                    self.settings.insert(key.clone(), setting.clone());
                }
                TimerChange::Cancel => {
                    self.settings.remove(key);
                }
            }
        }
        for order in &changes.orders {
            match order {
                Order::AddWebhook { webhook, .. } => {
                    *self.webhook_counts.entry(webhook.agent_id.clone()).or_insert(0) += 1;
                    self.webhooks.insert(webhook.id.clone(), webhook.version);
                }
                Order::PutWebhook { webhook, .. } => {
                    self.webhooks.insert(webhook.id.clone(), webhook.version);
                }
                Order::DropWebhook { id, .. } => {
                    self.webhooks.remove(id);
                }
                _ => {}
            }
        }
        self.answered.extend(changes.kept.iter().map(|kept| kept.key.parts()));
    }
}
