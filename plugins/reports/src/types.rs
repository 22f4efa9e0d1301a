//! Inputs, events, and the enums that they share with stored documents.

use crate::{reasons::Reason, reasons::ReasonView, states::State, subjects::SUBJECT_ID};
use portolan_sdk::prelude::*;

pub(crate) const CAPABILITY: &str = "reports";
const REPORT_ID: &str = "^rpt_[0-9A-Za-z]{1,36}$";

pub(crate) const UPDATED: Event<Data<ReportUpdated>> = Event::new("report.updated");

#[derive(Serialize)]
pub(crate) struct ReportUpdated {
    /// The role of the receiver.
    pub(crate) role: Role,
    pub(crate) subject_id: String,
}

/// The role of a person in a report.
#[choice]
pub(crate) enum Role {
    /// The person made it.
    Reporter,
    /// A measure was taken against the person because of it.
    Affected,
}

#[choice]
pub(crate) enum Outcome {
    Actioned,
    Dismissed,
}

#[choice]
pub(crate) enum Ruling {
    /// The decision stands.
    Upheld,
    /// The decision is reversed.
    Overturned,
}

/// The measure that was taken.
#[choice]
pub(crate) enum Measure {
    /// The mistake was corrected.
    Corrected,
    /// The content was removed.
    Removed,
    /// The content is shown to fewer people, or in fewer places.
    Restricted,
    /// The content or a person is suspended for now.
    Suspended,
    /// A person was warned to keep to the rules.
    Warned,
}

/// The ground of a measure.
#[choice]
pub(crate) enum Ground {
    /// A law is the ground.
    Law,
    /// The rules of this host are the ground.
    Rules,
    /// The content was not accurate.
    Accuracy,
}

#[input]
pub(crate) struct ReportId {
    /// The report: `rpt_` and 26 characters.
    #[schemars(regex(pattern = REPORT_ID))]
    pub(crate) report_id: String,
}

#[input(Default)]
pub(crate) struct About {
    /// A subject: only the reasons for which it may be reported are returned. Omit this field to
    /// get all reasons.
    #[schemars(regex(pattern = SUBJECT_ID))]
    pub(crate) subject_id: Option<String>,
}

#[output]
pub(crate) struct Reasons {
    pub(crate) items: Vec<ReasonView>,
}

#[input]
pub(crate) struct Create {
    /// The id of the subject: a record of the map, a listing, message, conversation, pairing,
    /// meeting, person or organisation.
    #[schemars(regex(pattern = SUBJECT_ID))]
    pub(crate) subject_id: String,
    /// A reason that `reasons` lists for the subject.
    pub(crate) reason: Reason,
    /// The problem. Only the operator reads it; some reasons require it.
    #[schemars(length(min = 1, max = 2000))]
    pub(crate) text: Option<String>,
}

#[input]
pub(crate) struct AppealInput {
    /// A report that was decided against the person.
    #[schemars(regex(pattern = REPORT_ID))]
    pub(crate) report_id: String,
    /// Why the decision is wrong. Only the operator reads it.
    #[schemars(length(min = 1, max = 2000))]
    pub(crate) text: String,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct ListMine {
    /// Whether to list the reports that the person made, or those because of which a measure was
    /// taken against them.
    #[serde(default = "reporter")]
    pub(crate) role: Role,
    /// The states of the reports to return. Omit this field to get reports in all states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 7))]
    pub(crate) state: Vec<State>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

fn reporter() -> Role {
    Role::Reporter
}

#[input]
pub(crate) struct Waiting {
    /// The states of the reports to return; by default open, triaged and appealed, which wait for
    /// the operator.
    #[serde(default)]
    #[schemars(length(max = 7))]
    pub(crate) state: Vec<State>,
    /// The subject of the reports to return. Omit this field to get reports about all subjects.
    #[schemars(regex(pattern = SUBJECT_ID))]
    pub(crate) subject_id: Option<String>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct Triage {
    #[schemars(regex(pattern = REPORT_ID))]
    pub(crate) report_id: String,
    /// A note, only for the operator.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) note: Option<String>,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Decide {
    #[schemars(regex(pattern = REPORT_ID))]
    pub(crate) report_id: String,
    pub(crate) outcome: Outcome,
    #[serde(flatten)]
    pub(crate) reasons: Grounds,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct DecideAppeal {
    #[schemars(regex(pattern = REPORT_ID))]
    pub(crate) report_id: String,
    pub(crate) outcome: Ruling,
    #[serde(flatten)]
    pub(crate) reasons: Grounds,
    pub(crate) expected_version: Option<Version>,
}

/// The reasons of a decision.
#[input]
pub(crate) struct Grounds {
    /// The facts, and what follows from them. Both sides read it, so it must not name the reporter.
    #[schemars(length(min = 1, max = 2000))]
    pub(crate) explanation: String,
    /// The measure; required if one is taken because of the report, and only then.
    pub(crate) measure: Option<Measure>,
    /// The ground; required with `measure`, and only then.
    pub(crate) ground: Option<Ground>,
    /// The law, the rule or the source of the measure; required with `measure`, and only then.
    #[schemars(length(min = 1, max = 300))]
    pub(crate) basis: Option<String>,
    /// The number of days for which a person is suspended; only with the measure `suspended` of a person.
    /// Omit it for a suspension until the operator or an appeal ends it.
    #[schemars(range(min = 1, max = 3650))]
    pub(crate) days: Option<u16>,
}

/// The suspension of a person that nobody has reported.
#[input]
pub(crate) struct Suspend {
    #[schemars(regex(pattern = "^own_[0-9A-Za-z]{1,36}$"))]
    pub(crate) owner_id: String,
    /// A reason that `reasons` lists for people.
    pub(crate) reason: Reason,
    /// The facts, and what follows from them. The person reads it.
    #[schemars(length(min = 1, max = 2000))]
    pub(crate) explanation: String,
    pub(crate) ground: Ground,
    /// The law or the rule.
    #[schemars(length(min = 1, max = 300))]
    pub(crate) basis: String,
    /// The number of days; omit it for a suspension until `reinstate` or an appeal ends it.
    #[schemars(range(min = 1, max = 3650))]
    pub(crate) days: Option<u16>,
}
