//! Those who wait for something new: one for each agent, without a thread and without asking the
//! database.

use std::{
    collections::{HashMap, hash_map::RandomState},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::sync::Notify;

/// What those of one agent are woken by.
#[derive(Debug, Default)]
struct Bell {
    notify: Notify,
    superseded: AtomicBool,
}

#[derive(Debug, Default)]
pub(super) struct Waiting(Mutex<HashMap<Arc<str>, Arc<Bell>, RandomState>>);

/// A reader in its place; dropped, the place is free.
#[derive(Debug)]
pub struct Waiter {
    waiting: Arc<Waiting>,
    agent_id: Arc<str>,
    bell: Arc<Bell>,
}

/// Why a reader goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// There may be something new.
    News,
    /// Another reader of the same agent has taken the place.
    Superseded,
}

impl Waiting {
    fn places(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<Bell>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the agent's place; whoever has it is let go.
    pub(super) fn enter(self: &Arc<Self>, agent_id: &Arc<str>) -> Waiter {
        let bell = Arc::new(Bell::default());
        if let Some(before) = self.places().insert(Arc::clone(agent_id), Arc::clone(&bell)) {
            before.superseded.store(true, Ordering::Release);
            before.notify.notify_one();
        }
        Waiter { waiting: Arc::clone(self), agent_id: Arc::clone(agent_id), bell }
    }

    pub(super) fn wake(&self, agent_id: &str) {
        if let Some(bell) = self.places().get(agent_id) {
            bell.notify.notify_one();
        }
    }

    pub(super) fn wake_all(&self) {
        self.places().values().for_each(|bell| bell.notify.notify_one());
    }

    pub(super) fn count(&self) -> usize {
        self.places().len()
    }
}

impl Waiter {
    pub(super) fn is_superseded(&self) -> bool {
        self.bell.superseded.load(Ordering::Acquire)
    }

    /// Until there may be something new. What came since the last time is not missed.
    pub(super) async fn woken(&self) -> Wake {
        self.bell.notify.notified().await;
        if self.is_superseded() { Wake::Superseded } else { Wake::News }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut places = self.waiting.places();
        if places.get(&self.agent_id).is_some_and(|bell| Arc::ptr_eq(bell, &self.bell)) {
            places.remove(&self.agent_id);
        }
    }
}
