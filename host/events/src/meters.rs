//! Counters of requests to webhooks, for the operator.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, histogram::Histogram},
    registry::{Registry, Unit},
};
use std::time::Duration;

/// The bounds of the histogram in seconds, up to the longest time-out of a request.
const SECONDS: [f64; 9] = [0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabels {
    outcome: &'static str,
}

/// Counts since the start.
#[derive(Debug)]
pub struct WebhookMeters {
    attempts: Family<OutcomeLabels, Counter>,
    durations: Histogram,
}

impl Default for WebhookMeters {
    fn default() -> Self {
        Self { attempts: Family::default(), durations: Histogram::new(SECONDS) }
    }
}

impl WebhookMeters {
    /// Counts a request: `delivered`, `refused` or `no_answer`.
    pub(crate) fn count(&self, outcome: &'static str, duration: Duration) {
        self.attempts.get_or_create(&OutcomeLabels { outcome }).inc();
        self.durations.observe(duration.as_secs_f64());
    }

    /// Adds the metrics to a registry.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("webhook_attempts", "Requests to webhooks", self.attempts.clone());
        registry.register_with_unit(
            "webhook_duration",
            "The time of a request to a webhook",
            Unit::Seconds,
            self.durations.clone(),
        );
    }
}
