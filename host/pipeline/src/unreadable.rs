//! Reports of documents that a capability cannot read: each is recorded once.

use portolan_store::{CollectionId, Store};
use portolan_vocabulary::Timestamp;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
};

/// The maximum number of reports of one collection that a node remembers. After that, the node records no
/// more reports of the collection until it starts again.
const MAX_REMEMBERED: usize = 1_000;

/// The reported documents of each collection, with their revisions.
#[derive(Debug, Default)]
pub(super) struct UnreadableDocuments(Mutex<BTreeMap<CollectionId, BTreeSet<(String, u64)>>>);

impl UnreadableDocuments {
    /// Returns whether the report is new and could be remembered.
    fn add(&self, collection: CollectionId, id: &str, revision: u64) -> bool {
        let mut reported = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let reported = reported.entry(collection).or_default();
        reported.len() < MAX_REMEMBERED && reported.insert((id.to_owned(), revision))
    }

    /// Records in the background that a capability cannot read a document at this revision.
    pub(super) fn report(
        &self,
        (store, now): (Store, Timestamp),
        capability: &str,
        (collection, id, revision): (CollectionId, String, u64),
        reason: String,
    ) {
        if !self.add(collection, &id, revision) {
            return;
        }
        tracing::warn!(
            capability,
            "a document cannot be read and is left out; see `portolan documents`"
        );
        tokio::spawn(async move {
            let recorded =
                store.quarantine_unreadable(collection, &id, revision, &reason, now).await;
            if let Err(error) = recorded {
                tracing::warn!(%error, "an unreadable document cannot be recorded");
            }
        });
    }
}
