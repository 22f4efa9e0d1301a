//! Evaluates whether a relation holds: a pure function of the model and the tuples.

use crate::{
    model::{Model, Relation, Rule, Who},
    name::{EVERYBODY, Object, set, sort},
};
use portolan_sdk::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;

/// The maximum number of steps from object to object.
pub(crate) const MOST_HOPS: u32 = 8;
/// The maximum number of rules that are evaluated for one question.
const MOST_TRIES: u32 = 20_000;

/// A source of tuples.
pub(crate) trait Tuples {
    type Error: From<TooManyTries>;

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
pub(crate) struct TooManyTries;

/// The subject of a question, under all its names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Principal {
    /// `agent:…` and `owner:…`, or a set; empty for everybody.
    pub(crate) names: Vec<String>,
    /// The person's name, which is one of `names`; `None` if there is no person.
    pub(crate) person: Option<String>,
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

/// The steps if the relation holds. If not, `whole` is false if the evaluation was cut off, by a
/// cycle or by [`MOST_HOPS`].
struct Found {
    steps: Option<Vec<Step>>,
    whole: bool,
}

impl Found {
    fn new(holds: bool) -> Self {
        Self { steps: holds.then(Vec::new), whole: true }
    }

    const CUT: Self = Self { steps: None, whole: false };

    /// Puts a step before those that were found.
    fn after(mut self, step: Step) -> Self {
        if let Some(steps) = &mut self.steps {
            steps.insert(0, step);
        }
        self
    }
}

/// Returns the derivation of the subject's relation to the object; `None` if it does not hold.
pub(crate) fn judge<E: From<TooManyTries>>(
    model: Model,
    tuples: &mut dyn Tuples<Error = E>,
    object: &Object,
    relation: &'static Relation,
    principal: &Principal,
) -> Result<Option<Vec<Step>>, E> {
    let (path, known) = (Vec::new(), BTreeMap::new());
    let mut judgement = Judgement { model, tuples, principal, path, known, tries: 0 };
    Ok(judgement.relation(object, relation, 0)?.steps)
}

type Node = (String, &'static str);

struct Judgement<'a, E> {
    model: Model,
    tuples: &'a mut dyn Tuples<Error = E>,
    principal: &'a Principal,
    /// The nodes that are being evaluated. A cycle back to one of them proves nothing.
    path: Vec<Node>,
    known: BTreeMap<Node, Option<Vec<Step>>>,
    tries: u32,
}

impl<E: From<TooManyTries>> Judgement<'_, E> {
    fn relation(
        &mut self,
        object: &Object,
        relation: &'static Relation,
        hops: u32,
    ) -> Result<Found, E> {
        let node = (object.text.clone(), relation.name);
        if let Some(steps) = self.known.get(&node) {
            return Ok(Found { steps: steps.clone(), whole: true });
        }
        if self.is_this_set(object, relation) {
            return Ok(Found::new(true));
        }
        if hops > MOST_HOPS || self.path.contains(&node) {
            return Ok(Found::CUT);
        }
        self.path.push(node.clone());
        let mut found = self.rule(object, relation, &relation.rule, hops)?;
        self.path.pop();
        let first = found.steps.as_ref().and_then(|steps| steps.first());
        if !first.is_some_and(|first| first.object == node.0 && first.relation == node.1) {
            found = found.after(step(object, relation.name, None));
        }
        if found.steps.is_some() || found.whole {
            self.known.insert(node, found.steps.clone());
        }
        Ok(found)
    }

    /// Returns whether the subject is this set itself: all its members have the relation.
    fn is_this_set(&self, object: &Object, relation: &Relation) -> bool {
        let is_it =
            |name: &String| name.split_once('#') == Some((object.text.as_str(), relation.name));
        self.principal.names.iter().any(is_it)
    }

