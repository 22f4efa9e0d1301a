//! The settings of an operator for MCP.

use serde::{Deserialize, Serialize};
use url::Url;

/// The host names of the local machine.
pub(super) const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The `[mcp]` table of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct McpSettings {
    /// Allowed host names of requests, in addition to the host of the public address.
    pub hosts: Vec<String>,
    /// Allowed origins of pages, in addition to the public address.
    pub origins: Vec<String>,
    /// The names of the tools that are listed by default before all others.
    pub tools: Vec<String>,
    /// The maximum number of tools that are listed by default, besides those that find the others.
    pub listed_tools: usize,
    /// The maximum number of concurrent sessions, for clients that use MCP before 2026-07-28.
    pub sessions: u64,
}

impl Default for McpSettings {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            origins: Vec::new(),
            tools: Vec::new(),
            listed_tools: 10,
            sessions: 1_000,
        }
    }
}

impl McpSettings {
    /// Returns the host names that requests may have: the settings' own and that of the public address.
    pub(super) fn allowed_hosts(&self, public_url: &str) -> Vec<String> {
        let url = Url::parse(public_url).ok();
        let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
        let local = LOOPBACK.contains(&host).then_some(LOOPBACK).into_iter().flatten();
        let hosts = self.hosts.iter().map(String::as_str).chain([host]).chain(local);
        hosts.filter(|host| !host.is_empty()).map(str::to_owned).collect()
    }

    /// Returns every fault of the settings, each with its fix. An entry itself is not quoted, because a URL
    /// can hold a password.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for origin in &self.origins {
            let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
            if host.is_none_or(|host| host.is_empty() || host.contains(['/', '?', '#', '@', ' '])) {
                faults.push(
                    "mcp.origins has an entry that is not an origin: write a scheme, a host and a port, such as https://app.example.com:443".to_owned(),
                );
            }
        }
        for host in &self.hosts {
            if host.is_empty() || host.contains(['/', '?', '#', '@', ' ']) {
                faults.push(
                    "mcp.hosts has an entry that is not a host: write a host, with or without a port, such as api.example.com".to_owned(),
                );
            }
        }
        if self.sessions == 0 {
            faults.push("mcp.sessions is 0: it must be at least 1".to_owned());
        }
        faults
    }
}
