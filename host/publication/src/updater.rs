//! The task that updates the feeds: when the link `current` changes, it reads the new folder and publishes
//! it, if it has no faults.

use crate::{
    feeds::Feeds,
    options::FeedsOptions,
    publication::{Publication, PublicationError, ReadFolder},
    records::RecordsError,
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
    time::{Duration, Instant},
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

/// The pause before a publication that could not be loaded is tried again; it doubles each time, up to the
/// longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// The identity of a publication: its folder, and the size, the time and the inode of each file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fingerprint {
    folder: PathBuf,
    files: BTreeMap<PathBuf, (u64, i64, i64, u64)>,
}

/// The state of publications that were read.
#[derive(Debug, Clone, Default)]
struct Known {
    /// The publication that was last published or refused.
    processed: Option<Fingerprint>,
    failed: Option<Failed>,
}

/// A publication that could not be loaded, for a reason that passes.
#[derive(Debug, Clone)]
struct Failed {
    fingerprint: Fingerprint,
    pause: Duration,
    /// When it is tried again.
    until: Instant,
}

/// The one task that changes the feeds.
struct Updater {
    feeds: Arc<Feeds>,
    known: Known,
    /// The faults of the publication that was last processed.
    verdict: Option<RefusedPublication>,
}

impl Feeds {
    /// Reads what is published, and then watches the folder until `stop` becomes true. The folder need
    /// not exist yet.
    pub async fn start(options: FeedsOptions, stop: watch::Receiver<bool>) -> Arc<Self> {
        let feeds = Arc::new(Self::new(options));
        let mut updater =
            Updater { feeds: Arc::clone(&feeds), known: Known::default(), verdict: None };
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
        let (feeds, known) = (Arc::clone(&self.feeds), self.known.clone());
        let reading = tokio::task::spawn_blocking(move || read_changed(&feeds, &known)).await;
        match reading.map_err(io::Error::other) {
            Ok(Ok(Found::Unchanged)) => {
                self.set_refused(self.verdict.clone());
            }
            Ok(Ok(Found::Waiting)) => {}
            Ok(Ok(Found::Read(fingerprint, Ok((publication, quarantined))))) => {
                self.processed(fingerprint, None);
                self.publish(*publication, &quarantined);
            }
            Ok(Ok(Found::Read(fingerprint, Err(error)))) => {
                let refused = RefusedPublication::new(name_of(&fingerprint.folder), &error);
                if error.is_verdict() {
                    self.processed(fingerprint, Some(refused.clone()));
                    self.refuse(refused);
                } else {
                    self.known.failed = Some(Failed::new(fingerprint, self.known.failed.as_ref()));
                    self.fail(refused);
                }
            }
            // The folder is checked again after the next interval.
            Ok(Err(error)) | Err(error) => {
                let faults = vec![error.to_string()];
                self.fail(RefusedPublication { name: CURRENT.to_owned(), count: 1, faults });
            }
        }
    }

    /// Remembers a publication that was published, or refused with a verdict.
    fn processed(&mut self, fingerprint: Fingerprint, verdict: Option<RefusedPublication>) {
        self.known = Known { processed: Some(fingerprint), failed: None };
        self.verdict = verdict;
    }

