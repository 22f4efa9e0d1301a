//! Requests to addresses that others name: only to public ones, judged when the connection is made, so
//! that a name cannot mean another address by then.
//!
//! The system resolves names; what it answers is filtered before anything is connected to.

use ipnet::IpNet;
use reqwest::{
    Client,
    dns::{Addrs, Name, Resolve, Resolving},
    header::ACCEPT,
    redirect::Policy,
};
use std::{
    net::{IpAddr, Ipv6Addr, SocketAddr},
    sync::{Arc, LazyLock},
    time::Duration,
};
use url::{Host, Url};

/// For one request, its answer included.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is no address of the public Internet (IANA's registries of special-purpose addresses).
const NOT_PUBLIC: [&str; 31] = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "::/128",
    "::1/128",
    "64:ff9b::/96",
    "64:ff9b:1::/48",
    "100::/64",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
    "5f00::/16",
    "fc00::/7",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
    "::/96",
    "::ffff:0:0/96",
];

static RANGES: LazyLock<Vec<IpNet>> =
    LazyLock::new(|| NOT_PUBLIC.iter().filter_map(|range| range.parse().ok()).collect());

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OutgoingError {
    #[error("the address is not https")]
    NotHttps,
    #[error("the address is not a public one")]
    NotPublic,
    #[error("the server does not answer")]
    Away,
    #[error("the server answers {0}")]
    Status(u16),
    #[error("the answer is not JSON")]
    NotJson,
    #[error("the answer is too large")]
    TooLarge,
}

/// Asks servers that others name.
#[derive(Debug, Clone)]
pub struct Outgoing {
    client: Client,
    guard: Guard,
}

/// Which addresses may be connected to.
#[derive(Debug, Clone)]
struct Guard {
    /// Ranges that are not public and allowed all the same.
    allowed: Arc<[IpNet]>,
}

impl Guard {
    fn lets(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let within = |range: &IpNet| range.contains(&address);
        self.allowed.iter().any(within) || !RANGES.iter().any(within)
    }
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.clone();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let public: Vec<SocketAddr> = found.filter(|it| guard.lets(it.ip())).collect();
            match public.is_empty() {
                true => Err(OutgoingError::NotPublic.into()),
                false => Ok(Box::new(public.into_iter()) as Addrs),
            }
        })
    }
}

impl Outgoing {
    /// `allowed` are ranges of addresses that may be asked although they are not public.
    pub fn new(allowed: &[IpNet]) -> Result<Self, reqwest::Error> {
        // Another part of the process may have chosen one already.
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let guard = Guard { allowed: Arc::from(allowed) };
        let client = Client::builder()
            .timeout(PATIENCE)
            .redirect(Policy::none())
            .no_proxy()
            .https_only(true)
            .dns_resolver(Arc::new(guard.clone()))
            .build()?;
        Ok(Self { client, guard })
    }

    /// The JSON at an address, at most so many bytes of it.
    pub async fn get_json(&self, address: &str, most: usize) -> Result<Vec<u8>, OutgoingError> {
        let url = Url::parse(address).map_err(|_| OutgoingError::NotHttps)?;
        if url.scheme() != "https" {
            return Err(OutgoingError::NotHttps);
        }
        // An address that is a number is not resolved, so it does not pass the guard on its way.
        let number = match url.host() {
            Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
            Some(Host::Ipv6(address)) => Some(IpAddr::V6(Ipv6Addr::from(address.octets()))),
            _ => None,
        };
        if number.is_some_and(|address| !self.guard.lets(address)) {
            return Err(OutgoingError::NotPublic);
        }
        let request = self.client.get(url).header(ACCEPT, "application/json");
        let mut response = request.send().await.map_err(|error| reason(&error))?;
        if !response.status().is_success() {
            return Err(OutgoingError::Status(response.status().as_u16()));
        }
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await.map_err(|_| OutgoingError::Away)? {
            body.extend_from_slice(&part);
            if body.len() > most {
                return Err(OutgoingError::TooLarge);
            }
        }
        match serde_json::from_slice::<serde::de::IgnoredAny>(&body) {
            Ok(_) => Ok(body),
            Err(_) => Err(OutgoingError::NotJson),
        }
    }
}

/// The guard's own refusal, if that is at the bottom of it.
fn reason(error: &reqwest::Error) -> OutgoingError {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(own) = error.downcast_ref::<OutgoingError>() {
            return own.clone();
        }
        cause = error.source();
    }
    OutgoingError::Away
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_range_is_one() {
        assert_eq!(RANGES.len(), NOT_PUBLIC.len());
    }

    #[test]
    fn only_public_addresses_are_let_through() {
        let guard = Guard { allowed: Arc::from([]) };
        for address in ["1.1.1.1", "93.184.216.34", "2606:4700::1111"] {
            assert!(guard.lets(address.parse().unwrap()), "{address}");
        }
        for address in [
            "127.0.0.1",
            "10.1.2.3",
            "169.254.169.254",
            "192.168.0.1",
            "100.64.0.1",
            "0.0.0.0",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
            "::ffff:127.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
        ] {
            assert!(!guard.lets(address.parse().unwrap()), "{address}");
        }
        let allowed = Guard { allowed: Arc::from(["127.0.0.0/8".parse().unwrap()]) };
        assert!(allowed.lets("127.0.0.1".parse().unwrap()));
        assert!(!allowed.lets("10.0.0.1".parse().unwrap()));
    }
}
