//! Outputs: a pairing as one of its sides sees it.

use crate::{documents::*, refusals::*, states::*, transitions};
use people_kit::listings::{self, Card, Profile};
use people_kit::people::{self, Person};
use people_kit::{UNTRUSTED, pairings::Origin, relations};
use portolan_sdk::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The other side.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Other {
    owner_id: String,
    display_name: Option<String>,
    /// The other side's listing; null if it has ended for good.
    listing: Option<Card>,
    /// Whether the other side's listing is active.
    listing_active: bool,
    /// Always `untrusted_user_content`: the name was written by the person.
    trust: &'static str,
}

/// A message from before the two were connected.
#[output]
pub(crate) struct Message {
    owner_id: String,
    kind: MessageKind,
    text: String,
    /// Always `untrusted_user_content`: a person wrote the text.
    trust: &'static str,
    /// Always `agent`: an agent wrote it for the person.
    via: &'static str,
    /// When it was sent (RFC 3339).
    sent_at: String,
}

/// The kinds of contact data, never the data.
#[output]
pub(crate) struct Disclosed {
    /// The kinds that the person discloses.
    mine: Vec<Kind>,
    /// The kinds that the other side discloses. A kind is exchanged once both disclose it.
    theirs: Vec<Kind>,
    /// The kinds that were exchanged. They cannot be taken back.
    exchanged: BTreeSet<Kind>,
}

/// The other side's contact data, of the kinds that were exchanged.
#[output(Default)]
pub(crate) struct Contact {
    /// The phone number (E.164).
    pub(crate) phone: Option<String>,
    pub(crate) email: Option<String>,
    pub(crate) full_name: Option<String>,
    pub(crate) exact_address: Option<String>,
    pub(crate) links: Option<Vec<String>>,
    /// Always `untrusted_user_content`: the other person gave it.
    pub(crate) trust: &'static str,
}

/// A changed part of the recipient's listing.
#[output]
pub(crate) struct ListingChange {
    /// The name, such as `compensation` or `attributes.available_from`.
    field: String,
    /// The value when it was proposed; null if there was none.
    before: Value,
    /// The value now; null if there is none.
    after: Value,
    /// Always `untrusted_user_content`: the recipient may have written the values.
    trust: &'static str,
}

/// A pairing as one of its sides sees it.
#[output]
pub(crate) struct View {
    pairing_id: String,
    state: State,
    /// The version, which increases with every change.
    version: u64,
    /// The actions that the person may take now.
    allowed_actions: Vec<&'static str>,
    role: Role,
    origin: Origin,
    from_listing_id: String,
    to_listing_id: String,
    other: Other,
    /// The messages from before the two were connected; the conversation has the others.
    messages: Vec<Message>,
    /// The number of questions that the recipient may still ask.
    questions_left: usize,
    reason_code: Option<Reason>,
    /// Why a timer or a listing ended it, as in its event.
    reason: Option<String>,
    outcome: Option<Outcome>,
    /// Whether the other side has an agent that gets what you send; missing once the pairing has
    /// ended. While it is false, messages are stored, and `pairing.counterpart_changed` tells when
    /// the other side is back.
    counterpart_reachable: Option<bool>,
    /// What has changed in the recipient's listing since the proposal; only for the proposer, and
    /// while the proposal waits.
    listing_changes: Vec<ListingChange>,
    /// Until when the proposal can be withdrawn without a cost (RFC 3339), because the recipient's
    /// listing has changed.
    withdraw_free_until: Option<String>,
    /// The conversation, once the two are connected.
    #[nullable]
    thread_id: Option<String>,
    contact_exchanged: bool,
    disclosed: Disclosed,
    /// The contact data that was exchanged; only in the answer of `get`.
    pub(crate) contact: Option<Contact>,
    /// The price of the proposal; only for the proposer.
    cost_credits: Option<u32>,
    candidate_id: Option<String>,
    /// When it ends without further activity (RFC 3339); null if it has ended.
    #[nullable]
    expires_at: Option<String>,
    /// When it was created (RFC 3339).
    created_at: String,
    /// When it last changed (RFC 3339).
    changed_at: String,
}

/// The data about other people that views of pairings need.
pub(crate) struct ViewContext {
    hidden: BTreeSet<String>,
    people: BTreeMap<String, Person>,
    listings: BTreeMap<String, Profile>,
    /// The viewer, if a listing has a minimum age.
    viewer: Option<Person>,
}

