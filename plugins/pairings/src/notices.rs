//! The events of a pairing, for one side or both. On the side of an organisation, every member who acts
//! in its name gets them.

use crate::{access, documents::*, refusals::*, states::*, types::*};
use portolan_sdk::prelude::*;

/// An event of a pairing, with its summary and what it says about the conversation and the actor.
pub(crate) struct Notice {
    event: PairingEvent,
    summary: &'static str,
    /// Whether the next step reads the conversation, if there is one.
    in_thread: bool,
    /// Whether the event omits the acting person.
    is_anonymous: bool,
}

pub(crate) const PROPOSAL: Notice = Notice::new(PROPOSED, "Somebody proposes to get in touch.");
pub(crate) const ANSWER: Notice = Notice::new(MESSAGE, "Your question was answered.");
pub(crate) const WITHDRAWAL: Notice = Notice::new(WITHDRAWN, "A proposal to you was withdrawn.");
pub(crate) const CONNECTION: Notice =
    Notice::new(CONNECTED, "You are connected: a conversation is open.").in_thread();
/// The connection of people who agreed elsewhere. It does not say who was the last to agree.
pub(crate) const MUTUAL: Notice = Notice { is_anonymous: true, ..CONNECTION };
pub(crate) const EXCHANGE: Notice =
    Notice::new(CONTACT_EXCHANGED, "Both sides have disclosed contact data to each other.");
const ASSIGNMENT: Notice =
    Notice::new(ASSIGNED, "Another member answers for the organisation now.").in_thread();
/// The same for the member who answers.
const OWN_ASSIGNMENT: Notice =
    Notice::new(ASSIGNED, "You answer for the organisation now.").in_thread();
const END_OF_ASSIGNMENT: Notice =
    Notice::new(ASSIGNED, "Nobody answers for the organisation now: one of you can take over.")
        .in_thread();
/// For the other side of an organisation whose member has changed.
const SUCCESSION: Notice = Notice::new(
    COUNTERPART_CHANGED,
    "Another member answers for the other side now. What you disclosed and was not exchanged is taken back.",
);
pub(crate) const BEGINNING_ANEW: Notice = Notice::new(
    COUNTERPART_CHANGED,
    "Another member of the other side discloses contact data: the exchange begins anew.",
);
pub(crate) const EXPIRY: Notice = Notice::new(EXPIRED, "A proposal expired without an answer.");
pub(crate) const END_WITH_LISTING: Notice = Notice::new(
    EXPIRED,
    "A proposal has ended, because the listing to which it was made is not active.",
);
pub(crate) const CLOSING: Notice = Notice::new(CLOSED, "The pairing is closed.");
/// The end of a pairing for a reason that is not disclosed, such as a block. The event is the same
/// for all of these reasons.
pub(crate) const CANCELLATION: Notice =
    Notice { is_anonymous: true, ..Notice::new(CANCELLED, "The pairing has ended.") };

/// The recipients of an event for both sides.
pub(crate) const BOTH: &[Role] = &[Role::Sent, Role::Received];

impl Notice {
    pub(crate) const fn new(event: PairingEvent, summary: &'static str) -> Self {
        Self { event, summary, in_thread: false, is_anonymous: false }
    }

    /// Sets the next step to reading the pairing's conversation.
    pub(crate) const fn in_thread(self) -> Self {
        Self { in_thread: true, ..self }
    }

    /// Omits the acting person.
    pub(crate) const fn anonymous(self) -> Self {
        Self { is_anonymous: true, ..self }
    }

    /// Publishes the event to the people on these sides.
    pub(crate) fn notify(
        &self,
        call: &Call,
        pairing: &Stored<Pairing>,
        to: &[Role],
        facts: Facts,
    ) -> Result<()> {
        let mut people = Vec::new();
        for role in to {
            people.extend(access::people(&pairing.value, *role)?);
        }
        self.publish(call, pairing, people, facts)
    }

    /// Publishes the event to these people.
    fn publish(
        &self,
        call: &Call,
        pairing: &Stored<Pairing>,
        people: Vec<String>,
        facts: Facts,
    ) -> Result<()> {
        let value = &pairing.value;
        let facts = Facts {
            from_listing_id: value.from.listing_id.clone(),
            to_listing_id: value.to.listing_id.clone(),
            thread_id: value.thread_id.clone(),
            ..facts
        };
        let data = match self.is_anonymous {
            true => Data::by_system(pairing.resource(), self.summary, facts),
            false => Data::new(call, pairing.resource(), self.summary, facts),
        };
        let data = data.next(match value.thread_id.as_ref().filter(|_| self.in_thread) {
            Some(thread_id) => read_thread(thread_id),
            None => get(&pairing.id),
        });
        for owner_id in people {
            pairing.publish(self.event, Audience::Owner(owner_id), &data)?;
        }
        Ok(())
    }
}

/// Notifies the members of an organisation that another one answers for it now, and the other side if they are
/// connected.
pub(crate) fn announce_successor(call: &Call, pairing: &Stored<Pairing>, role: Role) -> Result<()> {
    announce(call, pairing, role)?;
    match pairing.value.state {
        State::Connected => SUCCESSION.notify(call, pairing, &[role.other()], Facts::default()),
        _ => Ok(()),
    }
}

/// Notifies the members of an organisation who answers for it now.
pub(crate) fn announce(call: &Call, pairing: &Stored<Pairing>, role: Role) -> Result<()> {
    let assigned_to = pairing.value.side(role).assigned_to.clone();
    let is_assigned = |member: &String| Some(member) == assigned_to.as_ref();
    let (own, others): (Vec<_>, _) =
        access::people(&pairing.value, role)?.into_iter().partition(is_assigned);
    let of_others = if assigned_to.is_some() { ASSIGNMENT } else { END_OF_ASSIGNMENT };
    let facts = || Facts { assigned_to: assigned_to.clone(), ..Facts::default() };
    OWN_ASSIGNMENT.publish(call, pairing, own, facts())?;
    of_others.publish(call, pairing, others, facts())
}
