//! Addresses that agents name and the host would connect to.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portolan_reach::Reach;
use std::net::IpAddr;
use url::{Host, Url};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(url) = Url::parse(text) else { return };
    if Reach::new(&[], true).check(&url).is_err() {
        return;
    }
    assert_eq!(url.scheme(), "https");
    let address = match url.host() {
        Some(Host::Ipv4(address)) => IpAddr::V4(address),
        Some(Host::Ipv6(address)) => IpAddr::V6(address).to_canonical(),
        _ => return,
    };
    let is_special = address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || match address {
            IpAddr::V4(address) => {
                address.is_private() || address.is_link_local() || address.is_broadcast()
            }
            IpAddr::V6(address) => address.is_unique_local() || address.is_unicast_link_local(),
        };
    assert!(!is_special, "{url}");
});
