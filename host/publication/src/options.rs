//! Where the feeds are published, and what the host says of itself beside them.

use crate::{provider::Provider, records::RecordsFolder};
use portolan_vocabulary::Clock;
use std::path::PathBuf;

/// What the host says of itself beside the feeds.
#[derive(Debug, Clone)]
pub struct About {
    /// The address at which agents reach this host, without a slash at the end.
    pub public_url: String,
    pub mcp_url: String,
    pub scopes: Vec<&'static str>,
    pub provider: Provider,
}

/// Where the feeds are published, and who serves them.
#[derive(Debug)]
pub struct FeedsOptions {
    pub folder: PathBuf,
    pub about: About,
    /// The folder for the databases of their records.
    pub records: RecordsFolder,
    pub clock: Clock,
}
