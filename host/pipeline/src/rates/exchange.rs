//! The exchange of counts with the database, which nodes share.

use super::{account::Account, counter::Counter};
use hmac::{Hmac, Mac as _};
use portolan_store::{DbError, Store};
use portolan_vocabulary::{Bucket, Keyring, Timestamp};
use sha2::Sha256;
use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

/// The maximum number of counts in one transaction, because calls wait meanwhile.
const BATCH: usize = 500;
/// The length of a key in the database.
const KEY_BYTES: usize = 16;

/// The counters to exchange, and the counts of an earlier run.
pub(super) struct Exchange {
    /// The key of the MAC by which accounts are stored: the database has no addresses of callers.
    mac_key: [u8; 32],
    queue: Mutex<Vec<Arc<Counter>>>,
    /// When the buckets that were in use at the start are full, in microseconds since the Unix epoch.
    restored: Mutex<HashMap<String, u64>>,
}

impl fmt::Debug for Exchange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Exchange").finish_non_exhaustive()
    }
}

impl Exchange {
    pub(super) fn new(keys: &Keyring) -> Self {
        let mac_key = keys.derive(Keyring::RATES).first().copied().unwrap_or_default();
        Self { mac_key, queue: Mutex::default(), restored: Mutex::default() }
    }

    /// Returns the key of a count in the database.
    pub(super) fn key(&self, rate: &str, account: &Account) -> String {
        // A key of any length is accepted, so there is always a MAC.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.mac_key) else {
            return String::new();
        };
        mac.update(format!("{rate} {} {}", account.kind(), account.text()).as_bytes());
        let bytes = mac.finalize().into_bytes();
        bytes.iter().take(KEY_BYTES).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Returns the bucket that the database had for a key at the start, once; otherwise a full one.
    pub(super) fn restored(&self, key: &str) -> Bucket {
        let mut restored = self.restored.lock().unwrap_or_else(PoisonError::into_inner);
        restored.remove(key).map_or_else(Bucket::default, Bucket::full_at)
    }

    pub(super) fn queue(&self, counter: Arc<Counter>) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).push(counter);
    }

    /// Returns the counters that are queued, and empties the queue.
    pub(super) fn take_queue(&self) -> Vec<Arc<Counter>> {
        std::mem::take(&mut *self.queue.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the counts of an earlier run and of other nodes.
    pub(super) async fn restore(&self, store: &Store, now: Timestamp) -> Result<(), DbError> {
        let stored = store.shared_rates(now).await?;
        self.restored.lock().unwrap_or_else(PoisonError::into_inner).extend(stored);
        Ok(())
    }

    /// Adds the counts of these counters to those in the database, and takes over the sums.
    pub(super) async fn exchange(
        &self,
        store: &Store,
        mut queued: Vec<Arc<Counter>>,
        now: Timestamp,
    ) -> Result<(), DbError> {
        // All nodes lock the rows in the same order, so that they do not wait for each other.
        queued.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        queued.dedup_by(|repeated, kept| {
            // A counter that was evicted while it was in use has a successor with the same key.
            let is_same = repeated.key == kept.key;
            if is_same && !Arc::ptr_eq(repeated, kept) {
                kept.restore_unshared(repeated.take_unshared());
            }
            is_same
        });
        for batch in queued.chunks(BATCH) {
            let shares: Vec<(&str, u64)> = batch
                .iter()
                .map(|counter| (counter.key.as_str(), counter.take_unshared()))
                .filter(|(_, micros)| *micros > 0)
                .collect();
            match store.share_rates(&shares, now).await {
                Ok(sums) => {
                    let sums: HashMap<String, u64> = sums.into_iter().collect();
                    for counter in batch {
                        if let Some(full_at) = sums.get(&counter.key) {
                            counter.merge(*full_at);
                        }
                    }
                }
                Err(error) => {
                    let shares: HashMap<&str, u64> = shares.into_iter().collect();
                    for counter in batch {
                        let micros = shares.get(counter.key.as_str()).copied();
                        counter.restore_unshared(micros.unwrap_or_default());
                        self.queue(Arc::clone(counter));
                    }
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}
