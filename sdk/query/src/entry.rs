//! The index entry of a document.

use super::{
    Path, Shape,
    geo::{GeoError, Position},
    key::{self, KeyError},
};
use serde_json::Value;

/// The maximum number of elements that a path with `[]` indexes in one document.
pub const MAX_ELEMENTS: usize = 100;
/// The maximum number of indexed values of one document, over all indexed paths.
const MAX_KEYS: usize = 500;
/// The maximum number of words of one text field.
pub const MAX_WORDS: usize = 20_000;
/// The maximum length of a unique key, in bytes: PostgreSQL indexes no more than 2704 in one row.
const MAX_TUPLE: usize = 2_048;

/// The indexed parts of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// For each path of the shape, one key, or sorted and distinct keys for a path with `[]`.
    pub keys: Vec<Vec<String>>,
    /// For each unique index, the tuples that no other document may have.
    pub uniques: Vec<Vec<String>>,
    /// For each text path, its terms in their order.
    pub words: Vec<Vec<String>>,
    pub position: Option<Position>,
}

/// The reasons why a document cannot be indexed as its collection declares.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EntryError {
    #[error("{path}: {error}")]
    Key { path: Path, error: KeyError },
    #[error("{path} has {count} elements: at most {MAX_ELEMENTS} can be indexed")]
    TooManyElements { path: Path, count: usize },
    #[error("it has {0} indexed values: at most {MAX_KEYS} of one document can be indexed")]
    TooManyKeys(usize),
    #[error("{0} is in a unique index and must be a string, a number, a boolean or null")]
    NotScalar(Path),
    #[error("the values of the unique index of {paths} have more than {MAX_TUPLE} bytes together")]
    TupleTooLong { paths: String },
    #[error("{path} has {count} words: at most {MAX_WORDS} can be searched")]
    TooManyWords { path: Path, count: usize },
    #[error("{present} has a value and {missing} has none: a position needs both")]
    HalfPosition { present: Path, missing: Path },
    #[error("{0} is part of a position and must be a number of degrees")]
    NotDegrees(Path),
    #[error("{latitude} and {longitude}: {error}")]
    Position { latitude: Path, longitude: Path, error: GeoError },
}

impl Entry {
    /// Returns the number of indexed values.
    pub fn key_count(&self) -> usize {
        self.keys.iter().map(Vec::len).sum()
    }
}

impl Shape {
    /// Makes the index entry of a document.
    pub fn entry(&self, body: &Value) -> Result<Entry, EntryError> {
        let keys: Vec<Vec<String>> =
            self.paths().iter().map(|path| keys(path, body)).collect::<Result<_, _>>()?;
        let entry = Entry {
            keys,
            uniques: self
                .uniques()
                .iter()
                .map(|unique| tuples(unique, body))
                .collect::<Result<_, _>>()?,
            words: words(self.text(), body)?,
            position: self
                .geo()
                .map_or(Ok(None), |(latitude, longitude)| position(latitude, longitude, body))?,
        };
        match entry.key_count() {
            count if count > MAX_KEYS => Err(EntryError::TooManyKeys(count)),
            _ => Ok(entry),
        }
    }
}

fn keys(path: &Path, body: &Value) -> Result<Vec<String>, EntryError> {
    let values = path.values(body);
    if values.len() > MAX_ELEMENTS {
        return Err(EntryError::TooManyElements { path: path.clone(), count: values.len() });
    }
    let mut keys = values
        .into_iter()
        .map(key::key)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| EntryError::Key { path: path.clone(), error })?;
    if path.is_multiple() {
        // No filter matches an element that has nothing at the path.
        keys.retain(|key| key != key::MISSING);
        keys.sort_unstable();
        keys.dedup();
    }
    Ok(keys)
}

/// Returns the tuples of a unique index: one, or if one of its paths has `[]` (at most one has),
/// one for each element. A tuple with a missing or null part is left out.
fn tuples(unique: &[Path], body: &Value) -> Result<Vec<String>, EntryError> {
    let mut lists: Vec<Vec<String>> = vec![Vec::new()];
    for path in unique {
        let keys = keys(path, body)?;
        // All arrays and objects share one key and would be duplicates of each other.
        if keys.iter().any(|key| key == key::COMPOSITE) {
            return Err(EntryError::NotScalar(path.clone()));
        }
        lists = lists
            .iter()
            .flat_map(|list| {
                keys.iter().map(move |key| [list.as_slice(), std::slice::from_ref(key)].concat())
            })
            .collect();
    }
    let tuples: Vec<_> = lists.iter().filter_map(|list| key::tuple(list)).collect();
    if tuples.iter().any(|tuple| tuple.len() > MAX_TUPLE) {
        let paths: Vec<_> = unique.iter().map(Path::as_str).collect();
        return Err(EntryError::TupleTooLong { paths: paths.join(", ") });
    }
    Ok(tuples)
}

