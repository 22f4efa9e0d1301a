//! Reads the entries of a source one by one: an entry that cannot be read does not affect the others.

use crate::text::is_invisible;
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};
use std::fmt;

/// The fields in which sources write an entry's own identifier, the most specific first. Records have the same
/// one, so that an entry that cannot be read is known to be there.
pub const BY_ID: [&str; 5] = ["id", "shortcode", "slug", "uuid", "key"];
/// The same of organisations, which are known by their slugs.
pub const BY_SLUG: [&str; 5] = ["slug", "id", "shortcode", "uuid", "key"];
/// How many characters of an identifier and of a reason are kept.
const MOST_IDENTIFIER: usize = 200;
const MOST_REASON: usize = 400;

/// An entry of a source that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// The position of the entry in its answer, such as "entry 3".
    pub entry: String,
    /// The identifier of the entry, if that could be read.
    pub id: Option<String>,
    pub reason: String,
}

impl Refused {
    /// Makes the entry. Its texts are shown in terminals, so they have no control characters.
    pub fn new(entry: String, id: Option<&str>, reason: &str) -> Self {
        let id = id.map(|id| printed(id.trim(), MOST_IDENTIFIER));
        Self { entry: printed(&entry, MOST_IDENTIFIER), id, reason: shown(reason) }
    }
}

fn printed(text: &str, most: usize) -> String {
    let is_shown = |one: &char| !one.is_control() && !is_invisible(*one);
    text.chars().filter(is_shown).take(most).collect()
}

/// Returns a reason as it may be printed: a source may have written a part of it.
pub fn shown(reason: &str) -> String {
    printed(reason, MOST_REASON)
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

/// Parses each entry, and reads it. `names` are the fields with its identifier. `read` returns `None` for an entry that is valid and not public.
/// `noun` is the name of an entry in errors. Only one entry is in memory as a parsed value at a time.
pub fn each<T: DeserializeOwned, R>(
    entries: Vec<&RawValue>,
    (noun, names): (&str, &[&str]),
    read: impl Fn(T) -> Result<Option<R>, &'static str>,
) -> (Vec<R>, Vec<Refused>) {
    let parsed = entries.into_iter().map(|entry| {
        let value: Value = match serde_json::from_str(entry.get()) {
            Ok(value) => value,
            Err(error) => return (None, Err(error.to_string())),
        };
        let id = identifier(&value, names);
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
                refused.push(Refused::new(format!("{noun} {position}"), id.as_deref(), &reason));
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

/// Returns the identifier of an entry, from the first of these fields that has one.
pub fn identifier(entry: &Value, names: &[&str]) -> Option<String> {
    let mut values = names.iter().filter_map(|name| entry.get(*name));
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
        let (found, refused) = each(entries, ("role", &BY_ID), read);
        assert_eq!(found, ["a"]);
        let told: Vec<_> = refused.iter().map(Refused::to_string).collect();
        assert!(told[0].starts_with("role 1 (7): invalid type"), "{told:?}");
        assert!(told[1].starts_with("role 2: invalid type"), "{told:?}");
    }

    #[test]
    fn what_a_source_writes_does_not_reach_the_terminal_as_it_is() {
        let entries: Vec<&RawValue> =
            serde_json::from_str(r#"[{"id": "\u001b]0;x\u0007\u001b[2J\u202eA1", "title": 1}]"#)
                .unwrap();
        let (_, refused) = each(entries, ("role", &BY_ID), |text: String| Ok(Some(text)));
        let told = refused[0].to_string();
        assert!(!told.contains(char::is_control) && !told.contains('\u{202e}'), "{told:?}");
        assert!(told.starts_with("role 0 (]0;x[2JA1): "), "{told:?}");
        assert_eq!(shown("unknown variant `\u{1b}[2J`"), "unknown variant `[2J`");
    }
}
