//! A collection: its declaration, and access to its documents.

use super::{Counted, Expect, Filter, Hit, Page, Person, Query};
use crate::contract::{
    HostError, description,
    documents::{self as host, Document},
};
use serde::{Serialize, de::DeserializeOwned};
use std::{fmt, marker::PhantomData};

const MOST_INDEXES: usize = 16;

/// A collection of documents of type `T`, declared as a constant.
///
/// `T` serializes to a JSON object. Documents outlive the code: give a field that is new in a later
/// version `#[serde(default)]`, or raise the version and migrate the documents (see `migration`). A
/// stored document that cannot be parsed as `T` is reported to the operator; queries leave it out,
/// and [`Collection::get`] fails.
pub struct Collection<T> {
    name: &'static str,
    indexes: [Index; MOST_INDEXES],
    count: usize,
    text: &'static [&'static str],
    geo: Option<(&'static str, &'static str)>,
    version: u32,
    people: Option<&'static [Person]>,
    annotations: &'static [(&'static str, &'static str)],
    documents: PhantomData<fn() -> T>,
}

#[derive(Debug, Clone, Copy)]
struct Index {
    name: &'static str,
    paths: &'static [&'static str],
    unique: bool,
}

/// A stored document.
#[derive(Debug, Clone)]
pub struct Stored<T> {
    pub id: String,
    /// 0 until the document is stored, then raised by 1 by every write.
    pub revision: u64,
    pub value: T,
    /// Milliseconds since the Unix epoch.
    pub created_at: u64,
    pub updated_at: u64,
}

impl<T> Collection<T> {
    /// Declares a collection with this name, which is in `snake_case` and unique in the capability.
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            indexes: [Index { name: "", paths: &[], unique: false }; MOST_INDEXES],
            count: 0,
            text: &[],
            geo: None,
            version: 1,
            people: None,
            annotations: &[],
            documents: PhantomData,
        }
    }

    /// Adds an index over paths of dotted names; `tags[]` means the elements of an array. Filters and orders
    /// may use only indexed paths.
    #[must_use]
    pub const fn index(self, name: &'static str, paths: &'static [&'static str]) -> Self {
        self.with(Index { name, paths, unique: false })
    }

    /// Adds an index with at most one document per value. A write that would add another one is refused with
    /// [`HostError::Duplicate`].
    #[must_use]
    pub const fn unique(self, name: &'static str, paths: &'static [&'static str]) -> Self {
        self.with(Index { name, paths, unique: true })
    }

    /// Adds the paths of the texts for full-text search, the one with the highest weight first.
    #[must_use]
    pub const fn text(mut self, paths: &'static [&'static str]) -> Self {
        self.text = paths;
        self
    }

    /// Sets the paths of latitude and longitude, in degrees.
    #[must_use]
    pub const fn geo(mut self, latitude: &'static str, longitude: &'static str) -> Self {
        self.geo = Some((latitude, longitude));
        self
    }

    /// Declares where documents name people, and what their erasure does.
    #[must_use]
    pub const fn people(mut self, people: &'static [Person]) -> Self {
        self.people = Some(people);
        self
    }

    /// Declares that documents name nobody. The host refuses a document that does.
    #[must_use]
    pub const fn nobody(self) -> Self {
        self.people(&[])
    }

    /// Sets the version of the documents' form, which is 1 by default.
    #[must_use]
    pub const fn version(mut self, version: u32) -> Self {
        self.version = version;
        self
    }

    /// Adds facts for programs that know their keys: pairs of a key and JSON text.
    #[must_use]
    pub const fn annotations(mut self, pairs: &'static [(&'static str, &'static str)]) -> Self {
        self.annotations = pairs;
        self
    }

    #[expect(clippy::indexing_slicing, reason = "one index too many fails to compile")]
    const fn with(mut self, index: Index) -> Self {
        self.indexes[self.count] = index;
        self.count += 1;
        self
    }

    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the collection's name. In a test, also declares the collection to the test's world,
    /// which may have no descriptor to read it from.
    fn declared(&self) -> &'static str {
        #[cfg(not(target_arch = "wasm32"))]
        host::declare(self.declaration());
        self.name
    }

    /// Returns the descriptor's record of this collection.
    pub fn declaration(&self) -> description::Collection {
        let owned = |paths: &[&str]| paths.iter().map(|path| (*path).into()).collect();
        let index = |index: &Index| description::Index {
            name: index.name.into(),
            paths: owned(index.paths),
            unique: index.unique,
        };
        description::Collection {
            name: self.name.into(),
            indexes: self.indexes.iter().take(self.count).map(index).collect(),
            text: owned(self.text),
            geo: self.geo.map(|(latitude, longitude)| description::Geo {
                latitude: latitude.into(),
                longitude: longitude.into(),
            }),
            version: self.version,
            people: self.people.map(|people| people.iter().map(Person::declaration).collect()),
            annotations: self
                .annotations
                .iter()
                .map(|(key, value)| description::Annotation {
                    key: (*key).into(),
                    value: (*value).into(),
                })
                .collect(),
        }
    }

    /// Deletes a document. A missing document is an error only if a revision is expected.
    pub fn delete(&self, id: &str, expect: Expect) -> Result<(), HostError> {
        host::delete(self.declared(), id, expect)
    }

    /// Counts what the query finds by the values of each of at most four indexed paths. Returns the
    /// most frequent 100 values, the most frequent first; counts at most 10 000 documents. The
    /// query's order, limit and cursor are ignored.
    pub fn count_by<const PATHS: usize>(
        &self,
        paths: [&str; PATHS],
        query: Query,
    ) -> Result<[Vec<Counted>; PATHS], HostError> {
        let counts = host::count_by(self.declared(), &query.into(), &paths.map(str::to_owned))?;
        Ok(counted(counts))
    }

    /// Counts the documents that match the filter, or all documents.
    pub fn count(&self, filter: impl Into<Option<Filter>>) -> Result<u64, HostError> {
        host::count(self.declared(), filter.into().map(|filter| filter.to_string()).as_deref())
    }
}

