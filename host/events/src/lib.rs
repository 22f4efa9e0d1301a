//! What happened, on its way to agents: inboxes that they ask, and addresses that it is sent to.

mod envelope;
mod inbox;
mod sender;
mod signature;
mod waiting;
mod webhooks;

pub use inbox::{Poll, Polled};
pub use sender::WebhookSettings;
pub use waiting::{Waiter, Wake};
pub use webhooks::{NewWebhook, SecretChance, WebhookChange};

use inbox::HandedOut;
use portolan_outgoing::Outgoing;
use portolan_store::{Attachments, Audience, DbError, NewEvent, News, Store, Unit};
use portolan_vocabulary::{STREAM_GAP, Timestamp};
use serde_json::json;
use std::{fmt, sync::Arc};
use tokio::sync::{broadcast::error::RecvError, watch};
use waiting::Waiting;

/// Inboxes, those who wait at them, and what is sent.
pub struct Events {
    store: Store,
    /// The `source` of every event.
    source: String,
    waiting: Arc<Waiting>,
    handed_out: HandedOut,
    outgoing: Outgoing,
    settings: WebhookSettings,
    stop: watch::Receiver<bool>,
}

impl fmt::Debug for Events {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Events").field("waiting", &self.waiting.count()).finish()
    }
}

impl Events {
    /// `public_url` is where agents reach this host; those who wait are let go when `stop` is told.
    pub fn new(
        store: Store,
        public_url: &str,
        outgoing: Outgoing,
        settings: WebhookSettings,
        stop: watch::Receiver<bool>,
    ) -> Arc<Self> {
        let waiting = Arc::new(Waiting::default());
        tokio::spawn(pass_on(store.clone(), Arc::clone(&waiting)));
        Arc::new(Self {
            store,
            source: format!("{public_url}/v1"),
            waiting,
            handed_out: HandedOut::default(),
            outgoing,
            settings,
            stop,
        })
    }

    /// How many readers wait for something new.
    pub fn waiting(&self) -> usize {
        self.waiting.count()
    }

    /// Whether those who wait are let go.
    pub fn is_stopping(&self) -> bool {
        *self.stop.borrow()
    }

    /// Tells those who have not acknowledged everything what is about to be removed because it is
    /// older than so many days.
    pub async fn announce_gaps(&self, now: Timestamp, event_days: u64) -> Result<(), DbError> {
        loop {
            let gaps = self.store.gaps(now, event_days).await?;
            if gaps.is_empty() {
                return Ok(());
            }
            let mut unit = Unit::new(self.store.clone(), now);
            for gap in &gaps {
                let (from, to) = (envelope::sequence(gap.from), envelope::sequence(gap.to));
                let data = json!({ "v": 1, "from": from, "to": to });
                let audience = Audience::Agent(gap.agent_id.clone());
                unit.publish(NewEvent::of_host(STREAM_GAP, "inbox", audience, &data, now));
            }
            unit.commit(Attachments::default()).await.map_err(DbError::Shared)?;
            self.store.delete_gaps(&gaps, now, event_days).await?;
        }
    }
}

/// Wakes those who wait for what is new, until the store is gone.
async fn pass_on(store: Store, waiting: Arc<Waiting>) {
    let mut news = store.inbox_news();
    drop(store);
    loop {
        match news.recv().await {
            Ok(News::Agents(agents)) => agents.iter().for_each(|agent| waiting.wake(agent)),
            Ok(News::Anyone) | Err(RecvError::Lagged(_)) => waiting.wake_all(),
            Err(RecvError::Closed) => return,
        }
    }
}