    fn rule(
        &mut self,
        object: &Object,
        relation: &'static Relation,
        rule: &'static Rule,
        hops: u32,
    ) -> Result<Found, E> {
        self.tries += 1;
        if self.tries > MOST_TRIES {
            return Err(TooManyTries.into());
        }
        match rule {
            Rule::Stated => self.stated(object, relation, hops),
            Rule::Everybody => Ok(Found::new(true)),
            Rule::Itself => Ok(Found::new(self.principal.names.contains(&object.text))),
            Rule::Of(name) => self.named(object, name, hops),
            Rule::Through(way, name) => self.through(object, way, name, hops),
            Rule::Twin(kind, name) => match self.object(&format!("{kind}:{}", object.id())) {
                Some(twin) => self.named(&twin, name, hops + 1),
                None => Ok(Found::new(false)),
            },
            Rule::Reverse(name) => match &self.principal.person {
                Some(person) => Ok(Found::new(self.tuples.holds(person, name, &object.text)?)),
                None => Ok(Found::new(false)),
            },
            Rule::Any(rules) => {
                self.first(*rules, |this, rule| this.rule(object, relation, rule, hops))
            }
            Rule::All(rules) => {
                let mut steps = Vec::new();
                for rule in *rules {
                    match self.rule(object, relation, rule, hops)? {
                        Found { steps: Some(more), .. } => steps.extend(more),
                        not => return Ok(not),
                    }
                }
                Ok(Found { steps: Some(steps), whole: true })
            }
            Rule::But(rule, excluded) => {
                let found = self.rule(object, relation, rule, hops)?;
                if found.steps.is_none() {
                    return Ok(found);
                }
                let excluded = self.rule(object, relation, excluded, hops)?;
                // If the evaluation of the second rule was cut off, that rule may hold. So the
                // relation counts as not holding.
                let holds = excluded.steps.is_none() && excluded.whole;
                Ok(if holds { found } else { Found { steps: None, whole: excluded.whole } })
            }
        }
    }

    fn stated(
        &mut self,
        object: &Object,
        relation: &'static Relation,
        hops: u32,
    ) -> Result<Found, E> {
        let principal = self.principal;
        for name in principal.names.iter().map(String::as_str).chain([EVERYBODY]) {
            let sort = sort(self.model, name);
            let fits = relation.subjects().any(|who| Some(who) == sort);
            if fits && self.tuples.holds(&object.text, relation.name, name)? {
                return Ok(Found::new(true).after(step(object, relation.name, Some(name.into()))));
            }
        }
        let mut sets = Vec::new();
        if relation.subjects().any(|who| matches!(who, Who::Set(..))) {
            sets = self.tuples.subjects(&object.text, relation.name, Shape::Set)?;
        }
        self.first(sets, |this, text| {
            let Some((other, inner)) = set(this.model, &text) else { return Ok(Found::new(false)) };
            let found = this.relation(&other, inner, hops + 1)?;
            Ok(found.after(step(object, relation.name, Some(text))))
        })
    }

    fn through(
        &mut self,
        object: &Object,
        way: &'static str,
        name: &'static str,
        hops: u32,
    ) -> Result<Found, E> {
        let leads = self.tuples.subjects(&object.text, way, Shape::One)?;
        self.first(leads, |this, text| {
            let Some(other) = this.object(&text) else { return Ok(Found::new(false)) };
            let found = this.named(&other, name, hops + 1)?;
            Ok(found.after(step(object, way, Some(text))))
        })
    }

    /// Returns the first result that holds, or that none does.
    fn first<T>(
        &mut self,
        of: impl IntoIterator<Item = T>,
        find: impl Fn(&mut Self, T) -> Result<Found, E>,
    ) -> Result<Found, E> {
        let mut whole = true;
        for one in of {
            let found = find(self, one)?;
            if found.steps.is_some() {
                return Ok(found);
            }
            whole &= found.whole;
        }
        Ok(Found { steps: None, whole })
    }

    fn named(&mut self, object: &Object, name: &str, hops: u32) -> Result<Found, E> {
        match object.kind.relation(name) {
            Some(relation) => self.relation(object, relation, hops),
            None => Ok(Found::new(false)),
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
