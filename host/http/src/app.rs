//! The state that every handler can reach.

use crate::{
    assets::icon_path,
    change_streams::ChangeStreams,
    compressed::CompressedDocuments,
    connections::Connections,
    database_sample::DatabaseSample,
    descriptions::Descriptions,
    downloads::Downloads,
    guide,
    map_settings::MapSettings,
    node::{NodeHealth, NodePlaces},
    operator::OperatorAccess,
    page_cache::PageCache,
    proxies::Proxies,
    request_meters::RequestMeters,
    status_board::StatusBoard,
};
use portolan_mcp::{Mcp, McpSettings};
use portolan_pipeline::Host;
use std::sync::Arc;
use tokio::sync::watch;

/// The state that every handler can reach.
#[derive(Debug)]
pub struct App {
    pub host: Arc<Host>,
    /// The address of this host for agents, without a trailing slash.
    pub public_url: String,
    /// The proxies whose `X-Forwarded-For` is trusted for the address that a request comes from.
    pub proxies: Proxies,
    /// The open connections of agents.
    pub connections: Arc<Connections>,
    /// The rules for requests to the operator's address.
    pub operator: Arc<OperatorAccess>,
    /// The OpenAPI descriptions of the catalog's pages.
    pub(super) openapi: Descriptions,
    /// The catalog's documents and the OpenAPI description in compressed codings.
    pub(super) compressed: CompressedDocuments,
    /// The pages about records of the feeds and about capabilities.
    pub(super) pages: PageCache,
    /// The open streams of changes of the feeds.
    pub(super) change_streams: Arc<ChangeStreams>,
    /// The downloads of people that run now.
    pub(super) downloads: Downloads,
    /// The state of this node.
    pub(super) node: NodeHealth,
    /// The state that the public status page shows.
    pub(super) status: StatusBoard,
    /// The durations of requests.
    pub(super) requests: RequestMeters,
    /// The metrics' sample of the database.
    pub(super) database: DatabaseSample,
    pub mcp: Arc<Mcp>,
    /// The operator's settings for the map page.
    pub(super) map: MapSettings,
}

impl App {
    /// Makes the state of a host that is reached at `public_url`.
    pub fn new(
        host: Arc<Host>,
        public_url: String,
        proxies: Proxies,
        operator: OperatorAccess,
        places: NodePlaces,
        settings: McpSettings,
        map: MapSettings,
    ) -> Arc<Self> {
        let operator = Arc::new(operator);
        let connections = Connections::of_agents(host.sandbox.limits(), proxies.clone());
        let pages = guide::pages(&host, &public_url);
        let icon_url = format!("{public_url}{}", icon_path());
        let mcp = Mcp::new(Arc::clone(&host), public_url.clone(), icon_url, pages, settings);
        let openapi = Descriptions::new();
        let compressed = CompressedDocuments::new();
        let status = StatusBoard::new(host.clock.now());
        let node = NodeHealth::new(places, host.clock.now());
        Arc::new(Self {
            host,
            public_url,
            proxies,
            connections,
            operator,
            openapi,
            compressed,
            pages: PageCache::new(),
            change_streams: Arc::default(),
            downloads: Downloads::default(),
            node,
            status,
            requests: RequestMeters::new(),
            database: DatabaseSample::default(),
            mcp,
            map,
        })
    }

    /// Checks this node once, so that the probes know its state.
    pub async fn check_node(&self) {
        self.node.check(&self.host).await;
    }

    /// Checks this node every few seconds, until `stop` becomes true.
    pub async fn watch_node(self: Arc<Self>, stop: watch::Receiver<bool>) {
        self.node.watch(&self.host, stop).await;
    }

    /// Observes what the public status page shows, until `stop` becomes true.
    pub async fn watch_status(self: Arc<Self>, stop: watch::Receiver<bool>) {
        self.status.watch(&self.host, stop).await;
    }
}