impl ViewContext {
    /// Loads the data for the views of at most 100 pairings of this person.
    pub(crate) fn load<'a>(
        me: &str,
        pairings: impl IntoIterator<Item = &'a Stored<Pairing>>,
    ) -> Result<Self> {
        let (mut owners, mut ids) = (BTreeSet::new(), BTreeSet::new());
        for pairing in pairings {
            if let Some(role) = pairing.value.role(me) {
                let other = pairing.value.side(role.other());
                owners.insert(other.owner_id.as_str());
                ids.insert(other.listing_id.as_str());
            }
        }
        let listings = listings::profiles(ids)?;
        let viewer = match listings.iter().any(|listing| listing.min_age > 0) {
            true => people::person(me)?,
            false => None,
        };
        let listings = listings.into_iter();
        Ok(Self {
            viewer,
            hidden: relations::hidden(Some(me), owners.iter().copied())?,
            people: people::people(owners)?,
            listings: listings.map(|listing| (listing.listing_id.clone(), listing)).collect(),
        })
    }

    /// Returns whether this person and the viewer are blocked.
    pub(crate) fn is_hidden(&self, owner_id: &str) -> bool {
        self.hidden.contains(owner_id)
    }

    pub(crate) fn view(&self, pairing: &Stored<Pairing>, me: &str) -> Result<View> {
        let value = &pairing.value;
        let none = || Refusal::common(ErrorCode::InternalError, "A pairing of somebody else.");
        let role = value.role(me).ok_or_else(none)?;
        let (mine, theirs) = (value.side(role), value.side(role.other()));
        let is_mine = role == Role::Sent;
        Ok(view!(value => View {
            state, origin, reason_code, reason, outcome, thread_id;
            pairing_id: pairing.id.clone(),
            version: pairing.revision,
            allowed_actions: transitions::allowed(value, role),
            role,
            from_listing_id: value.from.listing_id.clone(),
            to_listing_id: value.to.listing_id.clone(),
            other: self.other(value, role),
            messages: value.messages.iter().map(|sent| message(value, sent)).collect(),
            questions_left: QUESTIONS.saturating_sub(value.questions()),
            counterpart_reachable: value.state.is_open().then(|| self.is_reachable(theirs)),
            listing_changes: value.changes.iter().filter(|_| is_mine).map(change).collect(),
            withdraw_free_until: value.free_until.filter(|_| is_mine).map(rfc3339),
            contact_exchanged: !value.exchanged.is_empty(),
            disclosed: Disclosed {
                mine: mine.disclosed.keys().copied().collect(),
                theirs: theirs.disclosed.keys().copied().collect(),
                exchanged: value.exchanged.clone(),
            },
            contact: None,
            cost_credits: Some(value.cost).filter(|_| is_mine),
            candidate_id: value.candidate_id.clone().filter(|_| is_mine),
            expires_at: value.due_at.map(rfc3339),
            created_at: rfc3339(pairing.created_at),
            changed_at: rfc3339(value.changed_at),
        }))
    }

    /// Returns whether the person of a side gets what the viewer sends.
    fn is_reachable(&self, side: &Side) -> bool {
        let person = self.people.get(&side.owner_id).filter(|_| !self.is_hidden(&side.owner_id));
        person.is_some_and(Person::is_reachable)
    }

    /// Returns the other side. If the two are blocked or the pairing is cancelled, it contains only
    /// the id.
    fn other(&self, pairing: &Pairing, role: Role) -> Other {
        let side = pairing.side(role.other());
        let is_visible = !self.is_hidden(&side.owner_id) && pairing.state != State::Cancelled;
        let person = self.people.get(&side.owner_id).filter(|_| is_visible);
        let listing = self.listings.get(&side.listing_id).filter(|_| is_visible);
        let is_adult = |person: Option<&Person>, min_age| {
            min_age == 0 || person.is_some_and(|person| person.age_at_least.unwrap_or(0) >= min_age)
        };
        let is_shown = |listing: &&Profile| {
            is_adult(self.viewer.as_ref(), listing.min_age)
                && is_adult(self.people.get(&side.owner_id), listing.min_age)
                && (listing.is_active() || pairing.state.is_open())
        };
        Other {
            owner_id: side.owner_id.clone(),
            display_name: person.and_then(|person| person.display_name.clone()),
            listing: listing.filter(is_shown).map(Card::from),
            listing_active: listing.is_some_and(Profile::is_active),
            trust: UNTRUSTED,
        }
    }
}

fn change(change: &Change) -> ListingChange {
    view!(change => ListingChange { field, before, after; trust: UNTRUSTED })
}

fn message(pairing: &Pairing, message: &ProposalMessage) -> Message {
    Message {
        owner_id: pairing.side(message.by).owner_id.clone(),
        kind: message.kind,
        text: message.text.clone(),
        trust: UNTRUSTED,
        via: "agent",
        sent_at: rfc3339(message.at),
    }
}

/// A message that was sent, and its pairing.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Sent {
    /// The message in the conversation; null for an answer before the two are connected.
    pub(crate) message: Option<Posted>,
    pub(crate) pairing: View,
}

#[output]
pub(crate) struct Posted {
    pub(crate) thread_id: String,
    pub(crate) message_id: String,
    pub(crate) seq: u64,
}

/// The state of a disclosure.
#[output]
pub(crate) struct Disclosure {
    /// `exchanged` if everything that the person discloses was exchanged, otherwise `pending`.
    pub(crate) disclosure: Stage,
    pub(crate) pairing: View,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stage {
    Pending,
    Exchanged,
}
