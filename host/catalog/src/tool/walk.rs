//! Visits the schemas inside a JSON Schema, and never the values that only look like schemas.

use serde_json::{Map, Value, json};

/// Keywords that hold one schema (JSON Schema 2020-12 and older drafts).
const SINGLE: [&str; 11] = [
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
];
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
const MAPS: [&str; 5] =
    ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];
/// Keywords for which clients accept `true` and `false` as well as objects.
const SWITCHES: [&str; 3] = ["additionalProperties", "unevaluatedItems", "unevaluatedProperties"];

/// The schemas that the value of a keyword holds.
pub(crate) enum Inner<'a> {
    One(&'a Value),
    List(&'a [Value]),
    Map(&'a Map<String, Value>),
}

/// Returns the schemas that the value of a keyword holds; `None` if it is no such keyword, or its value is `true`
/// or `false`.
pub(crate) fn inner<'a>(keyword: &str, value: &'a Value) -> Option<Inner<'a>> {
    match value {
        Value::Array(list) if LISTS.contains(&keyword) => Some(Inner::List(list)),
        Value::Object(map) if MAPS.contains(&keyword) => Some(Inner::Map(map)),
        Value::Object(_) if SINGLE.contains(&keyword) => Some(Inner::One(value)),
        _ => None,
    }
}

/// Passes every schema that is an object to `visit`, the outer before the inner.
pub(super) fn walk(schema: &Value, visit: &mut impl FnMut(&Map<String, Value>)) {
    let Some(fields) = schema.as_object() else { return };
    visit(fields);
    for (keyword, value) in fields {
        match inner(keyword, value) {
            Some(Inner::One(schema)) => walk(schema, visit),
            Some(Inner::List(list)) => list.iter().for_each(|schema| walk(schema, visit)),
            Some(Inner::Map(map)) => map.values().for_each(|schema| walk(schema, visit)),
            None => {}
        }
    }
}

/// Passes every schema that is an object to `visit`, which may change it.
pub(super) fn walk_mut(schema: &mut Value, visit: &mut impl FnMut(&mut Map<String, Value>)) {
    let Some(fields) = schema.as_object_mut() else { return };
    visit(fields);
    for (keyword, value) in fields.iter_mut() {
        match value {
            Value::Array(list) if LISTS.contains(&keyword.as_str()) => {
                list.iter_mut().for_each(|schema| walk_mut(schema, visit));
            }
            Value::Object(map) if MAPS.contains(&keyword.as_str()) => {
                map.values_mut().for_each(|schema| walk_mut(schema, visit));
            }
            schema if SINGLE.contains(&keyword.as_str()) => walk_mut(schema, visit),
            _ => {}
        }
    }
}

/// Formats of JSON Schema 2020-12. Formats of Rust, such as `uint32`, add nothing to the type and the
/// bounds, and clients warn of each.
const FORMATS: [&str; 19] = [
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "idn-email",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
];

/// Removes formats that clients do not know.
pub(super) fn drop_formats(schema: &mut Value) {
    walk_mut(schema, &mut |fields| {
        let format = fields.get("format").and_then(Value::as_str);
        if format.is_some_and(|name| !FORMATS.contains(&name)) {
            fields.shift_remove("format");
        }
    });
}

/// Writes the schemas `true` and `false` as objects, because several clients take only objects.
pub(super) fn replace_booleans(schema: &mut Value) {
    replace_boolean(schema);
    walk_mut(schema, &mut |fields| {
        for (keyword, value) in fields.iter_mut() {
            match value {
                Value::Array(list) if LISTS.contains(&keyword.as_str()) => {
                    list.iter_mut().for_each(replace_boolean);
                }
                Value::Object(map) if MAPS.contains(&keyword.as_str()) => {
                    map.values_mut().for_each(replace_boolean);
                }
                schema
                    if SINGLE.contains(&keyword.as_str())
                        && !SWITCHES.contains(&keyword.as_str()) =>
                {
                    replace_boolean(schema);
                }
                _ => {}
            }
        }
    });
}

fn replace_boolean(schema: &mut Value) {
    match schema {
        Value::Bool(true) => *schema = json!({}),
        Value::Bool(false) => *schema = json!({ "not": {} }),
        _ => {}
    }
}
