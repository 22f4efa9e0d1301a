//! The operator's settings of look-ups.

use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};

/// The port of a DNS server, unless another is written.
const DNS_PORT: u16 = 53;

/// The operator's settings of look-ups.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LookupSettings {
    /// The DNS servers to ask, each with a port or without. An empty list means those of the system.
    pub dns_servers: Vec<String>,
    /// The port from which pages are read.
    pub https_port: u16,
}

impl Default for LookupSettings {
    fn default() -> Self {
        Self { dns_servers: Vec::new(), https_port: 443 }
    }
}

impl LookupSettings {
    /// Returns every fault of the settings, each with its fix.
    pub fn faults(&self) -> Vec<String> {
        let unreadable = self.dns_servers.iter().filter(|text| parse_server(text).is_none());
        let mut faults: Vec<String> = unreadable
            .map(|text| {
                format!("lookups.dns_servers has {text:?}: write addresses such as 192.0.2.1 or 192.0.2.1:53")
            })
            .collect();
        if self.https_port == 0 {
            faults.push("lookups.https_port is 0: it must be at least 1".to_owned());
        }
        faults
    }

    pub(super) fn server_addresses(&self) -> Vec<SocketAddr> {
        self.dns_servers.iter().filter_map(|text| parse_server(text)).collect()
    }
}

fn parse_server(text: &str) -> Option<SocketAddr> {
    let with_default_port =
        || text.parse().ok().map(|address: IpAddr| SocketAddr::new(address, DNS_PORT));
    text.parse().ok().or_else(with_default_port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_without_a_port_have_the_dns_port() {
        let settings = |texts: &[&str]| LookupSettings {
            dns_servers: texts.iter().map(|&text| text.to_owned()).collect(),
            ..LookupSettings::default()
        };
        let valid = settings(&["127.0.0.1:5353", "192.0.2.1", "::1", "[::1]:53"]);
        assert_eq!(valid.faults(), Vec::<String>::new());
        let ports: Vec<u16> = valid.server_addresses().iter().map(SocketAddr::port).collect();
        assert_eq!(ports, [5353, 53, 53, 53]);
        assert_eq!(settings(&["dns.example", ""]).faults().len(), 2);
    }
}
