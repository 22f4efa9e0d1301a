//! Queries and what they find.

use super::{Filter, Stored};
use crate::{contract::documents as host, pages::PageInput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What to find, in which order, and how much of it. Says nothing at first: every document, by id,
/// the first 100.
///
/// What an agent may leave out goes in as it came, an `Option` or the thing itself:
///
/// ```
/// # use portolan_sdk::documents::{Circle, Direction, Query, field};
/// # let (words, near, cursor) = (Some("bicycle".to_owned()), None::<Circle>, None::<String>);
/// let query = Query::new()
///     .filter(field("price").lte(300))
///     .text(words)
///     .near(near)
///     .order_by("relevance", Direction::Descending)
///     .limit(20)
///     .cursor(cursor);
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Query(host::Query);

/// Which end of an order comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Ascending,
    Descending,
}

/// A disc on the surface of the earth. Fit for the input of an action.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Circle {
    /// Degrees.
    #[schemars(range(min = -90, max = 90))]
    pub latitude: f64,
    /// Degrees.
    #[schemars(range(min = -180, max = 180))]
    pub longitude: f64,
    /// Metres.
    #[schemars(range(min = 1, max = 20_040_000))]
    pub radius_m: f64,
}

/// A rectangle of degrees; it crosses the antimeridian if `west` is greater than `east`. Fit for
/// the input of an action.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rectangle {
    #[schemars(range(min = -90, max = 90))]
    pub south: f64,
    #[schemars(range(min = -180, max = 180))]
    pub west: f64,
    #[schemars(range(min = -90, max = 90))]
    pub north: f64,
    #[schemars(range(min = -180, max = 180))]
    pub east: f64,
}

/// One page of what a query found.
#[derive(Debug, Clone)]
pub struct Page<T> {
    pub hits: Vec<Hit<T>>,
    /// Where the next page starts, for [`Query::cursor`]; none on the last one.
    pub next: Option<String>,
}

impl<T> Page<T> {
    /// The documents that were found.
    pub fn documents(&self) -> impl Iterator<Item = &Stored<T>> {
        self.hits.iter().map(|hit| &hit.document)
    }
}

/// A document that a query found.
#[derive(Debug, Clone)]
pub struct Hit<T> {
    pub document: Stored<T>,
    /// How well it fits the text: higher is better, comparable within one answer only.
    pub relevance: Option<f64>,
    /// Metres from the middle of the circle.
    pub distance_m: Option<f64>,
}

/// A value, and how many documents have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counted {
    /// A text, a number or a boolean.
    pub value: serde_json::Value,
    pub count: u64,
}

impl Query {
    pub fn new() -> Self {
        Self::default()
    }

    /// Over indexed paths.
    pub fn filter(mut self, filter: impl Into<Option<Filter>>) -> Self {
        self.0.filter = filter.into().map(|filter| filter.to_string());
        self
    }

    /// Words that the text of a document must contain.
    pub fn text(mut self, words: impl Into<Option<String>>) -> Self {
        self.0.text = words.into();
        self
    }

    /// Not farther than this. With it, hits carry their distance.
    pub fn near(mut self, circle: impl Into<Option<Circle>>) -> Self {
        self.0.near = circle.into().map(|circle| host::Circle {
            latitude: circle.latitude,
            longitude: circle.longitude,
            radius_m: circle.radius_m,
        });
        self
    }

    /// Inside of this.
    pub fn within(mut self, rectangle: impl Into<Option<Rectangle>>) -> Self {
        self.0.within = rectangle.into().map(|rectangle| host::Rectangle {
            south: rectangle.south,
            west: rectangle.west,
            north: rectangle.north,
            east: rectangle.east,
        });
        self
    }

    /// The page that an agent asks for.
    pub fn page(self, page: PageInput) -> Self {
        self.limit(page.limit).cursor(page.cursor)
    }

    /// The highest value of an indexed path first, such as the newest.
    pub fn last(self, path: impl Into<String>) -> Self {
        self.order_by(path, Direction::Descending)
    }

    /// The lowest value of an indexed path first, such as the oldest.
    pub fn first(self, path: impl Into<String>) -> Self {
        self.order_by(path, Direction::Ascending)
    }

    /// By an indexed path, `relevance` or `distance`. Up to four, the most important first; what
    /// is equal in all of them is ordered by id.
    pub fn order_by(mut self, path: impl Into<String>, direction: Direction) -> Self {
        let direction = match direction {
            Direction::Ascending => host::Direction::Ascending,
            Direction::Descending => host::Direction::Descending,
        };
        self.0.order.push(host::Order { path: path.into(), direction });
        self
    }

    /// At most this many hits a page, 1 to 1000.
    pub fn limit(mut self, hits: u32) -> Self {
        self.0.limit = hits;
        self
    }

    /// Where to go on: the `next` of the page before, of the same query. One that does not fit is
    /// refused as `cursor_invalid`.
    pub fn cursor(mut self, cursor: impl Into<Option<String>>) -> Self {
        self.0.cursor = cursor.into();
        self
    }

    /// What is found may have changed when the call commits. For what is only shown or weighed: a
    /// call that finds much in a busy collection would otherwise run again and again.
    pub fn unchecked(mut self) -> Self {
        self.0.unchecked = true;
        self
    }
}

impl Default for Query {
    fn default() -> Self {
        Self(host::Query {
            filter: None,
            text: None,
            near: None,
            within: None,
            order: Vec::new(),
            limit: 100,
            cursor: None,
            unchecked: false,
        })
    }
}

impl From<Query> for host::Query {
    fn from(query: Query) -> Self {
        query.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::field;

    #[test]
    fn a_query_says_what_was_asked_for() {
        let circle = Circle { latitude: 37.77, longitude: -122.42, radius_m: 500.0 };
        let query = Query::new()
            .filter(Some(field("a").eq(1)))
            .text("words".to_owned())
            .near(circle)
            .within(None)
            .order_by("distance", Direction::Descending)
            .limit(7)
            .cursor(Some("here".to_owned()));
        let query = host::Query::from(query);
        assert_eq!(query.filter.as_deref(), Some(r#"{"a":{"eq":1}}"#));
        assert_eq!(query.text.as_deref(), Some("words"));
        assert_eq!(query.near.map(|near| near.radius_m), Some(500.0));
        assert!(query.within.is_none());
        let order: Vec<_> =
            query.order.iter().map(|order| (order.path.as_str(), order.direction)).collect();
        assert_eq!(order, [("distance", host::Direction::Descending)]);
        assert_eq!((query.limit, query.cursor.as_deref()), (7, Some("here")));
    }
}
