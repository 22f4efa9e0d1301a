//! The notices to a side about the other one: whether it can be reached, and that its listing has
//! ended.
//!
//! A person cannot be reached while they have no agent, and while they are deactivated or
//! suspended; others are not told which of these it is. A proposal to or of such a person ends with
//! their listing, which is paused; a connection goes on. Of an organisation, one person is enough.

use crate::credits::By;
use crate::notices::{self, BOTH, Notice};
use crate::{access, documents::*, limits::*, refusals::*, states::*, transitions, types::*};
use people_kit::people::Person;
use portolan_sdk::prelude::*;

const ABSENCE: Notice =
    Notice::new(COUNTERPART_CHANGED, "The other side cannot be reached at present.").anonymous();
const RETURN: Notice =
    Notice::new(COUNTERPART_CHANGED, "The other side can be reached again.").anonymous();
const END_OF_LISTING: Notice =
    Notice::new(LISTING_ENDED, "The other side's listing has ended. You are still connected.")
        .anonymous();

/// The states in which a listing has ended by its owner's decision or by its time, and the reason
/// that others read. Other states have no reason of their own.
const ENDS: [(&str, &str); 3] = [
    ("filled", "listing_filled"),
    ("withdrawn", "listing_withdrawn"),
    ("expired", "listing_expired"),
];

/// Returns why a listing in this state has ended; `None` if others are not told.
pub(crate) fn end_reason(state: &str) -> Option<&'static str> {
    ENDS.iter().find(|(ended, _)| *ended == state).map(|(_, reason)| *reason)
}

/// Notifies the other side of a connection, once, that the side with this role can no longer be
/// reached or can be reached again.
pub(crate) fn update(
    call: &Call,
    pairing: &mut Stored<Pairing>,
    role: Role,
    is_reachable: bool,
) -> Result<()> {
    let side = pairing.value.side_mut(role);
    if side.away != is_reachable {
        return Ok(());
    }
    side.away = !is_reachable;
    transitions::save(call, pairing)?;
    let notice = if is_reachable { RETURN } else { ABSENCE };
    let facts = Facts { counterpart_reachable: Some(is_reachable), ..Facts::default() };
    notice.notify(call, pairing, &[role.other()], facts)
}

/// Notifies the other side of a connection, once, that a listing has ended.
pub(crate) fn listing_ended(
    call: &Call,
    pairing: &mut Stored<Pairing>,
    listing_id: &str,
    state: &str,
) -> Result<()> {
    let Some(reason) = end_reason(state) else { return Ok(()) };
    let is_from = pairing.value.from.listing_id == listing_id;
    let role = if is_from { Role::Sent } else { Role::Received };
    let side = pairing.value.side_mut(role);
    if side.listing_ended.as_deref() == Some(state) {
        return Ok(());
    }
    side.listing_ended = Some(state.to_owned());
    transitions::save(call, pairing)?;
    END_OF_LISTING.notify(call, pairing, &[role.other()], Facts::because(reason))
}

/// Compares an open pairing with its people. If nobody is left on a side, it is cancelled, and the
/// other one is not told why. If the person who stands for an organisation is gone, another member
/// does.
pub(crate) fn check(call: &Call, pairing_id: &str) -> Result<()> {
    let is_open = |pairing: &Stored<Pairing>| pairing.value.state.is_open();
    let Some(mut pairing) = PAIRINGS.get(pairing_id)?.filter(is_open) else { return Ok(()) };
    let (mut there, mut gone) = (Vec::new(), Vec::new());
    for role in BOTH {
        match access::existing(&pairing.value, *role)? {
            people if people.is_empty() => gone.push(*role),
            people => there.push((*role, people)),
        }
    }
    if gone.is_empty() {
        transitions::set_check(call, pairing_id, CHECK_INTERVAL)?;
        // A proposal ends with the listing of a person who cannot be reached.
        let is_connected = pairing.value.state == State::Connected;
        for (role, people) in there {
            pass_on(call, &mut pairing, role, &people)?;
            if is_connected {
                let is_reachable = people.iter().any(Person::is_reachable);
                update(call, &mut pairing, role, is_reachable)?;
            }
        }
        return Ok(());
    }
    if gone.contains(&Role::Sent) {
        // The proposer's credits were erased with them.
        pairing.value.hold_id = None;
    }
    transitions::enter(call, &mut pairing, "check", State::Cancelled, By::Another)?;
    let there: Vec<Role> = there.into_iter().map(|(role, _)| role).collect();
    notices::CANCELLATION.notify(call, &pairing, &there, Facts::default())
}

