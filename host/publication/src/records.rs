//! The records of a publication in a database of this node's own, so that capabilities can search them
//! as they search documents. The database is made for each publication and deleted with it.

use portolan_feeds::{
    descriptions::{self, unpack},
    document::Documents,
    parts::{Parts, id_of},
    record::{Descriptions, FEEDS},
};
use portolan_store::{
    Attachments, Collection, DatabaseUrl, DbError, Expectation, StateError, Store, Unit, Verdict,
};
use portolan_vocabulary::{self as vocabulary, Clock, Geo, HOST, Index, Keyring, Quotas};
use serde_json::{Value, value::RawValue};
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};
use tempfile::TempDir;

/// The maximum number of records that one unit of work writes.
const MAX_UNIT_RECORDS: usize = 500;

/// The members by which the records of a feed can be found. Each record has an `id`.
struct SearchableFeed {
    feed: &'static str,
    paths: &'static [&'static str],
    text: &'static [&'static str],
    geo: Option<(&'static str, &'static str)>,
}

const SEARCHABLE_FEEDS: [SearchableFeed; 8] = [
    SearchableFeed {
        feed: "targets",
        paths: &[
            "id",
            "properties.name",
            "properties.kind",
            "properties.ask[].type",
            "properties.ask[].maturity",
            "properties.stage",
            "properties.status",
            "properties.industries[]",
            "properties.tags[]",
            "properties.geo.neighbourhood",
            "properties.open_roles_count",
            "properties.verified_owner",
            "properties.updated_at",
        ],
        text: &["properties.name", "properties.tagline", "properties.description"],
        geo: Some(("properties.geo.lat", "properties.geo.lng")),
    },
    SearchableFeed {
        feed: "signals",
        paths: &[
            "id",
            "kind",
            "target_id",
            "maturity",
            "occurred_at",
            "detected_at",
            "funding.round",
            "funding.investors[].name",
            "hiring.functions[]",
        ],
        text: &["headline", "summary"],
        geo: None,
    },
    SearchableFeed {
        feed: "questions",
        paths: &["role"],
        text: &["question", "why_it_matters"],
        geo: None,
    },
    SearchableFeed {
        feed: "events",
        paths: &["id", "_map.type", "_map.target_ids[]", "_map.starts_at", "date_published"],
        text: &["title", "summary", "content_text"],
        geo: None,
    },
    SearchableFeed {
        feed: "roles",
        paths: &[
            "id",
            "target_id",
            "function",
            "seniority",
            "employment_type",
            "workplace_type",
            "maturity",
            "base_salary.currency",
            "base_salary.unit",
            "base_salary.min",
            "base_salary.max",
            "date_posted",
        ],
        text: &["title", "department", "description_text"],
        geo: None,
    },
    SearchableFeed {
        feed: "people",
        paths: &["id", "target_id", "role_kind", "expertise[]", "full_name", "updated_at"],
        text: &["full_name", "title", "public_bio"],
        geo: None,
    },
    SearchableFeed {
        feed: "social",
        paths: &["target_id", "platform", "topic", "posted_at"],
        text: &["excerpt"],
        geo: None,
    },
    SearchableFeed {
        feed: "handoffs",
        paths: &["intent", "from.feed"],
        text: &["title"],
        geo: None,
    },
];

/// The folder for the databases of records.
#[derive(Debug)]
pub struct RecordsFolder {
    folder: PathBuf,
    /// The keys of cursors, which are valid on every node with the same keys.
    keys: Keyring,
}

/// The records of one publication.
#[derive(Debug)]
pub struct Records {
    store: Store,
    clock: Clock,
    feeds: BTreeMap<String, Collection>,
    _folder: TempDir,
}

