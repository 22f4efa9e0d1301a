//! The pausing of listings whose owner cannot answer, because they are deactivated or have no
//! agent.

use crate::{documents::*, orgs, refusals::*, states::*, types::*};
use portolan_sdk::prelude::*;

/// The part of the event of a revoked agent that is read.
#[input]
pub(crate) struct AgentRevoked {
    pub(crate) owner_id: OtherId,
    /// The number of agents that the person still has.
    pub(crate) agents_left: u32,
}

/// Passes the person's active listings of an organisation to another member, and pauses the others.
/// They stay paused until the person resumes each one.
pub(crate) fn pause(call: &Call, owner_id: &str, action: &str) -> Result<()> {
    let active = |listing: &Stored<Listing>| listing.value.state == State::Active;
    for id in OWNER_LISTINGS.get(owner_id)?.into_iter().flat_map(|book| book.value.published) {
        if let Some(listing) = LISTINGS.get(&id)?.filter(active) {
            orgs::pass_on_or_pause(call, listing, action, "The listing is not visible.")?;
        }
    }
    Ok(())
}
