//! Cards of people who take no contact for now. Searches read each owner and leave these cards out; the counts of a
//! search read only cards, so the cards say it too.

use crate::{documents::*, refusals::*};
use people_kit::people::{self, ContactPolicy};
use portolan_sdk::prelude::*;

/// The part of `owner.updated` that is read.
#[input]
pub(crate) struct OwnerChanged {
    #[serde(default)]
    pub(crate) changed: Vec<String>,
}

/// Returns whether the owner of a listing takes no contact for now, as the card of the listing says if it has one
/// of this owner. Those of an organisation are answered by others too, so one person's settings do not matter.
pub(crate) fn is_paused(listing_id: &str, listing: &Listing) -> Result<bool> {
    if listing.org_id.is_some() {
        return Ok(false);
    }
    let card = CARDS.get(listing_id)?.filter(|card| card.value.owner_id == listing.owner_id);
    match card {
        Some(card) => Ok(card.value.paused),
        None => takes_no_contact(&listing.owner_id),
    }
}

fn takes_no_contact(owner_id: &str) -> Result<bool> {
    let person = people::person(owner_id)?;
    Ok(person.is_some_and(|person| person.contact_policy == ContactPolicy::Paused))
}

/// Updates the cards of a person whose preferences have changed.
pub(crate) fn update(owner_id: &str) -> Result<()> {
    let Some(book) = OWNER_LISTINGS.get(owner_id)? else { return Ok(()) };
    let paused = takes_no_contact(owner_id)?;
    for mut card in CARDS.get_many(book.value.published)?.into_iter().flatten() {
        let paused = paused && card.value.org_id.is_none();
        if card.value.paused != paused {
            card.value.paused = paused;
            CARDS.save(&mut card)?;
        }
    }
    Ok(())
}
