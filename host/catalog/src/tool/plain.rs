//! Writes a schema so that every client can read it: one type for each schema, and no null for a field that can be
//! left out instead.
//!
//! A null that means something else than leaving the field out is named in the field's description, and stays.

use crate::tool::walk::walk_mut;
use serde_json::{Map, Value, json};

/// Keywords that hold alternatives.
const ALTERNATIVES: [&str; 2] = ["anyOf", "oneOf"];
/// Keywords of which the outer one counts when a single alternative takes the place of its list.
const DESCRIBING: [&str; 2] = ["description", "default"];

/// Writes the schema of an input, whose optional fields lose null.
pub(super) fn plain_input(schema: &mut Value) {
    walk_mut(schema, &mut |fields| {
        let required = fields.get("required").cloned().unwrap_or_default();
        let is_required = |name: &str| {
            required.as_array().is_some_and(|names| names.iter().any(|listed| listed == name))
        };
        let properties = fields.get_mut("properties").and_then(Value::as_object_mut);
        for (name, property) in properties.into_iter().flatten() {
            if !is_required(name) {
                drop_null(property);
            }
        }
    });
    split_types(schema);
}

/// Replaces a list of types with alternatives of one type each.
pub(super) fn split_types(schema: &mut Value) {
    walk_mut(schema, &mut |fields| {
        let has_alternatives = fields.contains_key("anyOf");
        let Some(Value::Array(types)) = fields.get("type").filter(|_| !has_alternatives) else {
            return;
        };
        let alternatives: Vec<_> = types.iter().map(|name| json!({ "type": name })).collect();
        fields.shift_remove("type");
        fields.insert("anyOf".to_owned(), Value::Array(alternatives));
    });
}

/// Removes null from what an optional field accepts, unless its description says what null means.
pub(super) fn drop_null(property: &mut Value) {
    let Some(fields) = property.as_object_mut() else { return };
    if describes_null(fields) {
        return;
    }
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        retain_some(types, |name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            fields.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = fields.get_mut("enum") {
        retain_some(values, |value| !value.is_null());
    }
    for keyword in ALTERNATIVES {
        drop_null_alternative(fields, keyword);
    }
    if fields.get("default").is_some_and(Value::is_null) {
        fields.shift_remove("default");
    }
}

/// Removes the alternative null. If one alternative is left, it takes the place of the list.
fn drop_null_alternative(fields: &mut Map<String, Value>, keyword: &str) {
    let Some(Value::Array(alternatives)) = fields.get_mut(keyword) else { return };
    retain_some(alternatives, |schema| schema.get("type").is_none_or(|name| name != "null"));
    let [Value::Object(only)] = alternatives.as_slice() else { return };
    let only = only.clone();
    let is_compatible =
        |name: &String| DESCRIBING.contains(&name.as_str()) || !fields.contains_key(name);
    if only.keys().all(is_compatible) {
        fields.shift_remove(keyword);
        for (name, value) in only {
            fields.entry(name).or_insert(value);
        }
    }
}

fn describes_null(fields: &Map<String, Value>) -> bool {
    let text = fields.get("description").and_then(Value::as_str).unwrap_or_default();
    text.split(|letter: char| !letter.is_alphanumeric())
        .any(|word| word.eq_ignore_ascii_case("null"))
}

/// Removes the other elements, unless none would be left.
fn retain_some(elements: &mut Vec<Value>, keep: impl Fn(&Value) -> bool) {
    if elements.iter().any(&keep) {
        elements.retain(keep);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(mut schema: Value) -> Value {
        plain_input(&mut schema);
        schema
    }

    #[test]
    fn an_optional_field_has_no_null() {
        let fields = |properties: Value| {
            let schema =
                json!({ "type": "object", "properties": properties, "required": ["must"] });
            plain(schema)["properties"].clone()
        };
        assert_eq!(
            fields(json!({
                "text": { "type": ["string", "null"], "maxLength": 5, "default": null },
                "side": { "type": ["string", "null"], "enum": ["offer", "demand", null] },
                "near": {
                    "description": "Where.",
                    "anyOf": [{ "type": "object", "description": "A point." }, { "type": "null" }],
                },
                "more": { "anyOf": [{ "type": "string" }, { "type": "integer" }, { "type": "null" }] },
                "must": { "type": ["string", "null"] },
                "link": { "type": ["string", "null"], "description": "A link; null removes it." },
            })),
            json!({
                "text": { "type": "string", "maxLength": 5 },
                "side": { "type": "string", "enum": ["offer", "demand"] },
                "near": { "description": "Where.", "type": "object" },
                "more": { "anyOf": [{ "type": "string" }, { "type": "integer" }] },
                "must": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
                "link": {
                    "anyOf": [{ "type": "string" }, { "type": "null" }],
                    "description": "A link; null removes it.",
                },
            })
        );
    }

    #[test]
    fn what_is_null_alone_stays() {
        let nothing = json!({ "type": "null" });
        assert_eq!(
            plain(
                json!({ "properties": { "x": nothing, "y": { "enum": [null] }, "z": { "anyOf": [nothing] } } })
            ),
            json!({ "properties": { "x": nothing, "y": { "enum": [null] }, "z": nothing } })
        );
    }

    #[test]
    fn types_within_elements_and_alternatives_are_split() {
        assert_eq!(
            plain(json!({ "items": { "type": ["integer", "string"], "minimum": 1 } })),
            json!({ "items": { "anyOf": [{ "type": "integer" }, { "type": "string" }], "minimum": 1 } })
        );
        // Both lists apply, and the one of types cannot be written a second time.
        let both = json!({ "type": ["integer", "string"], "anyOf": [{ "minimum": 1 }] });
        assert_eq!(plain(both.clone()), both);
    }
}