impl<T: Serialize> Collection<T> {
    /// Writes a whole document and returns its new revision. Fails with [`HostError::Conflict`] if
    /// the stored document is not as `expect` says.
    pub fn put(&self, id: &str, value: &T, expect: Expect) -> Result<u64, HostError> {
        host::put(self.declared(), id, &crate::to_json(value), expect)
    }

    /// Writes a document that was made by [`Stored::new`], or was read and changed, and updates its
    /// revision. Fails with [`HostError::Conflict`] if the stored document has another revision
    /// than this one.
    pub fn save(&self, document: &mut Stored<T>) -> Result<(), HostError> {
        let expect = match document.revision {
            0 => Expect::Absent,
            revision => Expect::Revision(revision),
        };
        document.revision = self.put(&document.id, &document.value, expect)?;
        Ok(())
    }

    /// Adds a document and returns it as it is stored. Fails with [`HostError::Conflict`] if there
    /// is one with this id.
    pub fn add(&self, id: impl Into<String>, value: T, now: u64) -> Result<Stored<T>, HostError> {
        let mut document = Stored::new(id, value, now);
        self.save(&mut document)?;
        Ok(document)
    }
}

impl<T> Stored<T> {
    /// Makes a document that is not stored yet: its revision is 0, and [`Collection::save`] adds it.
    pub fn new(id: impl Into<String>, value: T, now: u64) -> Self {
        Self { id: id.into(), revision: 0, value, created_at: now, updated_at: now }
    }
}

impl<T: DeserializeOwned> Collection<T> {
    /// Returns the document of this id; `None` if there is none. Fails with [`HostError::Invalid`]
    /// if the document cannot be parsed as `T`.
    pub fn get(&self, id: &str) -> Result<Option<Stored<T>>, HostError> {
        let Some(document) = host::get(self.declared(), id)? else { return Ok(None) };
        let unreadable = || HostError::Invalid(format!("a document in {} does not fit", self.name));
        self.readable(document).map(Some).ok_or_else(unreadable)
    }

    /// Returns the document of this id; the error `missing` if there is none.
    pub fn require<E: From<HostError>>(&self, id: &str, missing: E) -> Result<Stored<T>, E> {
        self.get(id)?.ok_or(missing)
    }

    /// Returns the document of this id, or a new one with a default value. With [`Self::save`] this
    /// is an upsert that loses no concurrent change.
    pub fn get_or_default(&self, id: &str) -> Result<Stored<T>, HostError>
    where
        T: Default,
    {
        Ok(self.get(id)?.unwrap_or_else(|| Stored::new(id, T::default(), 0)))
    }

    /// Returns the document of each id, in the order of the ids: `None` if there is none, or if it
    /// cannot be parsed as `T`.
    pub fn get_many<I: Into<String>>(
        &self,
        ids: impl IntoIterator<Item = I>,
    ) -> Result<Vec<Option<Stored<T>>>, HostError> {
        let ids: Vec<String> = ids.into_iter().map(Into::into).collect();
        let found = host::get_many(self.declared(), &ids)?.into_iter();
        Ok(found.map(|document| self.readable(document?)).collect())
    }

