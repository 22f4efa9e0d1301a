//! A document: its keys, its stored form, and the form that a call sees.

use portolan_query::Entry;
use portolan_vocabulary::Timestamp;

/// A collection's number in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CollectionId(pub(crate) i64);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct DocumentKey {
    pub(crate) collection: CollectionId,
    pub(crate) id: String,
}

/// A value that at most one document of a collection may have.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct UniqueKey {
    pub(crate) collection: CollectionId,
    /// The position of the index among the unique indexes of the collection.
    pub(crate) place: usize,
    pub(crate) key: String,
}

impl UniqueKey {
    /// Returns the values of a document that no other document of the collection may have.
    pub(crate) fn of(entry: &Entry, collection: CollectionId) -> impl Iterator<Item = Self> + '_ {
        let places = entry.uniques.iter().enumerate();
        places.flat_map(move |(place, keys)| {
            keys.iter().map(move |key| Self { collection, place, key: key.clone() })
        })
    }
}

/// A document as it is stored.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stored {
    /// 0 if the document never existed.
    pub(crate) revision: u64,
    /// `None` if the document does not exist.
    pub(crate) body: Option<String>,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
}

impl Stored {
    /// Returns the bytes of memory that the document takes together with its id.
    pub(crate) fn bytes(&self, id: &str) -> usize {
        size_of::<Self>() + id.len() + self.body.as_ref().map_or(0, String::len)
    }
}

/// A document that a call has read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub id: String,
    pub revision: u64,
    /// A JSON object.
    pub body: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// A condition of a write on the current state of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expectation {
    Any,
    Absent,
    Revision(u64),
}
