//! The start of a catalog.

use crate::{
    catalog::{Catalog, CatalogOptions},
    keeper::Keeper,
};
use portolan_sandbox::Sandbox;
use portolan_store::Store;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

impl Catalog {
    /// Loads what is in the folder, then watches the folder until the value of `stop` changes.
    pub async fn start(
        sandbox: Arc<Sandbox>,
        store: Store,
        options: CatalogOptions,
        stop: watch::Receiver<bool>,
    ) -> anyhow::Result<Arc<Self>> {
        let (installations, requests) = mpsc::unbounded_channel();
        let catalog = Arc::new(Self::load(sandbox, store, options, installations).await?);
        Keeper::start(Arc::clone(&catalog), requests, stop).await?;
        Ok(catalog)
    }
}
