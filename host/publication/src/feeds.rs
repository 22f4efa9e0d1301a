//! The publication in force.

use crate::{options::FeedsOptions, publication::Publication, status::Status};
use arc_swap::ArcSwapOption;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// The publication in force, and the status of the folder. `Feeds::start` is in `updater`.
#[derive(Debug)]
pub struct Feeds {
    current: ArcSwapOption<Publication>,
    /// How many publications there were, for those who wait for the next one.
    number: watch::Sender<u64>,
    status: Mutex<Status>,
    pub(crate) options: FeedsOptions,
}

impl Feeds {
    pub(crate) fn new(options: FeedsOptions) -> Self {
        Self {
            current: ArcSwapOption::empty(),
            number: watch::Sender::new(0),
            status: Mutex::default(),
            options,
        }
    }

    /// Returns the publication in force, if there is one. Hold on to it for one request.
    pub fn current(&self) -> Option<Arc<Publication>> {
        self.current.load_full()
    }

    /// Returns a receiver that is notified of each next publication.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.number.subscribe()
    }

    /// Returns what is in force, and what was refused and why.
    pub fn status(&self) -> Status {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn put_in_force(&self, publication: Publication) {
        self.current.store(Some(Arc::new(publication)));
        self.number.send_modify(|number| *number += 1);
    }

    pub(crate) fn update_status(&self, change: impl FnOnce(&mut Status)) {
        change(&mut self.status.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
