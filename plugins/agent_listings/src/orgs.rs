//! Listings of an organisation. Every member who acts in its name changes them; one of these is the
//! listing's owner, and when that person is gone, the listing passes to another one.

use crate::{documents::*, refusals::*, states::*, step, transitions, types::*};
use people_kit::organisations::{acting_members, successor};
use portolan_sdk::prelude::*;
use std::collections::BTreeMap;

/// The states of a listing that passes to another member, who is told, when its owner is gone.
const OPEN: [State; 5] =
    [State::Draft, State::InReview, State::Rejected, State::Active, State::Paused];
/// The states of a listing that has ended. It belongs to the organisation too and passes on, but nobody has
/// to be told.
const ENDED: [State; 4] = [State::Filled, State::Withdrawn, State::Expired, State::Removed];
/// The maximum number of listings that have ended that one call passes on.
const ENDED_AT_ONCE: u32 = 50;

/// Passes a listing whose owner is gone to another member of its organisation. Pauses it if there is
/// none, or if it is not an organisation's.
pub(crate) fn pass_on_or_pause(
    call: &Call,
    mut listing: Stored<Listing>,
    action: &str,
    summary: &'static str,
) -> Result<()> {
    let owner_id = listing.value.owner_id.clone();
    let heir = match &listing.value.org_id {
        Some(org_id) => successor(org_id, &owner_id, [])?,
        None => None,
    };
    if let Some(heir) = heir {
        transitions::pass_on(&mut listing, heir)?;
        let notice = (UPDATED, "The listing has passed to another member of its organisation.");
        let next = read(&listing.id);
        return transitions::notify_changed(call, &listing, notice, vec!["owner"], next);
    }
    if listing.value.state == State::Active {
        step(call, listing, action, (PAUSED, summary))?;
    }
    Ok(())
}

/// Passes on an organisation's listings whose owner no longer recruits for it: some in this call, the
/// others in calls that follow, those that have ended last.
pub(crate) fn apply_change(call: &Call, change: OrgChange) -> Result<()> {
    let members = acting_members(&change.org_id)?;
    let next = match change.ended {
        false => pass_on_open(call, &change, &members)?,
        true => None,
    };
    if next.is_some() {
        return go_on(call, OrgChange { cursor: next, ..change });
    }
    let cursor = change.cursor.clone().filter(|_| change.ended);
    let change = OrgChange { cursor, ended: true, ..change };
    let next = pass_on_ended(&change, &members)?;
    match next.is_some() {
        true => go_on(call, OrgChange { cursor: next, ..change }),
        false => Ok(()),
    }
}

fn go_on(call: &Call, change: OrgChange) -> Result<()> {
    let timer =
        format!("org/{}/{}", &*change.org_id, change.owner_id.as_deref().unwrap_or_default());
    Ok(timers::set(&timer, call.now(), "pause_of_org", &change)?)
}

/// Returns the query for the listings in some states that a change concerns.
fn concerned<const STATES: usize>(change: &OrgChange, states: [State; STATES]) -> Query {
    let mut filters = vec![field("org_id").eq(&change.org_id), field("state").one_of(states)];
    filters.extend(change.owner_id.as_ref().map(|owner_id| field("owner_id").eq(owner_id)));
    Query::new().filter(all_of(filters)).cursor(change.cursor.clone())
}

/// Passes on listings that have ended; with nobody who acts for the organisation, they stay as they are.
/// Returns the cursor of the others.
fn pass_on_ended(change: &OrgChange, members: &[String]) -> Result<Option<String>> {
    if members.is_empty() {
        return Ok(None);
    }
    let page = LISTINGS.find(concerned(change, ENDED).limit(ENDED_AT_ONCE))?;
    let (listings, next) = page.into_parts();
    let mut heirs: BTreeMap<String, Option<String>> = BTreeMap::new();
    for mut listing in listings {
        let owner_id = listing.value.owner_id.clone();
        if members.contains(&owner_id) {
            continue;
        }
        let heir = match heirs.get(&owner_id) {
            Some(heir) => heir.clone(),
            None => successor(&change.org_id, &owner_id, [])?,
        };
        if let Some(heir) = &heir {
            transitions::pass_on(&mut listing, heir.clone())?;
        }
        heirs.insert(owner_id, heir);
    }
    Ok(next)
}

/// Passes on listings that are open, or pauses them. Returns the cursor of the others.
fn pass_on_open(call: &Call, change: &OrgChange, members: &[String]) -> Result<Option<String>> {
    let page = LISTINGS.find(concerned(change, OPEN).limit(MOST_PUBLISHED as u32))?;
    let (listings, next) = page.into_parts();
    for listing in listings {
        if !members.contains(&listing.value.owner_id) {
            let summary = "The listing is not visible: nobody recruits for its organisation.";
            pass_on_or_pause(call, listing, "on_org_changed", summary)?;
        }
    }
    Ok(next)
}
