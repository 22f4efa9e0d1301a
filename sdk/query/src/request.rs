//! A query, checked against what its collection declares.

use super::{
    Direction, Entry, Filter, FilterError, Order, OrderBy, Path, Placed, Shape, SortValue,
    filter::{add, add_all},
    geo::{Circle, Rectangle, distance_m},
};
use portolan_text::Word;
use sha2::{Digest as _, Sha256};

/// The maximum number of sort keys of one query.
pub const MAX_ORDER: usize = 4;
const MAX_LIMIT: u32 = 1_000;
/// The maximum number of words that are searched for; the others of a longer text are not.
const MAX_QUERY_WORDS: usize = 64;
/// The maximum number of terms of one word that are searched for: a word has up to 11, its stems and itself.
const MAX_ALTERNATIVES: usize = 100;
/// The maximum number of words by which documents are found that do not have all words. Databases find these by
/// an expression of all combinations, which grows with the number of words as 2^n.
const MAX_TELLING: usize = 6;

/// A query as a capability writes it.
#[derive(Debug, Clone, Copy)]
pub struct Request<'r> {
    /// JSON.
    pub filter: Option<&'r str>,
    pub text: Option<&'r str>,
    pub near: Option<Circle>,
    pub within: Option<Rectangle>,
    pub order: &'r [(&'r str, Direction)],
    pub limit: u32,
    /// Whether the found documents skip commit validation.
    pub unchecked: bool,
}

/// A query that its collection can answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    pub filter: Option<Filter>,
    /// The words of the text, sorted and distinct; empty if the query has no text. A document must
    /// have each of these words in its texts.
    pub words: Vec<Word>,
    /// The words by which documents are found that do not have all of them: the longest, because long words say
    /// more than short ones.
    pub telling: Vec<Word>,
    pub near: Option<Circle>,
    pub within: Option<Rectangle>,
    pub order: Vec<Order>,
    pub limit: u32,
    /// Whether the found documents skip commit validation.
    pub unchecked: bool,
    /// The paths of the shape, in the order of the keys of an entry.
    paths: Vec<Path>,
}

/// The facts that a query finds about a matching document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// How many telling words of the query the document does not have, and one more if the query has others; 0 if
    /// the document has all words.
    pub missing_words: usize,
    /// The squared chord from the centre of `near`, by which `distance` sorts.
    pub squared_chord: Option<f64>,
}

/// The reason why a query is refused, with its fix.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    #[error(transparent)]
    Filter(#[from] FilterError),
    #[error("the collection has no texts to search: declare the paths of its texts")]
    NoText,
    #[error("the text has no words: give at least one letter or digit, or leave the text out")]
    NoWords,
    #[error(
        "the collection has no geo index: declare `geo` with the paths of the latitude and the longitude"
    )]
    NoGeo,
    #[error("{0} sort keys: at most {MAX_ORDER} are allowed")]
    TooManyOrders(usize),
    #[error(
        "the sort key {0:?} is not indexed: declare an index with this path, or sort by relevance or distance"
    )]
    UndeclaredOrder(String),
    #[error("the sort key {0} has several values: sort by a path without []")]
    MultipleOrder(Path),
    #[error("to sort by relevance, give a text to search for")]
    RelevanceWithoutText,
    #[error("to sort by distance, give a circle around a position")]
    DistanceWithoutNear,
    #[error("the limit {0} is not from 1 to {MAX_LIMIT}")]
    Limit(u32),
}

