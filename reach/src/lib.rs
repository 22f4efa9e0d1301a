//! Decides which addresses may be connected to, if they come from outside: public ones, and those
//! in ranges that the operator allows. The decision is made when the connection is made, so that a
//! name cannot resolve to another address afterwards.
//!
//! The system resolves names, and its answers are filtered before a connection is made.

use ipnet::IpNet;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::{
    net::{IpAddr, Ipv6Addr, SocketAddr},
    sync::{Arc, LazyLock},
};
use url::{Host, Url};

/// The ranges that are not part of the public Internet (IANA's registries of special-purpose
/// addresses, and of the address space of IPv6, whose only public part is 2000::/3).
const NOT_PUBLIC: [&str; 22] = [
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
    "::/3",
    "4000::/2",
    "8000::/1",
    // Within 2000::/3: protocols such as Teredo, documentation, and 6to4.
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
];

static RANGES: LazyLock<Vec<IpNet>> =
    LazyLock::new(|| NOT_PUBLIC.iter().filter_map(|range| range.parse().ok()).collect());

/// The reason why an address may not be connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("the address is not a URL of a host without user, password and fragment")]
    NotAnAddress,
    #[error("the address does not begin with https://")]
    NotHttps,
    #[error("the address is not a public one")]
    NotPublic,
}

/// The ranges that the operator allows, and whether public addresses are allowed too.
#[derive(Debug, Clone)]
pub struct Reach {
    opened: Arc<[IpNet]>,
    /// Whether public addresses are allowed too, over TLS only.
    public: bool,
}

impl Reach {
    /// Allows the ranges in `opened` and, with `public`, all public addresses. A client with `public` must
    /// use TLS.
    pub fn new(opened: &[IpNet], public: bool) -> Self {
        Self { opened: Arc::from(opened), public }
    }

    /// Returns whether this address may be connected to.
    pub fn lets(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let within = |range: &IpNet| range.contains(&address);
        self.opened.iter().any(within) || (self.public && !RANGES.iter().any(within))
    }

    /// Returns those of these addresses that may be connected to. Fails if there are none.
    pub fn filter(&self, found: impl Iterator<Item = SocketAddr>) -> Result<Addrs, Refused> {
        let left: Vec<SocketAddr> = found.filter(|it| self.lets(it.ip())).collect();
        match left.is_empty() {
            true => Err(Refused::NotPublic),
            false => Ok(Box::new(left.into_iter())),
        }
    }

    /// Refuses a URL with another scheme than `https`, or `http` for allowed ranges, one with a
    /// user, a password or a fragment, and one with an IP address that may not be connected to. The
    /// addresses of a name are checked when it is resolved.
    pub fn check(&self, url: &Url) -> Result<(), Refused> {
        let secure = url.scheme() == "https";
        if !secure && (url.scheme() != "http" || self.opened.is_empty()) {
            return Err(Refused::NotHttps);
        }
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return Err(Refused::NotAnAddress);
        }
        // An IP address is not resolved, so it is checked here.
        let number = match url.host().ok_or(Refused::NotAnAddress)? {
            Host::Ipv4(address) => Some(IpAddr::V4(address)),
            Host::Ipv6(address) => Some(IpAddr::V6(Ipv6Addr::from(address.octets()))),
            Host::Domain(_) => None,
        };
        let reach = Self { public: self.public && secure, ..self.clone() };
        match number.is_some_and(|address| !reach.lets(address)) {
            true => Err(Refused::NotPublic),
            false => Ok(()),
        }
    }
}

