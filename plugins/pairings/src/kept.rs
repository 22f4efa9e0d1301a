//! What is kept: pairings, what there is between each two listings, and how much somebody proposes.

use crate::life::*;
use crate::refusals::*;
use people_kit::pairings::Origin;
use portolan_sdk::{documents::OpenIds, prelude::*};
use std::collections::{BTreeMap, BTreeSet};

/// Proposals of one listing that wait for an answer at once.
pub(crate) const OPEN_OF_A_LISTING: usize = 10;
/// Proposals of one person.
pub(crate) const PROPOSALS_A_DAY: Window = Window { most: 20, within: DAY };
/// Questions of the recipient before they decide.
pub(crate) const QUESTIONS: usize = 2;
/// A proposal that nobody answers for so long expires.
pub(crate) const SILENCE: u64 = 14 * DAY;
/// A connection in which nothing happens for so long is closed.
pub(crate) const IDLE: u64 = 60 * DAY;
/// After a proposal was declined, the same is not proposed again for so long.
pub(crate) const COOLDOWN: u64 = 90 * DAY;
/// How long credits are held at most: longer than any proposal waits, questions and answers included.
pub(crate) const LONGEST_HOLD_S: u32 = 90 * 86_400;
/// Pairings that end in one go where many end at once; the others follow in calls of their own.
pub(crate) const AT_ONCE: u32 = 10;

pub(crate) const PAIRINGS: Collection<Pairing> = Collection::new("pairings")
    .index("sent", &["from.owner_id", "changed_at"])
    .index("received", &["to.owner_id", "changed_at"])
    .index("people", &["people", "state"])
    .index("outgoing", &["from.listing_id", "state"])
    .index("incoming", &["to.listing_id", "state"]);

/// What there is between two listings, by both their ids: two proposals at once meet here.
pub(crate) const PAIRS: Collection<Pair> = Collection::new("pairs");

/// The proposals of a listing that wait for an answer, by the listing's id.
pub(crate) const OUTBOXES: Collection<OpenIds> = Collection::new("outboxes");

/// When a person has proposed lately, by the owner's id.
pub(crate) const DAYS: Collection<Day> = Collection::new("days");

#[document]
#[entity(
    kind = "pairing", collection = PAIRINGS, not_found = PairingError::PairingNotFound
)]
pub(crate) struct Pairing {
    pub(crate) from: Side,
    pub(crate) to: Side,
    /// Both people, in the order of their ids.
    pub(crate) people: String,
    /// Of the recipient's listing.
    pub(crate) category: String,
    pub(crate) origin: Origin,
    pub(crate) state: State,
    /// Milliseconds since the Unix epoch, as all times here.
    pub(crate) changed_at: u64,
    /// When time alone ends it.
    pub(crate) due_at: Option<u64>,
    pub(crate) messages: Vec<Said>,
    /// What the proposer came from, as they said.
    pub(crate) candidate_id: Option<String>,
    /// While credits are held.
    pub(crate) hold_id: Option<String>,
    pub(crate) cost: u32,
    pub(crate) thread_id: Option<String>,
    pub(crate) reason_code: Option<Reason>,
    pub(crate) outcome: Option<Outcome>,
    /// The kinds of contact data that both sides have disclosed.
    #[serde(default)]
    pub(crate) exchanged: BTreeSet<Kind>,
}

#[document]
pub(crate) struct Side {
    pub(crate) owner_id: String,
    pub(crate) listing_id: String,
    /// The agent that last acted for this side.
    pub(crate) agent_id: Option<String>,
    /// What this side discloses: sealed where it was given here, without a value where it is kept
    /// elsewhere.
    #[serde(default)]
    pub(crate) disclosed: BTreeMap<Kind, Option<String>>,
}

/// Something that was said before the two were connected.
#[document]
pub(crate) struct Said {
    pub(crate) by: Role,
    pub(crate) kind: Speech,
    pub(crate) text: String,
    pub(crate) at: u64,
}

