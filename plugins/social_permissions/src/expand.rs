//! The derivation of a relation, as a tree.

use crate::{
    check::{ensure_governs, parse_relation},
    evaluate::{Shape, Tuples as _},
    model::{BLOCKED, MODEL, Relation, Rule},
    name::{Object, parse_set},
    tuples::{Store, of_object},
    types::*,
};

/// Returns the derivation tree of a relation to an object that the caller governs.
pub(crate) fn tree(store: &mut Store, object: &str, relation: &str) -> Result<Vec<Branch>> {
    const MOST_BRANCHES: usize = 200;
    const MOST_SUBJECTS: usize = 100;
    let (object, relation) = parse_relation(object, relation)?;
    ensure_governs(store, &object)?;
    let mut branches = Vec::new();
    let mut pending = vec![(0, Part::Relation(object, relation))];
    while let Some((depth, part)) = pending.pop() {
        if branches.len() == MOST_BRANCHES {
            break;
        }
        let mut branch = |operation, object: &Object, relation: &Relation, subjects| {
            let (object, relation) = (object.text.clone(), relation.name.to_owned());
            branches.push(Branch { depth, operation, object, relation, subjects });
        };
        match part {
            Part::Relation(at, relation) => {
                let own = relation.name != BLOCKED || store.person() == Some(at.text.as_str());
                if !own || !store.governs(&at)? {
                    branch("unknown", &at, relation, Vec::new());
                    continue;
                }
                branch("relation", &at, relation, Vec::new());
                pending.push((depth + 1, Part::Rule(at, relation, &relation.rule)));
            }
            Part::Rule(at, relation, rule) => match rule {
                Rule::Everybody => branch("everybody", &at, relation, Vec::new()),
                Rule::Itself => branch("itself", &at, relation, Vec::new()),
                Rule::Reverse(_) => branch("unknown", &at, relation, Vec::new()),
                Rule::Stated => {
                    let found = store.find(of_object(&at.text, relation.name))?.into_iter();
                    let subjects: Vec<String> =
                        found.map(|stored| stored.subject).take(MOST_SUBJECTS).collect();
                    let sets =
                        subjects.iter().rev().filter_map(|subject| parse_set(MODEL, subject));
                    let parts = sets.map(|(other, inner)| Part::Relation(other, inner));
                    pending.extend(parts.map(|part| (depth + 1, part)));
                    branch("stated", &at, relation, subjects);
                }
                Rule::Computed(name) => {
                    pending.extend(part_of(at, name).map(|part| (depth, part)));
                }
                Rule::SameId(kind, name) => {
                    let same_id = Object::parse(MODEL, &format!("{kind}:{}", at.id()));
                    let part = same_id.and_then(|same_id| part_of(same_id, name));
                    pending.extend(part.map(|part| (depth, part)));
                }
                Rule::FromObject(link, name) => {
                    for other in store.subjects(&at.text, link, Shape::One)?.iter().rev() {
                        let other = Object::parse(MODEL, other);
                        let part = other.and_then(|other| part_of(other, name));
                        pending.extend(part.map(|part| (depth, part)));
                    }
                }
                Rule::Any(rules) | Rule::All(rules) => {
                    let operation = if matches!(rule, Rule::Any(_)) { "any" } else { "all" };
                    branch(operation, &at, relation, Vec::new());
                    let parts = rules.iter().rev();
                    let parts = parts.map(|rule| Part::Rule(at.clone(), relation, rule));
                    pending.extend(parts.map(|part| (depth + 1, part)));
                }
                Rule::Except(rule, excluded) => {
                    branch("but_not", &at, relation, Vec::new());
                    pending.push((depth + 1, Part::Rule(at.clone(), relation, excluded)));
                    pending.push((depth + 1, Part::Rule(at, relation, rule)));
                }
            },
        }
    }
    Ok(branches)
}

enum Part {
    Relation(Object, &'static Relation),
    Rule(Object, &'static Relation, &'static Rule),
}

fn part_of(object: Object, name: &str) -> Option<Part> {
    let relation = object.kind.relation(name)?;
    Some(Part::Relation(object, relation))
}
