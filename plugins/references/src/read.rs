//! Reads: the person's encounters, and the references that they may see.
//!
//! A person sees a reference that they have written, that is about them, or that the person about whom it is shows
//! to them; but not while they do not see one of its two people. Those to whom it is shown do not see it while its
//! author has blocked the person about whom it is. A block by that person does not hide it from them: otherwise
//! blocks would be a choice among the references.

use crate::{documents::*, encounters, refusals::*, states::*, types::*, views};
use people_kit::{relations, visible};
use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

/// Returns a reference that a person may see, and the role in which they do.
pub(crate) fn load(me: &str, reference_id: &str) -> Result<(Stored<Reference>, Role)> {
    let reference = Reference::load(reference_id)?;
    let Reference { author_id, about_id, .. } = &reference.value;
    let role = match me {
        me if me == author_id => Role::Sent,
        me if me == about_id => Role::Received,
        _ if is_shown_to(about_id, me)? => Role::Viewer,
        _ => return Err(ReferenceError::ReferenceNotFound),
    };
    let (author_id, about_id) = (author_id.as_str(), about_id.as_str());
    let seen = visible::people(me, [author_id, about_id])?;
    let sees_both = [author_id, about_id].iter().all(|id| seen.contains_key(*id));
    let has_blocked = role == Role::Viewer && relations::has_blocked(author_id, about_id)?;
    match sees_both && !has_blocked && is_visible(&reference.value, role) {
        true => Ok((reference, role)),
        false => Err(ReferenceError::ReferenceNotFound),
    }
}

/// Returns whether somebody in this role sees the reference in its state: what was removed is not shown to others.
fn is_visible(reference: &Reference, role: Role) -> bool {
    role != Role::Viewer || reference.state == State::Shown
}

fn is_shown_to(owner_id: &str, viewer_id: &str) -> Result<bool> {
    Ok(GRANTS.get(&both(owner_id, viewer_id))?.is_some())
}

pub(crate) fn get(call: &Call, reference_id: &str) -> Result<views::ReferenceView> {
    let me = call.owner_id().ok_or(ReferenceError::ReferenceNotFound)?;
    let (reference, role) = load(me, reference_id)?;
    views::reference(me, &reference, role)
}

pub(crate) fn encounter(call: &Call, encounter_id: &str) -> Result<views::EncounterView> {
    let me = call.owner_id().ok_or(ReferenceError::EncounterNotFound)?;
    let (encounter, _) = encounters::load(me, encounter_id)?;
    views::encounter(call, me, &encounter)
}

/// Returns the person's encounters with people whom they see, newest first.
pub(crate) fn list_encounters(
    call: &Call,
    input: ListEncounters,
) -> Result<Answer<Items<views::EncounterView>>> {
    Items::own(call, |me| {
        let open = input.open_only.then(|| field("state").eq(EncounterState::Open));
        let filter = field("people[]").eq(me).and(open);
        fill(input.page, |page| {
            let query = Query::new().filter(filter.clone()).last("opened_at").page(page);
            let (found, next_cursor) = ENCOUNTERS.find(query)?.into_parts();
            Ok(Items { items: views::encounters(call, me, &found)?, next_cursor })
        })
    })
}

/// Returns the references that the person has written or that are about them and that are shown, the last shown
/// first.
pub(crate) fn list(call: &Call, input: List) -> Result<Answer<Items<views::ReferenceView>>> {
    Items::own(call, |me| {
        let (path, role) = match input.role {
            Side::Sent => ("author_id", Role::Sent),
            Side::Received => ("about_id", Role::Received),
        };
        fill(input.page, |page| {
            let query = Query::new().filter(field(path).eq(me)).last("shown_at").page(page);
            let (found, next_cursor) = REFERENCES.find(query)?.into_parts();
            Ok(Items { items: views::references(me, &found, role)?, next_cursor })
        })
    })
}

/// Returns the references about a person who shows them to the caller, the last shown first; about the caller
/// themself, those that they would show.
pub(crate) fn about(call: &Call, input: About) -> Result<Answer<Items<views::ReferenceView>>> {
    Items::own(call, |me| {
        let owner_id: &str = &input.owner_id;
        let is_seen = visible::people(me, [owner_id])?.contains_key(owner_id);
        if !is_seen {
            return Err(ReferenceError::OwnerNotFound);
        }
        if owner_id != me && !is_shown_to(owner_id, me)? {
            return Ok(Items { items: Vec::new(), next_cursor: None });
        }
        let shown = field("about_id").eq(owner_id).and(field("state").eq(State::Shown));
        fill(input.page, |page| {
            let query = Query::new().filter(shown.clone()).last("shown_at").page(page);
            let (mut found, next_cursor) = REFERENCES.find(query)?.into_parts();
            let hidden = blockers(owner_id, &found)?;
            found.retain(|reference| !hidden.contains(&reference.value.author_id));
            Ok(Items { items: views::references(me, &found, Role::Viewer)?, next_cursor })
        })
    })
}

/// Returns the authors of these references who have blocked the person about whom they are.
fn blockers(about_id: &str, references: &[Stored<Reference>]) -> Result<BTreeSet<String>> {
    let authors = references.iter().map(|reference| reference.value.author_id.as_str());
    let mut blockers = relations::hidden(Some(about_id), authors)?;
    for author_id in blockers.clone() {
        if !relations::has_blocked(&author_id, about_id)? {
            blockers.remove(&author_id);
        }
    }
    Ok(blockers)
}

/// Returns a page that is full unless nothing follows it, so that it is never empty with a cursor and its length
/// does not tell what is left out. `list` returns what is visible among the next documents.
fn fill<T>(mut page: PageInput, list: impl Fn(PageInput) -> Result<Items<T>>) -> Result<Items<T>> {
    let mut items = Vec::new();
    loop {
        let limit = page.limit;
        let found = list(page)?;
        let count = u32::try_from(found.items.len()).unwrap_or(limit);
        items.extend(found.items);
        page = PageInput { limit: limit.saturating_sub(count), cursor: found.next_cursor };
        if page.limit == 0 || page.cursor.is_none() {
            return Ok(Items { items, next_cursor: page.cursor });
        }
    }
}
