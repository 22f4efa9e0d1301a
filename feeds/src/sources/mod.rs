//! The operator's file of sources: the city, and where to read about it.

mod registry;

pub use registry::{Registry, RegistryFormat};

use crate::{
    board::Board,
    places::{ATTRIBUTION, Corrections, RemoteRule},
    record::{Ats, AuthorKind, City, Platform, SourceType},
};
use serde::Deserialize;
use std::{
    collections::BTreeSet,
    fmt,
    path::{Path, PathBuf},
};
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
    attribution: Vec<String>,
    /// An address at which operators of sources reach the operator of the feeds; each request has it.
    #[serde(default)]
    pub contact: Option<String>,
    /// How many seconds are between two builds.
    #[serde(default = "hour")]
    pub next_refresh_s: u64,
    /// The largest share of its records that a source may lose at once. A larger loss is believed
    /// when the next reading or the operator confirms it.
    #[serde(default = "half")]
    pub largest_loss: f64,
    /// The page on which a person can ask not to be listed; by default a page of the host.
    #[serde(default)]
    pub opt_out_url: Option<String>,
    /// The file with corrections of places, beside this one.
    #[serde(default)]
    places: Option<PathBuf>,
    #[serde(skip)]
    pub corrections: Corrections,
    #[serde(default)]
    pub roles: RoleRules,
    #[serde(default)]
    pub registry: Vec<Registry>,
    #[serde(default)]
    pub directory: Vec<Directory>,
    #[serde(default)]
    pub board: Vec<BoardSource>,
    #[serde(default)]
    pub syndication: Vec<Syndication>,
    /// The text of the file, as it was written.
    #[serde(skip)]
    pub text: String,
    /// The text of the file with corrections of places; empty if there is none.
    #[serde(skip)]
    pub corrections_text: String,
}

fn hour() -> u64 {
    3600
}

fn half() -> f64 {
    0.5
}

/// Which roles are published.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoleRules {
    #[serde(default)]
    pub remote: RemoteRule,
    /// How many kilometres from the city's `bbox` a role may be.
    #[serde(default)]
    pub within_km: f64,
}

/// An accelerator's public directory.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Directory {
    pub id: String,
    /// The accelerator.
    pub name: String,
    pub url: String,
    /// The licence under which the source offers its data, and whom it asks to name.
    #[serde(default)]
    pub license: Option<String>,
    #[serde(default)]
    pub attribution: Option<String>,
    /// Whether the host's `robots.txt` does not count, because its operator permits the use.
    #[serde(default)]
    pub ignore_robots: bool,
}

/// A company's own board of open roles.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardSource {
    /// The slug of the organisation whose board it is.
    pub target: String,
    pub ats: Ats,
    /// The company's name at the vendor; of a career page, any name.
    pub token: String,
    /// The address of the vendor's API, if it is not the usual one; of a career page, its address.
    #[serde(default)]
    pub base: Option<String>,
    /// The licence under which the source offers its data, and whom it asks to name.
    #[serde(default)]
    pub license: Option<String>,
    #[serde(default)]
    pub attribution: Option<String>,
    /// Whether the host's `robots.txt` does not count, because its operator permits the use.
    #[serde(default)]
    pub ignore_robots: bool,
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
    /// The licence under which the source offers its data, and whom it asks to name.
    #[serde(default)]
    pub license: Option<String>,
    #[serde(default)]
    pub attribution: Option<String>,
    /// Whether the host's `robots.txt` does not count, because its operator permits the use.
    #[serde(default)]
    pub ignore_robots: bool,
}

