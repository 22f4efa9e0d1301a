//! Notes the changes of the catalog, and publishes them as the next snapshot.

use super::state::Keeper;
use crate::{
    breaking::describe_breaking_changes,
    capability::Capability,
    status::{CHANGES, Change},
};
use std::sync::Arc;

impl Keeper {
    pub(super) fn record_change(&mut self, old: Option<&Capability>, new: Option<&Capability>) {
        let version = |capability: &Capability| capability.descriptor.version.clone();
        let Some(id) = new.or(old).map(|capability| capability.id.to_string()) else {
            return;
        };
        let breaking = match (old, new) {
            (Some(old), Some(new)) => describe_breaking_changes(&old.descriptor, &new.descriptor),
            (Some(_), None) => vec![format!("capability {id} is removed")],
            _ => Vec::new(),
        };
        let same_major = match (old, new) {
            (Some(old), Some(new)) => old.major_version() == new.major_version(),
            _ => false,
        };
        let change = Change {
            at: self.catalog.options.clock.now(),
            from: old.map(version),
            to: new.map(version),
            unannounced: same_major && !breaking.is_empty(),
            id,
            breaking,
        };
        let (from, to) =
            (change.from.as_deref().unwrap_or("-"), change.to.as_deref().unwrap_or("-"));
        tracing::info!(id = change.id, from, to, "the catalog changes");
        for sentence in &change.breaking {
            tracing::warn!(
                id = change.id,
                unannounced = change.unannounced,
                "breaking: {sentence}"
            );
        }
        self.changes.insert(0, change);
        self.changes.truncate(CHANGES);
    }

    /// Publishes the next snapshot if the capabilities, the permissions or the releases have changed, and
    /// updates the status.
    pub(super) async fn publish(&mut self) {
        let capabilities = self.capabilities();
        let current = self.catalog.snapshot();
        let same = current.capabilities.len() == capabilities.len()
            && capabilities.iter().all(|(id, capability)| {
                current.capabilities.get(id).is_some_and(|other| Arc::ptr_eq(other, capability))
            });
        let releases = self.releases(&capabilities);
        let same_releases = current.releases.len() == releases.len()
            && releases.iter().all(|(id, release)| {
                current.releases.get(id).is_some_and(|other| {
                    other.share == release.share
                        && other.promotes_at == release.promotes_at
                        && Arc::ptr_eq(&other.counts, &release.counts)
                        && Arc::ptr_eq(&other.capability, &release.capability)
                })
            });
        if !same || !same_releases || !self.published {
            self.catalog.publish(capabilities, releases).await;
            self.published = true;
        }
        self.catalog.set_waiting(self.waiting());
        let status = self.status();
        self.catalog.set_status(status);
    }
}
