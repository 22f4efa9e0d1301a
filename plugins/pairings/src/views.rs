//! Outputs: a pairing as one of its sides sees it.

use crate::access::{self, Viewer};
use crate::{documents::*, limits::*, refusals::*, states::*};
use people_kit::listings::{self, Card, Profile};
use people_kit::people::{self, Person};
use people_kit::{UNTRUSTED, organisations, pairings::Origin, relations};
use portolan_sdk::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The other side.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Other {
    /// The person; of an organisation, the member who stands for it.
    owner_id: String,
    /// The organisation in whose name they act; null if there is none.
    org_id: Option<String>,
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
    /// The person who wrote it; `own_` and zeros if they were erased.
    owner_id: String,
    kind: MessageKind,
    /// The text; empty if the person who wrote it was erased.
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
    /// The kinds that the person's side discloses: of an organisation, those of the member who has disclosed
    /// them.
    mine: Vec<Kind>,
    /// The owner of `mine`: the person, or the member of the organisation who has disclosed it.
    mine_of: Option<String>,
    /// The kinds that the other side discloses. A kind is exchanged once both disclose it.
    theirs: Vec<Kind>,
    /// The kinds that were exchanged. They cannot be taken back.
    exchanged: BTreeSet<Kind>,
}

/// The other side's contact data, of the kinds that were exchanged.
#[output(Default)]
pub(crate) struct Contact {
    /// The person whose contact data it is: of an organisation, the member who disclosed it, who may no
    /// longer stand for it.
    pub(crate) owner_id: Option<String>,
    pub(crate) display_name: Option<String>,
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
    /// The organisation in whose name the person acts in it.
    as_org: Option<String>,
    /// The member of that organisation who answers: who has taken it over, or to whom it was assigned.
    assigned_to: Option<String>,
    origin: Origin,
    /// The listing of the proposer; empty once it was deleted with its person.
    from_listing_id: String,
    /// The listing of the recipient; empty once it was deleted with its person.
    to_listing_id: String,
    other: Other,
    /// The messages from before the two were connected; the conversation has the others.
    messages: Vec<Message>,
    /// The number of questions that the recipient may still ask.
    questions_left: usize,
    reason_code: Option<Reason>,
    /// Why a timer, a listing or an organisation ended it, as in its event.
    reason: Option<String>,
    outcome: Option<Outcome>,
    /// Whether the other side has an agent that gets what you send; missing once the pairing has
    /// ended. While it is false, messages are stored, and `pairing.counterpart_changed` tells when
    /// the other side is back.
    counterpart_reachable: Option<bool>,
    /// The changes in the recipient's listing since the proposal; only for the proposer, and while
    /// the proposal waits.
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

/// The maximum number of people in one query.
const CHUNK: usize = 100;

/// The data about other people that views of pairings need.
pub(crate) struct ViewContext {
    viewer: Viewer,
    hidden: BTreeSet<String>,
    /// The members that act for the organisations on the other sides of open pairings.
    members: BTreeMap<String, Vec<String>>,
    /// The people on the other sides, and the viewer.
    people: BTreeMap<String, Person>,
    listings: BTreeMap<String, Profile>,
}

impl ViewContext {
    /// Loads the data for the views of at most 100 pairings of this person.
    pub(crate) fn load(me: &str, pairings: &[&Stored<Pairing>]) -> Result<Self> {
        let viewer = Viewer::load(me, pairings)?;
        let (mut owners, mut ids, mut orgs) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for pairing in pairings {
            if let Some(role) = viewer.role(&pairing.value) {
                let other = pairing.value.side(role.other());
                owners.insert(other.owner_id.clone());
                ids.insert(other.listing_id.as_str());
                orgs.extend(other.org_id.as_ref().filter(|_| pairing.value.state.is_open()));
            }
        }
        let mut members = BTreeMap::new();
        for org_id in orgs {
            let mut acting = organisations::acting_members(org_id)?;
            acting.truncate(organisations::MOST_TOLD);
            owners.extend(acting.iter().cloned());
            members.insert(org_id.clone(), acting);
        }
        let owners: Vec<&str> = owners.iter().map(String::as_str).collect();
        let (mut hidden, mut people) = (BTreeSet::new(), people::people([me])?);
        for chunk in owners.chunks(CHUNK) {
            hidden.extend(relations::hidden(Some(me), chunk.iter().copied())?);
            people.extend(people::people(chunk.iter().copied())?);
        }
        // Listings that were deleted with their people have no ids here.
        ids.remove("");
        let listings = listings::profiles(ids)?.into_iter();
        Ok(Self {
            hidden,
            members,
            people,
            listings: listings.map(|listing| (listing.listing_id.clone(), listing)).collect(),
            viewer,
        })
    }

