//! Validates attributes against the schemas of this taxonomy. It implements only the keywords that
//! these use, because a complete validator would be larger than everything else here together.

use people_kit::taxonomy::Violation;
use serde_json::{Map, Value, json};
use std::ops::RangeInclusive;

/// Returns everything that is wrong with the attributes.
pub(crate) fn attributes(
    schema: &Map<String, Value>,
    attributes: &Map<String, Value>,
) -> Vec<Violation> {
    let mut violations = Vec::new();
    object(schema, attributes, "/attributes", &mut violations);
    violations
}

fn object(
    schema: &Map<String, Value>,
    given: &Map<String, Value>,
    pointer: &str,
    violations: &mut Vec<Violation>,
) {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !given.contains_key(name) {
            violations.push(violation(&join(pointer, name), "required", true));
        }
    }
    for (name, value) in given {
        match properties.and_then(|properties| properties.get(name)?.as_object()) {
            Some(schema) => self::value(schema, value, &join(pointer, name), violations),
            None => violations.push(violation(&join(pointer, name), "additionalProperties", false)),
        }
    }
    for (name, value) in given {
        let keywords = properties.and_then(|properties| properties.get(name));
        let other = keywords.and_then(|keywords| keywords.get(NOT_ABOVE)?.as_str());
        if other.is_some_and(|other| given.get(other).is_some_and(|other| is_above(value, other))) {
            violations.push(violation(&join(pointer, name), NOT_ABOVE, other));
        }
    }
}

/// The keyword of a field that is not above another one, which it names: an amount not above the
/// whole, a first day not after the last one.
const NOT_ABOVE: &str = "x-not-above";

/// Returns whether a number or a date is above another one. Values of other types are not.
fn is_above(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() > other.as_f64(),
        (Value::String(one), Value::String(other)) => one > other,
        _ => false,
    }
}

fn value(
    schema: &Map<String, Value>,
    given: &Value,
    pointer: &str,
    violations: &mut Vec<Violation>,
) {
    let number = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    let text = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
    let mut wrong = |keyword: &str| {
        let expected = schema.get(keyword).cloned().unwrap_or_default();
        violations.push(violation(pointer, keyword, expected));
    };
    if text("type").is_some_and(|name| !is(given, name)) {
        return wrong("type");
    }
    let listed = schema.get("enum").and_then(Value::as_array);
    if listed.is_some_and(|listed| !listed.contains(given)) {
        return wrong("enum");
    }
    let mut within = |size: f64, least: &str, most: &str| {
        if number(least).is_some_and(|least| size < least) {
            wrong(least);
        }
        if number(most).is_some_and(|most| size > most) {
            wrong(most);
        }
    };
    match given {
        Value::Number(given) => within(given.as_f64().unwrap_or(f64::NAN), "minimum", "maximum"),
        Value::String(given) => {
            within(given.chars().count() as f64, "minLength", "maxLength");
            if text("pattern").is_some_and(|pattern| !pattern_matches(pattern, given)) {
                wrong("pattern");
            }
            if text("format") == Some("date") && !is_date(given) {
                wrong("format");
            }
        }
        Value::Array(given) => {
            within(given.len() as f64, "minItems", "maxItems");
            if let Some(items) = schema.get("items").and_then(Value::as_object) {
                for (index, given) in given.iter().enumerate() {
                    value(items, given, &format!("{pointer}/{index}"), violations);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Object(_) => {}
    }
}

fn is(given: &Value, name: &str) -> bool {
    match name {
        "string" => given.is_string(),
        "boolean" => given.is_boolean(),
        "array" => given.is_array(),
        "number" => given.is_number(),
        "integer" => given.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => false,
    }
}

/// A pattern, and the function that matches it.
type Pattern = (&'static str, fn(&str) -> bool);

/// The patterns of the types in `attributes`.
const PATTERNS: [Pattern; 5] = [
    (r"^\d{4}-\d{2}-\d{2}$", has_the_form_of_a_date),
    ("^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$", |text| {
        let mut parts = text.split('-');
        parts.next().is_some_and(is_language)
            && parts.all(|part| consists_of(part, 2..=8, u8::is_ascii_alphanumeric))
    }),
    ("^[a-z]{2,3}:(A1|A2|B1|B2|C1|C2)$", |text| {
        text.split_once(':').is_some_and(|(language, level)| {
            is_language(language) && ["A1", "A2", "B1", "B2", "C1", "C2"].contains(&level)
        })
    }),
    ("^[A-Z]{3}$", |text| consists_of(text, 3..=3, u8::is_ascii_uppercase)),
    ("^[A-Z]{2}(-[A-Z0-9]{1,3})?$", |text| {
        let (country, part) = text.split_once('-').unwrap_or((text, "1"));
        let part_fits = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
        consists_of(country, 2..=2, u8::is_ascii_uppercase) && consists_of(part, 1..=3, part_fits)
    }),
];

fn is_language(text: &str) -> bool {
    consists_of(text, 2..=3, u8::is_ascii_lowercase)
}

/// Whether a text has a length within `length`, and consists of letters for which `fits` is true.
fn consists_of(text: &str, length: RangeInclusive<usize>, fits: fn(&u8) -> bool) -> bool {
    length.contains(&text.len()) && text.as_bytes().iter().all(fits)
}

/// Whether a text matches a pattern. An unknown pattern matches nothing; a test ensures that all
/// are known.
fn pattern_matches(pattern: &str, text: &str) -> bool {
    PATTERNS.iter().any(|(known, fits)| *known == pattern && fits(text))
}

fn has_the_form_of_a_date(text: &str) -> bool {
    let fits = |(place, letter): (usize, u8)| match place {
        4 | 7 => letter == b'-',
        _ => letter.is_ascii_digit(),
    };
    text.len() == 10 && text.bytes().enumerate().all(fits)
}

/// Whether the text is a `full-date` of RFC 3339.
pub(crate) fn is_date(text: &str) -> bool {
    let part = |range: std::ops::Range<usize>| text.get(range)?.parse::<u16>().ok();
    let (Some(year), Some(month), Some(day)) = (part(0..4), part(5..7), part(8..10)) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    has_the_form_of_a_date(text) && (1..=days).contains(&day)
}

/// Appends a member's name to a JSON Pointer (RFC 6901).
fn join(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

pub(crate) fn violation(pointer: &str, rule: &str, expected: impl Into<Value>) -> Violation {
    Violation { pointer: pointer.to_owned(), rule: rule.to_owned(), expected: expected.into() }
}

/// Returns valid attributes in their normal form: texts trimmed, without empty lists and repeated
/// elements.
pub(crate) fn normal(attributes: Map<String, Value>) -> Map<String, Value> {
    let members = attributes.into_iter().map(|(name, value)| (name, normal_value(value)));
    members.filter(|(_, value)| *value != json!([])).collect()
}

fn normal_value(value: Value) -> Value {
    match value {
        Value::String(text) => text.trim().into(),
        Value::Array(values) => {
            let mut distinct: Vec<Value> = Vec::new();
            for value in values.into_iter().map(normal_value) {
                if !distinct.contains(&value) {
                    distinct.push(value);
                }
            }
            distinct.into()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests;
