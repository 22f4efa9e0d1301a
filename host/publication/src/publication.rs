//! All documents of one publication: those of the feeds, and those that the host makes itself.

use crate::{
    data_catalog::{DATA_CATALOG, data_catalog},
    description::{DescribedDocument, description},
    discovery::{self, discovery},
    document::Document,
    entries::{DocumentEntry, entries},
    forms::Forms,
    options::{FeedsOptions, HostDescription},
    pages::Pages,
    part::{Part, parts},
    records::{Records, RecordsError},
};
use portolan_feeds::{
    Roads,
    changes::{Bounds, Cursor, Log, Page, Wanted, cursor_of},
    check,
    descriptions::stored,
    document::{Documents, INDEX},
    parts::{Parts, together},
    record::{DISCOVERY_PATH, FEEDS, Index, Meta, SERVICE},
    schema::SCHEMAS,
};
use portolan_vocabulary::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::Path,
    sync::Arc,
};

/// All documents of one publication. It never changes.
#[derive(Debug)]
pub struct Publication {
    /// The name of its folder.
    pub name: String,
    pub generated_at: Timestamp,
    /// The address of the host in the links of its documents, if that is not this host's.
    pub made_for: Option<String>,
    documents: BTreeMap<String, Arc<Document>>,
    /// The parts of feeds, by path.
    parts: BTreeMap<String, Part>,
    /// The other forms of feeds.
    forms: Forms,
    /// The changes that led to this publication.
    pub log: Arc<Log>,
    /// The records of the feeds, for searches.
    pub records: Arc<Records>,
    /// The metadata of the index, which is that of all feeds.
    pub meta: Meta,
    pub pages: Pages,
}

/// The contents of a publication's folder.
#[derive(Debug)]
pub(crate) struct ReadFolder<'a> {
    /// The name of the folder.
    pub(crate) name: String,
    pub(crate) folder: &'a Path,
    pub(crate) files: &'a Documents,
    /// The ids of records that earlier publications had.
    pub(crate) gone: BTreeSet<String>,
}

/// The reason why a publication cannot be published.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PublicationError {
    #[error("{} faults", .0.len())]
    Faulty(Vec<check::Fault>),
    #[error("a document cannot be read: {0}")]
    Document(#[from] serde_json::Error),
    #[error("a document cannot be compressed, or the log of changes cannot be opened: {0}")]
    Files(#[from] io::Error),
    #[error(
        "it is made for {index}, and is to be served at {path}: build it with the `--city` that has this folder, or without for the first city"
    )]
    Misplaced { index: String, path: String },
    #[error("{0}")]
    Records(#[from] RecordsError),
}

/// A document of which only the metadata is read.
#[derive(Deserialize)]
struct MetaOnly {
    #[serde(rename = "_meta")]
    meta: Meta,
}

impl Publication {
    /// Returns the document at this path.
    pub fn document(&self, path: &str) -> Option<&Arc<Document>> {
        self.documents.get(path)
    }

    /// Returns all documents and schemas, sorted by path.
    pub fn documents(&self) -> impl Iterator<Item = &Arc<Document>> {
        self.documents.values()
    }

    /// Returns the part of a feed at this path.
    pub fn part(&self, path: &str) -> Option<&Part> {
        self.parts.get(path)
    }

    /// Returns the part of a feed at this address of the host.
    pub(crate) fn part_at(&self, address: &str) -> Option<&Part> {
        self.parts.iter().find_map(|(path, part)| address.ends_with(path).then_some(part))
    }

    /// Returns the form of a feed at this path. The first request for it waits until it is made, up to seconds.
    pub async fn form(&self, path: &str) -> io::Result<Option<Part>> {
        let document = |path: &str| Some(self.document(path)?.plain().bytes.clone());
        self.forms.at(path, document).await
    }

    /// Returns the entity tag of each feed, by the feed's id. `roads` says where they are served.
    pub fn feed_tags(&self, roads: &Roads) -> BTreeMap<String, String> {
        let tag = |file: &str| Some(self.document(&roads.path(file))?.plain().etag.clone());
        FEEDS.iter().filter_map(|feed| Some((feed.id.to_owned(), tag(feed.file)?))).collect()
    }

    /// Reads a page of the log of changes, in a thread that may block. `None`: the cursor is not known here, or
    /// no longer.
    pub async fn changes(
        &self,
        since: Cursor,
        wanted: Wanted,
        bounds: Bounds,
    ) -> io::Result<Option<Page>> {
        let log = Arc::clone(&self.log);
        let task = tokio::task::spawn_blocking(move || log.page(&since, &wanted, bounds));
        task.await.map_err(io::Error::other)?
    }

