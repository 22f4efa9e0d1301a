//! The documents of a world. They follow the rules of the host.

use super::state::State;
use crate::{
    contract::{
        HostError, description,
        documents::{Counted, Document, Expectation, Hit, Page, Query},
    },
    imports,
    index::{check, invalid, shape},
};
use portolan_query::{Entry, MAX_COUNTED_PATHS, Shape, cursor, is_counted, most_frequent};
use serde_json::Value;
use std::collections::BTreeMap;

const ID_BYTES: usize = 128;
const DOCUMENT_BYTES: usize = 256 << 10;

/// The collections of a world, by name.
pub(super) type Collections = BTreeMap<String, BTreeMap<String, Stored>>;

/// A document, or the tombstone of a deleted one, which keeps the revision.
#[derive(Debug, Clone, Default)]
pub(super) struct Stored {
    revision: u64,
    content: Option<Content>,
}

#[derive(Debug, Clone)]
struct Content {
    body: String,
    entry: Entry,
    created_at: u64,
    updated_at: u64,
}

impl Stored {
    fn document(&self, id: &str) -> Option<Document> {
        let content = self.content.as_ref()?;
        Some(Document {
            id: id.to_owned(),
            revision: self.revision,
            body: content.body.clone(),
            created_at: content.created_at,
            updated_at: content.updated_at,
        })
    }
}

impl imports::Documents for State {
    /// Adds a collection when the tested code uses it. Does nothing if the world has the
    /// capability's descriptor, which declares the collections.
    fn declare(&mut self, declaration: description::Collection) {
        if self.descriptor.is_none() {
            self.learn(&declaration);
        }
    }

    fn get(&mut self, collection: &str, id: &str) -> Result<Option<Document>, HostError> {
        self.shape(collection)?;
        let stored = self.effects.collections.get(collection).and_then(|found| found.get(id));
        Ok(stored.and_then(|stored| stored.document(id)))
    }

    fn get_many(
        &mut self,
        collection: &str,
        ids: &[String],
    ) -> Result<Vec<Option<Document>>, HostError> {
        ids.iter().map(|id| imports::Documents::get(self, collection, id)).collect()
    }

    fn find(&mut self, collection: &str, query: &Query) -> Result<Page, HostError> {
        let checked = check(self.shape(collection)?, query)?;
        let (key, digest) = (self.keys.cursor, checked.digest(collection));
        let after = match &query.cursor {
            Some(text) => Some(
                cursor::open(&[key], &digest, text, checked.order.len())
                    .map_err(|_| HostError::BadCursor)?,
            ),
            None => None,
        };
        let mut found = Vec::new();
        for (id, document, entry) in self.present(collection) {
            let Some(facts) = checked.matches(entry) else { continue };
            let place = checked.place(entry, facts, id.to_owned());
            let is_earlier = |after| place.compare(after, &checked.order).is_le();
            if !after.as_ref().is_some_and(is_earlier) {
                let relevance = query.text.as_ref().map(|_| 0.0);
                let distance_m = facts.distance_m();
                found.push((place, Hit { document, relevance, distance_m }));
            }
        }
        found.sort_by(|(one, _), (other, _)| one.compare(other, &checked.order));
        let limit = query.limit as usize;
        let more = found.len() > limit;
        found.truncate(limit);
        let last = found.last().filter(|_| more);
        let next = last.map(|(place, _)| cursor::seal(&key, &digest, place));
        Ok(Page { hits: found.into_iter().map(|(_, hit)| hit).collect(), next })
    }

    fn count(&mut self, collection: &str, filter: Option<&str>) -> Result<u64, HostError> {
        let shape = self.shape(collection)?;
        let filter = filter
            .map(|filter| portolan_query::Filter::parse(filter, shape.paths()))
            .transpose()
            .map_err(|error| invalid(&error))?;
        let fits = |entry: &Entry| {
            filter.as_ref().is_none_or(|filter| filter.matches(shape.paths(), &entry.keys))
        };
        Ok(self.present(collection).filter(|(_, _, entry)| fits(entry)).count() as u64)
    }

    fn count_by(
        &mut self,
        collection: &str,
        query: &Query,
        paths: &[String],
    ) -> Result<Vec<Vec<Counted>>, HostError> {
        let shape = self.shape(collection)?;
        let checked = check(shape, query)?;
        if paths.len() > MAX_COUNTED_PATHS {
            let text = format!("at most {MAX_COUNTED_PATHS} paths can be counted at once");
            return Err(HostError::Invalid(text));
        }
        let entries: Vec<_> = self.present(collection).map(|(_, _, entry)| entry).collect();
        let matching: Vec<_> =
            entries.into_iter().filter(|entry| checked.matches(entry).is_some()).collect();
        let counted = |path: &String| {
            let place = shape.paths().iter().position(|declared| declared.as_str() == path);
            let undeclared = || format!("there is no index over {path}: declare one");
            let place = place.ok_or_else(|| HostError::Invalid(undeclared()))?;
            let mut counts = BTreeMap::<String, u64>::new();
            let keys = matching.iter().filter_map(|entry| entry.keys.get(place)).flatten();
            for key in keys.filter(|key| is_counted(key)) {
                *counts.entry(key.clone()).or_default() += 1;
            }
            let counts = most_frequent(counts).into_iter();
            let counted = counts
                .map(|counted| Counted { value: counted.value.to_string(), count: counted.count });
            Ok(counted.collect())
        };
        paths.iter().map(counted).collect()
    }

