//! The amounts that were taken lately of the quotas per minute and per day. Each node counts by itself.

use portolan_vocabulary::{Bucket, Quota, Timestamp};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

/// Above this number of buckets, those that are full again are removed.
const BUCKETS: usize = 4_096;

/// A quota, a capability, and the agent of an inbox or the owner; the last part is empty for a quota of the
/// whole capability.
pub(super) type RateKey = (Quota, String, String);

#[derive(Debug, Clone, Default)]
pub(crate) struct Rates(Arc<Mutex<Buckets>>);

#[derive(Debug, Default)]
struct Buckets {
    by_key: HashMap<RateKey, Bucket>,
    /// The number of buckets that the last removal left.
    remaining: usize,
}

impl Rates {
    pub(super) fn bucket(&self, key: &RateKey) -> Bucket {
        let buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        buckets.by_key.get(key).copied().unwrap_or_default()
    }

    /// Keeps the buckets that a commit has taken from.
    pub(super) fn store(&self, changed: BTreeMap<RateKey, Bucket>, now: Timestamp) {
        if changed.is_empty() {
            return;
        }
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        buckets.by_key.extend(changed);
        if buckets.by_key.len() > (2 * buckets.remaining).max(BUCKETS) {
            buckets.by_key.retain(|_, bucket| !bucket.is_full(now));
            buckets.remaining = buckets.by_key.len();
        }
    }
}