    /// Checks the files in this folder, and makes a publication of them. Documents that have not changed since `previous`
    /// are reused.
    pub(crate) async fn new(
        ReadFolder { name, folder, files, gone }: ReadFolder<'_>,
        options: &FeedsOptions,
        previous: Option<&Self>,
    ) -> Result<Self, PublicationError> {
        let FeedsOptions { host, roads, .. } = options;
        let now = options.clock.now();
        let none = BTreeMap::new();
        let known = previous.map_or(&none, |previous| &previous.parts);
        let checked: BTreeMap<String, &Part> =
            known.iter().map(|(path, part)| (stored(path), part)).collect();
        let is_checked =
            |name: &str, packed: &[u8]| checked.get(name).is_some_and(|part| part.packed == packed);
        let faults = check::faults_of_new(files, &is_checked);
        if !faults.is_empty() {
            return Err(PublicationError::Faulty(faults));
        }
        let index: Index = serde_json::from_slice(document_bytes(files, INDEX))?;
        let Some(made_for) = index.meta.links.index.strip_suffix(&roads.path(INDEX)) else {
            let (index, path) = (index.meta.links.index, roads.path(INDEX));
            return Err(PublicationError::Misplaced { index, path });
        };
        let entries = entries(roads);
        let host_documents = host_documents(files, (host, roads), (&index, &entries))?;
        let scratch = options.records.folder();
        let mut documents = BTreeMap::new();
        for entry in &entries {
            let path = entry.path.as_str();
            let (bytes, made_at) = match host_documents.get(path) {
                Some(bytes) => (bytes, now),
                None => {
                    let bytes = document_bytes(files, path);
                    (bytes, to_timestamp(read_meta(bytes)?.generated_at))
                }
            };
            let existing = previous.and_then(|previous| previous.document(path));
            let document = match existing.filter(|existing| existing.plain().bytes == bytes) {
                Some(existing) => Arc::clone(existing),
                // A document that replaces another has changed now, whenever it was made.
                None => {
                    let modified = if previous.is_some() { now } else { made_at.min(now) };
                    // Hubs are notified of the documents of a build, and not of the host's own.
                    let is_built = !host_documents.contains_key(path);
                    let address = format!("{}{path}", host.public_url);
                    let link = options.hubs.link(&address).filter(|_| is_built);
                    let entry = Arc::clone(entry);
                    Arc::new(Document::new(entry, bytes.clone(), modified, link, scratch)?)
                }
            };
            documents.insert(path.to_owned(), document);
        }
        let other_host = (made_for != host.public_url).then(|| made_for.to_owned());
        let generated_at = to_timestamp(index.meta.generated_at);
        let records = Arc::new(options.records.load(files, &options.clock).await?);
        let parts = parts(&index, files, known);
        let cursor = cursor_of(document_bytes(files, INDEX)).unwrap_or_default();
        let log = Arc::new(Log::open(folder, cursor)?);
        let (made_for, forms) = (other_host, Forms::new(roads));
        let (pages, meta) = (Pages::of(files, gone)?, index.meta);
        Ok(Self {
            name,
            generated_at,
            made_for,
            documents,
            parts,
            forms,
            log,
            records,
            meta,
            pages,
        })
    }
}

/// Returns the documents that the host makes itself, by path: the manifest, the description, the catalogue
/// of data and the schemas. They are those of the entries.
fn host_documents(
    files: &Documents,
    (host, roads): (&HostDescription, &Roads),
    (index, entries): (&Index, &[Arc<DocumentEntry>]),
) -> Result<BTreeMap<String, Vec<u8>>, serde_json::Error> {
    let manifest = serde_json::to_value(discovery(host, roads, index))?;
    let mut schemas: BTreeMap<&str, Value> = BTreeMap::new();
    for (name, text) in SCHEMAS {
        schemas.insert(name, serde_json::from_str(text)?);
    }
    schemas.insert(discovery::SCHEMA, discovery::schema());
    let mut described = Vec::new();
    for entry in entries {
        let Some(schema) = entry.schema.and_then(|name| schemas.get(name)) else { continue };
        let example = match entry.path == DISCOVERY_PATH {
            true => manifest.clone(),
            false => shortened_example(file_of(&entry.path), document_bytes(files, &entry.path))?,
        };
        described.push(DescribedDocument {
            entry: Arc::clone(entry),
            schema: schema.clone(),
            example,
        });
    }
    let service = description((host, roads), (&index.meta, entries), described);
    let data_catalog = data_catalog(host, roads, index);
    let schemas =
        schemas.iter().map(|(name, schema)| (roads.path(&format!("schemas/{name}")), schema));
    let host_documents = [
        (DISCOVERY_PATH.to_owned(), &manifest),
        (roads.path(SERVICE), &service),
        (roads.path(DATA_CATALOG), &data_catalog),
    ];
    host_documents
        .into_iter()
        .chain(schemas)
        .map(|(path, value)| Ok((path, json_line(value)?)))
        .collect()
}

/// Returns a document with only its first record and only the first entry of its member
/// `by_target`.
fn shortened_example(file: &str, bytes: &[u8]) -> Result<Value, serde_json::Error> {
    let Parts { mut head, mut records } = Parts::of(file, bytes)?;
    records.truncate(1);
    if let Some(Value::Object(entries)) = head.get_mut("by_target") {
        *entries = std::mem::take(entries).into_iter().take(1).collect();
    }
    serde_json::from_slice(&together(file, &head, &records)?)
}

fn json_line(value: &Value) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = serde_json::to_vec(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Returns the bytes of a document of the feeds, which is there because the files were checked.
fn document_bytes<'a>(files: &'a Documents, path: &str) -> &'a Vec<u8> {
    static EMPTY: Vec<u8> = Vec::new();
    files.get(file_of(path)).unwrap_or(&EMPTY)
}

fn file_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

fn read_meta(bytes: &[u8]) -> Result<Meta, serde_json::Error> {
    Ok(serde_json::from_slice::<MetaOnly>(bytes)?.meta)
}

fn to_timestamp(at: portolan_feeds::Timestamp) -> Timestamp {
    Timestamp::from_millis(u64::try_from(at.as_millis()).unwrap_or(0))
}
