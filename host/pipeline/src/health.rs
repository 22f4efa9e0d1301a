//! Whether calls succeed lately, for the public status page: a failure that is not its caller's fault is a
//! disturbance until nothing has failed for some minutes.

use portolan_vocabulary::{ErrorCode, ErrorKind, Failure, Timestamp};
use std::{
    collections::HashMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

/// A disturbance has ended when nothing has failed for this time.
const QUIET: Duration = Duration::from_mins(5);
/// Fewer failures than these are no disturbance, because single calls fail for reasons of their own.
const FEWEST_FAILURES: u64 = 3;
/// A disturbance is one if at least one of this number of runs fails.
const RUNS_FOR_A_FAILURE: u64 = 10;

/// The condition of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Condition {
    Operational,
    /// A part of the calls fails.
    Degraded,
    /// Every call fails.
    Outage,
}

/// The outcomes of runs since the first one that failed.
#[derive(Debug, Clone, Copy)]
struct Disturbance {
    since: Timestamp,
    last_failure: Timestamp,
    failures: u64,
    successes: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Subject {
    current: Option<Disturbance>,
    /// When the last disturbance ended.
    recovered_at: Option<Timestamp>,
}

/// The disturbances of capabilities and of the sending of text messages, by name, at this node.
#[derive(Debug, Default)]
pub struct CallHealth {
    subjects: Mutex<HashMap<String, Subject>>,
    /// The number of subjects with failures. While there is none, a success costs only this look.
    disturbed: AtomicUsize,
}

impl CallHealth {
    /// Counts a run. `has_failed` is not set for a run that its caller or a declared refusal has ended.
    pub(super) fn count(&self, name: &str, has_failed: bool, now: Timestamp) {
        if !has_failed && self.disturbed.load(Relaxed) == 0 {
            return;
        }
        let mut subjects = self.subjects.lock().unwrap_or_else(PoisonError::into_inner);
        subjects.values_mut().for_each(|subject| subject.end_if_quiet(now));
        if has_failed {
            let subject = subjects.entry(name.to_owned()).or_default();
            let current = subject.current.get_or_insert(Disturbance {
                since: now,
                last_failure: now,
                failures: 0,
                successes: 0,
            });
            current.failures += 1;
            current.last_failure = now;
        } else if let Some(current) =
            subjects.get_mut(name).and_then(|subject| subject.current.as_mut())
        {
            current.successes += 1;
        }
        let is_disturbed = |subject: &&Subject| subject.current.is_some();
        self.disturbed.store(subjects.values().filter(is_disturbed).count(), Relaxed);
    }

    /// Returns how well something works, and since when; `None` if it has worked since the start of this node.
    pub fn condition(&self, name: &str, now: Timestamp) -> (Condition, Option<Timestamp>) {
        let mut subjects = self.subjects.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(subject) = subjects.get_mut(name) else { return (Condition::Operational, None) };
        subject.end_if_quiet(now);
        match subject.current.filter(Disturbance::counts) {
            Some(current) if current.successes == 0 => (Condition::Outage, Some(current.since)),
            Some(current) => (Condition::Degraded, Some(current.since)),
            None => (Condition::Operational, subject.recovered_at),
        }
    }
}

impl Subject {
    fn end_if_quiet(&mut self, now: Timestamp) {
        let ended = self.current.filter(|current| current.last_failure.plus(QUIET) <= now);
        if let Some(ended) = ended {
            self.current = None;
            if ended.counts() {
                self.recovered_at = Some(ended.last_failure);
            }
        }
    }
}

impl Disturbance {
    fn counts(&self) -> bool {
        let runs = self.failures.saturating_add(self.successes);
        self.failures >= FEWEST_FAILURES && self.failures.saturating_mul(RUNS_FOR_A_FAILURE) >= runs
    }
}

/// Returns whether a failure is one of the host or of a capability: not the caller's, and none that a component has
/// answered itself.
pub(super) fn is_own_fault(failure: &Failure) -> bool {
    use ErrorKind::{Internal, OutOfTime, Unavailable, Upstream};
    let is_of_component =
        ErrorCode::from_name(&failure.error_code).is_none_or(|code| code.row().component);
    !is_of_component && matches!(failure.kind, Internal | OutOfTime | Unavailable | Upstream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use portolan_vocabulary::MINUTE;

    fn at(minutes: u32) -> Timestamp {
        Timestamp::from_millis(0).plus(MINUTE * minutes)
    }

    #[test]
    fn several_failures_are_a_disturbance_until_nothing_fails() {
        let health = CallHealth::default();
        for (code, is_own) in [
            (ErrorCode::CapabilityTrapped, true),
            (ErrorCode::CapabilityTimeout, true),
            (ErrorCode::ValidationFailed, false),
            (ErrorCode::DependencyUnavailable, false),
        ] {
            assert_eq!(is_own_fault(&Failure::new(code)), is_own, "{code:?}");
        }
        health.count("notes", true, at(1));
        health.count("notes", true, at(2));
        assert_eq!(health.condition("notes", at(2)), (Condition::Operational, None));
        health.count("notes", true, at(3));
        assert_eq!(health.condition("notes", at(3)), (Condition::Outage, Some(at(1))));
        health.count("notes", false, at(3));
        assert_eq!(health.condition("notes", at(3)), (Condition::Degraded, Some(at(1))));
        assert_eq!(health.condition("others", at(3)), (Condition::Operational, None));
        for _ in 0..40 {
            health.count("notes", false, at(4));
        }
        assert_eq!(health.condition("notes", at(4)).0, Condition::Operational);
        for _ in 0..7 {
            health.count("notes", true, at(4));
        }
        assert_eq!(health.condition("notes", at(8)), (Condition::Degraded, Some(at(1))));
        assert_eq!(health.condition("notes", at(9)), (Condition::Operational, Some(at(4))));
    }
}
