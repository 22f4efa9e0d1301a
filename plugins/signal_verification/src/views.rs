//! How evidence, disputes and confirmations are shown.

use crate::{
    kept::{Appointment, Confirmation, Dispute, Evidence},
    life::{DISPUTE, DisputeState, EVIDENCE, EvidenceState},
    types::{Cause, EvidenceKind},
};
use people_kit::UNTRUSTED;
use portolan_sdk::prelude::*;

/// Evidence, for who submitted it and for reviewers.
#[derive(Serialize, JsonSchema)]
pub(crate) struct EvidenceView {
    pub(crate) evidence_id: String,
    signal_id: String,
    target_id: String,
    kind: EvidenceKind,
    url: String,
    note: Option<String>,
    state: EvidenceState,
    version: u64,
    allowed_actions: Vec<&'static str>,
    /// Why it was decided so, in a reviewer's words.
    decision: Option<String>,
    /// RFC 3339.
    submitted_at: String,
    /// RFC 3339: when the state was reached.
    changed_at: String,
    /// Always `untrusted_user_content`: address, note and decision were written by people.
    trust: &'static str,
}

pub(crate) fn evidence(evidence: &Stored<Evidence>) -> EvidenceView {
    let value = &evidence.value;
    EvidenceView {
        evidence_id: evidence.id.clone(),
        signal_id: value.signal_id.clone(),
        target_id: value.target_id.clone(),
        kind: value.kind,
        url: value.url.clone(),
        note: value.note.clone(),
        state: value.state,
        version: evidence.revision,
        allowed_actions: EVIDENCE.allowed(value.state),
        decision: value.decision.clone(),
        submitted_at: rfc3339(value.submitted_at),
        changed_at: rfc3339(value.changed_at),
        trust: UNTRUSTED,
    }
}

/// Accepted evidence, for everybody: without who submitted it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PublicEvidence {
    evidence_id: String,
    kind: EvidenceKind,
    url: String,
    note: Option<String>,
    /// RFC 3339.
    accepted_at: String,
    /// Always `untrusted_user_content`: address and note were written by people.
    trust: &'static str,
}

pub(crate) fn public(evidence: &Stored<Evidence>) -> PublicEvidence {
    let value = &evidence.value;
    PublicEvidence {
        evidence_id: evidence.id.clone(),
        kind: value.kind,
        url: value.url.clone(),
        note: value.note.clone(),
        accepted_at: rfc3339(value.changed_at),
        trust: UNTRUSTED,
    }
}

/// A dispute, for everybody: without who began it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DisputeView {
    dispute_id: String,
    signal_id: String,
    target_id: String,
    cause: Cause,
    /// In the words of whoever speaks for the company.
    reason: Option<String>,
    /// The evidence that a source took it back.
    evidence_id: Option<String>,
    state: DisputeState,
    version: u64,
    allowed_actions: Vec<&'static str>,
    /// Why it was decided so, in a reviewer's words.
    decision: Option<String>,
    /// RFC 3339.
    opened_at: String,
    /// RFC 3339: when the state was reached.
    changed_at: String,
    /// Always `untrusted_user_content`: reason and decision were written by people.
    trust: &'static str,
}

pub(crate) fn dispute(dispute: &Stored<Dispute>) -> DisputeView {
    let value = &dispute.value;
    DisputeView {
        dispute_id: dispute.id.clone(),
        signal_id: value.signal_id.clone(),
        target_id: value.target_id.clone(),
        cause: value.cause,
        reason: value.reason.clone(),
        evidence_id: value.evidence_id.clone(),
        state: value.state,
        version: dispute.revision,
        allowed_actions: DISPUTE.allowed(value.state),
        decision: value.decision.clone(),
        opened_at: rfc3339(value.opened_at),
        changed_at: rfc3339(value.changed_at),
        trust: UNTRUSTED,
    }
}

/// The word of whoever speaks for the company, for everybody: without who that is.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ConfirmationView {
    confirmation_id: String,
    signal_id: String,
    target_id: String,
    reason: Option<String>,
    /// RFC 3339.
    confirmed_at: String,
    /// Always `untrusted_user_content`: the reason was written by a person.
    trust: &'static str,
}

pub(crate) fn confirmation(confirmation: &Confirmation) -> ConfirmationView {
    ConfirmationView {
        confirmation_id: confirmation.confirmation_id.clone(),
        signal_id: confirmation.signal_id.clone(),
        target_id: confirmation.target_id.clone(),
        reason: confirmation.reason.clone(),
        confirmed_at: rfc3339(confirmation.confirmed_at),
        trust: UNTRUSTED,
    }
}

/// Who speaks for a company, for the operator.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AppointmentView {
    target_id: String,
    owner_id: String,
    /// What was seen that proves it.
    note: String,
    /// The verification that it rests on; null where the operator has seen the proof.
    verification_id: Option<String>,
    /// RFC 3339.
    since: String,
}

pub(crate) fn appointment(appointment: Appointment) -> AppointmentView {
    AppointmentView {
        target_id: appointment.target_id,
        owner_id: appointment.owner_id,
        note: appointment.note,
        verification_id: appointment.verification_id,
        since: rfc3339(appointment.since),
    }
}
