//! The public feeds as they are in force: read from their folder, judged, packed once, and replaced as a
//! whole. A publication that is not sound never takes the place of one that is.

mod description;
mod discovery;
mod document;
mod held;
mod keeper;
mod places;
mod provider;
mod publication;
pub mod records;
mod status;

pub use document::{Body, Coding, Document};
pub use held::Held;
pub use places::{Place, paths};
pub use provider::Provider;
pub use publication::Publication;
pub use status::{InForce, Refused, Status};

use crate::records::Shelf;
use arc_swap::ArcSwapOption;
use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::watch;

/// What the host tells of itself beside the feeds.
#[derive(Debug, Clone)]
pub struct About {
    /// Where agents reach this host, without a slash at the end.
    pub public_url: String,
    pub mcp_url: String,
    pub scopes: Vec<&'static str>,
    pub provider: Provider,
}

/// Where the feeds are published, and who serves them.
#[derive(Debug)]
pub struct FeedsOptions {
    pub folder: PathBuf,
    pub about: About,
    /// Where their records are kept for searches.
    pub records: Shelf,
}

/// The publication in force.
#[derive(Debug)]
pub struct Feeds {
    current: ArcSwapOption<Publication>,
    /// How many there were, for those who wait for the next one.
    number: watch::Sender<u64>,
    status: Mutex<Status>,
    options: FeedsOptions,
}

impl Feeds {
    /// Reads what is published and goes on watching the folder until `stop` is told. The folder need not
    /// be there yet.
    pub async fn start(options: FeedsOptions, stop: watch::Receiver<bool>) -> Arc<Self> {
        let feeds = Arc::new(Self {
            current: ArcSwapOption::empty(),
            number: watch::Sender::new(0),
            status: Mutex::default(),
            options,
        });
        keeper::Keeper::start(Arc::clone(&feeds), stop).await;
        feeds
    }

    /// The publication of this moment, if there is one. Hold on to it for one request.
    pub fn current(&self) -> Option<Arc<Publication>> {
        self.current.load_full()
    }

    /// Tells of each next publication.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.number.subscribe()
    }

    /// What is in force, and what was refused and why.
    pub fn status(&self) -> Status {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn put_in_force(&self, publication: Publication) {
        self.current.store(Some(Arc::new(publication)));
        self.number.send_modify(|number| *number += 1);
    }

    fn tell(&self, change: impl FnOnce(&mut Status)) {
        change(&mut self.status.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
