//! The task that follows the catalog folder: it notices changes, waits until a file is complete, loads it
//! and publishes the next snapshot.

use crate::{
    attempt::Attempt,
    breaking::breaking_changes,
    capability::Capability,
    catalog::Catalog,
    decisions::Recorded,
    file::Fingerprint,
    folder::{fingerprints, watcher},
    load::load,
    migration::{Progress, Step},
    publishing::{
        DroppedVersion, Installation, InstallationNote, Installing, PublishError, Published,
        Unapplied,
    },
    refusal::LoadError,
    snapshot::Snapshot,
    status::{CHANGES, Change, MigrationStatus},
};
use notify::RecommendedWatcher;
use portolan_store::{DesiredVersion, Generation, Installed};
use portolan_vocabulary::Publisher;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::{AbortHandle, JoinError, JoinSet},
};

/// How long a file that was not renamed into place must stay unchanged before it counts as complete.
const DEBOUNCE: Duration = Duration::from_millis(200);
/// The interval of reads while a file changes.
const DEBOUNCE_INTERVAL: Duration = Duration::from_millis(50);
/// The interval of other reads, because some file systems never report a change.
const RESCAN_INTERVAL: Duration = Duration::from_secs(2);
/// The maximum number of files that are loaded concurrently.
const CONCURRENT_LOADS: usize = 8;
/// How long a start waits for migrations of documents.
const START_MIGRATION: Duration = Duration::from_secs(10);

/// The state of one file of the folder.
#[derive(Default)]
pub(super) struct FileState {
    /// The content that was last loaded or refused.
    pub(super) handled: Option<Fingerprint>,
    /// A content that may not be complete yet, and since when it has been unchanged.
    pub(super) changing: Option<(Fingerprint, Instant)>,
    /// Since when the file has been missing.
    missing: Option<Instant>,
    pub(super) loading: bool,
    pub(super) serving: Option<Arc<Capability>>,
    pub(super) refused: Option<LoadError>,
    pub(super) migrating: Option<Migrating>,
    /// A published component that is to serve after the migration, in place of the file's content.
    pub(super) installing: Option<Box<Installing>>,
}

/// A file whose component is to serve when the documents have its version.
pub(super) struct Migrating {
    pub(super) id: Arc<str>,
    pub(super) progress: Arc<Progress>,
    abort: AbortHandle,
}

impl Drop for Migrating {
    fn drop(&mut self) {
        self.abort.abort();
    }
}

/// A component that may serve now, or after a migration.
pub(super) enum Admitted {
    Now(Arc<Capability>),
    After(Box<Capability>, Vec<Step>),
}

type MigrationResult =
    (String, Option<Fingerprint>, Box<Capability>, Result<Vec<Generation>, LoadError>);
type LoadResult = (String, Fingerprint, Result<Option<Capability>, LoadError>);
/// A desired version with its component and the component's content.
pub(super) type FetchResult = (DesiredVersion, Result<(Capability, Vec<u8>), LoadError>);
type Reply = (oneshot::Sender<Result<Published, PublishError>>, Result<Published, PublishError>);

/// The one task that changes the catalog.
pub(super) struct Keeper {
    pub(super) catalog: Arc<Catalog>,
    pub(super) files: BTreeMap<String, FileState>,
    loads: JoinSet<LoadResult>,
    migrations: JoinSet<MigrationResult>,
    /// Whether a first snapshot has been published.
    pub(super) published: bool,
    pub(super) changes: Vec<Change>,
    /// The recorded decisions of the operator, as they were last read.
    decisions: Option<Recorded>,
    /// Components that the operator asks this node to install.
    requests: mpsc::UnboundedReceiver<Installation>,
    /// The capabilities whose file is being loaded or migrated.
    pub(super) postponed: Vec<Installation>,
    /// The answers to requests, which are sent when the next snapshot is published.
    pub(super) replies: Vec<Reply>,
    /// What this node has installed of the desired versions.
    pub(super) note: InstallationNote,
    pub(super) fetches: JoinSet<FetchResult>,
    /// The ids whose desired version is being fetched or installed.
    pub(super) fetching: BTreeSet<String>,
    /// The desired versions that this node cannot install, by id.
    pub(super) unapplied: BTreeMap<String, Unapplied>,
    /// Versions out of the folder that are not in the history yet.
    pub(super) unrecorded: Vec<DroppedVersion>,
}

