//! The parts of a running host that a call uses.

use crate::{
    audit_limits::AuditLimits,
    emails::Emails,
    health::CallHealth,
    idempotency::RunningKeys,
    logs::{Admission, LogBudgets},
    message_limits::MessageLimits,
    meters::Meters,
    observed::ObservedCall,
    rates::Rates,
    recent_calls::RecentCalls,
    recordings::Recordings,
    unreadable::UnreadableDocuments,
};
use portolan_blobs::Blobs;
use portolan_catalog::Catalog;
use portolan_events::Events;
use portolan_identity::Identity;
use portolan_outgoing::{lookups::Lookups, sms::Sms};
use portolan_publication::Feeds;
use portolan_sandbox::Sandbox;
use portolan_store::Store;
use portolan_telemetry::Telemetry;
use portolan_vocabulary::{Clock, Quota, RecordingSettings};
use std::{
    iter,
    sync::{Arc, OnceLock},
};
use tokio::sync::{Mutex, mpsc};

/// The number of retry locks. A call that has conflicted waits for the lock that its conflict key selects.
pub(crate) const RETRY_LOCKS: usize = 64;
/// The name of the sending of text messages in [`Host::health`]. No capability has it.
pub const TEXT_MESSAGES: &str = ":text messages";

/// The parts that a call uses, each once.
#[derive(Debug)]
pub struct Host {
    pub identity: Identity,
    pub catalog: Arc<Catalog>,
    pub sandbox: Arc<Sandbox>,
    pub store: Store,
    pub events: Arc<Events>,
    /// The files of people.
    pub blobs: Arc<Blobs>,
    /// The feeds of the first city, which capabilities read.
    pub feeds: Arc<Feeds>,
    /// The feeds of the cities after the first one.
    pub other_cities: Vec<Arc<Feeds>>,
    pub sms: Sms,
    /// `None` if the host sends no emails.
    pub emails: Option<Emails>,
    pub lookups: Lookups,
    pub rates: Rates,
    pub(crate) message_limits: MessageLimits,
    pub telemetry: Telemetry,
    pub meters: Meters,
    pub recent_calls: RecentCalls,
    pub recordings: Recordings,
    /// The recent failures of calls.
    pub health: CallHealth,
    /// The clock of everything that serves or runs calls.
    pub clock: Clock,
    pub(crate) running: RunningKeys,
    pub(crate) logs: LogBudgets,
    pub(crate) audit_limits: AuditLimits,
    pub(crate) unreadable: UnreadableDocuments,
    /// The channel to the observer that is notified of each call, if there is an observer.
    pub(crate) observer: OnceLock<mpsc::UnboundedSender<ObservedCall>>,
    pub(crate) retry_locks: [Mutex<()>; RETRY_LOCKS],
}

impl Host {
    #[expect(
        clippy::too_many_arguments,
        reason = "each argument is a different part of the host that calls need"
    )]
    pub fn new(
        identity: Identity,
        catalog: Arc<Catalog>,
        sandbox: Arc<Sandbox>,
        store: Store,
        events: Arc<Events>,
        blobs: Arc<Blobs>,
        feeds: Arc<Feeds>,
        other_cities: Vec<Arc<Feeds>>,
        sms: Sms,
        emails: Option<Emails>,
        lookups: Lookups,
        rates: Rates,
        message_limits: MessageLimits,
        telemetry: Telemetry,
        recording: RecordingSettings,
        clock: Clock,
    ) -> Arc<Self> {
        let retry_locks = std::array::from_fn(|_| Mutex::new(()));
        let running = RunningKeys::default();
        Arc::new(Self {
            identity,
            catalog,
            sandbox,
            store,
            events,
            blobs,
            feeds,
            other_cities,
            sms,
            emails,
            lookups,
            rates,
            message_limits,
            telemetry,
            meters: Meters::default(),
            recent_calls: RecentCalls::default(),
            recordings: Recordings::new(recording),
            health: CallHealth::default(),
            clock,
            running,
            logs: LogBudgets::default(),
            audit_limits: AuditLimits::default(),
            unreadable: UnreadableDocuments::default(),
            observer: OnceLock::new(),
            retry_locks,
        })
    }

    /// Returns the feeds of all cities, the first one first.
    pub fn cities(&self) -> impl Iterator<Item = &Arc<Feeds>> {
        iter::once(&self.feeds).chain(&self.other_cities)
    }

    /// Takes the bytes of a text from a capability's log quota, and returns whether the text may be logged.
    pub(crate) fn admit_log_message(&self, capability: &str, bytes: usize) -> bool {
        match self.logs.admit(capability, bytes, self.store.quotas(), self.clock.now()) {
            Admission::Logged => true,
            Admission::LeftOut { first } => {
                self.meters.count_exceeded(capability, Quota::LogBytesPerMinute);
                if first {
                    tracing::warn!(
                        capability,
                        "its log messages are left out: they exceed quotas.log_bytes_per_minute"
                    );
                }
                false
            }
        }
    }
}
