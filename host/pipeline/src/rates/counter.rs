//! The bucket of one account for one rate.

use portolan_vocabulary::{Bucket, Timestamp};
use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// The use is shared with other nodes when it is one part in this many of the limit.
const SHARED_PART: u64 = 10;

/// A bucket, and the amount that this node has taken out of it since it last told the database.
#[derive(Debug)]
pub(super) struct Counter {
    /// The key in the database.
    pub(super) key: String,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    limit: (u64, Duration),
    bucket: Bucket,
    /// The time in microseconds in which the taken amount refills.
    unshared: u64,
    is_queued: bool,
    /// How often something was refused because too little was left.
    refused: u64,
}

/// The outcome of taking out of a bucket.
pub(super) struct Taken {
    pub(super) left: u64,
    pub(super) full_in: Duration,
    /// Whether the counter has to be queued for the database now.
    pub(super) queue: bool,
}

impl Counter {
    pub(super) fn new(key: String, limit: (u64, Duration), bucket: Bucket) -> Self {
        let state = State { limit, bucket, unshared: 0, is_queued: false, refused: 0 };
        Self { key, state: Mutex::new(state) }
    }

    /// Changes the limit. The bucket is filled to the same part as before.
    pub(super) fn set_limit(&self, limit: (u64, Duration)) {
        self.state().limit = limit;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an amount out. The error is the time until enough is left.
    pub(super) fn take(&self, amount: u64, now: Timestamp) -> Result<Taken, Duration> {
        let mut state = self.state();
        let bucket = state.bucket.take(amount, state.limit, now)?;
        Ok(self.set(&mut state, bucket, amount, now))
    }

    /// Takes an amount out that was used already, even if less is left.
    pub(super) fn charge(&self, amount: u64, now: Timestamp) -> Taken {
        let mut state = self.state();
        let bucket = state.bucket.charge(amount, state.limit, now);
        self.set(&mut state, bucket, amount, now)
    }

    /// Returns the time until something is left; `None` if something is left now.
    pub(super) fn wait(&self, now: Timestamp) -> Option<Duration> {
        let state = self.state();
        state.bucket.take(1, state.limit, now).err()
    }

    pub(super) fn note_refusal(&self) {
        self.state().refused += 1;
    }

    /// Returns how much is used and not refilled, of how much in which time, and how often something was
    /// refused.
    pub(super) fn usage(&self, now: Timestamp) -> (u64, (u64, Duration), u64) {
        let state = self.state();
        let used = state.limit.0.saturating_sub(state.bucket.left(state.limit, now));
        (used, state.limit, state.refused)
    }

    fn set(&self, state: &mut State, bucket: Bucket, amount: u64, now: Timestamp) -> Taken {
        let limit = state.limit;
        let cost = Bucket::default().charge(amount, limit, Timestamp::from_millis(0)).micros();
        state.bucket = bucket;
        state.unshared += cost;
        let is_much = state.unshared >= limit.1.as_micros() as u64 / SHARED_PART;
        let queue = is_much && !std::mem::replace(&mut state.is_queued, is_much);
        Taken { left: bucket.left(limit, now), full_in: bucket.full_in(now), queue }
    }

    /// Returns the amount that was taken since the last exchange, which from now on counts as
    /// shared.
    pub(super) fn take_unshared(&self) -> u64 {
        let mut state = self.state();
        state.is_queued = false;
        std::mem::take(&mut state.unshared)
    }

    /// Puts back the amount that could not be shared.
    pub(super) fn restore_unshared(&self, micros: u64) {
        self.state().unshared += micros;
    }

    /// Takes over the amount that all nodes have taken: the time at which the bucket of all is full, in
    /// microseconds since the Unix epoch.
    pub(super) fn merge(&self, full_at: u64) {
        let mut state = self.state();
        state.bucket = Bucket::full_at(state.bucket.micros().max(full_at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_stays_taken_as_a_part_of_a_new_limit() {
        let (minute, now) = (Duration::from_secs(60), Timestamp::from_millis(1_700_000_000_000));
        let counter = Counter::new(String::new(), (3, minute), Bucket::default());
        assert!(counter.take(3, now).is_ok());
        counter.set_limit((6, minute));
        assert_eq!(counter.usage(now), (6, (6, minute), 0));
        assert!(counter.take(1, now).is_err());
    }
}
