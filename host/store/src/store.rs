//! The store: handles to the database and to the tasks that read and commit.

use crate::{
    audit_log::AuditChain,
    commit::{Committer, InboxSignal, ReadValidator, Signals},
    connection::{Backend, DocumentReader, Statements},
    error::DbError,
    query::Layouts,
    server_clock::ServerClock,
};
use portolan_vocabulary::{Clock, KeySeal, Keyring, Quotas};
use sqlx::{Database, Pool};
use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
};
use tokio::sync::{Semaphore, SemaphorePermit, broadcast};

/// The host's records and its capabilities' documents. Clones share one open database.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) backend: Arc<Backend>,
    pub(crate) statements: Arc<Statements>,
    pub(crate) committer: Committer,
    pub(crate) validator: ReadValidator,
    pub(crate) documents: DocumentReader,
    /// Channels on which commits, on this node and on others, are announced.
    pub(crate) signals: Signals,
    pub(crate) layouts: Layouts,
    pub(crate) keys: Keyring,
    /// The seal of the host's private keys.
    pub(crate) key_seal: Arc<dyn KeySeal>,
    pub(crate) clock: Clock,
    pub(crate) server_clock: ServerClock,
    pub(crate) quotas: Quotas,
    /// The part of the audit log that this node has not sealed yet.
    pub(crate) audit_chain: Arc<AuditChain>,
    /// The single permit to search all rows of a table: such a search holds a connection for long.
    pub(crate) searches: Semaphore,
    /// The file that lists the erased people, once `use_erasure_list` has set it.
    pub(crate) erasure_list: OnceLock<PathBuf>,
}

/// The use of the connections of a pool.
#[derive(Debug, Clone, Copy)]
pub struct PoolUse {
    pub name: &'static str,
    pub used: u64,
    pub idle: u64,
    pub maximum: u64,
}

impl PoolUse {
    fn of<D: Database>(name: &'static str, pool: &Pool<D>) -> Self {
        let idle = pool.num_idle() as u64;
        let used = u64::from(pool.size()).saturating_sub(idle);
        Self { name, used, idle, maximum: pool.options().get_max_connections().into() }
    }
}

impl Store {
    /// Returns the name of the database's system in the conventions of OpenTelemetry.
    pub fn system(&self) -> &'static str {
        match &*self.inner.backend {
            Backend::Sqlite(_) => "sqlite",
            Backend::Postgres(_) => "postgresql",
        }
    }

    /// Returns how the connections of each pool are used.
    pub fn pools(&self) -> Vec<PoolUse> {
        match &*self.inner.backend {
            Backend::Sqlite(sqlite) => vec![
                PoolUse::of("readers", &sqlite.readers),
                PoolUse::of("writer", &sqlite.write_pool),
            ],
            Backend::Postgres(server) => vec![PoolUse::of("host", server.pool.connections())],
        }
    }

    /// Returns the number of units of work that wait for their commit.
    pub fn waiting_commits(&self) -> usize {
        self.inner.committer.waiting()
    }

    /// Returns the clock.
    pub fn clock(&self) -> &Clock {
        &self.inner.clock
    }

    /// Returns the quotas of capabilities.
    pub fn quotas(&self) -> &Quotas {
        &self.inner.quotas
    }

    /// Returns the host's secret keys.
    pub fn keys(&self) -> &Keyring {
        &self.inner.keys
    }

    /// Waits until no other task searches all rows of a table.
    pub(crate) async fn search(&self) -> Result<SemaphorePermit<'_>, DbError> {
        self.inner.searches.acquire().await.map_err(|_| DbError::Closed)
    }

    /// Waits until a commit, on this node or another one, may have made timers or deliveries to capabilities
    /// due.
    pub async fn wait_for_work(&self) {
        self.inner.signals.work.notified().await;
    }

    /// Waits until there may be new deliveries to webhooks.
    pub async fn wait_for_sending(&self) {
        self.inner.signals.sending.notified().await;
    }

    /// Subscribes to the signals that name agents with new events in their inboxes.
    pub fn inbox_signals(&self) -> broadcast::Receiver<InboxSignal> {
        self.inner.signals.inboxes.subscribe()
    }

    /// Overwrites the remains of deleted rows in the file of SQLite: copies in the unused space of pages, and the
    /// write-ahead log. PostgreSQL removes them by itself.
    pub async fn scrub(&self) -> Result<(), DbError> {
        match &*self.inner.backend {
            Backend::Sqlite(sqlite) => sqlite.scrub().await,
            Backend::Postgres(_) => Ok(()),
        }
    }

    /// Closes the database. On SQLite, the write-ahead log is merged into the file first.
    pub async fn close(&self) {
        self.inner.signals.notify_now(&self.inner.backend).await;
        self.inner.backend.close().await;
    }
}
