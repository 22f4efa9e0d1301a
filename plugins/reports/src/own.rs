//! The actions of people: make reports, read them, appeal.

use crate::reasons::{self, REASONS, Reason, ReasonView};
use crate::views::{self, *};
use crate::{documents::*, notices, refusals::*, states::*, subjects, types::*};
use people_kit::text::{Faults, Lines, plain};
use portolan_sdk::prelude::*;
use sha2::{Digest as _, Sha256};

/// The maximum number of undecided reports of one person.
const MOST_OPEN: u64 = 20;
/// The daily limit of new reports of one person.
const REPORTS_A_DAY: Window = Window { most: 40, within: DAY };

/// The alphabet of ids (Crockford's base 32): 32 characters, so that each byte gives one.
const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Returns the reasons for which this subject may be reported; all reasons without a subject, or if
/// its kind is unknown.
pub(crate) fn reasons(subject_id: Option<&str>) -> Reasons {
    let kind = subject_id.and_then(subjects::kind);
    let fits = |row: &&ReasonView| kind.is_none_or(|kind| row.subjects.contains(&kind));
    Reasons { items: REASONS.iter().filter(fits).cloned().collect() }
}

pub(crate) fn create(call: &Call, input: Create) -> Result<ReportView> {
    let Create { subject_id, reason, text } = input;
    let me = call.require_owner()?.to_owned();
    let subject = subjects::kind(&subject_id).ok_or(ReportError::SubjectNotFound)?;
    let row = reasons::find_reason(reason, subject);
    let row = row.ok_or_else(|| ReportError::ReasonUnfit { subject_id: subject_id.clone() })?;
    let text = check_text(text.as_deref(), row.text_required)?;
    let found = subjects::find_visible(call, &subject_id)?.ok_or(ReportError::SubjectNotFound)?;
    if found.owner_id.as_deref() == Some(me.as_str()) {
        return Err(ReportError::SelfReport);
    }
    count_report(call, &me)?;
    let (report_id, now) = (new_id(call), call.now());
    let value = Report {
        open_key: open_key(&me, &subject_id, reason),
        owner_id: me,
        subject_id,
        lister_id: found.lister_id,
        subject,
        subject_owner_id: found.owner_id,
        said: found.said,
        said_by: found.said_by,
        reason,
        text,
        state: State::Open,
        made_at: now,
        changed_at: now,
        note: None,
        decision: None,
        affected_id: None,
        appeal: None,
        ruling: None,
    };
    let mut report = Stored::new(report_id, value, now);
    report.save().on_duplicate(|existing_id| ReportError::ReportExists { existing_id })?;
    Ok(views::report(&report, Role::Reporter, now))
}

/// Returns the unique key of an open report. It has a digest of the subject's id, which an erasure removes
/// elsewhere.
fn open_key(owner_id: &str, subject_id: &str, reason: Reason) -> String {
    let digest = Sha256::digest(subject_id);
    let digest: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("{owner_id}/{digest}/{reason:?}")
}

fn count_report(call: &Call, owner_id: &str) -> Result<()> {
    let mut reporter = REPORTERS.get_or_default(owner_id)?;
    let (made, message) =
        (&mut reporter.value.made, "The limit of reports for one day is reached.");
    REPORTS_A_DAY.count(made, call.now(), "reports_per_day", message, list_mine())?;
    let undecided = field("state").one_of([State::Open, State::Triaged]);
    if REPORTS.count(field("owner_id").eq(owner_id).and(undecided))? >= MOST_OPEN {
        let message = "The limit of undecided reports is reached. Wait for a decision first.";
        return Err(quota(message, &Limit::reached("open_reports", MOST_OPEN), list_mine()).into());
    }
    Ok(REPORTERS.save(&mut reporter)?)
}

/// Makes an id without the time with which other ids begin: the affected person sees the id, and
/// the time would tell them who made the report.
pub(crate) fn new_id(call: &Call) -> String {
    let letter = |byte: u8| LETTERS.get(usize::from(byte % 32)).copied().map(char::from);
    let letters: String = call.random(26).into_iter().filter_map(letter).collect();
    format!("rpt_{letters}")
}

/// Checks a text that only the operator reads; it may contain contact data.
fn check_text(text: Option<&str>, required: bool) -> Result<Option<String>> {
    let mut faults = Faults::default();
    let text = text.map(|text| plain("/text", text, Lines::Many, &mut faults));
    if required && text.is_none() {
        faults.add("/text", "required", "what is wrong, in words");
    }
    faults.check()?;
    Ok(text)
}

/// Returns a report that the caller may see, and their role.
pub(crate) fn load_with_role(call: &Call, report_id: &str) -> Result<(Stored<Report>, Role)> {
    let me = call.owner_id().ok_or(ReportError::ReportNotFound)?;
    let report = Report::load(report_id)?;
    let role = report.value.role(me).ok_or(ReportError::ReportNotFound)?;
    Ok((report, role))
}

pub(crate) fn list_mine_of(call: &Call, me: &str, input: ListMine) -> Result<Items<ReportView>> {
    let owner_field = match input.role {
        Role::Reporter => "owner_id",
        Role::Affected => "affected_id",
    };
    let states = (!input.state.is_empty()).then(|| field("state").one_of(input.state));
    let page = REPORTS.find(input.page.last_changed(field(owner_field).eq(me).and(states)))?;
    Ok(Items::of(page, |report| views::report(&report, input.role, call.now())))
}

pub(crate) fn appeal(call: &Call, input: AppealInput) -> Result<ReportView> {
    let (mut report, role) = load_with_role(call, &input.report_id)?;
    let now = call.now();
    let current = || views::report(&report, role, now);
    report.ensure_version(input.expected_version, current, get(&report.id))?;
    let to = step(&report, role, now)?;
    let text = check_text(Some(&input.text), true)?.unwrap_or_default();
    let owner_id = call.owner_id().map(str::to_owned);
    report.value.appeal = Some(Appeal { by: role, owner_id, text, at: now });
    (report.value.state, report.value.changed_at) = (to, now);
    report.save()?;
    notices::updated(&report)?;
    Ok(views::report(&report, role, now))
}

/// Returns the state after an appeal. Refuses unless the decision went against the caller and can
/// still be appealed.
fn step(report: &Stored<Report>, role: Role, now: u64) -> Result<State> {
    let value = &report.value;
    let to = REPORT.step(&report.id, value.state, "appeal")?;
    if allowed(value, role, now).contains(&"appeal") {
        return Ok(to);
    }
    match appeal_until(value) {
        Some(until) if now >= until => {
            Err(ReportError::AppealWindowPassed { report_id: report.id.clone() })
        }
        _ => Err(not_yours(&report.id).into()),
    }
}
