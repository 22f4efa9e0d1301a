//! Reads of the person's own pairings.

use crate::{
    disclose, documents::*, refusals::*, states::*, transitions::load_with_role, types::*, views::*,
};
use people_kit::organisations;
use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

/// Returns a pairing with the contact data that was exchanged, unless the two are blocked or the
/// pairing is cancelled.
pub(crate) fn get(call: &Call, input: &PairingId) -> Result<Answer<View>> {
    let (pairing, role) = load_with_role(call, &input.pairing_id)?;
    let me = call.require_owner()?;
    let context = ViewContext::load(me, &[&pairing])?;
    let mut view = context.view(&pairing)?;
    let value = &pairing.value;
    let is_unavailable =
        context.is_hidden(&value.side(role.other()).owner_id) || value.state == State::Cancelled;
    // Contact data was disclosed to the member with whom it was exchanged.
    if !is_unavailable && (value.side(role).org_id.is_none() || value.side(role).discloser() == me)
    {
        view.contact = disclose::contact(value, role)?;
    }
    let thread_id = value.thread_id.as_deref().filter(|_| value.state == State::Connected);
    Ok(Answer::with(view, thread_id.map(read_thread)))
}

/// Returns the person's pairings and those of their organisations, last changed first. Those of an
/// organisation whose other side the person may not see are left out, so a page can be shorter.
pub(crate) fn list(call: &Call, input: List) -> Result<Answer<Items<View>>> {
    Items::own(call, |me| {
        let mine = match input.as_org {
            Some(org_id) if organisations::acting_orgs(me)?.contains(&org_id) => {
                Mine { own: None, orgs: BTreeSet::from([org_id]) }
            }
            Some(_) => return Err(PairingError::not_acting()),
            None => Mine { own: Some(me), orgs: organisations::acting_orgs(me)? },
        };
        let mine = match input.role {
            Some(role) => mine.on(role),
            None => any_of([mine.on(Role::Sent), mine.on(Role::Received)]),
        };
        let filter = mine.and(input.state.map(|states| field("state").one_of(states)));
        let page = PAIRINGS.find(input.page.last_changed(filter))?;
        let context = ViewContext::load(me, &page.documents().collect::<Vec<_>>())?;
        let next_cursor = page.next.clone();
        let shown = page.documents().filter(|pairing| context.is_shown(&pairing.value));
        let items = shown.map(|pairing| context.view(pairing)).collect::<Result<_>>()?;
        Ok(Items { items, next_cursor })
    })
}

/// The owners of the pairings to list.
struct Mine<'a> {
    /// The person, for those that are not an organisation's.
    own: Option<&'a str>,
    orgs: BTreeSet<String>,
}

impl Mine<'_> {
    /// Returns the filter for the pairings in which the person has this role.
    fn on(&self, role: Role) -> Filter {
        let (owner_id, org_id) = match role {
            Role::Sent => ("from.owner_id", "from.org_id"),
            Role::Received => ("to.owner_id", "to.org_id"),
        };
        let own = self.own.map(|me| field(owner_id).eq(me).and(not(field(org_id).exists())));
        let of_orgs = (!self.orgs.is_empty()).then(|| field(org_id).one_of(&self.orgs));
        any_of(own.into_iter().chain(of_orgs))
    }
}
