//! The requests to one host: when the next one may be sent, and how many in a row have failed.

use super::robots::Robots;
use std::{collections::BTreeMap, time::Duration};
use tokio::time::Instant;
use url::Url;

/// A longer wait is longer than any build, and may be later than the clock can say.
const LONGEST: Duration = Duration::from_hours(24);

/// The state of one host. A task that holds its lock may send a request.
#[derive(Debug, Default)]
pub(super) struct Lane {
    not_before: Option<Instant>,
    failures: u32,
    /// What the host's `robots.txt` allows, by the address of the file.
    pub(super) robots: BTreeMap<Url, Robots>,
}

impl Lane {
    /// Returns how many requests in a row have failed.
    pub(super) fn failures(&self) -> u32 {
        self.failures
    }

    /// Returns how long the next request has to wait.
    pub(super) fn remaining(&self) -> Duration {
        self.not_before
            .map_or(Duration::ZERO, |instant| instant.saturating_duration_since(Instant::now()))
    }

    /// Waits until the next request may be sent.
    pub(super) async fn wait(&self) {
        if let Some(instant) = self.not_before {
            tokio::time::sleep_until(instant).await;
        }
    }

    /// Records the result of a request, and the pause after it.
    pub(super) fn record(&mut self, pause: Duration, failed: bool) {
        self.failures = if failed { self.failures + 1 } else { 0 };
        self.delay(pause);
    }

    /// Delays the next request by at least this time, of which a day counts.
    pub(super) fn delay(&mut self, wait: Duration) {
        let until = Instant::now() + wait.min(LONGEST);
        self.not_before = Some(self.not_before.map_or(until, |instant| instant.max(until)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_may_ask_to_wait_for_any_time() {
        let mut lane = Lane::default();
        lane.delay(Duration::from_secs(u64::MAX));
        assert!(lane.remaining() > Duration::from_hours(23));
    }
}
