//! What has to hold before two people are brought together.

use crate::{kept::*, refusals::*};
use people_kit::{
    listings::{self, Profile, Visibility},
    people, relations,
};
use portolan_sdk::prelude::*;

/// Two listings that exist; none where there is no such one.
pub(crate) fn profiles(from_id: &str, to_id: &str) -> Result<(Option<Profile>, Option<Profile>)> {
    let found = listings::profiles([from_id, to_id])?;
    let of = |id: &str| found.iter().find(|listing| listing.listing_id == id).cloned();
    Ok((of(from_id), of(to_id)))
}

/// The caller's own listing, active, and somebody else's that they see and that is its counterpart.
pub(crate) fn listings(me: &str, from_id: &str, to_id: &str) -> Result<(Profile, Profile)> {
    let (from, to) = profiles(from_id, to_id)?;
    let from = from.ok_or(PairingError::ListingNotFound)?;
    if from.owner_id != me {
        return Err(match sees(me, &from)? {
            true => PairingError::not_your_listing(from_id),
            false => PairingError::ListingNotFound,
        });
    }
    if !from.is_active() {
        return Err(PairingError::ListingNotActive { step: read_listing(from_id) });
    }
    let to = to.ok_or(PairingError::ListingNotFound)?;
    if to.owner_id == me {
        return Err(PairingError::SelfPairing { like: counterpart(&from) });
    }
    if !sees(me, &to)? || relations::are_blocked(me, &to.owner_id)? {
        return Err(PairingError::ListingNotFound);
    }
    if !from.meets(&to) {
        return Err(PairingError::CategoryMismatch { like: counterpart(&from) });
    }
    Ok((from, to))
}

fn counterpart(listing: &Profile) -> Like {
    Like { category: listing.counterpart.clone(), side: listing.counterpart_side }
}

/// Whether somebody sees a listing, as far as no block is in the way.
fn sees(me: &str, listing: &Profile) -> Result<bool> {
    match listing.is_active() {
        false => Ok(false),
        true if listing.visibility != Visibility::Network => Ok(true),
        true => Ok(relations::may(format!("listing:{}", listing.listing_id), "can_view", me)?),
    }
}

/// Whether the recipient takes this proposal: by whom they want to hear from, and by what they decline
/// without being asked. All of it is asked in any case, and which of it is the reason is
/// not told.
pub(crate) fn ensure_accepts(from: &Profile, to: &Profile) -> Result<()> {
    let people = people::people([from.owner_id.as_str(), to.owner_id.as_str()])?;
    let age =
        |owner_id: &str| people.get(owner_id).and_then(|person| person.age_at_least).unwrap_or(0);
    if age(&from.owner_id) < to.min_age {
        return Err(PairingError::AgeRestricted { min_age: to.min_age });
    }
    let open = relations::may(format!("owner:{}", to.owner_id), "can_message", &from.owner_id)?;
    let recipient = people.get(&to.owner_id);
    let declines = recipient.is_none_or(|recipient| {
        !recipient.active || recipient.declines(&to.category) || recipient.declines(&from.category)
    });
    if !open || declines || age(&to.owner_id) < from.min_age {
        let like = Like { category: to.category.clone(), side: to.side };
        return Err(PairingError::RecipientNotAccepting { step: search(like) });
    }
    Ok(())
}

/// Refuses a second pairing of two listings, and one that was declined lately.
pub(crate) fn ensure_free(pair: &Pair) -> Result<()> {
    match open(pair)? {
        Some(open) => Err(PairingError::PairingExists {
            existing_state: open.value.state.name(),
            pairing_id: open.id,
        }),
        None => Ok(()),
    }
}

/// The pairing that two listings have.
pub(crate) fn open(pair: &Pair) -> Result<Option<Stored<Pairing>>> {
    match &pair.open {
        Some(pairing_id) => Ok(PAIRINGS.get(pairing_id)?),
        None => Ok(None),
    }
}

/// Refuses what was declined not long ago.
pub(crate) fn ensure_no_cooldown(pair: &Pair, listing_id: &str, now: u64) -> Result<()> {
    match pair.cooldown(listing_id, now) {
        Some(declined) => Err(PairingError::CooldownActive {
            pairing_id: declined.pairing_id.clone(),
            wait: declined.at + crate::kept::COOLDOWN - now,
        }),
        None => Ok(()),
    }
}

/// Refuses to go on with somebody who is blocked, or has blocked: the pairing ends in a moment.
pub(crate) fn ensure_not_blocked(pairing: &Pairing, role: Role) -> Result<()> {
    let (me, other) = (pairing.side(role), pairing.side(role.other()));
    if relations::are_blocked(&me.owner_id, &other.owner_id)? {
        return Err(PairingError::RecipientNotAccepting { step: list() });
    }
    Ok(())
}

/// Refuses to connect listings of which one is no longer there: the proposal ends in a moment.
pub(crate) fn ensure_both_active(pairing_id: &str, pairing: &Pairing) -> Result<()> {
    let (from, to) = profiles(&pairing.from.listing_id, &pairing.to.listing_id)?;
    if !to.is_some_and(|listing| listing.is_active()) {
        return Err(PairingError::ListingNotActive { step: read_listing(&pairing.to.listing_id) });
    }
    if !from.is_some_and(|listing| listing.is_active()) {
        return Err(PairingError::ListingNotActive { step: get(pairing_id) });
    }
    Ok(())
}
