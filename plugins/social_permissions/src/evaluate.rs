//! Evaluates whether a relation holds: a pure function of the model and the tuples.

use crate::{
    model::{Model, Relation, Rule, SubjectKind},
    name::{EVERYBODY, Object, parse_set, subject_kind},
};
use portolan_sdk::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;

/// The maximum number of steps from object to object.
pub(crate) const MOST_HOPS: u32 = 8;
/// The maximum number of rules that are evaluated for one question.
const MOST_RULES: u32 = 20_000;

/// A source of tuples.
pub(crate) trait Tuples {
    type Error: From<LimitExceeded>;

    fn holds(&mut self, object: &str, relation: &str, subject: &str) -> Result<bool, Self::Error>;

    /// Returns the subjects of this shape for which the relation to the object is stated.
    fn subjects(
        &mut self,
        object: &str,
        relation: &str,
        shape: Shape,
    ) -> Result<Vec<String>, Self::Error>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Shape {
    One,
    Set,
    Everybody,
}

impl Shape {
    pub(crate) fn of(subject: &str) -> Self {
        match subject {
            EVERYBODY => Self::Everybody,
            _ if subject.contains('#') => Self::Set,
            _ => Self::One,
        }
    }
}

/// The error for a question that exceeds the limit of evaluated rules or of reads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LimitExceeded;

/// The subject of a question, under all its names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Principal {
    /// `agent:…` and `owner:…`, or a set; empty for everybody.
    pub(crate) names: Vec<String>,
    /// The person's name, which is one of `names`; `None` if there is no person.
    pub(crate) person: Option<String>,
}

impl Principal {
    /// Returns a person, without an agent.
    pub(crate) fn person(owner_id: &str) -> Self {
        let name = format!("owner:{owner_id}");
        Self { names: vec![name.clone()], person: Some(name) }
    }
}

/// One step of the derivation of a relation.
#[output(Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) object: String,
    pub(crate) relation: &'static str,
    /// The subject of the stated tuple; missing if it follows from the next step, or from the model
    /// alone.
    pub(crate) subject: Option<String>,
}

/// The steps if the relation holds. If not, `is_complete` is false if the evaluation was cut off, by
/// a cycle or by [`MOST_HOPS`].
struct Derivation {
    steps: Option<Vec<Step>>,
    is_complete: bool,
}

impl Derivation {
    fn new(holds: bool) -> Self {
        Self { steps: holds.then(Vec::new), is_complete: true }
    }

    const CUT_OFF: Self = Self { steps: None, is_complete: false };

    /// Puts a step before those that were found.
    fn prepend(mut self, step: Step) -> Self {
        if let Some(steps) = &mut self.steps {
            steps.insert(0, step);
        }
        self
    }
}

/// Returns the derivation of the subject's relation to the object; `None` if it does not hold.
pub(crate) fn evaluate<E: From<LimitExceeded>>(
    model: Model,
    tuples: &mut dyn Tuples<Error = E>,
    object: &Object,
    relation: &'static Relation,
    principal: &Principal,
) -> Result<Option<Vec<Step>>, E> {
    let (path, known) = (Vec::new(), BTreeMap::new());
    let mut evaluation = Evaluation { model, tuples, principal, path, known, evaluated: 0 };
    Ok(evaluation.relation(object, relation, 0)?.steps)
}

type Node = (String, &'static str);

struct Evaluation<'a, E> {
    model: Model,
    tuples: &'a mut dyn Tuples<Error = E>,
    principal: &'a Principal,
    /// The nodes that are being evaluated. A cycle back to one of them proves nothing.
    path: Vec<Node>,
    known: BTreeMap<Node, Option<Vec<Step>>>,
    evaluated: u32,
}

