//! All documents of one publication: those of the feeds, and those that the host makes itself.

use crate::{
    description::{Described, description},
    discovery::{self, discovery},
    document::Document,
    entries::entries,
    options::{About, FeedsOptions},
    records::{Records, RecordsError},
};
use portolan_feeds::{
    Roads, check,
    document::{Documents, INDEX},
    parts::{Parts, together},
    record::{DISCOVERY_PATH, Index, Meta, SERVICE},
    schema::SCHEMAS,
};
use portolan_vocabulary::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use std::{collections::BTreeMap, io, sync::Arc};

/// All documents of one publication. It never changes.
#[derive(Debug)]
pub struct Publication {
    /// The name of its folder.
    pub name: String,
    pub generated_at: Timestamp,
    /// The address of the host in the links of its documents, if that is not this host's.
    pub made_for: Option<String>,
    documents: BTreeMap<&'static str, Arc<Document>>,
    /// The records of the feeds, for searches.
    pub records: Arc<Records>,
}

/// The reason why a publication cannot be published.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PublicationError {
    #[error("{} faults", .0.len())]
    Faulty(Vec<check::Fault>),
    #[error("a document cannot be read: {0}")]
    Document(#[from] serde_json::Error),
    #[error("a document cannot be compressed: {0}")]
    Compress(#[from] io::Error),
    #[error("{0}")]
    Records(#[from] RecordsError),
}

/// A document of which only the metadata is read.
#[derive(Deserialize)]
struct DocumentHead {
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

    /// Checks the files, and makes a publication of them. Documents that have not changed since `before` are
    /// reused.
    pub(crate) async fn new(
        name: String,
        files: &Documents,
        options: &FeedsOptions,
        before: Option<&Self>,
    ) -> Result<Self, PublicationError> {
        let (about, now) = (&options.about, options.clock.now());
        let faults = check::faults(files);
        if !faults.is_empty() {
            return Err(PublicationError::Faulty(faults));
        }
        let index: Index = serde_json::from_slice(published(files, INDEX))?;
        let own = own(files, about, &index)?;
        let folder = options.records.folder();
        let mut documents = BTreeMap::new();
        for entry in entries() {
            let path = entry.path.as_str();
            let (bytes, made) = match own.get(path) {
                Some(bytes) => (bytes, now),
                None => {
                    let bytes = published(files, path);
                    (bytes, instant(head(bytes)?.generated_at))
                }
            };
            let same = before.and_then(|before| before.document(path));
            let document = match same.filter(|same| same.plain().bytes == bytes) {
                Some(same) => Arc::clone(same),
                // A document that replaces another has changed now, whenever it was made.
                None => {
                    let modified = if before.is_some() { now } else { made.min(now) };
                    Arc::new(Document::new(entry, bytes.clone(), modified, folder)?)
                }
            };
            documents.insert(path, document);
        }
        let made_for = index.meta.links.index.strip_suffix(&Roads::path(INDEX));
        let elsewhere = made_for.filter(|url| *url != about.public_url).map(str::to_owned);
        let generated_at = instant(index.meta.generated_at);
        let records = Arc::new(options.records.load(name.clone(), files, &options.clock).await?);
        Ok(Self { name, generated_at, made_for: elsewhere, documents, records })
    }
}

/// Returns the documents that the host makes itself, by path: the manifest, the description and the
/// schemas.
fn own(
    files: &Documents,
    about: &About,
    index: &Index,
) -> Result<BTreeMap<String, Vec<u8>>, serde_json::Error> {
    let manifest = serde_json::to_value(discovery(about, index))?;
    let mut schemas: BTreeMap<&str, Value> = BTreeMap::new();
    for (name, text) in SCHEMAS {
        schemas.insert(name, serde_json::from_str(text)?);
    }
    schemas.insert(discovery::SCHEMA, discovery::schema());
    let mut described = Vec::new();
    for entry in entries() {
        let Some(schema) = entry.schema.and_then(|name| schemas.get(name)) else { continue };
        let example = match entry.path == DISCOVERY_PATH {
            true => manifest.clone(),
            false => shortened(file_of(&entry.path), published(files, &entry.path))?,
        };
        described.push(Described { entry, schema: schema.clone(), example });
    }
    let service = description(about, &index.meta, described);
    let schemas = schemas.iter().map(|(name, schema)| (schema_path(name), schema));
    let own = [(DISCOVERY_PATH.to_owned(), &manifest), (Roads::path(SERVICE), &service)];
    own.into_iter().chain(schemas).map(|(path, value)| Ok((path, line(value)?))).collect()
}

/// Returns a document with only its first record and only the first entry of its member
/// `by_target`.
fn shortened(file: &str, bytes: &[u8]) -> Result<Value, serde_json::Error> {
    let Parts { mut head, mut records } = Parts::of(file, bytes)?;
    records.truncate(1);
    if let Some(Value::Object(listed)) = head.get_mut("by_target") {
        *listed = std::mem::take(listed).into_iter().take(1).collect();
    }
    serde_json::from_slice(&together(file, &head, &records)?)
}

fn schema_path(name: &str) -> String {
    Roads::path(&format!("schemas/{name}"))
}

fn line(value: &Value) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = serde_json::to_vec(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Returns the bytes of a document of the feeds, which is there because the files were checked.
fn published<'a>(files: &'a Documents, path: &str) -> &'a Vec<u8> {
    static NOTHING: Vec<u8> = Vec::new();
    files.get(file_of(path)).unwrap_or(&NOTHING)
}

fn file_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

fn head(bytes: &[u8]) -> Result<Meta, serde_json::Error> {
    Ok(serde_json::from_slice::<DocumentHead>(bytes)?.meta)
}

fn instant(at: portolan_feeds::Timestamp) -> Timestamp {
    Timestamp::from_millis(u64::try_from(at.as_millis()).unwrap_or(0))
}
