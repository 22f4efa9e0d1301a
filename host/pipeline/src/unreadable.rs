//! Reports of documents that a capability cannot read: each is recorded once.

use crate::host::Host;
use portolan_store::CollectionId;
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

/// The most reports that a node remembers. It records no more until it starts again.
const REMEMBERED: usize = 10_000;

/// The reported documents, each with its revision.
#[derive(Debug, Default)]
pub(super) struct Unreadable(Mutex<BTreeSet<(CollectionId, String, u64)>>);

impl Unreadable {
    /// Returns whether the report is new.
    fn add(&self, collection: CollectionId, id: &str, revision: u64) -> bool {
        let mut reported = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reported.len() < REMEMBERED && reported.insert((collection, id.to_owned(), revision))
    }
}

impl Host {
    /// Records in the background that a capability cannot read a document at this revision.
    pub(super) fn report_unreadable(
        self: &Arc<Self>,
        capability: &str,
        (collection, id, revision): (CollectionId, String, u64),
        reason: String,
    ) {
        if !self.unreadable.add(collection, &id, revision) {
            return;
        }
        tracing::warn!(
            capability,
            "a document cannot be read and is left out; see `portolan documents`"
        );
        let host = Arc::clone(self);
        tokio::spawn(async move {
            let now = host.clock.now();
            let recorded =
                host.store.quarantine_unreadable(collection, &id, revision, &reason, now).await;
            if let Err(error) = recorded {
                tracing::warn!(%error, "an unreadable document cannot be recorded");
            }
        });
    }
}
