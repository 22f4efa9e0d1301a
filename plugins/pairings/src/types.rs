//! Inputs and events.

use crate::{documents::*, states::*};
use people_kit::pairings::Origin;
use portolan_sdk::prelude::*;

pub(crate) const CAPABILITY: &str = "pairings";

/// The pairing's id: `pair_` and a ULID.
#[id]
pub(crate) struct Id(String);

pub(crate) const PROPOSED: PairingEvent = Event::new("pairing.proposed");
pub(crate) const REPLIED: PairingEvent = Event::new("pairing.replied");
pub(crate) const MESSAGE: PairingEvent = Event::new("pairing.message");
pub(crate) const CONNECTED: PairingEvent = Event::new("pairing.connected");
pub(crate) const WITHDRAWN: PairingEvent = Event::new("pairing.withdrawn");
pub(crate) const EXPIRED: PairingEvent = Event::new("pairing.expired");
pub(crate) const CLOSED: PairingEvent = Event::new("pairing.closed");
pub(crate) const CANCELLED: PairingEvent = Event::new("pairing.cancelled");
pub(crate) const ASSIGNED: PairingEvent = Event::new("pairing.assigned");
/// A side can no longer be reached, or can be reached again.
pub(crate) const COUNTERPART_CHANGED: PairingEvent = Event::new("pairing.counterpart_changed");
/// The other side's listing has changed while the proposal to it waits.
pub(crate) const LISTING_CHANGED: PairingEvent = Event::new("pairing.listing_changed");
/// The other side's listing has ended, and the connection goes on.
pub(crate) const LISTING_ENDED: PairingEvent = Event::new("pairing.listing_ended");
pub(crate) const CONTACT_EXCHANGED: PairingEvent = Event::new("pairing.contact_exchanged");

/// An event of a pairing.
pub(crate) type PairingEvent = Event<Data<Facts>>;

/// The data of the events of a pairing. Each event has some of it, and none has a text that a person
/// wrote.
#[output(Default)]
pub(crate) struct Facts {
    pub(crate) from_listing_id: String,
    pub(crate) to_listing_id: String,
    pub(crate) origin: Option<Origin>,
    pub(crate) decision: Option<Decision>,
    pub(crate) reason_code: Option<Reason>,
    pub(crate) thread_id: Option<String>,
    /// When it expires (RFC 3339).
    pub(crate) expires_at: Option<String>,
    /// Why a timer, a listing or an organisation ended it: `unanswered`, `idle`, `org_archived`,
    /// `listing_filled`, `listing_withdrawn`, `listing_expired` or, for any other reason such as a
    /// pause, `listing_inactive`.
    pub(crate) reason: Option<&'static str>,
    /// Whether the other side can be reached now.
    pub(crate) counterpart_reachable: Option<bool>,
    /// The changed parts of the other side's listing. Their values are in the answer of `get`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) changed: Vec<String>,
    /// Until when the proposal can be withdrawn without a cost (RFC 3339).
    pub(crate) withdraw_free_until: Option<String>,
    pub(crate) outcome: Option<Outcome>,
    /// The kinds of contact data, never the data.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) fields: Vec<Kind>,
    /// The member who answers for the organisation now; only in `pairing.assigned`, and missing there
    /// if nobody does.
    pub(crate) assigned_to: Option<String>,
}

impl Facts {
    /// Returns the facts with the time when the proposal expires.
    pub(crate) fn of_due(pairing: &Pairing) -> Self {
        Self { expires_at: pairing.due_at.map(rfc3339), ..Self::default() }
    }

    /// Returns the facts with the reason why a timer or a listing ended the pairing.
    pub(crate) fn because(reason: &'static str) -> Self {
        Self { reason: Some(reason), ..Self::default() }
    }
}

#[input]
pub(crate) struct Propose {
    /// The person's own listing, or one of an organisation in whose name the person acts. It must be
    /// active.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) from_listing_id: String,
    /// The listing of another person to which it is proposed.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) to_listing_id: String,
    /// The message to them. Contact data is refused: both sides disclose it once they are
    /// connected.
    #[schemars(length(min = 1, max = 1000))]
    pub(crate) message: String,
    /// The candidate of a matching session from which the proposal comes, for the person's own record. It is
    /// not checked.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) candidate_id: Option<String>,
}

