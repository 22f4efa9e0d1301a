//! Outputs: an introduction as one of its people sees it.

use crate::{documents::*, refusals::*, states::*, types::*};
use people_kit::UNTRUSTED;
use people_kit::people::Person;
use people_kit::visible::{self, PersonView};
use portolan_sdk::prelude::*;
use std::collections::BTreeMap;

/// The consents to exchange contact data.
#[output]
pub(crate) struct ContactView {
    mine: bool,
    theirs: bool,
}

/// An introduction as one of its people sees it.
#[output]
pub(crate) struct View {
    intro_id: String,
    pub(crate) state: State,
    /// The version, which increases with every change that the person sees.
    version: u64,
    /// The actions that the person may take now.
    allowed_actions: Vec<&'static str>,
    /// The person's own role.
    role: Role,
    requester: PersonView,
    introducer: PersonView,
    target: PersonView,
    /// Why the requester would like to meet the target.
    reason: String,
    /// The introducer's note to the target; null for the requester.
    note: Option<String>,
    /// The conversation of requester and target, once they are introduced; null for the introducer.
    #[nullable]
    thread_id: Option<String>,
    /// Once both allow it, contact data may be written in the conversation; null without one.
    contact: Option<ContactView>,
    /// The price; only for the requester.
    cost_credits: Option<u32>,
    /// When the person's time ends (RFC 3339); null if it has ended.
    #[nullable]
    expires_at: Option<String>,
    /// When it was requested (RFC 3339).
    created_at: String,
    /// When it last changed for the person (RFC 3339).
    changed_at: String,
    /// Always `untrusted_user_content`: people wrote the texts here.
    trust: &'static str,
}

/// Returns the actions that the person of a seat may take now. The introducer takes no part in the conversation.
pub(crate) fn allowed(seat: &Seat) -> Vec<&'static str> {
    let mut actions = INTRO.allowed_as(seat.role.name(), seat.state);
    actions.retain(|action| *action != "exchange_contact" || seat.role != Role::Introducer);
    actions
}

/// Returns a seat as its person sees it.
pub(crate) fn view(seat: &Stored<Seat>) -> Result<View> {
    let people = visible::people(&seat.value.owner_id, people_of(&seat.value))?;
    Ok(shown(seat, &people))
}

/// Returns the seats of one person, without those of which the person does not see both others.
pub(crate) fn visible_views<'a>(
    me: &str,
    seats: impl IntoIterator<Item = &'a Stored<Seat>> + Clone,
) -> Result<Vec<View>> {
    let everybody = seats.clone().into_iter().flat_map(|seat| people_of(&seat.value));
    let people = visible::people(me, everybody)?;
    let is_seen =
        |seat: &&Stored<Seat>| seat.value.others().iter().all(|id| people.contains_key(*id));
    Ok(seats.into_iter().filter(is_seen).map(|seat| shown(seat, &people)).collect())
}

fn people_of(seat: &Seat) -> [&str; 3] {
    [&seat.requester_id, &seat.introducer_id, &seat.target_id].map(String::as_str)
}

fn shown(seat: &Stored<Seat>, people: &BTreeMap<String, Person>) -> View {
    let value = &seat.value;
    let person = |owner_id: &String| PersonView::of(owner_id, people);
    let Consents { mine, theirs } = value.contact;
    view!(value => View {
        intro_id, state, role, reason, note, thread_id;
        version: seat.revision,
        allowed_actions: allowed(value),
        requester: person(&value.requester_id),
        introducer: person(&value.introducer_id),
        target: person(&value.target_id),
        contact: value.thread_id.as_ref().map(|_| ContactView { mine, theirs }),
        cost_credits: (value.role == Role::Requester).then_some(value.cost),
        expires_at: value.state.is_open().then(|| rfc3339(value.ends_at)),
        created_at: rfc3339(value.requested_at),
        changed_at: rfc3339(value.changed_at),
        trust: UNTRUSTED,
    })
}
