//! The stored documents: pairings, the state of each pair of listings, and the recent proposals of
//! each person.

use crate::{limits::*, refusals::*, states::*};
use people_kit::{listings::Profile, pairings::Origin};
use portolan_sdk::documents::Person;
use portolan_sdk::documents::PersonalField::{Personal, Shared};
use portolan_sdk::{documents::OpenIds, prelude::*};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const PAIRINGS: Collection<Pairing> = Collection::new("pairings")
    .version(2)
    .people(&[
        // A former member of an organisation gets only their own messages in an export.
        Person::redact("from.owner_id", &[Shared("$id"), Shared("from.disclosed")]),
        Person::redact("from.agent_id", &[]),
        Person::redact("from.assigned_to", &[]),
        Person::redact("from.disclosed_by", &[Personal("from.disclosed")]),
        Person::redact(
            "to.owner_id",
            &[
                Shared("$id"),
                Shared("to.disclosed"),
                Shared("proposed_to"),
                Shared("changes[].before"),
                Shared("changes[].after"),
            ],
        ),
        Person::redact("to.agent_id", &[]),
        Person::redact("to.assigned_to", &[]),
        Person::redact("to.disclosed_by", &[Personal("to.disclosed")]),
        Person::redact("messages[].owner_id", &[Shared("messages[].text")]),
        Person::redact("people", &[]),
        Person::redact("from.lister_id", &[Shared("from.listing_id")]),
        Person::redact("to.lister_id", &[Shared("to.listing_id")]),
    ])
    .index("sent", &["from.owner_id", "changed_at"])
    .index("received", &["to.owner_id", "changed_at"])
    .index("sent_for", &["from.org_id", "changed_at"])
    .index("received_for", &["to.org_id", "changed_at"])
    .index("people", &["people", "state"])
    .index("outgoing", &["from.listing_id", "state"])
    .index("incoming", &["to.listing_id", "state"]);

/// The state of each pair of listings, keyed by both ids. Two concurrent proposals conflict here.
pub(crate) const PAIRS: Collection<Pair> = Collection::new("pairs").nobody();

/// The unanswered proposals that were sent from each listing, keyed by the listing's id.
pub(crate) const OPEN_PROPOSALS: Collection<OpenIds> = Collection::new("outboxes").nobody();

/// The recent proposals of each person, keyed by the owner's id.
pub(crate) const DAYS: Collection<Day> = Collection::new("days").people(&[Person::delete("$id")]);

#[document]
#[entity(
    kind = "pairing", collection = PAIRINGS, not_found = PairingError::PairingNotFound
)]
pub(crate) struct Pairing {
    pub(crate) from: Side,
    pub(crate) to: Side,
    /// Both people, in the order of their ids.
    pub(crate) people: String,
    /// The category of the recipient's listing.
    pub(crate) category: String,
    pub(crate) origin: Origin,
    pub(crate) state: State,
    /// When it last changed, in milliseconds since the Unix epoch, like all times in this file.
    pub(crate) changed_at: u64,
    /// When it expires or is closed.
    pub(crate) due_at: Option<u64>,
    pub(crate) messages: Vec<ProposalMessage>,
    /// The candidate from which the proposal came, as the proposer said.
    pub(crate) candidate_id: Option<String>,
    /// The hold, while credits are held.
    pub(crate) hold_id: Option<String>,
    pub(crate) cost: u32,
    pub(crate) thread_id: Option<String>,
    pub(crate) reason_code: Option<Reason>,
    pub(crate) outcome: Option<Outcome>,
    /// The kinds of contact data that were exchanged.
    #[serde(default)]
    pub(crate) exchanged: BTreeSet<Kind>,
    /// The reason for its end by a timer or a listing.
    #[serde(default)]
    pub(crate) reason: Option<String>,
    /// Whether its conversation is closed, so that nobody can write any more.
    #[serde(default)]
    pub(crate) thread_closed: bool,
    /// The parts of the recipient's listing that matter to the proposer, as they were when it was
    /// proposed; empty once the proposal is answered.
    #[serde(default)]
    pub(crate) proposed_to: BTreeMap<String, Value>,
    /// The changes since then.
    #[serde(default)]
    pub(crate) changes: Vec<Change>,
    /// Until when the proposer may withdraw without a cost.
    #[serde(default)]
    pub(crate) free_until: Option<u64>,
}

/// A part of a listing that was changed while a proposal waited. The values are public.
#[document(PartialEq)]
pub(crate) struct Change {
    pub(crate) field: String,
    /// The value when it was proposed; null if there was none.
    pub(crate) before: Value,
    /// The value now.
    pub(crate) after: Value,
}

