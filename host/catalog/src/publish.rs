//! Makes capabilities the next snapshot, records its version and publishes `catalog.changed`.

use crate::{
    capability::Capability,
    catalog::Catalog,
    difference::difference,
    snapshot::{Releases, Snapshot},
};
use portolan_store::{
    Attachments, Audience, CatalogState, DbError, NewEvent, ServedCapability, Unit,
};
use portolan_vocabulary::{CATALOG_CHANGED, Digest, Timestamp};
use serde_json::Value;
use std::{collections::BTreeMap, sync::Arc};

impl Catalog {
    /// Makes these capabilities the catalog. If they differ from what was served last, here or on
    /// another node, the version counts up and `catalog.changed` is published.
    pub(super) async fn publish(
        &self,
        capabilities: BTreeMap<Arc<str>, Arc<Capability>>,
        releases: Releases,
    ) {
        let fingerprint = fingerprint(&capabilities);
        let current = self.snapshot.load_full();
        let last = self.store.find_catalog_state().await.ok().flatten();
        let newest = last.as_ref().map_or(0, |last| last.version).max(current.version);
        let recorded = last.filter(|last| last.fingerprint == fingerprint);
        let (version, changed_at) = match &recorded {
            Some(last) => (last.version, last.changed_at),
            None => (newest + 1, self.options.clock.now()),
        };
        let before = self.served();
        let served = served(&before, &capabilities, changed_at);
        let next = Snapshot::new(
            &self.options.service,
            (self.options.roles.clone(), self.grants()),
            (version, changed_at),
            (capabilities, releases),
            &served,
        );
        let changes = difference(&before, &served, &current, &next);
        let state = CatalogState { version, fingerprint, changed_at };
        let subscribers = self.subscribers(&next, None, CATALOG_CHANGED);
        self.snapshot.store(Arc::new(next));
        self.published.send_replace(());
        // A snapshot that differs only in its permissions or releases has the same version, and nobody is notified.
        self.version.send_if_modified(|published| std::mem::replace(published, version) != version);
        if recorded.is_none()
            && let Err(error) = self.record(&state, &served, &changes, subscribers).await
        {
            tracing::error!(%error, "the catalog's version is not recorded; it may count from an older one after a restart");
        }
        self.set_served(served);
    }

    /// Publishes the event first and records the version then: an event that is published twice does
    /// less harm than one that is lost.
    async fn record(
        &self,
        state: &CatalogState,
        served: &BTreeMap<String, ServedCapability>,
        changes: &Value,
        subscribers: Vec<(String, String)>,
    ) -> Result<(), DbError> {
        let mut unit = Unit::new(self.store.clone(), state.changed_at);
        let (audience, now) = (Audience::Listeners, state.changed_at);
        let event = NewEvent::of_host(CATALOG_CHANGED, "catalog", audience, changes, now);
        unit.publish(NewEvent { subscribers, ..event });
        unit.commit(Attachments::default()).await.map_err(DbError::Shared)?;
        self.store.put_catalog_state(state, served).await
    }
}

/// Returns the records of all capabilities that are or were served; those that are no longer served have no
/// version.
fn served(
    before: &BTreeMap<String, ServedCapability>,
    capabilities: &BTreeMap<Arc<str>, Arc<Capability>>,
    now: Timestamp,
) -> BTreeMap<String, ServedCapability> {
    let mut served = before.clone();
    served.values_mut().for_each(|entry| entry.version = None);
    for capability in capabilities.values() {
        let entry = served.entry(capability.id.to_string());
        let entry = entry.or_insert(ServedCapability { since: now, version: None });
        entry.version = Some(served_version(capability));
    }
    served
}

/// Returns the version of a capability as it is recorded. The digest is part of it, so that another component with the
/// same version is a change.
pub(super) fn served_version(capability: &Capability) -> String {
    format!("{} {}", capability.descriptor.version, capability.digest)
}

/// Returns what identifies a catalog: its ids and digests.
pub(super) fn fingerprint(capabilities: &BTreeMap<Arc<str>, Arc<Capability>>) -> String {
    let line = |capability: &Arc<Capability>| format!("{} {}\n", capability.id, capability.digest);
    let text: String = capabilities.values().map(line).collect();
    Digest::of(text.as_bytes()).hex()
}
