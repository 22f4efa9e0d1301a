//! Requests to addresses that others name: only to public ones, judged when the connection is made, so
//! that a name cannot mean another address by then.
//!
//! The system resolves names; what it answers is filtered before anything is connected to.

use crate::vocabulary::Timestamp;
use ipnet::IpNet;
use reqwest::{
    Client, Response,
    dns::{Addrs, Name, Resolve, Resolving},
    header::{ACCEPT, HeaderMap, RETRY_AFTER},
    redirect::Policy,
};
use std::{
    net::{IpAddr, Ipv6Addr, SocketAddr},
    sync::{Arc, LazyLock},
    time::{Duration, UNIX_EPOCH},
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
    #[error("the address is not a URL of a host without user, password and fragment")]
    NotAnAddress,
    #[error("the address does not begin with https://")]
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
    /// Over TLS, to public addresses and to those that are allowed.
    secure: Client,
    /// In the clear, to those that are allowed and to no others.
    plain: Client,
    guard: Guard,
}

/// Which addresses may be connected to.
#[derive(Debug, Clone)]
struct Guard {
    /// Ranges that are not public and allowed all the same.
    allowed: Arc<[IpNet]>,
    public: bool,
}

impl Guard {
    fn lets(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let within = |range: &IpNet| range.contains(&address);
        self.allowed.iter().any(within) || (self.public && !RANGES.iter().any(within))
    }

    /// What of these addresses may be connected to; an error if nothing is left.
    fn filter(&self, found: impl Iterator<Item = SocketAddr>) -> Result<Addrs, OutgoingError> {
        let left: Vec<SocketAddr> = found.filter(|it| self.lets(it.ip())).collect();
        match left.is_empty() {
            true => Err(OutgoingError::NotPublic),
            false => Ok(Box::new(left.into_iter())),
        }
    }
}

impl Resolve for Guard {
    /// What is answered here is what is connected to: a name that means another address a moment
    /// later gains nothing.
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.clone();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            Ok(guard.filter(found)?)
        })
    }
}

/// How a server answers what it was sent.
#[derive(Debug)]
pub struct Answered {
    pub status: u16,
    /// Of a header `Retry-After`: seconds from now.
    pub retry_after_s: Option<u64>,
    /// How the body begins.
    pub body: Vec<u8>,
}

impl Outgoing {
    /// `allowed` are ranges of addresses that may be asked although they are not public, and without
    /// TLS.
    pub fn new(allowed: &[IpNet]) -> Result<Self, reqwest::Error> {
        // Another part of the process may have chosen one already.
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let guard = Guard { allowed: Arc::from(allowed), public: true };
        let client = |guard: Guard| {
            Client::builder()
                .timeout(PATIENCE)
                .redirect(Policy::none())
                .no_proxy()
                .https_only(guard.public)
                .dns_resolver(Arc::new(guard))
                .build()
        };
        let plain = client(Guard { public: false, ..guard.clone() })?;
        Ok(Self { secure: client(guard.clone())?, plain, guard })
    }

    /// The address in its normal form, if it may be asked as far as it shows.
    pub fn check(&self, address: &str) -> Result<Url, OutgoingError> {
        let url = Url::parse(address).map_err(|_| OutgoingError::NotAnAddress)?;
        let guard = match url.scheme() {
            "https" => self.guard.clone(),
            "http" if !self.guard.allowed.is_empty() => {
                Guard { public: false, ..self.guard.clone() }
            }
            _ => return Err(OutgoingError::NotHttps),
        };
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return Err(OutgoingError::NotAnAddress);
        }
        // An address that is a number is not resolved, so it does not pass the guard on its way. The
        // parser has read the number, however it was written.
        let number = match url.host() {
            Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
            Some(Host::Ipv6(address)) => Some(IpAddr::V6(Ipv6Addr::from(address.octets()))),
            _ => None,
        };
        match number.is_some_and(|address| !guard.lets(address)) {
            true => Err(OutgoingError::NotPublic),
            false => Ok(url),
        }
    }

    fn client(&self, url: &Url) -> &Client {
        if url.scheme() == "http" { &self.plain } else { &self.secure }
    }

    /// The JSON at an address that begins with https, at most so many bytes of it.
    pub async fn get_json(&self, address: &str, most: usize) -> Result<Vec<u8>, OutgoingError> {
        let url = self.check(address)?;
        if url.scheme() != "https" {
            return Err(OutgoingError::NotHttps);
        }
        let request = self.secure.get(url).header(ACCEPT, "application/json");
        let response = request.send().await.map_err(|error| reason(&error))?;
        if !response.status().is_success() {
            return Err(OutgoingError::Status(response.status().as_u16()));
        }
        let body = beginning(response, most + 1).await?;
        if body.len() > most {
            return Err(OutgoingError::TooLarge);
        }
        match serde_json::from_slice::<serde::de::IgnoredAny>(&body) {
            Ok(_) => Ok(body),
            Err(_) => Err(OutgoingError::NotJson),
        }
    }

    /// Posts a body and reads at most so many bytes of the answer. A redirect is an answer like any
    /// other.
    pub async fn post(
        &self,
        address: &str,
        headers: HeaderMap,
        body: Vec<u8>,
        patience: Duration,
        most: usize,
    ) -> Result<Answered, OutgoingError> {
        let url = self.check(address)?;
        let request = self.client(&url).post(url).headers(headers).body(body).timeout(patience);
        let response = request.send().await.map_err(|error| reason(&error))?;
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|it| it.to_str().ok());
        Ok(Answered {
            status: response.status().as_u16(),
            retry_after_s: retry_after.and_then(seconds),
            // The status is the answer, whatever becomes of the rest.
            body: beginning(response, most).await.unwrap_or_default(),
        })
    }
}

