//! Lists of objects and of subjects: candidates are found with the model, and evaluated one by one.

use crate::{
    check::{ensure_governs, parse_relation, principal_by_name},
    evaluate::{Principal, Shape, Tuples as _, evaluate},
    model::{Askers, Kind, MODEL, Relation, Rule, SubjectKind, kind},
    name::{EVERYBODY, Object, parse_set},
    tuples::{Store, VisibleTuples, of_object, of_subject},
    types::*,
};
use portolan_sdk::pages::{close_cursor, open_cursor};
use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

type Node = (String, &'static str);
type Needed = (&'static Kind, &'static Relation);

/// Returns the objects of a type to which the caller has the relation, except those to which
/// everybody has it.
pub(crate) fn objects(
    store: &mut Store,
    object_type: &str,
    relation: &str,
    page: &PageInput,
) -> Result<Items<String>> {
    let wanted = kind(MODEL, object_type).ok_or(PermissionsError::RelationUnknown)?;
    let relation = wanted.relation(relation).ok_or(PermissionsError::RelationUnknown)?;
    if relation.askers == Askers::Governor {
        return Err(PermissionsError::RelationUnknown);
    }
    let me = store.me();
    let found = reachable(store, &me, &needed(wanted, relation))?.into_iter();
    let found = found.filter(|(object, name)| *name == relation.name && is_of(wanted, object));
    let found = found.map(|(object, _)| object).collect();
    let query = format!("objects {} {} {}", me.names.join(" "), wanted.name, relation.name);
    paged(found, page, &query, |text| {
        let Some(object) = Object::parse(MODEL, text) else { return Ok(false) };
        if relation.askers == Askers::Unblocked && store.is_hidden(&object)? {
            return Ok(false);
        }
        Ok(evaluate(MODEL, store, &object, relation, &me)?.is_some())
    })
}

/// Returns those of the needed relations that may follow from tuples of the subject.
fn reachable(store: &mut Store, me: &Principal, needed: &[Needed]) -> Result<BTreeSet<Node>> {
    let (mut seen, mut pending) = (BTreeSet::new(), Vec::new());
    let names: BTreeSet<&str> = needed.iter().map(|(_, relation)| relation.name).collect();
    for name in &me.names {
        for (_, relation) in needed.iter().filter(|(kind, _)| is_of(kind, name)) {
            if relation.rule.grounds().iter().any(|rule| matches!(rule, Rule::Itself)) {
                pending.push((name.clone(), relation.name));
            }
        }
        let stated = field("subject").eq(name).and(field("relation").one_of(&names));
        pending.extend(store.find(stated)?.iter().filter_map(node));
    }
    while let Some((text, name)) = pending.pop() {
        let Some(object) = Object::parse(MODEL, &text) else { continue };
        if is_among(needed, object.kind, name) && seen.insert((text, name)) {
            for (kind, relation) in needed {
                next(store, &object, name, kind, relation, &mut pending)?;
            }
        }
    }
    Ok(seen)
}

fn is_among(needed: &[Needed], kind: &Kind, name: &str) -> bool {
    needed.iter().any(|(found, relation)| found.name == kind.name && relation.name == name)
}

/// Adds to `pending` the objects to which `relation` may follow from the relation `name` to
/// `object`.
fn next(
    store: &mut Store,
    object: &Object,
    name: &'static str,
    kind: &'static Kind,
    relation: &'static Relation,
    pending: &mut Vec<Node>,
) -> Result<()> {
    for rule in relation.rule.grounds() {
        match rule {
            Rule::Computed(of) if *of == name && kind.name == object.kind.name => {
                pending.push((object.text.clone(), relation.name));
            }
            Rule::SameId(same_id, of) if *of == name && *same_id == object.kind.name => {
                pending.push((format!("{}:{}", kind.name, object.id()), relation.name));
            }
            Rule::FromObject(link, of) if *of == name => {
                let found = store.find(of_subject(&object.text, link))?.into_iter();
                let of_kind = found.filter(|stored| is_of(kind, &stored.object));
                pending.extend(of_kind.map(|stored| (stored.object, relation.name)));
            }
            Rule::Stated
                if relation
                    .subjects()
                    .any(|who| who == SubjectKind::Set(object.kind.name, name)) =>
            {
                let set = format!("{}#{name}", object.text);
                pending
                    .extend(store.find(of_subject(&set, relation.name))?.iter().filter_map(node));
            }
            _ => {}
        }
    }
    Ok(())
}

fn is_of(kind: &Kind, object: &str) -> bool {
    object.split_once(':').is_some_and(|(name, _)| name == kind.name)
}

/// Returns the subjects of a relation to an object that the caller governs: people, agents,
/// everybody, and the sets that others govern.
pub(crate) fn subjects(
    store: &mut Store,
    object: &str,
    relation: &str,
    page: &PageInput,
) -> Result<Items<String>> {
    let (object, relation) = parse_relation(object, relation)?;
    ensure_governs(store, &object)?;
    let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::<Node>::new());
    let mut pending = vec![(object.text.clone(), relation.name)];
    while let Some((text, name)) = pending.pop() {
        let Ok((at, stated)) = parse_relation(&text, name) else { continue };
        if !seen.insert((text.clone(), name)) {
            continue;
        }
        if at.text != object.text && !store.governs(&at)? {
            found.insert(format!("{text}#{name}"));
            continue;
        }
        for rule in stated.rule.grounds() {
            match rule {
                Rule::Everybody => _ = found.insert(EVERYBODY.into()),
                Rule::Itself => _ = found.insert(text.clone()),
                Rule::Computed(of) => pending.push((text.clone(), of)),
                Rule::SameId(kind, of) => pending.push((format!("{kind}:{}", at.id()), of)),
                Rule::FromObject(link, of) => {
                    let linked = store.subjects(&text, link, Shape::One)?;
                    pending.extend(linked.into_iter().map(|other| (other, *of)));
                }
                Rule::Stated => {
                    for stored in store.find(of_object(&text, name))? {
                        match parse_set(MODEL, &stored.subject) {
                            Some((other, inner)) => pending.push((other.text, inner.name)),
                            None => _ = found.insert(stored.subject),
                        }
                    }
                }
                Rule::Reverse(_) | Rule::Any(_) | Rule::All(_) | Rule::Except(..) => {}
            }
        }
    }
    let me = store.me();
    let query = format!("subjects {} {} {}", me.names.join(" "), object.text, relation.name);
    paged(found, page, &query, |subject| {
        if subject.contains('#') {
            return Ok(true);
        }
        let who = principal_by_name(subject)?;
        Ok(evaluate(MODEL, &mut VisibleTuples(store), &object, relation, &who)?.is_some())
    })
}

