//! Disputes: opened by a speaker of the company or by evidence of a retraction, decided by a
//! review.

use crate::{
    documents::*,
    evidence::check_text,
    limits::DISPUTES_A_DAY,
    notices,
    refusals::*,
    speakers,
    states::*,
    types::*,
    views::{self, DisputeView},
};
use portolan_sdk::prelude::*;

pub(crate) fn dispute(call: &Call, input: StatementInput) -> Result<DisputeView> {
    let (owner_id, signal_id) = (call.require_owner()?.to_owned(), String::from(input.signal_id));
    let signal = speakers::load_as_speaker(call, &signal_id)?;
    speakers::ensure_allowed(&signal_id, &signal, "dispute")?;
    let reason = check_text("/reason", input.reason.as_deref())?;
    DISPUTES_A_DAY.count(call, DAYS, &owner_id, list_mine())?;
    let (kind, publisher) = (StatementKind::OwnerObjects, speakers::publisher(&signal.target_id)?);
    let url = speakers::schema_url();
    let statement = Statement::new(call, kind, &signal_id, &signal.target_id, publisher, url);
    let statement = Statement { speaker: Some(owner_id.clone()), ..statement };
    let by = DisputeOpening { cause: Cause::OwnerObjects, owner_id, reason, evidence_id: None };
    Ok(views::dispute(&open(call, by, statement)?))
}

/// The grounds of a dispute, and the person who opens it.
pub(crate) struct DisputeOpening {
    pub(crate) cause: Cause,
    pub(crate) owner_id: String,
    pub(crate) reason: Option<String>,
    pub(crate) evidence_id: Option<String>,
}

/// Opens a dispute of a signal that has no open one, with its statement for the feeds.
pub(crate) fn open(
    call: &Call,
    by: DisputeOpening,
    statement: Statement,
) -> Result<Stored<Dispute>> {
    let (id, now) = (call.new_id("dsp"), call.now());
    STATEMENTS.put(&id, &statement, Expect::Absent)?;
    let value = Dispute {
        open_key: statement.signal_id.clone(),
        signal_id: statement.signal_id,
        target_id: statement.target_id,
        cause: by.cause,
        owner_id: by.owner_id,
        reason: by.reason,
        evidence_id: by.evidence_id,
        state: DisputeState::Open,
        opened_at: now,
        changed_at: now,
        decision: None,
    };
    let dispute = DISPUTES.add(id, value, now)?;
    notices::disputed(call, &dispute)?;
    Ok(dispute)
}

/// Returns the disputes that wait for a review, oldest first.
pub(crate) fn waiting(page: PageInput) -> Result<Items<DisputeView>> {
    let query = Query::new().filter(field("state").eq(DisputeState::Open)).first("changed_at");
    Ok(Items::of(DISPUTES.find(query.page(page))?, |dispute| views::dispute(&dispute)))
}

/// Decides a dispute with this action.
pub(crate) fn decide(
    call: &Call,
    input: Review,
    action: &str,
    kind: StatementKind,
) -> Result<DisputeView> {
    let mut dispute = Dispute::load(&input.dispute_id)?;
    let read = get(&dispute.value.signal_id);
    dispute.ensure_version(input.expected_version, || views::dispute(&dispute), read)?;
    let value = &mut dispute.value;
    value.state = DISPUTE.step(&value.signal_id, value.state, action)?;
    value.decision = check_text("/reason", Some(&input.reason))?;
    value.changed_at = call.now();
    value.open_key.clone_from(&dispute.id);
    let (publisher, url) = ("Review by the operator".to_owned(), speakers::schema_url());
    let statement = Statement::new(call, kind, &value.signal_id, &value.target_id, publisher, url);
    let statement = Statement { answers: Some(dispute.id.clone()), ..statement };
    STATEMENTS.put(&format!("{}/review", dispute.id), &statement, Expect::Absent)?;
    dispute.save()?;
    notices::dispute_decided(&dispute)?;
    Ok(views::dispute(&dispute))
}