impl Keeper {
    /// Loads the folder once, then follows it in a task.
    pub(super) async fn start(
        catalog: Arc<Catalog>,
        requests: mpsc::UnboundedReceiver<Installation>,
        stop: watch::Receiver<bool>,
    ) -> anyhow::Result<()> {
        let note = InstallationNote::open(&catalog.options.installation_note);
        let folder = catalog.options.folder.clone();
        let (sender, changed) = mpsc::unbounded_channel();
        let watcher = watcher(&folder, sender);
        let mut keeper = Self {
            catalog,
            files: BTreeMap::new(),
            loads: JoinSet::new(),
            migrations: JoinSet::new(),
            published: false,
            changes: Vec::new(),
            decisions: None,
            requests,
            postponed: Vec::new(),
            replies: Vec::new(),
            note,
            fetches: JoinSet::new(),
            fetching: BTreeSet::new(),
            unapplied: BTreeMap::new(),
            unrecorded: Vec::new(),
        };
        keeper.load_all().await?;
        tokio::spawn(keeper.run(watcher, changed, stop));
        Ok(())
    }

    async fn load_all(&mut self) -> anyhow::Result<()> {
        let present = fingerprints(&self.catalog.options.folder).await?;
        let mut attempt = Attempt::begin(&self.catalog.options.start_note)?;
        let at_once = if attempt.is_careful() { 1 } else { CONCURRENT_LOADS };
        let mut waiting: Vec<_> = present.clone().into_iter().rev().collect();
        let mut results = Vec::new();
        while !waiting.is_empty() || !self.loads.is_empty() {
            while self.loads.len() < at_once
                && let Some((file, fingerprint)) = waiting.pop()
            {
                if attempt.leaves_out(&file, fingerprint) {
                    results.push((file, fingerprint, Err(LoadError::EndsStarts)));
                    continue;
                }
                attempt.load(&file, fingerprint)?;
                self.begin_load(&file, fingerprint);
            }
            if let Some(Ok(result)) = self.loads.join_next().await {
                results.push(result);
            }
        }
        // By publisher and name, so that of two files with one id the same one wins after every start.
        results.sort_by(|(one, _, left), (other, _, right)| {
            (rank(left), one).cmp(&(rank(right), other))
        });
        self.take_decisions().await;
        for result in results {
            self.finish_load(result).await;
        }
        self.take_desired().await;
        while let Some(Ok(result)) = self.fetches.join_next().await {
            self.finish_fetch(result).await;
        }
        // Most migrations are short. The others go on after the start.
        let wait = tokio::time::sleep(START_MIGRATION);
        tokio::pin!(wait);
        while !self.migrations.is_empty() {
            tokio::select! {
                Some(result) = self.migrations.join_next() => self.finish_migration(result).await,
                () = &mut wait => break,
            }
        }
        self.publish().await;
        attempt.finish(&present)?;
        Ok(())
    }

    async fn run(
        mut self,
        watcher: Option<RecommendedWatcher>,
        mut changed: mpsc::UnboundedReceiver<String>,
        mut stop: watch::Receiver<bool>,
    ) {
        let catalog = Arc::clone(&self.catalog);
        self.record_drops().await;
        loop {
            let mut renamed = BTreeSet::new();
            tokio::select! {
                Some(file) = changed.recv() => { renamed.insert(file); }
                () = tokio::time::sleep(self.interval()) => {}
                () = catalog.decided.notified() => {}
                Some(Ok(result)) = self.loads.join_next() => self.finish_load(result).await,
                Some(result) = self.migrations.join_next() => self.finish_migration(result).await,
                Some(request) = self.requests.recv() => self.install(request).await,
                Some(Ok(result)) = self.fetches.join_next() => self.finish_fetch(result).await,
                _ = stop.changed() => break,
            }
            while let Ok(file) = changed.try_recv() {
                renamed.insert(file);
            }
            while let Some(Ok(result)) = self.loads.try_join_next() {
                self.finish_load(result).await;
            }
            self.take_decisions().await;
            self.take_desired().await;
            for postponed in std::mem::take(&mut self.postponed) {
                self.install(postponed).await;
            }
            match fingerprints(&self.catalog.options.folder).await {
                Ok(present) => self.compare(&present, &renamed),
                Err(error) => {
                    tracing::error!(%error, "the catalog folder cannot be read; loaded capabilities stay")
                }
            }
            self.publish().await;
            self.send_replies();
            self.record_drops().await;
        }
        drop(watcher);
    }