#[document]
pub(crate) struct Side {
    /// The person; of an organisation, the member who stands for it.
    pub(crate) owner_id: String,
    /// The listing; empty once it was deleted with its person.
    pub(crate) listing_id: String,
    /// The organisation of the listing.
    pub(crate) org_id: Option<String>,
    /// The person with whose erasure the listing is deleted; `None` for one of an organisation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lister_id: Option<String>,
    /// The member who has taken it over, or to whom it was assigned; then it is `owner_id`.
    pub(crate) assigned_to: Option<String>,
    /// The agent that last acted for this side.
    pub(crate) agent_id: Option<String>,
    /// The disclosed values: sealed if they were given here, without a value if they are stored
    /// elsewhere.
    #[serde(default)]
    pub(crate) disclosed: BTreeMap<Kind, Option<String>>,
    /// The owner of that data: the person, or a member of the organisation.
    pub(crate) disclosed_by: Option<String>,
    /// Whether the other side was notified that this one cannot be reached.
    #[serde(default)]
    pub(crate) away: bool,
    /// The state in which its listing has ended, of which the other side was notified last.
    #[serde(default)]
    pub(crate) listing_ended: Option<String>,
}

/// A message from before the two were connected.
#[document]
pub(crate) struct ProposalMessage {
    pub(crate) by: Role,
    /// The person who wrote it; never missing from version 2 on, so that an erasure finds it.
    pub(crate) owner_id: Option<String>,
    pub(crate) kind: MessageKind,
    pub(crate) text: String,
    pub(crate) at: u64,
}

#[choice]
pub(crate) enum Role {
    /// The person proposed it to the other side.
    Sent,
    /// The person received it.
    Received,
}

#[choice]
pub(crate) enum MessageKind {
    Proposal,
    Question,
    Answer,
    /// The message of the decision.
    Reply,
}

/// A kind of contact data.
#[choice(PartialOrd, Ord)]
pub(crate) enum Kind {
    /// The phone number with which the person claimed their agents.
    Phone,
    Email,
    FullName,
    ExactAddress,
    /// The links of the person's profile.
    Links,
}

#[choice]
pub(crate) enum Reason {
    NotAFit,
    Timing,
    Location,
    Compensation,
    AlreadyFound,
    Other,
}

#[choice]
pub(crate) enum Outcome {
    Hired,
    Leased,
    Invested,
    Met,
    NoFit,
    NoShow,
    Other,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Pair {
    /// The open pairing.
    pub(crate) open: Option<String>,
    pub(crate) declined: Option<Declined>,
}

#[document]
pub(crate) struct Declined {
    pub(crate) pairing_id: String,
    /// The listing that was proposed. The other side may still propose.
    pub(crate) listing_id: String,
    pub(crate) at: u64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Day {
    pub(crate) proposed_at: Vec<u64>,
}

impl Role {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Sent => Self::Received,
            Self::Received => Self::Sent,
        }
    }
}

impl Pairing {
    /// Notes with whose erasure each listing is deleted, in a pairing of an earlier version.
    pub(crate) fn note_listers(&mut self) {
        for side in [&mut self.from, &mut self.to] {
            if side.org_id.is_none() && side.lister_id.is_none() {
                side.lister_id = Some(side.owner_id.clone());
            }
        }
    }

    /// Returns the key of the pair of its listings; `None` if one was deleted with its person.
    pub(crate) fn pair_key(&self) -> Option<String> {
        let (from, to) = (&self.from.listing_id, &self.to.listing_id);
        (!from.is_empty() && !to.is_empty()).then(|| both(from, to))
    }

    pub(crate) fn new(from: &Profile, to: &Profile, origin: Origin, now: u64) -> Self {
        let side = |listing: &Profile| Side {
            owner_id: listing.owner_id.clone(),
            listing_id: listing.listing_id.clone(),
            org_id: listing.org_id.clone(),
            lister_id: listing.lister_id().map(str::to_owned),
            assigned_to: None,
            agent_id: None,
            disclosed: BTreeMap::new(),
            disclosed_by: None,
            away: false,
            listing_ended: None,
        };
        Self {
            from: side(from),
            to: side(to),
            people: both(&from.owner_id, &to.owner_id),
            category: to.category.clone(),
            origin,
            state: State::Proposed,
            changed_at: now,
            due_at: None,
            messages: Vec::new(),
            candidate_id: None,
            hold_id: None,
            cost: 0,
            thread_id: None,
            reason_code: None,
            outcome: None,
            exchanged: BTreeSet::new(),
            reason: None,
            thread_closed: false,
            proposed_to: BTreeMap::new(),
            changes: Vec::new(),
            free_until: None,
        }
    }

    /// Returns a pairing of version 1 with the authors of its messages: the people on the two sides.
    pub(crate) fn with_authors(mut self) -> Self {
        let owner_ids = [&self.from, &self.to].map(|side| side.owner_id.clone());
        for message in &mut self.messages {
            let [proposer, recipient] = &owner_ids;
            let author = if message.by == Role::Sent { proposer } else { recipient };
            message.owner_id.get_or_insert_with(|| author.clone());
        }
        self
    }

