//! Inputs, outputs, refusals, and what is kept.

use crate::life::State;
use portolan_sdk::prelude::*;

/// What there is between two people, by an id that follows from them.
pub(crate) const RELATIONSHIPS: Collection<Record> = Collection::new("relationships")
    .index("subject", &["subject", "kind", "state", "since"])
    .index("object", &["object", "kind", "state", "since"]);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Follow,
    Connect,
    Block,
    Mute,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) kind: Kind,
    /// Who follows, blocks or mutes; of a connection, who asked for it.
    pub(crate) subject: String,
    pub(crate) object: String,
    pub(crate) state: State,
    /// When this state began, in milliseconds.
    pub(crate) since: u64,
}
