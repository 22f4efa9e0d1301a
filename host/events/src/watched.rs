//! The watched inboxes, and the signals of their watchers.

use crate::waiting::{WAKE_INTERVAL, WOKEN_AT_ONCE};
use std::{
    collections::{HashMap, hash_map::RandomState},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::watch;

/// The signals of watched inboxes, by agent.
#[derive(Debug, Default)]
pub(crate) struct WatchedInboxes(Mutex<HashMap<Arc<str>, watch::Sender<()>, RandomState>>);

impl WatchedInboxes {
    fn signals(&self) -> MutexGuard<'_, HashMap<Arc<str>, watch::Sender<()>, RandomState>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn subscribe(&self, agent_id: &Arc<str>) -> watch::Receiver<()> {
        self.signals().entry(Arc::clone(agent_id)).or_default().subscribe()
    }

    pub(crate) fn wake(&self, agent_id: &str) {
        if let Some(signal) = self.signals().get(agent_id) {
            signal.send_replace(());
        }
    }

    /// Wakes the watchers of all inboxes, some at a time: each of them then reads the database.
    pub(crate) async fn wake_all(&self) {
        let agents: Vec<_> = self.signals().keys().cloned().collect();
        for woken in agents.chunks(WOKEN_AT_ONCE) {
            woken.iter().for_each(|agent| self.wake(agent));
            tokio::time::sleep(WAKE_INTERVAL).await;
        }
    }

    /// Forgets an inbox that nobody watches any more.
    pub(crate) fn remove_unused(&self, agent_id: &str) {
        let mut signals = self.signals();
        if signals.get(agent_id).is_some_and(|signal| signal.receiver_count() == 0) {
            signals.remove(agent_id);
        }
    }
}
