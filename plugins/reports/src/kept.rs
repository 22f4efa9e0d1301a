//! What is kept: reports, and how many a person has made lately.

use crate::{life::*, reasons::Reason, refusals::ReportError, subjects::Kind, types::*};
use portolan_sdk::prelude::*;

pub(crate) const REPORTS: Collection<Report> = Collection::new("reports")
    .unique("open", &["open_key"])
    .index("reporter", &["owner_id", "changed_at"])
    .index("affected", &["affected_id", "changed_at"])
    .index("state", &["state", "changed_at"])
    .index("subject", &["subject_id"]);

/// By the person's id. Whoever makes a report writes it, so that no two of theirs are counted as one.
pub(crate) const REPORTERS: Collection<Reporter> = Collection::new("reporters");

/// Times are milliseconds since the Unix epoch, here and below.
#[document]
#[entity(kind = "report", collection = REPORTS, not_found = ReportError::ReportNotFound)]
pub(crate) struct Report {
    /// Who has made it.
    pub(crate) owner_id: String,
    pub(crate) subject_id: String,
    pub(crate) subject: Kind,
    /// Whose it is, if it is one person's.
    pub(crate) subject_owner_id: Option<String>,
    /// What it said when it was reported: it may be changed or gone when somebody looks.
    pub(crate) said: Option<String>,
    pub(crate) reason: Reason,
    pub(crate) text: Option<String>,
    pub(crate) state: State,
    /// Person, subject and reason until it is decided, so that there is one at a time; its own id
    /// afterwards.
    pub(crate) open_key: String,
    pub(crate) made_at: u64,
    pub(crate) changed_at: u64,
    /// The operator's own.
    pub(crate) note: Option<String>,
    pub(crate) decision: Option<Decision>,
    /// Whom something was done against; before that, they do not know of the report.
    pub(crate) affected_id: Option<String>,
    pub(crate) appeal: Option<Appeal>,
    /// The decision about the appeal.
    pub(crate) ruling: Option<Decision>,
}

/// Why it was decided so; what was done and on which ground, if anything was done.
#[document]
pub(crate) struct Decision {
    pub(crate) measure: Option<Measure>,
    pub(crate) ground: Option<Ground>,
    pub(crate) basis: Option<String>,
    pub(crate) explanation: String,
    pub(crate) at: u64,
}

#[document]
pub(crate) struct Appeal {
    pub(crate) by: Role,
    pub(crate) text: String,
    pub(crate) at: u64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Reporter {
    /// When their reports of the last 24 hours were made.
    pub(crate) made: Vec<u64>,
}

impl Report {
    /// As whom a person sees it; none if they do not.
    pub(crate) fn role(&self, owner_id: &str) -> Option<Role> {
        if self.owner_id == owner_id {
            return Some(Role::Reporter);
        }
        (self.affected_id.as_deref() == Some(owner_id)).then_some(Role::Affected)
    }
}
