//! Filters: conditions on indexed paths, joined by and, or and not.
//!
//! ```
//! use portolan_sdk::documents::{any_of, field, not};
//!
//! let filter = field("kind").eq("demand").and(any_of([
//!     field("price").lt(10),
//!     not(field("price").exists()),
//! ]));
//! assert_eq!(
//!     filter.to_string(),
//!     r#"{"and":[{"kind":{"eq":"demand"}},{"or":[{"price":{"lt":10}},{"not":{"price":{"exists":true}}}]}]}"#,
//! );
//! ```

use serde::Serialize;
use serde_json::{Map, Value, json};
use std::fmt;

/// A condition on the documents to find.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter(Map<String, Value>);

/// An indexed path, for a comparison.
#[derive(Debug, Clone)]
pub struct Field(String);

/// Returns the field at a path that the collection declares in an index, such as `owner.id` or `tags[]`.
pub fn field(path: impl Into<String>) -> Field {
    Field(path.into())
}

impl Field {
    pub fn eq(self, value: impl Serialize) -> Filter {
        self.compare("eq", value)
    }

    pub fn lt(self, value: impl Serialize) -> Filter {
        self.compare("lt", value)
    }

    pub fn lte(self, value: impl Serialize) -> Filter {
        self.compare("lte", value)
    }

    pub fn gt(self, value: impl Serialize) -> Filter {
        self.compare("gt", value)
    }

    pub fn gte(self, value: impl Serialize) -> Filter {
        self.compare("gte", value)
    }

    /// Returns the filter that the field is equal to one of these values.
    pub fn one_of<V: Serialize>(self, values: impl IntoIterator<Item = V>) -> Filter {
        self.compare("in", values.into_iter().collect::<Vec<_>>())
    }

    /// Returns the filter that the document has a value other than null at this path.
    pub fn exists(self) -> Filter {
        self.compare("exists", true)
    }

    fn compare(self, operator: &str, value: impl Serialize) -> Filter {
        Filter::of(self.0, json!({ operator: crate::to_value(&value) }))
    }
}

/// Returns the filter that all of these conditions hold.
pub fn all_of(filters: impl IntoIterator<Item = Filter>) -> Filter {
    Filter::list("and", filters)
}

/// Returns the filter that at least one of these conditions holds.
pub fn any_of(filters: impl IntoIterator<Item = Filter>) -> Filter {
    Filter::list("or", filters)
}

/// Returns the filter that the condition does not hold.
pub fn not(filter: Filter) -> Filter {
    Filter::of("not".into(), Value::Object(filter.0))
}

impl Filter {
    /// Returns the filter that both conditions hold; if `other` is `None`, this filter.
    #[must_use]
    pub fn and(self, other: impl Into<Option<Self>>) -> Self {
        match other.into() {
            Some(other) => self.join("and", other),
            None => self,
        }
    }

    /// Returns the filter that at least one of the two conditions holds.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        self.join("or", other)
    }

    fn of(key: String, value: Value) -> Self {
        Self(Map::from_iter([(key, value)]))
    }

    fn list(operator: &str, filters: impl IntoIterator<Item = Self>) -> Self {
        let filters = filters.into_iter().map(|filter| Value::Object(filter.0)).collect();
        Self::of(operator.into(), Value::Array(filters))
    }

    /// Merges a chain of one operator into one list, because hosts limit the depth of a filter.
    fn join(mut self, operator: &str, other: Self) -> Self {
        let alone = self.0.len() == 1;
        match self.0.get_mut(operator) {
            Some(Value::Array(filters)) if alone => {
                filters.push(Value::Object(other.0));
                self
            }
            _ => Self::list(operator, [self, other]),
        }
    }
}

/// Makes a filter from a JSON object in the form of the contract.
impl From<Map<String, Value>> for Filter {
    fn from(filter: Map<String, Value>) -> Self {
        Self(filter)
    }
}

/// Writes the filter as JSON text in the form of the contract.
impl fmt::Display for Filter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&crate::to_json(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operator_has_its_name() {
        let filters = [
            field("a.b").eq("x"),
            field("a").one_of([1, 2]),
            field("a").lt(1),
            field("a").lte(1.5),
            field("a").gt(-1),
            field("a").gte(true),
            field("tags[]").exists(),
            not(field("a").eq(Option::<u8>::None)),
        ];
        let texts = filters.map(|filter| filter.to_string());
        assert_eq!(
            texts,
            [
                r#"{"a.b":{"eq":"x"}}"#,
                r#"{"a":{"in":[1,2]}}"#,
                r#"{"a":{"lt":1}}"#,
                r#"{"a":{"lte":1.5}}"#,
                r#"{"a":{"gt":-1}}"#,
                r#"{"a":{"gte":true}}"#,
                r#"{"tags[]":{"exists":true}}"#,
                r#"{"not":{"a":{"eq":null}}}"#,
            ]
        );
    }

    #[test]
    fn chains_stay_flat_and_keep_their_meaning() {
        let number = |n: u8| field("n").eq(n);
        assert_eq!(number(1).and(number(2)).and(number(3)), all_of([1, 2, 3].map(number)));
        assert_eq!(number(1).or(number(2)).or(number(3)), any_of([1, 2, 3].map(number)));
        assert_eq!(
            number(1).and(number(2)).or(number(3)),
            any_of([all_of([1, 2].map(number)), number(3)])
        );
    }

    #[test]
    fn what_comes_from_outside_is_joined_as_a_whole() {
        let outside = json!({"or": [{"a": {"eq": 1}}], "b": {"eq": 2}});
        let Value::Object(map) = outside.clone() else { panic!("an object") };
        let joined = Filter::from(map).or(field("c").eq(3));
        assert_eq!(Value::Object(joined.0), json!({"or": [outside, {"c": {"eq": 3}}]}));
    }

    #[test]
    fn a_field_may_be_called_like_an_operator() {
        let both = field("and").eq(1).and(field("b").eq(2));
        assert_eq!(both.to_string(), r#"{"and":[{"and":{"eq":1}},{"b":{"eq":2}}]}"#);
    }
}