impl<E: From<LimitExceeded>> Evaluation<'_, E> {
    fn relation(
        &mut self,
        object: &Object,
        relation: &'static Relation,
        hops: u32,
    ) -> Result<Derivation, E> {
        let node = (object.text.clone(), relation.name);
        if let Some(steps) = self.known.get(&node) {
            return Ok(Derivation { steps: steps.clone(), is_complete: true });
        }
        if self.is_this_set(object, relation) {
            return Ok(Derivation::new(true));
        }
        if hops > MOST_HOPS || self.path.contains(&node) {
            return Ok(Derivation::CUT_OFF);
        }
        self.path.push(node.clone());
        let mut found = self.rule(object, relation, &relation.rule, hops)?;
        self.path.pop();
        let first = found.steps.as_ref().and_then(|steps| steps.first());
        if !first.is_some_and(|first| first.object == node.0 && first.relation == node.1) {
            found = found.prepend(step(object, relation.name, None));
        }
        if found.steps.is_some() || found.is_complete {
            self.known.insert(node, found.steps.clone());
        }
        Ok(found)
    }

    /// Returns whether the subject is this set itself: all its members have the relation.
    fn is_this_set(&self, object: &Object, relation: &Relation) -> bool {
        let is_this =
            |name: &String| name.split_once('#') == Some((object.text.as_str(), relation.name));
        self.principal.names.iter().any(is_this)
    }

    fn rule(
        &mut self,
        object: &Object,
        relation: &'static Relation,
        rule: &'static Rule,
        hops: u32,
    ) -> Result<Derivation, E> {
        self.evaluated += 1;
        if self.evaluated > MOST_RULES {
            return Err(LimitExceeded.into());
        }
        match rule {
            Rule::Stated => self.stated(object, relation, hops),
            Rule::Everybody => Ok(Derivation::new(true)),
            Rule::Itself => Ok(Derivation::new(self.principal.names.contains(&object.text))),
            Rule::Computed(name) => self.relation_by_name(object, name, hops),
            Rule::FromObject(link, name) => self.through(object, link, name, hops),
            Rule::SameId(kind, name) => match self.object(&format!("{kind}:{}", object.id())) {
                Some(same_id) => self.relation_by_name(&same_id, name, hops + 1),
                None => Ok(Derivation::new(false)),
            },
            Rule::Reverse(name) => match &self.principal.person {
                Some(person) => {
                    Ok(Derivation::new(self.tuples.holds(person, name, &object.text)?))
                }
                None => Ok(Derivation::new(false)),
            },
            Rule::Any(rules) => {
                self.first(*rules, |this, rule| this.rule(object, relation, rule, hops))
            }
            Rule::All(rules) => {
                let mut steps = Vec::new();
                for rule in *rules {
                    match self.rule(object, relation, rule, hops)? {
                        Derivation { steps: Some(more), .. } => steps.extend(more),
                        not => return Ok(not),
                    }
                }
                Ok(Derivation { steps: Some(steps), is_complete: true })
            }
            Rule::Except(rule, excluded) => {
                let found = self.rule(object, relation, rule, hops)?;
                if found.steps.is_none() {
                    return Ok(found);
                }
                let excluded = self.rule(object, relation, excluded, hops)?;
                // If the evaluation of the second rule was cut off, that rule may hold. So the
                // relation counts as not holding.
                let holds = excluded.steps.is_none() && excluded.is_complete;
                Ok(if holds {
                    found
                } else {
                    Derivation { steps: None, is_complete: excluded.is_complete }
                })
            }
        }
    }

    fn stated(
        &mut self,
        object: &Object,
        relation: &'static Relation,
        hops: u32,
    ) -> Result<Derivation, E> {
        let principal = self.principal;
        for name in principal.names.iter().map(String::as_str).chain([EVERYBODY]) {
            let kind = subject_kind(self.model, name);
            let fits = relation.subjects().any(|who| Some(who) == kind);
            if fits && self.tuples.holds(&object.text, relation.name, name)? {
                return Ok(Derivation::new(true).prepend(step(
                    object,
                    relation.name,
                    Some(name.into()),
                )));
            }
        }
        let mut sets = Vec::new();
        if relation.subjects().any(|who| matches!(who, SubjectKind::Set(..))) {
            sets = self.tuples.subjects(&object.text, relation.name, Shape::Set)?;
        }
        self.first(sets, |this, text| {
            let Some((other, inner)) = parse_set(this.model, &text) else {
                return Ok(Derivation::new(false));
            };
            let found = this.relation(&other, inner, hops + 1)?;
            Ok(found.prepend(step(object, relation.name, Some(text))))
        })
    }

    fn through(
        &mut self,
        object: &Object,
        link: &'static str,
        name: &'static str,
        hops: u32,
    ) -> Result<Derivation, E> {
        let linked = self.tuples.subjects(&object.text, link, Shape::One)?;
        self.first(linked, |this, text| {
            let Some(other) = this.object(&text) else { return Ok(Derivation::new(false)) };
            let found = this.relation_by_name(&other, name, hops + 1)?;
            Ok(found.prepend(step(object, link, Some(text))))
        })
    }

    /// Returns the first result that holds, or that none does.
    fn first<T>(
        &mut self,
        candidates: impl IntoIterator<Item = T>,
        find: impl Fn(&mut Self, T) -> Result<Derivation, E>,
    ) -> Result<Derivation, E> {
        let mut is_complete = true;
        for candidate in candidates {
            let found = find(self, candidate)?;
            if found.steps.is_some() {
                return Ok(found);
            }
            is_complete &= found.is_complete;
        }
        Ok(Derivation { steps: None, is_complete })
    }

    fn relation_by_name(
        &mut self,
        object: &Object,
        name: &str,
        hops: u32,
    ) -> Result<Derivation, E> {
        match object.kind.relation(name) {
            Some(relation) => self.relation(object, relation, hops),
            None => Ok(Derivation::new(false)),
        }
    }

    fn object(&self, text: &str) -> Option<Object> {
        Object::parse(self.model, text)
    }
}

fn step(object: &Object, relation: &'static str, subject: Option<String>) -> Step {
    Step { object: object.text.clone(), relation, subject }
}

#[cfg(test)]
mod tests;
