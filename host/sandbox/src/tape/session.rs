//! The recorded runs of one call: the outermost one and those of its nested calls.

use super::record::RecordedRun;
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

/// The reason why a call is not recorded whole, and so not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lost {
    /// It asked for more than is kept of one call.
    TooLarge,
    /// It was given a secret.
    Secret,
    /// It names more people than a recording may.
    TooManyPeople,
    /// Recordings came faster than they could be written.
    Busy,
    /// The database did not take it.
    Unwritten,
}

impl Lost {
    pub const ALL: [Self; 5] =
        [Self::TooLarge, Self::Secret, Self::TooManyPeople, Self::Busy, Self::Unwritten];

    /// Returns the name in metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::TooLarge => "too_large",
            Self::Secret => "secret",
            Self::TooManyPeople => "too_many_people",
            Self::Busy => "busy",
            Self::Unwritten => "unwritten",
        }
    }
}

/// The recorded runs of one call so far. A call that is run again forgets those of the attempt before.
#[derive(Debug)]
pub struct Session {
    /// The number of bytes that may still be kept.
    remaining: AtomicUsize,
    limit: usize,
    runs: Mutex<Runs>,
}

#[derive(Debug, Default)]
struct Runs {
    runs: Vec<RecordedRun>,
    lost: Option<Lost>,
}

impl Session {
    /// Returns a session that keeps at most this number of bytes.
    pub fn new(limit: usize) -> Self {
        Self { remaining: AtomicUsize::new(limit), limit, runs: Mutex::default() }
    }

    /// Forgets all runs, because the call is run again.
    pub fn restart(&self) {
        self.remaining.store(self.limit, Ordering::Relaxed);
        *self.runs.lock().unwrap_or_else(PoisonError::into_inner) = Runs::default();
    }

    /// Returns the number of bytes that may still be kept.
    pub(super) fn remaining(&self) -> usize {
        self.remaining.load(Ordering::Relaxed)
    }

    /// Takes bytes of what is left; `false` if there are not as many.
    pub(super) fn take(&self, bytes: usize) -> bool {
        let left = |remaining: usize| remaining.checked_sub(bytes);
        self.remaining.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).is_ok()
    }

    /// Adds a run that has ended. Nested runs come before the one that called them.
    pub fn add(&self, run: Result<RecordedRun, Lost>) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        match run {
            Ok(run) if self.take(run.own_size()) => runs.runs.push(run),
            Ok(_) => runs.lost = Some(Lost::TooLarge),
            Err(lost) => runs.lost = Some(lost),
        }
    }

    /// Takes the runs, the outermost first, or the reason why they are not whole.
    pub fn finish(&self) -> Result<Vec<RecordedRun>, Lost> {
        let mut kept = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let Runs { mut runs, lost } = std::mem::take(&mut *kept);
        runs.reverse();
        lost.map_or(Ok(runs), Err)
    }
}