    /// Assigns a side to a member, who stands for it from now on.
    pub(crate) fn assign(&mut self, role: Role, owner_id: &str) {
        self.stand_in(role, owner_id);
        self.side_mut(role).assigned_to = Some(owner_id.to_owned());
    }

    /// Lets a member stand for a side that is assigned to nobody.
    pub(crate) fn stand_in(&mut self, role: Role, owner_id: &str) {
        let side = self.side_mut(role);
        if side.owner_id != owner_id {
            owner_id.clone_into(&mut side.owner_id);
            side.agent_id = None;
            self.take_back_pending();
        }
        self.side_mut(role).assigned_to = None;
        self.people = both(&self.from.owner_id, &self.to.owner_id);
    }

    /// Takes back the data that the sides have disclosed and not exchanged: it was meant for the person who
    /// stood for the other side, or is theirs.
    fn take_back_pending(&mut self) {
        for side in [&mut self.from, &mut self.to] {
            side.disclosed.retain(|kind, _| self.exchanged.contains(kind));
            if side.disclosed.is_empty() {
                side.disclosed_by = None;
            }
        }
    }

    /// Takes back everything that the sides have disclosed, so that the exchange begins anew.
    pub(crate) fn take_back_disclosed(&mut self) {
        self.exchanged.clear();
        self.take_back_pending();
    }

    pub(crate) fn side(&self, role: Role) -> &Side {
        match role {
            Role::Sent => &self.from,
            Role::Received => &self.to,
        }
    }

    pub(crate) fn side_mut(&mut self, role: Role) -> &mut Side {
        match role {
            Role::Sent => &mut self.from,
            Role::Received => &mut self.to,
        }
    }

    pub(crate) fn questions(&self) -> usize {
        self.messages.iter().filter(|message| message.kind == MessageKind::Question).count()
    }

    /// Deletes the stored state of the recipient's listing. It is needed while the proposal waits.
    pub(crate) fn forget_listing(&mut self) {
        self.proposed_to.clear();
        self.changes.clear();
        self.free_until = None;
    }

    /// Returns whether withdrawing costs nothing now, because the recipient's listing has changed.
    pub(crate) fn is_withdrawal_free(&self, now: u64) -> bool {
        self.free_until.is_some_and(|until| until > now)
    }

    /// Returns whether the recipient is known to have read the proposal. Reads are not recorded, so
    /// only a message of the recipient proves it.
    pub(crate) fn was_seen(&self) -> bool {
        self.messages.iter().any(|message| message.by == Role::Received)
    }
}

impl Side {
    /// Returns the person whose contact data is disclosed.
    pub(crate) fn discloser(&self) -> &str {
        self.disclosed_by.as_deref().unwrap_or(&self.owner_id)
    }

    /// Returns whether this person, who is on this side, can disclose contact data: of an
    /// organisation, only the member who stands for it.
    pub(crate) fn can_disclose(&self, me: &str) -> bool {
        self.org_id.is_none() || self.owner_id == me
    }

    /// Returns whether this person, who stands for the side, would disclose in the place of another member.
    pub(crate) fn replaces_discloser(&self, me: &str) -> bool {
        self.discloser() != me
    }
}

/// Returns the key of two listings or of two people, which is the same for both orders.
pub(crate) fn both(one: &str, other: &str) -> String {
    let (first, second) = if one <= other { (one, other) } else { (other, one) };
    format!("{first}/{second}")
}

pub(crate) fn pair(one: &Profile, other: &Profile) -> Result<Pair> {
    Ok(PAIRS.get_or_default(&both(&one.listing_id, &other.listing_id))?.value)
}

impl Pair {
    /// Returns the declined proposal of this listing; `None` after its cooldown.
    pub(crate) fn cooldown(&self, listing_id: &str, now: u64) -> Option<&Declined> {
        self.any_cooldown(now).filter(|declined| declined.listing_id == listing_id)
    }

    /// Returns the declined proposal of either listing; `None` after its cooldown.
    pub(crate) fn any_cooldown(&self, now: u64) -> Option<&Declined> {
        self.declined.as_ref().filter(|declined| declined.at + COOLDOWN > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_has_one_id() {
        assert_eq!(both("lst_1", "lst_2"), both("lst_2", "lst_1"));
        assert_ne!(both("lst_1", "lst_2"), both("lst_1", "lst_3"));
    }

    #[test]
    fn a_cooldown_is_for_the_one_who_was_declined() {
        let declined =
            Declined { pairing_id: "pair_1".into(), listing_id: "lst_1".into(), at: 1_000 };
        let pair = Pair { open: None, declined: Some(declined) };
        assert!(pair.cooldown("lst_1", 2_000).is_some());
        assert!(pair.cooldown("lst_2", 2_000).is_none());
        assert!(pair.any_cooldown(2_000).is_some());
        assert!(pair.cooldown("lst_1", 1_000 + COOLDOWN).is_none());
    }
}
