//! Documents of an earlier form: the input and output of the action `migrate`.
//!
//! A collection whose documents get another form declares a higher version, and the capability has an
//! internal action `migrate`. When the new version is installed, the host gives it the stored documents,
//! some at a time, while the old version serves:
//!
//! ```
//! use portolan_sdk::{migration::{Migrated, Migration}, prelude::*};
//!
//! #[derive(Deserialize)]
//! struct OldNote {
//!     text: String,
//! }
//!
//! #[document]
//! struct Note {
//!     lines: Vec<String>,
//! }
//!
//! const NOTES: Collection<Note> = Collection::new("notes").version(2).nobody();
//!
//! struct Notes;
//!
//! /// Keeps notes.
//! #[capability(id = "notes", title = "Notes", collections = [NOTES])]
//! impl Notes {
//!     /// Give notes of version 1 their lines.
//!     #[action(access = internal, idempotent)]
//!     fn migrate(_call: &Call, input: Migration) -> Result<Migrated, Infallible> {
//!         Ok(input.each(|old: OldNote| {
//!             Ok(Note { lines: old.text.lines().map(str::to_owned).collect() })
//!         }))
//!     }
//! }
//! ```
//!
//! The action must not use any import of the host. A document for which it returns an error is put
//! into quarantine with its old form: the operator can see and repair it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

/// Documents to migrate.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Migration {
    /// The name of the collection.
    pub collection: String,
    /// The version of the stored documents. It is higher than `to` if an older version is installed again.
    pub from: u32,
    /// The version that this component declares.
    pub to: u32,
    pub documents: Vec<OldDocument>,
}

/// A document before its migration.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OldDocument {
    pub id: String,
    pub document: Map<String, Value>,
}

/// The migrated documents, one for each given one.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Migrated {
    pub documents: Vec<NewDocument>,
}

/// A document after its migration.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NewDocument {
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<Value>,
    /// Why the document cannot be migrated, for the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Migration {
    /// Migrates each document. A document that cannot be parsed as `Old`, or for which `migrate`
    /// fails, gets an error; the others are migrated nevertheless.
    pub fn each<Old: DeserializeOwned, New: Serialize>(
        self,
        migrate: impl Fn(Old) -> Result<New, String>,
    ) -> Migrated {
        let migrated = |OldDocument { id, document }| {
            let old = serde_json::from_value(Value::Object(document));
            let new = old.map_err(|error| error.to_string()).and_then(&migrate);
            let new =
                new.and_then(|new| serde_json::to_value(new).map_err(|error| error.to_string()));
            match new {
                Ok(document) => NewDocument { id, document: Some(document), error: None },
                Err(error) => NewDocument { id, document: None, error: Some(error) },
            }
        };
        Migrated { documents: self.documents.into_iter().map(migrated).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_document_is_migrated_by_itself() {
        let migration: Migration = serde_json::from_value(json!({
            "collection": "notes", "from": 1, "to": 2,
            "documents": [
                { "id": "a", "document": { "n": 1 } },
                { "id": "b", "document": { "n": "one" } },
                { "id": "c", "document": { "n": 3 } },
            ],
        }))
        .unwrap();
        #[derive(Deserialize)]
        struct Old {
            n: u32,
        }
        let migrated = migration.each(|old: Old| match old.n {
            3 => Err("three is too many".to_owned()),
            n => Ok(json!({ "number": n })),
        });
        let documents: Vec<_> = migrated
            .documents
            .iter()
            .map(|document| (document.id.as_str(), document.document.is_some()))
            .collect();
        assert_eq!(documents, [("a", true), ("b", false), ("c", false)]);
        assert_eq!(migrated.documents[2].error.as_deref(), Some("three is too many"));
    }
}
