//! Translates documents and queries between the contract and the store, for `documents` and `feeds`.

use crate::contract::documents;
use portolan_store::{
    Collection, Counted, Document, Expectation, Hit, StateError, Unit,
    query::{
        Direction, Query, Request,
        geo::{Circle, Rectangle},
    },
};
use std::fmt;

pub(super) fn document(document: Document) -> documents::Document {
    documents::Document {
        id: document.id,
        revision: document.revision,
        body: document.body,
        created_at: document.created_at.as_millis(),
        updated_at: document.updated_at.as_millis(),
    }
}

pub(super) fn expectation(expect: documents::Expectation) -> Expectation {
    match expect {
        documents::Expectation::Any => Expectation::Any,
        documents::Expectation::Absent => Expectation::Absent,
        documents::Expectation::Revision(revision) => Expectation::Revision(revision),
    }
}

/// Reads documents by their ids, in the order of the ids; `None` for an id that has no document.
pub(super) async fn get_many(
    unit: &mut Unit,
    collection: &Collection,
    ids: &[String],
) -> Result<Vec<Option<documents::Document>>, StateError> {
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let found = unit.get_many(collection, &ids).await?;
    Ok(found.into_iter().map(|found| found.map(document)).collect())
}

/// Runs a query and returns one page of what it finds.
pub(super) async fn find(
    unit: &mut Unit,
    collection: &Collection,
    query: &documents::Query,
) -> Result<documents::Page, StateError> {
    let checked = check_query(collection, query)?;
    let page = unit.find(collection, &checked, query.cursor.as_deref()).await?;
    let hit = |hit: Hit| documents::Hit {
        document: document(hit.document),
        relevance: hit.relevance,
        distance_m: hit.distance_m,
    };
    Ok(documents::Page { hits: page.hits.into_iter().map(hit).collect(), next: page.next })
}

/// Counts, for each path, how many of the documents that a query finds have each value there.
pub(super) async fn count_by(
    unit: &mut Unit,
    collection: &Collection,
    query: &documents::Query,
    paths: &[String],
) -> Result<Vec<Vec<documents::Counted>>, StateError> {
    let counts = unit.count_by(collection, &check_query(collection, query)?, paths).await?;
    let counted = |counted: Counted| documents::Counted {
        value: counted.value.to_string(),
        count: counted.count,
    };
    Ok(counts.into_iter().map(|of_path| of_path.into_iter().map(counted).collect()).collect())
}

/// Checks a query against the declared shape of its collection.
fn check_query(collection: &Collection, query: &documents::Query) -> Result<Query, StateError> {
    let invalid = |error: &dyn fmt::Display| StateError::Invalid(error.to_string());
    let near = query.near.map(|near| Circle::new(near.latitude, near.longitude, near.radius_m));
    let within =
        query.within.map(|area| Rectangle::new(area.south, area.west, area.north, area.east));
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
