//! The address of a request's client: the peer's, or the one that trusted proxies name.

use crate::App;
use axum::{
    extract::{ConnectInfo, FromRequestParts},
    http::request::Parts,
};
use std::{
    convert::Infallible,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

/// The client's address; `None` if the request has no peer address, as at a Unix socket and in
/// tests.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClientAddress(pub(super) Option<IpAddr>);

impl FromRequestParts<Arc<App>> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Infallible> {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
        Ok(Self(peer.map(|peer| app.proxies.client_address(peer, &parts.headers))))
    }
}
