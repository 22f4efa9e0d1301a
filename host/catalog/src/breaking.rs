//! Compares two versions of a capability and finds what breaks the agents that call it.

use portolan_vocabulary::{Access, ActionDescriptor, Descriptor};
use serde_json::Value;

/// Returns what a caller of the old version can no longer do, one sentence each.
pub(super) fn breaking_changes(old: &Descriptor, new: &Descriptor) -> Vec<String> {
    let mut changes = Vec::new();
    for before in old.actions.iter().filter(|action| action.access != Access::Internal) {
        match new.actions.iter().find(|action| action.name == before.name) {
            None => changes.push(format!("action {} is removed", before.name)),
            Some(after) => compare_actions(before, after, &mut changes),
        }
    }
    if let Some(default) = &old.default_action
        && new.default_action.as_ref() != Some(default)
    {
        changes.push(format!("a body without action no longer means {default}"));
    }
    changes
}

fn compare_actions(old: &ActionDescriptor, new: &ActionDescriptor, changes: &mut Vec<String>) {
    let name = &old.name;
    if old.access != new.access && new.access != Access::Open {
        changes.push(format!(
            "action {name} needs {} instead of {}",
            new.access.name(),
            old.access.name()
        ));
    }
    if let (Ok(old), Ok(new)) = (&old.input, &new.input) {
        tightened(old, new, &format!("{name}: input"), changes);
    }
    if let (Ok(old), Ok(new)) = (&old.output, &new.output) {
        removed_output(old, new, &format!("{name}: output"), changes);
    }
}

/// Finds what the new input schema refuses although the old one accepted it.
fn tightened(old: &Value, new: &Value, at: &str, changes: &mut Vec<String>) {
    let (old_fields, new_fields) = (properties(old), properties(new));
    for (field, before) in old_fields {
        match new_fields.clone().find(|(name, _)| *name == field) {
            None => changes.push(format!("{at} field {field} is removed")),
            Some((_, after)) => tightened(before, after, &format!("{at} field {field}"), changes),
        }
    }
    for field in list(new, "required") {
        if !list(old, "required").any(|name| name == field) {
            changes.push(format!("{at} field {} is now required", text(field)));
        }
    }
    let types = |schema: &Value| -> Vec<String> {
        match schema.get("type") {
            Some(Value::Array(types)) => types.iter().map(text).collect(),
            Some(one) => vec![text(one)],
            None => Vec::new(),
        }
    };
    let (before, after) = (types(old), types(new));
    let lost: Vec<_> = before.iter().filter(|name| !accepts_type(&after, name)).cloned().collect();
    if !after.is_empty() && (before.is_empty() || !lost.is_empty()) {
        changes.push(format!(
            "{at} takes {} instead of {}",
            after.join(" or "),
            if before.is_empty() { "anything".to_owned() } else { before.join(" or ") }
        ));
    }
    if new.get("enum").is_some() {
        let kept: Vec<_> = list(new, "enum").collect();
        let lost: Vec<_> =
            list(old, "enum").filter(|value| !kept.contains(value)).map(text).collect();
        if old.get("enum").is_none() {
            changes.push(format!("{at} takes only listed values now"));
        } else if !lost.is_empty() {
            changes.push(format!("{at} no longer takes {}", lost.join(", ")));
        }
    }
    for (keyword, more_is_tighter) in BOUNDS {
        let (before, after) = (number(old, keyword), number(new, keyword));
        let tighter = match (before, after) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(before), Some(after)) => {
                if more_is_tighter {
                    after > before
                } else {
                    after < before
                }
            }
        };
        if tighter {
            changes.push(format!("{at} has a tighter {keyword}"));
        }
    }
    for keyword in ["pattern", "format", "const"] {
        if new.get(keyword).is_some() && new.get(keyword) != old.get(keyword) {
            changes.push(format!("{at} has another {keyword}"));
        }
    }
    if let (Some(before), Some(after)) = (old.get("items"), new.get("items")) {
        tightened(before, after, &format!("{at} items"), changes);
    }
}

/// Finds fields that the old output schema has and the new one lacks.
fn removed_output(old: &Value, new: &Value, at: &str, changes: &mut Vec<String>) {
    for (field, before) in properties(old) {
        match properties(new).find(|(name, _)| *name == field) {
            None => changes.push(format!("{at} field {field} is removed")),
            Some((_, after)) => {
                if before.get("type") != after.get("type") {
                    changes.push(format!("{at} field {field} has another type"));
                }
                removed_output(before, after, &format!("{at} field {field}"), changes);
            }
        }
    }
    if let (Some(before), Some(after)) = (old.get("items"), new.get("items")) {
        removed_output(before, after, &format!("{at} items"), changes);
    }
}

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

fn accepts_type(types: &[String], name: &str) -> bool {
    types.iter().any(|kind| kind == name || (name == "integer" && kind == "number"))
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> + Clone {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn list<'a>(schema: &'a Value, keyword: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    schema.get(keyword).and_then(Value::as_array).into_iter().flatten()
}

fn number(schema: &Value, keyword: &str) -> Option<f64> {
    schema.get(keyword).and_then(Value::as_f64)
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn changes(old: &Value, new: &Value) -> Vec<String> {
        let mut changes = Vec::new();
        tightened(old, new, "x", &mut changes);
        changes
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
}
