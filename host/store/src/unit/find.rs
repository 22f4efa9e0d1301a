//! Queries over the database's documents and the call's own writes.

use super::unit_of_work::Unit;
use crate::{
    connection::Queries,
    document::{Document, DocumentKey, Stored},
    error::StateError,
    integers::unsigned,
    query::{
        Collection, Counted, Entry, Filter, MAX_COUNTED_PATHS, Order, OrderBy, Path, Placed, Query,
        Row, Search, SortValue, cursor, geo::distance_m, is_counted, most_frequent,
    },
};
use portolan_vocabulary::{Keyring, Quota, Timestamp};

/// A document that a query found.
#[derive(Debug, Clone)]
pub struct Hit {
    pub document: Document,
    /// The relevance for the words of the query: at least 0 for a document that has all words, and below 0 for one
    /// without some, from `-missing` to `1 - missing`. A document that this call has written has the lowest. `None`
    /// if the query has no words.
    pub relevance: Option<f64>,
    /// The distance in metres from the centre of the query's circle; `None` if the query has no circle.
    pub distance_m: Option<f64>,
}

#[derive(Debug, Clone)]
pub struct Page {
    pub hits: Vec<Hit>,
    /// The cursor of the next page; `None` on the last page.
    pub next: Option<String>,
}

/// A hit before the page is cut, with its position in the order.
struct Candidate {
    placed: Placed,
    stored: Stored,
    relevance: Option<f64>,
    squared_chord: Option<f64>,
}

impl Unit {
    /// Returns a page of the matching documents, in the query's order.
    pub async fn find(
        &mut self,
        collection: &Collection,
        query: &Query,
        after: Option<&str>,
    ) -> Result<Page, StateError> {
        let keys = self.store.keys().derive(Keyring::CURSORS);
        let digest = query.digest(&collection.scope);
        let after = match after {
            None => None,
            Some(text) => Some(
                cursor::open(&keys, &digest, text, query.order.len())
                    .map_err(|_| StateError::CursorInvalid)?,
            ),
        };
        let written = self.written_ids(collection);
        let mut candidates = self.own_candidates(collection, query, after.as_ref());
        let limit = query.limit as usize;
        let (rows, is_cut) = self.search(collection).page(query, after.as_ref(), &written).await?;
        self.count_read();
        self.ensure_read_limit(rows.iter().map(Row::bytes).sum())?;
        let has_more_rows = is_cut || rows.len() > limit;
        let mut end = None;
        for row in rows {
            let candidate = candidate(query, row);
            end = Some(candidate.placed.clone());
            if !query.unchecked {
                let id = candidate.placed.id.clone();
                let key = DocumentKey { collection: collection.id(), id };
                // If the document was read before, the read set keeps that revision, and validation finds
                // a change in between.
                self.add_read(key, candidate.stored.clone());
            }
            candidates.push(candidate);
        }
        candidates.sort_by(|one, other| one.placed.compare(&other.placed, &query.order));
        let has_more = candidates.len() > limit || has_more_rows;
        if let (true, Some(end)) = (is_cut, end) {
            // The documents that were cut off follow the last row, so own writes after that row belong to a
            // later page.
            candidates.retain(|candidate| candidate.placed.compare(&end, &query.order).is_le());
        }
        candidates.truncate(limit);
        let last = candidates.last().filter(|_| has_more).map(|last| &last.placed);
        let next = keys.first().and_then(|key| Some(cursor::seal(key, &digest, last?)));
        Ok(Page { hits: candidates.into_iter().filter_map(Candidate::hit).collect(), next })
    }

    /// Counts the matching documents.
    pub async fn count(
        &mut self,
        collection: &Collection,
        filter: Option<&str>,
    ) -> Result<u64, StateError> {
        let declared = collection.shape().paths();
        let filter = filter
            .map(|filter| Filter::parse(filter, declared))
            .transpose()
            .map_err(|error| StateError::Invalid(error.to_string()))?;
        let fits = |entry: &Entry| {
            filter.as_ref().is_none_or(|filter| filter.matches(declared, &entry.keys))
        };
        let own = self.writes_in(collection.id());
        let own = own.filter(|(_, write)| write.entry.as_ref().is_some_and(fits)).count() as u64;
        let written = self.written_ids(collection);
        let stored = self.search(collection).count(filter.as_ref(), &written).await?;
        self.count_read();
        Ok(own + stored)
    }

