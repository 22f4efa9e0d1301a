//! What the operator reads about the feeds.

use portolan_vocabulary::Timestamp;
use serde::Serialize;

/// What is in force, and what was refused.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Status {
    pub in_force: Option<InForce>,
    /// The publication that was published last, if it has faults.
    pub refused: Option<Refused>,
}

/// The publication in force.
#[derive(Debug, Clone, Serialize)]
pub struct InForce {
    /// The name of its folder.
    pub name: String,
    pub generated_at: Timestamp,
    /// The address to which its links lead, if that is not this host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_for: Option<String>,
}

/// A publication that was not put in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refused {
    pub name: String,
    /// How many faults there are. Only the first are listed.
    pub count: usize,
    pub faults: Vec<String>,
}
