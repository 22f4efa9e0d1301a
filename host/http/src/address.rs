//! The address of a request's client: the peer's, or the one that trusted proxies name.

use crate::App;
use axum::{
    extract::{ConnectInfo, FromRef, FromRequestParts},
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

impl<S: Send + Sync> FromRequestParts<S> for ClientAddress
where
    Arc<App>: FromRef<S>,
{
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let app = Arc::<App>::from_ref(state);
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
        Ok(Self(peer.map(|peer| app.proxies.client_address(peer, &parts.headers))))
    }
}
