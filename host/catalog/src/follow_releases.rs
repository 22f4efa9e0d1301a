//! The keeper follows the releases, which the nodes of a database share: it loads the canary of each beside the version
//! that serves, and ends those that a publication or a rollback has overtaken.

use crate::{
    capability::Capability,
    catalog::Catalog,
    keeper::Keeper,
    refusal::LoadError,
    releases::{Canary, CanaryState, ReleaseCounts, obstacles},
    snapshot::Releases,
    status::ReleaseAtNode,
};
use std::{collections::BTreeMap, sync::Arc, time::Instant};

/// How the note of installations names the loading of a release's canary beside the entries of the history.
const fn load_of(release: i64) -> i64 {
    -release
}

impl Keeper {
    /// Reads which versions were aborted. Files that were refused for it are loaded again once they are not any more.
    pub(super) async fn read_aborted(&mut self) {
        let aborted = match self.catalog.store.aborted_versions().await {
            Ok(aborted) if aborted == self.aborted => return,
            Ok(aborted) => aborted,
            Err(error) => {
                tracing::warn!(%error, "the aborted releases cannot be read");
                return;
            }
        };
        self.aborted = aborted;
        for known in self.files.values_mut() {
            if matches!(known.refused, Some(LoadError::ReleaseAborted { .. })) {
                known.handled = None;
            }
        }
    }

    pub(super) fn is_aborted(&self, capability: &Capability) -> bool {
        !self.aborted.is_empty()
            && self.aborted.contains(&(capability.id.to_string(), capability.digest.to_string()))
    }

    /// Reads the releases that run, and begins to load the canaries that are missing, or that the host has failed to load
    /// some time ago.
    pub(super) async fn follow_releases(&mut self) {
        let mut running = match self.catalog.store.running_releases().await {
            Ok(running) => running,
            Err(error) => {
                tracing::warn!(%error, "the releases cannot be read");
                return;
            }
        };
        if !running.is_empty() {
            let overtaken = self.catalog.end_overtaken_releases().await;
            running.retain(|record| !overtaken.contains(&record.id));
        }
        self.canaries.retain(|id, _| running.iter().any(|record| record.id == *id));
        let now = self.catalog.options.clock.now();
        let serving = self.capabilities();
        let mut missing = Vec::new();
        for record in running {
            let served = serving
                .get(record.release.capability_id.as_str())
                .filter(|served| served.digest.to_string() == record.release.served_digest);
            let canary = self.canaries.entry(record.id).or_insert_with(|| Canary {
                record: record.clone(),
                counts: Arc::new(ReleaseCounts::new(now)),
                state: CanaryState::Apart,
            });
            canary.record = record;
            canary.retry_if_due();
            let is_beside = match (canary.beside(), served) {
                (Some(beside), Some(served)) => Arc::ptr_eq(beside, served),
                (None, None) => true,
                _ => false,
            };
            if is_beside {
                continue;
            }
            match served {
                None => canary.state = CanaryState::Apart,
                Some(served) => missing.push((canary.record.id, Arc::clone(served))),
            }
        }
        for (id, served) in missing {
            self.load_canary(id, served);
        }
    }

    fn load_canary(&mut self, id: i64, beside: Arc<Capability>) {
        let begun = self.note.begin(load_of(id));
        let Some(canary) = self.canaries.get_mut(&id) else { return };
        match begun {
            Ok(true) => {}
            Ok(false) => {
                let (error, since) = (LoadError::StartFailed, Instant::now());
                canary.state = CanaryState::Refused { error, beside, since };
                return;
            }
            Err(error) => {
                tracing::warn!(%error, "the note of installed versions cannot be written")
            }
        }
        canary.state = CanaryState::Loading(Arc::clone(&beside));
        let catalog = Arc::clone(&self.catalog);
        let (digest, file) =
            (canary.record.release.digest.clone(), canary.record.release.file.clone());
        self.canary_loads.spawn(async move {
            let task = tokio::spawn(async move { catalog.fetch_component(&digest, &file).await });
            // A panic of the host must not leave the canary in the state of loading.
            let result =
                task.await.unwrap_or_else(|error| Err(std::io::Error::other(error).into()));
            (id, beside, result.map(|(capability, _content)| capability))
        });
    }

    pub(super) async fn finish_canary(
        &mut self,
        (id, beside, result): (i64, Arc<Capability>, Result<Capability, LoadError>),
    ) {
        self.end_attempt(load_of(id));
        let admitted = match result {
            Ok(capability) => self.admit_canary(&beside, capability).await,
            Err(error) => Err(error),
        };
        let Some(canary) = self.canaries.get_mut(&id) else { return };
        canary.state = match admitted {
            Ok(capability) => {
                let (id, version, share) = (
                    &canary.record.release.capability_id,
                    &canary.record.release.version,
                    canary.record.release.share,
                );
                tracing::info!(id, version, share, "a share of callers gets a version");
                CanaryState::Ready { capability: Arc::new(capability), beside }
            }
            Err(error) => {
                tracing::warn!(
                    id = canary.record.release.capability_id,
                    reason = error.reason(),
                    "the version of a release cannot be loaded here: {}",
                    error.message()
                );
                CanaryState::Refused { error, beside, since: Instant::now() }
            }
        };
    }

    /// Checks a canary once more, as this node trusts and permits it, and gives it the collections of the served
    /// version, which are the same.
    async fn admit_canary(
        &self,
        served: &Capability,
        mut candidate: Capability,
    ) -> Result<Capability, LoadError> {
        let problems = obstacles(served, &candidate);
        if !problems.is_empty() {
            return Err(LoadError::Descriptor(problems));
        }
        let capabilities = self.capabilities();
        let others = capabilities.values().map(|other| &**other);
        self.catalog.ensure_admissible(&candidate, false, others).await?;
        candidate.collections = served.collections.clone();
        Ok(candidate)
    }

    /// Returns the releases for a snapshot with these capabilities.
    pub(super) fn releases(&self, capabilities: &BTreeMap<Arc<str>, Arc<Capability>>) -> Releases {
        let given = self.canaries.values().filter_map(|canary| {
            let id = canary.record.release.capability_id.as_str();
            let (id, serving) = capabilities.get_key_value(id)?;
            Some((Arc::clone(id), Arc::new(canary.release(serving)?)))
        });
        given.collect()
    }

    pub(super) fn release_statuses(&self) -> Vec<ReleaseAtNode> {
        let status = |canary: &Canary| {
            let release = &canary.record.release;
            ReleaseAtNode {
                id: release.capability_id.clone(),
                version: release.version.clone(),
                served_version: release.served_version.clone(),
                share: release.share,
                state: canary.state_name(),
                problem: canary.refusal().map(LoadError::message),
                due_at: release.due_at,
            }
        };
        self.canaries.values().map(status).collect()
    }
}

impl Catalog {
    /// Ends the releases since whose beginning a version was published or rolled back to: as promoted if it is the
    /// canary. Returns their ids.
    async fn end_overtaken_releases(&self) -> Vec<i64> {
        let overtaken = match self.store.overtaken_releases().await {
            Ok(overtaken) => overtaken,
            Err(error) => {
                tracing::warn!(%error, "the releases cannot be read");
                return Vec::new();
            }
        };
        let mut ended = Vec::new();
        for (id, digest, by) in overtaken {
            match self.end_overtaken_release(id, &digest, by).await {
                Ok(()) => ended.push(id),
                Err(error) => tracing::warn!(%error, "a release cannot be ended"),
            }
        }
        ended
    }
}
