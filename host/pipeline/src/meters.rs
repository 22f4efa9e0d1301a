//! Counters and histograms of calls, for the operator.

use portolan_store::Verdict;
use portolan_telemetry::TraceContext;
use portolan_vocabulary::{Failure, Quota};
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{
        counter::Counter, exemplar::HistogramWithExemplars, family::Family, histogram::Histogram,
    },
    registry::{Registry, Unit},
};
use std::time::Duration;

/// The bounds of the histograms of times in seconds: from the shortest calls, of some tenths of a millisecond, to the
/// time limit of calls.
const SECONDS: [f64; 14] =
    [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0];
/// The bounds of the memory of sandboxes in bytes: 64 KiB, which is a page, to 256 MiB.
const BYTES: [f64; 7] =
    [65_536.0, 262_144.0, 1_048_576.0, 4_194_304.0, 16_777_216.0, 67_108_864.0, 268_435_456.0];
/// The outcomes of attempts to send a text message.
const SENT_MESSAGE_OUTCOMES: [&str; 3] = ["sent", "retried", "failed"];
/// The bounds of the number of documents of a commit.
const DOCUMENTS: [f64; 6] = [1.0, 2.0, 5.0, 20.0, 100.0, 1000.0];

/// The call whose trace shows an observation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct TraceLabels {
    trace_id: String,
}

impl TraceLabels {
    /// Returns the labels if the trace is recorded.
    pub fn of(trace: Option<TraceContext>) -> Option<Self> {
        let trace = trace.filter(TraceContext::is_recorded)?;
        Some(Self { trace_id: trace.trace_id().to_string() })
    }
}

/// A histogram of times, with the traces of some of them as exemplars.
pub type Latency = HistogramWithExemplars<TraceLabels>;

/// Makes a histogram of the times of calls and requests.
pub fn latency() -> Latency {
    Latency::new(SECONDS.into_iter())
}

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
struct CapabilityLabels {
    capability: String,
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
struct OutcomeLabels {
    outcome: &'static str,
}

/// The labels of a database operation, by OpenTelemetry's names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperationLabels {
    db_system_name: &'static str,
    db_operation_name: &'static str,
    /// Empty for a success.
    error_type: &'static str,
}

/// The instruments of an action.
#[derive(Debug)]
pub(super) struct ActionMeters {
    duration: Latency,
    ok: Counter,
}

/// The instruments of the sandboxes of a capability.
#[derive(Debug)]
pub(super) struct SandboxMeters {
    time: Histogram,
    memory: Histogram,
}

