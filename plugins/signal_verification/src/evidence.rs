//! Evidence: submitted, withdrawn, decided.

use crate::{
    address::address,
    disputes::{self, DisputeOpening},
    documents::*,
    feed,
    limits::{EVIDENCE_A_DAY, ensure_few_waiting},
    notices,
    refusals::*,
    speakers::ensure_allowed,
    states::*,
    types::*,
    views::{self, EvidenceView},
};
use people_kit::text::{Faults, Lines, public};
use portolan_sdk::prelude::*;

pub(crate) fn submit(call: &Call, input: Submit) -> Result<EvidenceView> {
    let (owner_id, signal_id) = (call.require_owner()?.to_owned(), String::from(input.signal_id));
    let signal = feed::signal(&signal_id)?;
    let note = check_text("/note", input.note.as_deref())?;
    let refused = || SignalError::UrlNotAllowed { signal_id: signal_id.clone() };
    let address = address(&input.url).ok_or_else(refused)?;
    ensure_allowed(&signal_id, &signal, "submit_evidence")?;
    EVIDENCE_A_DAY.count(call, DAYS, &owner_id, list_mine())?;
    ensure_few_waiting(&signal_id)?;
    let (evidence_id, now) = (call.new_id("evd"), call.now());
    let value = Evidence {
        signal_id: signal_id.clone(),
        target_id: signal.target_id,
        owner_id,
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
pub(crate) fn check_text(pointer: &str, text: Option<&str>) -> Result<Option<String>> {
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
    let waiting = Query::new().filter(field("state").eq(EvidenceState::Submitted));
    let found = EVIDENCE.find(waiting.first("changed_at").page(page))?;
    Ok(Items::of(found, |evidence| views::evidence(&evidence)))
}

pub(crate) fn accept(call: &Call, input: Accept) -> Result<EvidenceView> {
    let mut evidence = load_evidence(&input.evidence_id)?;
    enter(call, &mut evidence, "accept", input.expected_version)?;
    let publisher = check_text("/publisher", input.publisher.as_deref())?;
    evidence.value.decision = check_text("/reason", input.reason.as_deref())?;
    evidence.save()?;
    let Evidence { signal_id, target_id, url, kind, .. } = &evidence.value;
    let host = || address(url).map_or_else(|| url.clone(), |address| address.host);
    let publisher = publisher.unwrap_or_else(host);
    let statement = |kind| Statement::new(call, kind, signal_id, target_id, publisher, url.clone());
    match kind {
        EvidenceKind::Supports => {
            let statement = statement(StatementKind::Supports);
            STATEMENTS.put(&evidence.id, &statement, Expect::Absent)?;
        }
        // A signal that is already disputed gets no second dispute.
        EvidenceKind::Retracted if open_dispute(signal_id)?.is_some() => {}
        EvidenceKind::Retracted => {
            let (cause, owner_id) = (Cause::SourceRetracted, evidence.value.owner_id.clone());
            let evidence_id = Some(evidence.id.clone());
            let by = DisputeOpening { cause, owner_id, reason: None, evidence_id };
            disputes::open(call, by, statement(StatementKind::SourceRetracted))?;
        }
    }
    notices::evidence_decided(call, &evidence, "Evidence that you submitted was accepted.")?;
    Ok(views::evidence(&evidence))
}

pub(crate) fn reject(call: &Call, input: Reject) -> Result<EvidenceView> {
    let mut evidence = load_evidence(&input.evidence_id)?;
    enter(call, &mut evidence, "reject", input.expected_version)?;
    evidence.value.decision = check_text("/reason", Some(&input.reason))?;
    evidence.save()?;
    notices::evidence_decided(call, &evidence, "Evidence that you submitted was not accepted.")?;
    Ok(views::evidence(&evidence))
}

/// Returns evidence of any person, for the operator.
fn load_evidence(evidence_id: &str) -> Result<Stored<Evidence>> {
    EVIDENCE.get(evidence_id)?.ok_or_else(|| SignalError::not_found("evidence"))
}

/// Changes the state of evidence by an action, without saving it. Refuses if the caller expects
/// another version.
fn enter(
    call: &Call,
    evidence: &mut Stored<Evidence>,
    action: &str,
    expected_version: Option<Version>,
) -> Result<()> {
    evidence.ensure_version(expected_version, || views::evidence(evidence), list_mine())?;
    let value = &mut evidence.value;
    value.state = REVIEWED.step(&value.signal_id, value.state, action)?;
    value.changed_at = call.now();
    Ok(())
}
