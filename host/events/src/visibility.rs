//! The visibility timeout: delivered events are invisible for a minute.

use moka::sync::Cache;
use portolan_store::InboxEntry;
use portolan_vocabulary::Timestamp;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// The visibility timeout: how long a delivered event is invisible before it is delivered again.
const VISIBILITY_TIMEOUT: Duration = Duration::from_secs(60);
/// The maximum number of agents in the cache.
const MAX_AGENTS: u64 = 100_000;

/// The end of the visibility timeout of each delivered event, by sequence.
type VisibleAt = BTreeMap<u64, Timestamp>;

/// The recently delivered events of each agent. The cache evicts by real time, which only frees memory:
/// the host's clock, which is never slower, decides whether an event is visible.
#[derive(Debug)]
pub(crate) struct VisibilityTimeouts(Cache<Arc<str>, Arc<Mutex<VisibleAt>>>);

impl Default for VisibilityTimeouts {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(MAX_AGENTS).time_to_idle(VISIBILITY_TIMEOUT).build())
    }
}

impl VisibilityTimeouts {
    /// Returns the events of an agent that are invisible now.
    pub(crate) fn invisible(&self, agent_id: &str, now: Timestamp) -> VisibleAt {
        let Some(delivered) = self.0.get(agent_id) else { return VisibleAt::new() };
        let mut delivered = delivered.lock().unwrap_or_else(PoisonError::into_inner);
        delivered.retain(|_, visible_at| *visible_at > now);
        delivered.clone()
    }

    /// Makes these events invisible for the visibility timeout.
    pub(crate) fn add(&self, agent_id: &Arc<str>, entries: &[InboxEntry], now: Timestamp) {
        let timeout_ms = VISIBILITY_TIMEOUT.as_secs() * 1000;
        let visible_at = Timestamp::from_millis(now.as_millis() + timeout_ms);
        let delivered = self.0.get_with(Arc::clone(agent_id), Arc::default);
        let mut delivered = delivered.lock().unwrap_or_else(PoisonError::into_inner);
        delivered.extend(entries.iter().map(|entry| (entry.seq, visible_at)));
    }

    /// Removes acknowledged events.
    pub(crate) fn remove(&self, agent_id: &str, acknowledged: &BTreeSet<u64>) {
        if let Some(delivered) = self.0.get(agent_id) {
            let mut delivered = delivered.lock().unwrap_or_else(PoisonError::into_inner);
            delivered.retain(|seq, _| !acknowledged.contains(seq));
        }
    }

    /// Makes every event of an agent visible.
    pub(crate) fn clear(&self, agent_id: &str) {
        self.0.invalidate(agent_id);
    }
}