impl Query {
    pub fn new(shape: &Shape, request: Request<'_>) -> Result<Self, QueryError> {
        let Request { filter, text, near, within, order, limit, unchecked } = request;
        let filter = filter.map(|filter| Filter::parse(filter, shape.paths())).transpose()?;
        let words = text.map_or(Ok(Vec::new()), |text| words(shape, text))?;
        if (near.is_some() || within.is_some()) && shape.geo().is_none() {
            return Err(QueryError::NoGeo);
        }
        if order.len() > MAX_ORDER {
            return Err(QueryError::TooManyOrders(order.len()));
        }
        let order = order
            .iter()
            .map(|&(by, direction)| Ok(Order { by: order_by(shape, &request, by)?, direction }))
            .collect::<Result<_, QueryError>>()?;
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(QueryError::Limit(limit));
        }
        let paths = shape.paths().to_vec();
        let telling = telling(&words);
        Ok(Self { filter, words, telling, near, within, order, limit, unchecked, paths })
    }

    /// Returns whether documents with a part of the words are found after those with all: only a query by relevance has
    /// a place for them.
    pub fn finds_partial(&self) -> bool {
        let first = self.order.first();
        let by_relevance = first.is_some_and(|order| {
            order.by == OrderBy::Relevance && order.direction == Direction::Descending
        });
        by_relevance && self.most_telling() >= self.fewest_telling()
    }

    /// Returns how many of the telling words a document needs at least to be found without all words: a quarter. A
    /// sentence has many words that say little.
    pub fn fewest_telling(&self) -> usize {
        self.telling.len().div_ceil(4)
    }

    /// Returns how many of the telling words a document without all words has at most.
    pub fn most_telling(&self) -> usize {
        self.most_missing() - 1
    }

    /// Returns the `missing_words` of a document without any telling word.
    pub fn most_missing(&self) -> usize {
        self.telling.len() + usize::from(self.telling.len() < self.words.len())
    }

    /// Returns the facts about a document, if it fits the query and has all of its words.
    pub fn matches(&self, entry: &Entry) -> Option<Found> {
        self.fit(entry).filter(|found| found.missing_words == 0)
    }

    /// Returns the facts about a document, if the query finds it.
    pub fn finds(&self, entry: &Entry) -> Option<Found> {
        let most_missing = match self.finds_partial() {
            true => self.most_missing() - self.fewest_telling(),
            false => 0,
        };
        self.fit(entry).filter(|found| found.missing_words <= most_missing)
    }

    /// Returns the facts about a document, if it fits all conditions but the words.
    fn fit(&self, entry: &Entry) -> Option<Found> {
        if let Some(filter) = &self.filter
            && !filter.matches(&self.paths, &entry.keys)
        {
            return None;
        }
        if let Some(within) = self.within {
            entry.position.filter(|&position| within.contains(position))?;
        }
        let squared_chord = match self.near {
            Some(near) => {
                let position = entry.position.filter(|&position| near.contains(position))?;
                Some(near.squared_chord(position))
            }
            None => None,
        };
        let has = |term: &str| entry.words.iter().flatten().any(|word| word == term);
        let missing_words = match self.words.iter().all(|word| word.is_in(has)) {
            true => 0,
            false => {
                self.most_missing() - self.telling.iter().filter(|word| word.is_in(has)).count()
            }
        };
        Some(Found { missing_words, squared_chord })
    }

    /// Returns the position of a document that is not committed. Its relevance counts as the lowest of those with as
    /// many words.
    pub fn place(&self, entry: &Entry, found: Found, id: String) -> Placed {
        let value = |order: &Order| match &order.by {
            OrderBy::Path(path) => {
                let place = self.paths.iter().position(|declared| declared == path);
                let key = place.and_then(|place| entry.keys.get(place)?.first());
                SortValue::Key(key.cloned().unwrap_or_default())
            }
            OrderBy::Relevance => SortValue::Number(found.lowest_relevance()),
            OrderBy::Distance => SortValue::Number(found.squared_chord.unwrap_or_default()),
        };
        Placed { sort: self.order.iter().map(value).collect(), id }
    }

    /// Returns the digest of the query and the scope for which a cursor is valid. `limit` and
    /// `unchecked` are not part of it, so they may change from page to page.
    pub fn digest(&self, scope: &str) -> [u8; 32] {
        let Self { filter, words, telling: _, near, within, order, .. } = self;
        let mut bytes = b"query 1".to_vec();
        add(&mut bytes, scope.as_bytes());
        add(&mut bytes, &filter.as_ref().map(Filter::canonical).unwrap_or_default());
        let parts = |word: &Word| word.terms.iter().map(|term| term.join(" ")).collect::<Vec<_>>();
        let words: Vec<String> = words.iter().map(|word| parts(word).join("|")).collect();
        add_all(&mut bytes, words.iter().map(String::as_bytes));
        let near = near.map(|near| {
            let centre = near.centre();
            degrees(&[centre.latitude(), centre.longitude(), near.radius_m()])
        });
        add(&mut bytes, &near.unwrap_or_default());
        add(&mut bytes, &within.map(|within| degrees(&within.edges())).unwrap_or_default());
        for Order { by, direction } in order {
            bytes.push(u8::from(*direction == Direction::Descending));
            // No path contains `*`.
            add(
                &mut bytes,
                match by {
                    OrderBy::Path(path) => path.as_str().as_bytes(),
                    OrderBy::Relevance => b"*relevance",
                    OrderBy::Distance => b"*distance",
                },
            );
        }
        Sha256::digest(bytes).into()
    }
}

