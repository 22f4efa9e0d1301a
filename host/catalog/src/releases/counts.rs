//! What this node counts of the calls of a release, in minutes.

use portolan_store::{ReleaseCount, ReleaseSide};
use portolan_vocabulary::{
    CallResult, MINUTE, ReleaseFigures, Timestamp, entropy, failures_in_a_row, new_identifier,
};
use std::{
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

/// The counts of this node. No call waits for the database.
#[derive(Debug)]
pub struct ReleaseCounts {
    /// The name of these counts beside those of other nodes, and of earlier runs of this one.
    pub(crate) node: String,
    minutes: Mutex<BTreeMap<(u64, ReleaseSide), Minute>>,
    /// How many of the last calls of the canary have failed without another one in between.
    in_a_row: AtomicU64,
    /// How many failures in a row have stopped the canary; 0 if none have. A call that was in flight then and ends well
    /// does not undo it.
    stopped_after: AtomicU64,
    /// Whether the last call of the served version failed. What disturbs both versions is not the canary's fault.
    served_failed_last: AtomicBool,
    /// Whether nobody gets the canary from this node any more.
    stopped: AtomicBool,
}

#[derive(Debug, Default)]
struct Minute {
    figures: ReleaseFigures,
    /// Whether the database does not have these figures yet.
    is_new: bool,
}

impl ReleaseCounts {
    pub(crate) fn new(now: Timestamp) -> Self {
        Self {
            node: new_identifier("node", now, u128::from_le_bytes(entropy())),
            minutes: Mutex::default(),
            in_a_row: AtomicU64::new(0),
            stopped_after: AtomicU64::new(0),
            served_failed_last: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
        }
    }

    pub(super) fn count(
        &self,
        side: ReleaseSide,
        result: CallResult,
        time: Duration,
        now: Timestamp,
    ) {
        let mut minutes = self.minutes();
        let minute = minutes.entry((minute(now), side)).or_default();
        minute.figures.count(result, time);
        minute.is_new = true;
        drop(minutes);
        match (side, result) {
            (_, CallResult::Other) => {}
            (ReleaseSide::Served, result) => {
                self.served_failed_last.store(result == CallResult::Failure, Relaxed);
            }
            (ReleaseSide::Canary, CallResult::Failure) => self.count_in_a_row(),
            (ReleaseSide::Canary, _) => self.in_a_row.store(0, Relaxed),
        }
    }

    fn count_in_a_row(&self) {
        if self.served_failed_last.load(Relaxed) {
            return;
        }
        let in_a_row = self.in_a_row.fetch_add(1, Relaxed) + 1;
        if in_a_row >= failures_in_a_row() {
            self.stopped_after.fetch_max(in_a_row, Relaxed);
            self.stop();
        }
    }

    /// Gives nobody the canary from now on. The release ends soon afterwards.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Relaxed);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Relaxed)
    }

    /// Returns how many calls of the canary have failed in a row: those that have stopped it, or the last ones.
    pub(crate) fn in_a_row(&self) -> u64 {
        self.in_a_row.load(Relaxed).max(self.stopped_after.load(Relaxed))
    }

    /// Returns the figures of the minutes that have changed since the last time. Minutes that are over are forgotten.
    pub(crate) fn take_new(&self, now: Timestamp) -> Vec<ReleaseCount> {
        let mut minutes = self.minutes();
        let mut changed = Vec::new();
        for ((minute, side), counted) in minutes.iter_mut().filter(|(_, counted)| counted.is_new) {
            counted.is_new = false;
            let figures = counted.figures.clone();
            changed.push(ReleaseCount { minute: *minute, side: *side, figures });
        }
        // A call that began before the minute was over may be counted in it a little later.
        let kept = minute(now).saturating_sub(1);
        minutes.retain(|(minute, _), _| *minute >= kept);
        changed
    }

    /// Notes that the database does not have these figures after all.
    pub(crate) fn put_back(&self, changed: Vec<ReleaseCount>) {
        let mut minutes = self.minutes();
        for ReleaseCount { minute, side, figures } in changed {
            let counted =
                minutes.entry((minute, side)).or_insert_with(|| Minute { figures, is_new: true });
            counted.is_new = true;
        }
    }

    fn minutes(&self) -> MutexGuard<'_, BTreeMap<(u64, ReleaseSide), Minute>> {
        self.minutes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the number of the minute of an instant since the Unix epoch.
pub(crate) fn minute(now: Timestamp) -> u64 {
    now.as_secs() / MINUTE.as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_700_000_040_000);

    fn count(counts: &ReleaseCounts, side: ReleaseSide, result: CallResult) {
        counts.count(side, result, Duration::from_millis(1), START);
    }

    #[test]
    fn only_failures_of_the_canary_in_a_row_stop_it() {
        let counts = ReleaseCounts::new(START);
        for _ in 1..failures_in_a_row() {
            count(&counts, ReleaseSide::Canary, CallResult::Failure);
            count(&counts, ReleaseSide::Served, CallResult::Success);
        }
        count(&counts, ReleaseSide::Canary, CallResult::Other);
        assert!(!counts.is_stopped());
        count(&counts, ReleaseSide::Canary, CallResult::Success);
        for _ in 0..failures_in_a_row() {
            assert!(!counts.is_stopped());
            count(&counts, ReleaseSide::Canary, CallResult::Failure);
        }
        assert!(counts.is_stopped());
    }

    #[test]
    fn a_call_that_ends_well_afterwards_does_not_undo_a_stop() {
        let counts = ReleaseCounts::new(START);
        for _ in 0..failures_in_a_row() {
            count(&counts, ReleaseSide::Canary, CallResult::Failure);
        }
        count(&counts, ReleaseSide::Canary, CallResult::Success);
        assert!(counts.is_stopped());
        assert_eq!(counts.in_a_row(), failures_in_a_row());
    }

    #[test]
    fn failures_while_the_served_version_fails_are_not_in_a_row() {
        let counts = ReleaseCounts::new(START);
        count(&counts, ReleaseSide::Canary, CallResult::Failure);
        count(&counts, ReleaseSide::Served, CallResult::Failure);
        // Neither is a result of the served version that says nothing of it.
        count(&counts, ReleaseSide::Served, CallResult::Other);
        for _ in 0..failures_in_a_row() {
            count(&counts, ReleaseSide::Canary, CallResult::Failure);
        }
        assert_eq!((counts.in_a_row(), counts.is_stopped()), (1, false));
        count(&counts, ReleaseSide::Served, CallResult::Refusal);
        for _ in 1..failures_in_a_row() {
            count(&counts, ReleaseSide::Canary, CallResult::Failure);
        }
        assert!(counts.is_stopped());
    }

    #[test]
    fn what_the_database_has_not_taken_is_given_again_once() {
        let counts = ReleaseCounts::new(START);
        count(&counts, ReleaseSide::Canary, CallResult::Success);
        let changed = counts.take_new(START);
        assert_eq!((changed.len(), counts.take_new(START).len()), (1, 0));
        count(&counts, ReleaseSide::Canary, CallResult::Refusal);
        counts.put_back(changed);
        let later = START.plus(MINUTE * 5);
        let changed = counts.take_new(later);
        // The figures are of the whole minute, so nothing is counted twice.
        assert_eq!((changed.len(), changed[0].figures.calls), (1, 2));
        counts.put_back(changed);
        assert_eq!(counts.take_new(later)[0].figures.calls, 2);
    }
}