    fn interval(&self) -> Duration {
        let is_changing = |known: &FileState| {
            known.changing.is_some() || known.missing.is_some() || known.migrating.is_some()
        };
        if self.files.values().any(is_changing) { DEBOUNCE_INTERVAL } else { RESCAN_INTERVAL }
    }

    /// Compares what is in the folder with what is known, and begins the loads that follow.
    fn compare(&mut self, present: &BTreeMap<String, Fingerprint>, renamed: &BTreeSet<String>) {
        let missing: Vec<_> =
            self.files.keys().filter(|file| !present.contains_key(*file)).cloned().collect();
        for file in missing {
            self.note_missing(&file);
        }
        for (file, fingerprint) in present {
            let known = self.files.entry(file.clone()).or_default();
            known.missing = None;
            if known.loading {
                continue;
            }
            if known.handled == Some(*fingerprint) {
                known.changing = None;
                continue;
            }
            let unchanged_since = match known.changing {
                Some((changing, since)) if changing == *fingerprint => since,
                _ => Instant::now(),
            };
            known.changing = Some((*fingerprint, unchanged_since));
            let complete = renamed.contains(file) || unchanged_since.elapsed() >= DEBOUNCE;
            if complete && self.loads.len() < CONCURRENT_LOADS {
                self.begin_load(file, *fingerprint);
            }
        }
    }

    /// Removes a file's capability when the file has been missing for a while: it may be on its way
    /// back, as when it is replaced.
    fn note_missing(&mut self, file: &str) {
        let Some(known) = self.files.get_mut(file) else {
            return;
        };
        let since = *known.missing.get_or_insert_with(Instant::now);
        if since.elapsed() < DEBOUNCE || known.loading {
            return;
        }
        if let Some(known) = self.files.remove(file)
            && let Some(old) = known.serving
        {
            self.record_change(Some(&old), None);
            self.retry_duplicates();
        }
    }

    fn begin_load(&mut self, file: &str, fingerprint: Fingerprint) {
        let known = self.files.entry(file.to_owned()).or_default();
        known.loading = true;
        known.changing = None;
        known.migrating = None;
        let serving = known.serving.as_ref().map(|capability| capability.digest);
        let (catalog, file) = (Arc::clone(&self.catalog), file.to_owned());
        self.loads.spawn(async move {
            let name = file.clone();
            let task = tokio::spawn(async move { load(&catalog, &name, serving).await });
            // A panic of the host must not leave the file in the state of loading.
            let result =
                task.await.unwrap_or_else(|error| Err(std::io::Error::other(error).into()));
            (file, fingerprint, result)
        });
    }

