//! Faults that an author can overlook although every case passes: texts that agents miss, and declared paths
//! that no document has.

use portolan_catalog::{Capability, lint};
use portolan_vocabulary::Collection;
use serde_json::Value;
use std::fmt;

/// The maximum number of problems that are named; the others are only counted.
const MAX_NAMED: usize = 3;

/// The hints that a component's descriptor gives before its cases run.
#[derive(Debug)]
pub(super) struct Hints {
    missing_texts: Vec<String>,
    paths: Vec<DeclaredPath>,
}

/// A path that the descriptor declares, into the documents of a collection.
#[derive(Debug)]
struct DeclaredPath {
    collection: String,
    /// The part of the collection's declaration that has the path, such as `indexes.title`.
    at: String,
    path: String,
}

/// A sentence for the author.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Hint(String);

impl fmt::Display for Hint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Hints {
    pub(super) fn of(capability: &Capability) -> Self {
        let problems = lint(capability);
        let missing_texts = problems.iter().map(|found| format!("{} {}", found.at, found.problem));
        let collections = &capability.descriptor.collections;
        Self {
            missing_texts: missing_texts.collect(),
            paths: collections.iter().flat_map(declared_paths).collect(),
        }
    }

    /// Returns the hints after the cases have run. `documents` are all documents of the cases, each
    /// with its collection.
    pub(super) fn for_documents<'a>(
        &self,
        documents: impl Iterator<Item = (&'a str, &'a Value)> + Clone,
    ) -> Vec<Hint> {
        let is_unused = |declared: &&DeclaredPath| {
            let candidates = documents.clone().filter(|(name, _)| *name == declared.collection);
            let mut candidates = candidates.map(|(_, document)| document).peekable();
            candidates.peek().is_some()
                && !candidates.any(|document| has_path(document, &declared.path))
        };
        let paths = self.paths.iter().filter(is_unused).map(DeclaredPath::hint);
        self.missing_texts_hint().into_iter().chain(paths).collect()
    }

    fn missing_texts_hint(&self) -> Option<Hint> {
        let named: Vec<_> = self.missing_texts.iter().take(MAX_NAMED).map(String::as_str).collect();
        let more = match self.missing_texts.len().saturating_sub(MAX_NAMED) {
            0 if named.is_empty() => return None,
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(Hint(format!(
            "agents would miss texts: {}{more}; `portolan check --strict` says how to fix each",
            named.join(", ")
        )))
    }
}

impl DeclaredPath {
    fn hint(&self) -> Hint {
        let Self { collection, at, path } = self;
        Hint(format!(
            "collections.{collection}.{at}: no document of the cases has {path}; correct the path, or add a case with it"
        ))
    }
}

fn declared_paths(collection: &Collection) -> Vec<DeclaredPath> {
    let declared = |at: String, path: &String| DeclaredPath {
        collection: collection.name.clone(),
        at,
        path: path.clone(),
    };
    let indexes = collection.indexes.iter();
    let indexes = indexes.flat_map(|index| {
        index.paths.iter().map(|path| declared(format!("indexes.{}", index.name), path))
    });
    let texts = collection.text.iter().map(|path| declared("text".to_owned(), path));
    let people = collection.people.iter().flatten();
    let people = people.map(|person| declared("people".to_owned(), &person.path));
    indexes.chain(texts).chain(people).collect()
}

/// Returns whether a document has a value at a path: names joined by dots, with `[]` for the elements of a
/// list and `{}` for the entries of an object. An empty list or object counts as having the value, and so
/// does every path that begins with `$`.
fn has_path(value: &Value, path: &str) -> bool {
    if path.is_empty() || path.starts_with('$') {
        return true;
    }
    let (step, rest) = path.split_once('.').unwrap_or((path, ""));
    let (name, elements) = match (step.strip_suffix("[]"), step.strip_suffix("{}")) {
        (Some(name), _) | (_, Some(name)) => (name, true),
        _ => (step, false),
    };
    let Some(inner) = value.get(name) else { return false };
    match inner {
        inner if !elements => has_path(inner, rest),
        Value::Array(list) => list.is_empty() || list.iter().any(|element| has_path(element, rest)),
        Value::Object(map) => map.is_empty() || map.values().any(|element| has_path(element, rest)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_is_followed_through_lists_and_objects() {
        let document = json!({
            "owner": { "id": "own_1" }, "tags": ["a"], "none": [],
            "members": [{ "name": "A" }, { "owner_id": "own_2" }], "votes": { "own_3": { "up": true } },
        });
        for path in
            ["owner.id", "tags[]", "none[].x", "members[].owner_id", "votes{}", "votes{}.up", "$id"]
        {
            assert!(has_path(&document, path), "{path}");
        }
        for path in ["titel", "owner.name", "members[].id", "votes{}.down", "owner[]x", "tags.a"] {
            assert!(!has_path(&document, path), "{path}");
        }
    }

    #[test]
    fn a_path_is_named_if_there_are_documents_and_none_has_it() {
        let declared = |path: &str| DeclaredPath {
            collection: "books".to_owned(),
            at: "indexes.title".to_owned(),
            path: path.to_owned(),
        };
        let hints =
            Hints { missing_texts: Vec::new(), paths: vec![declared("title"), declared("titel")] };
        let book = json!({ "title": "Solaris" });
        let found = hints.for_documents([("books", &book), ("loans", &book)].into_iter());
        let expected = "collections.books.indexes.title: no document of the cases has titel; correct the path, or add a case with it";
        assert_eq!(found, [Hint(expected.to_owned())]);
        assert!(hints.for_documents([("loans", &book)].into_iter()).is_empty());
    }

    #[test]
    fn missing_texts_are_one_sentence() {
        let missing_texts =
            ["a", "b", "c", "d"].map(|at| format!("{at} has no description")).to_vec();
        let hints = Hints { missing_texts, paths: Vec::new() }.for_documents(std::iter::empty());
        let expected = "agents would miss texts: a has no description, b has no description, c has no description and 1 more; `portolan check --strict` says how to fix each";
        assert_eq!(hints, [Hint(expected.to_owned())]);
    }
}