    fn put(
        &mut self,
        collection: &str,
        id: &str,
        body: &str,
        expect: Expectation,
    ) -> Result<u64, HostError> {
        self.ensure_writable()?;
        self.write(collection, id, body, expect)
    }

    fn delete(&mut self, collection: &str, id: &str, expect: Expectation) -> Result<(), HostError> {
        self.ensure_writable()?;
        self.shape(collection)?;
        let stored = self.stored(collection, id);
        expected(stored, expect)?;
        if stored.content.take().is_some() {
            stored.revision += 1;
        }
        Ok(())
    }

    #[expect(clippy::panic, reason = "a test reports a mistake by a panic")]
    fn report_unreadable(
        &mut self,
        collection: &str,
        id: &str,
        _revision: u64,
        reason: &str,
    ) -> Result<(), HostError> {
        panic!("the document {id} of {collection} cannot be read: {reason}");
    }
}

impl State {
    /// Adds a collection with the shape of its index.
    #[expect(clippy::panic, reason = "a test reports a mistake by a panic")]
    pub(super) fn learn(&mut self, declaration: &description::Collection) {
        let name = &declaration.name;
        let shape =
            shape(declaration).unwrap_or_else(|fault| panic!("the collection {name}: {fault}"));
        self.shapes.insert(name.clone(), shape);
    }

    /// Writes a document, also outside of a call.
    pub(super) fn write(
        &mut self,
        collection: &str,
        id: &str,
        body: &str,
        expect: Expectation,
    ) -> Result<u64, HostError> {
        let now = self.now;
        let shape = self.shape(collection)?;
        if id.is_empty() || id.len() > ID_BYTES || id.contains(char::is_control) {
            let text = format!(
                "a document's id must have 1 to {ID_BYTES} bytes and no control characters"
            );
            return Err(HostError::Invalid(text));
        }
        if body.len() > DOCUMENT_BYTES {
            let text = format!("the document {id} is larger than {DOCUMENT_BYTES} bytes");
            return Err(HostError::Limit(text));
        }
        let value = match serde_json::from_str(body) {
            Ok(value @ Value::Object(_)) => value,
            _ => {
                return Err(HostError::Invalid(format!("the body of {id} is not a JSON object")));
            }
        };
        let entry = shape.entry(&value).map_err(|error| invalid(&error))?;
        let holder = self.holder(collection, id, &entry);
        let stored = self.stored(collection, id);
        expected(stored, expect)?;
        if let Some(holder) = holder {
            return Err(HostError::Duplicate(holder));
        }
        let created_at = stored.content.as_ref().map_or(now, |content| content.created_at);
        stored.revision += 1;
        stored.content =
            Some(Content { body: body.to_owned(), entry, created_at, updated_at: now });
        Ok(stored.revision)
    }

    /// Returns the documents of a collection, ordered by id.
    pub(super) fn all(&self, collection: &str) -> Vec<Document> {
        self.present(collection).map(|(_, document, _)| document).collect()
    }

    fn shape(&self, collection: &str) -> Result<&Shape, HostError> {
        let undeclared = || format!("the collection {collection} is not declared: declare it");
        self.shapes.get(collection).ok_or_else(|| HostError::Invalid(undeclared()))
    }

    fn stored(&mut self, collection: &str, id: &str) -> &mut Stored {
        let collection = self.effects.collections.entry(collection.to_owned()).or_default();
        collection.entry(id.to_owned()).or_default()
    }

    /// Returns the documents of a collection that exist, ordered by id.
    fn present(&self, collection: &str) -> impl Iterator<Item = (&str, Document, &Entry)> {
        let stored = self.effects.collections.get(collection).into_iter().flatten();
        stored.filter_map(|(id, stored)| {
            Some((id.as_str(), stored.document(id)?, &stored.content.as_ref()?.entry))
        })
    }

    /// Returns the id of another document that has a unique key of `entry`, the entry of the
    /// document `id`.
    fn holder(&self, collection: &str, id: &str, entry: &Entry) -> Option<String> {
        let shares = |other: &Entry| {
            let mut indexes = entry.uniques.iter().zip(&other.uniques);
            indexes.any(|(own, others)| own.iter().any(|value| others.contains(value)))
        };
        let mut others = self.present(collection).filter(|(other, _, _)| *other != id);
        others.find(|(_, _, other)| shares(other)).map(|(id, _, _)| id.to_owned())
    }
}

fn expected(stored: &Stored, expect: Expectation) -> Result<(), HostError> {
    let holds = match expect {
        Expectation::Any => true,
        Expectation::Absent => stored.content.is_none(),
        Expectation::Revision(revision) => stored.content.is_some() && stored.revision == revision,
    };
    holds.then_some(()).ok_or(HostError::Conflict)
}