    async fn finish_load(&mut self, (file, fingerprint, result): LoadResult) {
        let permits_older = false;
        let admitted = match result {
            Err(LoadError::Changing) => {
                self.file_mut(&file).loading = false;
                return;
            }
            Ok(Some(capability)) => match self.admit(&file, capability, permits_older).await {
                Ok(Admitted::Now(capability)) => Ok(Some(capability)),
                Ok(Admitted::After(capability, steps)) => {
                    self.begin_migration(file, Some(fingerprint), capability, steps);
                    return;
                }
                Err(error) => Err(error),
            },
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        self.settle_drop(&file, fingerprint, admitted);
    }

    pub(super) fn begin_migration(
        &mut self,
        file: String,
        fingerprint: Option<Fingerprint>,
        candidate: Box<Capability>,
        steps: Vec<Step>,
    ) {
        let (id, progress) = (Arc::clone(&candidate.id), Arc::new(Progress::new(&steps)));
        for status in progress.statuses(&file, &id) {
            let MigrationStatus { collection, from, to, documents, .. } = status;
            tracing::info!(%id, collection, from, to, documents, "migrating documents");
        }
        let (catalog, counted) = (Arc::clone(&self.catalog), Arc::clone(&progress));
        let name = file.clone();
        let abort = self.migrations.spawn(async move {
            let migrated = catalog.migrate(&candidate, &steps, &counted).await;
            (name, fingerprint, candidate, migrated)
        });
        let known = self.file_mut(&file);
        known.loading = false;
        known.handled = fingerprint;
        known.refused = None;
        known.migrating = Some(Migrating { id, progress, abort });
    }

    async fn finish_migration(&mut self, result: Result<MigrationResult, JoinError>) {
        // A migration is cancelled when its file changes.
        let Ok((file, fingerprint, candidate, migrated)) = result else { return };
        let installing = self.file_mut(&file).installing.take();
        let permits_older = installing.as_ref().is_some_and(|one| one.cause.permits_older());
        let serving = match migrated {
            Ok(generations) => {
                self.switch(&file, *candidate, &generations, permits_older).await.map(Some)
            }
            Err(error) => Err(error),
        };
        self.file_mut(&file).migrating = None;
        match (installing, fingerprint) {
            (Some(installing), _) => {
                self.file_mut(&file).loading = false;
                self.finish_install(&file, *installing, serving).await;
            }
            (None, Some(fingerprint)) => self.settle_drop(&file, fingerprint, serving),
            (None, None) => {}
        }
        // Calls wait for the component.
        self.publish().await;
    }

    async fn switch(
        &self,
        file: &str,
        candidate: Capability,
        generations: &[Generation],
        permits_older: bool,
    ) -> Result<Arc<Capability>, LoadError> {
        let switched = async {
            self.ensure_admissible(file, &candidate, permits_older).await?;
            self.catalog.complete_migration(&candidate, generations).await
        };
        if let Err(error) = switched.await {
            self.catalog.store.give_up_generations(generations).await?;
            return Err(error);
        }
        self.make_ready(candidate).await
    }

    pub(super) fn settle(
        &mut self,
        file: &str,
        fingerprint: Fingerprint,
        admitted: Result<Option<Arc<Capability>>, LoadError>,
    ) {
        let known = self.file_mut(file);
        known.loading = false;
        // An error of the database is not the file's fault, so the file is loaded again.
        let is_final = !matches!(admitted, Err(LoadError::Store(_)));
        known.handled = is_final.then_some(fingerprint);
        match admitted {
            Ok(None) => known.refused = None,
            Ok(Some(capability)) => {
                let old = known.serving.replace(Arc::clone(&capability));
                known.refused = None;
                let renamed = old.as_ref().is_some_and(|old| old.id != capability.id);
                if renamed {
                    self.record_change(old.as_deref(), None);
                    self.record_change(None, Some(&capability));
                    self.retry_duplicates();
                } else {
                    self.record_change(old.as_deref(), Some(&capability));
                }
            }
            Err(error) => {
                tracing::warn!(
                    file,
                    reason = error.reason(),
                    "refused: {}; to fix it: {}",
                    error.message(),
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

    pub(super) fn file_mut(&mut self, file: &str) -> &mut FileState {
        self.files.entry(file.to_owned()).or_default()
    }

    pub(super) async fn admit(
        &self,
        file: &str,
        candidate: Capability,
        permits_older: bool,
    ) -> Result<Admitted, LoadError> {
        self.ensure_admissible(file, &candidate, permits_older).await?;
        let steps = self.catalog.migration_steps(&candidate).await?;
        match steps.is_empty() {
            true => self.make_ready(candidate).await.map(Admitted::Now),
            false => Ok(Admitted::After(Box::new(candidate), steps)),
        }
    }

    async fn ensure_admissible(
        &self,
        file: &str,
        candidate: &Capability,
        permits_older: bool,
    ) -> Result<(), LoadError> {
        let replaced = self.files.get(file).and_then(|known| known.serving.as_ref());
        let owner_of = |id: &str| {
            let mut files = self.files.iter();
            files
                .find(|(_, known)| known.serving.as_ref().is_some_and(|serving| &*serving.id == id))
                .map(|(file, _)| file.clone())
        };
        let replaced = replaced.map(|capability| &*capability.id);
        let capabilities = self.capabilities();
        let others = capabilities.values().map(|other| &**other);
        self.catalog.ensure_admissible(candidate, permits_older, others).await?;
        Snapshot::ensure_unique(&capabilities, candidate, owner_of, replaced)?;
        self.catalog.claim_names(candidate).await
    }

    async fn make_ready(&self, mut candidate: Capability) -> Result<Arc<Capability>, LoadError> {
        let declared = &candidate.descriptor.collections;
        candidate.collections =
            self.catalog.store.declare_for_both(&candidate.id, declared).await?;
        self.catalog.record_version(&candidate).await?;
        Ok(Arc::new(candidate))
    }

    fn capabilities(&self) -> BTreeMap<Arc<str>, Arc<Capability>> {
        let serving = self.files.values().filter_map(|known| known.serving.as_ref());
        serving.map(|capability| (Arc::clone(&capability.id), Arc::clone(capability))).collect()
    }

    /// Loads files again that were refused because of an id or a tool name, when one has become free.
    fn retry_duplicates(&mut self) {
        for known in self.files.values_mut() {
            if matches!(
                known.refused,
                Some(LoadError::DuplicateId { .. } | LoadError::DuplicateToolName { .. })
            ) {
                known.handled = None;
            }
        }
        self.unapplied.retain(|_, unapplied| !unapplied.may_be_over());
    }

    /// Takes the recorded decisions of the operator. If they have changed, here or on another node, the
    /// files that wait for one are loaded again.
    async fn take_decisions(&mut self) {
        let decisions = match self.catalog.recorded_decisions().await {
            Ok(decisions) if self.decisions.as_ref() == Some(&decisions) => return,
            Ok(decisions) => decisions,
            Err(error) => {
                tracing::warn!(%error, "the decisions about components cannot be read");
                return;
            }
        };
        let grants = self.catalog.merged(&decisions.1);
        if grants != self.catalog.grants() {
            self.catalog.set_grants(grants);
            self.published = false;
        }
        self.end_disowned(&decisions.0);
        self.decisions = Some(decisions);
        self.unapplied.retain(|_, unapplied| !unapplied.may_be_over());
        for known in self.files.values_mut() {
            if known.refused.as_ref().is_some_and(LoadError::can_be_decided) {
                known.handled = None;
            }
        }
    }

    /// Ends what serves under an id that now belongs to another publisher.
    fn end_disowned(&mut self, installed: &BTreeMap<String, Installed>) {
        let mut ended = Vec::new();
        for known in self.files.values_mut() {
            let is_disowned = |serving: &mut Arc<Capability>| {
                let owner = installed.get(&*serving.id);
                owner.is_some_and(|owner| owner.publisher != serving.publisher.to_string())
            };
            if let Some(old) = known.serving.take_if(is_disowned) {
                known.handled = None;
                ended.push(old);
            }
        }
        for old in ended {
            self.record_change(Some(&old), None);
        }
    }

    fn record_change(&mut self, old: Option<&Capability>, new: Option<&Capability>) {
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

    /// Publishes the next snapshot if the capabilities have changed, and updates the status.
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
        self.catalog.set_waiting(self.waiting());
        let status = self.status();
        self.catalog.set_status(status);
    }
}

/// The order in which loaded files are admitted at a start: the host's own publisher first, then signed
/// components, then unsigned ones.
fn rank(result: &Result<Option<Capability>, LoadError>) -> u8 {
    match result {
        Ok(Some(capability)) if capability.publisher == Publisher::Host => 0,
        Ok(Some(capability)) if capability.publisher.is_key() => 1,
        _ => 2,
    }
}
