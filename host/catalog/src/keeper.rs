//! Keeps the catalog true to its folder: sees changes, waits until a file is finished, loads it,
//! and publishes the next snapshot.

use crate::{
    Catalog,
    breaking::breaking_changes,
    capability::Capability,
    file::Fingerprint,
    folder::{fingerprints, watcher},
    load::load,
    refusal::LoadError,
    snapshot::Snapshot,
    status::{CHANGES, Change, Loaded, Refused, Status},
};
use notify::RecommendedWatcher;
use portolan_vocabulary::Timestamp;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, PoisonError},
    time::{Duration, Instant},
};
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
};

/// A file that was not renamed into place is finished when it has been quiet for this long.
const SETTLE: Duration = Duration::from_millis(200);
/// How often to look again while something settles.
const SOON: Duration = Duration::from_millis(50);
/// How often to look without having been told of a change: some file systems never tell.
const RESCAN: Duration = Duration::from_secs(2);
/// Files that are loaded at once.
const LOADS: usize = 8;

/// What is known of one file of the folder.
#[derive(Default)]
struct Known {
    /// The content that was last loaded or refused.
    handled: Option<Fingerprint>,
    /// A content that is not finished yet, and since when it has been quiet.
    settling: Option<(Fingerprint, Instant)>,
    /// Since when the file has been gone.
    missing: Option<Instant>,
    loading: bool,
    serving: Option<Arc<Capability>>,
    refused: Option<LoadError>,
}

type LoadResult = (String, Fingerprint, Result<Option<Capability>, LoadError>);

/// The one task that changes the catalog.
pub(super) struct Keeper {
    catalog: Arc<Catalog>,
    files: BTreeMap<String, Known>,
    loads: JoinSet<LoadResult>,
    /// Whether there was a first catalog.
    published: bool,
    changes: Vec<Change>,
}

impl Keeper {
    /// Loads the folder once, then goes on in a task.
    pub(super) async fn start(
        catalog: Arc<Catalog>,
        stop: watch::Receiver<bool>,
    ) -> anyhow::Result<()> {
        let folder = catalog.options.folder.clone();
        let (sender, changed) = mpsc::unbounded_channel();
        let watcher = watcher(&folder, sender);
        let mut keeper = Self {
            catalog,
            files: BTreeMap::new(),
            loads: JoinSet::new(),
            published: false,
            changes: Vec::new(),
        };
        keeper.load_all().await?;
        tokio::spawn(keeper.run(watcher, changed, stop));
        Ok(())
    }

    async fn load_all(&mut self) -> anyhow::Result<()> {
        let present = fingerprints(&self.catalog.options.folder).await?;
        let mut waiting: Vec<_> = present.into_iter().rev().collect();
        let mut results = Vec::new();
        while !waiting.is_empty() || !self.loads.is_empty() {
            while self.loads.len() < LOADS
                && let Some((file, fingerprint)) = waiting.pop()
            {
                self.begin_load(&file, fingerprint);
            }
            if let Some(Ok(result)) = self.loads.join_next().await {
                results.push(result);
            }
        }
        // By name, so that of two files with one id the same one wins after every start.
        results.sort_by(|one, other| one.0.cmp(&other.0));
        for result in results {
            self.finish_load(result).await;
        }
        self.publish().await;
        Ok(())
    }

    async fn run(
        mut self,
        watcher: Option<RecommendedWatcher>,
        mut changed: mpsc::UnboundedReceiver<String>,
        mut stop: watch::Receiver<bool>,
    ) {
        loop {
            let mut renamed = BTreeSet::new();
            tokio::select! {
                Some(file) = changed.recv() => { renamed.insert(file); }
                () = tokio::time::sleep(self.pause()) => {}
                Some(Ok(result)) = self.loads.join_next() => self.finish_load(result).await,
                _ = stop.changed() => break,
            }
            while let Ok(file) = changed.try_recv() {
                renamed.insert(file);
            }
            while let Some(Ok(result)) = self.loads.try_join_next() {
                self.finish_load(result).await;
            }
            match fingerprints(&self.catalog.options.folder).await {
                Ok(present) => self.compare(&present, &renamed),
                Err(error) => {
                    tracing::error!(%error, "the catalog folder cannot be read; what is loaded stays")
                }
            }
            self.publish().await;
        }
        drop(watcher);
    }

