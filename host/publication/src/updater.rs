//! The task that updates the feeds: when the link `current` changes, it reads the new folder and publishes
//! it, if it has no faults.

use crate::{
    feeds::Feeds,
    options::FeedsOptions,
    publication::{Publication, PublicationError, ReadFolder},
    status::{CurrentPublication, RefusedPublication},
};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use portolan_feeds::{
    Quarantined,
    publish::{self, CURRENT},
};
use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::{
    runtime::Handle,
    sync::{mpsc, watch},
};

/// How many of the quarantined records the status lists.
const MOST_QUARANTINED: usize = 50;
/// The interval of checks without a notification: some file systems send none, and a folder
/// that does not exist yet cannot be watched.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// The maximum number of faults of a publication that the status lists.
const MAX_SHOWN_FAULTS: usize = 20;

/// The identity of a publication: its folder, and the size, the time and the inode of each file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fingerprint {
    folder: PathBuf,
    files: BTreeMap<PathBuf, (u64, i64, i64, u64)>,
}

/// The one task that changes the feeds.
struct Updater {
    feeds: Arc<Feeds>,
    /// The publication that was last published or refused.
    last_processed: Option<Fingerprint>,
}

impl Feeds {
    /// Reads what is published, and then watches the folder until `stop` becomes true. The folder need
    /// not exist yet.
    pub async fn start(options: FeedsOptions, stop: watch::Receiver<bool>) -> Arc<Self> {
        let feeds = Arc::new(Self::new(options));
        let mut updater = Updater { feeds: Arc::clone(&feeds), last_processed: None };
        updater.check().await;
        tokio::spawn(updater.run(stop));
        feeds
    }
}

impl Updater {
    async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let folder = self.feeds.options.folder.clone();
        let (sender, mut changes) = mpsc::unbounded_channel();
        let mut watcher = None;
        loop {
            if watcher.is_none() && folder.is_dir() {
                watcher = Some(watch_folder(&folder, sender.clone()));
            }
            tokio::select! {
                Some(()) = changes.recv() => {}
                () = tokio::time::sleep(POLL_INTERVAL) => {}
                _ = stop.changed() => break,
            }
            while changes.try_recv().is_ok() {}
            self.check().await;
        }
    }

    async fn check(&mut self) {
        let (feeds, last_processed) = (Arc::clone(&self.feeds), self.last_processed.clone());
        let result =
            tokio::task::spawn_blocking(move || read_changed(&feeds, last_processed.as_ref()))
                .await;
        match result.map_err(io::Error::other) {
            Ok(Ok(None)) => {}
            Ok(Ok(Some((fingerprint, result)))) => {
                let name = name_of(&fingerprint.folder);
                self.last_processed = Some(fingerprint);
                match result {
                    Ok((publication, quarantined)) => self.publish(publication, &quarantined),
                    Err(error) => self.refuse(RefusedPublication::new(name, &error)),
                }
            }
            // The folder is checked again after the next interval.
            Ok(Err(error)) | Err(error) => {
                let faults = vec![error.to_string()];
                self.refuse(RefusedPublication { name: CURRENT.to_owned(), count: 1, faults });
            }
        }
    }

    fn publish(&self, publication: Publication, quarantined: &[Quarantined]) {
        let Publication { name, generated_at, made_for, .. } = &publication;
        tracing::info!(name, %generated_at, "a new publication of the feeds is served");
        if let Some(address) = made_for {
            tracing::warn!(
                address,
                "the links in the feeds lead to another address; build them with the public_url of this host"
            );
        }
        let current = CurrentPublication {
            name: name.clone(),
            generated_at: *generated_at,
            made_for: made_for.clone(),
            quarantined_count: quarantined.len(),
            quarantined: quarantined.iter().take(MOST_QUARANTINED).cloned().collect(),
        };
        // The status is updated before readers can see the publication, so that it never lags
        // behind.
        self.feeds.update_status(|status| {
            status.in_force = Some(current);
            status.refused = None;
        });
        self.feeds.publish(publication);
    }

    fn refuse(&self, refused: RefusedPublication) {
        if self.feeds.status().refused.as_ref() == Some(&refused) {
            return;
        }
        // The faults themselves are not logged: they can quote a person's phone number.
        let RefusedPublication { name, count, .. } = &refused;
        tracing::warn!(
            name,
            count,
            "the newest publication of the feeds has faults, so the one before stays; see /status or `portolan feeds check`"
        );
        self.feeds.update_status(|status| status.refused = Some(refused));
    }
}

impl RefusedPublication {
    fn new(name: String, error: &PublicationError) -> Self {
        match error {
            PublicationError::Faulty(faults) => Self {
                name,
                count: faults.len(),
                faults: faults.iter().take(MAX_SHOWN_FAULTS).map(ToString::to_string).collect(),
            },
            other => Self { name, count: 1, faults: vec![other.to_string()] },
        }
    }
}

/// A new publication with the records that its build left out, or the reason why it cannot be published;
/// `None` if nothing has changed.
type ReadOutcome = Option<(Fingerprint, Result<(Publication, Vec<Quarantined>), PublicationError>)>;

/// Reads the publication to which the link leads, unless there is no link or the publication was
/// handled last.
fn read_changed(feeds: &Feeds, last_processed: Option<&Fingerprint>) -> io::Result<ReadOutcome> {
    // The link is resolved once, so that all files are of one publication even if the link changes.
    let folder = match feeds.options.folder.join(CURRENT).canonicalize() {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let fingerprint = Fingerprint::of(folder)?;
    if last_processed == Some(&fingerprint) {
        return Ok(None);
    }
    let files = publish::documents(&fingerprint.folder)?;
    let not_published = portolan_feeds::not_published(&fingerprint.folder)?;
    let previous = feeds.current();
    let read = ReadFolder {
        name: name_of(&fingerprint.folder),
        folder: &fingerprint.folder,
        files: &files,
        gone: not_published.gone.into_keys().collect(),
    };
    let publication = Publication::new(read, &feeds.options, previous.as_deref());
    // Compression takes processor time, so it runs on this blocking thread.
    let publication = Handle::current().block_on(publication);
    let publication = publication.map(|publication| (publication, not_published.quarantined));
    Ok(Some((fingerprint, publication)))
}

fn name_of(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

impl Fingerprint {
    fn of(folder: PathBuf) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let metadata = fs::metadata(&path)?;
            files.insert(
                path,
                (metadata.len(), metadata.mtime(), metadata.mtime_nsec(), metadata.ino()),
            );
        }
        Ok(Self { folder, files })
    }
}

/// Watches the folder in which the link is, and sends a message for each change. Returns `None`,
/// with a warning, if the folder cannot be watched.
fn watch_folder(folder: &Path, changed: mpsc::UnboundedSender<()>) -> Option<RecommendedWatcher> {
    let handler = move |event: notify::Result<notify::Event>| {
        if event.is_ok_and(|event| !event.kind.is_access()) {
            // An error means that the task has stopped.
            let _stopped = changed.send(());
        }
    };
    let watcher = notify::recommended_watcher(handler).and_then(|mut watcher| {
        watcher.watch(folder, RecursiveMode::NonRecursive)?;
        Ok(watcher)
    });
    watcher
        .inspect_err(|error| tracing::warn!(%error, "the folder of the feeds cannot be watched; it is checked every two seconds"))
        .ok()
}
