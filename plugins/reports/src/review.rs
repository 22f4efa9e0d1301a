//! What the operator does: look, take up, decide.

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

/// The oldest first.
pub(crate) fn waiting(input: Waiting) -> Result<Items<Case>, ReportError> {
    let states = match input.state.is_empty() {
        true => vec![State::Open, State::Triaged, State::Appealed],
        false => input.state,
    };
    let mut filter = field("state").one_of(states);
    if let Some(subject_id) = input.subject_id {
        filter = filter.and(field("subject_id").eq(subject_id));
    }
    let query = Query::new().filter(filter).first("changed_at");
    let page = REPORTS.find(query.page(input.page))?;
    let items = page.hits.iter().map(|hit| views::case(&hit.document));
    Ok(Items { items: items.collect::<Result<_, _>>()?, next_cursor: page.next })
}

pub(crate) fn look(input: &ReportId) -> Result<Case, ReportError> {
    Ok(views::case(&known(&input.report_id)?)?)
}

pub(crate) fn triage(call: &Call, input: Triage) -> Result<Case, ReportError> {
    let mut report = known(&input.report_id)?;
    expect(&report, input.expected_version)?;
    let to = REPORT.step(&report.id, report.value.state, "triage")?;
    let mut faults = Faults::default();
    let note = input.note.map(|note| plain("/note", &note, Lines::Many, &mut faults));
    faults.check()?;
    report.value.note = note;
    enter(call, report, to)
}

pub(crate) fn decide(call: &Call, input: Decide) -> Result<Case, ReportError> {
    let mut report = known(&input.report_id)?;
    expect(&report, input.expected_version)?;
    let to = match input.outcome {
        Outcome::Actioned => State::Actioned,
        Outcome::Dismissed => State::Dismissed,
    };
    let to = REPORT.step_to(&report.id, report.value.state, "decide", to)?;
    let acts = to == State::Actioned;
    report.value.decision = Some(decision(call, input.reasons, acts)?);
    // The same may be reported again when it happens again.
    report.value.open_key.clone_from(&report.id);
    concern(&mut report.value, acts);
    enter(call, report, to)
}

pub(crate) fn decide_appeal(call: &Call, input: DecideAppeal) -> Result<Case, ReportError> {
    let mut report = known(&input.report_id)?;
    expect(&report, input.expected_version)?;
    let to = match input.outcome {
        Ruling::Upheld => State::Upheld,
        Ruling::Overturned => State::Overturned,
    };
    let to = REPORT.step_to(&report.id, report.value.state, "decide_appeal", to)?;
    let nothing_done = report.value.decision.as_ref().is_some_and(|it| it.measure.is_none());
    let acts = to == State::Overturned && nothing_done;
    report.value.ruling = Some(decision(call, input.reasons, acts)?);
    concern(&mut report.value, acts);
    enter(call, report, to)
}

/// Lets whom something is done against know of it.
fn concern(report: &mut Report, acts: bool) {
    if acts {
        report.affected_id.clone_from(&report.subject_owner_id);
    }
}

/// What is done is done for a reason that can be looked up; where nothing is done, none is given.
fn decision(call: &Call, grounds: Grounds, acts: bool) -> Result<Decision, ReportError> {
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

fn enter(call: &Call, mut report: Stored<Report>, to: State) -> Result<Case, ReportError> {
    (report.value.state, report.value.changed_at) = (to, call.now());
    REPORTS.save(&mut report)?;
    tell::updated(&report)?;
    Ok(views::case(&report)?)
}

fn known(report_id: &str) -> Result<Stored<Report>, ReportError> {
    REPORTS.get(report_id)?.ok_or(ReportError::ReportNotFound)
}

fn expect(report: &Stored<Report>, expected: Option<Version>) -> Result<(), ReportError> {
    let current = || views::case(report).ok();
    Ok(ensure_version(expected, report.revision, current, crate::refusals::get(&report.id))?)
}