    fn pause(&self) -> Duration {
        let restless = |known: &Known| known.settling.is_some() || known.missing.is_some();
        if self.files.values().any(restless) { SOON } else { RESCAN }
    }

    /// Holds what is in the folder against what is known, and begins what there is to do.
    fn compare(&mut self, present: &BTreeMap<String, Fingerprint>, renamed: &BTreeSet<String>) {
        let gone: Vec<_> =
            self.files.keys().filter(|file| !present.contains_key(*file)).cloned().collect();
        for file in gone {
            self.miss(&file);
        }
        for (file, fingerprint) in present {
            let known = self.files.entry(file.clone()).or_default();
            known.missing = None;
            if known.loading {
                continue;
            }
            if known.handled == Some(*fingerprint) {
                known.settling = None;
                continue;
            }
            let quiet_since = match known.settling {
                Some((settling, since)) if settling == *fingerprint => since,
                _ => Instant::now(),
            };
            known.settling = Some((*fingerprint, quiet_since));
            let finished = renamed.contains(file) || quiet_since.elapsed() >= SETTLE;
            if finished && self.loads.len() < LOADS {
                self.begin_load(file, *fingerprint);
            }
        }
    }

    /// A file that is gone for a moment may be on its way back.
    fn miss(&mut self, file: &str) {
        let Some(known) = self.files.get_mut(file) else {
            return;
        };
        let since = *known.missing.get_or_insert_with(Instant::now);
        if since.elapsed() < SETTLE || known.loading {
            return;
        }
        if let Some(known) = self.files.remove(file)
            && let Some(old) = known.serving
        {
            self.changed(Some(&old), None);
            self.retry_duplicates();
        }
    }

    fn begin_load(&mut self, file: &str, fingerprint: Fingerprint) {
        let known = self.files.entry(file.to_owned()).or_default();
        known.loading = true;
        known.settling = None;
        let serving = known.serving.as_ref().map(|capability| capability.digest);
        let (catalog, file) = (Arc::clone(&self.catalog), file.to_owned());
        self.loads.spawn(async move {
            let name = file.clone();
            let task = tokio::spawn(async move {
                let options = &catalog.options;
                load(&catalog.sandbox, &options.folder, &name, &options.grants, serving).await
            });
            // A panic of ours must not leave the file loading for ever.
            let result =
                task.await.unwrap_or_else(|error| Err(std::io::Error::other(error).into()));
            (file, fingerprint, result)
        });
    }