    fn publish(&self, publication: Publication, quarantined: &[Quarantined]) {
        let Publication { name, generated_at, made_for, .. } = &publication;
        let city = &self.feeds.roads().map;
        tracing::info!(city, name, %generated_at, "a new publication of the feeds is served");
        if let Some(address) = made_for {
            tracing::warn!(
                address,
                "the links in the feeds lead to another address; build them with the public_url of this host"
            );
        }
        let contact_missing =
            !publication.meta.synthetic && self.feeds.host().contact_url().is_none();
        if contact_missing {
            tracing::warn!(
                "people whom the feeds name find no address to object at; set provider.contact in the configuration"
            );
        }
        let current = CurrentPublication {
            name: name.clone(),
            generated_at: *generated_at,
            made_for: made_for.clone(),
            contact_missing,
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

    /// Refuses a publication that has faults.
    fn refuse(&self, refused: RefusedPublication) {
        // The faults themselves are not logged: they can quote a person's phone number.
        let (name, count) = (refused.name.clone(), refused.count);
        if self.set_refused(Some(refused)) {
            tracing::warn!(
                city = self.feeds.roads().map,
                name,
                count,
                "the newest publication of the feeds has faults, so the one before stays; see /status or `portolan feeds check`"
            );
        }
    }

    /// Reports a publication that cannot be loaded now.
    fn fail(&self, failed: RefusedPublication) {
        let name = failed.name.clone();
        if self.set_refused(Some(failed)) {
            tracing::warn!(
                city = self.feeds.roads().map,
                name,
                "the newest publication of the feeds cannot be loaded now, so the one before stays; it is tried again; see /status"
            );
        }
    }

    /// Sets the status of the newest publication, and returns whether that is new.
    fn set_refused(&self, refused: Option<RefusedPublication>) -> bool {
        let is_new = self.feeds.status().refused != refused;
        if is_new {
            self.feeds.update_status(|status| status.refused = refused);
        }
        is_new
    }
}

impl Failed {
    /// Returns a failure after `before`, if it is of the same publication.
    fn new(fingerprint: Fingerprint, before: Option<&Self>) -> Self {
        let before = before.filter(|before| before.fingerprint == fingerprint);
        let pause = before.map_or(FIRST_PAUSE, |before| (before.pause * 2).min(LONGEST_PAUSE));
        Self { fingerprint, pause, until: Instant::now() + pause }
    }
}

impl PublicationError {
    /// Returns whether the documents themselves are the reason, so that the same ones will never do. Any other
    /// reason passes, such as a full disk or too many open files.
    fn is_verdict(&self) -> bool {
        match self {
            Self::Faulty(_) | Self::Document(_) | Self::Misplaced { .. } => true,
            Self::Records(RecordsError::Document(_) | RecordsError::Unknown(_)) => true,
            // A file that was read, and is not valid.
            Self::Files(error) | Self::Records(RecordsError::Files(error)) => {
                matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput)
            }
            Self::Records(_) => false,
        }
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

/// The publication that the link leads to.
enum Found {
    /// Nothing, or the publication that was processed last.
    Unchanged,
    /// A publication that is not tried again yet.
    Waiting,
    /// Another publication with the records that its build left out, or why it cannot be published.
    Read(Fingerprint, Result<(Box<Publication>, Vec<Quarantined>), PublicationError>),
}

/// Reads the publication to which the link leads, unless it is known.
fn read_changed(feeds: &Feeds, known: &Known) -> io::Result<Found> {
    // The link is resolved once, so that all files are of one publication even if the link changes.
    let folder = match feeds.options.folder.join(CURRENT).canonicalize() {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Unchanged),
        Err(error) => return Err(error),
    };
    let fingerprint = Fingerprint::of(folder)?;
    if known.processed.as_ref() == Some(&fingerprint) {
        return Ok(Found::Unchanged);
    }
    let is_early =
        |failed: &Failed| failed.fingerprint == fingerprint && Instant::now() < failed.until;
    if known.failed.as_ref().is_some_and(is_early) {
        return Ok(Found::Waiting);
    }
    let read = read_publication(feeds, &fingerprint.folder);
    Ok(Found::Read(fingerprint, read))
}

fn read_publication(
    feeds: &Feeds,
    folder: &Path,
) -> Result<(Box<Publication>, Vec<Quarantined>), PublicationError> {
    let files = publish::documents(folder)?;
    let not_published = portolan_feeds::not_published(folder)?;
    let previous = feeds.current();
    let read = ReadFolder {
        name: name_of(folder),
        folder,
        files: &files,
        gone: not_published.gone.into_keys().collect(),
    };
    let publication = Publication::new(read, &feeds.options, previous.as_deref());
    // Compression takes processor time, so it runs on this blocking thread.
    let publication = Handle::current().block_on(publication)?;
    Ok((Box::new(publication), not_published.quarantined))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_publication_that_cannot_be_loaded_is_tried_less_and_less_often() {
        let named = |name: &str| Fingerprint { folder: name.into(), files: BTreeMap::new() };
        let mut failed = Failed::new(named("one"), None);
        let mut pauses = vec![failed.pause.as_secs()];
        for _ in 0..7 {
            failed = Failed::new(named("one"), Some(&failed));
            pauses.push(failed.pause.as_secs());
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(Failed::new(named("other"), Some(&failed)).pause, FIRST_PAUSE);
    }

    #[test]
    fn only_faults_of_the_documents_are_a_verdict() {
        let unreadable = serde_json::from_str::<u8>("{").unwrap_err();
        assert!(PublicationError::Faulty(Vec::new()).is_verdict());
        assert!(PublicationError::Document(unreadable).is_verdict());
        for (kind, verdict) in [
            (io::ErrorKind::StorageFull, false),
            (io::ErrorKind::PermissionDenied, false),
            (io::ErrorKind::NotFound, false),
            (io::ErrorKind::InvalidData, true),
        ] {
            assert_eq!(PublicationError::Files(kind.into()).is_verdict(), verdict, "{kind}");
            let error = RecordsError::Files(kind.into());
            assert_eq!(PublicationError::Records(error).is_verdict(), verdict, "{kind}");
        }
    }
}
