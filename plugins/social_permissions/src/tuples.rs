//! Reads tuples from the store, within the limits and without expired ones.

use crate::{
    evaluate::{LimitExceeded, Principal, Shape, Tuples, evaluate},
    model::{BLOCKED, DELEGATE, MODEL},
    name::{Object, parse_set},
    types::*,
};
use portolan_sdk::prelude::*;

const PAGE: u32 = 200;

pub(crate) fn id(object: &str, relation: &str, subject: &str) -> String {
    format!("{object}#{relation}@{subject}")
}

pub(crate) fn of_object(object: &str, relation: &str) -> Filter {
    field("object").eq(object).and(field("relation").eq(relation))
}

pub(crate) fn of_subject(subject: &str, relation: &str) -> Filter {
    field("subject").eq(subject).and(field("relation").eq(relation))
}

/// The stored tuples, as one call reads them.
pub(crate) struct Store {
    pub(crate) now: u64,
    /// The calling agent and its person, by the host: the stored tuples learn of a claim later.
    caller: Option<(String, Option<String>)>,
    reads_left: u32,
}

impl Store {
    pub(crate) fn new(call: &Call) -> Self {
        let caller = call.agent().map(|agent| {
            let person = agent.owner_id.as_ref().map(|owner_id| format!("owner:{owner_id}"));
            (format!("agent:{}", agent.agent_id), person)
        });
        Self { now: call.now(), caller, reads_left: MOST_READS }
    }

    /// Returns the caller, under both names.
    pub(crate) fn me(&self) -> Principal {
        let Some((agent, person)) = &self.caller else { return Principal::default() };
        let names = std::iter::once(agent).chain(person).cloned().collect();
        Principal { names, person: person.clone() }
    }

    pub(crate) fn person(&self) -> Option<&str> {
        self.caller.as_ref()?.1.as_deref()
    }

    pub(crate) fn is_me(&self, subject: &str) -> bool {
        self.me().names.iter().any(|name| name == subject)
    }

    /// Returns whether the caller governs this object: may read all its tuples, and grant
    /// relations.
    pub(crate) fn governs(&mut self, object: &Object) -> Result<bool> {
        let me = self.me();
        self.is_governed_by(object, &me)
    }

    /// Returns whether somebody governs this object.
    pub(crate) fn is_governed_by(&mut self, object: &Object, who: &Principal) -> Result<bool> {
        self.is_related(object, object.kind.governed_by, who)
    }

    /// Returns whether a block hides the caller and the object's person from each other.
    pub(crate) fn is_hidden(&mut self, object: &Object) -> Result<bool> {
        let me = self.me();
        self.is_related(object, object.kind.hidden_by, &me)
    }

    fn is_related(&mut self, object: &Object, name: Option<&str>, who: &Principal) -> Result<bool> {
        let relation = name.and_then(|name| object.kind.relation(name));
        let Some(relation) = relation else { return Ok(false) };
        Ok(evaluate(MODEL, self, object, relation, who)?.is_some())
    }

    /// Returns the tuples that match a filter, within the limit of the call and without expired
    /// ones.
    pub(crate) fn find(&mut self, filter: Filter) -> Result<Vec<StoredTuple>> {
        self.count_reads(1)?;
        let mut found = Vec::new();
        for hit in TUPLES.all(Query::new().filter(filter).limit(PAGE)) {
            let Hit { document, .. } = hit?;
            self.count_reads(1)?;
            if !document.value.is_expired(self.now) {
                found.push(document.value);
            }
        }
        Ok(found)
    }

    fn count_reads(&mut self, documents: u32) -> Result<()> {
        self.reads_left = self.reads_left.checked_sub(documents).ok_or(LimitExceeded)?;
        Ok(())
    }
}

impl From<LimitExceeded> for PermissionsError {
    fn from(_: LimitExceeded) -> Self {
        let limit = Limit::reached("relations_looked_at", MOST_READS.into());
        Self::TupleLimit { limit: Box::new(limit), next: own_grants() }
    }
}

impl Tuples for Store {
    type Error = PermissionsError;

    fn holds(&mut self, object: &str, relation: &str, subject: &str) -> Result<bool> {
        if let Some((agent, person)) = &self.caller
            && relation == DELEGATE
            && agent == subject
        {
            return Ok(person.as_deref() == Some(object));
        }
        self.count_reads(1)?;
        let stored = TUPLES.get(&id(object, relation, subject))?;
        Ok(stored.is_some_and(|stored| !stored.value.is_expired(self.now)))
    }

    fn subjects(&mut self, object: &str, relation: &str, shape: Shape) -> Result<Vec<String>> {
        let found = self.find(of_object(object, relation).and(field("shape").eq(shape)))?;
        Ok(found.into_iter().map(|stored| stored.subject).collect())
    }
}

/// The stored tuples as the caller may see them: of blocks only the caller's own, and of sets only those
/// that contain the caller or that the caller governs.
pub(crate) struct VisibleTuples<'a>(pub(crate) &'a mut Store);

impl VisibleTuples<'_> {
    fn can_see(&mut self, text: &str) -> Result<bool> {
        let Some((object, relation)) = parse_set(MODEL, text) else { return Ok(false) };
        let me = self.0.me();
        Ok(evaluate(MODEL, self.0, &object, relation, &me)?.is_some() || self.0.governs(&object)?)
    }
}

impl Tuples for VisibleTuples<'_> {
    type Error = PermissionsError;

    fn holds(&mut self, object: &str, relation: &str, subject: &str) -> Result<bool> {
        if relation == BLOCKED && self.0.person() != Some(object) {
            return Ok(false);
        }
        self.0.holds(object, relation, subject)
    }

    fn subjects(&mut self, object: &str, relation: &str, shape: Shape) -> Result<Vec<String>> {
        let mut known = Vec::new();
        for subject in self.0.subjects(object, relation, shape)? {
            if shape != Shape::Set || self.can_see(&subject)? {
                known.push(subject);
            }
        }
        Ok(known)
    }
}
