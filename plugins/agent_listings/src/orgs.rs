//! Listings of an organisation. Its recruiters write them, and they are paused when their owner no
//! longer recruits.

use crate::{documents::*, refusals::*, states::*, step, types::*};
use people_kit::relations;
use portolan_sdk::prelude::*;

fn can_recruit(owner_id: &str, org_id: &str) -> Result<bool> {
    Ok(relations::has_relation(format!("org:{org_id}"), "recruiter", owner_id)?)
}

/// Refuses to create a listing for an organisation for which the person does not recruit.
pub(crate) fn ensure_can_recruit(owner_id: &str, org_id: Option<&str>) -> Result<()> {
    if org_id.map_or(Ok(true), |org_id| can_recruit(owner_id, org_id))? {
        return Ok(());
    }
    let message = "Only recruiters of the organisation may publish listings for it.";
    let next = Next::action(CAPABILITY, "list_mine");
    Err(Refusal::common(ErrorCode::NotPermitted, message).next(next).into())
}

/// Refuses to publish a listing whose owner no longer recruits for its organisation.
pub(crate) fn ensure_owner_can_recruit(listing: &Listing) -> Result<()> {
    ensure_can_recruit(&listing.owner_id, listing.org_id.as_deref())
}

/// Pauses an organisation's listings whose owner no longer recruits for it: some in this call, the
/// others in calls that follow.
pub(crate) fn apply_change(call: &Call, change: OrgChange) -> Result<()> {
    let mut filters = vec![field("org_id").eq(&change.org_id), field("state").eq(State::Active)];
    filters.extend(change.owner_id.as_ref().map(|owner_id| field("owner_id").eq(owner_id)));
    let query = Query::new().filter(all_of(filters)).limit(MOST_PUBLISHED as u32);
    let page = LISTINGS.find(query.cursor(change.cursor.clone()))?;
    let (listings, next) = page.into_parts();
    for listing in listings {
        if !can_recruit(&listing.value.owner_id, &change.org_id)? {
            let summary = "The listing is not visible: you do not recruit for its organisation.";
            step(call, listing, "on_org_changed", (PAUSED, summary))?;
        }
    }
    if next.is_some() {
        let timer =
            format!("org/{}/{}", &*change.org_id, change.owner_id.as_deref().unwrap_or_default());
        timers::set(&timer, call.now(), "pause_of_org", &OrgChange { cursor: next, ..change })?;
    }
    Ok(())
}
