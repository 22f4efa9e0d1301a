//! The coverage of a collection's index, and the meaning of a query for it, in memory.

use crate::contract::{
    HostError, description,
    documents::{Direction, Query},
};
use portolan_query::{Path, Request, Shape, geo};
use std::fmt;

/// Returns the shape of a collection's index.
pub(crate) fn shape(declaration: &description::Collection) -> Result<Shape, String> {
    let path = |text: &String| Path::parse(text).ok_or_else(|| format!("{text} is not a path"));
    let paths = |texts: &[String]| texts.iter().map(path).collect::<Result<Vec<_>, _>>();
    let indexes = &declaration.indexes;
    let all: Vec<_> = indexes.iter().map(|index| paths(&index.paths)).collect::<Result<_, _>>()?;
    let uniques = indexes.iter().zip(&all).filter(|(index, _)| index.unique);
    let uniques = uniques.map(|(_, paths)| paths.clone()).collect();
    let geo = match &declaration.geo {
        Some(geo) => Some((path(&geo.latitude)?, path(&geo.longitude)?)),
        None => None,
    };
    Shape::new(all.concat(), uniques, paths(&declaration.text)?, geo)
        .map_err(|error| error.to_string())
}

/// Checks a query against the index of its collection.
pub(crate) fn check(shape: &Shape, query: &Query) -> Result<portolan_query::Query, HostError> {
    let near =
        query.near.map(|near| geo::Circle::new(near.latitude, near.longitude, near.radius_m));
    let within =
        query.within.map(|area| geo::Rectangle::new(area.south, area.west, area.north, area.east));
    let order: Vec<_> = query
        .order
        .iter()
        .map(|order| {
            let direction = match order.direction {
                Direction::Ascending => portolan_query::Direction::Ascending,
                Direction::Descending => portolan_query::Direction::Descending,
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
    portolan_query::Query::new(shape, request).map_err(|error| invalid(&error))
}

pub(crate) fn invalid(error: &dyn fmt::Display) -> HostError {
    HostError::Invalid(error.to_string())
}