impl Found {
    /// Returns the lowest relevance of a document with as many words: 0 if it has all.
    pub fn lowest_relevance(&self) -> f64 {
        0.0 - self.missing_words as f64
    }

    pub fn distance_m(&self) -> Option<f64> {
        self.squared_chord.map(|squared| distance_m(squared.sqrt()))
    }
}

fn words(shape: &Shape, text: &str) -> Result<Vec<Word>, QueryError> {
    if shape.text().is_empty() {
        return Err(QueryError::NoText);
    }
    let mut words = portolan_text::words(text);
    words.truncate(MAX_QUERY_WORDS);
    words.iter_mut().for_each(|word| word.terms.truncate(MAX_ALTERNATIVES));
    if words.is_empty() { Err(QueryError::NoWords) } else { Ok(words) }
}

/// Returns the longest words, of which each counts as long as its longest term, in the order of all.
fn telling(words: &[Word]) -> Vec<Word> {
    let length = |word: &Word| {
        let lengths =
            word.terms.iter().map(|term| term.iter().map(|part| part.chars().count()).sum());
        lengths.max().unwrap_or(0_usize)
    };
    let mut telling = words.to_vec();
    telling.sort_by_key(|word| std::cmp::Reverse(length(word)));
    telling.truncate(MAX_TELLING);
    telling.sort();
    telling
}

fn order_by(shape: &Shape, request: &Request<'_>, by: &str) -> Result<OrderBy, QueryError> {
    match by {
        "relevance" if request.text.is_none() => Err(QueryError::RelevanceWithoutText),
        "relevance" => Ok(OrderBy::Relevance),
        "distance" if request.near.is_none() => Err(QueryError::DistanceWithoutNear),
        "distance" => Ok(OrderBy::Distance),
        path => match Path::parse(path).filter(|path| shape.paths().contains(path)) {
            Some(path) if path.is_multiple() => Err(QueryError::MultipleOrder(path)),
            Some(path) => Ok(OrderBy::Path(path)),
            None => {
                let excerpt = path.get(..path.floor_char_boundary(80)).unwrap_or_default();
                Err(QueryError::UndeclaredOrder(excerpt.to_owned()))
            }
        },
    }
}

