//! The cities after the first one, as the configuration lists them.

use portolan_feeds::record::MAP_PATH;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

const MAX_CITIES: usize = 50;
const MAX_SLUG_BYTES: usize = 40;
/// The names below the path of the first city that cannot be another city's, because they are
/// served already.
const TAKEN: [&str; 8] =
    ["assets", "companies", "data", "events", "handoffs", "objection", "people", "roles"];

/// An entry of `[[feeds.cities]]` in the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CitySettings {
    /// The last part of the city's path: it is served below `/map/` and this.
    pub slug: String,
    /// The name by which the discovery manifest and the other cities' map pages list it.
    pub name: String,
    /// The folder in which its feeds are published.
    pub path: PathBuf,
}

impl CitySettings {
    /// Returns the path of the city's map page.
    pub fn map_path(&self) -> String {
        format!("{MAP_PATH}/{}/", self.slug)
    }
}

/// Returns every fault of the entries, each with its fix. `first` is the folder of the first city.
pub fn city_faults(cities: &[CitySettings], first: &Path) -> Vec<String> {
    let mut faults = Vec::new();
    if cities.len() > MAX_CITIES {
        faults
            .push(format!("feeds.cities has {} entries: list at most {MAX_CITIES}", cities.len()));
    }
    let (mut slugs, mut folders) = (BTreeSet::new(), BTreeSet::from([first]));
    for CitySettings { slug, name, path } in cities {
        if !is_slug(slug) {
            faults.push(format!(
                "feeds.cities has the slug {slug:?}: write at most {MAX_SLUG_BYTES} lower-case letters, digits and hyphens, such as oakland"
            ));
        } else if TAKEN.contains(&slug.as_str()) {
            faults.push(format!(
                "feeds.cities has the slug {slug:?}, but {MAP_PATH}/{slug} belongs to the first city: choose another slug"
            ));
        } else if !slugs.insert(slug) {
            faults
                .push(format!("feeds.cities has the slug {slug:?} twice: each city needs its own"));
        }
        if name.trim().is_empty() {
            faults.push(format!("feeds.cities has no name for {slug:?}: write the city's name"));
        }
        if path.as_os_str().is_empty() || !folders.insert(path) {
            faults.push(format!(
                "feeds.cities has for {slug:?} the path {:?}, which is empty or another city's: each city needs a folder of its own",
                path.display().to_string()
            ));
        }
    }
    faults
}

fn is_slug(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=MAX_SLUG_BYTES).contains(&text.len())
        && text.bytes().all(is_allowed)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::{page_folder, record_feeds};

    fn city(slug: &str, path: &str) -> CitySettings {
        CitySettings { slug: slug.to_owned(), name: "A city".to_owned(), path: path.into() }
    }

    fn faults(cities: &[CitySettings]) -> Vec<String> {
        city_faults(cities, Path::new("feeds"))
    }

    #[test]
    fn a_city_has_a_slug_and_a_folder_of_its_own() {
        assert!(faults(&[city("oakland", "a"), city("new-york-2", "b")]).is_empty());
        let wrong = ["", "Oakland", "-a", "a-", "a/b", "settings.json", "ö", &"x".repeat(41)];
        for slug in wrong.into_iter().chain(TAKEN) {
            let found = faults(&[city(slug, "a")]);
            assert_eq!(found.len(), 1, "{slug}");
            assert!(found.concat().contains("feeds.cities"), "{found:?}");
        }
        assert_eq!(faults(&[city("oakland", "a"), city("oakland", "b")]).len(), 1);
        assert_eq!(faults(&[city("oakland", "a"), city("berkeley", "a")]).len(), 1);
        assert_eq!(faults(&[city("oakland", "feeds")]).len(), 1);
        assert_eq!(faults(&[city("oakland", "")]).len(), 1);
        assert_eq!(faults(&[CitySettings { name: " ".to_owned(), ..city("a", "a") }]).len(), 1);
    }

    #[test]
    fn the_folders_of_pages_are_taken() {
        for folder in record_feeds().filter_map(page_folder) {
            assert!(TAKEN.contains(&folder.trim_end_matches('/')), "{folder}");
        }
    }
}
