//! The events of each capability to each inbox in the last minute. Each node counts by itself.

use portolan_vocabulary::{Bucket, Timestamp};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

/// From this number on, the buckets that are full again are removed.
const BUCKETS: usize = 4_096;

/// A capability and the agent to whom an inbox belongs.
pub(super) type InboxKey = (String, String);

#[derive(Debug, Clone, Default)]
pub(crate) struct InboxRates(Arc<Mutex<Buckets>>);

#[derive(Debug, Default)]
struct Buckets {
    by_inbox: HashMap<InboxKey, Bucket>,
    /// The number of buckets after the last removal.
    remaining: usize,
}

impl InboxRates {
    pub(super) fn bucket(&self, key: &InboxKey) -> Bucket {
        let buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        buckets.by_inbox.get(key).copied().unwrap_or_default()
    }

    /// Keeps the buckets that a commit has taken from.
    pub(super) fn keep(&self, changed: BTreeMap<InboxKey, Bucket>, now: Timestamp) {
        if changed.is_empty() {
            return;
        }
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        buckets.by_inbox.extend(changed);
        if buckets.by_inbox.len() > (2 * buckets.remaining).max(BUCKETS) {
            buckets.by_inbox.retain(|_, bucket| !bucket.is_full(now));
            buckets.remaining = buckets.by_inbox.len();
        }
    }
}
