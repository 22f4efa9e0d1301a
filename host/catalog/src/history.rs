//! The keeper records versions that were dropped into the catalog folder in the history.

use crate::{
    capability::Capability,
    file::{self, Fingerprint},
    file_name::is_source,
    keeper::Keeper,
    publishing::DroppedVersion,
    refusal::LoadError,
};
use portolan_store::{Arrival, DbError, VersionRecord, VersionState};
use portolan_vocabulary::Digest;
use std::{collections::BTreeMap, sync::Arc};

/// The source of a version whose file was put into the catalog folder.
const SOURCE: &str = "the catalog folder";

impl Keeper {
    /// Applies the result of loading a file of the catalog folder. If its component now serves, queues its
    /// version to be recorded in the history as dropped.
    pub(super) fn settle_drop(
        &mut self,
        file: &str,
        fingerprint: Fingerprint,
        admitted: Result<Option<Arc<Capability>>, LoadError>,
    ) {
        let arrived = admitted.as_ref().ok().cloned().flatten();
        self.settle(file, fingerprint, admitted);
        let Some(capability) = arrived else { return };
        let change = self.changes.first().filter(|change| *change.id == *capability.id);
        self.unrecorded.push(DroppedVersion {
            file: file.to_owned(),
            at: self.catalog.options.clock.now(),
            breaking: change.map(|change| change.breaking.clone()).unwrap_or_default(),
            at_start: !self.published,
            capability,
        });
    }

    /// Records the versions that were dropped into the folder, with their contents. A version that the
    /// history contains is recorded again if it was dropped while the host ran and is not the newest entry.
    pub(super) async fn record_drops(&mut self) {
        let unrecorded = std::mem::take(&mut self.unrecorded);
        if unrecorded.is_empty() {
            return;
        }
        let recorded = match self.catalog.store.recorded_digests().await {
            Ok(recorded) => recorded,
            Err(error) => {
                tracing::warn!(%error, "the history of versions cannot be read");
                self.unrecorded = unrecorded;
                return;
            }
        };
        for dropped in unrecorded {
            if is_recorded(&recorded, &dropped) {
                continue;
            }
            if let Err(error) = self.record_drop(&dropped).await {
                tracing::warn!(%error, file = dropped.file, "a version is not in the history yet");
                self.unrecorded.push(dropped);
            }
        }
    }

    async fn record_drop(&self, dropped: &DroppedVersion) -> Result<(), DbError> {
        let DroppedVersion { file, capability, at, breaking, .. } = dropped;
        let options = &self.catalog.options;
        // The content of a source would be its engine, once for each version.
        let is_kept = is_source(file)
            || self.catalog.store.has_content(&capability.digest.to_string()).await?;
        let content = match is_kept {
            true => None,
            false => self.reread_content(file, capability.digest).await,
        };
        let record = VersionRecord {
            capability_id: capability.id.to_string(),
            version: capability.descriptor.version.clone(),
            digest: capability.digest.to_string(),
            publisher: capability.publisher.to_string(),
            bytes: capability.size,
            arrival: Arrival::Dropped,
            file: file.clone(),
            source: SOURCE.to_owned(),
            decided_by: None,
            at: *at,
            breaking: breaking.clone(),
            state: VersionState::Accepted,
        };
        let keep = options.publishing.keep;
        self.catalog.store.add_version(&record, content.as_deref(), keep, None).await?;
        Ok(())
    }

    /// Returns the content of a file; `None` if it has changed since it was loaded or cannot be read.
    async fn reread_content(&self, file: &str, digest: Digest) -> Option<Vec<u8>> {
        let (folder, name) = (self.catalog.options.folder.clone(), file.to_owned());
        let limit = self.catalog.sandbox.limits().component_bytes;
        let read = tokio::task::spawn_blocking(move || file::read(&folder, &name, limit).ok());
        read.await.ok().flatten().filter(|content| Digest::of(content) == digest)
    }
}

fn is_recorded(recorded: &BTreeMap<String, Vec<String>>, dropped: &DroppedVersion) -> bool {
    let digest = dropped.capability.digest.to_string();
    let Some(known) = recorded.get(&*dropped.capability.id) else { return false };
    match dropped.at_start {
        true => known.contains(&digest),
        false => known.last() == Some(&digest),
    }
}
