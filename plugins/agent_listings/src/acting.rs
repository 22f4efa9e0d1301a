//! The members that act for the organisation of a listing, and the person responsible for a listing.

use crate::{documents::*, refusals::*, types::*};
use people_kit::organisations::{acting_members, stands_towards, successor};
use people_kit::people::{self, Person};
use people_kit::relations;
use portolan_sdk::prelude::*;
use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

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

/// Returns the person who stands for a listing towards the caller; `None` if blocks hide all who could.
pub(crate) fn standing(call: &Call, listing: &Listing) -> Result<Option<String>> {
    let (owner_id, org_id) = (listing.owner_id.as_str(), listing.org_id.as_deref());
    let Some(viewer) = call.owner_id() else { return Ok(Some(owner_id.to_owned())) };
    let hidden = relations::hidden(Some(viewer), [owner_id])?;
    Ok(stands_towards(viewer, (owner_id, org_id), &hidden)?)
}

/// Lets other members stand for the cards of organisations whose owners are hidden from a viewer by a
/// block. Returns the owners that are hidden.
pub(crate) fn let_others_stand(
    viewer: Option<&str>,
    hits: &mut [Hit<Card>],
) -> Result<BTreeSet<String>> {
    let hidden = relations::hidden(viewer, owners(hits))?;
    let Some(viewer) = viewer.filter(|_| !hidden.is_empty()) else { return Ok(hidden) };
    let mut standing: BTreeMap<(String, String), Option<String>> = BTreeMap::new();
    for card in hits.iter_mut().map(|hit| &mut hit.document.value) {
        let Some(org_id) = card.org_id.clone().filter(|_| hidden.contains(&card.owner_id)) else {
            continue;
        };
        let owner = match standing.entry((org_id, card.owner_id.clone())) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let of = (card.owner_id.as_str(), card.org_id.as_deref());
                let owner = stands_towards(viewer, of, &hidden)?;
                new.insert(owner)
            }
        };
        if let Some(owner) = owner {
            card.owner_id.clone_from(owner);
        }
    }
    Ok(hidden)
}

/// The person who answers for a listing when the caller changes it.
pub(crate) struct Responsible {
    pub(crate) owner_id: String,
    /// The known data of the person; `None` if they do not exist.
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
