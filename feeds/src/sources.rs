//! The operator's file of sources: the city, and where to read about it.

use crate::{
    board::Board,
    record::{Ats, AuthorKind, City, Platform, SourceType},
};
use serde::Deserialize;
use std::{collections::BTreeSet, fmt, path::Path};
use url::Url;

/// In the file's URLs: stands for the address at which the demonstration serves its sources.
const ORIGIN: &str = "{origin}";

/// A city and its sources.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sources {
    pub city: City,
    /// Whether all of the data is invented.
    #[serde(default)]
    pub synthetic: bool,
    pub license: String,
    #[serde(default)]
    pub attribution: Vec<String>,
    /// How many seconds are between two builds.
    #[serde(default = "hour")]
    pub next_refresh_s: u64,
    /// The largest share of its records that a source may lose at once. A larger loss is believed
    /// when the next reading or the operator confirms it.
    #[serde(default = "half")]
    pub largest_loss: f64,
    /// The page on which a person can ask not to be listed.
    pub opt_out_url: String,
    /// Names of people who asked not to be listed, as the directory writes them.
    #[serde(default)]
    pub not_listed: Vec<String>,
    #[serde(default)]
    pub registry: Vec<Registry>,
    #[serde(default)]
    pub directory: Vec<Directory>,
    #[serde(default)]
    pub board: Vec<BoardSource>,
    #[serde(default)]
    pub syndication: Vec<Syndication>,
}

fn hour() -> u64 {
    3600
}

fn half() -> f64 {
    0.5
}

/// A document of organisations with coordinates, in this project's own form.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registry {
    pub id: String,
    pub publisher: String,
    pub url: String,
}

/// An accelerator's public directory.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Directory {
    pub id: String,
    /// The accelerator.
    pub name: String,
    pub url: String,
}

/// A company's own board of open roles.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardSource {
    /// The slug of the organisation whose board it is.
    pub target: String,
    pub ats: Ats,
    pub token: String,
    #[serde(default)]
    pub base: Option<String>,
}

/// News, filings or posts as RSS, Atom or JSON Feed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Syndication {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: SourceType,
    pub publisher: String,
    pub url: String,
    /// The slug of the organisation that publishes the feed, if it is one on the map.
    #[serde(default)]
    pub target: Option<String>,
    /// Where the posts are from; for `type = "social"` only.
    #[serde(default)]
    pub platform: Option<Platform>,
    #[serde(default)]
    pub author_kind: Option<AuthorKind>,
}

/// All errors in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults(pub Vec<String>);

impl fmt::Display for Faults {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for Faults {}

impl BoardSource {
    pub fn id(&self) -> String {
        let ats = serde_json::to_value(self.ats).unwrap_or_default();
        format!("board/{}/{}", ats.as_str().unwrap_or_default(), self.token)
    }

    pub fn board(&self) -> Board {
        let base = self.base.as_deref().and_then(|base| Url::parse(base).ok());
        Board { ats: self.ats, token: self.token.clone(), base }
    }
}

impl Sources {
    /// Reads the file, and replaces `{origin}` in its URLs if an `origin` is given.
    pub fn read(file: &Path, origin: Option<&str>) -> Result<Self, Faults> {
        let text = std::fs::read_to_string(file)
            .map_err(|error| Faults(vec![format!("{}: {error}", file.display())]))?;
        Self::parse(&text, origin)
    }

    pub fn parse(text: &str, origin: Option<&str>) -> Result<Self, Faults> {
        let text = match origin {
            Some(origin) => text.replace(ORIGIN, origin.trim_end_matches('/')),
            None => text.to_owned(),
        };
        let sources: Self =
            toml::from_str(&text).map_err(|error| Faults(vec![error.to_string()]))?;
        let faults = sources.faults();
        match faults.is_empty() {
            true => Ok(sources),
            false => Err(Faults(faults)),
        }
    }

