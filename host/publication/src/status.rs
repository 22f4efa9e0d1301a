//! The status of the feeds, for the operator.

use portolan_feeds::Quarantined;
use portolan_vocabulary::Timestamp;
use serde::Serialize;

/// The current publication and the refused one.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Status {
    pub in_force: Option<CurrentPublication>,
    /// The newest publication, if it has faults or cannot be loaded now.
    pub refused: Option<RefusedPublication>,
    /// The last notification of each hub.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hubs: Vec<HubStatus>,
}

impl Status {
    pub(crate) fn note_hub(&mut self, noted: HubStatus) {
        self.hubs.retain(|known| known.hub != noted.hub);
        self.hubs.push(noted);
        self.hubs.sort_by(|a, b| a.hub.cmp(&b.hub));
    }
}

/// The last notification of a WebSub hub.
#[derive(Debug, Clone, Serialize)]
pub struct HubStatus {
    pub hub: String,
    pub at: Timestamp,
    /// The reason why the hub could not be notified; `null` if it was.
    pub error: Option<String>,
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
    /// Whether real people who want to object find no address of the operator: `[provider]` has neither
    /// `contact` nor `url`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub contact_missing: bool,
    /// The number of records that the build left out because they are not valid.
    pub quarantined_count: usize,
    /// The first of these records.
    pub quarantined: Vec<Quarantined>,
}

/// A publication with faults, or one that cannot be loaded now, which was not published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusedPublication {
    pub name: String,
    /// The number of faults, of which only the first are listed.
    pub count: usize,
    pub faults: Vec<String>,
}
