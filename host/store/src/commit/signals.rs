//! Announces commits to waiting tasks, on this node and on the others.

use crate::{connection::Backend, error::DbError};
use sqlx::{AssertSqlSafe, Executor as _, PgPool, Row as _, postgres::PgListener};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::sync::{Notify, broadcast};

/// The channels of PostgreSQL on which nodes announce new work, and agents with new events in their
/// inboxes.
const WORK: &str = "portolan_work";
const INBOXES: &str = "portolan_inboxes";
/// The maximum size of one notification's payload, below PostgreSQL's limit of 8000 bytes.
const PAYLOAD_BYTES: usize = 7_000;
/// The capacity of the channel; a receiver that is further behind learns that it has lagged.
const SIGNAL_CAPACITY: usize = 1_024;
/// The maximum number of agents that are named to other nodes at once. If there are more, all are signalled.
const NAMED_AGENTS: usize = 10_000;
/// The time-out of the last notification of a node.
const LAST_NOTIFICATION: Duration = Duration::from_secs(1);
/// The wait before the node listens or notifies again after the connection was lost.
const RECONNECT_BACKOFF: Duration = Duration::from_secs(1);
/// The wait before a node that cannot listen looks again for new events.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// The number of looks after which it also signals all agents: a look misses an event whose commit took longer than
/// until the next look, and one that was held.
const LOOKS_FOR_ALL: u32 = 15;
/// Finds the number of the newest event, and of the newest one to all listeners.
const NEWEST_EVENTS: &str = "SELECT (SELECT coalesce(max(seq), 0) FROM events),
     (SELECT coalesce(max(seq), 0) FROM events WHERE audience = 'listeners')";

/// The work and events that a commit has made available to waiting tasks.
#[derive(Debug, Default)]
pub(crate) struct Announcement {
    /// Whether timers or deliveries to capabilities may be due.
    pub(crate) work: bool,
    /// Whether deliveries to webhooks may be due.
    pub(crate) sending: bool,
    /// The agents whose inboxes have new events.
    pub(crate) agents: Vec<String>,
    /// Whether there is a new event for all listeners.
    pub(crate) to_all: bool,
}

/// The agents whose inboxes have new events.
#[derive(Debug, Clone)]
pub enum InboxSignal {
    Agents(Arc<[String]>),
    /// Any agent may have new events: one to all listeners, or announcements were missed.
    AnyAgent,
}

#[derive(Debug, Clone)]
pub(crate) struct Signals {
    pub(crate) work: Arc<Notify>,
    pub(crate) sending: Arc<Notify>,
    pub(crate) inboxes: broadcast::Sender<InboxSignal>,
    /// `None` on SQLite, which has one node.
    others: Option<Arc<Others>>,
}

/// The announcements of which the other nodes are not notified yet.
#[derive(Debug, Default)]
struct Others {
    waiting: Mutex<Waiting>,
    added: Notify,
}

/// The newest events that a node that cannot listen has seen.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    /// The number of the newest one, now and at the look before.
    newest: i64,
    before: i64,
    /// The number of the newest one to all listeners.
    to_all: i64,
}

#[derive(Debug, Default)]
struct Waiting {
    work: bool,
    agents: BTreeSet<String>,
    to_all: bool,
}

impl Others {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, other: Waiting) {
        let mut waiting = self.waiting();
        waiting.work |= other.work;
        waiting.to_all |= other.to_all;
        waiting.agents.extend(other.agents);
        if waiting.agents.len() > NAMED_AGENTS {
            waiting.to_all = true;
            waiting.agents.clear();
        }
        self.added.notify_one();
    }
}

