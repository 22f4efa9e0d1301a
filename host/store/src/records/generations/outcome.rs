//! The outcome of a document's migration: what is checked, and what is quarantined.

use super::{
    document::OldDocument,
    generation::{Generation, Outdated},
};
use crate::{
    document::{CollectionId, UniqueKey},
    error::DbError,
    query::{Entry, Shape, shape},
    records::quarantine::redacted_reason,
    unit::DOCUMENT_BYTES,
};
use portolan_vocabulary::People;
use serde_json::Value;

/// The outcome for a document in the new generation.
#[derive(Debug)]
pub(super) enum Outcome {
    Written {
        body: String,
        entry: Entry,
    },
    Quarantined(String),
    Deleted,
    /// The document is written again later, because another one has its unique value.
    Deferred,
}

impl Outcome {
    pub(super) fn unique_keys(
        &self,
        collection: CollectionId,
    ) -> impl Iterator<Item = UniqueKey> + '_ {
        let entry = match self {
            Self::Written { entry, .. } => Some(entry),
            _ => None,
        };
        entry.into_iter().flat_map(move |entry| UniqueKey::of(entry, collection))
    }
}

impl Generation {
    /// Returns the outcome for a document. A document that a call could not write is quarantined.
    pub(super) fn outcome(
        &self,
        document: &OldDocument,
        migrated: Result<Value, String>,
    ) -> Outcome {
        if document.stored.body.is_none() {
            return Outcome::Deleted;
        }
        let checked = match (self.reindexes, &document.stored.body) {
            (true, Some(body)) => self.index(body),
            _ => migrated.and_then(|value| self.check_document(&document.id, value)),
        };
        match checked {
            Ok((body, entry)) => Outcome::Written { body, entry },
            Err(reason) => Outcome::Quarantined(redacted_reason(&reason)),
        }
    }

    /// Returns the body and the index entry of a document that stays as it is.
    fn index(&self, body: &str) -> Result<(String, Entry), String> {
        let value: Value = serde_json::from_str(body).unwrap_or_default();
        let entry = self.layout.shape.entry(&value).map_err(|error| error.to_string())?;
        Ok((body.to_owned(), entry))
    }

    fn check_document(&self, id: &str, value: Value) -> Result<(String, Entry), String> {
        let entry = check_migrated(&self.people, &self.layout.shape, id, &value)?;
        let body = value.to_string();
        match body.len() > DOCUMENT_BYTES {
            true => Err(format!("the migrated document is larger than {DOCUMENT_BYTES} bytes")),
            false => Ok((body, entry)),
        }
    }
}

impl Outdated {
    /// Checks that a migrated document can be stored; the error says why not.
    pub fn check_document(&self, id: &str, value: &Value) -> Result<(), String> {
        let people = People::new(self.declared.people.as_deref().unwrap_or_default())?;
        let shape = shape(&self.declared).map_err(|error| error.to_string())?;
        check_migrated(&people, &shape, id, value).map(|_entry| ())
    }
}

/// Ensures that documents that are indexed anew fit their indexes. The error is `Unindexable`.
pub(super) fn ensure_indexed(
    collection: &str,
    outcomes: &[(OldDocument, Outcome)],
) -> Result<(), DbError> {
    for (document, outcome) in outcomes {
        if let Outcome::Quarantined(error) = outcome {
            return Err(DbError::Unindexable {
                collection: collection.to_owned(),
                id: document.id.clone(),
                error: error.clone(),
            });
        }
    }
    Ok(())
}

/// Checks what a call checks when it writes a document.
fn check_migrated(
    people: &People,
    shape: &Shape,
    id: &str,
    value: &Value,
) -> Result<Entry, String> {
    if !value.is_object() {
        return Err("the migrated document is not a JSON object".to_owned());
    }
    if let Some(person) = people.find_undeclared_person(id, value) {
        let at = person.at;
        return Err(format!("undeclared_person: the migrated document names a person at {at}"));
    }
    shape.entry(value).map_err(|error| error.to_string())
}
