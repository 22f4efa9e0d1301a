//! Reads of the person's own introductions.

use crate::{documents::*, refusals::*, respond, types::*, views};
use portolan_sdk::prelude::*;

pub(crate) fn get(call: &Call, intro_id: &str) -> Result<Answer<views::View>> {
    let seat = respond::load(call, intro_id)?;
    let next = seat.value.thread_id.as_deref().map(read_thread);
    Ok(Answer::with(views::view(&seat)?, next))
}

pub(crate) fn list(call: &Call, input: List) -> Result<Answer<Items<views::View>>> {
    Items::own(call, |me| {
        let filter = field("owner_id")
            .eq(me)
            .and(input.role.map(|role| field("role").eq(role)))
            .and(input.state.map(|states| field("state").one_of(states)));
        let (found, next_cursor) = SEATS.find(input.page.last_changed(filter))?.into_parts();
        Ok(Items { items: views::visible_views(me, &found)?, next_cursor })
    })
}
