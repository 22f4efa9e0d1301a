//! The actions of the operator: read, review, decide.

use crate::{
    kept::*,
    life::*,
    refusals::*,
    tell,
    types::*,
    views::{self, *},
};
use people_kit::text::{Faults, Lines, plain, public};
use portolan_sdk::prelude::*;

/// Returns the reports that wait for the operator, oldest first.
pub(crate) fn waiting(input: Waiting) -> Result<Items<Case>> {
    let states = match input.state.is_empty() {
        true => vec![State::Open, State::Triaged, State::Appealed],
        false => input.state,
    };
    let about = input.subject_id.map(|subject_id| field("subject_id").eq(subject_id));
    let filter = field("state").one_of(states).and(about);
    let query = Query::new().filter(filter).first("changed_at");
    let page = REPORTS.find(query.page(input.page))?;
    Items::try_of(page, |report| Ok(views::case(&report)?))
}

pub(crate) fn look(input: &ReportId) -> Result<Case> {
    Ok(views::case(&Report::load(&input.report_id)?)?)
}

pub(crate) fn triage(call: &Call, input: Triage) -> Result<Case> {
    let mut report = Report::load(&input.report_id)?;
    expect(&report, input.expected_version)?;
    let to = REPORT.step(&report.id, report.value.state, "triage")?;
    let mut faults = Faults::default();
    let note = input.note.map(|note| plain("/note", &note, Lines::Many, &mut faults));
    faults.check()?;
    report.value.note = note;
    enter(call, report, to)
}

pub(crate) fn decide(call: &Call, input: Decide) -> Result<Case> {
    let mut report = Report::load(&input.report_id)?;
    expect(&report, input.expected_version)?;
    let to = match input.outcome {
        Outcome::Actioned => State::Actioned,
        Outcome::Dismissed => State::Dismissed,
    };
    let to = REPORT.step_to(&report.id, report.value.state, "decide", to)?;
    let acts = to == State::Actioned;
    report.value.decision = Some(decision(call, input.reasons, acts)?);
    // The same subject may be reported again after the decision.
    report.value.open_key.clone_from(&report.id);
    concern(&mut report.value, acts);
    enter(call, report, to)
}

pub(crate) fn decide_appeal(call: &Call, input: DecideAppeal) -> Result<Case> {
    let mut report = Report::load(&input.report_id)?;
    expect(&report, input.expected_version)?;
    let to = match input.outcome {
        Ruling::Upheld => State::Upheld,
        Ruling::Overturned => State::Overturned,
    };
    let to = REPORT.step_to(&report.id, report.value.state, "decide_appeal", to)?;
    let nothing_done =
        report.value.decision.as_ref().is_some_and(|decision| decision.measure.is_none());
    let acts = to == State::Overturned && nothing_done;
    report.value.ruling = Some(decision(call, input.reasons, acts)?);
    concern(&mut report.value, acts);
    enter(call, report, to)
}

/// Makes the report visible to the affected person if there is a measure.
fn concern(report: &mut Report, acts: bool) {
    if acts {
        report.affected_id.clone_from(&report.subject_owner_id);
    }
}

/// Checks the decision: a measure needs a ground and its basis; without a measure, neither is
/// given.
fn decision(call: &Call, grounds: Grounds, acts: bool) -> Result<Decision> {
    let mut faults = Faults::default();
    let Grounds { explanation, measure, ground, basis } = grounds;
    for (pointer, given) in [
        ("/measure", measure.is_some()),
        ("/ground", ground.is_some()),
        ("/basis", basis.is_some()),
    ] {
        match (acts, given) {
            (true, false) => faults.add(pointer, "required", "what is done, and on which ground"),
            (false, true) => faults.add(pointer, "left_out", "nothing: nothing is done"),
            _ => {}
        }
    }
    let explanation = public("/explanation", &explanation, Lines::Many, &mut faults);
    let basis = basis.map(|basis| public("/basis", &basis, Lines::One, &mut faults));
    faults.check()?;
    Ok(Decision { measure, ground, basis, explanation, at: call.now() })
}

fn enter(call: &Call, mut report: Stored<Report>, to: State) -> Result<Case> {
    (report.value.state, report.value.changed_at) = (to, call.now());
    report.save()?;
    tell::updated(&report)?;
    Ok(views::case(&report)?)
}

fn expect(report: &Stored<Report>, expected: Option<Version>) -> Result<()> {
    let current = || views::case(report).ok();
    Ok(report.ensure_version(expected, current, crate::refusals::get(&report.id))?)
}
