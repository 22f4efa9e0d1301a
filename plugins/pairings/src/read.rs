//! Reads of the person's own pairings.

use crate::{
    disclose, documents::*, refusals::*, states::*, transitions::load_with_role, types::*, views::*,
};
use portolan_sdk::prelude::*;

/// Returns a pairing with the contact data that was exchanged, unless the two are blocked or the
/// pairing is cancelled.
pub(crate) fn get(call: &Call, input: &PairingId) -> Result<Answer<View>> {
    let (pairing, role) = load_with_role(call, &input.pairing_id)?;
    let me = call.require_owner()?;
    let context = ViewContext::load(me, [&pairing])?;
    let mut view = context.view(&pairing, me)?;
    let value = &pairing.value;
    let is_unavailable =
        context.is_hidden(&value.side(role.other()).owner_id) || value.state == State::Cancelled;
    if !is_unavailable {
        view.contact = disclose::contact(value, role)?;
    }
    let thread_id = value.thread_id.as_deref().filter(|_| value.state == State::Connected);
    Ok(Answer::with(view, thread_id.map(read_thread)))
}

/// Returns the person's pairings, last changed first.
pub(crate) fn list(call: &Call, input: List) -> Result<Answer<Items<View>>> {
    Items::own(call, |me| {
        let (sent, received) = (field("from.owner_id").eq(me), field("to.owner_id").eq(me));
        let mine = match input.role {
            Some(Role::Sent) => sent,
            Some(Role::Received) => received,
            None => any_of([sent, received]),
        };
        let filter = mine.and(input.state.map(|states| field("state").one_of(states)));
        let page = PAIRINGS.find(input.page.last_changed(filter))?;
        let context = ViewContext::load(me, page.documents())?;
        Items::try_of(page, |pairing| context.view(&pairing, me))
    })
}
