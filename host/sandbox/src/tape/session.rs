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
    /// Whether the call belongs to the share that is kept in any case.
    is_sampled: bool,
    /// The number of bytes that may still be kept.
    remaining: AtomicUsize,
    limit: usize,
    runs: Mutex<Runs>,
}

#[derive(Debug, Default)]
struct Runs {
    runs: Vec<RecordedRun>,
    /// Whether one of them failed through no fault of its caller.
    failed: bool,
    lost: Option<Lost>,
}

/// The recorded runs of a call that has ended.
#[derive(Debug)]
pub struct Finished {
    /// The outermost run first.
    pub runs: Vec<RecordedRun>,
    /// Whether one of them failed through no fault of its caller.
    pub failed: bool,
}

impl Session {
    /// Returns a session that keeps at most this number of bytes.
    pub fn new(limit: usize, is_sampled: bool) -> Self {
        Self { is_sampled, remaining: AtomicUsize::new(limit), limit, runs: Mutex::default() }
    }

    /// Returns whether the call belongs to the share that is kept in any case.
    pub fn is_sampled(&self) -> bool {
        self.is_sampled
    }

    /// Returns whether the outermost run of the call is needed when it ends in this way. Most calls are neither in the
    /// share that is kept nor failed, and nothing of them is copied.
    pub fn needs_outermost(&self, failed: bool) -> bool {
        self.is_sampled || failed || self.runs.lock().unwrap_or_else(PoisonError::into_inner).failed
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

    /// Adds a run that has ended, which may have failed through no fault of its caller. Nested runs come before the one
    /// that called them.
    pub fn add(&self, run: Result<RecordedRun, Lost>, failed: bool) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.failed |= failed;
        match run {
            Ok(run) if self.take(run.own_size()) => runs.runs.push(run),
            Ok(_) => runs.lost = Some(Lost::TooLarge),
            Err(lost) => runs.lost = Some(lost),
        }
    }

    /// Takes the runs, or the reason why they are not whole.
    pub fn finish(&self) -> Result<Finished, Lost> {
        let mut kept = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let Runs { mut runs, failed, lost } = std::mem::take(&mut *kept);
        runs.reverse();
        lost.map_or(Ok(Finished { runs, failed }), Err)
    }
}
