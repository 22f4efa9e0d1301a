//! The people whom the documents of a collection name.

use super::{
    declaration::Person,
    ids::person_ids,
    path::Step,
    subject::{DOCUMENT_ID, MatchEffect, Subject},
    undeclared::UndeclaredPerson,
};
use serde_json::Value;
use std::collections::BTreeSet;

/// The declared people of a collection's documents, with their paths parsed.
#[derive(Debug, Clone, Default)]
pub struct People(pub(super) Vec<Subject>);

impl People {
    /// Parses declarations. The error is a sentence about the first invalid declaration.
    pub fn new(declared: &[Person]) -> Result<Self, String> {
        declared.iter().map(Subject::new).collect::<Result<_, _>>().map(Self)
    }

    /// Returns the first person whom a document names outside the declared paths, or `None`.
    pub fn find_undeclared_person(&self, id: &str, document: &Value) -> Option<UndeclaredPerson> {
        if let Some(person) = person_ids(id).next()
            && !self.0.iter().any(|subject| subject.is_document_id)
        {
            return Some(UndeclaredPerson { id: person.to_owned(), at: DOCUMENT_ID.to_owned() });
        }
        let paths = self.0.iter().filter(|subject| !subject.is_document_id);
        let fields = self.0.iter().flat_map(|subject| &subject.fields).map(|(path, _)| path);
        let allowed = paths.map(|subject| &subject.path).chain(fields);
        find_undeclared_person_id(document, &allowed.map(Vec::as_slice).collect::<Vec<_>>(), "")
    }

    /// Returns whether the document names one of these people at a declared path.
    pub fn names_any(&self, id: &str, document: &Value, people: &[String]) -> bool {
        let is_theirs = |found: &str| people.iter().any(|person| person == found);
        self.0.iter().any(|subject| match subject.is_document_id {
            true => person_ids(id).any(is_theirs),
            false => {
                let mut copy = document.clone();
                subject.visit(&mut copy, &is_theirs, &mut |_, _| ()) > MatchEffect::NoMatch
            }
        })
    }

    /// Returns the ids of the people and agents whom the document names at the declared paths.
    pub fn person_ids(&self, id: &str, document: &Value) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for subject in &self.0 {
            match subject.is_document_id {
                true => found.extend(person_ids(id).map(str::to_owned)),
                false => collect_person_ids(document, &subject.path, &mut found),
            }
        }
        found
    }
}

fn find_undeclared_person_id(
    value: &Value,
    allowed: &[&[Step]],
    at: &str,
) -> Option<UndeclaredPerson> {
    let first = |text: &str, place: &dyn Fn() -> String| {
        let id = person_ids(text).next()?.to_owned();
        Some(UndeclaredPerson { id, at: place() })
    };
    let below = |child: &Value, name: &str, matches: &dyn Fn(&Step) -> bool| {
        let allowed = allowed.iter().filter_map(|path| {
            path.split_first().filter(|(step, _)| matches(step)).map(|(_, rest)| rest)
        });
        let at = if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
        find_undeclared_person_id(child, &allowed.collect::<Vec<_>>(), &at)
    };
    match value {
        Value::String(text) => {
            // Ids in a text with spaces are permitted: sentences do not record whom a document is about.
            let is_text = text.contains(char::is_whitespace);
            let is_allowed = is_text || allowed.iter().any(|path| path.is_empty());
            if is_allowed { None } else { first(text, &|| at.to_owned()) }
        }
        Value::Array(elements) => elements.iter().enumerate().find_map(|(place, element)| {
            below(element, &place.to_string(), &|step| *step == Step::Elements)
        }),
        Value::Object(entries) => entries.iter().find_map(|(name, child)| {
            // The keys of an object name people only if a path ends with them.
            let is_declared = allowed.iter().any(|path| **path == [Step::Entries]);
            let key = || match at {
                "" => "a key".to_owned(),
                _ => format!("a key of {at}"),
            };
            let undeclared = if is_declared { None } else { first(name, &key) };
            undeclared.or_else(|| {
                below(child, name, &|step| match step {
                    Step::Name(declared) => declared == name,
                    Step::Entries => true,
                    Step::Elements => false,
                })
            })
        }),
        _ => None,
    }
}

/// Adds the ids of people and agents at a path, in values and in keys.
pub(super) fn collect_person_ids(value: &Value, path: &[Step], found: &mut BTreeSet<String>) {
    let Some((step, rest)) = path.split_first() else {
        return found.extend(value.as_str().into_iter().flat_map(person_ids).map(str::to_owned));
    };
    match (step, value) {
        (Step::Name(name), Value::Object(entries)) => {
            if let Some(child) = entries.get(name) {
                collect_person_ids(child, rest, found);
            }
        }
        (Step::Elements, Value::Array(elements)) => {
            elements.iter().for_each(|element| collect_person_ids(element, rest, found));
        }
        (Step::Entries, Value::Object(entries)) => {
            for (key, child) in entries {
                if rest.is_empty() {
                    found.extend(person_ids(key).map(str::to_owned));
                }
                collect_person_ids(child, rest, found);
            }
        }
        _ => {}
    }
}