/// The reasons why the records cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum RecordsError {
    #[error("cannot create a folder for the records of the feeds, or read a part: {0}")]
    Files(#[from] std::io::Error),
    #[error("a document cannot be read: {0}")]
    Document(#[from] serde_json::Error),
    #[error("no collection is declared for the feed {0}")]
    Unknown(&'static str),
    #[error("cannot write the records of the feeds: {0}")]
    State(#[from] StateError),
    #[error("the database of the records of the feeds failed: {0}")]
    Db(#[from] Arc<DbError>),
    #[error("the records of the feeds were changed while they were written")]
    Changed,
}

impl From<DbError> for RecordsError {
    fn from(error: DbError) -> Self {
        Self::Db(Arc::new(error))
    }
}

impl RecordsFolder {
    /// Creates the folder, and removes files that a killed host has left in it.
    pub fn open(folder: PathBuf, keys: Keyring) -> io::Result<Self> {
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => fs::create_dir_all(&folder)?,
        }
        Ok(Self { folder, keys })
    }

    /// Returns the folder, in which other files of the publication are made too.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Loads the records of these documents into a new database.
    pub async fn load(
        &self,
        documents: &Documents,
        clock: &Clock,
    ) -> Result<Records, RecordsError> {
        let folder = tempfile::tempdir_in(&self.folder)?;
        let url = DatabaseUrl::Sqlite(folder.path().join("records.db"));
        let store = Store::open(&url, &self.keys, Clock::system(), Quotas::default()).await?;
        let declared: Vec<_> = SEARCHABLE_FEEDS.iter().map(SearchableFeed::declaration).collect();
        let feeds = store.declare(HOST, &declared).await?;
        for feed in &FEEDS {
            let bytes = documents.get(feed.file).map(Vec::as_slice).unwrap_or_default();
            let parts = Parts::of(feed.file, bytes)?;
            let collection = feeds.get(feed.id).ok_or(RecordsError::Unknown(feed.id))?;
            let mut records: BTreeMap<String, &RawValue> =
                parts.records.iter().map(|record| (id_of(record), *record)).collect();
            for part in part_files(documents, feed.id) {
                let bytes = unpack(part)?;
                let descriptions: Descriptions = serde_json::from_slice(&bytes)?;
                let described = descriptions.items.into_iter().filter_map(|description| {
                    let record = records.remove(&description.id)?;
                    Some((description.id, with_text(record, &description.description_text)))
                });
                write(&store, clock, collection, described).await?;
            }
            let others = records.into_iter().map(|(id, record)| (id, record.get().to_owned()));
            write(&store, clock, collection, others).await?;
        }
        Ok(Records { store, clock: clock.clone(), feeds, _folder: folder })
    }
}

/// Returns the parts of a feed, compressed.
fn part_files<'a>(documents: &'a Documents, feed: &str) -> impl Iterator<Item = &'a Vec<u8>> {
    let prefix = format!("{}/{feed}-", descriptions::FOLDER);
    documents.iter().filter(move |(name, _)| name.starts_with(&prefix)).map(|(_, packed)| packed)
}

/// Returns a record with the text of its description, by which it can be found.
fn with_text(record: &RawValue, text: &str) -> String {
    match record.get().strip_suffix('}') {
        Some(fields) => format!("{fields},\"description_text\":{}}}", Value::from(text)),
        None => record.get().to_owned(),
    }
}

async fn write(
    store: &Store,
    clock: &Clock,
    collection: &Collection,
    records: impl Iterator<Item = (String, String)>,
) -> Result<(), RecordsError> {
    let mut records = records.peekable();
    while records.peek().is_some() {
        let mut unit = Unit::new(store.clone(), clock.now());
        for (id, text) in records.by_ref().take(MAX_UNIT_RECORDS) {
            unit.put(collection, &id, text, Expectation::Absent).await?;
        }
        if !matches!(unit.commit(Attachments::default()).await?, Verdict::Committed) {
            return Err(RecordsError::Changed);
        }
    }
    Ok(())
}

impl Records {
    /// Begins a unit of work, for the reads of one call.
    pub fn unit(&self) -> Unit {
        Unit::new(self.store.clone(), self.clock.now())
    }

    /// Returns the collection of a feed.
    pub fn feed(&self, id: &str) -> Option<&Collection> {
        self.feeds.get(id)
    }
}

impl SearchableFeed {
    fn declaration(&self) -> vocabulary::Collection {
        let to_strings = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
        let index = |path: &&str| Index {
            name: path.replace(['.', '[', ']'], "_"),
            paths: vec![(*path).to_owned()],
            unique: false,
        };
        vocabulary::Collection {
            name: self.feed.to_owned(),
            indexes: self.paths.iter().map(index).collect(),
            text: to_strings(self.text),
            geo: self.geo.map(|(latitude, longitude)| Geo {
                latitude: latitude.to_owned(),
                longitude: longitude.to_owned(),
            }),
            version: 1,
            people: Some(Vec::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUIDE: &str = include_str!("../../../docs/plugin-guide.md");

    #[test]
    fn every_feed_is_searchable_by_the_documented_paths() {
        let (_, section) = GUIDE.split_once("## Reading the feeds").unwrap();
        for feed in &FEEDS {
            let searchable =
                SEARCHABLE_FEEDS.iter().find(|searchable| searchable.feed == feed.id).unwrap();
            let row = format!("| `{}` |", feed.id);
            let row = section.lines().find(|line| line.starts_with(&row)).unwrap();
            let documented: Vec<&str> = row.split('`').skip(1).step_by(2).skip(1).collect();
            assert_eq!(documented, [searchable.paths, searchable.text].concat(), "{}", feed.id);
            assert_eq!(row.ends_with("| yes |"), searchable.geo.is_some(), "{}", feed.id);
            assert!(portolan_store::shape(&searchable.declaration()).is_ok(), "{}", feed.id);
        }
    }
}
