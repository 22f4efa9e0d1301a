//! Listings of people who would not answer: withdrawn from view, or without an agent.

use crate::{kept::*, life::*, refusals::*, step, types::*};
use portolan_sdk::prelude::*;

/// What is used of the end of an agent.
#[input]
pub(crate) struct Gone {
    pub(crate) owner_id: OtherId,
    /// How many agents the person still has.
    pub(crate) agents_left: u32,
}

/// Pauses what a person has in view. It stays so until they resume it, one by one.
pub(crate) fn pause(call: &Call, owner_id: &str, action: &'static str) -> Result<()> {
    let active = |listing: &Stored<Listing>| listing.value.state == State::Active;
    for id in BOOKS.get(owner_id)?.into_iter().flat_map(|book| book.value.published) {
        if let Some(listing) = LISTINGS.get(&id)?.filter(active) {
            step(call, listing, action, PAUSED, "The listing is out of view.")?;
        }
    }
    Ok(())
}