impl Waiting {
    /// Returns the statements that notify the other nodes.
    fn sql(&self) -> String {
        let mut sql = String::new();
        if self.work {
            sql.push_str(&format!("NOTIFY {WORK}; "));
        }
        if self.to_all {
            sql.push_str(&format!("NOTIFY {INBOXES}; "));
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
    pub(crate) fn new(backend: &Backend) -> Self {
        let (inboxes, _) = broadcast::channel(SIGNAL_CAPACITY);
        let others = matches!(backend, Backend::Postgres(_)).then(Arc::default);
        Self { work: Arc::default(), sending: Arc::default(), inboxes, others }
    }

    /// Announces a commit of this node to its tasks, and soon to the other nodes. They are notified after the commit,
    /// because PostgreSQL serializes transactions that notify from there to the end of their flush.
    pub(crate) fn announce_commit(&self, announcement: Announcement) {
        self.announce(&announcement);
        let Announcement { work, sending, agents, to_all } = announcement;
        let work = work || sending;
        if let Some(others) = &self.others
            && (work || to_all || !agents.is_empty())
        {
            others.add(Waiting { work, agents: agents.into_iter().collect(), to_all });
        }
    }

    fn announce(&self, announcement: &Announcement) {
        if announcement.work {
            self.work.notify_one();
        }
        if announcement.sending {
            self.sending.notify_one();
        }
        if announcement.to_all {
            let _sent = self.inboxes.send(InboxSignal::AnyAgent);
        }
        if !announcement.agents.is_empty() {
            // An error means that there is no receiver.
            let _sent =
                self.inboxes.send(InboxSignal::Agents(Arc::from(announcement.agents.as_slice())));
        }
    }

    /// Starts to notify the other nodes on one PostgreSQL, and to listen to them.
    pub(crate) fn connect(&self, backend: &Backend) {
        let Backend::Postgres(server) = backend else { return };
        let connections = server.pool.connections();
        match server.listening() {
            Some(listening) => drop(tokio::spawn(self.clone().listen_to(listening.clone()))),
            None => drop(tokio::spawn(self.clone().look_for_events(connections.clone()))),
        }
        if let Some(others) = &self.others {
            tokio::spawn(notify(Arc::clone(others), connections.clone()));
        }
    }

    /// Notifies the other nodes of what they do not know yet, before this one ends.
    pub(crate) async fn notify_now(&self, backend: &Backend) {
        let (Backend::Postgres(server), Some(others)) = (backend, &self.others) else { return };
        let sql = std::mem::take(&mut *others.waiting()).sql();
        if sql.is_empty() {
            return;
        }
        let notify = sqlx::raw_sql(AssertSqlSafe(sql)).execute(server.pool.connections());
        if !matches!(tokio::time::timeout(LAST_NOTIFICATION, notify).await, Ok(Ok(_))) {
            tracing::debug!("the other nodes cannot be notified before the end");
        }
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
        let work = || Announcement { work: true, sending: true, ..Announcement::default() };
        self.announce(&Announcement { to_all: true, ..work() });
        while let Some(notice) = listener.try_recv().await? {
            if notice.channel() == WORK {
                self.announce(&work());
            } else {
                let agents = notice.payload().split(',').filter(|agent| !agent.is_empty());
                self.announce(&Announcement {
                    agents: agents.map(str::to_owned).collect(),
                    to_all: notice.payload().is_empty(),
                    ..Announcement::default()
                });
            }
        }
        Ok(())
    }
}

impl Signals {
    /// Looks for events of other nodes until the pool is closed. Work that is due is looked for anyway.
    async fn look_for_events(self, pool: PgPool) {
        let (mut seen, mut to_all) = (None, true);
        for look in 0_u32.. {
            to_all |= look.is_multiple_of(LOOKS_FOR_ALL);
            match self.look(&pool, seen, to_all).await {
                Ok(now) => (seen, to_all) = (Some(now), false),
                Err(error) => {
                    to_all = true;
                    tracing::debug!(%error, "events of other nodes cannot be looked for");
                }
            }
            let wait = tokio::time::sleep(LOOK_INTERVAL);
            if pool.close_event().do_until(wait).await.is_err() {
                return;
            }
        }
    }

    /// Announces the events since the look before the last one. Each statement is a simple query, which a pooler gives
    /// any session.
    async fn look(
        &self,
        pool: &PgPool,
        seen: Option<Seen>,
        to_all: bool,
    ) -> Result<Seen, sqlx::Error> {
        let row = pool.fetch_one(NEWEST_EVENTS).await?;
        let (newest, newest_to_all): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
        let Some(seen) = seen else {
            self.announce(&Announcement { to_all: true, ..Announcement::default() });
            return Ok(Seen { newest, before: newest, to_all: newest_to_all });
        };
        let mut agents: Vec<String> = Vec::new();
        if newest > seen.before {
            let sql = format!(
                "SELECT DISTINCT agent_id FROM inbox WHERE event_seq > {} LIMIT {}",
                seen.before,
                NAMED_AGENTS + 1
            );
            for row in pool.fetch_all(AssertSqlSafe(sql)).await? {
                agents.push(row.try_get(0)?);
            }
        }
        let to_all = to_all || newest_to_all > seen.to_all || agents.len() > NAMED_AGENTS;
        if to_all {
            agents.clear();
        }
        self.announce(&Announcement { agents, to_all, ..Announcement::default() });
        Ok(Seen { newest, before: seen.newest, to_all: newest_to_all })
    }
}

/// Notifies the other nodes until the pool is closed. What is added meanwhile is one notification.
async fn notify(others: Arc<Others>, pool: PgPool) {
    while pool.close_event().do_until(others.added.notified()).await.is_ok() {
        let waiting = std::mem::take(&mut *others.waiting());
        let sql = waiting.sql();
        if sql.is_empty() {
            continue;
        }
        if let Err(error) = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&pool).await {
            tracing::debug!(%error, "the other nodes cannot be notified");
            tokio::time::sleep(RECONNECT_BACKOFF).await;
            others.add(waiting);
        }
    }
}
