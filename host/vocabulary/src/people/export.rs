//! The parts of a document in an export for people.

use super::{
    declaration::{Audience, Erasure},
    documents::{People, collect_person_ids},
    erase::clear_value,
    ids::person_ids,
    path::{Step, for_each_at},
    subject::Subject,
};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

impl People {
    /// Returns what an export for these people shows of a document, with the personal fields of other people
    /// empty. Returns `None` if the document does not name them, or is personal to others.
    pub fn export(&self, id: &str, mut document: Value, people: &[String]) -> Option<Value> {
        if !self.names_any(id, &document, people) {
            return None;
        }
        let is_withheld = |audience| {
            let parties = self.parties(id, &document, audience);
            !parties.is_empty() && !people.iter().any(|person| parties.contains(person))
        };
        if is_withheld(Audience::Personal) {
            return None;
        }
        let is_shared_by_others = is_withheld(Audience::Shared);
        self.hide_others(id, &mut document, people);
        Some(if is_shared_by_others { self.own_part(&document, people) } else { document })
    }

    /// Returns the people at the paths that declare the whole document for an audience.
    fn parties(&self, id: &str, document: &Value, audience: Audience) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for subject in self.0.iter().filter(|subject| subject.document == Some(audience)) {
            match subject.is_document_id {
                true => found.extend(person_ids(id).map(str::to_owned)),
                false => collect_person_ids(document, &subject.path, &mut found),
            }
        }
        found
    }

    /// Returns the elements of lists and objects that name these people, and the fields about them outside of
    /// lists.
    fn own_part(&self, document: &Value, people: &[String]) -> Value {
        let is_own = |found: &str| people.iter().any(|person| person == found);
        let mut kept = Vec::new();
        for subject in self.0.iter().filter(|subject| !subject.is_document_id) {
            let before = kept.len();
            find_elements(document, &subject.path, Pointer::new(), None, &is_own, &mut kept);
            if kept.len() > before && !subject.path.iter().any(Step::is_repeated) {
                let fields = subject.fields.iter();
                kept.extend(fields.filter_map(|(path, _)| path.iter().map(Step::name).collect()));
            }
        }
        select(document, &kept, &mut Pointer::new())
    }

    /// Empties the fields that these people may not know: those of the audience `Personal` about anybody
    /// else.
    fn hide_others(&self, id: &str, document: &mut Value, people: &[String]) {
        let is_other = |found: &str| !people.iter().any(|person| person == found);
        let names_others = person_ids(id).any(is_other) && person_ids(id).all(is_other);
        self.change_personal(document, names_others, &is_other, &mut clear_value);
    }

    /// Calls `change` with each field of the audience `Personal` about these people.
    pub fn change_own(
        &self,
        id: &str,
        document: &mut Value,
        people: &[String],
        change: &mut dyn FnMut(&mut Value),
    ) {
        let is_own = |found: &str| people.iter().any(|person| person == found);
        self.change_personal(document, person_ids(id).any(is_own), &is_own, change);
    }

    /// Calls `change` with each field of the audience `Personal` about matching people. `is_id_matching`:
    /// whether the document's id is one of them.
    fn change_personal(
        &self,
        document: &mut Value,
        is_id_matching: bool,
        matches: &dyn Fn(&str) -> bool,
        change: &mut dyn FnMut(&mut Value),
    ) {
        let mut change = |value: &mut Value, audience| {
            if audience == Audience::Personal {
                change(value);
            }
        };
        for subject in &self.0 {
            if !subject.is_document_id {
                // Nothing is removed here, whatever an erasure would do.
                let subject = Subject { erasure: Erasure::Redact, ..subject.clone() };
                subject.visit(document, matches, &mut change);
            } else if is_id_matching {
                for (path, audience) in &subject.fields {
                    for_each_at(document, path, &mut |value| change(value, *audience));
                }
            }
        }
    }
}

/// The names and places that lead to a value, as in a JSON pointer.
type Pointer = Vec<String>;

/// Adds where matching people are named at a path: the innermost element that contains the id, or without one
/// the value itself.
fn find_elements(
    value: &Value,
    path: &[Step],
    at: Pointer,
    element: Option<&Pointer>,
    matches: &dyn Fn(&str) -> bool,
    found: &mut Vec<Pointer>,
) {
    let below = |name: &str| at.iter().cloned().chain([name.to_owned()]).collect::<Pointer>();
    let Some((step, rest)) = path.split_first() else {
        if value.as_str().is_some_and(|text| person_ids(text).any(matches)) {
            found.push(element.unwrap_or(&at).clone());
        }
        return;
    };
    match (step, value) {
        (Step::Name(name), Value::Object(entries)) => {
            if let Some(child) = entries.get(name) {
                find_elements(child, rest, below(name), element, matches, found);
            }
        }
        (Step::Elements, Value::Array(elements)) => {
            for (place, child) in elements.iter().enumerate() {
                let inner = below(&place.to_string());
                find_elements(child, rest, inner.clone(), Some(&inner), matches, found);
            }
        }
        (Step::Entries, Value::Object(entries)) => {
            for (key, child) in entries {
                let inner = below(key);
                if rest.is_empty() && person_ids(key).any(matches) {
                    found.push(inner);
                } else {
                    find_elements(child, rest, inner.clone(), Some(&inner), matches, found);
                }
            }
        }
        _ => {}
    }
}

/// Returns a copy with the values at these pointers and what leads to them.
fn select(value: &Value, kept: &[Pointer], at: &mut Pointer) -> Value {
    if kept.contains(at) {
        return value.clone();
    }
    let mut child = |name: String, value: &Value| {
        at.push(name);
        let is_kept = kept.iter().any(|pointer| pointer.starts_with(at));
        let selected = is_kept.then(|| select(value, kept, at));
        at.pop();
        selected
    };
    match value {
        Value::Array(elements) => {
            let elements = elements.iter().enumerate();
            elements.filter_map(|(place, value)| child(place.to_string(), value)).collect()
        }
        Value::Object(entries) => {
            let entries = entries.iter();
            let selected = entries
                .filter_map(|(name, value)| Some((name.clone(), child(name.clone(), value)?)));
            Value::Object(selected.collect::<Map<_, _>>())
        }
        _ => Value::Null,
    }
}
