//! Listings of an organisation. Every member who acts in its name changes them; one of these is the
//! listing's owner, and when that person is gone, the listing passes to another one.

use crate::{documents::*, refusals::*, states::*, step, transitions, types::*};
use people_kit::organisations::{acting_members, successor};
use portolan_sdk::prelude::*;

/// The states of a listing that passes to another member when its owner is gone. An ended listing
/// passes to the member who renews it.
const OPEN: [State; 5] =
    [State::Draft, State::InReview, State::Rejected, State::Active, State::Paused];

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
/// others in calls that follow.
pub(crate) fn apply_change(call: &Call, change: OrgChange) -> Result<()> {
    let mut filters = vec![field("org_id").eq(&change.org_id), field("state").one_of(OPEN)];
    filters.extend(change.owner_id.as_ref().map(|owner_id| field("owner_id").eq(owner_id)));
    let query = Query::new().filter(all_of(filters)).limit(MOST_PUBLISHED as u32);
    let page = LISTINGS.find(query.cursor(change.cursor.clone()))?;
    let (listings, next) = page.into_parts();
    let members = acting_members(&change.org_id)?;
    for listing in listings {
        if !members.contains(&listing.value.owner_id) {
            let summary = "The listing is not visible: nobody recruits for its organisation.";
            pass_on_or_pause(call, listing, "on_org_changed", summary)?;
        }
    }
    if next.is_some() {
        let timer =
            format!("org/{}/{}", &*change.org_id, change.owner_id.as_deref().unwrap_or_default());
        timers::set(&timer, call.now(), "pause_of_org", &OrgChange { cursor: next, ..change })?;
    }
    Ok(())
}
