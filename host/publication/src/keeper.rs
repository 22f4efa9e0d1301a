//! Keeps the feeds true to their folder: sees that the link was turned, reads what it leads to, and puts
//! that in force if it is sound.

use crate::{Feeds, InForce, Publication, Refused, publication::Unsound};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use portolan_feeds::publish::{self, CURRENT};
use portolan_vocabulary::Timestamp;
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

/// How often to look without having been told of a change: some file systems never tell, and a folder
/// that is not there yet cannot.
const LOOK: Duration = Duration::from_secs(2);
/// Faults that the operator is told of one publication.
const TOLD: usize = 20;

/// Which publication it is: where it lies, and the size, the time and the inode of each file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fingerprint {
    folder: PathBuf,
    files: BTreeMap<PathBuf, (u64, i64, i64, u64)>,
}

/// The one task that changes the feeds.
pub(super) struct Keeper {
    feeds: Arc<Feeds>,
    /// What was last put in force or refused.
    handled: Option<Fingerprint>,
}

impl Keeper {
    /// Looks once, then goes on in a task.
    pub(super) async fn start(feeds: Arc<Feeds>, stop: watch::Receiver<bool>) {
        let mut keeper = Self { feeds, handled: None };
        keeper.look().await;
        tokio::spawn(keeper.run(stop));
    }

    async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let folder = self.feeds.options.folder.clone();
        let (sender, mut changed) = mpsc::unbounded_channel();
        let mut watched = None;
        loop {
            if watched.is_none() && folder.is_dir() {
                watched = Some(watch_folder(&folder, sender.clone()));
            }
            tokio::select! {
                Some(()) = changed.recv() => {}
                () = tokio::time::sleep(LOOK) => {}
                _ = stop.changed() => break,
            }
            while changed.try_recv().is_ok() {}
            self.look().await;
        }
    }

    async fn look(&mut self) {
        let (feeds, handled) = (Arc::clone(&self.feeds), self.handled.clone());
        let looked = tokio::task::spawn_blocking(move || look(&feeds, handled.as_ref())).await;
        match looked.map_err(io::Error::other) {
            Ok(Ok(None)) => {}
            Ok(Ok(Some((fingerprint, result)))) => {
                let name = name_of(&fingerprint.folder);
                self.handled = Some(fingerprint);
                match result {
                    Ok(publication) => self.put_in_force(publication),
                    Err(unsound) => self.refuse(Refused::new(name, &unsound)),
                }
            }
            // It is looked at again.
            Ok(Err(error)) | Err(error) => {
                let faults = vec![error.to_string()];
                self.refuse(Refused { name: CURRENT.to_owned(), count: 1, faults });
            }
        }
    }

    fn put_in_force(&self, publication: Publication) {
        let Publication { name, generated_at, made_for, .. } = &publication;
        tracing::info!(name, %generated_at, "the feeds change");
        if let Some(address) = made_for {
            tracing::warn!(
                address,
                "the links in the feeds lead to another address; build them with the public_url of this host"
            );
        }
        let in_force =
            InForce { name: name.clone(), generated_at: *generated_at, made_for: made_for.clone() };
        self.feeds.put_in_force(publication);
        self.feeds.tell(|status| {
            status.in_force = Some(in_force);
            status.refused = None;
        });
    }

    fn refuse(&self, refused: Refused) {
        if self.feeds.status().refused.as_ref() == Some(&refused) {
            return;
        }
        // Without their text: what is wrong can be that there is somebody's number in it.
        let Refused { name, count, .. } = &refused;
        tracing::warn!(
            name,
            count,
            "what was published is not put in force, and what was before stays; /readyz and `portolan feeds check` tell the faults"
        );
        self.feeds.tell(|status| status.refused = Some(refused));
    }
}

impl Refused {
    fn new(name: String, unsound: &Unsound) -> Self {
        match unsound {
            Unsound::Faulty(faults) => Self {
                name,
                count: faults.len(),
                faults: faults.iter().take(TOLD).map(ToString::to_string).collect(),
            },
            other => Self { name, count: 1, faults: vec![other.to_string()] },
        }
    }
}

/// What became of a publication that is not the one before.
type Looked = Option<(Fingerprint, Result<Publication, Unsound>)>;

fn look(feeds: &Feeds, handled: Option<&Fingerprint>) -> io::Result<Looked> {
    // Where the link leads at this moment: what is read then is one publication, whatever it is turned
    // to meanwhile.
    let folder = match feeds.options.folder.join(CURRENT).canonicalize() {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let fingerprint = Fingerprint::of(folder)?;
    if handled == Some(&fingerprint) {
        return Ok(None);
    }
    let files = publish::documents(&fingerprint.folder)?;
    let (before, now) = (feeds.current(), Timestamp::now());
    let name = name_of(&fingerprint.folder);
    let publication = Publication::new(name, &files, &feeds.options, before.as_deref(), now);
    // It takes a moment of the processor: this thread is for that.
    let publication = Handle::current().block_on(publication);
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
            let about = fs::metadata(&path)?;
            files.insert(path, (about.len(), about.mtime(), about.mtime_nsec(), about.ino()));
        }
        Ok(Self { folder, files })
    }
}

/// Tells of every change in the folder, which is where the link is.
fn watch_folder(folder: &Path, changed: mpsc::UnboundedSender<()>) -> Option<RecommendedWatcher> {
    let handler = move |event: notify::Result<notify::Event>| {
        if event.is_ok_and(|event| !event.kind.is_access()) {
            // The keeper may have stopped.
            let _stopped = changed.send(());
        }
    };
    let watching = notify::recommended_watcher(handler).and_then(|mut watcher| {
        watcher.watch(folder, RecursiveMode::NonRecursive)?;
        Ok(watcher)
    });
    watching
        .inspect_err(|error| tracing::warn!(%error, "changes of the feeds' folder are not told; looking every two seconds"))
        .ok()
}
