//! The Streamable HTTP transport: allowed hosts and origins, and the sessions of MCP before 2026-07-28.

use crate::{Mcp, Server, sessions::KeptSessions, settings::LOOPBACK};
use rmcp::{
    ServerHandler,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use std::{sync::Arc, time::Duration};
use url::Url;

/// The HTTP service of the endpoint.
pub type Service<S> = StreamableHttpService<S, LocalSessionManager>;

/// An idle session ends after this time.
pub const SESSION_IDLE: Duration = Duration::from_secs(30 * 60);

impl Mcp {
    /// Returns the service, for requests that crate `http` has admitted. A program that is built on this
    /// host can wrap each server with `wrap`, to add tools; calls of the catalog's tools may not reach it.
    pub fn service<S: ServerHandler + Send + 'static>(
        self: &Arc<Self>,
        wrap: impl Fn(Server) -> S + Send + Sync + 'static,
    ) -> Service<S> {
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(SESSION_IDLE);
        let mcp = Arc::clone(self);
        let server = move || Ok(wrap(Server::new(Arc::clone(&mcp))));
        StreamableHttpService::new(server, Arc::new(sessions), self.config())
    }

    fn config(&self) -> StreamableHttpServerConfig {
        let url = Url::parse(&self.public_url).ok();
        let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
        let port = url.as_ref().and_then(Url::port_or_known_default).unwrap_or_default();
        let scheme = url.as_ref().map(Url::scheme).unwrap_or_default();
        // A host with a loopback address can be reached by each name of the local machine.
        let local = LOOPBACK.contains(&host).then_some(LOOPBACK).into_iter().flatten();
        let origins = self.settings.origins.iter().cloned();
        let origins = origins.chain([format!("{scheme}://{host}:{port}")]);
        let origins = origins.chain(local.map(|host| format!("http://{host}:*")));
        let mut config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(self.hosts.iter().cloned())
            .with_allowed_origins(origins)
            .enforce_origin_validation()
            .with_json_response(true)
            .with_max_request_body_bytes(self.host.sandbox.limits().call_input_bytes as usize);
        config.session_store = Some(Arc::new(KeptSessions(Arc::clone(&self.host))));
        config
    }
}
