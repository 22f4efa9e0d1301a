//! The stored documents: evidence, disputes, confirmations, speakers, and the statements for the
//! feeds.

use crate::{refusals::SignalError, states::*, types::*};
use portolan_sdk::documents::{Person, PersonalField::Shared};
use portolan_sdk::prelude::*;

pub(crate) const EVIDENCE: Collection<Evidence> = Collection::new("evidence")
    .people(&[Person::redact("owner_id", &[Shared("note")])])
    .unique("page", &["signal_id", "url_key"])
    .index("signal", &["signal_id", "state", "changed_at"])
    .index("owner", &["owner_id", "changed_at"])
    .index("state", &["state", "changed_at"]);

pub(crate) const DISPUTES: Collection<Dispute> = Collection::new("disputes")
    .people(&[Person::redact("owner_id", &[Shared("reason")]), Person::redact("open_key", &[])])
    .unique("open", &["open_key"])
    .index("signal", &["signal_id", "changed_at"])
    .index("owner", &["owner_id", "changed_at"])
    .index("state", &["state", "changed_at"]);

/// The confirmations, keyed by the ids of the signal and the person, joined by a slash.
pub(crate) const CONFIRMATIONS: Collection<Confirmation> = Collection::new("confirmations")
    .people(&[Person::delete("$id"), Person::delete("owner_id")])
    .index("signal", &["signal_id", "confirmed_at"])
    .index("owner", &["owner_id", "confirmed_at"])
    .index("speaker", &["target_id", "owner_id"]);

/// The people who speak for a company, keyed by the ids of the target and the person, joined by a
/// slash.
pub(crate) const APPOINTMENTS: Collection<Appointment> = Collection::new("appointments")
    .people(&[Person::delete("$id"), Person::delete("owner_id")])
    .index("target", &["target_id", "owner_id"]);

/// The valid statements, which the build of the feeds reads.
pub(crate) const STATEMENTS: Collection<Statement> = Collection::new("statements")
    .people(&[Person::redact("speaker", &[])])
    .index("signal", &["signal_id"])
    .index("speaker", &["target_id", "speaker"]);

pub(crate) const DAYS: Collection<Day> = Collection::new("days").people(&[Person::delete("$id")]);

/// Evidence. Times are milliseconds since the Unix epoch, here and below.
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
    /// The key of the address; the evidence's own id once it was withdrawn.
    pub(crate) url_key: String,
    pub(crate) note: Option<String>,
    pub(crate) state: EvidenceState,
    pub(crate) submitted_at: u64,
    pub(crate) changed_at: u64,
    /// The reason of the decision.
    pub(crate) decision: Option<String>,
}

#[document]
#[entity(kind = "dispute", collection = DISPUTES, not_found = SignalError::not_found("dispute"))]
pub(crate) struct Dispute {
    pub(crate) signal_id: String,
    pub(crate) target_id: String,
    pub(crate) cause: Cause,
    /// The person who objects, or who submitted the evidence of the retraction.
    pub(crate) owner_id: String,
    pub(crate) reason: Option<String>,
    pub(crate) evidence_id: Option<String>,
    pub(crate) state: DisputeState,
    /// The signal's id while the dispute is open, so that there is only one; afterwards the
    /// dispute's own id.
    pub(crate) open_key: String,
    pub(crate) opened_at: u64,
    pub(crate) changed_at: u64,
    pub(crate) decision: Option<String>,
}

#[document]
pub(crate) struct Confirmation {
    /// A public id in place of the document's id, which contains the person's id.
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
    /// A note about the proof.
    pub(crate) note: String,
    pub(crate) since: u64,
    /// The verification of the person; `None` if the operator has seen the proof.
    pub(crate) verification_id: Option<String>,
}

/// A valid statement, in the words of the feeds.
#[document]
pub(crate) struct Statement {
    pub(crate) signal_id: String,
    pub(crate) target_id: String,
    pub(crate) kind: StatementKind,
    pub(crate) at: u64,
    pub(crate) publisher: String,
    pub(crate) url: String,
    /// The id of the dispute that this statement decides.
    pub(crate) answers: Option<String>,
    /// The person who made the statement for the company. It is deleted when they no longer speak
    /// for the company.
    pub(crate) speaker: Option<String>,
}

impl Statement {
    /// Makes a statement without a speaker.
    pub(crate) fn new(
        call: &Call,
        kind: StatementKind,
        signal_id: &str,
        target_id: &str,
        publisher: String,
        url: String,
    ) -> Self {
        let (signal_id, target_id) = (signal_id.to_owned(), target_id.to_owned());
        let (at, answers, speaker) = (call.now(), None, None);
        Self { signal_id, target_id, kind, at, publisher, url, answers, speaker }
    }
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

/// Returns the id of a person's document about a signal or a company.
pub(crate) fn pair_id(of: &str, owner_id: &str) -> String {
    format!("{of}/{owner_id}")
}

pub(crate) fn about(signal_id: &str) -> Filter {
    field("signal_id").eq(signal_id)
}

pub(crate) fn evidence_about(signal_id: &str, state: EvidenceState) -> Filter {
    about(signal_id).and(field("state").eq(state))
}

/// Returns whether evidence, disputes or confirmations of a signal are stored.
pub(crate) fn has_records(signal_id: &str) -> Result<bool, HostError> {
    let about = || about(signal_id);
    Ok(EVIDENCE.count(about())? + DISPUTES.count(about())? + CONFIRMATIONS.count(about())? > 0)
}

/// Returns the dispute of a signal that waits for a review.
pub(crate) fn open_dispute(signal_id: &str) -> Result<Option<Stored<Dispute>>, HostError> {
    let open = Query::new().filter(field("open_key").eq(signal_id)).limit(1);
    Ok(DISPUTES.find(open)?.into_documents().next())
}
