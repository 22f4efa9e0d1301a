//! Connects two people who have both agreed elsewhere.

use crate::access::Viewer;
use crate::{documents::*, guards, notices, refusals::*, reply, states::*, transitions, types::*};
use people_kit::pairings::{CooldownQuery, Cooldowns, Mutual, Opened, Origin};
use people_kit::people::{self, Person};
use people_kit::{listings::Profile, relations};
use portolan_sdk::prelude::*;

/// Connects the people of two listings. An open proposal between the listings becomes the
/// connection.
pub(crate) fn open(call: &Call, input: &Mutual) -> Result<Opened> {
    if input.origin == Origin::Proposal {
        let expected = "mutual_interest or round";
        return Err(Refusal::validation("/origin", "enum", expected).into());
    }
    let (mut from, mut to) = listings(&input.from_listing_id, &input.to_listing_id)?;
    guards::let_another_stand(&from.owner_id, &mut to)?;
    guards::let_another_stand(&to.owner_id, &mut from)?;
    let pair = pair(&from, &to)?;
    let existing = guards::load_open(&pair)?;
    let is_connected = |pairing: &&Stored<Pairing>| pairing.value.state == State::Connected;
    if let Some(open) = existing.as_ref().filter(is_connected) {
        return opened(open);
    }
    ensure_reachable(&from, &to)?;
    for listing_id in [&from.listing_id, &to.listing_id] {
        guards::ensure_no_cooldown(&pair, listing_id, call.now())?;
    }
    let (now, origin) = (call.now(), input.origin);
    let new = || Stored::new(call.new_id("pair"), Pairing::new(&from, &to, origin, now), now);
    let mut pairing = existing.unwrap_or_else(new);
    if let Some(me) = call.owner_id()
        && let Some(role) = Viewer::load(me, &[&pairing])?.role(&pairing.value)
    {
        transitions::record_agent(call, &mut pairing, role)?;
    }
    pairing.value.origin = input.origin;
    reply::connect(call, &mut pairing, "open_mutual")?;
    let facts = Facts { origin: Some(origin), ..Facts::default() };
    notices::MUTUAL.notify(call, &pairing, notices::BOTH, facts)?;
    opened(&pairing)
}

fn opened(pairing: &Stored<Pairing>) -> Result<Opened> {
    let no_thread =
        || Refusal::common(ErrorCode::InternalError, "A connection without a conversation.");
    let thread_id = pairing.value.thread_id.clone().ok_or_else(no_thread)?;
    Ok(Opened { pairing_id: pairing.id.clone(), thread_id })
}

/// Returns both listings. Refuses unless they are active, belong to two people, and are each
/// other's counterpart.
fn listings(from_id: &str, to_id: &str) -> Result<(Profile, Profile)> {
    let (Some(from), Some(to)) = guards::profiles(from_id, to_id)? else {
        return Err(PairingError::ListingNotFound);
    };
    let like = guards::counterpart(&from);
    if from.owner_id == to.owner_id {
        return Err(PairingError::SelfPairing { like });
    }
    for listing in [&from, &to] {
        if !listing.is_active() {
            return Err(PairingError::ListingNotActive { step: read_listing(&listing.listing_id) });
        }
    }
    if !from.is_counterpart_of(&to) {
        return Err(PairingError::CategoryMismatch { like });
    }
    Ok((from, to))
}

/// Ensures that both may be connected: neither is paused, withdrawn, too young or blocked. Because
/// both have agreed, other contact policies and declined categories do not matter.
fn ensure_reachable(from: &Profile, to: &Profile) -> Result<()> {
    let people = people::people([from.owner_id.as_str(), to.owner_id.as_str()])?;
    let min_age = from.min_age.max(to.min_age);
    let is_reachable = |listing: &Profile| {
        let accepts = |person: &&Person| person.shows_listing(listing.org_id.as_deref());
        let person = people.get(&listing.owner_id).filter(accepts);
        person.is_some_and(|person| person.age_at_least.unwrap_or(0) >= min_age)
    };
    let blocked = relations::are_blocked(&from.owner_id, &to.owner_id)?;
    if blocked || !is_reachable(from) || !is_reachable(to) {
        let like = Like { category: to.category.clone(), side: to.side };
        return Err(PairingError::RecipientNotAccepting { step: search(like) });
    }
    Ok(())
}

/// Returns the ids of the other listings with which this listing has an open pairing, or a decline
/// whose cooldown lasts.
pub(crate) fn cooling(call: &Call, input: CooldownQuery) -> Result<Cooldowns> {
    let ids = input.other_listing_ids.iter().map(|other| both(&input.listing_id, other));
    let pairs = PAIRS.get_many(ids)?;
    let is_cooling = |pair: &Option<Stored<Pair>>| {
        let pair = pair.as_ref().map(|pair| &pair.value);
        pair.is_some_and(|pair| pair.open.is_some() || pair.any_cooldown(call.now()).is_some())
    };
    let found = input.other_listing_ids.into_iter().zip(&pairs);
    let cooling = found.filter(|(_, pair)| is_cooling(pair)).map(|(listing_id, _)| listing_id);
    Ok(Cooldowns { listing_ids: cooling.collect() })
}
