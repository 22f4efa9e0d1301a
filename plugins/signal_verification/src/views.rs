//! The views of evidence, disputes and confirmations.

use crate::{documents::*, states::*, types::*};
use people_kit::UNTRUSTED;
use portolan_sdk::prelude::*;

/// Evidence, for the person who submitted it and for reviewers.
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
    /// The reason of the decision, in a reviewer's words.
    decision: Option<String>,
    /// When it was submitted (RFC 3339).
    submitted_at: String,
    /// When the state was reached (RFC 3339).
    changed_at: String,
    /// Always `untrusted_user_content`: address, note and decision were written by people.
    trust: &'static str,
}

pub(crate) fn evidence(evidence: &Stored<Evidence>) -> EvidenceView {
    let value = &evidence.value;
    view!(value => EvidenceView {
        signal_id, target_id, kind, url, note, state, decision;
        evidence_id: evidence.id.clone(),
        version: evidence.revision,
        allowed_actions: REVIEWED.allowed(value.state),
        submitted_at: rfc3339(value.submitted_at),
        changed_at: rfc3339(value.changed_at),
        trust: UNTRUSTED,
    })
}

/// Accepted evidence, for everybody: without the person who submitted it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PublicEvidence {
    evidence_id: String,
    kind: EvidenceKind,
    url: String,
    note: Option<String>,
    /// When it was accepted (RFC 3339).
    accepted_at: String,
    /// Always `untrusted_user_content`: address and note were written by people.
    trust: &'static str,
}

pub(crate) fn public(evidence: &Stored<Evidence>) -> PublicEvidence {
    view!(evidence.value => PublicEvidence {
        kind, url, note;
        evidence_id: evidence.id.clone(),
        accepted_at: rfc3339(evidence.value.changed_at),
        trust: UNTRUSTED,
    })
}

/// A dispute, for everybody: without the person who opened it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DisputeView {
    dispute_id: String,
    signal_id: String,
    target_id: String,
    cause: Cause,
    /// The reason, in the words of a person who speaks for the company.
    reason: Option<String>,
    /// The evidence that a source has retracted it.
    evidence_id: Option<String>,
    state: DisputeState,
    version: u64,
    allowed_actions: Vec<&'static str>,
    /// The reason of the decision, in a reviewer's words.
    decision: Option<String>,
    /// When it was opened (RFC 3339).
    opened_at: String,
    /// When the state was reached (RFC 3339).
    changed_at: String,
    /// Always `untrusted_user_content`: reason and decision were written by people.
    trust: &'static str,
}

pub(crate) fn dispute(dispute: &Stored<Dispute>) -> DisputeView {
    let value = &dispute.value;
    view!(value => DisputeView {
        signal_id, target_id, cause, reason, evidence_id, state, decision;
        dispute_id: dispute.id.clone(),
        version: dispute.revision,
        allowed_actions: DISPUTE.allowed(value.state),
        opened_at: rfc3339(value.opened_at),
        changed_at: rfc3339(value.changed_at),
        trust: UNTRUSTED,
    })
}

/// A confirmation of a company, for everybody: without the person who made it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ConfirmationView {
    confirmation_id: String,
    signal_id: String,
    target_id: String,
    reason: Option<String>,
    /// When it was made (RFC 3339).
    confirmed_at: String,
    /// Always `untrusted_user_content`: the reason was written by a person.
    trust: &'static str,
}

pub(crate) fn confirmation(confirmation: &Confirmation) -> ConfirmationView {
    view!(confirmation => ConfirmationView {
        confirmation_id, signal_id, target_id, reason;
        confirmed_at: rfc3339(confirmation.confirmed_at),
        trust: UNTRUSTED,
    })
}

/// A person who speaks for a company, for the operator.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AppointmentView {
    target_id: String,
    owner_id: String,
    /// A note about the proof that was seen.
    note: String,
    /// The verification of the person; null if the operator has seen the proof.
    verification_id: Option<String>,
    /// Since when they speak for it (RFC 3339).
    since: String,
}

pub(crate) fn appointment(appointment: Appointment) -> AppointmentView {
    view!(appointment => AppointmentView {
        target_id, owner_id, note, verification_id;
        since: rfc3339(appointment.since),
    })
}