/// Makes an address of a file absolute; others stay.
fn make_absolute(address: &mut String, folder: &Url) {
    if let Some(whole) =
        address.starts_with("file:").then(|| folder.join(address)).and_then(Result::ok)
    {
        *address = whole.into();
    }
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
    /// Reads the file, and replaces `{origin}` in its URLs if an `origin` is given. Addresses of files
    /// such as `file:registry.json` are relative to the file's folder.
    pub fn read(file: &Path, origin: Option<&str>) -> Result<Self, Faults> {
        let failed = |error| Faults(vec![format!("{}: {error}", file.display())]);
        let text = std::fs::read_to_string(file).map_err(failed)?;
        let mut sources = Self::parse(&text, origin)?;
        let whole = std::path::absolute(file).map_err(failed)?;
        if let Ok(folder) = Url::from_file_path(whole) {
            sources.addresses().for_each(|address| make_absolute(address, &folder));
        }
        if let Some(places) = &sources.places {
            let places = file.parent().unwrap_or(Path::new("")).join(places);
            let named = |fault: String| format!("{}: {fault}", places.display());
            let text = std::fs::read_to_string(&places)
                .map_err(|error| Faults(vec![named(error.to_string())]))?;
            sources
                .correct_places(text)
                .map_err(|Faults(faults)| Faults(faults.into_iter().map(named).collect()))?;
        }
        Ok(sources)
    }

    /// Uses the text of a file with corrections of places.
    fn correct_places(&mut self, text: String) -> Result<(), Faults> {
        self.corrections = Corrections::parse(&text).map_err(Faults)?;
        self.corrections_text = text;
        Ok(())
    }

    fn addresses(&mut self) -> impl Iterator<Item = &mut String> {
        (self.registry.iter_mut().map(|registry| &mut registry.url))
            .chain(self.directory.iter_mut().map(|directory| &mut directory.url))
            .chain(self.board.iter_mut().filter_map(|board| board.base.as_mut()))
            .chain(self.syndication.iter_mut().map(|feed| &mut feed.url))
    }

    /// Returns whom the documents name as the origin of data: the operator's own list, each source's, and the
    /// gazetteer.
    pub fn attributions(&self) -> Vec<String> {
        let each = (self.registry.iter().map(|registry| &registry.attribution))
            .chain(self.directory.iter().map(|directory| &directory.attribution))
            .chain(self.board.iter().map(|board| &board.attribution))
            .chain(self.syndication.iter().map(|feed| &feed.attribution));
        let mut all = self.attribution.clone();
        for attribution in each.flatten() {
            if !all.contains(attribution) {
                all.push(attribution.clone());
            }
        }
        all.push(ATTRIBUTION.to_owned());
        all
    }

    pub fn parse(written: &str, origin: Option<&str>) -> Result<Self, Faults> {
        let text = match origin {
            Some(origin) => written.replace(ORIGIN, origin.trim_end_matches('/')),
            None => written.to_owned(),
        };
        let sources: Self =
            toml::from_str(&text).map_err(|error| Faults(vec![error.to_string()]))?;
        let sources = Self { text: written.to_owned(), ..sources };
        let faults = sources.faults();
        match faults.is_empty() {
            true => Ok(sources),
            false => Err(Faults(faults)),
        }
    }

    /// Reads again the texts of files that were valid. The sources can be joined, but not asked.
    pub fn parse_again(text: &str, corrections: &str) -> Result<Self, Faults> {
        let mut sources = Self::parse(text, Some("https://sources.invalid"))?;
        sources.correct_places(corrections.to_owned())?;
        Ok(sources)
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
            let is_page = board.ats == Ats::CareerPage;
            if is_page && board.base.is_none() {
                faults.push(format!("{}: base is required: the address of the page", board.id()));
            } else if base.is_some_and(|base| base.is_err()) || board.board().first().is_none() {
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
        for registry in &self.registry {
            faults.extend(registry.faults());
        }
        if !(0.0..=500.0).contains(&self.roles.within_km) {
            faults.push("roles.within_km: write kilometres from 0 to 500".to_owned());
        }
        let contact = self.contact.iter().flat_map(|contact| contact.chars());
        if !contact.clone().all(|character| (' '..='~').contains(&character)) {
            faults.push(
                "contact: write it in ASCII, such as https://map.example.org/about".to_owned(),
            );
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
