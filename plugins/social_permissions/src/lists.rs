//! What a subject has a relation to, and who has a relation to an object: found by the model, and
//! judged one by one.

use crate::{
    ask::{governed, known, stranger},
    cursor::paged,
    judge::{Shape, Tuples as _, judge},
    model::{Kind, MODEL, Relation, Rule, Told, Who, kind},
    name::{EVERYBODY, Object, set},
    tuples::{Known, Store},
    types::PermissionsError,
};
use common::page::{Items, PageInput};
use portolan_sdk::documents::field;
use std::collections::BTreeSet;

type Node = (String, &'static str);

/// Objects of a type to which the caller has the relation, but for what everybody has.
pub(crate) fn objects(
    store: &mut Store,
    object_type: &str,
    relation: &str,
    page: &PageInput,
) -> Result<Items<String>, PermissionsError> {
    let wanted = kind(MODEL, object_type).ok_or(PermissionsError::RelationUnknown)?;
    let relation = wanted.relation(relation).ok_or(PermissionsError::RelationUnknown)?;
    if relation.told == Told::Governor {
        return Err(PermissionsError::RelationUnknown);
    }
    let me = store.me();
    let needed = needed(wanted, relation);
    let mut seen: BTreeSet<Node> = BTreeSet::new();
    let mut open: Vec<Node> = Vec::new();
    for name in &me.names {
        for (kind, relation) in &needed {
            let itself = relation.rule.grounds().iter().any(|rule| matches!(rule, Rule::Itself));
            if itself && name.split_once(':').is_some_and(|(it, _)| it == kind.name) {
                open.push((name.clone(), relation.name));
            }
        }
        let stated = store.find(field("subject").eq(name))?;
        open.extend(stated.into_iter().filter_map(|kept| node(&kept.object, &kept.relation)));
    }
    while let Some((text, name)) = open.pop() {
        let Some(object) = Object::parse(MODEL, &text) else { continue };
        let is_needed =
            |kind: &Kind| needed.iter().any(|it| it.0.name == kind.name && it.1.name == name);
        if !is_needed(object.kind) || !seen.insert((text.clone(), name)) {
            continue;
        }
        for (other, relation) in &needed {
            for rule in relation.rule.grounds() {
                match rule {
                    Rule::Of(of) if *of == name && other.name == object.kind.name => {
                        open.push((text.clone(), relation.name));
                    }
                    Rule::Twin(twin, of) if *of == name && *twin == object.kind.name => {
                        open.push((format!("{}:{}", other.name, object.id()), relation.name));
                    }
                    Rule::Through(way, of) if *of == name => {
                        let leads = field("subject").eq(&text).and(field("relation").eq(way));
                        for kept in store.find(leads)? {
                            let of_type =
                                kept.object.split_once(':').is_some_and(|(it, _)| it == other.name);
                            open.extend(of_type.then_some((kept.object, relation.name)));
                        }
                    }
                    Rule::Stated
                        if relation
                            .subjects()
                            .any(|who| who == Who::Set(object.kind.name, name)) =>
                    {
                        let set = format!("{text}#{name}");
                        let stated =
                            field("subject").eq(set).and(field("relation").eq(relation.name));
                        for kept in store.find(stated)? {
                            open.extend(node(&kept.object, &kept.relation));
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    let found = seen.into_iter().filter(|(object, name)| {
        *name == relation.name && object.split_once(':').is_some_and(|(it, _)| it == wanted.name)
    });
    let found: BTreeSet<String> = found.map(|(object, _)| object).collect();
    let query = format!("objects {} {} {}", me.names.join(" "), wanted.name, relation.name);
    paged(found, page, &query, |text| {
        let Some(object) = Object::parse(MODEL, text) else { return Ok(false) };
        if relation.told == Told::Named && store.is_apart(&object)? {
            return Ok(false);
        }
        Ok(judge(MODEL, store, &object, relation, &me)?.is_some())
    })
}

/// Who has the relation to an object that the caller governs: people, agents, everybody, and the sets
/// of what others govern.
pub(crate) fn subjects(
    store: &mut Store,
    object: &str,
    relation: &str,
    page: &PageInput,
) -> Result<Items<String>, PermissionsError> {
    let (object, relation) = known(object, relation)?;
    governed(store, &object)?;
    let mut found = BTreeSet::new();
    let mut seen: BTreeSet<Node> = BTreeSet::new();
    let mut open = vec![(object.text.clone(), relation.name)];
    while let Some((text, name)) = open.pop() {
        let Some((at, stated)) = Object::parse(MODEL, &text)
            .and_then(|at| at.kind.relation(name).map(|relation| (at, relation)))
        else {
            continue;
        };
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
                Rule::Of(of) => open.push((text.clone(), of)),
                Rule::Twin(kind, of) => open.push((format!("{kind}:{}", at.id()), of)),
                Rule::Through(way, of) => {
                    let leads = store.subjects(&text, way, Shape::One)?;
                    open.extend(leads.into_iter().map(|other| (other, *of)));
                }
                Rule::Stated => {
                    let of_it = field("object").eq(&text).and(field("relation").eq(name));
                    for kept in store.find(of_it)? {
                        match set(MODEL, &kept.subject) {
                            Some((other, inner)) => open.push((other.text, inner.name)),
                            None => _ = found.insert(kept.subject),
                        }
                    }
                }
                Rule::Reverse(_) | Rule::Any(_) | Rule::All(_) | Rule::But(..) => {}
            }
        }
    }
    let me = store.me();
    let query = format!("subjects {} {} {}", me.names.join(" "), object.text, relation.name);
    paged(found, page, &query, |subject| {
        if subject.contains('#') {
            return Ok(true);
        }
        let who = stranger(subject)?;
        Ok(judge(MODEL, &mut Known(store), &object, relation, &who)?.is_some())
    })
}

fn node(object: &str, relation: &str) -> Option<Node> {
    let parsed = Object::parse(MODEL, object)?;
    Some((parsed.text, parsed.kind.relation(relation)?.name))
}

/// The relations that can make this one hold, and itself.
fn needed(
    kind: &'static Kind,
    relation: &'static Relation,
) -> Vec<(&'static Kind, &'static Relation)> {
    let mut needed = vec![(kind, relation)];
    let mut next = 0;
    while let Some((kind, relation)) = needed.get(next).copied() {
        next += 1;
        let mut grounds: Vec<(&'static str, &'static str)> = Vec::new();
        for rule in relation.rule.grounds() {
            match rule {
                Rule::Of(name) => grounds.push((kind.name, name)),
                Rule::Twin(other, name) => grounds.push((other, name)),
                Rule::Through(way, name) => {
                    let leads = kind.relation(way).into_iter().flat_map(Relation::subjects);
                    grounds.extend(leads.filter_map(|who| match who {
                        Who::Object(other) => Some((other, *name)),
                        Who::Person => Some(("owner", *name)),
                        _ => None,
                    }));
                }
                Rule::Stated => grounds.extend(relation.subjects().filter_map(|who| match who {
                    Who::Set(other, name) => Some((other, name)),
                    _ => None,
                })),
                _ => {}
            }
        }
        for (other, name) in grounds {
            let Some(other) = crate::model::kind(MODEL, other) else { continue };
            let Some(relation) = other.relation(name) else { continue };
            if !needed.iter().any(|it| it.0.name == other.name && it.1.name == name) {
                needed.push((other, relation));
            }
        }
    }
    needed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_for_a_relation_is_what_it_can_follow_from() {
        let names = |of: &str, relation: &str| {
            let kind = kind(MODEL, of).unwrap();
            let needed = needed(kind, kind.relation(relation).unwrap());
            needed
                .iter()
                .map(|it| format!("{}.{}", it.0.name, it.1.name))
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(names("org", "admin"), "org.admin org.owner");
        assert_eq!(
            names("calendar", "scheduler"),
            "calendar.scheduler calendar.owner owner.delegate owner.self"
        );
        assert!(names("listing", "can_view").contains("owner.connected"));
    }
}
