//! A document: its keys, its stored form, and the form that a call sees.

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
    /// Which of the collection's unique keys.
    pub(crate) place: usize,
    pub(crate) key: String,
}

/// A document as the database has it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stored {
    /// 0 if there never was one.
    pub(crate) revision: u64,
    /// None if there is none, or no more.
    pub(crate) body: Option<String>,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
}

/// A document as a call gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub id: String,
    pub revision: u64,
    /// A JSON object.
    pub body: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// What must be true of a document for a write to go through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expectation {
    Any,
    Absent,
    Revision(u64),
}