impl SandboxMeters {
    /// Counts what a sandbox has used.
    pub(super) fn count(&self, time: Duration, memory: usize) {
        self.time.observe(time.as_secs_f64());
        self.memory.observe(memory as f64);
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EmailLabels {
    kind: &'static str,
    outcome: &'static str,
}

type Histograms<L, H> = Family<L, H, fn() -> H>;

/// Counts since the start. The labels are actions of the catalog and their error codes, so the number of
/// counters is bounded.
#[derive(Debug)]
pub struct Meters {
    calls: Family<CallLabels, Counter>,
    durations: Histograms<ActionLabels, Latency>,
    refusals: Family<RefusalLabels, Counter>,
    exceeded: Family<QuotaLabels, Counter>,
    messages: Family<MessageLabels, Counter>,
    sent_messages: Family<OutcomeLabels, Counter>,
    sandbox_times: Histograms<CapabilityLabels, Histogram>,
    sandbox_memory: Histograms<CapabilityLabels, Histogram>,
    commits: Histograms<OperationLabels, Histogram>,
    committed_documents: Histogram,
    conflicts: Counter,
    retry_waits: Histogram,
    emails: Family<EmailLabels, Counter>,
}

impl Default for Meters {
    fn default() -> Self {
        let seconds = || Histogram::new(SECONDS);
        let sent_messages = Family::<OutcomeLabels, Counter>::default();
        // From the first look at the metrics, so that a rate has a beginning.
        for outcome in SENT_MESSAGE_OUTCOMES {
            drop(sent_messages.get_or_create(&OutcomeLabels { outcome }));
        }
        Self {
            calls: Family::default(),
            durations: Family::new_with_constructor(latency),
            refusals: Family::default(),
            exceeded: Family::default(),
            messages: Family::default(),
            sent_messages,
            sandbox_times: Family::new_with_constructor(seconds),
            sandbox_memory: Family::new_with_constructor(|| Histogram::new(BYTES)),
            commits: Family::new_with_constructor(seconds),
            committed_documents: Histogram::new(DOCUMENTS),
            conflicts: Counter::default(),
            retry_waits: seconds(),
            emails: Family::default(),
        }
    }
}

impl Meters {
    /// Returns the instruments of an action. Making their labels takes long, so they are kept with the action.
    pub(super) fn of_action(&self, capability: &str, action: &str) -> ActionMeters {
        let labels = ActionLabels { capability: capability.to_owned(), action: action.to_owned() };
        let duration = self.durations.get_or_create(&labels).clone();
        let ActionLabels { capability, action } = labels;
        let labels = CallLabels { capability, action, outcome: "ok".to_owned() };
        ActionMeters { duration, ok: self.calls.get_or_create(&labels).clone() }
    }

    /// Returns the instruments of the sandboxes of a capability, which are kept with the capability.
    pub(super) fn of_sandboxes(&self, capability: &str) -> SandboxMeters {
        let labels = CapabilityLabels { capability: capability.to_owned() };
        SandboxMeters {
            time: self.sandbox_times.get_or_create(&labels).clone(),
            memory: self.sandbox_memory.get_or_create(&labels).clone(),
        }
    }

    /// Counts a run of an action, by any caller. `meters` are those of the action.
    pub(super) fn count_run(
        &self,
        meters: &ActionMeters,
        (capability, action): (&str, &str),
        refusal: Option<&Failure>,
        duration: Duration,
        trace: Option<TraceContext>,
    ) {
        meters.duration.observe(duration.as_secs_f64(), TraceLabels::of(trace), None);
        let Some(failure) = refusal else {
            meters.ok.inc();
            return;
        };
        let (capability, action) = (capability.to_owned(), action.to_owned());
        let outcome = failure.error_code.clone().into_owned();
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

    /// Counts an attempt to send a text message: `sent`, `retried` or `failed`.
    pub(super) fn count_sent_message(&self, outcome: &'static str) {
        self.sent_messages.get_or_create(&OutcomeLabels { outcome }).inc();
    }

    /// Counts a commit, with the wait for others in its group.
    pub(super) fn count_commit<E>(
        &self,
        system: &'static str,
        committed: &Result<Verdict, E>,
        duration: Duration,
        documents: usize,
    ) {
        let error_type = commit_error(committed);
        let labels =
            OperationLabels { db_system_name: system, db_operation_name: "COMMIT", error_type };
        self.commits.get_or_create(&labels).observe(duration.as_secs_f64());
        match committed {
            Ok(Verdict::Committed) => self.committed_documents.observe(documents as f64),
            Ok(Verdict::Conflict(_)) => {
                self.conflicts.inc();
            }
            _ => {}
        }
    }

    /// Counts how long a call has waited for others that conflict with it.
    pub(super) fn count_retry_wait(&self, duration: Duration) {
        self.retry_waits.observe(duration.as_secs_f64());
    }

    /// Counts an attempt to send an email.
    pub(super) fn count_email(&self, kind: &'static str, outcome: &'static str) {
        self.emails.get_or_create(&EmailLabels { kind, outcome }).inc();
    }

    /// Adds the metrics with names of this host to a registry.
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
            "Attempts to send an email: taken by the server, tried again later, postponed by the budget, no longer needed, without a mailbox, or failed",
            self.emails.clone(),
        );
        registry.register(
            "text_message_attempts",
            "Attempts to send a text message: sent, to be retried, or failed for good",
            self.sent_messages.clone(),
        );
        registry.register_with_unit(
            "sandbox_duration",
            "The time of a run in its sandbox, with its nested calls",
            Unit::Seconds,
            self.sandbox_times.clone(),
        );
        registry.register_with_unit(
            "sandbox_memory",
            "The memory that a sandbox held when its run ended",
            Unit::Bytes,
            self.sandbox_memory.clone(),
        );
        registry.register(
            "commit_documents",
            "Documents of a commit",
            self.committed_documents.clone(),
        );
        registry.register(
            "commit_conflicts",
            "Commits that conflicted with others, after which the call runs again",
            self.conflicts.clone(),
        );
        registry.register_with_unit(
            "retry_lock_wait",
            "How long a call has waited for others that conflict with it",
            Unit::Seconds,
            self.retry_waits.clone(),
        );
    }

    /// Adds the metrics with OpenTelemetry's names to a registry.
    pub fn register_conventional(&self, registry: &mut Registry) {
        registry.register_with_unit(
            "db_client_operation_duration",
            "The time of a commit, with the wait for others in its group",
            Unit::Seconds,
            self.commits.clone(),
        );
    }
}

/// Returns why a commit has written nothing; an empty text if it has written.
pub(super) fn commit_error<E>(committed: &Result<Verdict, E>) -> &'static str {
    match committed {
        Ok(Verdict::Committed) => "",
        Ok(Verdict::Superseded) => "superseded",
        Ok(Verdict::Conflict(_)) => "conflict",
        Ok(Verdict::Replaced) => "replaced",
        Ok(Verdict::QuotaExceeded(_)) => "quota_exceeded",
        Ok(Verdict::Erased) => "erased",
        Err(_) => "database",
    }
}
