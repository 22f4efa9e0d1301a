//! Inputs, events, and the words that stand in both them and what is kept.

use crate::{life::State, reasons::Reason, reasons::ReasonView, subjects::SUBJECT_ID};
use common::{event::Data, page::PageInput};
use portolan_sdk::{events::Event, prelude::*};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    /// Has made it.
    Reporter,
    /// Something was done against them because of it.
    Affected,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    Actioned,
    Dismissed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ruling {
    /// The decision stands.
    Upheld,
    /// The decision is reversed.
    Overturned,
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ground {
    /// A law.
    Law,
    /// The rules of this host.
    Rules,
    /// It was not so.
    Accuracy,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct ReportId {
    /// `rpt_` and 26 characters.
    #[schemars(regex(pattern = REPORT_ID))]
    pub(crate) report_id: String,
}

#[derive(Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct About {
    /// Only the reasons for which this may be reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = SUBJECT_ID))]
    pub(crate) subject_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Reasons {
    pub(crate) items: Vec<ReasonView>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Create {
    /// What is reported: a record of the map, a listing, message, conversation, pairing, meeting,
    /// person or organisation, by its id.
    #[schemars(regex(pattern = SUBJECT_ID))]
    pub(crate) subject_id: String,
    /// One that `reasons` lists for it.
    pub(crate) reason: Reason,
    /// What is wrong. Only the operator reads it; some reasons need it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2000))]
    pub(crate) text: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct AppealInput {
    /// A report that was decided against the person.
    #[schemars(regex(pattern = REPORT_ID))]
    pub(crate) report_id: String,
    /// Why the decision is wrong. Only the operator reads it.
    #[schemars(length(min = 1, max = 2000))]
    pub(crate) text: String,
    /// The version that was read: if there is a newer one by now, nothing is changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expected_version: Option<u64>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
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

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Waiting {
    /// Those that wait for the operator if left out: open, triaged and appealed.
    #[serde(default)]
    #[schemars(length(max = 7))]
    pub(crate) state: Vec<State>,
    /// About this only.
    #[serde(default)]
    #[schemars(regex(pattern = SUBJECT_ID))]
    pub(crate) subject_id: Option<String>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Triage {
    #[schemars(regex(pattern = REPORT_ID))]
    pub(crate) report_id: String,
    /// For the operator alone.
    #[serde(default)]
    #[schemars(length(min = 1, max = 500))]
    pub(crate) note: Option<String>,
    #[serde(default)]
    pub(crate) expected_version: Option<u64>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Decide {
    #[schemars(regex(pattern = REPORT_ID))]
    pub(crate) report_id: String,
    pub(crate) outcome: Outcome,
    #[serde(flatten)]
    pub(crate) reasons: Grounds,
    #[serde(default)]
    pub(crate) expected_version: Option<u64>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct DecideAppeal {
    #[schemars(regex(pattern = REPORT_ID))]
    pub(crate) report_id: String,
    pub(crate) outcome: Ruling,
    #[serde(flatten)]
    pub(crate) reasons: Grounds,
    #[serde(default)]
    pub(crate) expected_version: Option<u64>,
}

/// Why it is decided so.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Grounds {
    /// The facts, and what follows from them. Both sides read it: it names no reporter.
    #[schemars(length(min = 1, max = 2000))]
    pub(crate) explanation: String,
    /// What was done; needed where something is done because of the report, and only there.
    #[serde(default)]
    pub(crate) measure: Option<Measure>,
    /// On which ground; needed and left out with `measure`.
    #[serde(default)]
    pub(crate) ground: Option<Ground>,
    /// The law, the rule or the source that it rests on; needed and left out with `measure`.
    #[serde(default)]
    #[schemars(length(min = 1, max = 300))]
    pub(crate) basis: Option<String>,
}
