//! The share that each capability has of the connections for queries, so that a capability with many long
//! queries delays only its own calls.

use super::timeout::ACQUIRE_TIMEOUT;
use crate::error::DbError;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many capabilities can use their whole share at once.
const CAPABILITIES: usize = 4;
/// The least and the most queries of a capability that run at once.
const MIN_QUERIES: usize = 2;
const MAX_QUERIES: usize = 8;

/// The permits to run queries. A query waits for a permit of its capability first and then for a connection,
/// so no more queries of one capability than its share wait for connections.
#[derive(Debug)]
pub(super) struct Shares {
    per_capability: usize,
    total: Arc<Semaphore>,
    by_capability: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// The right to run one query.
#[derive(Debug)]
pub(super) struct Share {
    _capability: OwnedSemaphorePermit,
    _connection: OwnedSemaphorePermit,
}

impl Shares {
    /// Returns the shares for a database that runs in this process: for each capability one query for every
    /// two processors, between `MIN_QUERIES` and `MAX_QUERIES`.
    pub(super) fn for_processors() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self::new((processors / 2).clamp(MIN_QUERIES, MAX_QUERIES))
    }

    /// Returns the shares for a database behind a network, whose queries mostly wait: of at most so many connections, but
    /// of one for each capability that can use its whole share.
    pub(super) fn for_network(connections: u32) -> Self {
        let connections = usize::try_from(connections).unwrap_or(usize::MAX);
        Self::new((connections / CAPABILITIES).max(1))
    }

    fn new(per_capability: usize) -> Self {
        Self {
            per_capability,
            total: Arc::new(Semaphore::new(per_capability * CAPABILITIES)),
            by_capability: Mutex::default(),
        }
    }

    /// Returns the number of connections that queries need.
    pub(super) fn connections(&self) -> u32 {
        u32::try_from(self.per_capability * CAPABILITIES).unwrap_or(u32::MAX)
    }

    /// Waits until a capability may run one more query.
    pub(super) async fn acquire(&self, capability: &str) -> Result<Share, DbError> {
        let closed = |_| DbError::Closed;
        let own = self.capability_semaphore(capability).acquire_owned().await.map_err(closed)?;
        let connection = Arc::clone(&self.total).acquire_owned().await.map_err(closed)?;
        Ok(Share { _capability: own, _connection: connection })
    }

    /// Returns the share of a capability that may run one more query now.
    pub(super) fn try_acquire(&self, capability: &str) -> Option<Share> {
        let own = self.capability_semaphore(capability).try_acquire_owned().ok()?;
        let connection = Arc::clone(&self.total).try_acquire_owned().ok()?;
        Some(Share { _capability: own, _connection: connection })
    }

    /// Waits for the queries that run, for a limited time, and refuses further ones.
    pub(super) async fn close(&self) {
        let all = self.total.acquire_many(self.connections());
        let _idle = tokio::time::timeout(ACQUIRE_TIMEOUT, all).await;
        self.total.close();
    }

    fn capability_semaphore(&self, capability: &str) -> Arc<Semaphore> {
        let mut semaphores = self.by_capability.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = semaphores.get(capability) {
            return Arc::clone(own);
        }
        let own = Arc::new(Semaphore::new(self.per_capability));
        semaphores.insert(capability.to_owned(), Arc::clone(&own));
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    #[test]
    fn a_capability_never_has_more_than_its_share() {
        let shares = Shares::new(2);
        let mut held = Vec::new();
        for capability in ["a", "b", "c", "d"] {
            for _share in 0..2 {
                held.push(shares.acquire(capability).now_or_never().unwrap().unwrap());
            }
            assert!(shares.acquire(capability).now_or_never().is_none(), "{capability}");
        }
        // All connections are in use; the next free one is given to the query that has waited longest.
        let mut waiting = Box::pin(shares.acquire("e"));
        assert!((&mut waiting).now_or_never().is_none());
        let mut more = Box::pin(shares.acquire("a"));
        assert!((&mut more).now_or_never().is_none());
        held.remove(0);
        assert!((&mut more).now_or_never().is_none());
        assert!(waiting.now_or_never().unwrap().is_ok());
    }
}
