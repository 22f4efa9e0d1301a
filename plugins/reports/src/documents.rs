//! The stored documents: reports, and the recent reports of each person.

use crate::{reasons::Reason, refusals::ReportError, states::*, subjects::Kind, types::*};
use portolan_sdk::documents::Person;
use portolan_sdk::documents::PersonalField::{Personal, Shared};
use portolan_sdk::prelude::*;

pub(crate) const REPORTS: Collection<Report> = Collection::new("reports")
    .people(&[
        // Only the reporter and, after a decision, the person against whom it is have it in an export.
        Person::redact(
            "owner_id",
            &[Personal("$id"), Personal("owner_id"), Personal("text"), Personal("open_key")],
        ),
        Person::redact("open_key", &[]),
        Person::redact("subject_id", &[]),
        Person::redact("subject_owner_id", &[]),
        Person::redact("lister_id", &[Shared("subject_id")]),
        Person::redact("said_by", &[Shared("said")]),
        Person::redact("affected_id", &[Personal("$id")]),
        Person::redact("appeal.owner_id", &[Personal("appeal.text")]),
    ])
    .unique("open", &["open_key"])
    .index("reporter", &["owner_id", "changed_at"])
    .index("affected", &["affected_id", "changed_at"])
    .index("state", &["state", "changed_at"])
    .index("subject", &["subject_id"]);

/// The reporters, keyed by the person's id. Every new report writes its reporter's document, so
/// that two concurrent reports conflict and both are counted.
pub(crate) const REPORTERS: Collection<Reporter> =
    Collection::new("reporters").people(&[Person::delete("$id")]);

/// The `owner_id` of a report that the operator made to suspend somebody.
pub(crate) const OPERATOR: &str = "operator";

/// The time after a decision in which it can be appealed: never less than six months.
pub(crate) const APPEAL_TIME: u64 = 184 * DAY;

/// A report. Times are milliseconds since the Unix epoch, here and below.
#[document]
#[entity(kind = "report", collection = REPORTS, not_found = ReportError::ReportNotFound)]
pub(crate) struct Report {
    /// The person who made it, or [`OPERATOR`].
    pub(crate) owner_id: String,
    /// The subject; empty if it was a listing that was deleted with its person.
    pub(crate) subject_id: String,
    /// The person with whose erasure a reported listing is deleted; `None` for one of an organisation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lister_id: Option<String>,
    pub(crate) subject: Kind,
    /// The owner of the subject, if it belongs to one person.
    pub(crate) subject_owner_id: Option<String>,
    /// The subject's text at the time of the report: it may be changed or deleted before the
    /// review.
    pub(crate) said: Option<String>,
    /// The person who wrote that text, if it was one person.
    #[serde(default)]
    pub(crate) said_by: Option<String>,
    pub(crate) reason: Reason,
    pub(crate) text: Option<String>,
    pub(crate) state: State,
    /// A unique key of person, subject and reason until the decision, so that there is only one
    /// open report; afterwards the report's own id.
    pub(crate) open_key: String,
    pub(crate) made_at: u64,
    pub(crate) changed_at: u64,
    /// The operator's own note.
    pub(crate) note: Option<String>,
    pub(crate) decision: Option<Decision>,
    /// The person against whom a measure was taken. Before that, they do not learn of the report.
    pub(crate) affected_id: Option<String>,
    pub(crate) appeal: Option<Appeal>,
    /// The decision about the appeal.
    pub(crate) ruling: Option<Decision>,
}

/// A decision: the explanation, and the measure with its ground if there is one.
#[document]
pub(crate) struct Decision {
    pub(crate) measure: Option<Measure>,
    pub(crate) ground: Option<Ground>,
    pub(crate) basis: Option<String>,
    pub(crate) explanation: String,
    pub(crate) at: u64,
    /// The end of a suspension that has one.
    #[serde(default)]
    pub(crate) until: Option<u64>,
}

#[document]
pub(crate) struct Appeal {
    pub(crate) by: Role,
    #[serde(default)]
    pub(crate) owner_id: Option<String>,
    pub(crate) text: String,
    pub(crate) at: u64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Reporter {
    /// When the reports of the last 24 hours were made.
    pub(crate) made: Vec<u64>,
}

impl Report {
    /// Returns the role in which a person may see it; `None` if they may not.
    pub(crate) fn role(&self, owner_id: &str) -> Option<Role> {
        if self.owner_id == owner_id {
            return Some(Role::Reporter);
        }
        (self.affected_id.as_deref() == Some(owner_id)).then_some(Role::Affected)
    }
}
