//! Counters and histograms of calls, for the operator.

use portolan_vocabulary::{Failure, Quota};
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, histogram::Histogram},
    registry::{Registry, Unit},
};
use std::time::Duration;

/// The bounds of the histogram in seconds: from the shortest calls, of some tenths of a millisecond, to the
/// time limit of calls.
const BUCKETS: [f64; 14] =
    [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    capability: String,
    action: String,
    /// `ok`, or the error code.
    outcome: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ActionLabels {
    capability: String,
    action: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RefusalLabels {
    error_code: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct QuotaLabels {
    capability: String,
    quota: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct MessageLabels {
    recipient: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EmailLabels {
    kind: &'static str,
    outcome: &'static str,
}

/// Counts since the start. The labels are actions of the catalog and their error codes, so the number of
/// counters is bounded.
#[derive(Debug)]
pub struct Meters {
    calls: Family<CallLabels, Counter>,
    durations: Family<ActionLabels, Histogram, fn() -> Histogram>,
    refusals: Family<RefusalLabels, Counter>,
    exceeded: Family<QuotaLabels, Counter>,
    messages: Family<MessageLabels, Counter>,
    emails: Family<EmailLabels, Counter>,
}

impl Default for Meters {
    fn default() -> Self {
        Self {
            calls: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            refusals: Family::default(),
            exceeded: Family::default(),
            messages: Family::default(),
            emails: Family::default(),
        }
    }
}

impl Meters {
    /// Counts a run of an action, by any caller.
    pub(super) fn count_run(
        &self,
        capability: &str,
        action: &str,
        refusal: Option<&Failure>,
        duration: Duration,
    ) {
        let (capability, action) = (capability.to_owned(), action.to_owned());
        let outcome = refusal.map_or("ok", |failure| &*failure.error_code).to_owned();
        let labels = ActionLabels { capability: capability.clone(), action: action.clone() };
        self.durations.get_or_create(&labels).observe(duration.as_secs_f64());
        self.calls.get_or_create(&CallLabels { capability, action, outcome }).inc();
    }

    /// Counts a refused call of an agent, before or after its action has run.
    pub(super) fn count_refusal(&self, error_code: &str) {
        self.refusals.get_or_create(&RefusalLabels { error_code: error_code.to_owned() }).inc();
    }

    /// Counts a run that was refused, or a log message that was left out, because of a quota.
    pub(super) fn count_exceeded(&self, capability: &str, quota: Quota) {
        let (capability, quota) = (capability.to_owned(), quota.name());
        self.exceeded.get_or_create(&QuotaLabels { capability, quota }).inc();
    }

    /// Counts a text message that a call wanted to send.
    pub(super) fn count_text_message(&self, is_known: bool, outcome: &'static str) {
        let recipient = if is_known { "known" } else { "unknown" };
        self.messages.get_or_create(&MessageLabels { recipient, outcome }).inc();
    }

    /// Counts an attempt to send an email.
    pub(super) fn count_email(&self, kind: &'static str, outcome: &'static str) {
        self.emails.get_or_create(&EmailLabels { kind, outcome }).inc();
    }

    /// Adds the metrics to a registry.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "calls",
            "Runs of actions: by agents, by due work and by the operator",
            self.calls.clone(),
        );
        registry.register_with_unit(
            "call_duration",
            "The time from the arrival of a call to its answer",
            Unit::Seconds,
            self.durations.clone(),
        );
        registry.register(
            "refusals",
            "Refused calls of agents, at any step",
            self.refusals.clone(),
        );
        registry.register(
            "quota_refusals",
            "Runs whose writes exceed a quota, by the capability whose quota it is",
            self.exceeded.clone(),
        );
        registry.register(
            "text_messages",
            "Text messages that calls wanted to send: admitted, or refused for their destination, the caller's address or the budget",
            self.messages.clone(),
        );
        registry.register(
            "emails",
            "Attempts to send an email: taken by the server, tried again later, put off by the budget, not wanted any more, without a mailbox, or failed",
            self.emails.clone(),
        );
    }
}
