//! The documents a call reads and writes.

use crate::{
    contract::{documents, types::HostError},
    state::CallState,
    work::Reply,
};
use portolan_store::{
    Collection, Counted, Document, Expectation, Hit, StateError, Unit,
    query::{
        Direction, Query, Request,
        geo::{Circle, Rectangle},
    },
};
use std::fmt;

impl CallState {
    fn collection(
        &mut self,
        name: &str,
    ) -> std::result::Result<(&mut Unit, &Collection), HostError> {
        let work = self.work()?;
        let undeclared =
            || HostError::Invalid(format!("the collection {name} is not declared: declare it"));
        let collection = work.collections.get(name).ok_or_else(undeclared)?;
        Ok((&mut work.unit, collection))
    }

    fn writable(&mut self, name: &str) -> std::result::Result<(&mut Unit, &Collection), HostError> {
        self.changing()?;
        self.collection(name)
    }
}

pub(super) fn document(document: Document) -> documents::Document {
    documents::Document {
        id: document.id,
        revision: document.revision,
        body: document.body,
        created_at: document.created_at.as_millis(),
        updated_at: document.updated_at.as_millis(),
    }
}

fn expectation(expect: documents::Expectation) -> Expectation {
    match expect {
        documents::Expectation::Any => Expectation::Any,
        documents::Expectation::Absent => Expectation::Absent,
        documents::Expectation::Revision(revision) => Expectation::Revision(revision),
    }
}

fn checked(
    collection: &Collection,
    query: &documents::Query,
) -> std::result::Result<Query, StateError> {
    let invalid = |error: &dyn fmt::Display| StateError::Invalid(error.to_string());
    let near = query.near.map(|it| Circle::new(it.latitude, it.longitude, it.radius_m));
    let within = query.within.map(|it| Rectangle::new(it.south, it.west, it.north, it.east));
    let order: Vec<_> = query
        .order
        .iter()
        .map(|order| {
            let direction = match order.direction {
                documents::Direction::Ascending => Direction::Ascending,
                documents::Direction::Descending => Direction::Descending,
            };
            (order.path.as_str(), direction)
        })
        .collect();
    let request = Request {
        filter: query.filter.as_deref(),
        text: query.text.as_deref(),
        near: near.transpose().map_err(|error| invalid(&error))?,
        within: within.transpose().map_err(|error| invalid(&error))?,
        order: &order,
        limit: query.limit,
        unchecked: query.unchecked,
    };
    Query::new(collection.shape(), request).map_err(|error| invalid(&error))
}

/// What a query finds, as the contract says it.
pub(super) async fn find(
    unit: &mut Unit,
    collection: &Collection,
    query: &documents::Query,
) -> std::result::Result<documents::Page, StateError> {
    let checked = checked(collection, query)?;
    let page = unit.find(collection, &checked, query.cursor.as_deref()).await?;
    let hit = |hit: Hit| documents::Hit {
        document: document(hit.document),
        relevance: hit.relevance,
        distance_m: hit.distance_m,
    };
    Ok(documents::Page { hits: page.hits.into_iter().map(hit).collect(), next: page.next })
}

pub(super) async fn count_by(
    unit: &mut Unit,
    collection: &Collection,
    query: &documents::Query,
    paths: &[String],
) -> std::result::Result<Vec<Vec<documents::Counted>>, StateError> {
    let counts = unit.count_by(collection, &checked(collection, query)?, paths).await?;
    let counted = |it: Counted| documents::Counted { value: it.value.to_string(), count: it.count };
    Ok(counts.into_iter().map(|of_path| of_path.into_iter().map(counted).collect()).collect())
}

impl documents::Host for CallState {
    async fn get(&mut self, collection: String, id: String) -> Reply<Option<documents::Document>> {
        let found = match self.collection(&collection) {
            Ok((unit, collection)) => unit.get(collection, &id).await,
            Err(error) => return Ok(Err(error)),
        };
        Ok(found.map(|found| found.map(document)).map_err(|error| self.refusal(error)))
    }

    async fn get_many(
        &mut self,
        collection: String,
        ids: Vec<String>,
    ) -> Reply<Vec<Option<documents::Document>>> {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let found = match self.collection(&collection) {
            Ok((unit, collection)) => unit.get_many(collection, &ids).await,
            Err(error) => return Ok(Err(error)),
        };
        let documents = found.map(|found| found.into_iter().map(|it| it.map(document)).collect());
        Ok(documents.map_err(|error| self.refusal(error)))
    }

    async fn find(
        &mut self,
        collection: String,
        query: documents::Query,
    ) -> Reply<documents::Page> {
        let page = match self.collection(&collection) {
            Ok((unit, collection)) => find(unit, collection, &query).await,
            Err(error) => return Ok(Err(error)),
        };
        Ok(page.map_err(|error| self.refusal(error)))
    }

    async fn count(&mut self, collection: String, filter: Option<String>) -> Reply<u64> {
        let count = match self.collection(&collection) {
            Ok((unit, collection)) => unit.count(collection, filter.as_deref()).await,
            Err(error) => return Ok(Err(error)),
        };
        Ok(count.map_err(|error| self.refusal(error)))
    }

    async fn count_by(
        &mut self,
        collection: String,
        query: documents::Query,
        paths: Vec<String>,
    ) -> Reply<Vec<Vec<documents::Counted>>> {
        let counts = match self.collection(&collection) {
            Ok((unit, collection)) => count_by(unit, collection, &query, &paths).await,
            Err(error) => return Ok(Err(error)),
        };
        Ok(counts.map_err(|error| self.refusal(error)))
    }

    async fn put(
        &mut self,
        collection: String,
        id: String,
        body: String,
        expect: documents::Expectation,
    ) -> Reply<u64> {
        let revision = match self.writable(&collection) {
            Ok((unit, collection)) => unit.put(collection, &id, body, expectation(expect)).await,
            Err(error) => return Ok(Err(error)),
        };
        Ok(revision.map_err(|error| self.refusal(error)))
    }

    async fn delete(
        &mut self,
        collection: String,
        id: String,
        expect: documents::Expectation,
    ) -> Reply<()> {
        let deleted = match self.writable(&collection) {
            Ok((unit, collection)) => unit.delete(collection, &id, expectation(expect)).await,
            Err(error) => return Ok(Err(error)),
        };
        Ok(deleted.map_err(|error| self.refusal(error)))
    }
}