    /// Returns one page of the query's hits, without documents that cannot be parsed as `T`.
    pub fn find(&self, query: Query) -> Result<Page<T>, HostError> {
        self.page(&query.into())
    }

    /// Returns all hits of the query, page after page. The query's limit is the size of a page.
    /// After an error there are no more hits.
    pub fn all(&self, query: Query) -> impl Iterator<Item = Result<Hit<T>, HostError>> {
        let mut remaining = Some(host::Query::from(query));
        let pages = std::iter::from_fn(move || {
            let mut query = remaining.take()?;
            let page = self.page(&query);
            if let Ok(Page { next: Some(next), .. }) = &page {
                query.cursor = Some(next.clone());
                remaining = Some(query);
            }
            Some(page)
        });
        pages.flat_map(|page| match page {
            Ok(page) => page.hits.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        })
    }

    fn page(&self, query: &host::Query) -> Result<Page<T>, HostError> {
        Ok(page(host::find(self.declared(), query)?, |document| self.readable(document)))
    }

    /// Parses a document. Reports one that cannot be parsed to the host and returns `None`.
    fn readable(&self, document: Document) -> Option<Stored<T>> {
        let (id, revision) = (document.id.clone(), document.revision);
        let report = |reason: String| {
            // The call goes on without the document even if the report cannot be made.
            let _reported = host::report_unreadable(self.declared(), &id, revision, &reason);
        };
        parse(document).map_err(report).ok()
    }
}

/// Returns a page with its documents parsed, without those for which `parsed` returns `None`.
pub(crate) fn page<T>(
    found: host::Page,
    parsed: impl Fn(Document) -> Option<Stored<T>>,
) -> Page<T> {
    let hit = |hit: host::Hit| {
        Some(Hit {
            document: parsed(hit.document)?,
            relevance: hit.relevance,
            distance_m: hit.distance_m,
        })
    };
    Page { hits: found.hits.into_iter().filter_map(hit).collect(), next: found.next }
}

/// Parses a document. The error names the expected type and the place of the fault.
pub(crate) fn parse<T: DeserializeOwned>(document: Document) -> Result<Stored<T>, String> {
    let value = serde_json::from_str(&document.body).map_err(|error| {
        let wanted = std::any::type_name::<T>();
        // The text of the error would quote the document, which must not be logged.
        let (line, column) = (error.line(), error.column());
        format!("it is not a {wanted}: line {line}, column {column}")
    })?;
    Ok(Stored {
        id: document.id,
        revision: document.revision,
        value,
        created_at: document.created_at,
        updated_at: document.updated_at,
    })
}

/// Returns the typed counts for each path.
#[expect(clippy::panic, reason = "a guest reports a bug by a trap")]
pub(crate) fn counted<const PATHS: usize>(
    counts: Vec<Vec<host::Counted>>,
) -> [Vec<Counted>; PATHS] {
    let counted = |counted: host::Counted| Counted {
        value: serde_json::from_str(&counted.value)
            .unwrap_or_else(|_| panic!("a counted value is not JSON")),
        count: counted.count,
    };
    let mut counts = counts.into_iter();
    std::array::from_fn(|_| counts.next().into_iter().flatten().map(counted).collect())
}

impl<T> Clone for Collection<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Collection<T> {}

impl<T> fmt::Debug for Collection<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Collection").field(&self.name).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::PersonalField::{Personal, Public};

    #[test]
    fn a_collection_declares_itself() {
        const PLACES: Collection<()> = Collection::new("places")
            .index("owner", &["owner.id", "kind"])
            .unique("number", &["number"])
            .text(&["title", "body"])
            .geo("at.lat", "at.lng")
            .people(&[Person::redact("owner.id", &[Personal("at"), Public("title")])]);
        let declared = PLACES.declaration();
        assert_eq!(declared.name, "places");
        let indexes: Vec<_> = declared
            .indexes
            .iter()
            .map(|index| (index.name.as_str(), index.paths.join("+"), index.unique))
            .collect();
        assert_eq!(
            indexes,
            [("owner", "owner.id+kind".into(), false), ("number", "number".into(), true)]
        );
        assert_eq!(declared.text, ["title", "body"]);
        let people: Vec<_> = declared.people.into_iter().flatten().collect();
        let [owner] = people.as_slice() else { panic!("one person") };
        assert_eq!(
            (owner.path.as_str(), owner.erasure),
            ("owner.id", description::Erasure::Redact)
        );
        assert_eq!(owner.fields.len(), 2);
        let geo = declared.geo.map(|geo| (geo.latitude, geo.longitude));
        assert_eq!(geo, Some(("at.lat".into(), "at.lng".into())));
    }
}
