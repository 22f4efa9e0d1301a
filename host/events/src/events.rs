//! The service of inboxes, waiting readers and webhooks; announcements of gaps.

use crate::{
    envelope::sequence_text, meters::WebhookMeters, settings::WebhookSettings,
    visibility::VisibilityTimeouts, waiting::WaitingReaders, watched::WatchedInboxes,
};
use portolan_outgoing::Outgoing;
use portolan_store::{Attachments, Audience, DbError, InboxSignal, NewEvent, Store, Unit, Verdict};
use portolan_telemetry::Telemetry;
use portolan_vocabulary::{Clock, STREAM_GAP, Timestamp};
use serde_json::json;
use std::{fmt, sync::Arc, time::Duration};
use tokio::sync::{broadcast::error::RecvError, watch};

/// The time after which watchers look at their inboxes without a signal.
const WATCH_INTERVAL: Duration = Duration::from_secs(60);

/// The service of inboxes, waiting readers and webhooks.
pub struct Events {
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    /// The `source` of every event.
    pub(crate) source: String,
    pub(crate) waiting: Arc<WaitingReaders>,
    pub(crate) watched: Arc<WatchedInboxes>,
    pub(crate) visibility: VisibilityTimeouts,
    pub(crate) outgoing: Outgoing,
    pub(crate) settings: WebhookSettings,
    pub(crate) telemetry: Telemetry,
    pub meters: WebhookMeters,
    /// The capability with which agents manage their webhooks.
    pub(crate) webhook_management: Option<String>,
    pub(crate) stop: watch::Receiver<bool>,
}

impl fmt::Debug for Events {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Events").field("waiting", &self.waiting.count()).finish()
    }
}

impl Events {
    /// Creates the service, and starts the task that wakes readers and watchers. `public_url` is the address at
    /// which agents reach this host. When `stop` becomes true, readers stop waiting and nothing more is sent.
    #[expect(
        clippy::too_many_arguments,
        reason = "each argument is a different part of the host that events need"
    )]
    pub fn new(
        store: Store,
        public_url: &str,
        outgoing: Outgoing,
        settings: WebhookSettings,
        telemetry: Telemetry,
        webhook_management: Option<String>,
        stop: watch::Receiver<bool>,
        clock: Clock,
    ) -> Arc<Self> {
        let waiting = Arc::new(WaitingReaders::default());
        let watched = Arc::new(WatchedInboxes::default());
        tokio::spawn(wake_readers(store.clone(), Arc::clone(&waiting), Arc::clone(&watched)));
        Arc::new(Self {
            store,
            clock,
            source: format!("{public_url}/v1"),
            waiting,
            watched,
            visibility: VisibilityTimeouts::default(),
            outgoing,
            settings,
            telemetry,
            meters: WebhookMeters::default(),
            webhook_management,
            stop,
        })
    }

    /// Returns the number of waiting readers.
    pub fn waiting_reader_count(&self) -> usize {
        self.waiting.count()
    }

    /// Returns whether the host is stopping, so that readers stop waiting.
    pub fn is_stopping(&self) -> bool {
        *self.stop.borrow()
    }

    /// Publishes an event to each inbox with unacknowledged events that are older than `event_days` days, and
    /// then removes those events.
    pub async fn announce_gaps(&self, now: Timestamp, event_days: u64) -> Result<(), DbError> {
        loop {
            let gaps = self.store.gaps(now, event_days).await?;
            if gaps.is_empty() {
                return Ok(());
            }
            let mut unit = Unit::new(self.store.clone(), now);
            for gap in &gaps {
                let (from, to) = (sequence_text(gap.from), sequence_text(gap.to));
                let data = json!({ "v": 1, "from": from, "to": to });
                let audience = Audience::Agent(gap.agent_id.clone());
                unit.publish(NewEvent::of_host(STREAM_GAP, "inbox", audience, &data, now));
            }
            let verdict = unit.commit(Attachments::default()).await.map_err(DbError::Shared)?;
            if verdict != Verdict::Committed {
                // The next round announces them.
                return Ok(());
            }
            self.store.delete_gaps(&gaps, now, event_days).await?;
        }
    }
}

/// Wakes the readers and watchers of inboxes with new events, until the store is closed.
async fn wake_readers(store: Store, waiting: Arc<WaitingReaders>, watched: Arc<WatchedInboxes>) {
    let mut signals = store.inbox_signals();
    drop(store);
    let mut interval = tokio::time::interval(WATCH_INTERVAL);
    loop {
        let signal = tokio::select! {
            signal = signals.recv() => signal,
            _ = interval.tick() => {
                // A node can end between a commit and its signal. Readers ask again by themselves, and watchers do not.
                let watched = Arc::clone(&watched);
                tokio::spawn(async move { watched.wake_all().await });
                continue;
            }
        };
        match signal {
            Ok(InboxSignal::Agents(agents)) => agents.iter().for_each(|agent| {
                waiting.wake(agent);
                watched.wake(agent);
            }),
            Ok(InboxSignal::AnyAgent) | Err(RecvError::Lagged(_)) => {
                let (waiting, watched) = (Arc::clone(&waiting), Arc::clone(&watched));
                // Meanwhile the signals of single inboxes are passed on.
                tokio::spawn(async move { tokio::join!(waiting.wake_all(), watched.wake_all()) });
            }
            Err(RecvError::Closed) => return,
        }
    }
}
