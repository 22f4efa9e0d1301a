//! Evidence: submitted, withdrawn, decided.

use crate::{
    address::address,
    disputes::{self, Opening},
    feed,
    kept::{DAYS, EVIDENCE, Evidence, STATEMENTS, Statement, StatementKind, is_kept, open_dispute},
    life::{EVIDENCE as LIFE, EvidenceState, Maturity, SIGNAL},
    limits::{EVIDENCE_A_DAY, check_waiting},
    refusals::{Result, SignalError, list_mine},
    tell,
    types::{Accept, Cause, EvidenceKind, Reject, Submit, Withdraw},
    views::{self, EvidenceView},
};
use people_kit::text::{Faults, Lines, public};
use portolan_sdk::prelude::*;

pub(crate) fn submit(call: &Call, input: Submit) -> Result<EvidenceView> {
    let (me, signal_id) = (call.require_owner()?.to_owned(), input.signal_id);
    let signal = feed::signal(&signal_id, || is_kept(&signal_id))?;
    let note = said("/note", input.note.as_deref())?;
    let address = address(&input.url);
    let address =
        address.ok_or_else(|| SignalError::UrlNotAllowed { signal_id: signal_id.clone() })?;
    let maturity = open_dispute(&signal_id)?.map_or(signal.maturity, |_| Maturity::Disputed);
    SIGNAL.step(&signal_id, maturity, "submit_evidence")?;
    EVIDENCE_A_DAY.count(call, DAYS, &me, list_mine())?;
    check_waiting(&signal_id)?;
    let (evidence_id, now) = (call.new_id("evd"), call.now());
    let value = Evidence {
        signal_id: signal_id.clone(),
        target_id: signal.target_id,
        owner_id: me,
        kind: input.kind,
        url: address.url,
        url_key: address.key,
        note,
        state: EvidenceState::Submitted,
        submitted_at: now,
        changed_at: now,
        decision: None,
    };
    let mut stored = Stored::new(evidence_id, value, now);
    let exists = |existing_id| SignalError::EvidenceExists { signal_id, existing_id };
    stored.save().on_duplicate(exists)?;
    Ok(views::evidence(&stored))
}

/// Checks an optional text.
pub(crate) fn said(pointer: &str, text: Option<&str>) -> Result<Option<String>> {
    let mut faults = Faults::default();
    let text = text.map(|text| public(pointer, text, Lines::Many, &mut faults));
    faults.check()?;
    Ok(text)
}

pub(crate) fn withdraw(call: &Call, input: Withdraw) -> Result<EvidenceView> {
    let mut evidence = Evidence::load_own(call, &input.evidence_id)?;
    enter(call, &mut evidence, "withdraw", input.expected_version)?;
    // Withdrawn evidence releases its address: somebody else may submit it.
    evidence.value.url_key.clone_from(&evidence.id);
    evidence.save()?;
    Ok(views::evidence(&evidence))
}

/// Returns the evidence that waits for a review, oldest first.
pub(crate) fn waiting(page: PageInput) -> Result<Items<EvidenceView>> {
    let waiting = field("state").eq(EvidenceState::Submitted);
    let query = Query::new().filter(waiting).first("changed_at");
    let page = EVIDENCE.find(query.page(page))?;
    Ok(Items::of(page, |evidence| views::evidence(&evidence)))
}

pub(crate) fn accept(call: &Call, input: Accept) -> Result<EvidenceView> {
    let mut evidence = known(&input.evidence_id)?;
    enter(call, &mut evidence, "accept", input.expected_version)?;
    let publisher = said("/publisher", input.publisher.as_deref())?;
    let publisher = publisher.unwrap_or_else(|| host(&evidence.value.url));
    evidence.value.decision = said("/reason", input.reason.as_deref())?;
    evidence.save()?;
    let value = &evidence.value;
    match value.kind {
        EvidenceKind::Supports => {
            let statement = Statement {
                signal_id: value.signal_id.clone(),
                target_id: value.target_id.clone(),
                kind: StatementKind::Supports,
                at: call.now(),
                publisher,
                url: value.url.clone(),
                answers: None,
                speaker: None,
            };
            STATEMENTS.put(&evidence.id, &statement, Expect::Absent)?;
        }
        // A signal that is already disputed gets no second dispute.
        EvidenceKind::Retracted if open_dispute(&value.signal_id)?.is_some() => {}
        EvidenceKind::Retracted => {
            let opening = Opening {
                signal_id: value.signal_id.clone(),
                target_id: value.target_id.clone(),
                cause: Cause::SourceRetracted,
                owner_id: value.owner_id.clone(),
                reason: None,
                evidence_id: Some(evidence.id.clone()),
                publisher,
                url: value.url.clone(),
            };
            disputes::open(call, opening)?;
        }
    }
    tell::evidence_decided(call, &evidence, "Evidence that you submitted was accepted.")?;
    Ok(views::evidence(&evidence))
}

pub(crate) fn reject(call: &Call, input: Reject) -> Result<EvidenceView> {
    let mut evidence = known(&input.evidence_id)?;
    enter(call, &mut evidence, "reject", input.expected_version)?;
    evidence.value.decision = said("/reason", Some(&input.reason))?;
    evidence.save()?;
    tell::evidence_decided(call, &evidence, "Evidence that you submitted was not accepted.")?;
    Ok(views::evidence(&evidence))
}

/// Returns evidence, for the operator.
fn known(evidence_id: &str) -> Result<Stored<Evidence>> {
    EVIDENCE.get(evidence_id)?.ok_or_else(|| SignalError::nothing("evidence"))
}

/// Applies an action to evidence.
fn enter(
    call: &Call,
    evidence: &mut Stored<Evidence>,
    action: &str,
    expected_version: Option<Version>,
) -> Result<()> {
    let current = || views::evidence(evidence);
    ensure_version(expected_version, evidence.revision, current, list_mine())?;
    let value = &mut evidence.value;
    value.state = LIFE.step(&value.signal_id, value.state, action)?;
    value.changed_at = call.now();
    Ok(())
}

fn host(url: &str) -> String {
    address(url).map_or_else(|| url.to_owned(), |address| address.host)
}