    /// Returns whether this person and the viewer are blocked.
    pub(crate) fn is_hidden(&self, owner_id: &str) -> bool {
        self.hidden.contains(owner_id)
    }

    /// Returns whether the viewer may see a pairing of theirs: a member of an organisation who is
    /// blocked with the other side does not, but for the one who stands for it.
    pub(crate) fn is_shown(&self, pairing: &Pairing) -> bool {
        self.viewer.role(pairing).is_some_and(|role| {
            let is_own = pairing.side(role).owner_id == self.viewer.owner_id;
            is_own || !self.is_hidden(&pairing.side(role.other()).owner_id)
        })
    }

    pub(crate) fn view(&self, pairing: &Stored<Pairing>) -> Result<View> {
        let (value, me) = (&pairing.value, self.viewer.owner_id.as_str());
        let none = || Refusal::common(ErrorCode::InternalError, "A pairing of somebody else.");
        let role = self.viewer.role(value).ok_or_else(none)?;
        let (mine, theirs) = (value.side(role), value.side(role.other()));
        let is_mine = role == Role::Sent;
        Ok(view!(value => View {
            state, origin, reason_code, reason, outcome, thread_id;
            pairing_id: pairing.id.clone(),
            version: pairing.revision,
            allowed_actions: self.allowed(value, role),
            role,
            as_org: mine.org_id.clone(),
            assigned_to: mine.assigned_to.clone(),
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
                mine_of: (!mine.disclosed.is_empty()).then(|| mine.discloser().to_owned()),
                theirs: theirs.disclosed.keys().copied().collect(),
                exchanged: value.exchanged.clone(),
            },
            contact: None,
            cost_credits: Some(value.cost).filter(|_| is_mine),
            candidate_id: value.candidate_id.clone().filter(|_| is_mine && mine.owner_id == me),
            expires_at: value.due_at.map(rfc3339),
            created_at: rfc3339(pairing.created_at),
            changed_at: rfc3339(value.changed_at),
        }))
    }

    /// Returns the actions that the viewer may take, without those that a block, or a profile that is
    /// hidden or paused, prevents.
    fn allowed(&self, pairing: &Pairing, role: Role) -> Vec<&'static str> {
        let other = pairing.side(role.other());
        let is_blocked = self.is_hidden(&other.owner_id);
        let is_active = self.people.get(&self.viewer.owner_id).is_none_or(|me| me.active);
        let can_talk = is_active && self.of_side(other).any(Person::is_findable);
        let is_connected = pairing.state == State::Connected;
        let mut actions = access::allowed(pairing, role, &self.viewer.owner_id);
        actions.retain(|action| match *action {
            "message" => !is_blocked && (can_talk || !is_connected),
            "disclose" => !is_blocked,
            _ => true,
        });
        actions
    }

    /// Returns whether a person on a side gets what the viewer sends.
    fn is_reachable(&self, side: &Side) -> bool {
        self.of_side(side).any(Person::is_reachable)
    }

    /// Returns the people on the other side who are not blocked with the viewer: the person who stands
    /// for it and, of an organisation, the others who act in its name.
    fn of_side<'a>(&'a self, side: &'a Side) -> impl Iterator<Item = &'a Person> {
        let members = side.org_id.as_ref().and_then(|org_id| self.members.get(org_id));
        let owner_ids = members.into_iter().flatten().chain([&side.owner_id]);
        let visible = owner_ids
            .filter(|owner_id| !self.is_hidden(owner_id) && **owner_id != self.viewer.owner_id);
        visible.filter_map(|owner_id| self.people.get(owner_id))
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
            is_adult(self.people.get(&self.viewer.owner_id), listing.min_age)
                && is_adult(self.people.get(&side.owner_id), listing.min_age)
                && (listing.is_active() || pairing.state.is_open())
        };
        Other {
            owner_id: side.owner_id.clone(),
            org_id: side.org_id.clone(),
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
        owner_id: message.owner_id.as_ref().unwrap_or(&pairing.side(message.by).owner_id).clone(),
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
