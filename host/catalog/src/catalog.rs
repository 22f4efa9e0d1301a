//! The live catalog: the current snapshot, its status, and the record of capabilities that were served.

use crate::{
    candidate::Waiting,
    elsewhere::Elsewhere,
    failures::Failures,
    permission::Grants,
    publishing::{Installation, PublishSettings},
    snapshot::{Releases, Service, Snapshot},
    status::Status,
    trust::Trust,
};
use arc_swap::ArcSwap;
use portolan_sandbox::Sandbox;
use portolan_store::{DbError, ServedCapability, Store};
use portolan_vocabulary::{Clock, Roles};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};
use tokio::sync::{Notify, mpsc, watch};

/// The options of a catalog.
#[derive(Debug, Clone)]
pub struct CatalogOptions {
    pub folder: PathBuf,
    /// The file in which a start notes what it loads.
    pub start_note: PathBuf,
    /// The file in which components are noted that cannot be compiled or do not describe themselves.
    pub failures: PathBuf,
    /// The file in which this node notes which published versions it has installed.
    pub installation_note: PathBuf,
    pub publishing: PublishSettings,
    /// The permissions that the configuration grants.
    pub grants: Grants,
    pub trust: Trust,
    pub roles: Roles,
    pub service: Service,
    pub clock: Clock,
}

/// The live catalog.
#[derive(Debug)]
pub struct Catalog {
    pub(super) snapshot: ArcSwap<Snapshot>,
    /// What other nodes of the database serve.
    pub(super) elsewhere: ArcSwap<Elsewhere>,
    /// The version of the snapshot, for those who wait for the next one.
    pub(super) version: watch::Sender<u64>,
    /// Sends after each snapshot, also where it has the version of the one before it.
    pub(super) published: watch::Sender<()>,
    /// The number of releases that this node has aborted by a rule since its start.
    pub(super) aborted_releases: AtomicU64,
    pub(super) sandbox: Arc<Sandbox>,
    pub(super) store: Store,
    pub(super) options: CatalogOptions,
    pub(super) failures: Failures,
    /// Wakes the keeper after a decision of the operator.
    pub(super) decided: Notify,
    /// The channel through which the keeper gets the components that it is to install.
    pub(super) installations: mpsc::UnboundedSender<Installation>,
    status: Mutex<Status>,
    /// The permissions that the configuration and recorded decisions grant.
    grants: Mutex<Grants>,
    waiting: Mutex<Vec<Waiting>>,
    /// The record of every capability that is or was served, by id.
    served: Mutex<BTreeMap<String, ServedCapability>>,
}

impl Catalog {
    /// Creates a catalog without capabilities, with the version and the history of the store.
    pub(super) async fn load(
        sandbox: Arc<Sandbox>,
        store: Store,
        options: CatalogOptions,
        installations: mpsc::UnboundedSender<Installation>,
    ) -> Result<Self, DbError> {
        let served = store.list_served().await?;
        let state = store.find_catalog_state().await?;
        let (version, changed_at) = state.as_ref().map_or_else(
            || (0, options.service.started_at),
            |state| (state.version, state.changed_at),
        );
        let empty = Snapshot::new(
            &options.service,
            (options.roles.clone(), options.grants.clone()),
            (version, changed_at),
            (BTreeMap::new(), Releases::new()),
            &served,
        );
        Ok(Self {
            snapshot: ArcSwap::from_pointee(empty),
            elsewhere: ArcSwap::default(),
            version: watch::Sender::new(version),
            published: watch::Sender::new(()),
            aborted_releases: AtomicU64::new(0),
            sandbox,
            store,
            decided: Notify::new(),
            installations,
            status: Mutex::default(),
            grants: Mutex::new(options.grants.clone()),
            waiting: Mutex::default(),
            failures: Failures::open(&options.failures),
            options,
            served: Mutex::new(served),
        })
    }

    /// Returns the current snapshot. A request keeps one snapshot until its end.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// Returns the catalog folder.
    pub fn folder(&self) -> &Path {
        &self.options.folder
    }

    /// Returns which capability is assigned to each role.
    pub fn roles(&self) -> &Roles {
        &self.options.roles
    }

    /// Returns a channel that receives the version of each next snapshot.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    /// Returns the number of releases that this node has aborted by a rule since its start.
    pub fn aborted_releases(&self) -> u64 {
        self.aborted_releases.load(Relaxed)
    }

    /// Returns what is loaded, what was refused and why, and what changed lately.
    pub fn status(&self) -> Status {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_status(&self, status: Status) {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = status;
    }

    pub(super) fn grants(&self) -> Grants {
        self.grants.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_grants(&self, grants: Grants) {
        *self.grants.lock().unwrap_or_else(PoisonError::into_inner) = grants;
    }

    pub(super) fn waiting(&self) -> Vec<Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_waiting(&self, waiting: Vec<Waiting>) {
        *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) = waiting;
    }

    pub(super) fn served(&self) -> BTreeMap<String, ServedCapability> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_served(&self, served: BTreeMap<String, ServedCapability>) {
        *self.served.lock().unwrap_or_else(PoisonError::into_inner) = served;
    }
}
