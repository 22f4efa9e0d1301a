//! The script in the component's bytes, and its texts and lists, which can be far larger than it.
//!
//! A text is a string, a list of texts that are joined, or `{"repeat": text, "times": n}`. An entry of a list
//! may be `{"of": entry, "times": n}`. In what is repeated, `{n}` stands for the number of the repetition.

use serde_json::Value;
use std::{borrow::Cow, hint::black_box};

/// The text by which tests find the place of the script.
const MARK: &[u8] = b"the script of this component:";
/// The maximum number of bytes of a script.
const ROOM: usize = 32 << 10;
const PLACE: usize = MARK.len() + ROOM;

static SCRIPT: [u8; PLACE] = {
    let mut place = [b' '; PLACE];
    place.split_at_mut(MARK.len()).0.copy_from_slice(MARK);
    place
};

/// Returns the script; null if there is none.
pub(crate) fn read() -> Value {
    let bytes = black_box(&SCRIPT).get(MARK.len()..).unwrap_or_default();
    serde_json::from_slice(bytes).unwrap_or_default()
}

/// Returns a text at its full length.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text).collect(),
        Value::Object(_) => {
            let repeated = text(&value["repeat"]);
            (0..times(value)).map(|number| numbered(&repeated, number).into_owned()).collect()
        }
        other => other.to_string(),
    }
}

/// Returns a text, or `default` if the script has none.
pub(crate) fn text_or(value: &Value, default: &str) -> String {
    if value.is_null() { default.to_owned() } else { text(value) }
}

/// Returns the JSON text of the value. If the value is `{"raw": text}`, returns that text as it is.
pub(crate) fn json(value: &Value) -> String {
    match value.get("raw") {
        Some(written) => text(written),
        None => value.to_string(),
    }
}

/// Returns the entries of a list, each repeated as often as it says.
pub(crate) fn list(value: &Value) -> impl Iterator<Item = Value> + '_ {
    value.as_array().into_iter().flatten().flat_map(|entry| {
        let repeated = entry.get("of");
        let count = if repeated.is_some() { times(entry) } else { 1 };
        (0..count).map(move |number| match repeated {
            Some(repeated) => with_number(repeated, number),
            None => entry.clone(),
        })
    })
}

/// Returns the texts of a list.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    list(value).map(|entry| text(&entry)).collect()
}

/// Returns how often a text or an entry is repeated; 1 if the script does not say.
pub(crate) fn times(value: &Value) -> u64 {
    value["times"].as_u64().unwrap_or(1)
}

/// Returns the value with the number of its repetition in all of its texts.
pub(crate) fn with_number(value: &Value, number: u64) -> Value {
    match value {
        Value::String(text) => Value::String(numbered(text, number).into_owned()),
        Value::Array(entries) => entries.iter().map(|entry| with_number(entry, number)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, field)| (numbered(name, number).into_owned(), with_number(field, number)))
            .collect(),
        other => other.clone(),
    }
}

fn numbered(text: &str, number: u64) -> Cow<'_, str> {
    match text.contains("{n}") {
        true => Cow::Owned(text.replace("{n}", &number.to_string())),
        false => Cow::Borrowed(text),
    }
}
