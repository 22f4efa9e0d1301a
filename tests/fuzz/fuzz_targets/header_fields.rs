//! Header fields and queries that the host parses itself; hyper parses the rest of a request.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portolan_http::{Proxies, fuzzing::parse_all};
use std::{net::IpAddr, sync::LazyLock};

static PROXIES: LazyLock<Proxies> =
    LazyLock::new(|| Proxies(vec!["10.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()]));

fuzz_target!(|data: &[u8]| {
    parse_all(data, IpAddr::from([10, 0, 0, 1]), &PROXIES);
});
