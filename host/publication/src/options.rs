//! The folder of the feeds, and the host's description of itself.

use crate::{cities::CitySettings, hubs::Hubs, provider::Provider, records::RecordsFolder};
use portolan_feeds::Roads;
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
    /// The cities after the first one.
    pub cities: Vec<CitySettings>,
}

impl HostDescription {
    /// Returns the address of a licence: its page at SPDX, if the name is an SPDX identifier, or else
    /// `/llms.txt`.
    pub(crate) fn license_url(&self, name: &str) -> String {
        match name.contains(' ') {
            true => format!("{}/llms.txt", self.public_url),
            false => format!("https://spdx.org/licenses/{name}.html"),
        }
    }

    /// Returns the address at which the operator of this host can be reached; `None` if none is set up.
    pub fn contact_url(&self) -> Option<&str> {
        self.provider.contact.as_deref().or(self.provider.url.as_deref())
    }
}

/// The folder of a city's feeds, and the host that serves them.
#[derive(Debug)]
pub struct FeedsOptions {
    pub folder: PathBuf,
    /// The path at which the city is served.
    pub roads: Roads,
    pub host: HostDescription,
    /// The folder for the databases of their records.
    pub records: RecordsFolder,
    pub hubs: Hubs,
    pub clock: Clock,
}
