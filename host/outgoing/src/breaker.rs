//! A circuit breaker: after several failures in a row, a server is left alone for a while.

use portolan_vocabulary::Timestamp;
use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// The number of failures in a row that open the breaker.
const FAILURES: u32 = 5;
/// For how long it is open.
const PAUSE: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
struct State {
    failures: u32,
    open_until: Option<Timestamp>,
}

/// The state of one server, as this node has seen it.
#[derive(Debug, Default)]
pub(crate) struct Breaker(Mutex<State>);

impl Breaker {
    /// Returns whether the server is to be left alone now.
    pub(crate) fn is_open(&self, now: Timestamp) -> bool {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.open_until.is_some_and(|until| until > now)
    }

    /// Notes the outcome of a request. After a pause, one more failure opens the breaker again.
    pub(crate) fn note(&self, has_failed: bool, now: Timestamp) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.failures = if has_failed { state.failures.saturating_add(1) } else { 0 };
        state.open_until = (state.failures >= FAILURES).then(|| now.plus(PAUSE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_in_a_row_open_it_and_a_success_closes_it() {
        let (breaker, now) = (Breaker::default(), Timestamp::from_millis(1_000_000));
        for _ in 1..FAILURES {
            breaker.note(true, now);
        }
        breaker.note(false, now);
        for _ in 1..FAILURES {
            breaker.note(true, now);
            assert!(!breaker.is_open(now));
        }
        breaker.note(true, now);
        assert!(breaker.is_open(now));
        let later = now.plus(PAUSE);
        assert!(!breaker.is_open(later));
        breaker.note(true, later);
        assert!(breaker.is_open(later));
        breaker.note(false, later);
        assert!(!breaker.is_open(later));
    }
}
