//! The queue before one host: who waits in it, for how long, and how often the host failed.

use std::time::Duration;
use tokio::time::Instant;

/// What is known about one host. Whoever holds it may ask.
#[derive(Debug, Default)]
pub(super) struct Lane {
    not_before: Option<Instant>,
    failures: u32,
}

impl Lane {
    /// Requests in a row that came to nothing.
    pub(super) fn failures(&self) -> u32 {
        self.failures
    }

    /// How long the next request has to wait.
    pub(super) fn left(&self) -> Duration {
        self.not_before.map_or(Duration::ZERO, |it| it.saturating_duration_since(Instant::now()))
    }

    pub(super) async fn wait(&self) {
        if let Some(instant) = self.not_before {
            tokio::time::sleep_until(instant).await;
        }
    }

    pub(super) fn asked(&mut self, pause: Duration, failed: bool) {
        self.failures = if failed { self.failures + 1 } else { 0 };
        self.rest(pause);
    }

    pub(super) fn rest(&mut self, wait: Duration) {
        let until = Instant::now() + wait;
        self.not_before = Some(self.not_before.map_or(until, |it| it.max(until)));
    }
}
