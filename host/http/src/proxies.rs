//! Trusted proxies, whose `X-Forwarded-For` names the client's address.

use axum::http::HeaderMap;
use std::net::IpAddr;

/// The networks of trusted proxies.
#[derive(Debug, Clone, Default)]
pub struct Proxies(pub Vec<ipnet::IpNet>);

impl Proxies {
    pub(super) fn contain(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }

    /// Returns the client's address: the peer, or, if that is a trusted proxy, the last address of
    /// `X-Forwarded-For` that is not one. The addresses before that may be forged. An address that cannot be
    /// parsed ends the search.
    pub(super) fn client_address(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut client = peer.to_canonical();
        let forwarded =
            headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
        let forwarded: Vec<&str> = forwarded.flat_map(|list| list.split(',')).collect();
        for entry in forwarded.iter().rev() {
            if !self.contain(client) {
                break;
            }
            let Ok(address) = entry.trim().parse::<IpAddr>() else { break };
            client = address.to_canonical();
        }
        client
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trusted_proxies_name_the_client() {
        let proxies = Proxies(vec!["10.0.0.0/8".parse().unwrap()]);
        let client = |peer: &str, forwarded: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("x-forwarded-for", forwarded.parse().unwrap());
            proxies.client_address(peer.parse().unwrap(), &headers).to_string()
        };
        assert_eq!(client("198.51.100.7", "192.0.2.1"), "198.51.100.7");
        assert_eq!(client("10.0.0.1", "192.0.2.1"), "192.0.2.1");
        assert_eq!(client("10.0.0.1", "203.0.113.9, 192.0.2.1, 10.0.0.2"), "192.0.2.1");
        assert_eq!(client("10.0.0.1", "nonsense"), "10.0.0.1");
        assert_eq!(client("::ffff:10.0.0.1", "2001:db8::1"), "2001:db8::1");
    }
}
