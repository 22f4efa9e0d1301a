//! What this host can do at this moment: files of the catalog folder become capabilities, and
//! capabilities become the next snapshot. A bad file never hurts the good ones.

mod breaking;
mod capability;
mod check;
mod difference;
mod documents;
mod file;
mod folder;
mod keeper;
mod load;
mod reference;
mod refusal;
mod schema;
mod snapshot;
mod status;
mod tool;

pub use capability::{Action, Capability, Input, Selected};
pub use check::Problem;
pub use documents::{Document, branch};
pub use load::{Grants, Inspection, inspect};
pub use reference::Reference;
pub use refusal::LoadError;
pub use schema::{Schema, hoist};
pub use snapshot::{Service, Snapshot};
pub use status::{Change, Loaded, Refused, Status};
pub use tool::ToolSchemas;

use arc_swap::ArcSwap;
use difference::difference;
use portolan_sandbox::Sandbox;
use portolan_store::{Attachments, Audience, CatalogState, DbError, NewEvent, Served, Store, Unit};
use portolan_vocabulary::{CATALOG_CHANGED, Digest, Timestamp};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::watch;

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
    /// The version of the snapshot, for those who wait for the next one.
    version: watch::Sender<u64>,
    status: Mutex<Status>,
    sandbox: Arc<Sandbox>,
    store: Store,
    options: CatalogOptions,
    /// What is and was served.
    served: Mutex<BTreeMap<String, Served>>,
}

impl Catalog {
    /// Loads what is in the folder and goes on watching it until `stop` is told.
    pub async fn start(
        sandbox: Arc<Sandbox>,
        store: Store,
        options: CatalogOptions,
        stop: watch::Receiver<bool>,
    ) -> anyhow::Result<Arc<Self>> {
        sandbox.clean_artifacts();
        let served = store.list_served().await?;
        let state = store.find_catalog_state().await?;
        let (version, changed_at) = state.as_ref().map_or_else(
            || (0, options.service.started_at),
            |state| (state.version, state.changed_at),
        );
        let empty = Snapshot::new(&options.service, version, changed_at, BTreeMap::new(), &served);
        let catalog = Arc::new(Self {
            snapshot: ArcSwap::from_pointee(empty),
            version: watch::Sender::new(version),
            status: Mutex::default(),
            sandbox,
            store,
            options,
            served: Mutex::new(served),
        });
        keeper::Keeper::start(Arc::clone(&catalog), stop).await?;
        Ok(catalog)
    }

    /// The capabilities of this moment. Hold on to it for one request.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// Tells of each next snapshot.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    /// What is loaded, what was refused and why, and what changed lately.
    pub fn status(&self) -> Status {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes these capabilities the catalog. The version counts up if they differ from what was served
    /// last, here or on another node, and then everyone who listens is told.
    async fn publish(&self, capabilities: BTreeMap<Arc<str>, Arc<Capability>>) {
        let fingerprint = fingerprint(&capabilities);
        let current = self.snapshot.load_full();
        let last = self.store.find_catalog_state().await.ok().flatten();
        let newest = last.as_ref().map_or(0, |last| last.version).max(current.version);
        let recorded = last.filter(|last| last.fingerprint == fingerprint);
        let (version, changed_at) = match &recorded {
            Some(last) => (last.version, last.changed_at),
            None => (newest + 1, Timestamp::now()),
        };
        let before = self.served.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let served = served(&before, &capabilities, changed_at);
        let next = Snapshot::new(&self.options.service, version, changed_at, capabilities, &served);
        let changes = difference(&before, &served, &current, &next);
        let state = CatalogState { version, fingerprint, changed_at };
        let subscribers = next.subscribers(CATALOG_CHANGED);
        self.snapshot.store(Arc::new(next));
        self.version.send_replace(version);
        if recorded.is_none()
            && let Err(error) = self.record(&state, &served, &changes, subscribers).await
        {
            tracing::error!(%error, "the catalog's version is not recorded; it may count from an older one after a restart");
        }
        *self.served.lock().unwrap_or_else(PoisonError::into_inner) = served;
    }

    /// Tells first and records then: what was told twice does less harm than what was not told.
    async fn record(
        &self,
        state: &CatalogState,
        served: &BTreeMap<String, Served>,
        changes: &Value,
        subscribers: Vec<(String, String)>,
    ) -> Result<(), DbError> {
        let mut unit = Unit::new(self.store.clone(), state.changed_at);
        let (audience, now) = (Audience::Listeners, state.changed_at);
        let event = NewEvent::of_host(CATALOG_CHANGED, "catalog", audience, changes, now);
        unit.publish(NewEvent { subscribers, ..event });
        unit.commit(Attachments::default()).await.map_err(DbError::Shared)?;
        self.store.put_catalog_state(state, served).await
    }
}

/// What is served now, and what was before.
fn served(
    before: &BTreeMap<String, Served>,
    capabilities: &BTreeMap<Arc<str>, Arc<Capability>>,
    now: Timestamp,
) -> BTreeMap<String, Served> {
    let mut served = before.clone();
    served.values_mut().for_each(|it| it.version = None);
    for capability in capabilities.values() {
        let entry = served.entry(capability.id.to_string());
        let entry = entry.or_insert(Served { since: now, version: None });
        // With its digest, so that another component of the same version counts as another one.
        entry.version = Some(format!("{} {}", capability.descriptor.version, capability.digest));
    }
    served
}

fn fingerprint(capabilities: &BTreeMap<Arc<str>, Arc<Capability>>) -> String {
    let text: String =
        capabilities.values().map(|it| format!("{} {}\n", it.id, it.digest)).collect();
    Digest::of(text.as_bytes()).hex()
}
