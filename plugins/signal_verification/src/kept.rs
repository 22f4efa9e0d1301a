//! What is kept: evidence, disputes, confirmations, who speaks for whom, and what of it the feeds are
//! to know.

use crate::{
    life::{DisputeState, EvidenceState},
    refusals::SignalError,
    types::{Cause, EvidenceKind},
};
use portolan_sdk::prelude::*;

pub(crate) const EVIDENCE: Collection<Evidence> = Collection::new("evidence")
    .unique("page", &["signal_id", "url_key"])
    .index("signal", &["signal_id", "state", "changed_at"])
    .index("owner", &["owner_id", "changed_at"])
    .index("state", &["state", "changed_at"]);

pub(crate) const DISPUTES: Collection<Dispute> = Collection::new("disputes")
    .unique("open", &["open_key"])
    .index("signal", &["signal_id", "changed_at"])
    .index("owner", &["owner_id", "changed_at"])
    .index("state", &["state", "changed_at"]);

/// By the signal's id and the person's, joined by a slash.
pub(crate) const CONFIRMATIONS: Collection<Confirmation> = Collection::new("confirmations")
    .index("signal", &["signal_id", "confirmed_at"])
    .index("owner", &["owner_id", "confirmed_at"])
    .index("speaker", &["target_id", "owner_id"]);

/// Who speaks for which company, by the target's id and the person's, joined by a slash.
pub(crate) const APPOINTMENTS: Collection<Appointment> =
    Collection::new("appointments").index("target", &["target_id", "owner_id"]);

/// What counts, for whoever builds the feeds.
pub(crate) const STATEMENTS: Collection<Statement> = Collection::new("statements")
    .index("signal", &["signal_id"])
    .index("speaker", &["target_id", "speaker"]);

pub(crate) const DAYS: Collection<Day> = Collection::new("days");

/// Times are milliseconds since the Unix epoch, here and below.
#[document]
#[entity(
    kind = "evidence", collection = EVIDENCE, owner = owner_id,
    not_found = SignalError::no_evidence()
)]
pub(crate) struct Evidence {
    pub(crate) signal_id: String,
    pub(crate) target_id: String,
    pub(crate) owner_id: String,
    pub(crate) kind: EvidenceKind,
    pub(crate) url: String,
    /// What makes the address the same as another; the evidence's own id once it was taken back.
    pub(crate) url_key: String,
    pub(crate) note: Option<String>,
    pub(crate) state: EvidenceState,
    pub(crate) submitted_at: u64,
    pub(crate) changed_at: u64,
    /// Why it was decided so.
    pub(crate) decision: Option<String>,
}

#[document]
#[entity(
    kind = "dispute", collection = DISPUTES,
    not_found = SignalError::nothing("dispute")
)]
pub(crate) struct Dispute {
    pub(crate) signal_id: String,
    pub(crate) target_id: String,
    pub(crate) cause: Cause,
    /// Who objects, or who has found that the source was taken back.
    pub(crate) owner_id: String,
    pub(crate) reason: Option<String>,
    pub(crate) evidence_id: Option<String>,
    pub(crate) state: DisputeState,
    /// The signal's id while it is open, so that there is one at a time; its own id afterwards.
    pub(crate) open_key: String,
    pub(crate) opened_at: u64,
    pub(crate) changed_at: u64,
    pub(crate) decision: Option<String>,
}

#[document]
pub(crate) struct Confirmation {
    /// In place of its own id, which names the person.
    pub(crate) confirmation_id: String,
    pub(crate) signal_id: String,
    pub(crate) target_id: String,
    pub(crate) owner_id: String,
    pub(crate) reason: Option<String>,
    pub(crate) confirmed_at: u64,
}

#[document]
pub(crate) struct Appointment {
    pub(crate) target_id: String,
    pub(crate) owner_id: String,
    /// What was seen that proves it.
    pub(crate) note: String,
    pub(crate) since: u64,
    /// The verification that it rests on; none where the operator has seen the proof.
    pub(crate) verification_id: Option<String>,
}

/// Something that was said and counts, in the words of the feeds.
#[document]
pub(crate) struct Statement {
    pub(crate) signal_id: String,
    pub(crate) target_id: String,
    pub(crate) kind: StatementKind,
    pub(crate) at: u64,
    pub(crate) publisher: String,
    pub(crate) url: String,
    /// The dispute that a review is about.
    pub(crate) answers: Option<String>,
    /// Whose word it is, where it counts because they speak for the company.
    pub(crate) speaker: Option<String>,
}

#[choice]
pub(crate) enum StatementKind {
    Supports,
    OwnerConfirms,
    OwnerObjects,
    SourceRetracted,
    ObjectionUpheld,
    ObjectionRejected,
}

/// Under which something of a person's about a signal or a company is kept.
pub(crate) fn pair_id(of: &str, owner_id: &str) -> String {
    format!("{of}/{owner_id}")
}

/// Whether anything was said about a signal.
pub(crate) fn is_kept(signal_id: &str) -> Result<bool, HostError> {
    let about = || field("signal_id").eq(signal_id);
    Ok(EVIDENCE.count(about())? + DISPUTES.count(about())? + CONFIRMATIONS.count(about())? > 0)
}

/// The dispute of a signal that waits for a review.
pub(crate) fn open_dispute(signal_id: &str) -> Result<Option<Stored<Dispute>>, HostError> {
    let open = Query::new().filter(field("open_key").eq(signal_id)).limit(1);
    Ok(DISPUTES.find(open)?.hits.pop().map(|hit| hit.document))
}
