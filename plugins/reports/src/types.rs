//! Inputs, events, and the words that stand in both them and what is kept.

use crate::{life::State, reasons::Reason, reasons::ReasonView, subjects::SUBJECT_ID};
use portolan_sdk::prelude::*;

pub(crate) const CAPABILITY: &str = "reports";
const REPORT_ID: &str = "^rpt_[0-9A-Za-z]{1,36}$";

pub(crate) const UPDATED: Event<Data<Told>> = Event::new("report.updated");

#[derive(Serialize)]
pub(crate) struct Told {
    /// As whom the receiver is told.
    pub(crate) role: Role,
    pub(crate) subject_id: String,
}

/// What a person is to a report.
#[choice]
pub(crate) enum Role {
    /// Has made it.
    Reporter,
    /// Something was done against them because of it.
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

/// What was done.
#[choice]
pub(crate) enum Measure {
    /// What was wrong was put right.
    Corrected,
    /// It was taken away.
    Removed,
    /// It is shown to fewer people, or in fewer places.
    Restricted,
    /// It, or an account, is stopped for now.
    Suspended,
    /// Somebody was told to keep to the rules.
    Warned,
}

/// On which ground something was done.
#[choice]
pub(crate) enum Ground {
    /// A law.
    Law,
    /// The rules of this host.
    Rules,
    /// It was not so.
    Accuracy,
}

#[input]
pub(crate) struct ReportId {
    /// `rpt_` and 26 characters.
    #[schemars(regex(pattern = REPORT_ID))]
    pub(crate) report_id: String,
}

#[input(Default)]
pub(crate) struct About {
    /// Only the reasons for which this may be reported.
    #[schemars(regex(pattern = SUBJECT_ID))]
    pub(crate) subject_id: Option<String>,
}

#[output]
pub(crate) struct Reasons {
    pub(crate) items: Vec<ReasonView>,
}

#[input]
pub(crate) struct Create {
    /// What is reported: a record of the map, a listing, message, conversation, pairing, meeting,
    /// person or organisation, by its id.
    #[schemars(regex(pattern = SUBJECT_ID))]
    pub(crate) subject_id: String,
    /// One that `reasons` lists for it.
    pub(crate) reason: Reason,
    /// What is wrong. Only the operator reads it; some reasons need it.
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
    /// Reports that the person has made, or those that something was done against them for.
    #[serde(default = "reporter")]
    pub(crate) role: Role,
    /// All states if left out.
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
    /// Those that wait for the operator if left out: open, triaged and appealed.
    #[serde(default)]
    #[schemars(length(max = 7))]
    pub(crate) state: Vec<State>,
    /// About this only.
    #[schemars(regex(pattern = SUBJECT_ID))]
    pub(crate) subject_id: Option<String>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct Triage {
    #[schemars(regex(pattern = REPORT_ID))]
    pub(crate) report_id: String,
    /// For the operator alone.
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

/// Why it is decided so.
#[input]
pub(crate) struct Grounds {
    /// The facts, and what follows from them. Both sides read it: it names no reporter.
    #[schemars(length(min = 1, max = 2000))]
    pub(crate) explanation: String,
    /// What was done; needed where something is done because of the report, and only there.
    pub(crate) measure: Option<Measure>,
    /// On which ground; needed and left out with `measure`.
    pub(crate) ground: Option<Ground>,
    /// The law, the rule or the source that it rests on; needed and left out with `measure`.
    #[schemars(length(min = 1, max = 300))]
    pub(crate) basis: Option<String>,
}
