//! The viewers to whom a person shows the references about themself: all of them, so that nobody picks the good ones.

use crate::{documents::*, refusals::*, types::*, views};
use people_kit::visible;
use portolan_sdk::prelude::*;

pub(crate) fn show(call: &Call, input: &Viewer) -> Result<views::GrantView> {
    let (me, viewer_id, now) = (call.require_owner()?, &*input.owner_id, call.now());
    let seen = visible::people(me, [viewer_id])?;
    let Some(viewer) = seen.get(viewer_id).filter(|_| viewer_id != me) else {
        return Err(ReferenceError::OwnerNotFound);
    };
    let id = both(me, viewer_id);
    if let Some(grant) = GRANTS.get(&id)? {
        return Ok(views::grant(&grant, viewer));
    }
    if GRANTS.count(field("owner_id").eq(me))? >= MOST_VIEWERS {
        return Err(ReferenceError::too_many_viewers());
    }
    SHOWN_A_DAY.count(call, DAYS, me, Next::action(CAPABILITY, "shown_to"))?;
    let value = Grant { owner_id: me.to_owned(), viewer_id: viewer_id.to_owned(), since: now };
    Ok(views::grant(&GRANTS.add(id, value, now)?, viewer))
}

/// Ends that a person shows their references to somebody. Every id is accepted, also of people who are not found.
pub(crate) fn hide(call: &Call, input: &Viewer) -> Result<()> {
    let id = both(call.require_owner()?, &input.owner_id);
    match GRANTS.get(&id)? {
        Some(grant) => Ok(GRANTS.delete(&id, Expect::Revision(grant.revision))?),
        None => Ok(()),
    }
}

/// Returns the people to whom the person shows their references, the last one first.
pub(crate) fn shown_to(call: &Call, page: PageInput) -> Result<Answer<Items<views::GrantView>>> {
    Items::own(call, |me| {
        let query = Query::new().filter(field("owner_id").eq(me)).last("since").page(page);
        let (found, next_cursor) = GRANTS.find(query)?.into_parts();
        let viewers = found.iter().map(|grant| grant.value.viewer_id.as_str());
        let seen = visible::people(me, viewers)?;
        let view =
            |grant: &Stored<Grant>| Some(views::grant(grant, seen.get(&grant.value.viewer_id)?));
        Ok(Items { items: found.iter().filter_map(view).collect(), next_cursor })
    })
}