#[choice]
pub(crate) enum Role {
    /// The person proposed it.
    Sent,
    /// It was proposed to the person.
    Received,
}

#[choice]
pub(crate) enum Speech {
    Proposal,
    Question,
    Answer,
    /// What was said with the decision.
    Reply,
}

/// A kind of contact data.
#[choice(PartialOrd, Ord)]
pub(crate) enum Kind {
    /// The number that the person has claimed their agents with.
    Phone,
    Email,
    FullName,
    ExactAddress,
    /// The pages in the person's profile.
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
    /// The pairing that is open.
    pub(crate) open: Option<String>,
    pub(crate) declined: Option<Declined>,
}

#[document]
pub(crate) struct Declined {
    pub(crate) pairing_id: String,
    /// The listing that was proposed: the other side may still propose.
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
    pub(crate) fn new(from: Side, to: Side, category: String, origin: Origin, now: u64) -> Self {
        Self {
            people: people(&from.owner_id, &to.owner_id),
            from,
            to,
            category,
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
        }
    }

    /// Whose side it is; none if this person has no part in it.
    pub(crate) fn role(&self, owner_id: &str) -> Option<Role> {
        match owner_id {
            it if it == self.from.owner_id => Some(Role::Sent),
            it if it == self.to.owner_id => Some(Role::Received),
            _ => None,
        }
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
        self.messages.iter().filter(|message| message.kind == Speech::Question).count()
    }

    /// Whether the recipient is known to have read it. Reading leaves no trace here, so only what
    /// they have written says so.
    pub(crate) fn was_seen(&self) -> bool {
        self.messages.iter().any(|message| message.by == Role::Received)
    }

    pub(crate) fn pair_id(&self) -> String {
        pair_id(&self.from.listing_id, &self.to.listing_id)
    }
}

impl Side {
    pub(crate) fn new(owner_id: &str, listing_id: &str, agent_id: Option<&str>) -> Self {
        Self {
            owner_id: owner_id.to_owned(),
            listing_id: listing_id.to_owned(),
            agent_id: agent_id.map(str::to_owned),
            disclosed: BTreeMap::new(),
        }
    }
}

/// The same whichever of the two comes first.
fn both(one: &str, other: &str) -> String {
    let (first, second) = if one <= other { (one, other) } else { (other, one) };
    format!("{first}/{second}")
}

/// Where what there is between two listings is kept.
pub(crate) fn pair_id(one: &str, other: &str) -> String {
    both(one, other)
}

/// How pairings of two people are found.
pub(crate) fn people(one: &str, other: &str) -> String {
    both(one, other)
}

/// What there is between two listings.
pub(crate) fn pair(pair_id: &str) -> Result<Pair> {
    Ok(PAIRS.get_or_default(pair_id)?.value)
}

impl Pair {
    /// The proposal that this listing made and the other side has declined, while that counts.
    pub(crate) fn cooldown(&self, listing_id: &str, now: u64) -> Option<&Declined> {
        self.resting(now).filter(|declined| declined.listing_id == listing_id)
    }

    /// The same, whoever proposed.
    pub(crate) fn resting(&self, now: u64) -> Option<&Declined> {
        self.declined.as_ref().filter(|declined| declined.at + COOLDOWN > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_listings_have_one_place() {
        assert_eq!(pair_id("lst_1", "lst_2"), pair_id("lst_2", "lst_1"));
        assert_ne!(pair_id("lst_1", "lst_2"), pair_id("lst_1", "lst_3"));
    }

    #[test]
    fn a_cooldown_is_for_the_one_who_was_declined() {
        let declined =
            Declined { pairing_id: "pair_1".into(), listing_id: "lst_1".into(), at: 1_000 };
        let pair = Pair { open: None, declined: Some(declined) };
        assert!(pair.cooldown("lst_1", 2_000).is_some());
        assert!(pair.cooldown("lst_2", 2_000).is_none());
        assert!(pair.resting(2_000).is_some());
        assert!(pair.cooldown("lst_1", 1_000 + COOLDOWN).is_none());
    }
}
