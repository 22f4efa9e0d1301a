//! Disputes: opened by a speaker of the company or by evidence of a retraction, decided by a
//! review.

use crate::{
    evidence::said,
    kept::{DAYS, DISPUTES, Dispute, STATEMENTS, Statement, StatementKind},
    life::{DISPUTE, DisputeState},
    limits::DISPUTES_A_DAY,
    refusals::{Result, get, list_mine},
    speakers, tell,
    types::{Cause, Review, Say},
    views::{self, DisputeView},
};
use portolan_sdk::prelude::*;

/// The publisher of a review in the feeds.
const REVIEW: &str = "Review by the operator";

/// The input of a new dispute.
pub(crate) struct Opening {
    pub(crate) signal_id: String,
    pub(crate) target_id: String,
    pub(crate) cause: Cause,
    pub(crate) owner_id: String,
    pub(crate) reason: Option<String>,
    pub(crate) evidence_id: Option<String>,
    pub(crate) publisher: String,
    pub(crate) url: String,
}

pub(crate) fn dispute(call: &Call, input: Say) -> Result<DisputeView> {
    let me = call.require_owner()?.to_owned();
    let signal = speakers::enter(call, &input.signal_id, "dispute")?;
    let reason = said("/reason", input.reason.as_deref())?;
    DISPUTES_A_DAY.count(call, DAYS, &me, list_mine())?;
    let opening = Opening {
        publisher: speakers::publisher(&signal.target_id)?,
        url: speakers::here(),
        signal_id: input.signal_id,
        target_id: signal.target_id,
        cause: Cause::OwnerObjects,
        owner_id: me,
        reason,
        evidence_id: None,
    };
    Ok(views::dispute(&open(call, opening)?))
}

/// Opens a dispute of a signal that has no open one.
pub(crate) fn open(call: &Call, opening: Opening) -> Result<Stored<Dispute>> {
    let (id, now) = (call.new_id("dsp"), call.now());
    let (kind, speaker) = match opening.cause {
        Cause::OwnerObjects => (StatementKind::OwnerObjects, Some(opening.owner_id.clone())),
        Cause::SourceRetracted => (StatementKind::SourceRetracted, None),
    };
    let statement = Statement {
        signal_id: opening.signal_id.clone(),
        target_id: opening.target_id.clone(),
        kind,
        at: now,
        publisher: opening.publisher,
        url: opening.url,
        answers: None,
        speaker,
    };
    STATEMENTS.put(&id, &statement, Expect::Absent)?;
    let value = Dispute {
        open_key: opening.signal_id.clone(),
        signal_id: opening.signal_id,
        target_id: opening.target_id,
        cause: opening.cause,
        owner_id: opening.owner_id,
        reason: opening.reason,
        evidence_id: opening.evidence_id,
        state: DisputeState::Open,
        opened_at: now,
        changed_at: now,
        decision: None,
    };
    let dispute = DISPUTES.add(id, value, now)?;
    tell::disputed(call, &dispute)?;
    Ok(dispute)
}

/// Returns the disputes that wait for a review, oldest first.
pub(crate) fn waiting(page: PageInput) -> Result<Items<DisputeView>> {
    let open = field("state").eq(DisputeState::Open);
    let query = Query::new().filter(open).first("changed_at");
    let page = DISPUTES.find(query.page(page))?;
    Ok(Items::of(page, |dispute| views::dispute(&dispute)))
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
    value.decision = said("/reason", Some(&input.reason))?;
    value.changed_at = call.now();
    value.open_key.clone_from(&dispute.id);
    let statement = Statement {
        signal_id: value.signal_id.clone(),
        target_id: value.target_id.clone(),
        kind,
        at: call.now(),
        publisher: REVIEW.to_owned(),
        url: speakers::here(),
        answers: Some(dispute.id.clone()),
        speaker: None,
    };
    STATEMENTS.put(&format!("{}/review", dispute.id), &statement, Expect::Absent)?;
    dispute.save()?;
    tell::dispute_decided(&dispute)?;
    Ok(views::dispute(&dispute))
}
