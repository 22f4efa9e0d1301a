//! Guards: what a call has stored outside of the database is undone, unless its unit of work may be committed.

use std::{
    fmt,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

/// Undoes something when it is dropped, unless it is disarmed.
pub(super) struct Guard {
    undo: Option<Box<dyn FnOnce() + Send + Sync>>,
    is_armed: AtomicBool,
}

impl Guard {
    pub(super) fn new(undo: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self { undo: Some(Box::new(undo)), is_armed: AtomicBool::new(true) }
    }

    pub(super) fn arm(&self) {
        self.is_armed.store(true, Relaxed);
    }

    pub(super) fn disarm(&self) {
        self.is_armed.store(false, Relaxed);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if *self.is_armed.get_mut()
            && let Some(undo) = self.undo.take()
        {
            undo();
        }
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("is_armed", &self.is_armed).finish_non_exhaustive()
    }
}
