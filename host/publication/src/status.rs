//! The status of the feeds, for the operator.

use portolan_feeds::Quarantined;
use portolan_vocabulary::Timestamp;
use serde::Serialize;

/// The current publication and the refused one.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Status {
    pub in_force: Option<CurrentPublication>,
    /// The newest publication, if it has faults.
    pub refused: Option<RefusedPublication>,
}

/// The current publication.
#[derive(Debug, Clone, Serialize)]
pub struct CurrentPublication {
    /// The name of its folder.
    pub name: String,
    pub generated_at: Timestamp,
    /// The address of the host in the links of its documents, if that is not this host's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_for: Option<String>,
    /// The number of records that the build left out because they are not valid.
    pub quarantined_count: usize,
    /// The first of these records.
    pub quarantined: Vec<Quarantined>,
}

/// A publication with faults, which was not published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusedPublication {
    pub name: String,
    /// The number of faults, of which only the first are listed.
    pub count: usize,
    pub faults: Vec<String>,
}
