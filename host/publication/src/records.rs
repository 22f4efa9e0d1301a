//! The records of a publication of the feeds, so that capabilities can find them as they find
//! documents: in a small database of this node's own, made anew for each publication and gone with it.

use portolan_feeds::{
    document::Documents,
    parts::{Parts, id_of},
    record::FEEDS,
};
use portolan_store::{
    Attachments, Collection, DatabaseUrl, DbError, Expectation, StateError, Store, Unit, Verdict,
};
use portolan_vocabulary::{self as vocabulary, Clock, Geo, Index, Keyring, Timestamp};
use serde_json::value::RawValue;
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};
use tempfile::TempDir;

/// Records that are written at once.
const CHUNK: usize = 500;

/// What records of a feed can be found by. A feed's records have an `id` each.
struct Findable {
    feed: &'static str,
    paths: &'static [&'static str],
    text: &'static [&'static str],
    geo: Option<(&'static str, &'static str)>,
}

const FINDABLE: [Findable; 8] = [
    Findable {
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
    Findable {
        feed: "signals",
        paths: &[
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
    Findable {
        feed: "questions",
        paths: &["role"],
        text: &["question", "why_it_matters"],
        geo: None,
    },
    Findable {
        feed: "events",
        paths: &["_map.type", "_map.target_ids[]", "_map.starts_at", "date_published"],
        text: &["title", "summary", "content_text"],
        geo: None,
    },
    Findable {
        feed: "roles",
        paths: &[
            "target_id",
            "function",
            "seniority",
            "employment_type",
            "workplace_type",
            "maturity",
            "base_salary.currency",
            "date_posted",
        ],
        text: &["title", "department", "description_text"],
        geo: None,
    },
    Findable {
        feed: "people",
        paths: &["target_id", "role_kind", "expertise[]"],
        text: &["full_name", "title", "public_bio"],
        geo: None,
    },
    Findable {
        feed: "social",
        paths: &["target_id", "platform", "topic", "posted_at"],
        text: &["excerpt"],
        geo: None,
    },
    Findable { feed: "handoffs", paths: &["intent", "from.feed"], text: &["title"], geo: None },
];

/// Where records are kept while they are in force.
#[derive(Debug)]
pub struct Shelf {
    folder: PathBuf,
    /// Cursors are good on every node that has these.
    keys: Keyring,
}

/// What was published, to be looked into.
#[derive(Debug)]
pub struct Records {
    /// Of the publication.
    pub version: String,
    store: Store,
    feeds: BTreeMap<String, Collection>,
    _folder: TempDir,
}

/// Why the records cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum RecordsError {
    #[error("cannot make a folder for the records of the feeds: {0}")]
    Folder(#[from] std::io::Error),
    #[error("a document cannot be read: {0}")]
    Document(#[from] serde_json::Error),
    #[error("the feed {0} cannot be searched")]
    Unknown(&'static str),
    #[error("the records of the feeds: {0}")]
    State(#[from] StateError),
    #[error("the records of the feeds: {0}")]
    Db(#[from] Arc<DbError>),
    #[error("the records of the feeds were changed by somebody else")]
    Changed,
}

impl From<DbError> for RecordsError {
    fn from(error: DbError) -> Self {
        Self::Db(Arc::new(error))
    }
}

impl Shelf {
    /// In this folder, from which what a host left there that was killed is removed.
    pub fn open(folder: PathBuf, keys: Keyring) -> io::Result<Self> {
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => fs::create_dir_all(&folder)?,
        }
        Ok(Self { folder, keys })
    }

    /// For what is made of the feeds while the host runs.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The records of these documents.
    pub async fn put(
        &self,
        version: String,
        documents: &Documents,
    ) -> Result<Records, RecordsError> {
        let folder = tempfile::tempdir_in(&self.folder)?;
        let url = DatabaseUrl::Sqlite(folder.path().join("records.db"));
        let store = Store::open(&url, &self.keys, Clock::system()).await?;
        let declared: Vec<_> = FINDABLE.iter().map(Findable::declaration).collect();
        let feeds = store.declare("feeds", &declared).await?;
        for feed in &FEEDS {
            let bytes = documents.get(feed.file).map(Vec::as_slice).unwrap_or_default();
            let parts = Parts::of(feed.file, bytes)?;
            let collection = feeds.get(feed.id).ok_or(RecordsError::Unknown(feed.id))?;
            write(&store, collection, &parts.records).await?;
        }
        Ok(Records { version, store, feeds, _folder: folder })
    }
}

async fn write(
    store: &Store,
    collection: &Collection,
    records: &[&RawValue],
) -> Result<(), RecordsError> {
    for records in records.chunks(CHUNK) {
        let mut unit = Unit::new(store.clone(), Timestamp::now());
        for record in records {
            let text = record.get().to_owned();
            unit.put(collection, &id_of(record), text, Expectation::Absent).await?;
        }
        if !matches!(unit.commit(Attachments::default()).await?, Verdict::Committed) {
            return Err(RecordsError::Changed);
        }
    }
    Ok(())
}

impl Records {
    /// For what one call asks.
    pub fn unit(&self) -> Unit {
        Unit::new(self.store.clone(), Timestamp::now())
    }

    pub fn feed(&self, id: &str) -> Option<&Collection> {
        self.feeds.get(id)
    }
}

impl Findable {
    fn declaration(&self) -> vocabulary::Collection {
        let owned = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
        let index = |path: &&str| Index {
            name: path.replace(['.', '[', ']'], "_"),
            paths: vec![(*path).to_owned()],
            unique: false,
        };
        vocabulary::Collection {
            name: self.feed.to_owned(),
            indexes: self.paths.iter().map(index).collect(),
            text: owned(self.text),
            geo: self.geo.map(|(latitude, longitude)| Geo {
                latitude: latitude.to_owned(),
                longitude: longitude.to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUIDE: &str = include_str!("../../../docs/plugin-guide.md");

    #[test]
    fn every_feed_can_be_searched_as_the_guide_says() {
        let (_, section) = GUIDE.split_once("## Reading the feeds").unwrap();
        for feed in &FEEDS {
            let findable = FINDABLE.iter().find(|it| it.feed == feed.id).unwrap();
            let row = format!("| `{}` |", feed.id);
            let row = section.lines().find(|line| line.starts_with(&row)).unwrap();
            let told: Vec<&str> = row.split('`').skip(1).step_by(2).skip(1).collect();
            assert_eq!(told, [findable.paths, findable.text].concat(), "{}", feed.id);
            assert_eq!(row.ends_with("| yes |"), findable.geo.is_some(), "{}", feed.id);
            assert!(portolan_store::shape(&findable.declaration()).is_ok(), "{}", feed.id);
        }
    }
}
