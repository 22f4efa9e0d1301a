//! The documents about blobs, which are the host's own: in the same transactions as those of capabilities.

use portolan_store::{
    Attachments, Collection, DbError, Expectation, Hit, StateError, Store, Unit, Verdict,
    query::{Query, Request},
};
use portolan_vocabulary::{self as vocabulary, Erasure, HOST, Index, Person};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// A blob, keyed by its id.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct BlobRecord {
    /// The capability whose blob it is.
    pub capability: String,
    pub owner_id: String,
    pub test_mode: bool,
    /// The SHA-256 digest of its content as 64 hexadecimal digits; `None` until it is uploaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The bytes that count for the person: those of the content, before the upload those that it may have.
    pub bytes: u64,
    /// The internal action that runs when the upload has arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// When an upload that has not arrived ends, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
    /// How it is served; `None` if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serving: Option<Serving>,
}

/// How a blob is served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Serving {
    /// A type of the table in `served`.
    pub media_type: String,
    /// Whether everybody who has the address may read it.
    pub public: bool,
}

/// A content, keyed by its digest.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ContentRecord {
    /// The name of its file.
    pub object: String,
    pub bytes: u64,
    /// When a blob was given this content for the last time. A removal that has seen no blob then conflicts.
    pub used_at: u64,
}

/// The number and bytes of a person's blobs, keyed by the person's id.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct AccountRecord {
    pub files: u64,
    pub bytes: u64,
}

/// The host's collections of blobs.
#[derive(Debug)]
pub(crate) struct Records {
    pub blobs: Collection,
    pub contents: Collection,
    pub accounts: Collection,
    pub places: Collection,
}

pub(crate) const CONTENT: &str = "content";
pub(crate) const OWNER: &str = "owner_id";
pub(crate) const EXPIRES_AT: &str = "expires_at";

/// Each collection with its indexes and the path that names a person.
const COLLECTIONS: [(&str, &[&str], Option<&str>); 4] = [
    ("blobs", &[CONTENT, OWNER, EXPIRES_AT], Some(OWNER)),
    ("blob_contents", &["used_at"], None),
    ("blob_accounts", &[], Some("$id")),
    ("blob_places", &[], None),
];

impl Records {
    /// Declares the collections to the store.
    pub(crate) async fn open(store: &Store) -> Result<Self, DbError> {
        let declared: Vec<_> = COLLECTIONS.iter().map(declaration).collect();
        let mut collections = store.declare(HOST, &declared).await?;
        let mut take = |name: &str| {
            collections.remove(name).ok_or_else(|| DbError::Declaration(name.to_owned()))
        };
        Ok(Self {
            blobs: take("blobs")?,
            contents: take("blob_contents")?,
            accounts: take("blob_accounts")?,
            places: take("blob_places")?,
        })
    }
}

fn declaration((name, indexes, person): &(&str, &[&str], Option<&str>)) -> vocabulary::Collection {
    let index = |path: &&str| Index {
        name: (*path).to_owned(),
        paths: vec![(*path).to_owned()],
        unique: false,
    };
    let person = person.map(|path| Person {
        path: path.to_owned(),
        erasure: Erasure::DeleteDocument,
        fields: Vec::new(),
    });
    vocabulary::Collection {
        name: (*name).to_owned(),
        indexes: indexes.iter().map(index).collect(),
        text: Vec::new(),
        geo: None,
        version: 1,
        people: Some(person.into_iter().collect()),
    }
}

/// Reads a record and its revision.
pub(crate) async fn read<T: DeserializeOwned>(
    unit: &mut Unit,
    collection: &Collection,
    id: &str,
) -> Result<Option<(T, u64)>, StateError> {
    let Some(document) = unit.get(collection, id).await? else { return Ok(None) };
    Ok(Some((parse(id, &document.body)?, document.revision)))
}

pub(crate) fn parse<T: DeserializeOwned>(id: &str, body: &str) -> Result<T, StateError> {
    serde_json::from_str(body)
        .map_err(|error| StateError::Invalid(format!("the record {id} cannot be read: {error}")))
}

pub(crate) async fn write<T: Serialize>(
    unit: &mut Unit,
    collection: &Collection,
    id: &str,
    record: &T,
    expect: Expectation,
) -> Result<(), StateError> {
    unit.put(collection, id, json!(record).to_string(), expect).await?;
    Ok(())
}

/// Returns at most `limit` documents whose value at the path satisfies the comparison, such as `{"eq":1}`.
pub(crate) async fn find(
    unit: &mut Unit,
    collection: &Collection,
    (path, comparison): (&str, Value),
    limit: u32,
) -> Result<Vec<Hit>, StateError> {
    let filter = json!({ path: comparison }).to_string();
    let request = Request {
        filter: Some(&filter),
        text: None,
        near: None,
        within: None,
        order: &[],
        limit,
        unchecked: false,
    };
    let query = Query::new(collection.shape(), request)
        .map_err(|error| StateError::Invalid(error.to_string()))?;
    Ok(unit.find(collection, &query, None).await?.hits)
}

/// Commits a unit. Returns `false` if it was not committed, such as after a conflict.
pub(crate) async fn commit(unit: Unit) -> Result<bool, StateError> {
    let verdict = unit.commit(Attachments::default()).await;
    let verdict = verdict.map_err(|error| StateError::Db(DbError::Shared(error)))?;
    Ok(verdict == Verdict::Committed)
}
