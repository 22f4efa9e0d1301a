//! The documents, inputs and outputs of the notes.

use portolan_sdk::{
    documents::{Circle, Direction, Rectangle},
    prelude::*,
};
use serde_json::{Map, Value};

#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Note {
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) body: String,
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    #[serde(default)]
    pub(crate) priority: f64,
    #[serde(default)]
    pub(crate) pinned: bool,
    #[serde(default)]
    pub(crate) owner: String,
    // An absent value is left out instead of stored as null, so that the operator
    // `exists` is false for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) place: Option<Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) due: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Place {
    lat: f64,
    lng: f64,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct NoteId {
    pub(crate) id: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Put {
    pub(crate) id: String,
    pub(crate) note: Note,
    pub(crate) if_revision: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Saved {
    pub(crate) id: String,
    pub(crate) revision: u64,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Found {
    id: String,
    revision: u64,
    note: Note,
    created_at_ms: u64,
    updated_at_ms: u64,
}

impl From<Stored<Note>> for Found {
    fn from(stored: Stored<Note>) -> Self {
        Self {
            id: stored.id,
            revision: stored.revision,
            note: stored.value,
            created_at_ms: stored.created_at,
            updated_at_ms: stored.updated_at,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Delete {
    pub(crate) id: String,
    pub(crate) if_revision: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Add {
    pub(crate) id: String,
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) body: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
    /// A filter of the contract, such as `{"priority":{"gte":2}}`.
    pub(crate) filter: Option<Map<String, Value>>,
    pub(crate) text: Option<String>,
    pub(crate) near: Option<Circle>,
    pub(crate) within: Option<Rectangle>,
    #[serde(default)]
    pub(crate) order: Vec<Order>,
    #[serde(default = "twenty")]
    pub(crate) limit: u32,
    pub(crate) cursor: Option<String>,
}

fn twenty() -> u32 {
    20
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    pub(crate) path: String,
    pub(crate) direction: Direction,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Results {
    pub(crate) items: Vec<Item>,
    pub(crate) next: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Item {
    pub(crate) id: String,
    pub(crate) revision: u64,
    pub(crate) relevance: Option<f64>,
    pub(crate) distance_m: Option<f64>,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CountSearch {
    pub(crate) filter: Option<Map<String, Value>>,
}

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Count {
    pub(crate) count: u64,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct PutThenFind {
    #[serde(default)]
    pub(crate) put: Vec<Put>,
    #[serde(default)]
    pub(crate) delete: Vec<String>,
    pub(crate) find: Search,
}

/// The data of the ledger's event, as far as it matters here.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Transferred {
    pub(crate) transfer: String,
    pub(crate) memo: String,
}

#[derive(Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Heard {
    pub(crate) transfers: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Subject {
    pub(crate) subject: String,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Secret {
    #[schemars(length(min = 1, max = 10_000))]
    pub(crate) text: String,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Opened {
    pub(crate) opened: Option<String>,
    /// Whether a changed seal could be opened: always false.
    pub(crate) changed_opens: bool,
    pub(crate) mac_fits: bool,
    pub(crate) mac: String,
    pub(crate) sealed: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Draw {
    /// How many draws this document has seen.
    pub(crate) draws: u64,
    pub(crate) now_ms: u64,
    pub(crate) random: String,
    pub(crate) new_id: String,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Guess {
    pub(crate) word: String,
}
