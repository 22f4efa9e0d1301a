//! Reads of the person's own applications, and of those that reach them.

use crate::{
    documents::*,
    refusals::*,
    states::*,
    transitions,
    types::*,
    views::{self, View, ViewContext},
};
use people_kit::encounters::Encounter;
use people_kit::organisations::{ACTING_FOR, OfPerson, SPEAKS_FOR};
use portolan_sdk::prelude::*;

pub(crate) fn get(call: &Call, id: &str) -> Result<Answer<View>> {
    let application = transitions::load(call, id)?.application;
    let value = &application.value;
    let thread_id = value.thread_id.as_deref().filter(|_| TALKING.contains(&value.state));
    Ok(Answer::with(views::view(call.require_owner()?, &application)?, thread_id.map(read_thread)))
}

/// Returns the applications that the person has sent or received, last changed first.
pub(crate) fn list(call: &Call, input: List) -> Result<Answer<Items<View>>> {
    Items::own(call, |me| {
        let mut sides = Vec::new();
        if input.role != Some(Role::Received) {
            sides.push(field("owner_id").eq(me));
        }
        if input.role != Some(Role::Sent) {
            sides.push(field("to_owner_id").eq(me));
            sides.push(field("inbox").one_of(inboxes(me)?));
        }
        let filter = any_of(sides)
            .and(input.state.map(|states| field("state").one_of(states)))
            .and(input.kind.map(|kinds| field("kind").one_of(kinds)));
        let page = APPLICATIONS.find(input.page.last_changed(filter))?;
        let context = ViewContext::load(me, page.documents())?;
        let (found, next_cursor) = page.into_parts();
        let visible = found.iter().filter(|found| !context.is_hidden(&found.value.owner_id));
        let items = visible.map(|found| context.view(me, found)).collect();
        Ok(Items { items, next_cursor })
    })
}

/// Returns the organisations and targets for which the person acts.
fn inboxes(me: &str) -> Result<Vec<String>> {
    let person = OfPerson { owner_id: me.to_owned() };
    let orgs = ACTING_FOR.call(&person)?.orgs;
    let mut inboxes = SPEAKS_FOR.call(&person)?.target_ids;
    inboxes.extend(orgs.into_iter().flat_map(|org| [Some(org.org_id), org.target_id]).flatten());
    Ok(inboxes)
}

/// Returns the applicant of an accepted offer and the person with whom they talked; nobody for any other
/// application.
pub(crate) fn encounter(application_id: &str) -> Result<Encounter> {
    let is_accepted =
        |application: &Stored<Application>| application.value.state == State::Accepted;
    let application = APPLICATIONS.get(application_id)?.filter(is_accepted);
    let people = |Stored { value, .. }: Stored<Application>| {
        value.contact_id.map(|contact_id| vec![value.owner_id, contact_id])
    };
    Ok(Encounter { owner_ids: application.and_then(people).unwrap_or_default() })
}
