//! The actions of the operator: read, review, decide.

use crate::{
    documents::*, notices, refusals::*, states::*, subjects::Kind, suspensions, types::*, views::*,
};
use people_kit::text::{Faults, Lines, plain, public};
use portolan_sdk::prelude::*;

pub(crate) fn waiting(input: Waiting) -> Result<Items<Case>> {
    let states = match input.state.is_empty() {
        true => vec![State::Open, State::Triaged, State::Appealed],
        false => input.state,
    };
    let about = input.subject_id.map(|subject_id| field("subject_id").eq(subject_id));
    let query = Query::new().filter(field("state").one_of(states).and(about)).first("changed_at");
    Items::try_of(REPORTS.find(query.page(input.page))?, |report| Ok(case(&report)?))
}

pub(crate) fn triage(call: &Call, input: Triage) -> Result<Case> {
    let mut report = load_expected(&input.report_id, input.expected_version)?;
    report.step(&REPORT, "triage")?;
    let mut faults = Faults::default();
    let note = input.note.map(|note| plain("/note", &note, Lines::Many, &mut faults));
    faults.check()?;
    report.value.note = note;
    save(call, report)
}

pub(crate) fn decide(call: &Call, input: Decide) -> Result<Case> {
    let mut report = load_expected(&input.report_id, input.expected_version)?;
    let is_actioned = input.outcome == Outcome::Actioned;
    report.step_to(
        &REPORT,
        "decide",
        if is_actioned { State::Actioned } else { State::Dismissed },
    )?;
    report.value.decision = Some(decision(call, input.reasons, report.value.subject, is_actioned)?);
    // The same subject may be reported again after the decision.
    report.value.open_key.clone_from(&report.id);
    set_affected(&mut report.value, is_actioned);
    suspensions::carry_out(&report)?;
    save(call, report)
}

pub(crate) fn decide_appeal(call: &Call, input: DecideAppeal) -> Result<Case> {
    let mut report = load_expected(&input.report_id, input.expected_version)?;
    let overturned = input.outcome == Ruling::Overturned;
    let to = if overturned { State::Overturned } else { State::Upheld };
    report.step_to(&REPORT, "decide_appeal", to)?;
    let decided = report.value.decision.as_ref();
    let is_actioned = overturned && decided.is_some_and(|decision| decision.measure.is_none());
    report.value.ruling = Some(decision(call, input.reasons, report.value.subject, is_actioned)?);
    set_affected(&mut report.value, is_actioned);
    suspensions::carry_out(&report)?;
    save(call, report)
}

/// Makes the report visible to the affected person if there is a measure.
fn set_affected(report: &mut Report, is_actioned: bool) {
    if is_actioned {
        report.affected_id.clone_from(&report.subject_owner_id);
    }
}

/// Checks the decision: a measure needs a ground and its basis; without a measure, neither is
/// given.
pub(crate) fn decision(
    call: &Call,
    grounds: Grounds,
    subject: Kind,
    is_actioned: bool,
) -> Result<Decision> {
    let mut faults = Faults::default();
    let Grounds { explanation, measure, ground, basis, days } = grounds;
    let given = [measure.is_some(), ground.is_some(), basis.is_some()];
    for (pointer, given) in ["/measure", "/ground", "/basis"].into_iter().zip(given) {
        match (is_actioned, given) {
            (true, false) => faults.add(pointer, "required", "what is done, and on which ground"),
            (false, true) => faults.add(pointer, "left_out", "nothing: nothing is done"),
            _ => {}
        }
    }
    let suspends_person = measure == Some(Measure::Suspended) && subject == Kind::Owner;
    if days.is_some() && !suspends_person {
        faults.add("/days", "left_out", "nothing, unless a person is suspended");
    }
    let explanation = public("/explanation", &explanation, Lines::Many, &mut faults);
    let basis = basis.map(|basis| public("/basis", &basis, Lines::One, &mut faults));
    faults.check()?;
    let until = days.map(|days| call.now() + u64::from(days) * DAY);
    Ok(Decision { measure, ground, basis, explanation, at: call.now(), until })
}

/// Saves a report whose state has changed, and announces it.
pub(crate) fn save(call: &Call, mut report: Stored<Report>) -> Result<Case> {
    report.value.changed_at = call.now();
    report.save()?;
    notices::updated(&report)?;
    Ok(case(&report)?)
}

/// Returns a report. Refuses if the operator expects another version.
fn load_expected(report_id: &str, expected: Option<Version>) -> Result<Stored<Report>> {
    let report = Report::load(report_id)?;
    report.ensure_version(expected, || case(&report).ok(), get(&report.id))?;
    Ok(report)
}
