//! A document on its way into another generation.

use crate::{document::Stored, integers::unsigned};
use portolan_vocabulary::Timestamp;
use serde_json::Value;

/// The maximum number of documents that are written in one transaction, because calls wait meanwhile.
pub(super) const CHUNK: usize = 200;

/// A document as it is before its migration.
#[derive(Debug, Clone)]
pub struct OldDocument {
    pub id: String,
    pub(super) stored: Stored,
    /// The revision in the list of changes; 0 if the document is not in that list.
    pub(super) change_revision: u64,
}

/// A document with the outcome of its migration: its new body, or why there is none.
pub type Migrated = (OldDocument, Result<Value, String>);

impl OldDocument {
    /// Returns the body; `None` if the document was deleted.
    pub fn body(&self) -> Option<&str> {
        self.stored.body.as_deref()
    }
}

pub(super) fn stored(
    revision: i64,
    body: Option<String>,
    created_at: i64,
    updated_at: i64,
) -> Stored {
    Stored {
        revision: unsigned(revision),
        body,
        created_at: Timestamp::from_millis(unsigned(created_at)),
        updated_at: Timestamp::from_millis(unsigned(updated_at)),
    }
}

/// Returns the first documents that have at most `bytes` bytes in total; the first one even if it has more.
pub(super) fn take_bytes(
    documents: impl Iterator<Item = OldDocument>,
    bytes: usize,
) -> Vec<OldDocument> {
    let mut total = 0;
    let fits = |document: &OldDocument| {
        let first = total == 0;
        total += document.stored.bytes(&document.id);
        first || total <= bytes
    };
    documents.take_while(fits).collect()
}
