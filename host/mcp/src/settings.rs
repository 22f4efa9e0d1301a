//! What an operator can set about MCP.

use serde::{Deserialize, Serialize};

/// The `[mcp]` table of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct McpSettings {
    /// Names that requests may be sent to, beside the host of the public address.
    pub hosts: Vec<String>,
    /// Origins of pages that may send requests, beside the public address itself.
    pub origins: Vec<String>,
    /// With more capabilities than this, three tools stand for all of them.
    pub listed_tools: usize,
    /// The capability whose pages are resources: it has the actions `list` and `get`.
    pub pages: String,
    /// Sessions of clients of the older protocol at once.
    pub sessions: u64,
}

impl Default for McpSettings {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            origins: Vec::new(),
            listed_tools: 100,
            pages: "content_get".to_owned(),
            sessions: 1_000,
        }
    }
}

impl McpSettings {
    /// Everything that is wrong with them, each with its fix.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for origin in &self.origins {
            let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
            if host.is_none_or(|host| host.is_empty() || host.contains(['/', '?', '#', '@', ' '])) {
                faults.push(format!(
                    "mcp.origins has {origin:?}: write a scheme, a host and a port, such as https://app.example.com:443"
                ));
            }
        }
        for host in &self.hosts {
            if host.is_empty() || host.contains(['/', '?', '#', '@', ' ']) {
                faults.push(format!(
                    "mcp.hosts has {host:?}: write a host, with a port or without, such as api.example.com"
                ));
            }
        }
        if self.sessions == 0 {
            faults.push("mcp.sessions is 0: it must be at least 1".to_owned());
        }
        faults
    }
}
