//! Waiting readers: one for each agent, without a thread and without queries to the database.

use std::{
    collections::{HashMap, hash_map::RandomState},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::sync::Notify;

/// The number of readers that are woken at once when all are woken, and the time before the next ones.
pub(crate) const WOKEN_AT_ONCE: usize = 128;
pub(crate) const WAKE_INTERVAL: Duration = Duration::from_millis(20);

/// The signal that wakes the reader of one agent's inbox.
#[derive(Debug, Default)]
struct ReaderSignal {
    notify: Notify,
    superseded: AtomicBool,
}

/// The waiting readers, by agent.
#[derive(Debug, Default)]
pub(crate) struct WaitingReaders(Mutex<HashMap<Arc<str>, Arc<ReaderSignal>, RandomState>>);

/// A registered reader of an agent. Its registration ends when it is dropped.
#[derive(Debug)]
pub struct Waiter {
    waiting: Arc<WaitingReaders>,
    agent_id: Arc<str>,
    signal: Arc<ReaderSignal>,
}

/// The reason why a reader stops waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// There may be new events.
    NewEvents,
    /// Another reader of the same agent has registered.
    Superseded,
}

impl WaitingReaders {
    fn readers(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<ReaderSignal>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a reader of an agent. An earlier reader of the same agent is superseded.
    pub(crate) fn register(self: &Arc<Self>, agent_id: &Arc<str>) -> Waiter {
        let signal = Arc::new(ReaderSignal::default());
        if let Some(previous) = self.readers().insert(Arc::clone(agent_id), Arc::clone(&signal)) {
            previous.superseded.store(true, Ordering::Release);
            previous.notify.notify_one();
        }
        Waiter { waiting: Arc::clone(self), agent_id: Arc::clone(agent_id), signal }
    }

    pub(crate) fn wake(&self, agent_id: &str) {
        if let Some(signal) = self.readers().get(agent_id) {
            signal.notify.notify_one();
        }
    }

    /// Wakes all readers, some at a time: each of them then reads the database.
    pub(crate) async fn wake_all(&self) {
        let signals: Vec<_> = self.readers().values().cloned().collect();
        for woken in signals.chunks(WOKEN_AT_ONCE) {
            woken.iter().for_each(|signal| signal.notify.notify_one());
            tokio::time::sleep(WAKE_INTERVAL).await;
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.readers().len()
    }
}

impl Waiter {
    pub(crate) fn is_superseded(&self) -> bool {
        self.signal.superseded.load(Ordering::Acquire)
    }

    /// Waits until there may be new events or the reader is superseded. A signal since the last
    /// wait is not missed.
    pub(crate) async fn wait_for_wake(&self) -> Wake {
        self.signal.notify.notified().await;
        if self.is_superseded() { Wake::Superseded } else { Wake::NewEvents }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut readers = self.waiting.readers();
        if readers.get(&self.agent_id).is_some_and(|signal| Arc::ptr_eq(signal, &self.signal)) {
            readers.remove(&self.agent_id);
        }
    }
}
