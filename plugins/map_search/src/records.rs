//! The records of the feeds that are read whole, and the questions. The names are those of the feeds.

use portolan_sdk::{feeds::Feed, prelude::*};
use serde_json::Map;

/// A record of the feeds, whole.
pub(crate) type Record = Map<String, Value>;

pub(crate) const TARGET_RECORDS: Feed<Record> = Feed::new("targets");
pub(crate) const QUESTIONS: Feed<Question> = Feed::new("questions");
/// The feeds with records that a question can be about.
pub(crate) const FEEDS: [Feed<Record>; 6] = [
    TARGET_RECORDS,
    Feed::new("signals"),
    Feed::new("events"),
    Feed::new("roles"),
    Feed::new("people"),
    Feed::new("social"),
];

/// The part of a question that is read.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Question {
    pub(crate) role: String,
    pub(crate) question: String,
    pub(crate) why_it_matters: String,
    pub(crate) uses: Vec<Use>,
    pub(crate) steps: Vec<String>,
    pub(crate) output_schema: Value,
    pub(crate) answer_policy: Value,
    pub(crate) handoff_ids: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Use {
    pub(crate) feed: String,
    /// Which records, in words.
    pub(crate) filter: String,
    /// The same as a condition for programs, as far as one can express it.
    #[serde(rename = "where", default)]
    pub(crate) condition: Option<Record>,
}
