//! The start, which loads the whole folder, and the task that then follows it.

use super::{
    loads::CONCURRENT_LOADS,
    state::{FileState, Keeper},
};
use crate::{
    attempt::StartAttempt,
    capability::Capability,
    catalog::Catalog,
    folder::{fingerprints, watcher},
    follow_nodes::KnownNodes,
    publishing::{Installation, InstallationNote},
    refusal::LoadError,
};
use notify::RecommendedWatcher;
use portolan_vocabulary::Publisher;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
};

/// The interval of reads of the folder while a file changes.
const DEBOUNCE_INTERVAL: Duration = Duration::from_millis(50);
/// The interval of other reads, because some file systems never report a change.
const RESCAN_INTERVAL: Duration = Duration::from_secs(2);
/// How long a start waits for the next file to be loaded.
const START_LOADING: Duration = Duration::from_secs(30);
/// How long a start waits for migrations of documents.
const START_MIGRATION: Duration = Duration::from_secs(10);

impl Keeper {
    /// Loads the folder once, then follows it in a task.
    pub(crate) async fn start(
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
            canaries: BTreeMap::new(),
            canary_loads: JoinSet::new(),
            aborted: BTreeSet::new(),
            unrecorded: Vec::new(),
        };
        // What is published at the start reaches the subscribers of other nodes.
        let mut nodes = KnownNodes::default();
        if let Err(error) = keeper.catalog.read_nodes(&mut nodes).await {
            tracing::warn!(%error, "what the other nodes serve cannot be read");
        }
        keeper.load_all().await?;
        keeper.catalog.follow_nodes(nodes, stop.clone()).await;
        let counting = Arc::clone(&keeper.catalog);
        tokio::spawn(counting.watch_releases(stop.clone()));
        tokio::spawn(keeper.run(watcher, changed, stop));
        Ok(())
    }

    async fn load_all(&mut self) -> anyhow::Result<()> {
        let present = fingerprints(&self.catalog.options.folder).await?;
        let mut attempt = StartAttempt::begin(&self.catalog.options.start_note)?;
        let at_once = if attempt.is_careful() { 1 } else { CONCURRENT_LOADS };
        let mut waiting: Vec<_> = present.clone().into_iter().rev().collect();
        let mut results = Vec::new();
        while !waiting.is_empty() || !self.loads.is_empty() {
            while self.loads.len() < at_once
                && let Some((file, fingerprint)) = waiting.pop()
            {
                if attempt.is_excluded(&file, fingerprint) {
                    results.push((file, fingerprint, Err(LoadError::StartFailed)));
                    continue;
                }
                attempt.note_load(&file, fingerprint)?;
                self.begin_load(&file, fingerprint);
            }
            match tokio::time::timeout(START_LOADING, self.loads.join_next()).await {
                Ok(Some(Ok(result))) => results.push(result),
                Ok(_) => {}
                // Files with an artifact are loaded by now. A new file that takes long to compile is
                // loaded after the start, so that the others serve.
                Err(_elapsed) => {
                    tracing::warn!(
                        files = self.loads.len() + waiting.len(),
                        "the host serves before these files are loaded, because they take long to compile"
                    );
                    break;
                }
            }
        }
        // By publisher and name, so that of two files with one id the same one wins after every start.
        results.sort_by(|(one, _, left), (other, _, right)| {
            (rank(left), one).cmp(&(rank(right), other))
        });
        self.apply_decisions().await;
        self.read_aborted().await;
        for result in results {
            self.finish_load(result).await;
        }
        self.install_desired().await;
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
        self.follow_releases().await;
        while let Some(Ok(result)) = self.canary_loads.join_next().await {
            self.finish_canary(result).await;
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
                Some(Ok(result)) = self.canary_loads.join_next() => self.finish_canary(result).await,
                _ = stop.changed() => break,
            }
            while let Ok(file) = changed.try_recv() {
                renamed.insert(file);
            }
            while let Some(Ok(result)) = self.loads.try_join_next() {
                self.finish_load(result).await;
            }
            self.apply_decisions().await;
            self.install_desired().await;
            for postponed in std::mem::take(&mut self.postponed) {
                self.install(postponed).await;
            }
            self.read_aborted().await;
            self.follow_releases().await;
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
}

/// Returns the rank by which loaded files are admitted at a start: the host's own publisher first, then
/// signed components, then unsigned ones.
fn rank(result: &Result<Option<Capability>, LoadError>) -> u8 {
    match result {
        Ok(Some(capability)) if capability.publisher == Publisher::Host => 0,
        Ok(Some(capability)) if capability.publisher.is_key() => 1,
        _ => 2,
    }
}
