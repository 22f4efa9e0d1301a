//! Reads of the person's own lists, and of mutual connections.

use crate::{
    blocks, limits::active_filter, requests::ensure_other, states::*, types::*, view::view,
};
use people_kit::{UNTRUSTED, people};
use portolan_sdk::prelude::*;

/// The maximum number of pages of the person's connections that are read for one page of mutual
/// ones.
const ROUNDS: usize = 20;

/// Returns the person's relationships, newest first.
pub(crate) fn list(me: &str, input: List) -> Result<Items<Relationship>> {
    let state = input.state.map_or_else(active_filter, |state| field("state").eq(state));
    let filter = filter_of(me, input.kind, input.direction).and(state);
    let page = RELATIONSHIPS.find(newest(filter).page(input.page))?;
    let mut items = Items::of(page, |stored| view(&stored, me));
    // A blocked or muted person may have blocked the caller, and is then not visible.
    let named = |item: &Relationship| [Kind::Follow, Kind::Connect].contains(&item.kind);
    let seen = items.items.iter().filter(|item| named(item));
    let people = people::people(seen.map(|seen| seen.owner_id.as_str()))?;
    for item in items.items.iter_mut().filter(|item| named(item)) {
        let person = people.get(&item.owner_id);
        item.display_name = person.and_then(|person| person.display_name.clone());
        item.trust = Some(UNTRUSTED);
    }
    Ok(items)
}

/// Returns those of the person's connections who are also connected with the other one.
pub(crate) fn mutuals(me: &str, input: Mutuals) -> Result<Items<Mutual>> {
    let other = &*input.owner_id;
    ensure_other(me, other)?;
    let none = Items { items: Vec::new(), next_cursor: None };
    let active = people::person(other)?.is_some_and(|person| person.active);
    if !active || blocks::is_blocked(me, other)? {
        return Ok(none);
    }
    let own = filter_of(me, Some(Kind::Connect), None).and(field("state").eq(State::Active));
    let query = newest(own).limit(input.page.limit);
    let mut cursor = input.page.cursor;
    for round in 1.. {
        let page = RELATIONSHIPS.find(query.clone().cursor(cursor))?;
        let known = page.hits.iter().map(|hit| hit.document.value.other(me).to_owned());
        let known: Vec<String> = known.filter(|known| known != other).collect();
        let both = mutual_with(other, &known)?;
        if !both.is_empty() || page.next.is_none() || round == ROUNDS {
            return Ok(Items { items: both, next_cursor: page.next });
        }
        cursor = page.next;
    }
    Ok(none)
}

/// Returns those of `people` with whom the person `other` is connected.
fn mutual_with(other: &str, people: &[String]) -> Result<Vec<Mutual>> {
    let connections = people.iter().map(|person| id(Kind::Connect, other, person));
    let connections = RELATIONSHIPS.get_many(connections)?;
    let active = |found: &Option<Stored<Record>>| {
        found.as_ref().is_some_and(|found| found.value.state == State::Active)
    };
    let both: Vec<_> = people.iter().zip(connections).filter(|(_, found)| active(found)).collect();
    let known = people::people(both.iter().map(|(person, _)| person.as_str()))?;
    let active = both.iter().filter_map(|(id, _)| known.get(*id).filter(|known| known.active));
    let mutual = |person: &people::Person| view!(person => Mutual { owner_id, display_name; trust: UNTRUSTED });
    Ok(active.map(mutual).collect())
}

/// Returns the filter for the person's own relationships, and for those of others that both sides
/// see.
fn filter_of(me: &str, kind: Option<Kind>, direction: Option<Direction>) -> Filter {
    let outgoing = field("subject").eq(me);
    let seen = field("kind").one_of([Kind::Follow, Kind::Connect]);
    let incoming = field("object").eq(me).and(seen);
    let sides = match direction {
        Some(Direction::Outgoing) => outgoing,
        Some(Direction::Incoming) => incoming,
        None => any_of([outgoing, incoming]),
    };
    sides.and(kind.map(|kind| field("kind").eq(kind)))
}

fn newest(filter: Filter) -> Query {
    Query::new().filter(filter).last("since")
}
