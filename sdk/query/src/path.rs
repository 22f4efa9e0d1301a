//! Paths into a JSON document: `owner.id`, `tags[]`, `people[].name`.

use serde_json::Value;
use std::fmt;

const MAX_LENGTH: usize = 128;

/// Words of filters and sort orders, which no path may equal.
const RESERVED: [&str; 5] = ["and", "or", "not", "relevance", "distance"];

/// A path to an indexed value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(Box<str>);

impl Path {
    /// Parses names of ASCII letters, digits and `_` that are joined by dots. One may end in `[]`.
    /// Returns `None` for any other text, and for one of more than 128 bytes.
    pub fn parse(text: &str) -> Option<Self> {
        let is_name = |name: &str| {
            let name = name.strip_suffix("[]").unwrap_or(name);
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let fits = text.len() <= MAX_LENGTH
            && text.split('.').all(is_name)
            && text.matches("[]").count() <= 1;
        fits.then(|| Self(Box::from(text)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the path has `[]`, and so a value for each element of an array.
    pub fn is_multiple(&self) -> bool {
        self.0.contains("[]")
    }

    /// Returns whether the word is reserved in filters and sort orders.
    pub fn is_reserved(&self) -> bool {
        RESERVED.contains(&self.as_str())
    }

    /// Returns the value at the path, or for a path with `[]` one value for each element of the
    /// array. A value is `None` where the document has nothing.
    pub fn values<'v>(&self, document: &'v Value) -> Vec<Option<&'v Value>> {
        let Some((array, rest)) = self.0.split_once("[]") else {
            return vec![descend(document, &self.0)];
        };
        let elements = descend(document, array).and_then(Value::as_array);
        let rest = rest.strip_prefix('.');
        elements
            .into_iter()
            .flatten()
            .map(|element| rest.map_or(Some(element), |rest| descend(element, rest)))
            .collect()
    }
}

fn descend<'v>(value: &'v Value, names: &str) -> Option<&'v Value> {
    names.split('.').try_fold(value, |value, name| value.get(name))
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn path(text: &str) -> Path {
        Path::parse(text).unwrap()
    }

    #[test]
    fn paths_are_names_and_at_most_one_array() {
        for text in ["a", "owner.id", "tags[]", "people[].name", "a.b[].c.d_1"] {
            assert_eq!(path(text).to_string(), text);
        }
        let wrong = ["", ".", "a.", ".a", "a..b", "[]", "a[].b[]", "a[][]", "a[]b", "a[0]", "ä"];
        for text in wrong {
            assert_eq!(Path::parse(text), None, "{text}");
        }
        assert!(Path::parse(&"a".repeat(128)).is_some());
        assert!(Path::parse(&"a".repeat(129)).is_none());
        assert!(path("tags[]").is_multiple() && !path("tags").is_multiple());
        assert!(path("distance").is_reserved() && !path("way.distance").is_reserved());
    }

    #[test]
    fn single_paths_have_one_value() {
        let document = json!({"owner": {"id": 7, "name": null}, "tags": ["a"]});
        assert_eq!(path("owner.id").values(&document), [Some(&json!(7))]);
        assert_eq!(path("owner.name").values(&document), [Some(&json!(null))]);
        assert_eq!(path("tags").values(&document), [Some(&json!(["a"]))]);
        assert_eq!(path("owner.id.more").values(&document), [None]);
        assert_eq!(path("tags.0").values(&document), [None]);
    }

    #[test]
    fn multiple_paths_have_one_value_for_each_element() {
        let document = json!({"tags": ["a", 1], "people": [{"name": "b"}, {}, 3], "no": "array"});
        assert_eq!(path("tags[]").values(&document), [Some(&json!("a")), Some(&json!(1))]);
        assert_eq!(path("people[].name").values(&document), [Some(&json!("b")), None, None]);
        assert!(path("no[]").values(&document).is_empty());
        assert!(path("nothing[]").values(&document).is_empty());
    }
}