    async fn finish_load(&mut self, (file, fingerprint, result): LoadResult) {
        let admitted = match result {
            Err(LoadError::Changing) => {
                self.know(&file).loading = false;
                return;
            }
            Ok(Some(capability)) => self.admit(&file, capability).await.map(Some),
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        let known = self.know(&file);
        known.loading = false;
        // What the database did not allow is tried again, not the file's fault.
        let settled = !matches!(admitted, Err(LoadError::Store(_)));
        known.handled = settled.then_some(fingerprint);
        match admitted {
            Ok(None) => known.refused = None,
            Ok(Some(capability)) => {
                let old = known.serving.replace(Arc::clone(&capability));
                known.refused = None;
                let renamed = old.as_ref().is_some_and(|old| old.id != capability.id);
                if renamed {
                    self.changed(old.as_deref(), None);
                    self.changed(None, Some(&capability));
                    self.retry_duplicates();
                } else {
                    self.changed(old.as_deref(), Some(&capability));
                }
            }
            Err(error) => {
                tracing::warn!(
                    file,
                    reason = error.reason(),
                    "refused: {error}; to fix it: {}",
                    error.fix()
                );
                for problem in error.problems() {
                    tracing::warn!(
                        file,
                        at = problem.at,
                        "{}; to fix it: {}",
                        problem.problem,
                        problem.fix
                    );
                }
                known.refused = Some(error);
            }
        }
    }

    fn know(&mut self, file: &str) -> &mut Known {
        self.files.entry(file.to_owned()).or_default()
    }

    async fn admit(
        &self,
        file: &str,
        mut candidate: Capability,
    ) -> Result<Arc<Capability>, LoadError> {
        let replaced = self.files.get(file).and_then(|known| known.serving.as_ref());
        let owner_of = |id: &str| {
            let mut files = self.files.iter();
            files
                .find(|(_, known)| known.serving.as_ref().is_some_and(|it| &*it.id == id))
                .map(|(file, _)| file.clone())
        };
        let replaced = replaced.map(|capability| &*capability.id);
        Snapshot::admits(&self.capabilities(), &candidate, owner_of, replaced)?;
        let declared = &candidate.descriptor.collections;
        candidate.collections =
            self.catalog.store.declare_for_both(&candidate.id, declared).await?;
        Ok(Arc::new(candidate))
    }

    fn capabilities(&self) -> BTreeMap<Arc<str>, Arc<Capability>> {
        let serving = self.files.values().filter_map(|known| known.serving.as_ref());
        serving.map(|capability| (Arc::clone(&capability.id), Arc::clone(capability))).collect()
    }

    /// An id or a tool name has become free: whoever was refused for it may try again.
    fn retry_duplicates(&mut self) {
        for known in self.files.values_mut() {
            if matches!(
                known.refused,
                Some(LoadError::DuplicateId { .. } | LoadError::DuplicateToolName { .. })
            ) {
                known.handled = None;
            }
        }
    }

    fn changed(&mut self, old: Option<&Capability>, new: Option<&Capability>) {
        let version = |capability: &Capability| capability.descriptor.version.clone();
        let Some(id) = new.or(old).map(|capability| capability.id.to_string()) else {
            return;
        };
        let breaking = match (old, new) {
            (Some(old), Some(new)) => breaking_changes(&old.descriptor, &new.descriptor),
            (Some(_), None) => vec![format!("capability {id} is removed")],
            _ => Vec::new(),
        };
        let same_major = match (old, new) {
            (Some(old), Some(new)) => old.major_version() == new.major_version(),
            _ => false,
        };
        let change = Change {
            at: Timestamp::now(),
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

    /// Makes the next snapshot if the capabilities changed, and tells the operator's view.
    async fn publish(&mut self) {
        let capabilities = self.capabilities();
        let current = self.catalog.snapshot();
        let same = current.capabilities.len() == capabilities.len()
            && capabilities.iter().all(|(id, capability)| {
                current.capabilities.get(id).is_some_and(|other| Arc::ptr_eq(other, capability))
            });
        if !same || !self.published {
            self.catalog.publish(capabilities).await;
            self.published = true;
        }
        let status = self.status();
        *self.catalog.status.lock().unwrap_or_else(PoisonError::into_inner) = status;
    }

    fn status(&self) -> Status {
        let loaded = self.files.iter().filter_map(|(file, known)| {
            let capability = known.serving.as_ref()?;
            Some(Loaded {
                file: file.clone(),
                id: capability.id.to_string(),
                version: capability.descriptor.version.clone(),
                digest: capability.digest,
                bytes: capability.size,
                actions: capability.actions.len(),
                imports: capability
                    .prepared
                    .imports()
                    .iter()
                    .map(|import| import.name.clone())
                    .collect(),
            })
        });
        let refused = self.files.iter().filter_map(|(file, known)| {
            let still_serving = known.serving.as_ref().map(|it| it.descriptor.version.clone());
            Some(Refused::new(file, known.refused.as_ref()?, still_serving))
        });
        let busy = |known: &Known| known.loading || known.settling.is_some();
        Status {
            catalog_version: self.catalog.snapshot().version,
            loaded: loaded.collect(),
            refused: refused.collect(),
            pending: self
                .files
                .iter()
                .filter(|(_, known)| busy(known))
                .map(|(file, _)| file.clone())
                .collect(),
            changes: self.changes.clone(),
        }
    }
}
