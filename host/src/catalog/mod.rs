//! What this host can do at this moment: files of the catalog folder become capabilities, and
//! capabilities become the next snapshot. A bad file never hurts the good ones.

mod breaking;
mod capability;
mod check;
mod documents;
mod file;
mod folder;
mod keeper;
mod load;
mod refusal;
mod schema;
mod snapshot;
mod status;

pub use capability::{Action, Capability, Input, Selected};
pub use check::Problem;
pub use documents::{Document, branch};
pub use load::{Grants, Inspection, inspect};
pub use refusal::LoadError;
pub use schema::{Schema, hoist};
pub use snapshot::{Service, Snapshot};
pub use status::{Change, Loaded, Refused, Status};

use crate::{
    db::{CatalogState, DbError, Store},
    sandbox::Sandbox,
    vocabulary::{Digest, Timestamp},
};
use arc_swap::ArcSwap;
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

/// What a catalog is made from.
#[derive(Debug, Clone)]
pub struct CatalogOptions {
    pub folder: PathBuf,
    pub grants: Grants,
    pub service: Service,
}

/// The live catalog.
#[derive(Debug)]
pub struct Catalog {
    snapshot: ArcSwap<Snapshot>,
    status: Mutex<Status>,
    sandbox: Arc<Sandbox>,
    store: Store,
    options: CatalogOptions,
    since: Mutex<BTreeMap<String, Timestamp>>,
}

impl Catalog {
    /// Loads what is in the folder and goes on watching it until `stop` is told.
    pub async fn start(
        sandbox: Arc<Sandbox>,
        store: Store,
        options: CatalogOptions,
        stop: tokio::sync::watch::Receiver<bool>,
    ) -> anyhow::Result<Arc<Self>> {
        sandbox.clean_artifacts();
        let since = store.list_catalog_since().await?;
        let state = store.lookup_catalog_state().await?;
        let (version, changed_at) = state.as_ref().map_or_else(
            || (0, options.service.started_at),
            |state| (state.version, state.changed_at),
        );
        let empty = Snapshot::new(&options.service, version, changed_at, BTreeMap::new(), &since);
        let catalog = Arc::new(Self {
            snapshot: ArcSwap::from_pointee(empty),
            status: Mutex::default(),
            sandbox,
            store,
            options,
            since: Mutex::new(since),
        });
        let fingerprint = state.map(|state| state.fingerprint);
        keeper::Keeper::start(Arc::clone(&catalog), fingerprint, stop).await?;
        Ok(catalog)
    }

    /// The capabilities of this moment. Hold on to it for one request.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// What is loaded, what was refused and why, and what changed lately.
    pub fn status(&self) -> Status {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes these capabilities the catalog. The version counts up if they differ from the last.
    async fn publish(
        &self,
        capabilities: BTreeMap<Arc<str>, Arc<Capability>>,
        last: Option<&str>,
    ) -> String {
        let fingerprint = fingerprint(&capabilities);
        let current = self.snapshot.load_full();
        let (mut version, mut changed_at) = (current.version, Timestamp::now());
        if last == Some(fingerprint.as_str()) {
            changed_at = self.last_change().await.unwrap_or(changed_at);
        } else {
            version += 1;
            let state = CatalogState { version, fingerprint: fingerprint.clone(), changed_at };
            if let Err(error) = self.record(&state, &capabilities).await {
                tracing::error!(%error, "the catalog's version is not recorded; it may count from an older one after a restart");
            }
        }
        let since = self.since.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let next = Snapshot::new(&self.options.service, version, changed_at, capabilities, &since);
        self.snapshot.store(Arc::new(next));
        fingerprint
    }

    async fn last_change(&self) -> Option<Timestamp> {
        let state = self.store.lookup_catalog_state().await.ok()??;
        Some(state.changed_at)
    }

    async fn record(
        &self,
        state: &CatalogState,
        capabilities: &BTreeMap<Arc<str>, Arc<Capability>>,
    ) -> Result<(), DbError> {
        let added: Vec<&str> = {
            let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
            let new = capabilities.keys().filter(|id| !since.contains_key(&***id));
            let added: Vec<_> = new.map(|id| &**id).collect();
            since.extend(added.iter().map(|id| ((*id).to_owned(), state.changed_at)));
            added
        };
        self.store.put_catalog_state(state, &added).await
    }
}

fn fingerprint(capabilities: &BTreeMap<Arc<str>, Arc<Capability>>) -> String {
    let text: String =
        capabilities.values().map(|it| format!("{} {}\n", it.id, it.digest)).collect();
    Digest::of(text.as_bytes()).hex()
}
