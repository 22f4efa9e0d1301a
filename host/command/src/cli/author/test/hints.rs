//! What an author can overlook although every case passes: texts that agents miss, and declared paths that no
//! document has.

use portolan_catalog::{Capability, lint};
use portolan_vocabulary::Collection;
use serde_json::Value;
use std::fmt;

/// The maximum number of problems that are named; the others are only counted.
const NAMED: usize = 3;

/// What is known about a component from its descriptor, before its cases run.
#[derive(Debug)]
pub(super) struct Hints {
    lacking: Vec<String>,
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
        let lacking = problems.iter().map(|found| format!("{} {}", found.at, found.problem));
        let collections = &capability.descriptor.collections;
        Self {
            lacking: lacking.collect(),
            paths: collections.iter().flat_map(declared_paths).collect(),
        }
    }

    /// Returns the hints after the cases have run. `documents` are all documents of the cases, each
    /// with its collection.
    pub(super) fn after<'a>(
        &self,
        documents: impl Iterator<Item = (&'a str, &'a Value)> + Clone,
    ) -> Vec<Hint> {
        let without = |declared: &&DeclaredPath| {
            let own = documents.clone().filter(|(name, _)| *name == declared.collection);
            let mut own = own.map(|(_, document)| document).peekable();
            own.peek().is_some() && !own.any(|document| has_path(document, &declared.path))
        };
        let paths = self.paths.iter().filter(without).map(DeclaredPath::hint);
        self.texts().into_iter().chain(paths).collect()
    }

    fn texts(&self) -> Option<Hint> {
        let named: Vec<_> = self.lacking.iter().take(NAMED).map(String::as_str).collect();
        let more = match self.lacking.len().saturating_sub(NAMED) {
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
    let of = |at: String, path: &String| DeclaredPath {
        collection: collection.name.clone(),
        at,
        path: path.clone(),
    };
    let indexes = collection.indexes.iter();
    let indexes = indexes.flat_map(|index| {
        index.paths.iter().map(|path| of(format!("indexes.{}", index.name), path))
    });
    let texts = collection.text.iter().map(|path| of("text".to_owned(), path));
    let people = collection.people.iter().flatten();
    let people = people.map(|person| of("people".to_owned(), &person.path));
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
        Value::Array(list) => list.is_empty() || list.iter().any(|each| has_path(each, rest)),
        Value::Object(map) => map.is_empty() || map.values().any(|each| has_path(each, rest)),
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
            Hints { lacking: Vec::new(), paths: vec![declared("title"), declared("titel")] };
        let book = json!({ "title": "Solaris" });
        let found = hints.after([("books", &book), ("loans", &book)].into_iter());
        let expected = "collections.books.indexes.title: no document of the cases has titel; correct the path, or add a case with it";
        assert_eq!(found, [Hint(expected.to_owned())]);
        assert!(hints.after([("loans", &book)].into_iter()).is_empty());
    }

    #[test]
    fn missing_texts_are_one_sentence() {
        let lacking = ["a", "b", "c", "d"].map(|at| format!("{at} has no description")).to_vec();
        let found = Hints { lacking, paths: Vec::new() }.after(std::iter::empty());
        let expected = "agents would miss texts: a has no description, b has no description, c has no description and 1 more; `portolan check --strict` says how to fix each";
        assert_eq!(found, [Hint(expected.to_owned())]);
    }
}
