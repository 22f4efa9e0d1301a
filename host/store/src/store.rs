//! The store: handles to the database and to the tasks that read and commit.

use crate::{
    commit::{Committer, News, Signals},
    connection::{Backend, DocumentReader, Statements},
    query::Layouts,
};
use portolan_vocabulary::Keyring;
use std::sync::Arc;
use tokio::sync::broadcast;

/// The host's records and its capabilities' documents.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) backend: Arc<Backend>,
    pub(crate) statements: Arc<Statements>,
    pub(crate) committer: Committer,
    pub(crate) documents: DocumentReader,
    /// What commits tell, on this node and on others.
    pub(crate) signals: Signals,
    pub(crate) layouts: Layouts,
    pub(crate) keys: Keyring,
    /// Keys that cursors are signed with, the newest first.
    pub(crate) cursor_keys: Vec<[u8; 32]>,
}

impl Store {
    /// The host's secret keys.
    pub fn keys(&self) -> &Keyring {
        &self.inner.keys
    }

    /// Waits until a commit, on this node or another one, has made new work.
    pub async fn new_work(&self) {
        self.inner.signals.work.notified().await;
    }

    /// Waits until there is something to be sent.
    pub async fn new_sending(&self) {
        self.inner.signals.sending.notified().await;
    }

    /// Whose inboxes have something new, from now on.
    pub fn inbox_news(&self) -> broadcast::Receiver<News> {
        self.inner.signals.inboxes.subscribe()
    }

    /// Writes everything out and lets go of the files.
    pub async fn close(&self) {
        self.inner.backend.close().await;
    }
}
