//! The members that act for the organisation of a listing, and the person responsible for a listing.

use crate::{documents::*, refusals::*, types::*};
use people_kit::organisations::{acting_members, successor};
use people_kit::people::{self, Person};
use portolan_sdk::prelude::*;

/// Refuses to create a listing for an organisation for which the person does not recruit.
pub(crate) fn ensure_can_recruit(owner_id: &str, org_id: Option<&str>) -> Result<()> {
    match org_id {
        Some(org_id) if !acting_members(org_id)?.iter().any(|member| member == owner_id) => {
            Err(not_recruiting())
        }
        _ => Ok(()),
    }
}

pub(crate) fn not_recruiting() -> ListingsError {
    let message = "Only recruiters of the organisation may publish listings for it.";
    let next = Next::action(CAPABILITY, "list_mine");
    Refusal::common(ErrorCode::NotPermitted, message).next(next).into()
}

/// Returns whether the person may change a listing of this organisation, without regard to grants;
/// `None` if only a grant can permit it. An organisation that is archived leaves its listings to
/// their owners.
pub(crate) fn can_edit(listing: &Listing, org_id: &str, viewer: &str) -> Result<Option<bool>> {
    let members = acting_members(org_id)?;
    let (acts, is_owner) =
        (members.iter().any(|member| member == viewer), listing.owner_id == viewer);
    Ok(match (acts, is_owner) {
        (true, _) => Some(true),
        (false, true) => Some(members.is_empty()),
        (false, false) => None,
    })
}

/// The person who answers for a listing when the caller changes it.
pub(crate) struct Responsible {
    pub(crate) owner_id: String,
    /// What is known about the person; `None` if they do not exist.
    pub(crate) person: Option<Person>,
}

/// Returns who answers for a listing when the caller changes it: its owner; for a listing of an
/// organisation whose owner is gone, the caller or another member. `None` if nobody acts for the
/// organisation any more.
pub(crate) fn responsible(call: &Call, listing: &Listing) -> Result<Option<Responsible>> {
    let owner = people::person(&listing.owner_id)?;
    let Some(org_id) = listing.org_id.as_deref() else {
        return Ok(Some(Responsible { owner_id: listing.owner_id.clone(), person: owner }));
    };
    let members = acting_members(org_id)?;
    let acts = |owner_id: &str| members.iter().any(|member| member == owner_id);
    let is_there = owner.as_ref().is_some_and(|owner| owner.active);
    let owner_id = match call.owner_id().filter(|me| acts(me)) {
        _ if is_there && acts(&listing.owner_id) => Some(listing.owner_id.clone()),
        Some(me) => Some(me.to_owned()),
        None => successor(org_id, &listing.owner_id, [])?,
    };
    let Some(owner_id) = owner_id else { return Ok(None) };
    let person = match owner_id == listing.owner_id {
        true => owner,
        false => people::person(&owner_id)?,
    };
    Ok(Some(Responsible { owner_id, person }))
}