#[choice]
pub(crate) enum Decision {
    /// Accept, and connect with them: a conversation is opened.
    Accept,
    Decline,
    /// Ask a question first, at most twice.
    Ask,
}

#[input]
pub(crate) struct Reply {
    pub(crate) pairing_id: Id,
    /// The answer to the proposal.
    pub(crate) decision: Decision,
    /// The message with it; for `ask` it is the question.
    #[schemars(length(min = 1, max = 1000))]
    pub(crate) message: Option<String>,
    /// Why it is declined; the proposer reads it.
    pub(crate) reason_code: Option<Reason>,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Write {
    pub(crate) pairing_id: Id,
    /// The message.
    #[schemars(length(min = 1, max = 1000))]
    pub(crate) message: String,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Step {
    pub(crate) pairing_id: Id,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Assign {
    pub(crate) pairing_id: Id,
    /// The member of the organisation who shall answer: an owner, admin or recruiter, `own_…`.
    pub(crate) owner_id: Text<1, 40>,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Disclose {
    pub(crate) pairing_id: Id,
    /// All kinds that are disclosed from now on. Omitted kinds are taken back, unless they were
    /// exchanged. An empty list takes back all.
    #[schemars(length(max = 5))]
    pub(crate) fields: Vec<Kind>,
    /// The values of `email`, `full_name` and `exact_address`, if they are among the fields and
    /// were not given before.
    #[serde(default, skip_serializing_if = "Details::is_empty")]
    pub(crate) details: Details,
    pub(crate) expected_version: Option<Version>,
}

/// Contact data that is given for one pairing and stored sealed.
#[input(Default)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Details {
    #[schemars(length(min = 3, max = 254), extend("format" = "email"))]
    pub(crate) email: Option<String>,
    #[schemars(length(min = 1, max = 120))]
    pub(crate) full_name: Option<String>,
    #[schemars(length(min = 1, max = 300))]
    pub(crate) exact_address: Option<String>,
}

impl Details {
    pub(crate) fn is_empty(&self) -> bool {
        self.email.is_none() && self.full_name.is_none() && self.exact_address.is_none()
    }
}

#[input]
pub(crate) struct Close {
    pub(crate) pairing_id: Id,
    /// The outcome.
    pub(crate) outcome: Outcome,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct PairingId {
    pub(crate) pairing_id: Id,
}

impl PairingId {
    pub(crate) fn of(id: &str) -> Self {
        Self { pairing_id: id.to_owned().into() }
    }
}

#[input(Default)]
pub(crate) struct List {
    /// The states of the pairings to return. Omit this field to get pairings in all states.
    #[schemars(length(min = 1, max = 8))]
    pub(crate) state: Option<Vec<State>>,
    /// The person's role in the pairings to return. Omit this field to get pairings in which the
    /// person has either role.
    pub(crate) role: Option<Role>,
    /// The organisation whose pairings to return. Omit this field to get the person's own and those of
    /// all organisations in whose name the person acts.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) as_org: Option<String>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

/// The data of `relationship.blocked`.
#[input(Clone)]
pub(crate) struct Blocked {
    pub(crate) blocker_id: String,
    pub(crate) blocked_id: String,
}

/// The part of `org.member_changed` that is read.
#[input(Clone)]
pub(crate) struct MemberChanged {
    pub(crate) org_id: String,
    pub(crate) owner_id: String,
}

/// The data of `identity.owner_left`.
#[input]
pub(crate) struct OwnerLeft {
    pub(crate) owner_id: String,
}

/// The part of `org.archived` that is read.
#[input(Clone)]
pub(crate) struct OrgArchived {
    pub(crate) org_id: String,
}

/// The part of a listing's event that is read.
#[input(Clone)]
pub(crate) struct ListingLeft {
    pub(crate) listing_id: String,
}

/// The part of `listing.updated` that is read.
#[input]
pub(crate) struct ListingUpdated {
    pub(crate) listing_id: String,
    #[serde(default)]
    pub(crate) changed: Vec<String>,
}

/// The part of the events of a person's agents that is read.
#[input]
pub(crate) struct AgentChange {
    pub(crate) owner_id: String,
}

/// The part of `conversation.closed` that is read.
#[input]
pub(crate) struct ThreadClosed {
    pub(crate) thread_id: String,
    #[serde(default)]
    pub(crate) pairing_id: Option<String>,
}
