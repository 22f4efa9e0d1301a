//! The suspension of people: the one measure that a decision carries out.

use crate::{
    documents::*, own, reasons, refusals::*, review, states::*, subjects::Kind, types::*, views::*,
};
use people_kit::people::{REINSTATE, Reinstatement, SUSPEND, Suspension};
use portolan_sdk::prelude::*;

/// The maximum number of characters of a reason that the host keeps with a suspension.
const REASON_CHARACTERS: usize = 500;

/// Suspends a person whom nobody has reported. The report is decided from the start, so that the person
/// gets the reasons and can appeal.
pub(crate) fn suspend(call: &Call, input: Suspend) -> Result<Case> {
    let Suspend { owner_id, reason, explanation, ground, basis, days } = input;
    if reasons::find_reason(reason, Kind::Owner).is_none() {
        return Err(ReportError::ReasonUnfit { subject_id: owner_id });
    }
    let grounds = Grounds {
        explanation,
        measure: Some(Measure::Suspended),
        ground: Some(ground),
        basis: Some(basis),
        days,
    };
    let (report_id, now) = (own::new_id(call), call.now());
    let value = Report {
        owner_id: OPERATOR.into(),
        subject_id: owner_id.clone(),
        lister_id: None,
        subject: Kind::Owner,
        subject_owner_id: Some(owner_id.clone()),
        said: None,
        said_by: None,
        reason,
        text: None,
        state: State::Actioned,
        open_key: report_id.clone(),
        made_at: now,
        changed_at: now,
        note: None,
        decision: Some(review::decision(call, grounds, Kind::Owner, true)?),
        affected_id: Some(owner_id),
        appeal: None,
        ruling: None,
    };
    let report = Stored::new(report_id, value, now);
    carry_out(&report)?;
    review::save(call, report)
}

/// Ends the suspension of a person because of a report before its time.
pub(crate) fn reinstate(input: ReportId) -> Result<Case> {
    let report = Report::load(&input.report_id)?;
    let Some(owner_id) = suspended(&report.value) else {
        return Err(ReportError::NotSuspended { report_id: report.id });
    };
    end(&report.id, owner_id)?;
    Ok(case(&report)?)
}

/// Suspends or reinstates the person as the last decision says.
pub(crate) fn carry_out(report: &Stored<Report>) -> Result<()> {
    let value = &report.value;
    let Some(owner_id) = &value.subject_owner_id else { return Ok(()) };
    let last = value.ruling.as_ref().or(value.decision.as_ref());
    match (suspended(value), last) {
        (Some(owner_id), Some(decision)) if decision.measure == Some(Measure::Suspended) => {
            let appeal = Next::action(CAPABILITY, "appeal").field("report_id", report.id.as_str());
            let appeal = appeal.ask("text", "Why is the decision wrong?");
            SUSPEND.call(&Suspension {
                owner_id: owner_id.to_owned(),
                reference: report.id.clone(),
                reason: decision.explanation.chars().take(REASON_CHARACTERS).collect(),
                until: decision.until,
                appeal: value.ruling.is_none().then(|| portolan_sdk::to_value(&appeal)),
            })?;
            Ok(())
        }
        _ if value.state == State::Overturned && value.subject == Kind::Owner => {
            end(&report.id, owner_id)
        }
        _ => Ok(()),
    }
}

/// Returns the person whom the last decision that took a measure has suspended.
fn suspended(report: &Report) -> Option<&str> {
    let measured = |decision: &&Decision| decision.measure.is_some();
    let decision = [&report.ruling, &report.decision].into_iter().flatten().find(measured)?;
    let is_person = report.subject == Kind::Owner && decision.measure == Some(Measure::Suspended);
    report.subject_owner_id.as_deref().filter(|_| is_person)
}

fn end(report_id: &str, owner_id: &str) -> Result<()> {
    let reinstatement =
        Reinstatement { owner_id: owner_id.to_owned(), reference: report_id.to_owned() };
    Ok(REINSTATE.call(&reinstatement)?)
}
