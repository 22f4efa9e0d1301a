//! How far the clock of the database server is from that of this node.
//!
//! Nodes whose clocks differ would take each other's work before it is due, and again while it is leased. So a node whose
//! clock is wrong corrects it by that of the server.

use portolan_vocabulary::Timestamp;
use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// How long a measurement is used, if the clock does not jump meanwhile.
const USED_FOR: Duration = Duration::from_secs(10);
/// The smallest difference that is corrected, and the smallest jump that is noticed, in milliseconds. A lease is much
/// longer.
const CORRECTED_MS: u64 = 1_000;
/// The longest request for the server's time that can replace a measurement.
const SLOW: Duration = Duration::from_secs(2);
/// The largest difference that is corrected, in milliseconds. Beyond it, it is not known which clock is wrong, and if it
/// were the server's, all nodes would remove what has not expired. Such a node is not ready.
const MOST_CORRECTED_MS: u64 = 3_600_000;

/// The last measurement of the difference.
#[derive(Debug, Default)]
pub(crate) struct ServerClock(Mutex<Option<Measurement>>);

#[derive(Debug, Clone, Copy)]
struct Measurement {
    at: Instant,
    /// The time of the node's own clock, neither corrected nor advanced.
    own: Timestamp,
    correction_ms: i64,
}

impl ServerClock {
    fn last(&self) -> MutexGuard<'_, Option<Measurement>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the last measurement says how far the clocks differ now, when the own clock shows `own`.
    pub(crate) fn is_known(&self, own: Timestamp, now: Instant) -> bool {
        self.last().is_some_and(|last| {
            let passed = now.saturating_duration_since(last.at);
            let expected = last.own.plus(passed).as_millis();
            passed < USED_FOR && own.as_millis().abs_diff(expected) < CORRECTED_MS
        })
    }

    /// Notes that the server's clock has shown `server` during a request which began at `begun`, when the own clock
    /// showed `own`, and which has taken `took`. Returns the correction in milliseconds, if it is another one than before.
    pub(crate) fn note(
        &self,
        (own, server): (Timestamp, Timestamp),
        (begun, took): (Instant, Duration),
    ) -> Option<i64> {
        let mut last = self.last();
        if took > SLOW && last.is_some() {
            return None;
        }
        let (own_ms, server_ms) = (own.plus(took / 2).as_millis(), server.as_millis());
        let size_ms = i64::try_from(own_ms.abs_diff(server_ms)).unwrap_or(i64::MAX);
        let measured_ms = if server_ms > own_ms { size_ms } else { -size_ms };
        // The server may have looked at its clock at any time of the request.
        let unsure_ms = u64::try_from((took / 2).as_millis()).unwrap_or(u64::MAX);
        let unsure_ms = unsure_ms.saturating_add(CORRECTED_MS);
        let former_ms = last.map_or(0, |former| former.correction_ms);
        let correction_ms = match measured_ms.unsigned_abs() {
            // Each measurement differs a little from the one before it.
            _ if measured_ms.abs_diff(former_ms) < unsure_ms => former_ms,
            size if size < unsure_ms => 0,
            size if size > MOST_CORRECTED_MS => former_ms,
            _ => measured_ms,
        };
        *last = Some(Measurement { at: begun, own, correction_ms });
        (former_ms != correction_ms).then_some(correction_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_difference_of_seconds_is_corrected() {
        let (clock, begun) = (ServerClock::default(), Instant::now());
        let at = |seconds: u64| Timestamp::from_millis(1_800_000_000_000 + seconds * 1000);
        let note = |own, server| clock.note((at(own), at(server)), (begun, Duration::ZERO));
        assert_eq!(note(100, 100), None);
        assert_eq!(note(400, 100), Some(-300_000));
        assert_eq!(note(400, 100), None);
        let nearly = Duration::from_millis(40);
        assert_eq!(clock.note((at(400), at(100)), (begun, nearly)), None);
        assert_eq!(note(100, 100 + 2 * 3_600), None);
        assert_eq!(note(100, 400), Some(300_000));
        assert_eq!(note(100, 100), Some(0));
        // The server's time is that of the middle of the request.
        let took = Duration::from_millis(1900);
        assert_eq!(clock.note((at(100), at(101)), (begun, took)), None);
        let slow = Duration::from_secs(30);
        assert_eq!(clock.note((at(100), at(100)), (begun, slow)), None);
    }

    #[test]
    fn a_measurement_is_used_until_it_is_old_or_the_clock_has_jumped() {
        let (clock, begun) = (ServerClock::default(), Instant::now());
        let own = Timestamp::from_millis(1_800_000_000_000);
        assert!(!clock.is_known(own, begun));
        clock.note((own, own), (begun, Duration::ZERO));
        let second = Duration::from_secs(1);
        assert!(clock.is_known(own.plus(second), begun + second));
        assert!(!clock.is_known(own.plus(second * 300), begun + second));
        assert!(!clock.is_known(own, begun + second * 9));
        assert!(!clock.is_known(own.plus(second * 10), begun + second * 10));
    }
}
