//! How one side sees a relationship.

use crate::{ids::id, life::*, types::*};
use portolan_sdk::prelude::*;

/// Returns a relationship, as one of the two sees it.
pub(crate) fn view(stored: &Stored<Record>, me: &str) -> Relationship {
    let record = &stored.value;
    let (role, direction) = match record.subject == me {
        true => (SUBJECT, Direction::Outgoing),
        false => (OBJECT, Direction::Incoming),
    };
    Relationship {
        relationship_id: stored.id.clone(),
        kind: record.kind,
        subject_id: record.subject.clone(),
        object_id: record.object.clone(),
        owner_id: record.other(me).to_owned(),
        direction,
        state: record.state,
        version: stored.revision,
        since: rfc3339(record.since),
        allowed_actions: allowed(record.kind, role, record.state),
        display_name: None,
        trust: None,
    }
}

pub(crate) fn note(stored: Stored<NoteRecord>) -> Note {
    Note {
        text: stored.value.text,
        version: stored.revision,
        updated_at: rfc3339(stored.updated_at),
    }
}

/// Returns all relationships with another person. Blocks and mutes by the other person are not
/// read, so that they cannot be noticed.
pub(crate) fn bond(me: &str, other: &str) -> Result<Bond, HostError> {
    let sides = [
        (Kind::Follow, me, other),
        (Kind::Follow, other, me),
        (Kind::Connect, me, other),
        (Kind::Block, me, other),
        (Kind::Mute, me, other),
    ];
    let found = RELATIONSHIPS.get_many(sides.map(|(kind, from, to)| id(kind, from, to)))?;
    let mut relationships = Vec::new();
    let mut actions = Vec::new();
    for ((kind, subject, _), stored) in sides.into_iter().zip(found) {
        let stored = stored.filter(|stored| stored.value.state != State::None);
        let role = if subject == me { SUBJECT } else { OBJECT };
        actions.push((
            kind,
            match &stored {
                Some(stored) => view(stored, me).allowed_actions,
                None => allowed(kind, role, State::None),
            },
        ));
        relationships.extend(stored.map(|stored| view(&stored, me)));
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
    Ok(Bond { owner_id: other.to_owned(), relationships, note, allowed_actions })
}
