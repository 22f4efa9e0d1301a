//! Inputs, events, and the words that stand in both them and what is kept.

use crate::{
    kept::StatementKind,
    life::{EvidenceState, Maturity},
    limits::MOVES,
};
use portolan_sdk::prelude::*;

pub(crate) const CAPABILITY: &str = "signal_verification";

pub(crate) const EVIDENCE_DECIDED: Event<Data<Decided>> = Event::new("signal.evidence_decided");
pub(crate) const DISPUTED: Event<Data<Objection>> = Event::new("signal.disputed");
pub(crate) const DISPUTE_DECIDED: Event<Data<Objection>> = Event::new("signal.dispute_decided");
pub(crate) const MATURITY_CHANGED: Event<Data<Changed>> = Event::new("signal.maturity_changed");

#[derive(Serialize)]
pub(crate) struct Decided {
    pub(crate) signal_id: String,
    pub(crate) kind: EvidenceKind,
}

#[derive(Serialize)]
pub(crate) struct Objection {
    pub(crate) signal_id: String,
    pub(crate) target_id: String,
    pub(crate) cause: Cause,
}

#[derive(Serialize)]
pub(crate) struct Changed {
    pub(crate) signal_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<Maturity>,
    pub(crate) to: Maturity,
    /// Of what was accepted.
    pub(crate) evidence_count: u64,
}

/// What an address shows.
#[choice]
pub(crate) enum EvidenceKind {
    /// Somebody else publishes the same.
    Supports,
    /// A source of the signal takes back what it said.
    Retracted,
}

/// Why a signal is disputed.
#[choice]
pub(crate) enum Cause {
    /// Whoever speaks for the company says that it is not so.
    OwnerObjects,
    /// A source has taken it back.
    SourceRetracted,
}

#[input]
pub(crate) struct SignalId {
    /// The signal, `sig_` and 26 characters, as the feed of signals has it.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) signal_id: String,
}

#[input]
pub(crate) struct Submit {
    /// The signal, as the feed of signals has it.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) signal_id: String,
    /// Where everybody can read it: https, a host with a name, without a user and a port.
    #[schemars(length(min = 1, max = 480))]
    pub(crate) url: String,
    /// What it shows: that somebody else publishes the same, or that a source has taken it back.
    pub(crate) kind: EvidenceKind,
    /// What a reviewer should look at. Everybody reads it once the evidence is accepted.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) note: Option<String>,
}

#[input]
pub(crate) struct Withdraw {
    /// One's own evidence, `evd_` and a ULID.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) evidence_id: String,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Say {
    /// A signal about a company that the person speaks for.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) signal_id: String,
    /// Why, in words that everybody reads.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) reason: Option<String>,
}

#[input]
pub(crate) struct ListMine {
    /// Evidence in these states alone; everything if left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 4))]
    pub(crate) state: Vec<EvidenceState>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct Appoint {
    /// A company on the map.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) target_id: String,
    /// Who speaks for it.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) owner_id: String,
    /// What was seen that proves it.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) note: String,
}

#[input]
pub(crate) struct Dismiss {
    /// A company on the map.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) target_id: String,
    /// Who speaks for it no longer.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) owner_id: String,
}

/// What is used of the event `verification.updated`.
#[input]
pub(crate) struct Verification {
    pub(crate) resource: VerificationState,
    pub(crate) owner_id: String,
    /// None if it is not about a target of the map.
    pub(crate) target_id: Option<String>,
    pub(crate) domain: String,
}

#[input]
pub(crate) struct VerificationState {
    pub(crate) id: String,
    pub(crate) state: String,
}

#[input]
pub(crate) struct ListSpeakers {
    /// Of this company only.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) target_id: Option<String>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct Accept {
    #[schemars(length(min = 1, max = 40))]
    pub(crate) evidence_id: String,
    /// Who publishes it; the name of the address's host if left out.
    #[schemars(length(min = 1, max = 120))]
    pub(crate) publisher: Option<String>,
    /// For who submitted it.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) reason: Option<String>,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Reject {
    #[schemars(length(min = 1, max = 40))]
    pub(crate) evidence_id: String,
    /// For who submitted it.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) reason: String,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Review {
    #[schemars(length(min = 1, max = 40))]
    pub(crate) dispute_id: String,
    /// Everybody reads it.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) reason: String,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Announce {
    #[schemars(length(max = MOVES))]
    pub(crate) moves: Vec<Move>,
}

#[input]
#[serde(deny_unknown_fields)]
pub(crate) struct Move {
    #[schemars(length(min = 1, max = 40))]
    pub(crate) signal_id: String,
    pub(crate) from: Option<Maturity>,
    pub(crate) to: Maturity,
}

/// One page of what counts.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Knowledge {
    /// All targets that somebody speaks for; with the first page.
    pub(crate) verified_owners: Vec<String>,
    pub(crate) evidence: Vec<Known>,
    /// Where the next page begins; null on the last one.
    pub(crate) next_cursor: Option<String>,
}

/// A statement in the words of the feeds.
#[output]
pub(crate) struct Known {
    pub(crate) id: String,
    pub(crate) signal_id: String,
    pub(crate) kind: StatementKind,
    /// RFC 3339.
    pub(crate) at: String,
    pub(crate) publisher: String,
    pub(crate) url: String,
    /// The id of the statement that a review is about.
    pub(crate) answers: Option<String>,
}
