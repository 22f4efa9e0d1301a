//! Listings of an organisation. Its recruiters write them, and they are paused when their owner no
//! longer recruits.

use crate::{kept::*, life::*, refusals::*, step, types::*};
use people_kit::relations;
use portolan_sdk::prelude::*;

fn recruits(owner_id: &str, org_id: &str) -> Result<bool> {
    Ok(relations::may(format!("org:{org_id}"), "recruiter", owner_id)?)
}

/// Refuses to create a listing for an organisation for which the person does not recruit.
pub(crate) fn ensure_recruits(owner_id: &str, org_id: Option<&str>) -> Result<()> {
    if org_id.map_or(Ok(true), |org_id| recruits(owner_id, org_id))? {
        return Ok(());
    }
    let message = "Only recruiters of the organisation may publish listings for it.";
    let next = Next::action(CAPABILITY, "list_mine");
    Err(Refusal::common(ErrorCode::NotPermitted, message).next(next).into())
}

/// Refuses to publish a listing whose owner no longer recruits for its organisation.
pub(crate) fn ensure_still_recruits(listing: &Listing) -> Result<()> {
    ensure_recruits(&listing.owner_id, listing.org_id.as_deref())
}

/// Pauses an organisation's listings whose owner no longer recruits for it: some in this call, the
/// others in calls that follow.
pub(crate) fn follow(call: &Call, of: OrgChange) -> Result<()> {
    let mut filters = vec![field("org_id").eq(&of.org_id), field("state").eq(State::Active)];
    filters.extend(of.owner_id.as_ref().map(|owner_id| field("owner_id").eq(owner_id)));
    let query = Query::new().filter(all_of(filters)).limit(MOST_PUBLISHED as u32);
    let page = LISTINGS.find(query.cursor(of.cursor.clone()))?;
    let (listings, next) = page.into_parts();
    for listing in listings {
        if !recruits(&listing.value.owner_id, &of.org_id)? {
            let summary = "The listing is not visible: you do not recruit for its organisation.";
            step(call, listing, "on_org_changed", (PAUSED, summary))?;
        }
    }
    if next.is_some() {
        let timer = format!("org/{}/{}", &*of.org_id, of.owner_id.as_deref().unwrap_or_default());
        timers::set(&timer, call.now(), "pause_of_org", &OrgChange { cursor: next, ..of })?;
    }
    Ok(())
}
