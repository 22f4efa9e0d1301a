//! The refusals, each with the next step that helps.

use crate::{documents::APPEAL_TIME, types::*};
use people_kit::text::{Fault, TextError, Violations};
use portolan_sdk::prelude::*;

#[derive(Debug, Serialize)]
pub(crate) struct Duplicate {
    kind: &'static str,
    existing_id: String,
}

#[derive(Debug, Refusals)]
pub(crate) enum ReportError {
    /// There is nothing with this id that is visible to you.
    #[refusal(not_found, next = reasons())]
    SubjectNotFound,
    /// The subject of this report is your own: you can change it yourself.
    #[refusal(unprocessable, next = reasons())]
    SelfReport,
    /// Things of this kind cannot be reported for this reason.
    #[refusal(
        unprocessable,
        conflict_detail = Violations::new(vec![Fault {
            pointer: "/reason".into(),
            rule: "fits_subject",
            expected: "one of the reasons that are listed for this subject",
        }]),
        next = reasons().field("subject_id", subject_id.as_str())
    )]
    ReasonUnfit { subject_id: String },
    /// You have already reported this for the same reason, and the report is not decided yet.
    #[refusal(
        conflict,
        conflict_detail = Duplicate { kind: "duplicate", existing_id: existing_id.clone() },
        next = get(&existing_id)
    )]
    ReportExists { existing_id: String },
    /// There is no such report that you made or that was decided against you.
    #[refusal(not_found, next = list_mine())]
    ReportNotFound,
    /// The time in which this decision could be appealed has passed.
    #[refusal(
        conflict,
        conflict_detail = Limit::bound("days_to_appeal", APPEAL_TIME / DAY),
        next = get(&report_id)
    )]
    AppealWindowPassed { report_id: String },
    /// No suspension of this person in this report is in force.
    #[refusal(conflict, next = get(&report_id))]
    NotSuspended { report_id: String },
    #[refusal(transparent)]
    Text(TextError),
    #[refusal(transparent)]
    Common(Refusal),
}

pub(crate) type Result<T, E = ReportError> = std::result::Result<T, E>;

pub(crate) fn get(report_id: &str) -> Next {
    Next::action(CAPABILITY, "get").field("report_id", report_id)
}

pub(crate) fn list_mine() -> Next {
    Next::action(CAPABILITY, "list_mine")
}

fn reasons() -> Next {
    Next::action(CAPABILITY, "reasons")
}

/// Makes the refusal for the person whom the decision did not go against.
pub(crate) fn not_yours(report_id: &str) -> Refusal {
    let message = "Only the person whom the decision went against may appeal.";
    Refusal::common(ErrorCode::NotPermitted, message).next(get(report_id))
}