/// Returns one page of the results, in order, filtered. A cursor is signed for its query.
fn paged(
    found: BTreeSet<String>,
    page: &PageInput,
    query: &str,
    mut fits: impl FnMut(&str) -> Result<bool>,
) -> Result<Items<String>> {
    let after = page.cursor.as_deref().map(|cursor| open_cursor(cursor, query)).transpose()?;
    let mut items: Vec<String> = Vec::new();
    for text in found {
        if after.as_ref().is_some_and(|after| text <= *after) || !fits(&text)? {
            continue;
        }
        if items.len() == page.limit as usize {
            let next_cursor = items.last().map(|last| close_cursor(last, query)).transpose()?;
            return Ok(Items { items, next_cursor });
        }
        items.push(text);
    }
    Ok(Items { items, next_cursor: None })
}

fn node(stored: &StoredTuple) -> Option<Node> {
    let (object, relation) = parse_relation(&stored.object, &stored.relation).ok()?;
    Some((object.text, relation.name))
}

/// Returns the relation itself, and all relations from which it can follow.
fn needed(kind: &'static Kind, relation: &'static Relation) -> Vec<Needed> {
    let mut needed = vec![(kind, relation)];
    let mut next = 0;
    while let Some((kind, relation)) = needed.get(next).copied() {
        next += 1;
        let mut grounds: Vec<(&'static str, &'static str)> = Vec::new();
        for rule in relation.rule.grounds() {
            match rule {
                Rule::Computed(name) => grounds.push((kind.name, name)),
                Rule::SameId(other, name) => grounds.push((other, name)),
                Rule::FromObject(link, name) => {
                    let linked = kind.relation(link).into_iter().flat_map(Relation::subjects);
                    grounds.extend(linked.filter_map(|who| match who {
                        SubjectKind::Object(other) => Some((other, *name)),
                        SubjectKind::Person => Some(("owner", *name)),
                        _ => None,
                    }));
                }
                Rule::Stated => grounds.extend(relation.subjects().filter_map(|who| match who {
                    SubjectKind::Set(other, name) => Some((other, name)),
                    _ => None,
                })),
                _ => {}
            }
        }
        for (other, name) in grounds {
            let Some(other) = crate::model::kind(MODEL, other) else { continue };
            let relation = other.relation(name).filter(|_| !is_among(&needed, other, name));
            needed.extend(relation.map(|relation| (other, relation)));
        }
    }
    needed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needed_relations_are_those_it_can_follow_from() {
        let names = |of: &str, relation: &str| {
            let kind = kind(MODEL, of).unwrap();
            let needed = needed(kind, kind.relation(relation).unwrap());
            let names = needed.iter().map(|needed| format!("{}.{}", needed.0.name, needed.1.name));
            names.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names("org", "admin"), "org.admin org.owner");
        assert_eq!(
            names("calendar", "scheduler"),
            "calendar.scheduler calendar.owner owner.delegate owner.self"
        );
        assert!(names("listing", "can_view").contains("owner.connected"));
    }
}
