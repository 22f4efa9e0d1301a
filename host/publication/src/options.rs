//! The folder of the feeds, and the host's description of itself.

use crate::{provider::Provider, records::RecordsFolder};
use portolan_vocabulary::Clock;
use std::path::PathBuf;

/// The host's description of itself, for the manifest.
#[derive(Debug, Clone)]
pub struct HostDescription {
    /// The address of this host for agents, without a trailing slash.
    pub public_url: String,
    pub mcp_url: String,
    pub scopes: Vec<&'static str>,
    pub provider: Provider,
}

/// The folder of the feeds, and the host that serves them.
#[derive(Debug)]
pub struct FeedsOptions {
    pub folder: PathBuf,
    pub host: HostDescription,
    /// The folder for the databases of their records.
    pub records: RecordsFolder,
    pub clock: Clock,
}
