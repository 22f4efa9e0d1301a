//! The `[map]` table of the configuration.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The name of the file with streets in the folder of the feeds.
const BASEMAP: &str = "basemap.pmtiles";

/// The `[map]` table of the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MapSettings {
    /// The origins whose pages may embed the map.
    pub embed: Vec<String>,
    /// A PMTiles file with streets of the first city. `None`: `basemap.pmtiles` in the folder of its feeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basemap: Option<PathBuf>,
}

impl MapSettings {
    /// Returns every fault of the settings, each with its fix. The entries become part of a header, so
    /// only the characters of an origin are allowed.
    pub fn faults(&self) -> Vec<String> {
        let is_origin = |text: &String| {
            let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
            let allowed = |letter: char| letter.is_ascii_alphanumeric() || ".-:[]".contains(letter);
            host.is_some_and(|host| !host.is_empty() && host.chars().all(allowed))
        };
        let wrong = self.embed.iter().filter(|text| !is_origin(text));
        wrong
            .map(|_| {
                "map.embed has an entry that is not an origin: write a scheme, a host and a port, such as https://www.example.org".to_owned()
            })
            .collect()
    }

    /// Returns the settings with the file in this folder unless another one is set.
    #[must_use]
    pub fn with_feeds(self, feeds: &Path) -> Self {
        let basemap = Some(self.basemap.unwrap_or_else(|| feeds.join(BASEMAP)));
        Self { embed: self.embed, basemap }
    }

    /// Returns the settings of a city other than the first, whose streets are in this folder.
    pub(super) fn of_city(&self, feeds: &Path) -> Self {
        Self { embed: self.embed.clone(), basemap: Some(feeds.join(BASEMAP)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_origins_may_embed_the_map() {
        let faults = |origin: &str| {
            MapSettings { embed: vec![origin.to_owned()], ..MapSettings::default() }.faults().len()
        };
        for good in ["https://www.example.org", "http://127.0.0.1:8080", "http://[::1]:80"] {
            assert_eq!(faults(good), 0, "{good}");
        }
        for bad in [
            "",
            "*",
            "https://",
            "www.example.org",
            "https://example.org/",
            "https://example.org; script-src *",
            "https://a.example https://b.example",
            "https://user:hunter2@example.org",
            "https://example.org\r\nx: y",
            "'self'",
        ] {
            assert_eq!(faults(bad), 1, "{bad}");
        }
    }
}
