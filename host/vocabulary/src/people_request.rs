//! A request for the export or erasure of a person's data, as it is stored until the host runs it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A component's request to the host about the data of a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum PeopleRequest {
    Export {
        export_id: String,
        owner_id: String,
        /// The component's own data, which its action receives with each part of the export.
        about: Value,
    },
    Erase {
        owner_id: String,
    },
}

impl PeopleRequest {
    /// Returns the name of the timer that runs the request. Requests of one kind for one person have the
    /// same name, so a new request replaces a waiting one.
    pub fn name(&self) -> String {
        match self {
            Self::Export { owner_id, .. } => format!("export/{owner_id}"),
            Self::Erase { owner_id } => format!("erase/{owner_id}"),
        }
    }
}