/// Cancels the connected pairings of a person who is about to be erased, as far as one call can notify
/// the other sides. The others are compared with their people after the erasure.
pub(crate) fn person_left(call: &Call, owner_id: &str) -> Result<()> {
    let theirs = any_of(["from.owner_id", "to.owner_id"].map(|path| field(path).eq(owner_id)));
    let connected = theirs.and(field("state").eq(State::Connected));
    let page = PAIRINGS.find(Query::new().filter(connected).limit(MOST_OF_DEPARTED))?;
    let mut left = MOST_TOLD;
    for mut pairing in page.into_documents() {
        let is_theirs = |role: &&Role| pairing.value.side(**role).owner_id == owner_id;
        let Some(role) = BOTH.iter().find(is_theirs).copied() else { continue };
        let others = access::people(&pairing.value, role.other())?.len();
        if pairing.value.side(role).org_id.is_some() || others > left {
            transitions::set_check(call, &pairing.id, CHECK_OF_DEPARTED)?;
            continue;
        }
        left -= others;
        transitions::enter(call, &mut pairing, "on_owner_left", State::Cancelled, By::Another)?;
        notices::CANCELLATION.notify(call, &pairing, &[role.other()], Facts::default())?;
    }
    forget_listings(owner_id)
}

/// Forgets the pairs and the open proposals of the listings that are deleted with a person, and prepares that
/// the erasure removes their ids from pairings.
fn forget_listings(owner_id: &str) -> Result<()> {
    let theirs = any_of(["from.owner_id", "to.owner_id"].map(|path| field(path).eq(owner_id)));
    let page = PAIRINGS.find(Query::new().filter(theirs).limit(MOST_FORGOTTEN))?;
    for mut pairing in page.into_documents() {
        let before = (pairing.value.from.lister_id.clone(), pairing.value.to.lister_id.clone());
        pairing.value.note_listers();
        let (from, to) = (&pairing.value.from, &pairing.value.to);
        let goes = |side: &Side| side.lister_id.as_deref() == Some(owner_id);
        if let Some(key) = pairing.value.pair_key().filter(|_| goes(from) || goes(to)) {
            PAIRS.delete(&key, Expect::Any)?;
        }
        if goes(from) && !from.listing_id.is_empty() {
            OPEN_PROPOSALS.delete(&from.listing_id, Expect::Any)?;
        }
        if before != (from.lister_id.clone(), to.lister_id.clone()) {
            pairing.save()?;
        }
    }
    Ok(())
}

/// Lets the first active member stand for an organisation if the person who did so is gone or hidden.
pub(crate) fn pass_on(
    call: &Call,
    pairing: &mut Stored<Pairing>,
    role: Role,
    people: &[Person],
) -> Result<()> {
    let side = pairing.value.side(role);
    let is_there = people.iter().any(|person| person.owner_id == side.owner_id && person.active);
    let heir = people.iter().find(|person| person.active);
    let Some(heir) = heir.filter(|_| !is_there) else { return Ok(()) };
    pairing.value.stand_in(role, &heir.owner_id);
    transitions::save(call, pairing)?;
    notices::announce_successor(call, pairing, role)
}

/// Records that the conversation of a connection is closed.
pub(crate) fn thread_closed(call: &Call, closed: &ThreadClosed) -> Result<()> {
    let Some(pairing_id) = &closed.pairing_id else { return Ok(()) };
    let is_concerned = |pairing: &Stored<Pairing>| {
        let Pairing { state, thread_id, thread_closed, .. } = &pairing.value;
        *state == State::Connected
            && thread_id.as_ref() == Some(&closed.thread_id)
            && !thread_closed
    };
    let Some(mut pairing) = PAIRINGS.get(pairing_id)?.filter(is_concerned) else { return Ok(()) };
    pairing.value.thread_closed = true;
    transitions::touch(call, &mut pairing)
}