/// Returns the bytes of the numbers. Those of -0 are those of 0, because both are the same
/// position.
fn degrees(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| (number + 0.0).to_bits().to_be_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::collections::HashSet;

    const ALL: Request<'_> = Request {
        filter: None,
        text: None,
        near: None,
        within: None,
        order: &[],
        limit: 10,
        unchecked: false,
    };

    fn path(text: &str) -> Path {
        Path::parse(text).unwrap()
    }

    fn shape() -> Shape {
        Shape::new(
            ["kind", "price", "tags[]"].map(path).to_vec(),
            Vec::new(),
            ["title", "body"].map(path).to_vec(),
            Some((path("lat"), path("lon"))),
        )
        .unwrap()
    }

    fn query(request: Request<'_>) -> Query {
        Query::new(&shape(), request).unwrap()
    }

    fn found(query: &Query, document: Value) -> Option<Found> {
        query.matches(&shape().entry(&document).unwrap())
    }

    fn error(shape: &Shape, request: Request<'_>) -> String {
        Query::new(shape, request).unwrap_err().to_string()
    }

    #[test]
    fn every_condition_counts() {
        let query = query(Request {
            filter: Some(r#"{"price":{"lt":10}}"#),
            text: Some("Quiet FLATS"),
            near: Some(Circle::new(52.5, 13.4, 5_000.0).unwrap()),
            within: Some(Rectangle::new(52.0, 13.0, 53.0, 14.0).unwrap()),
            ..ALL
        });
        let fits = json!({
            "price": 9, "title": "A flat", "body": "It is quiet.", "lat": 52.51, "lon": 13.4,
        });
        let distance = found(&query, fits.clone()).unwrap().distance_m().unwrap();
        assert!((distance - 1_112.8).abs() < 0.5, "{distance}");
        for (field, value) in [
            ("price", json!(10)),
            ("body", json!("Loud.")),
            ("lat", json!(52.6)),
            ("lon", json!(12.99)),
        ] {
            let mut other = fits.clone();
            other[field] = value;
            assert_eq!(found(&query, other), None, "{field}");
        }
        assert_eq!(found(&query, json!({"price": 9, "title": "quiet flat"})), None);
        assert_eq!(
            found(&super::Query::new(&shape(), ALL).unwrap(), json!({})).unwrap().distance_m(),
            None
        );
    }

    #[test]
    fn a_place_has_a_value_for_each_sort_key() {
        let order = [
            ("price", Direction::Descending),
            ("relevance", Direction::Ascending),
            ("distance", Direction::Ascending),
        ];
        let near = Some(Circle::new(0.0, 0.0, 1e6).unwrap());
        let query = query(Request { text: Some("a"), near, order: &order, ..ALL });
        let entry = shape().entry(&json!({"title": "a", "lat": 0, "lon": 0})).unwrap();
        let placed = query.place(&entry, query.matches(&entry).unwrap(), "x".to_owned());
        let sort = [SortValue::Key(String::new()), SortValue::Number(0.0), SortValue::Number(0.0)];
        assert_eq!(placed, Placed { sort: sort.to_vec(), id: "x".to_owned() });
    }

    #[test]
    fn what_cannot_be_answered_is_refused_with_the_fix() {
        let bare = Shape::default();
        let near = Some(Circle::new(0.0, 0.0, 1.0).unwrap());
        let text = Some("a");
        assert!(error(&bare, Request { text, ..ALL }).contains("declare the paths of its texts"));
        assert!(error(&bare, Request { near, ..ALL }).contains("declare `geo`"));
        assert!(error(&shape(), Request { text: Some(" ?! "), ..ALL }).contains("no words"));
        assert!(error(&shape(), Request { limit: 0, ..ALL }).contains("0 is not from 1 to 1000"));
        assert!(error(&shape(), Request { limit: 1001, ..ALL }).contains("1001"));
        let filter = Some(r#"{"cost":{"eq":1}}"#);
        assert!(error(&shape(), Request { filter, ..ALL }).contains("path cost is not indexed"));
        for (by, part) in [
            ("cost", "the sort key \"cost\" is not indexed"),
            ("tags[]", "without []"),
            ("relevance", "give a text"),
            ("distance", "give a circle"),
        ] {
            let order = [(by, Direction::Ascending)];
            assert!(error(&shape(), Request { order: &order, ..ALL }).contains(part), "{by}");
        }
        let order = [("kind", Direction::Ascending); 5];
        assert!(error(&shape(), Request { order: &order, ..ALL }).contains("5 sort keys"));
    }

    #[test]
    fn a_long_text_is_searched_by_64_of_its_words() {
        let many: String = (0..65).map(|number| format!("w{number} ")).collect();
        let query = query(Request { text: Some(&many), ..ALL });
        assert_eq!(query.words.len(), 64);
        assert!(found(&query, json!({ "title": many })).is_some());
    }

    #[test]
    fn a_digest_is_of_everything_but_the_limit() {
        let circle = |radius| Some(Circle::new(-0.0, 0.0, radius).unwrap());
        let within = |east| Some(Rectangle::new(0.0, 0.0, 1.0, east).unwrap());
        let kind = |direction| [("kind", direction)];
        let (up, down) = (kind(Direction::Ascending), kind(Direction::Descending));
        let different = [
            ALL,
            Request { filter: Some("{}"), ..ALL },
            Request { filter: Some(r#"{"price":{"lt":10}}"#), ..ALL },
            Request { filter: Some(r#"{"price":{"lte":10}}"#), ..ALL },
            Request { text: Some("a"), ..ALL },
            Request { text: Some("a b"), ..ALL },
            Request { near: circle(1.0), ..ALL },
            Request { near: circle(2.0), ..ALL },
            Request { within: within(1.0), ..ALL },
            Request { within: within(2.0), ..ALL },
            Request { order: &up, ..ALL },
            Request { order: &down, ..ALL },
        ];
        let digests: HashSet<_> =
            different.iter().map(|request| query(*request).digest("notes")).collect();
        assert_eq!(digests.len(), different.len());
        assert!(!digests.contains(&query(ALL).digest("other")));
        assert!(digests.contains(&query(Request { limit: 20, ..ALL }).digest("notes")));
        let same = Request { text: Some("B? a, b!"), ..ALL };
        assert!(digests.contains(&query(same).digest("notes")));
        let of = |filter| query(Request { filter: Some(filter), ..ALL }).digest("notes");
        assert_eq!(
            of(r#"{"kind":{"in":["a","b"]},"price":{"eq":1}}"#),
            of(r#"{"price":{"eq":1.0},"kind":{"in":["b","a"]}}"#)
        );
    }
}
