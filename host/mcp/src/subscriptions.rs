//! The tasks that notify sessions, as in MCP before 2026-07-28, of what they are subscribed to.

use std::{
    collections::HashMap,
    future::Future,
    sync::{Mutex, MutexGuard, PoisonError},
};
use tokio_util::task::AbortOnDropHandle;

/// One task for each session.
#[derive(Debug, Default)]
pub(super) struct Subscriptions(Mutex<HashMap<String, AbortOnDropHandle<()>>>);

impl Subscriptions {
    /// Runs a task for a session, in place of one that it had.
    pub(super) fn start(&self, session: &str, task: impl Future<Output = ()> + Send + 'static) {
        let task = AbortOnDropHandle::new(tokio::spawn(task));
        self.tasks().insert(session.to_owned(), task);
    }

    pub(super) fn end(&self, session: &str) {
        self.tasks().remove(session);
    }

    fn tasks(&self) -> MutexGuard<'_, HashMap<String, AbortOnDropHandle<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