    /// Counts the matching documents by the values of each path, the most frequent value first.
    pub async fn count_by(
        &mut self,
        collection: &Collection,
        query: &Query,
        paths: &[String],
    ) -> Result<Vec<Vec<Counted>>, StateError> {
        if paths.len() > MAX_COUNTED_PATHS {
            let text = format!("at most {MAX_COUNTED_PATHS} paths can be counted at once");
            return Err(StateError::Invalid(text));
        }
        let declared = collection.shape().paths();
        let path = |path: &String| -> Result<(usize, &Path), StateError> {
            let mut found = declared.iter().enumerate();
            found.find(|(_, declared)| declared.as_str() == path).ok_or_else(|| {
                StateError::Invalid(format!("there is no index over {path}: declare one"))
            })
        };
        let paths = paths.iter().map(path).collect::<Result<Vec<_>, _>>()?;
        let written = self.written_ids(collection);
        let asked: Vec<&Path> = paths.iter().map(|(_, path)| *path).collect();
        let mut all = self.search(collection).count_by(query, &asked, &written).await?;
        for (counts, (place, _)) in all.iter_mut().zip(&paths) {
            for (_, write) in self.writes_in(collection.id()) {
                let fitting = write.entry.as_ref().filter(|entry| query.matches(entry).is_some());
                let keys = fitting.and_then(|entry| entry.keys.get(*place)).into_iter().flatten();
                for key in keys.filter(|key| is_counted(key)) {
                    *counts.entry(key.clone()).or_default() += 1;
                }
            }
        }
        self.count_read();
        Ok(all.into_iter().map(most_frequent).collect())
    }

    /// Begins a query over the database's documents of a collection.
    fn search<'a>(&'a self, collection: &'a Collection) -> Search<'a> {
        Search::new(&self.store.inner.backend, self.queries(), collection)
    }

    /// Begins a query of the unit's reader.
    pub(super) fn queries(&self) -> Queries {
        let inner = &self.store.inner;
        let limit = inner.quotas.time(&self.reader, Quota::QueryMs);
        Queries::begin(&inner.backend, &self.reader, limit)
    }

    /// Returns this call's own writes that match and follow the cursor in the query's order.
    fn own_candidates(
        &self,
        collection: &Collection,
        query: &Query,
        after: Option<&Placed>,
    ) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (key, write) in self.writes_in(collection.id()) {
            let (Some(entry), Some(body)) = (&write.entry, &write.body) else { continue };
            let Some(fit) = query.finds(entry) else { continue };
            let placed = query.place(entry, fit, key.id.clone());
            if after.is_some_and(|after| placed.compare(after, &query.order).is_le()) {
                continue;
            }
            let stored = Stored {
                revision: write.revision,
                body: Some(body.clone()),
                created_at: write.created_at,
                updated_at: write.updated_at,
            };
            let relevance = (!query.words.is_empty()).then(|| fit.lowest_relevance());
            let squared_chord = fit.squared_chord;
            found.push(Candidate { placed, stored, relevance, squared_chord });
        }
        found
    }
}

impl Candidate {
    fn hit(self) -> Option<Hit> {
        Some(Hit {
            document: Document {
                id: self.placed.id,
                revision: self.stored.revision,
                body: self.stored.body?,
                created_at: self.stored.created_at,
                updated_at: self.stored.updated_at,
            },
            relevance: self.relevance,
            distance_m: self.squared_chord.map(|squared| distance_m(squared.sqrt())),
        })
    }
}

fn candidate(query: &Query, row: Row) -> Candidate {
    let mut keys = [row.key0, row.key1, row.key2, row.key3].into_iter();
    let mut value = |order: &Order| {
        let key = keys.next().flatten();
        match order.by {
            OrderBy::Path(_) => SortValue::Key(key.unwrap_or_default()),
            OrderBy::Relevance => SortValue::Number(row.relevance.unwrap_or_default()),
            OrderBy::Distance => SortValue::Number(row.squared_chord.unwrap_or_default()),
        }
    };
    let sort = query.order.iter().map(&mut value).collect();
    let instant = |at: Option<i64>| Timestamp::from_millis(unsigned(at.unwrap_or_default()));
    Candidate {
        placed: Placed { sort, id: row.id },
        stored: Stored {
            revision: unsigned(row.revision.unwrap_or_default()),
            body: row.body,
            created_at: instant(row.created_at),
            updated_at: instant(row.updated_at),
        },
        relevance: row.relevance,
        squared_chord: row.squared_chord,
    }
}
