//! What the operator is told about the feeds.

use portolan_vocabulary::Timestamp;
use serde::Serialize;

/// What is in force, and what is not.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Status {
    pub in_force: Option<InForce>,
    /// What was published last, if it is not sound.
    pub refused: Option<Refused>,
}

#[derive(Debug, Clone, Serialize)]
pub struct InForce {
    /// The name of its folder.
    pub name: String,
    pub generated_at: Timestamp,
    /// Where its own links lead, if that is not this host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_for: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refused {
    pub name: String,
    /// How many there are, of which the first are told.
    pub count: usize,
    pub faults: Vec<String>,
}
