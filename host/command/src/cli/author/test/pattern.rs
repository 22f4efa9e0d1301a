//! Compares an expected part of a case with the actual one.
//!
//! An object matches if each member of the pattern does, and may have further members; a list matches in
//! length and order. The texts `$any`, `$id` and `$time` match any value, id and time.

use portolan_vocabulary::Timestamp;
use serde_json::{Map, Value};
use std::fmt;

/// A place at which the actual value differs from the expected one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Difference {
    /// Names and positions, such as `expect.output.items[0].title`.
    pub(super) at: String,
    pub(super) expected: String,
    pub(super) actual: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, expected, actual } = self;
        writeln!(formatter, "      {at}")?;
        writeln!(formatter, "        expected  {expected}")?;
        writeln!(formatter, "        came      {actual}")
    }
}

/// Adds a difference for every place, at `at` or below it, at which the value does not match the
/// pattern.
pub(super) fn compare(
    at: &str,
    pattern: &Value,
    actual: &Value,
    differences: &mut Vec<Difference>,
) {
    match (pattern, actual) {
        (Value::Object(pattern), Value::Object(actual)) => {
            for (name, pattern) in pattern {
                let at = format!("{at}.{name}");
                match actual.get(name) {
                    Some(actual) => compare(&at, pattern, actual, differences),
                    None => differences.push(difference(&at, pattern, "nothing")),
                }
            }
        }
        (Value::Array(patterns), Value::Array(values)) if patterns.len() == values.len() => {
            for (index, (pattern, actual)) in patterns.iter().zip(values).enumerate() {
                compare(&format!("{at}[{index}]"), pattern, actual, differences);
            }
        }
        _ if matches_value(pattern, actual) => {}
        _ => differences.push(difference(at, pattern, &actual.to_string())),
    }
}

fn difference(at: &str, pattern: &Value, actual: &str) -> Difference {
    Difference { at: at.to_owned(), expected: pattern.to_string(), actual: actual.to_owned() }
}

/// Returns whether a value matches a pattern.
pub(super) fn matches(pattern: &Value, actual: &Value) -> bool {
    let mut differences = Vec::new();
    compare("", pattern, actual, &mut differences);
    differences.is_empty()
}

fn matches_value(pattern: &Value, actual: &Value) -> bool {
    match pattern.as_str() {
        Some("$any") => true,
        Some("$id") => actual.as_str().is_some_and(|id| !id.is_empty()),
        Some("$time") => is_time(actual),
        _ if pattern.is_number() => pattern.as_f64() == actual.as_f64(),
        _ => pattern == actual,
    }
}

/// Returns whether a value is a time: RFC 3339, or milliseconds since 1970.
fn is_time(value: &Value) -> bool {
    match value {
        Value::String(text) => text.parse::<Timestamp>().is_ok(),
        value => value.is_u64(),
    }
}

/// Returns a pattern for the actual value that compares the same members as before. Parts that match stay as
/// they are written.
pub(super) fn updated_pattern(pattern: &Value, actual: &Value) -> Value {
    if matches(pattern, actual) {
        return pattern.clone();
    }
    match (pattern, actual) {
        (Value::Object(pattern), Value::Object(actual)) => {
            let members = pattern.iter().filter_map(|(name, pattern)| {
                Some((name.clone(), updated_pattern(pattern, actual.get(name)?)))
            });
            let members: Map<String, Value> = members.collect();
            // If the actual value has none of the compared members, such as after a refusal instead of an
            // output, it is recorded whole.
            Value::Object(if members.is_empty() { actual.clone() } else { members })
        }
        (Value::Array(patterns), Value::Array(values)) if patterns.len() == values.len() => {
            patterns
                .iter()
                .zip(values)
                .map(|(pattern, actual)| updated_pattern(pattern, actual))
                .collect()
        }
        _ => actual.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn differences(pattern: Value, actual: Value) -> Vec<String> {
        let mut differences = Vec::new();
        compare("output", &pattern, &actual, &mut differences);
        differences.into_iter().map(|difference| difference.at).collect()
    }

    #[test]
    fn only_named_members_are_compared_and_lists_whole() {
        let actual =
            json!({ "id": "b_1", "n": 1, "list": [1, 2], "at": "2026-03-01T09:00:00.000Z" });
        assert!(differences(json!({ "n": 1.0, "list": [1, 2] }), actual.clone()).is_empty());
        assert!(
            differences(json!({ "id": "$id", "at": "$time", "n": "$any" }), actual.clone())
                .is_empty()
        );
        let pattern = json!({ "n": 2, "list": [1], "more": null, "id": "$time", "at": "$id" });
        assert_eq!(
            differences(pattern, actual),
            ["output.n", "output.list", "output.more", "output.id"]
        );
        let nested_differences =
            differences(json!([{ "a": [0, { "b": 1 }] }]), json!([{ "a": [0, { "b": 2 }] }]));
        assert_eq!(nested_differences, ["output[0].a[1].b"]);
    }

    #[test]
    fn a_value_of_another_type_does_not_match() {
        assert!(!matches(&json!(1), &json!("1")));
        assert!(!matches(&json!("$time"), &json!("yesterday")));
        assert!(!matches(&json!("$id"), &json!("")));
    }

    #[test]
    fn matching_parts_keep_their_pattern() {
        let pattern = json!({ "id": "$id", "title": "Old", "gone": 1 });
        let actual = json!({ "id": "book_1", "title": "New", "more": true });
        assert_eq!(updated_pattern(&pattern, &actual), json!({ "id": "$id", "title": "New" }));
        let refused = json!({ "error": { "code": "taken" } });
        assert_eq!(updated_pattern(&json!({ "output": {} }), &refused), refused);
        let lists = updated_pattern(&json!(["$any", 1]), &json!([5, 2]));
        assert_eq!(lists, json!(["$any", 2]));
    }
}
