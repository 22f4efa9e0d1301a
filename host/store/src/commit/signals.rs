//! Announces commits to waiting tasks, on this node and on the others.

use crate::{connection::Backend, error::DbError};
use sqlx::{PgPool, postgres::PgListener};
use std::{sync::Arc, time::Duration};
use tokio::sync::{Notify, broadcast};

/// The channels of PostgreSQL on which nodes announce new work, and agents with new events in their
/// inboxes.
const WORK: &str = "portolan_work";
const INBOXES: &str = "portolan_inboxes";
/// The maximum size of one notification's payload, below PostgreSQL's limit of 8000 bytes.
const PAYLOAD_BYTES: usize = 7_000;
/// The capacity of the channel; a receiver that is further behind learns that it has lagged.
const SIGNAL_CAPACITY: usize = 1_024;
/// The wait before the node listens again after the connection was lost.
const RECONNECT_BACKOFF: Duration = Duration::from_secs(1);

/// What a commit has made available to waiting tasks.
#[derive(Debug, Default)]
pub(crate) struct Announcement {
    /// Whether timers or deliveries to capabilities may be due.
    pub(crate) work: bool,
    /// Whether deliveries to webhooks may be due.
    pub(crate) sending: bool,
    /// The agents whose inboxes have new events.
    pub(crate) agents: Vec<String>,
}

/// The agents whose inboxes have new events.
#[derive(Debug, Clone)]
pub enum InboxSignal {
    Agents(Arc<[String]>),
    /// Any agent may have new events, because announcements were missed.
    AnyAgent,
}

#[derive(Debug, Clone)]
pub(crate) struct Signals {
    pub(crate) work: Arc<Notify>,
    pub(crate) sending: Arc<Notify>,
    pub(crate) inboxes: broadcast::Sender<InboxSignal>,
}

impl Announcement {
    /// Returns the statements that notify the other nodes.
    pub(crate) fn sql(&self) -> String {
        let mut sql = String::new();
        if self.work || self.sending {
            sql.push_str(&format!("NOTIFY {WORK}; "));
        }
        let mut agents = self.agents.iter().peekable();
        while agents.peek().is_some() {
            let mut payload = String::new();
            while let Some(agent) = agents
                .next_if(|agent| payload.is_empty() || payload.len() + agent.len() < PAYLOAD_BYTES)
            {
                payload.push_str(&agent.replace('\'', "''"));
                payload.push(',');
            }
            sql.push_str(&format!("SELECT pg_notify('{INBOXES}', '{payload}'); "));
        }
        sql
    }
}

impl Signals {
    pub(crate) fn new() -> Self {
        let (inboxes, _) = broadcast::channel(SIGNAL_CAPACITY);
        Self { work: Arc::default(), sending: Arc::default(), inboxes }
    }

    pub(crate) fn announce(&self, announcement: &Announcement) {
        if announcement.work {
            self.work.notify_one();
        }
        if announcement.sending {
            self.sending.notify_one();
        }
        if !announcement.agents.is_empty() {
            // An error means that there is no receiver.
            let _sent =
                self.inboxes.send(InboxSignal::Agents(Arc::from(announcement.agents.as_slice())));
        }
    }

    /// Starts to listen to the other nodes on one PostgreSQL.
    pub(crate) fn listen(&self, backend: &Backend) {
        let Backend::Postgres(server) = backend else { return };
        tokio::spawn(self.clone().listen_to(server.pool.clone()));
    }

    /// Listens until the pool is closed.
    async fn listen_to(self, pool: PgPool) {
        while !pool.is_closed() {
            if let Err(error) = self.receive(&pool).await {
                tracing::debug!(%error, "the signals of other nodes cannot be received");
            }
            tokio::time::sleep(RECONNECT_BACKOFF).await;
        }
    }

    async fn receive(&self, pool: &PgPool) -> Result<(), DbError> {
        let mut listener = PgListener::connect_with(pool).await?;
        listener.listen_all([WORK, INBOXES]).await?;
        // Signals may have been missed while nothing listened.
        self.announce(&Announcement { work: true, sending: true, agents: Vec::new() });
        let _sent = self.inboxes.send(InboxSignal::AnyAgent);
        while let Some(notice) = listener.try_recv().await? {
            if notice.channel() == WORK {
                self.announce(&Announcement { work: true, sending: true, agents: Vec::new() });
            } else {
                let agents = notice.payload().split(',').filter(|agent| !agent.is_empty());
                self.announce(&Announcement {
                    agents: agents.map(str::to_owned).collect(),
                    ..Announcement::default()
                });
            }
        }
        Ok(())
    }
}