    /// Returns these ids of sources; an error names those that are not in the file.
    pub fn known(&self, ids: Vec<String>) -> Result<BTreeSet<String>, Faults> {
        let known: BTreeSet<String> = self.ids().collect();
        let unknown = ids.iter().filter(|id| !known.contains(*id));
        let faults: Vec<String> = unknown
            .map(|id| {
                let known = known.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
                format!("there is no source {id}; the sources are {known}")
            })
            .collect();
        match faults.is_empty() {
            true => Ok(ids.into_iter().collect()),
            false => Err(Faults(faults)),
        }
    }

    fn ids(&self) -> impl Iterator<Item = String> {
        (self.registry.iter().map(|registry| registry.id.clone()))
            .chain(self.directory.iter().map(|directory| directory.id.clone()))
            .chain(self.board.iter().map(BoardSource::id))
            .chain(self.syndication.iter().map(|feed| feed.id.clone()))
    }

    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut seen = BTreeSet::new();
        for id in self.ids() {
            if !seen.insert(id.clone()) {
                faults.push(format!("two sources have the id {id}: rename one of them"));
            }
        }
        let urls = (self.registry.iter().map(|registry| (&registry.id, &registry.url)))
            .chain(self.directory.iter().map(|directory| (&directory.id, &directory.url)))
            .chain(self.syndication.iter().map(|feed| (&feed.id, &feed.url)));
        for (id, url) in urls {
            if Url::parse(url).is_err() {
                faults.push(format!("{id}: {url} is not a URL: write https://…"));
            }
        }
        for board in &self.board {
            let base = board.base.as_deref().map(Url::parse);
            if base.is_some_and(|base| base.is_err()) || board.board().first().is_none() {
                faults.push(format!("{}: base is not a URL: write https://…", board.id()));
            }
        }
        for feed in &self.syndication {
            let social = feed.kind == SourceType::Social;
            if social != feed.platform.is_some() || social != feed.author_kind.is_some() {
                faults.push(format!(
                    "{}: platform and author_kind are required if type = \"social\", and not allowed otherwise",
                    feed.id
                ));
            }
        }
        if !(0.0..=1.0).contains(&self.largest_loss) {
            faults.push("largest_loss: write a share from 0 to 1, such as 0.5".to_owned());
        }
        let [west, south, east, north] = self.city.bbox;
        if west >= east || south >= north {
            faults.push("city.bbox: the order is west, south, east, north".to_owned());
        }
        if self.registry.is_empty() {
            faults
                .push("there is no [[registry]]: without organisations there is no map".to_owned());
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CITY: &str = r#"
        license = "CC0-1.0"
        opt_out_url = "https://map.example/opt-out"
        [city]
        id = "sf"
        name = "San Francisco"
        country = "US"
        time_zone = "America/Los_Angeles"
        center = [-122.41942, 37.77493]
    "#;

    #[test]
    fn all_errors_of_a_file_are_reported() {
        let text = format!(
            r#"{CITY}
            bbox = [1, 1, 0, 2]
            [[syndication]]
            id = "news"
            type = "press"
            publisher = "Press"
            url = "news.example"
            platform = "mastodon"
            [[directory]]
            id = "news"
            name = "Harbour"
            url = "{{origin}}/directory.json"
            "#
        );
        let Err(Faults(faults)) = Sources::parse(&text, Some("https://a.example/")) else {
            panic!()
        };
        assert_eq!(faults.len(), 5, "{faults:?}");
    }

    #[test]
    fn the_origin_is_inserted_into_the_urls() {
        let text = format!(
            "{CITY}\nbbox = [-122.52, 37.7, -122.35, 37.84]\n[[registry]]\nid = \"map\"\npublisher = \"Map\"\nurl = \"{{origin}}/registry.json\"\n"
        );
        let sources = Sources::parse(&text, Some("http://127.0.0.1:9/")).unwrap();
        assert_eq!(sources.registry[0].url, "http://127.0.0.1:9/registry.json");
        assert!(Sources::parse(&text.replace("license", "licence"), None).is_err());
    }
}
