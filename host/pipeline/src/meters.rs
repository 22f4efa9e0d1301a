//! What is counted of calls, for the operator.

use portolan_vocabulary::Failure;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, histogram::Histogram},
    registry::{Registry, Unit},
};
use std::time::Duration;

/// Seconds. A call that does next to nothing takes some tenths of a millisecond, and none may take more
/// than its limit of some seconds.
const BUCKETS: [f64; 14] =
    [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Ended {
    capability: String,
    action: String,
    /// `ok`, or the error code.
    outcome: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Took {
    capability: String,
    action: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Told {
    error_code: String,
}

/// Since the start. What there is a counter for are actions of the catalog and codes that they declare,
/// so there is no end of counters only if there is none of those.
#[derive(Debug)]
pub struct Meters {
    calls: Family<Ended, Counter>,
    durations: Family<Took, Histogram, fn() -> Histogram>,
    refusals: Family<Told, Counter>,
}

impl Default for Meters {
    fn default() -> Self {
        Self {
            calls: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            refusals: Family::default(),
        }
    }
}

impl Meters {
    /// An action has run, for whomever it was.
    pub(super) fn ran(
        &self,
        capability: &str,
        action: &str,
        refusal: Option<&Failure>,
        took: Duration,
    ) {
        let (capability, action) = (capability.to_owned(), action.to_owned());
        let outcome = refusal.map_or("ok", |failure| &*failure.error_code).to_owned();
        let took_by = Took { capability: capability.clone(), action: action.clone() };
        self.durations.get_or_create(&took_by).observe(took.as_secs_f64());
        self.calls.get_or_create(&Ended { capability, action, outcome }).inc();
    }

    /// An agent was refused, whether its action has run or not.
    pub(super) fn refused(&self, error_code: &str) {
        self.refusals.get_or_create(&Told { error_code: error_code.to_owned() }).inc();
    }

    /// Adds what is counted to what is told.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "calls",
            "Calls whose action has run: of agents, of due work and of the operator",
            self.calls.clone(),
        );
        registry.register_with_unit(
            "call_duration",
            "From the arrival of such a call to its answer",
            Unit::Seconds,
            self.durations.clone(),
        );
        registry.register(
            "refusals",
            "Calls of agents that were refused, at whatever step",
            self.refusals.clone(),
        );
    }
}
