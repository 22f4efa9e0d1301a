//! Where a request comes from: the peer, or what trusted proxies say of it.

use crate::App;
use axum::{
    extract::{ConnectInfo, FromRequestParts},
    http::{HeaderMap, request::Parts},
};
use std::{
    convert::Infallible,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

/// The client's address; none where no connection is known, as within a test.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClientAddress(pub(super) Option<IpAddr>);

impl FromRequestParts<Arc<App>> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Infallible> {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
        Ok(Self(peer.map(|peer| app.proxies.client(peer, &parts.headers))))
    }
}

/// Networks of proxies that are believed.
#[derive(Debug, Clone, Default)]
pub struct Proxies(pub Vec<ipnet::IpNet>);

impl Proxies {
    /// The last address that no trusted proxy has; what stands before it, anybody may have written.
    fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut client = peer.to_canonical();
        let named = headers.get_all("x-forwarded-for").iter().filter_map(|it| it.to_str().ok());
        let named: Vec<&str> = named.flat_map(|list| list.split(',')).collect();
        for name in named.iter().rev() {
            if !self.0.iter().any(|network| network.contains(&client)) {
                break;
            }
            let Ok(address) = name.trim().parse::<IpAddr>() else { break };
            client = address.to_canonical();
        }
        client
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trusted_proxies_are_believed() {
        let proxies = Proxies(vec!["10.0.0.0/8".parse().unwrap()]);
        let client = |peer: &str, forwarded: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("x-forwarded-for", forwarded.parse().unwrap());
            proxies.client(peer.parse().unwrap(), &headers).to_string()
        };
        assert_eq!(client("198.51.100.7", "192.0.2.1"), "198.51.100.7");
        assert_eq!(client("10.0.0.1", "192.0.2.1"), "192.0.2.1");
        assert_eq!(client("10.0.0.1", "203.0.113.9, 192.0.2.1, 10.0.0.2"), "192.0.2.1");
        assert_eq!(client("10.0.0.1", "nonsense"), "10.0.0.1");
        assert_eq!(client("::ffff:10.0.0.1", "2001:db8::1"), "2001:db8::1");
    }
}
