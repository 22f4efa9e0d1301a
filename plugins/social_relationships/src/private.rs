//! Mutes, blocks and notes: one person's data about another that nobody else reads.

use crate::{
    limits::{MOST_OF_A_KIND, active_filter, ensure_below_limit},
    requests::{already_exists, check_version, ensure_other},
    states::*,
    types::*,
    view,
};
use people_kit::delivery::{
    self, CatalogChange, STATED_AT_ONCE, StateNext, begin_stating, go_on_stating,
};
use people_kit::text::{Faults, Lines, plain};
use portolan_sdk::{documents::Page, prelude::*};

/// The action that tells the host all mutes.
const STATE_MUTES: &str = "state_mutes";

/// Begins a block or a mute. Whether the person exists is not checked: the result would reveal who
/// has blocked the caller.
pub(crate) fn hold(call: &Call, me: &str, other: &str, kind: Kind) -> Result<Stored<Record>> {
    ensure_other(me, other)?;
    let (id, now) = (id(kind, me, other), call.now());
    if let Some(existing) = RELATIONSHIPS.get(&id)? {
        return Err(already_exists(&existing, me));
    }
    ensure_below_limit(me, kind)?;
    Ok(RELATIONSHIPS.add(id, Record::new(kind, me, other, State::Active, now), now)?)
}

/// Ends a block or a mute, and returns it.
pub(crate) fn release(call: &Call, me: &str, input: Change, kind: Kind) -> Result<Stored<Record>> {
    let other = &*input.owner_id;
    ensure_other(me, other)?;
    let mut stored = Record::load(&id(kind, me, other))?;
    check_version(&stored, me, input.expected_version)?;
    RELATIONSHIPS.delete(&stored.id, Expect::Revision(stored.revision))?;
    (stored.value.state, stored.value.since) = (State::None, call.now());
    Ok(stored)
}

/// Begins to tell the host the mutes that were stored before it kept them.
pub(crate) fn on_catalog_changed(call: &Call, change: &CatalogChange) -> Result<()> {
    match change.names(CAPABILITY) && !mutes(None, 1)?.hits.is_empty() {
        true => Ok(begin_stating(call, STATE_MUTES)?),
        false => Ok(()),
    }
}

/// Tells the host the next mutes, and goes on with the others in another call.
pub(crate) fn state_mutes(call: &Call, input: StateNext) -> Result<()> {
    let (found, next) = mutes(input.cursor, STATED_AT_ONCE)?.into_parts();
    for stored in found {
        delivery::mute(&stored.value.subject, &stored.value.object, None)?;
    }
    Ok(go_on_stating(call, STATE_MUTES, next)?)
}

fn mutes(cursor: Option<String>, limit: u32) -> Result<Page<Record>, HostError> {
    let filter = field("kind").eq(Kind::Mute).and(active_filter());
    RELATIONSHIPS.find(Query::new().filter(filter).limit(limit).cursor(cursor))
}

/// Stores or deletes a note about a person.
pub(crate) fn note(call: &Call, input: SetNote) -> Result<NoteOutput> {
    let (me, other) = (call.require_owner()?, &*input.owner_id);
    ensure_other(me, other)?;
    let id = note_id(me, other);
    let before = NOTES.get(&id)?;
    let revision = before.as_ref().map_or(0, |found| found.revision);
    let current = || before.clone().map(view::note);
    ensure_version(input.expected_version, revision, current, get(other))?;
    let Some(text) = input.text.filter(|text| !text.trim().is_empty()) else {
        NOTES.delete(&id, Expect::Any)?;
        return Ok(NoteOutput { owner_id: input.owner_id.into(), note: None });
    };
    let mut faults = Faults::default();
    let text = plain("/text", &text, Lines::Many, &mut faults);
    faults.check()?;
    if before.is_none() && NOTES.count(field("subject").eq(me))? >= MOST_OF_A_KIND {
        return Err(RelationshipError::RelationshipLimitReached);
    }
    let value = NoteRecord { subject: me.to_owned(), text };
    let revision = NOTES.put(&id, &value, Expect::Any)?;
    let stored = Stored { revision, ..Stored::new(id, value, call.now()) };
    Ok(NoteOutput { owner_id: input.owner_id.into(), note: Some(view::note(stored)) })
}

pub(crate) fn note_id(me: &str, other: &str) -> String {
    format!("note_{me}_{other}")
}
