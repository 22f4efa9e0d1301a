//! The tokens of operators as a node has last read them, so that a request costs no query.

use crate::{error::IdentityError, secret};
use arc_swap::ArcSwapOption;
use portolan_store::{DbError, OperatorRecord, Store};
use portolan_vocabulary::{Digest, Operator, Timestamp};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::time::timeout;

/// The time for which tokens are cached. On another node, a removed token is accepted for at most this time.
const AGE: Duration = Duration::from_secs(1);
/// The age up to which tokens may read the metrics while the database does not answer.
const OUTAGE_AGE: Duration = Duration::from_secs(15 * 60);
/// How long a request for the metrics waits for the database.
const PATIENCE: Duration = Duration::from_secs(1);
const DAY_MS: u64 = 24 * 3600 * 1000;

#[derive(Debug)]
struct Cached {
    records: Vec<OperatorRecord>,
    read_at: Instant,
    /// The number of changes by this node before it was read.
    changes: u64,
}

#[derive(Debug)]
pub(crate) struct OperatorTokens {
    store: Store,
    cached: ArcSwapOption<Cached>,
    /// The number of changes by this node. A read from before the last change is not used, even if
    /// it arrives later.
    changes: AtomicU64,
}

impl OperatorTokens {
    pub(crate) fn new(store: Store) -> Self {
        Self { store, cached: ArcSwapOption::empty(), changes: AtomicU64::new(0) }
    }

    /// Forgets what was read, because this node has changed it.
    pub(crate) fn forget(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns the operator whose token has this hash. Fails with `TokenInvalid` if there is none, and with
    /// `OperatorExpired` if the token has expired.
    pub(crate) async fn find(
        &self,
        hash: &Digest,
        now: Timestamp,
    ) -> Result<Operator, IdentityError> {
        let cached = self.current().await?;
        let record = valid(&cached.records, hash, now)?;
        self.note_use(&cached, record, now).await;
        Ok(operator(record))
    }

    /// Returns the operator as `find` does, for a request that reads the metrics. If the database does not answer,
    /// the tokens as they were last read are used for a limited time, because the metrics are needed then.
    pub(crate) async fn find_for_metrics(
        &self,
        hash: &Digest,
        now: Timestamp,
    ) -> Result<Operator, IdentityError> {
        if !matches!(timeout(PATIENCE, self.current()).await, Ok(Ok(_)))
            && let Some(cached) = self.last_read()
        {
            return valid(&cached.records, hash, now).map(operator);
        }
        self.find(hash, now).await
    }

    /// Returns the tokens as they were last read, unless that is too long ago or this node has changed one since.
    fn last_read(&self) -> Option<Arc<Cached>> {
        let changes = self.changes.load(Ordering::Acquire);
        let cached = self.cached.load_full()?;
        (cached.changes == changes && cached.read_at.elapsed() < OUTAGE_AGE).then_some(cached)
    }

    /// Returns the tokens, read from the store if they were read too long ago.
    async fn current(&self) -> Result<Arc<Cached>, DbError> {
        let changes = self.changes.load(Ordering::Acquire);
        if let Some(cached) = self.cached.load_full()
            && cached.changes == changes
            && cached.read_at.elapsed() < AGE
        {
            return Ok(cached);
        }
        let read_at = Instant::now();
        let records = self.store.operators().await?;
        let cached = Arc::new(Cached { records, read_at, changes });
        self.cached.store(Some(Arc::clone(&cached)));
        Ok(cached)
    }

    /// Records the first use of a token on a day, in the store and among the tokens as they were read.
    async fn note_use(&self, cached: &Cached, record: &OperatorRecord, now: Timestamp) {
        let today = Timestamp::from_millis(now.as_millis() / DAY_MS * DAY_MS);
        if record.last_used_at.is_some_and(|day| day >= today) {
            return;
        }
        if let Err(error) = self.store.put_operator_use(&record.name, today).await {
            tracing::warn!(%error, "the use of an operator's token is not recorded");
            return;
        }
        let mut records = cached.records.clone();
        for used in records.iter_mut().filter(|used| used.name == record.name) {
            used.last_used_at = Some(today);
        }
        let &Cached { read_at, changes, .. } = cached;
        self.cached.store(Some(Arc::new(Cached { records, read_at, changes })));
    }
}

/// Returns the record with this hash, unless it has expired.
fn valid<'a>(
    records: &'a [OperatorRecord],
    hash: &Digest,
    now: Timestamp,
) -> Result<&'a OperatorRecord, IdentityError> {
    let record = matching(records, hash).ok_or(IdentityError::TokenInvalid)?;
    match record.expires_at <= now {
        true => Err(IdentityError::OperatorExpired(record.name.clone())),
        false => Ok(record),
    }
}

fn operator(record: &OperatorRecord) -> Operator {
    Operator { name: Arc::from(record.name.as_str()), role: record.role }
}

/// Returns the record with this hash. Every hash is compared, so that the duration does not reveal which one
/// matched.
fn matching<'a>(records: &'a [OperatorRecord], hash: &Digest) -> Option<&'a OperatorRecord> {
    records.iter().fold(None, |found, record| {
        match secret::hash_matches(hash, &record.token_hash) {
            true => Some(record),
            false => found,
        }
    })
}
