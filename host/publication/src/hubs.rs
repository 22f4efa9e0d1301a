//! The WebSub hubs of this host (W3C Recommendation of 2018), and how its documents name them.

use crate::cities::CitySettings;
use portolan_outgoing::Outgoing;
use serde::{Deserialize, Serialize};
use url::Url;

const MAX_HUBS: usize = 4;

/// The `[feeds]` table of the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FeedsSettings {
    /// The addresses of WebSub hubs.
    pub hubs: Vec<String>,
    /// The cities after the first one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cities: Vec<CitySettings>,
}

impl FeedsSettings {
    /// Returns every fault of the settings, each with its fix.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.hubs.len() > MAX_HUBS {
            faults.push(format!("feeds.hubs has {}: name at most {MAX_HUBS}", self.hubs.len()));
        }
        for hub in self.hubs.iter().filter(|hub| !is_web_address(hub)) {
            faults.push(format!(
                "feeds.hubs has {hub:?}: write the address of a WebSub hub, such as https://hub.example/"
            ));
        }
        faults
    }
}

/// Returns whether the text is an address that a header `Link` can name as it is.
fn is_web_address(text: &str) -> bool {
    let is_printed =
        text.chars().all(|letter| letter.is_ascii_graphic() && !"<>\"".contains(letter));
    let url = Url::parse(text).ok();
    is_printed
        && url.is_some_and(|url| {
            ["http", "https"].contains(&url.scheme())
                && url.username().is_empty()
                && url.password().is_none()
        })
}

/// The hubs of this host.
#[derive(Debug, Clone)]
pub struct Hubs {
    pub addresses: Vec<String>,
    pub outgoing: Outgoing,
}

impl Hubs {
    /// Returns the header `Link` of the document at this address (WebSub, section 4), if there are hubs.
    pub(crate) fn link(&self, address: &str) -> Option<String> {
        let hubs = self.addresses.iter().map(|hub| format!("<{hub}>; rel=\"hub\", "));
        (!self.addresses.is_empty())
            .then(|| format!("{}<{address}>; rel=\"self\"", hubs.collect::<String>()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(hubs: &[&str]) -> Vec<String> {
        let hubs = hubs.iter().map(|&hub| hub.to_owned()).collect();
        FeedsSettings { hubs, ..FeedsSettings::default() }.faults()
    }

    #[test]
    fn hubs_are_web_addresses_without_credentials() {
        assert!(faults(&["https://hub.example/", "http://127.0.0.1:9000/publish?a=b"]).is_empty());
        for wrong in [
            "hub.example",
            "ftp://hub.example/",
            "https://me:secret@hub.example/",
            "https://hub.example/ \"x",
        ] {
            let found = faults(&[wrong]);
            assert_eq!(found.len(), 1, "{wrong}");
            assert!(found.concat().contains("https://hub.example/"), "{found:?}");
        }
        assert_eq!(faults(&["https://hub.example/"; 5]).len(), 1);
    }

    #[test]
    fn the_link_names_the_hubs_and_the_document() {
        let outgoing = Outgoing::new(&[], &[], 8081).unwrap();
        let addresses = vec!["https://a.example/".to_owned(), "https://b.example/".to_owned()];
        let hubs = Hubs { addresses, outgoing };
        let link = hubs.link("https://host.example/map/data/agent-index.json").unwrap();
        assert_eq!(
            link,
            "<https://a.example/>; rel=\"hub\", <https://b.example/>; rel=\"hub\", \
             <https://host.example/map/data/agent-index.json>; rel=\"self\""
        );
        assert_eq!(Hubs { addresses: Vec::new(), ..hubs }.link("https://host.example/"), None);
    }
}