/// Returns the terms of each text path.
fn words(paths: &[Path], body: &Value) -> Result<Vec<Vec<String>>, EntryError> {
    let texts: Vec<Vec<&str>> = paths.iter().map(|path| texts(path, body)).collect();
    let words = portolan_text::terms(&texts);
    match paths.iter().zip(&words).find(|(_, words)| words.len() > MAX_WORDS) {
        Some((path, words)) => {
            Err(EntryError::TooManyWords { path: path.clone(), count: words.len() })
        }
        None => Ok(words),
    }
}

fn texts<'b>(path: &Path, body: &'b Value) -> Vec<&'b str> {
    let values = path.values(body).into_iter().flatten();
    let texts = values
        .flat_map(|value| value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice));
    texts.filter_map(Value::as_str).collect()
}

fn position(
    latitude: &Path,
    longitude: &Path,
    body: &Value,
) -> Result<Option<Position>, EntryError> {
    let (north, east) = match (degrees(latitude, body)?, degrees(longitude, body)?) {
        (Some(north), Some(east)) => (north, east),
        (None, None) => return Ok(None),
        (Some(_), None) => return Err(half_position(latitude, longitude)),
        (None, Some(_)) => return Err(half_position(longitude, latitude)),
    };
    let position = Position::new(north, east).map_err(|error| EntryError::Position {
        latitude: latitude.clone(),
        longitude: longitude.clone(),
        error,
    })?;
    Ok(Some(position))
}

fn half_position(present: &Path, missing: &Path) -> EntryError {
    EntryError::HalfPosition { present: present.clone(), missing: missing.clone() }
}

fn degrees(path: &Path, body: &Value) -> Result<Option<f64>, EntryError> {
    match path.values(body).first().copied().flatten() {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_f64().map(Some).ok_or_else(|| EntryError::NotDegrees(path.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn path(text: &str) -> Path {
        Path::parse(text).unwrap()
    }

    fn shape() -> Shape {
        Shape::new(
            ["kind", "tags[]", "people[].name"].map(path).to_vec(),
            vec![vec![path("slug")], vec![path("kind"), path("tags[]")]],
            ["title", "notes"].map(path).to_vec(),
            Some((path("at.lat"), path("at.lon"))),
        )
        .unwrap()
    }

    fn entry(body: Value) -> Entry {
        shape().entry(&body).unwrap()
    }

    fn error(body: Value) -> String {
        shape().entry(&body).unwrap_err().to_string()
    }

    #[test]
    fn an_entry_has_a_part_for_each_declaration() {
        let entry = entry(json!({
            "kind": "demand", "tags": ["b", "a", "b"], "people": [{"name": null}, {}], "slug": 1,
            "title": "Two flats", "notes": ["Quiet and", 3, "Sunny"], "at": {"lat": 52.5, "lon": 13},
        }));
        assert_eq!(entry.keys, [vec!["3demand"], vec!["3a", "3b"], vec!["0"]]);
        assert_eq!(entry.uniques[0], ["2bff00000000000008000"]);
        assert_eq!(entry.uniques[1], ["3demand\u{1}\u{3}3a", "3demand\u{1}\u{3}3b"]);
        assert_eq!(entry.words, [vec!["two", "flat"], vec!["quiet", "and", "sunni"]]);
        assert_eq!(entry.position, Some(Position::new(52.5, 13.0).unwrap()));
    }

    #[test]
    fn what_a_document_lacks_is_empty() {
        let entry = entry(json!({"slug": null, "tags": "a", "at": {"lat": null}}));
        assert_eq!(entry.keys, [vec![""], vec![], vec![]]);
        assert_eq!(entry.uniques, [Vec::<String>::new(), Vec::new()]);
        assert_eq!(entry.words, [Vec::<String>::new(), Vec::new()]);
        assert_eq!(entry.position, None);
    }

    #[test]
    fn errors_name_the_path_and_the_limit() {
        let long = "x".repeat(513);
        assert_eq!(
            error(json!({"kind": long})),
            "kind: a string of more than 512 bytes cannot be indexed"
        );
        assert_eq!(
            error(json!({"tags": vec![1; 101]})),
            "tags[] has 101 elements: at most 100 can be indexed"
        );
        assert_eq!(
            error(json!({"title": "a ".repeat(20_001)})),
            "title has 20001 words: at most 20000 can be searched"
        );
        assert_eq!(
            error(json!({"slug": {}})),
            "slug is in a unique index and must be a string, a number, a boolean or null"
        );
        let control = "\u{1}".repeat(512);
        assert_eq!(
            error(json!({"kind": control, "tags": [control]})),
            "the values of the unique index of kind, tags[] have more than 2048 bytes together"
        );
    }

    #[test]
    fn a_position_is_whole_and_on_the_earth() {
        assert_eq!(
            error(json!({"at": {"lat": 1}})),
            "at.lat has a value and at.lon has none: a position needs both"
        );
        assert_eq!(
            error(json!({"at": {"lat": 91, "lon": 0}})),
            "at.lat and at.lon: the latitude 91 is not from -90 to 90"
        );
        assert_eq!(
            error(json!({"at": {"lat": "1", "lon": 0}})),
            "at.lat is part of a position and must be a number of degrees"
        );
    }
}