async fn beginning(mut response: Response, most: usize) -> Result<Vec<u8>, OutgoingError> {
    let mut body = Vec::new();
    while body.len() < most
        && let Some(part) = response.chunk().await.map_err(|_| OutgoingError::Away)?
    {
        body.extend_from_slice(part.get(..most - body.len()).unwrap_or(&part));
    }
    Ok(body)
}

/// Seconds, or until a date (RFC 9110, section 10.2.3).
fn seconds(text: &str) -> Option<u64> {
    let text = text.trim();
    text.parse().ok().or_else(|| {
        let until = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(until.as_secs().saturating_sub(Timestamp::now().as_secs()))
    })
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
        let guard = Guard { allowed: Arc::from([]), public: true };
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
        let allowed = Guard { allowed: Arc::from(["127.0.0.0/8".parse().unwrap()]), public: true };
        assert!(allowed.lets("127.0.0.1".parse().unwrap()));
        assert!(!allowed.lets("10.0.0.1".parse().unwrap()));
    }

    #[test]
    fn numbers_are_read_however_they_are_written() {
        let outgoing = Outgoing::new(&[]).unwrap();
        for address in [
            "https://127.0.0.1/",
            "https://2130706433/",
            "https://0x7f000001/",
            "https://0177.0.0.1/",
            "https://0x7f.1/",
            "https://127.1/",
            "https://[::1]/",
            "https://[::ffff:127.0.0.1]/",
            "https://[::ffff:7f00:1]/",
            "https://[64:ff9b::a9fe:a9fe]/",
            "https://169.254.169.254/latest/meta-data/",
            "https://%31%32%37.0.0.1/",
            "https://127\u{3002}0\u{3002}0\u{3002}1/",
        ] {
            assert_eq!(outgoing.check(address), Err(OutgoingError::NotPublic), "{address}");
        }
        for address in ["http://hooks.example/", "ftp://hooks.example/", "file:///etc/passwd"] {
            assert_eq!(outgoing.check(address), Err(OutgoingError::NotHttps), "{address}");
        }
        for address in ["https://me:secret@hooks.example/", "https://hooks.example/#part", "https:"]
        {
            assert_eq!(outgoing.check(address), Err(OutgoingError::NotAnAddress), "{address}");
        }
        assert!(outgoing.check("https://hooks.example:8443/in?from=portolan").is_ok());
        // In the clear, only where the operator allows it.
        let outgoing = Outgoing::new(&["127.0.0.0/8".parse().unwrap()]).unwrap();
        assert!(outgoing.check("http://127.0.0.1:9000/").is_ok());
        assert_eq!(outgoing.check("http://1.1.1.1/"), Err(OutgoingError::NotPublic));
    }

    #[test]
    fn what_a_name_means_when_it_is_connected_to_counts() {
        let guard = Guard { allowed: Arc::from([]), public: true };
        let address = |text: &str| -> SocketAddr { text.parse().unwrap() };
        let public = address("93.184.216.34:443");
        // A name that meant a public address a moment ago and a private one now is not connected to.
        assert!(guard.filter([public].into_iter()).is_ok());
        let changed = guard.filter([address("10.0.0.7:443")].into_iter());
        assert_eq!(changed.err(), Some(OutgoingError::NotPublic));
        // Of several, only what is public is left.
        let mixed = guard.filter([address("10.0.0.7:443"), public].into_iter()).unwrap();
        assert_eq!(mixed.collect::<Vec<_>>(), [public]);
    }

    #[test]
    fn later_is_a_number_of_seconds_or_a_date() {
        assert_eq!(seconds(" 120 "), Some(120));
        assert_eq!(seconds("Wed, 21 Oct 2015 07:28:00 GMT"), Some(0));
        let far = seconds("Fri, 31 Dec 9999 23:59:59 GMT").unwrap();
        assert!(far > 1_000_000);
        assert_eq!(seconds("soon"), None);
    }
}
