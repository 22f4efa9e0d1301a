//! The records of a publication that have pages, for the sitemap, and those that had them earlier.

use portolan_feeds::{
    Timestamp,
    document::Documents,
    parts::Parts,
    record::{FEEDS, Feed},
};
use serde::Deserialize;
use std::collections::BTreeSet;

/// The end of a page's template in which only the record's id is filled in.
const ID: &str = "{id}";

/// A record with a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageEntry {
    pub feed: &'static str,
    pub id: String,
    pub updated_at: Timestamp,
}

/// The records with pages.
#[derive(Debug, Default)]
pub struct Pages {
    /// The entries of each feed in turn, in the order of the documents.
    pub entries: Vec<PageEntry>,
    /// The ids of records that earlier publications had.
    pub gone: BTreeSet<String>,
}

/// The fields of a record that a sitemap needs; where they are depends on the feed.
#[derive(Deserialize)]
struct Dated {
    id: String,
    updated_at: Option<Timestamp>,
    properties: Option<Updated>,
    #[serde(rename = "_map")]
    map: Option<Updated>,
}

#[derive(Deserialize)]
struct Updated {
    updated_at: Timestamp,
}

/// Returns the folder of a feed's pages below the city's path, with a slash at its end, if each record has a
/// page of its own.
pub fn page_folder(feed: &Feed) -> Option<&'static str> {
    feed.page?.strip_suffix(ID).filter(|folder| !folder.contains(['{', '#']))
}

/// Returns the feeds whose records have pages of their own.
pub fn record_feeds() -> impl Iterator<Item = &'static Feed> {
    FEEDS.iter().filter(|feed| page_folder(feed).is_some())
}

impl Pages {
    pub(crate) fn of(documents: &Documents, gone: BTreeSet<String>) -> serde_json::Result<Self> {
        let mut entries = Vec::new();
        for feed in record_feeds() {
            let bytes = documents.get(feed.file).map(Vec::as_slice).unwrap_or_default();
            for record in Parts::of(feed.file, bytes)?.records {
                let Dated { id, updated_at, properties, map } = serde_json::from_str(record.get())?;
                let inner = properties.or(map).map(|inner| inner.updated_at);
                let updated_at = updated_at.or(inner).unwrap_or_default();
                entries.push(PageEntry { feed: feed.id, id, updated_at });
            }
        }
        Ok(Self { entries, gone })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_in_the_folder_of_its_feed() {
        let folders: Vec<_> =
            FEEDS.iter().filter_map(|feed| Some((feed.id, page_folder(feed)?))).collect();
        let expected = [
            ("targets", "companies/"),
            ("events", "events/"),
            ("roles", "roles/"),
            ("people", "people/"),
        ];
        assert_eq!(folders, expected);
    }

    #[test]
    fn records_are_listed_with_the_time_of_their_last_change() {
        let mut documents: Documents = (FEEDS.iter())
            .map(|feed| (feed.file.to_owned(), format!("{{\"{}\":[]}}", feed.records).into_bytes()))
            .collect();
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        documents.insert(
            "sf-live-targets.json".to_owned(),
            br#"{"features":[{"id":"tgt_1","properties":{"updated_at":"2026-11-01"}}]}"#.to_vec(),
        );
        documents.insert(
            "sf-job-roles.json".to_owned(),
            br#"{"items":[{"id":"rol_1","updated_at":"2026-11-02"}]}"#.to_vec(),
        );
        documents.insert(
            "sf-events.json".to_owned(),
            br#"{"items":[{"id":"evn_1","_map":{"updated_at":"2026-11-03"}}]}"#.to_vec(),
        );
        let pages = Pages::of(&documents, BTreeSet::new()).unwrap();
        let listed: Vec<_> =
            pages.entries.iter().map(|entry| (entry.feed, &*entry.id, entry.updated_at)).collect();
        let expected = [
            ("targets", "tgt_1", at("2026-11-01")),
            ("events", "evn_1", at("2026-11-03")),
            ("roles", "rol_1", at("2026-11-02")),
        ];
        assert_eq!(listed, expected);
    }
}
