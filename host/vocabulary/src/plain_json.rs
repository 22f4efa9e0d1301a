//! JSON texts as they are stored: a search of the text finds every id that the value contains, and no
//! others.

use serde_json::Value;

/// Returns the text of a value as it is stored. A text that escapes characters by their number (`\u005f`)
/// or names a member of an object twice is replaced with the value's serialization; any other text is
/// returned unchanged.
pub fn plain_json(text: String, value: &Value) -> String {
    if is_plain(&text, value) { text } else { value.to_string() }
}

fn is_plain(text: &str, value: &Value) -> bool {
    let (mut in_string, mut names) = (false, 0);
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if bytes.next() == Some(b'u') => return false,
            b'"' => in_string = !in_string,
            b':' if !in_string => names += 1,
            _ => {}
        }
    }
    names == count_members(value)
}

/// Returns the number of the members of all objects in a value.
fn count_members(value: &Value) -> usize {
    match value {
        Value::Array(elements) => elements.iter().map(count_members).sum(),
        Value::Object(entries) => {
            entries.len() + entries.values().map(count_members).sum::<usize>()
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::plain_json;

    fn stored(text: &str) -> String {
        plain_json(text.to_owned(), &serde_json::from_str(text).unwrap())
    }

    #[test]
    fn plain_texts_are_unchanged() {
        for text in [
            r#"{}"#,
            r#"{ "a": 1.50, "b": [{"c": "d:e"}, {}], "f\"": "\\\":{" }"#,
            r#"{"big":123456789012345678901234567890,"text":"ä\n\/"}"#,
        ] {
            assert_eq!(stored(text), text);
        }
    }

    #[test]
    fn escaped_ids_are_unescaped_and_only_the_last_of_equal_members_is_kept() {
        assert_eq!(stored(r#"{"owner":"own\u005f01"}"#), r#"{"owner":"own_01"}"#);
        assert_eq!(stored(r#"{"own\u005f01":{}}"#), r#"{"own_01":{}}"#);
        assert_eq!(stored(r#"{"note":"own_01","note":"x"}"#), r#"{"note":"x"}"#);
        assert_eq!(stored(r#"{"a":[{"b":1,"\"b":2,"b":3}]}"#), r#"{"a":[{"b":3,"\"b":2}]}"#);
    }
}
