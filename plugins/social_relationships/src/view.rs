//! One side's view of a relationship.

use crate::{states::*, types::*};
use portolan_sdk::prelude::*;

/// Returns a relationship, as one of the two sees it.
pub(crate) fn view(stored: &Stored<Record>, me: &str) -> Relationship {
    let record = &stored.value;
    let (role, direction) = match record.subject == me {
        true => (SUBJECT, Direction::Outgoing),
        false => (OBJECT, Direction::Incoming),
    };
    view!(record => Relationship {
        kind, state;
        relationship_id: stored.id.clone(),
        subject_id: record.subject.clone(),
        object_id: record.object.clone(),
        owner_id: record.other(me).to_owned(),
        direction,
        version: stored.revision,
        since: rfc3339(record.since),
        allowed_actions: allowed(record.kind, role, record.state),
        counterpart_reachable: None,
        display_name: None,
        trust: None,
    })
}

pub(crate) fn note(stored: Stored<NoteRecord>) -> Note {
    let Stored { value, revision: version, updated_at, .. } = stored;
    Note { text: value.text, version, updated_at: rfc3339(updated_at) }
}

/// Returns all relationships with another person. Blocks and mutes by the other person are not
/// read, so that they cannot be noticed.
pub(crate) fn relationships_with(me: &str, other: &str) -> Result<RelationshipsWith, HostError> {
    let sides = [
        (Kind::Follow, me, other),
        (Kind::Follow, other, me),
        (Kind::Connect, me, other),
        (Kind::Block, me, other),
        (Kind::Mute, me, other),
    ];
    let found = RELATIONSHIPS.get_many(sides.map(|(kind, from, to)| id(kind, from, to)))?;
    let (mut relationships, mut actions) = (Vec::new(), Vec::new());
    for ((kind, subject, _), stored) in sides.into_iter().zip(found) {
        let stored = stored.filter(|stored| stored.value.state != State::None);
        let shown = stored.map(|stored| view(&stored, me));
        let role = if subject == me { SUBJECT } else { OBJECT };
        let none = || allowed(kind, role, State::None);
        actions.push((kind, shown.as_ref().map_or_else(none, |view| view.allowed_actions.clone())));
        relationships.extend(shown);
    }
    let blocked = relationships.iter().any(|relationship| relationship.kind == Kind::Block);
    // Nobody can send a request to a person whom they have blocked.
    actions.retain(|(kind, _)| !blocked || [Kind::Block, Kind::Mute].contains(kind));
    let mut allowed_actions = Vec::new();
    for action in actions.into_iter().flat_map(|(_, actions)| actions).chain(["note"]) {
        if !allowed_actions.contains(&action) {
            allowed_actions.push(action);
        }
    }
    let note = NOTES.get(&crate::private::note_id(me, other))?.map(note);
    Ok(RelationshipsWith { owner_id: other.to_owned(), relationships, note, allowed_actions })
}
