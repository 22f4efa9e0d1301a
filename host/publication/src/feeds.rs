//! The current publication.

use crate::{
    entries::entries,
    forms::form_paths,
    options::{FeedsOptions, HostDescription},
    publication::Publication,
    snapshots::Snapshots,
    status::Status,
};
use arc_swap::ArcSwapOption;
use portolan_feeds::{Roads, document::INDEX};
use portolan_vocabulary::{ErrorCode, Failure};
use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::watch;

/// The seconds after which feeds may have been published.
const RETRY_AFTER_S: u32 = 60;

/// Returns the failure of a request that needs feeds while none are published.
pub fn no_feeds() -> Failure {
    let message = "No feeds are published here yet, and this needs them. The operator builds them with `portolan feeds build`, into the folder of the setting `feeds_dir`. Everything that does not need the map works meanwhile.";
    Failure::new(ErrorCode::DependencyUnavailable).message(message).after_s(RETRY_AFTER_S)
}

/// The feeds of one city: the current publication, and the status, which publication is current and which was refused.
/// `Feeds::start` is in the module `updater`.
#[derive(Debug)]
pub struct Feeds {
    current: ArcSwapOption<Publication>,
    /// The number of publications so far, for readers that wait for the next one.
    generation: watch::Sender<u64>,
    status: Mutex<Status>,
    /// The documents of earlier days.
    pub snapshots: Snapshots,
    pub(crate) options: FeedsOptions,
}

impl Feeds {
    pub(crate) fn new(options: FeedsOptions) -> Self {
        Self {
            current: ArcSwapOption::empty(),
            generation: watch::Sender::new(0),
            status: Mutex::default(),
            snapshots: Snapshots::new(options.folder.clone()),
            options,
        }
    }

    /// Returns the current publication, if there is one. Keep it for one request only.
    pub fn current(&self) -> Option<Arc<Publication>> {
        self.current.load_full()
    }

    /// Returns where the city is served.
    pub fn roads(&self) -> &Roads {
        &self.options.roads
    }

    /// Returns the folder in which the feeds are published.
    pub fn folder(&self) -> &Path {
        &self.options.folder
    }

    /// Returns the path of the index, with which readers begin.
    pub fn index_path(&self) -> String {
        self.roads().path(INDEX)
    }

    /// Returns the paths of all documents, below the public address.
    pub fn paths(&self) -> impl Iterator<Item = String> {
        entries(self.roads()).into_iter().map(|entry| entry.path.clone())
    }

    /// Returns the paths of all other forms of the feeds.
    pub fn form_paths(&self) -> impl Iterator<Item = String> {
        form_paths(self.roads())
    }

    /// Returns whether a path is below that of the city.
    pub fn is_at(&self, path: &str) -> bool {
        path.strip_prefix(&*self.roads().map).is_some_and(|rest| rest.starts_with('/'))
    }

    /// Returns the host's description of itself.
    pub fn host(&self) -> &HostDescription {
        &self.options.host
    }

    /// Returns a receiver that is notified of each next publication.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.generation.subscribe()
    }

    /// Returns the status: the current publication, and the refused one with its faults.
    pub fn status(&self) -> Status {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn publish(&self, publication: Publication) {
        self.current.store(Some(Arc::new(publication)));
        self.snapshots.forget();
        self.generation.send_modify(|generation| *generation += 1);
    }

    pub(crate) fn update_status(&self, change: impl FnOnce(&mut Status)) {
        change(&mut self.status.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
