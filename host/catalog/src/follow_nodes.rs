//! The task that records what this node serves, and follows what the other nodes of its database serve.
//!
//! An event reaches the subscribers of all nodes, and due work is left to a node that serves its capability. What a node
//! begins to serve, the others know within a second.

use crate::{
    capability::Capability,
    catalog::Catalog,
    elsewhere::{Elsewhere, NodeCatalog, ServedElsewhere},
    publish::fingerprint,
    snapshot::Snapshot,
};
use portolan_store::DbError;
use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::watch;

/// The interval in which the others are looked at.
const INTERVAL: Duration = Duration::from_secs(1);
/// The interval in which this node records that it runs.
const KEEP_INTERVAL: Duration = Duration::from_secs(60);

/// What this node has recorded, and what it knows of the others.
#[derive(Debug, Default)]
pub(super) struct KnownNodes {
    /// The snapshot whose fingerprint is recorded, and when the record was last kept.
    recorded: Option<(Arc<Snapshot>, Instant)>,
    /// The fingerprint and the capabilities of each other node.
    others: BTreeMap<String, (String, NodeCatalog)>,
}

impl Catalog {
    /// Returns the capability and the internal action of each subscriber, on any node, that may receive a type of event.
    /// `publisher` is the capability that publishes it; `None` if the host does.
    pub fn subscribers(
        &self,
        snapshot: &Snapshot,
        publisher: Option<&Capability>,
        event_type: &str,
    ) -> Vec<(String, String)> {
        let mut subscribers = snapshot.subscribers(publisher, event_type);
        let elsewhere = self.elsewhere.load();
        subscribers.extend(elsewhere.subscribers(snapshot, publisher, event_type));
        subscribers
    }

    /// Returns whether due work of a capability is left to other nodes: they serve it, and this one does not.
    pub fn leaves_to_others(&self, snapshot: &Snapshot, id: &str) -> bool {
        self.elsewhere.load().alone_serves(snapshot, id)
    }

    /// Records what this node serves and follows the other nodes, in a task, until `stop` changes. Returns when this
    /// node is recorded.
    pub(super) async fn follow_nodes(
        self: &Arc<Self>,
        mut known: KnownNodes,
        mut stop: watch::Receiver<bool>,
    ) {
        if self.store.system() == "sqlite" {
            return;
        }
        self.meet_nodes(&mut known).await;
        let catalog = Arc::clone(self);
        tokio::spawn(async move {
            let mut published = catalog.published.subscribe();
            loop {
                tokio::select! {
                    () = tokio::time::sleep(INTERVAL) => {}
                    _ = published.changed() => {}
                    _ = stop.changed() => return,
                }
                catalog.meet_nodes(&mut known).await;
            }
        });
    }

    async fn meet_nodes(&self, known: &mut KnownNodes) {
        let met = match self.record_node(known).await {
            Ok(()) => self.read_nodes(known).await,
            Err(error) => Err(error),
        };
        if let Err(error) = met {
            tracing::warn!(%error, "what the nodes of the database serve cannot be recorded or read");
        }
    }

    async fn record_node(&self, known: &mut KnownNodes) -> Result<(), DbError> {
        let snapshot = self.snapshot();
        let kept_at = match &known.recorded {
            Some((recorded, kept_at)) if Arc::ptr_eq(recorded, &snapshot) => Some(*kept_at),
            _ => None,
        };
        if let Some(kept_at) = kept_at {
            if kept_at.elapsed() >= KEEP_INTERVAL {
                let is_kept = self.store.keep_node_catalog().await?;
                known.recorded = is_kept.then(|| (snapshot, Instant::now()));
            }
            return Ok(());
        }
        let fingerprint = fingerprint(&snapshot.capabilities);
        let capabilities = snapshot.capabilities.values();
        let served: NodeCatalog =
            capabilities.map(|own| (own.id.to_string(), ServedElsewhere::of(own))).collect();
        let text = serde_json::to_string(&served).unwrap_or_default();
        self.store.put_node_catalog(&fingerprint, &text).await?;
        known.recorded = Some((snapshot, Instant::now()));
        Ok(())
    }

    /// Reads what the other nodes serve, as far as it has changed.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be read.
    pub(super) async fn read_nodes(&self, known: &mut KnownNodes) -> Result<(), DbError> {
        let nodes = self.store.other_nodes().await?;
        let before = known.others.len();
        known.others.retain(|node, _| nodes.iter().any(|(other, _)| other == node));
        let mut has_changed = known.others.len() != before;
        for (node, fingerprint) in nodes {
            if known.others.get(&node).is_some_and(|(read, _)| *read == fingerprint) {
                continue;
            }
            let text = self.store.node_catalog(&node).await?.unwrap_or_default();
            let served = serde_json::from_str(&text).unwrap_or_default();
            known.others.insert(node, (fingerprint, served));
            has_changed = true;
        }
        if has_changed {
            let catalogs = known.others.values().map(|(_, served)| served);
            self.elsewhere.store(Arc::new(Elsewhere::of(catalogs)));
        }
        Ok(())
    }
}
