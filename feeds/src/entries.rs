//! Reads the entries of a source one by one: an entry that cannot be read does not affect the others.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
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
/// `noun` is the name of an entry in errors.
pub fn each<T: DeserializeOwned, R>(
    entries: Vec<Value>,
    noun: &str,
    read: impl Fn(T) -> Result<Option<R>, &'static str>,
) -> (Vec<R>, Vec<Refused>) {
    let (mut found, mut refused) = (Vec::new(), Vec::new());
    for (position, entry) in entries.into_iter().enumerate() {
        let id = identifier(&entry);
        let parsed = serde_json::from_value(entry).map_err(|error| error.to_string());
        match parsed.and_then(|entry| read(entry).map_err(str::to_owned)) {
            Ok(record) => found.extend(record),
            Err(reason) => {
                refused.push(Refused { entry: format!("{noun} {position}"), id, reason });
            }
        }
    }
    (found, refused)
}

fn identifier(entry: &Value) -> Option<String> {
    let mut values = IDENTIFIERS.iter().filter_map(|name| entry.get(*name));
    values.find_map(|value| match value {
        Value::String(text) => Some(text.trim().chars().take(MOST_IDENTIFIER).collect()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_entry_that_cannot_be_read_is_named_and_the_others_are_read() {
        let entries = vec![json!("a"), json!({ "id": 7 }), json!([]), json!("")];
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
