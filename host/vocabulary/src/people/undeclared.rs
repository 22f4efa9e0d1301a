//! The id of a person at a place of a document where its collection declares none, and the part of a call's
//! input that it comes from.

use super::ids::person_ids;
use crate::{ErrorCode, Failure};
use serde_json::{Value, json};

/// The message about an id in a text, with its fix.
const MESSAGE: &str = "A text of the input is the id of a person or an agent, and this field takes none. \
     Leave the id out, or write it within a sentence, with spaces.";

/// The id of a person that a document names outside the declared paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndeclaredPerson {
    pub id: String,
    /// The place in the document: `$id`, a path such as `members.0.owner_id`, or `a key of members`.
    pub at: String,
}

impl UndeclaredPerson {
    /// Returns the failure of a call with this input, which names the field that the id comes from; `None` if
    /// the id is not in the input, so that the document's author is at fault.
    pub fn caused_by(&self, input: &Value) -> Option<Failure> {
        let mut found = Vec::new();
        collect_pointers(input, &self.id, "", &mut found);
        // The input can also have the id in a field that takes ids.
        let is_of_field = |pointer: &&String| field_of(pointer, '/') == field_of(&self.at, '.');
        let pointer = found.iter().find(is_of_field).or(found.first())?;
        let error = json!({
            "pointer": pointer,
            "rule": "person_id",
            "expected": "a text that is not the id of a person or an agent",
        });
        let conflict = json!({ "kind": "validation", "errors": [error] });
        Some(Failure::new(ErrorCode::ValidationFailed).message(MESSAGE).conflict(conflict))
    }
}

/// Returns the last name of a path, without numbers of elements.
fn field_of(path: &str, separator: char) -> Option<&str> {
    path.rsplit(separator).find(|name| !name.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Adds the JSON Pointers (RFC 6901) of the texts that name a person, and of the objects with such a key.
fn collect_pointers(value: &Value, id: &str, at: &str, found: &mut Vec<String>) {
    let names = |text: &str| person_ids(text).any(|named| named == id);
    match value {
        Value::String(text) if names(text) => found.push(at.to_owned()),
        Value::Array(elements) => {
            for (place, element) in elements.iter().enumerate() {
                collect_pointers(element, id, &format!("{at}/{place}"), found);
            }
        }
        Value::Object(entries) => {
            for (name, child) in entries {
                if names(name) {
                    found.push(at.to_owned());
                }
                let name = name.replace('~', "~0").replace('/', "~1");
                collect_pointers(child, id, &format!("{at}/{name}"), found);
            }
        }
        _ => {}
    }
}
