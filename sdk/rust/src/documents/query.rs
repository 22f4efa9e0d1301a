//! Queries and their hits.

use super::{Filter, Stored};
use crate::{contract::documents as host, pages::PageInput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A query: its conditions, its order and its limit. By default a query finds every document,
/// ordered by id, 100 in a page.
///
/// The methods accept an `Option` as well as a value, so that the optional fields of an input can
/// be passed unchanged:
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

/// The direction of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Ascending,
    Descending,
}

/// A circle on the surface of the earth, which can be part of an action's input.
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

/// A rectangle of degrees, which can be part of an action's input. It crosses the antimeridian if `west`
/// is greater than `east`.
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
    /// The cursor of the next page, for [`Query::cursor`]; `None` on the last page.
    pub next: Option<String>,
}

impl<T> Page<T> {
    /// Returns the documents that were found.
    pub fn documents(&self) -> impl Iterator<Item = &Stored<T>> {
        self.hits.iter().map(|hit| &hit.document)
    }

    /// Returns the documents that were found, and where the next page starts.
    pub fn into_parts(self) -> (Vec<Stored<T>>, Option<String>) {
        (self.hits.into_iter().map(|hit| hit.document).collect(), self.next)
    }

    /// Returns the documents that were found, as owned values.
    pub fn into_documents(self) -> impl Iterator<Item = Stored<T>> {
        self.hits.into_iter().map(|hit| hit.document)
    }
}

/// A document that a query found.
#[derive(Debug, Clone)]
pub struct Hit<T> {
    pub document: Stored<T>,
    /// The relevance for the text: higher is better, comparable within one answer only.
    pub relevance: Option<f64>,
    /// Metres from the centre of the circle.
    pub distance_m: Option<f64>,
}

/// The error for a text without a word to search for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoWords;

/// Checks that a text, if there is one, has a word to search for, such as `東` or `7`. The host refuses a query
/// without one as invalid, so the input of a person or an agent is checked first.
///
/// ```
/// use portolan_sdk::documents::{NoWords, ensure_words};
///
/// assert_eq!(ensure_words(Some("quiet flat")), Ok(()));
/// assert_eq!(ensure_words(Some("---")), Err(NoWords));
/// assert_eq!(ensure_words(None), Ok(()));
/// ```
pub fn ensure_words(text: Option<&str>) -> Result<(), NoWords> {
    text.is_none_or(portolan_text::has_words).then_some(()).ok_or(NoWords)
}

/// A value, and the number of documents that have it.
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

    /// Sets the filter. It may use only indexed paths.
    pub fn filter(mut self, filter: impl Into<Option<Filter>>) -> Self {
        self.0.filter = filter.into().map(|filter| filter.to_string());
        self
    }

    /// Sets the words that the texts of a document must contain: at least one, see [`ensure_words`].
    pub fn text(mut self, words: impl Into<Option<String>>) -> Self {
        self.0.text = words.into();
        self
    }

    /// Restricts the hits to a circle. Each hit then has its distance.
    pub fn near(mut self, circle: impl Into<Option<Circle>>) -> Self {
        self.0.near = circle.into().map(|circle| host::Circle {
            latitude: circle.latitude,
            longitude: circle.longitude,
            radius_m: circle.radius_m,
        });
        self
    }

    /// Restricts the hits to a rectangle.
    pub fn within(mut self, rectangle: impl Into<Option<Rectangle>>) -> Self {
        self.0.within = rectangle.into().map(|rectangle| host::Rectangle {
            south: rectangle.south,
            west: rectangle.west,
            north: rectangle.north,
            east: rectangle.east,
        });
        self
    }

    /// Sets the limit and the cursor from the input of an action that lists.
    pub fn page(self, page: PageInput) -> Self {
        self.limit(page.limit).cursor(page.cursor)
    }

    /// Sorts by an indexed path, the highest value first, such as the newest.
    pub fn last(self, path: impl Into<String>) -> Self {
        self.order_by(path, Direction::Descending)
    }

    /// Sorts by an indexed path, the lowest value first, such as the oldest.
    pub fn first(self, path: impl Into<String>) -> Self {
        self.order_by(path, Direction::Ascending)
    }

    /// Sorts by an indexed path, `relevance` or `distance`. A query has up to four sort keys, the most
    /// important first. Ties are ordered by id.
    pub fn order_by(mut self, path: impl Into<String>, direction: Direction) -> Self {
        let direction = match direction {
            Direction::Ascending => host::Direction::Ascending,
            Direction::Descending => host::Direction::Descending,
        };
        self.0.order.push(host::Order { path: path.into(), direction });
        self
    }

    /// Sets the maximum number of hits of a page, 1 to 1000.
    pub fn limit(mut self, hits: u32) -> Self {
        self.0.limit = hits;
        self
    }

    /// Sets the cursor: the `next` of the previous page of the same query. Any other cursor is refused as
    /// `cursor_invalid`.
    pub fn cursor(mut self, cursor: impl Into<Option<String>>) -> Self {
        self.0.cursor = cursor.into();
        self
    }

    /// Leaves the hits out of the commit validation, so that a change of one does not make the host run
    /// the call again. For hits that are only displayed or ranked.
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
