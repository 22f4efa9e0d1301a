//! Reads the entries of a source one by one: an entry that cannot be read does not affect the others.

use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};
use std::fmt;

/// The fields in which sources write an entry's own identifier, the most specific first.
const IDENTIFIERS: [&str; 5] = ["id", "shortcode", "slug", "uuid", "key"];
/// How many characters of an identifier are kept.
const MOST_IDENTIFIER: usize = 80;

/// An entry of a source that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// The position of the entry in its answer, such as "entry 3".
    pub entry: String,
    /// The identifier of the entry, if that could be read.
    pub id: Option<String>,
    pub reason: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entry, id, reason } = self;
        match id {
            Some(id) => write!(formatter, "{entry} ({id}): {reason}"),
            None => write!(formatter, "{entry}: {reason}"),
        }
    }
}

/// Parses each entry, and reads it. `read` returns `None` for an entry that is valid and not public.
/// `noun` is the name of an entry in errors. Only one entry is in memory as a parsed value at a time.
pub fn each<T: DeserializeOwned, R>(
    entries: Vec<&RawValue>,
    noun: &str,
    read: impl Fn(T) -> Result<Option<R>, &'static str>,
) -> (Vec<R>, Vec<Refused>) {
    let parsed = entries.into_iter().map(|entry| {
        let value: Value = match serde_json::from_str(entry.get()) {
            Ok(value) => value,
            Err(error) => return (None, Err(error.to_string())),
        };
        let id = identifier(&value);
        let parsed = serde_json::from_value(value).map_err(|error| error.to_string());
        (id, parsed.and_then(|entry| read(entry).map_err(str::to_owned)))
    });
    sorted(parsed, noun)
}

/// Sorts entries, each with its identifier, into those that were read and those that were not.
pub fn sorted<R>(
    entries: impl Iterator<Item = (Option<String>, Result<Option<R>, String>)>,
    noun: &str,
) -> (Vec<R>, Vec<Refused>) {
    let (mut found, mut refused) = (Vec::new(), Vec::new());
    for (position, (id, read)) in entries.enumerate() {
        match read {
            Ok(record) => found.extend(record),
            Err(reason) => {
                let id = id.map(|id| id.trim().chars().take(MOST_IDENTIFIER).collect());
                refused.push(Refused { entry: format!("{noun} {position}"), id, reason });
            }
        }
    }
    (found, refused)
}

/// Reads null as the default value: sources write null for absent values.
pub fn nullable<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads a number that may be written as a text; anything else is `None`.
pub fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let number = match Option::<Value>::deserialize(deserializer)? {
        Some(Value::Number(number)) => number.as_f64(),
        Some(Value::String(text)) => text.trim().parse().ok(),
        _ => None,
    };
    Ok(number.filter(|number: &f64| number.is_finite()))
}

pub fn identifier(entry: &Value) -> Option<String> {
    let mut values = IDENTIFIERS.iter().filter_map(|name| entry.get(*name));
    values.find_map(|value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_that_cannot_be_read_is_named_and_the_others_are_read() {
        let entries: Vec<&RawValue> = serde_json::from_str(r#"["a", {"id": 7}, [], ""]"#).unwrap();
        let read = |text: String| match text.is_empty() {
            true => Ok(None),
            false => Ok(Some(text)),
        };
        let (found, refused) = each(entries, "role", read);
        assert_eq!(found, ["a"]);
        let told: Vec<_> = refused.iter().map(Refused::to_string).collect();
        assert!(told[0].starts_with("role 1 (7): invalid type"), "{told:?}");
        assert!(told[1].starts_with("role 2: invalid type"), "{told:?}");
    }
}