impl Resolve for Reach {
    /// Returns the addresses of a name that may be connected to. The client connects to no others.
    fn resolve(&self, name: Name) -> Resolving {
        let reach = self.clone();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            Ok(reach.filter(found)?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(opened: &[&str], address: &str) -> Result<(), Refused> {
        let opened: Vec<IpNet> = opened.iter().map(|range| range.parse().unwrap()).collect();
        Reach::new(&opened, true).check(&address.parse().unwrap())
    }

    #[test]
    fn every_range_is_one() {
        assert_eq!(RANGES.len(), NOT_PUBLIC.len());
    }

    #[test]
    fn only_public_addresses_are_let_through() {
        let reach = Reach::new(&[], true);
        for address in ["1.1.1.1", "93.184.216.34", "2606:4700::1111"] {
            assert!(reach.lets(address.parse().unwrap()), "{address}");
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
            assert!(!reach.lets(address.parse().unwrap()), "{address}");
        }
        let opened = Reach::new(&["127.0.0.0/8".parse().unwrap()], true);
        assert!(opened.lets("127.0.0.1".parse().unwrap()));
        assert!(!opened.lets("10.0.0.1".parse().unwrap()));
    }

    #[test]
    fn an_ipv4_address_within_one_of_ipv6_is_refused() {
        let reach = Reach::new(&[], true);
        // The forms of RFC 4291, 2765, 6052, 8215, 3056 and 4380, and of ISATAP (RFC 5214).
        for address in [
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:0:127.0.0.1",
            "64:ff9b::127.0.0.1",
            "64:ff9b:1::127.0.0.1",
            "2002:7f00:1::",
            "2001:0:7f00:1::80ff:fffe",
            "fe80::5efe:127.0.0.1",
        ] {
            assert!(!reach.lets(address.parse().unwrap()), "{address}");
            let url = format!("https://[{address}]/");
            assert_eq!(check(&[], &url), Err(Refused::NotPublic), "{url}");
        }
    }

    #[test]
    fn of_ipv6_only_global_unicast_is_public() {
        let reach = Reach::new(&[], true);
        for address in ["2000::1", "2001:200::1", "2606:4700::1111", "3ffe::1"] {
            assert!(reach.lets(address.parse().unwrap()), "{address}");
        }
        for address in [
            "100::1",
            "1fff::1",
            "2001:1ff::1",
            "2001:db8::1",
            "3fff::1",
            "4000::1",
            "5f00::1",
            "7fff::1",
            "8000::1",
            "fc00::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!reach.lets(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn private_addresses_are_refused_however_they_are_written() {
        for address in [
            "https://127.0.0.1/",
            "https://2130706433/",
            "https://0x7f.1/",
            "https://[::1]/",
            "https://[::ffff:10.0.0.1]/",
            "https://169.254.169.254/latest/meta-data/",
            "https://[64:ff9b::a9fe:a9fe]/",
            "https://0177.0.0.1/",
            "https://127.1/",
            "https://[::ffff:7f00:1]/",
            "https://%31%32%37.0.0.1/",
            "https://127\u{3002}0\u{3002}0\u{3002}1/",
        ] {
            assert_eq!(check(&[], address), Err(Refused::NotPublic), "{address}");
        }
        assert_eq!(check(&[], "https://1.1.1.1/"), Ok(()));
        assert_eq!(check(&[], "https://boards.example/jobs"), Ok(()));
    }

    #[test]
    fn what_a_name_means_when_it_is_connected_to_counts() {
        let reach = Reach::new(&[], true);
        let address = |text: &str| -> SocketAddr { text.parse().unwrap() };
        let public = address("93.184.216.34:443");
        // A name that resolved to a public address before and resolves to a private one now is refused.
        assert!(reach.filter([public].into_iter()).is_ok());
        let changed = reach.filter([address("10.0.0.7:443")].into_iter());
        assert_eq!(changed.err(), Some(Refused::NotPublic));
        // Of several addresses, only the public ones are left.
        let mixed = reach.filter([address("10.0.0.7:443"), public].into_iter()).unwrap();
        assert_eq!(mixed.collect::<Vec<_>>(), [public]);
    }

    #[test]
    fn in_the_clear_only_what_the_operator_opened() {
        assert_eq!(check(&[], "http://boards.example/"), Err(Refused::NotHttps));
        assert_eq!(check(&["127.0.0.0/8"], "http://127.0.0.1:9/"), Ok(()));
        assert_eq!(check(&["127.0.0.0/8"], "http://1.1.1.1/"), Err(Refused::NotPublic));
        assert_eq!(check(&["127.0.0.0/8"], "https://10.0.0.1/"), Err(Refused::NotPublic));
        for address in ["file:///etc/passwd", "ftp://boards.example/"] {
            assert_eq!(check(&["127.0.0.0/8"], address), Err(Refused::NotHttps));
        }
        for address in ["https://me:secret@boards.example/", "https://boards.example/#part"] {
            assert_eq!(check(&[], address), Err(Refused::NotAnAddress));
        }
    }
}
