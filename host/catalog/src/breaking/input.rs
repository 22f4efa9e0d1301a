//! Breaking changes of an input schema: inputs that it refuses and its earlier version accepted.

use super::{
    fixes::KEEP,
    parts::{ComparedPairs, Part, values_missing_in},
};
use crate::problem::Problems;
use serde_json::Value;

/// The fix for an input that accepts less.
const WIDEN: &str = "accept what was accepted, or publish a new major version";

/// Keywords that bound a value, and whether a larger bound is the tighter one.
const BOUNDS: [(&str, bool); 8] = [
    ("minimum", true),
    ("exclusiveMinimum", true),
    ("minLength", true),
    ("minItems", true),
    ("maximum", false),
    ("exclusiveMaximum", false),
    ("maxLength", false),
    ("maxItems", false),
];

/// Finds what the new input schema refuses although the old one accepted it.
pub(super) fn compare_input(old: &Value, new: &Value, at: &str, changes: &mut Problems) {
    compare_parts((Part::of(old), Part::of(new)), at, &mut ComparedPairs::default(), changes);
}

fn compare_parts(
    (old, new): (Part<'_>, Part<'_>),
    at: &str,
    compared: &mut ComparedPairs,
    changes: &mut Problems,
) {
    if !compared.insert(old, new) {
        return;
    }
    for (field, before) in old.properties() {
        let at = format!("{at} field {field}");
        match new.property(field) {
            None => changes.add(at, "is removed", KEEP),
            Some(after) => compare_parts((before, after), &at, compared, changes),
        }
    }
    for field in new.required() {
        if !old.required().any(|name| name == field) {
            let fix = "make it optional, or publish a new major version";
            changes.add(format!("{at} field {field}"), "is now required", fix);
        }
    }
    compare_types(old, new, at, changes);
    compare_values(old, new, at, changes);
    compare_bounds(old, new, at, changes);
    if let (Some(before), Some(after)) = (old.items(), new.items()) {
        compare_parts((before, after), &format!("{at} items"), compared, changes);
    }
}

fn compare_types(old: Part<'_>, new: Part<'_>, at: &str, changes: &mut Problems) {
    let (before, after) = (old.types(), new.types());
    let is_no_longer_accepted = |name: &&str| !accepts_type(&after, name);
    if !after.is_empty() && (before.is_empty() || before.iter().any(is_no_longer_accepted)) {
        let before = if before.is_empty() { "anything".to_owned() } else { before.join(" or ") };
        changes.add(at, format!("takes {} instead of {before}", after.join(" or ")), WIDEN);
    }
}

fn compare_values(old: Part<'_>, new: Part<'_>, at: &str, changes: &mut Problems) {
    // `compare_bounds` compares `const`.
    if new.get("const").is_some() {
        return;
    }
    match (old.values(), new.values()) {
        (None, Some(_)) => changes.add(at, "takes only listed values now", WIDEN),
        (Some(before), Some(after)) => {
            if let Some(missing) = values_missing_in(&before, &after) {
                changes.add(at, format!("no longer takes {missing}"), WIDEN);
            }
        }
        (_, None) => {}
    }
}

fn compare_bounds(old: Part<'_>, new: Part<'_>, at: &str, changes: &mut Problems) {
    let number = |part: Part<'_>, keyword| part.get(keyword).and_then(Value::as_f64);
    for (keyword, more_is_tighter) in BOUNDS {
        let tighter = match (number(old, keyword), number(new, keyword)) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(before), Some(after)) if more_is_tighter => after > before,
            (Some(before), Some(after)) => after < before,
        };
        if tighter {
            changes.add(at, format!("has a tighter {keyword}"), WIDEN);
        }
    }
    for keyword in ["pattern", "format", "const"] {
        if new.get(keyword).is_some() && new.get(keyword) != old.get(keyword) {
            changes.add(at, format!("has another {keyword}"), WIDEN);
        }
    }
}

fn accepts_type(types: &[&str], name: &str) -> bool {
    types.iter().any(|kind| *kind == name || (name == "integer" && *kind == "number"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn changes(old: &Value, new: &Value) -> Vec<String> {
        let mut changes = Problems::default();
        compare_input(old, new, "x", &mut changes);
        changes.0.into_iter().map(|change| format!("{} {}", change.at, change.problem)).collect()
    }

    #[test]
    fn a_tightened_input_is_breaking() {
        let old = json!({ "properties": { "a": { "type": ["string", "null"], "maxLength": 9 }, "b": { "enum": [1, 2] } } });
        for (new, expected) in [
            (json!({ "properties": { "a": {} } }), "x field b is removed"),
            (
                json!({ "properties": { "a": { "type": "string" }, "b": {} } }),
                "x field a takes string instead of string or null",
            ),
            (
                json!({ "properties": { "a": { "maxLength": 8 }, "b": {} } }),
                "x field a has a tighter maxLength",
            ),
            (
                json!({ "properties": { "a": {}, "b": { "enum": [2, 3] } } }),
                "x field b no longer takes 1",
            ),
            (
                json!({ "properties": { "a": {}, "b": {}, "c": {} }, "required": ["c"] }),
                "x field c is now required",
            ),
        ] {
            assert_eq!(changes(&old, &new), [expected]);
        }
    }

    #[test]
    fn a_widened_input_is_not() {
        let old = json!({ "properties": { "a": { "type": "integer", "minimum": 3 } }, "required": ["a"] });
        let new =
            json!({ "properties": { "a": { "type": ["number", "null"], "minimum": 1 }, "b": {} } });
        assert_eq!(changes(&old, &new), [""; 0]);
    }

    #[test]
    fn values_are_found_behind_references() {
        let document = |values: Value| {
            json!({
                "properties": { "kind": { "anyOf": [{ "$ref": "#/$defs/Kind" }, { "type": "null" }] } },
                "$defs": { "Kind": { "oneOf": values } },
            })
        };
        let old = document(json!([{ "const": "book" }, { "const": "map" }]));
        let new = document(json!([{ "const": "book" }]));
        assert_eq!(changes(&old, &new), ["x field kind no longer takes map"]);
        assert_eq!(changes(&new, &old), [""; 0]);
    }

    #[test]
    fn a_recursive_schema_ends() {
        let tree = json!({ "properties": { "left": { "$ref": "#" }, "right": { "$ref": "#" } } });
        assert_eq!(changes(&tree, &tree), [""; 0]);
    }
}
