//! The requests to one host: when the next one may be sent, and how many in a row have failed.

use super::robots::Robots;
use std::time::Duration;
use tokio::time::Instant;

/// The state of one host. A task that holds its lock may send a request.
#[derive(Debug, Default)]
pub(super) struct Lane {
    not_before: Option<Instant>,
    failures: u32,
    /// What the host's `robots.txt` allows; `None` as long as it was not asked for.
    pub(super) robots: Option<Robots>,
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

    /// Delays the next request by at least this time.
    pub(super) fn delay(&mut self, wait: Duration) {
        let until = Instant::now() + wait;
        self.not_before = Some(self.not_before.map_or(until, |instant| instant.max(until)));
    }
}
