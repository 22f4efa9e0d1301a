//! Inputs, events, and the enums that they share with stored documents.

use crate::{documents::StatementKind, limits::MOVES, states::*};
use portolan_sdk::prelude::*;

pub(crate) const CAPABILITY: &str = "signal_verification";

#[id]
pub(crate) struct Id(String);

pub(crate) const EVIDENCE_DECIDED: Event<Data<Facts>> = Event::new("signal.evidence_decided");
pub(crate) const DISPUTED: Event<Data<Facts>> = Event::new("signal.disputed");
pub(crate) const DISPUTE_DECIDED: Event<Data<Facts>> = Event::new("signal.dispute_decided");
pub(crate) const MATURITY_CHANGED: Event<Data<Facts>> = Event::new("signal.maturity_changed");

/// The facts of the events; each event has some of them.
#[output(Default)]
pub(crate) struct Facts {
    pub(crate) signal_id: String,
    pub(crate) kind: Option<EvidenceKind>,
    pub(crate) target_id: Option<String>,
    pub(crate) cause: Option<Cause>,
    pub(crate) from: Option<Maturity>,
    pub(crate) to: Option<Maturity>,
    /// The number of accepted items of evidence.
    pub(crate) evidence_count: Option<u64>,
}

/// The evidence's kind.
#[choice]
pub(crate) enum EvidenceKind {
    /// Somebody else publishes the same facts.
    Supports,
    /// A source of the signal retracts the signal.
    Retracted,
}

/// Why a signal is disputed.
#[choice]
pub(crate) enum Cause {
    /// A person who speaks for the company says that it is not true.
    OwnerObjects,
    /// A source has retracted the signal.
    SourceRetracted,
}

#[input]
pub(crate) struct SignalId {
    /// The id of the signal in the feed: `sig_` and 26 characters.
    pub(crate) signal_id: Id,
}

#[input]
pub(crate) struct Submit {
    /// The id of the signal in the feed.
    pub(crate) signal_id: Id,
    /// The address, which everybody must be able to read: https, with a host name, without a user
    /// and a port.
    pub(crate) url: Text<1, 480>,
    /// Its evidence: that somebody else publishes the same, or that a source has retracted it.
    pub(crate) kind: EvidenceKind,
    /// A note on what the reviewer should look at. Everybody reads it once the evidence is
    /// accepted.
    pub(crate) note: Option<Text<1, 500>>,
}

#[input]
pub(crate) struct Withdraw {
    /// The id of one's own evidence: `evd_` and a ULID.
    pub(crate) evidence_id: Id,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct StatementInput {
    /// A signal about a company that the person speaks for.
    pub(crate) signal_id: Id,
    /// The reason, which everybody reads.
    pub(crate) reason: Option<Text<1, 500>>,
}

#[input]
pub(crate) struct ListMine {
    /// States of evidence: only evidence in one of them is returned, without confirmations and
    /// disputes. Omit this field to get all evidence, confirmations and disputes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 4))]
    pub(crate) state: Vec<EvidenceState>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct Appoint {
    /// The company on the map.
    pub(crate) target_id: Id,
    /// The person who is to speak for it.
    pub(crate) owner_id: Id,
    /// A note about the proof that was seen.
    pub(crate) note: Text<1, 500>,
}

#[input]
pub(crate) struct Dismiss {
    /// The company on the map.
    pub(crate) target_id: Id,
    /// The person who no longer speaks for it.
    pub(crate) owner_id: Id,
}

/// The part of the event `verification.updated` that is read.
#[input]
pub(crate) struct Verification {
    pub(crate) resource: VerificationState,
    pub(crate) owner_id: String,
    /// The target of the map; `None` if the event is about an organisation.
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
    /// A company: only people who speak for it are returned. Omit this field to get all who speak
    /// for a company.
    pub(crate) target_id: Option<Id>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct Accept {
    pub(crate) evidence_id: Id,
    /// The publisher; by default the host of the address.
    pub(crate) publisher: Option<Text<1, 120>>,
    /// The reason, for the person who submitted it.
    pub(crate) reason: Option<Text<1, 500>>,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Reject {
    pub(crate) evidence_id: Id,
    /// The reason, for the person who submitted it.
    pub(crate) reason: Text<1, 500>,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Review {
    pub(crate) dispute_id: Id,
    /// The reason, which everybody reads.
    pub(crate) reason: Text<1, 500>,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Announce {
    #[schemars(length(max = MOVES))]
    pub(crate) moves: Vec<MaturityChange>,
}

#[input]
#[serde(deny_unknown_fields)]
pub(crate) struct MaturityChange {
    pub(crate) signal_id: Id,
    pub(crate) from: Option<Maturity>,
    pub(crate) to: Maturity,
}

/// One page of the valid statements.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Knowledge {
    /// The targets that somebody speaks for; only on the first page.
    pub(crate) verified_owners: Vec<String>,
    pub(crate) evidence: Vec<Known>,
    /// The cursor of the next page; null on the last one.
    pub(crate) next_cursor: Option<String>,
}

/// A statement in the words of the feeds.
#[output]
pub(crate) struct Known {
    pub(crate) id: String,
    pub(crate) signal_id: String,
    pub(crate) kind: StatementKind,
    /// When it was made (RFC 3339).
    pub(crate) at: String,
    pub(crate) publisher: String,
    pub(crate) url: String,
    /// The id of the statement that a review decides.
    pub(crate) answers: Option<String>,
}
