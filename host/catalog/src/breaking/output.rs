//! Breaking changes of an output schema: parts that callers of the old version miss or do not expect.

use super::{
    fixes::{KEEP, RESTORE},
    parts::{ComparedPairs, Part, values_missing_in},
};
use crate::problem::Problems;
use serde_json::Value;

/// Finds fields that the new output no longer guarantees or whose type has changed, and values that callers
/// of the old output do not expect.
pub(super) fn compare_output(old: &Value, new: &Value, at: &str, changes: &mut Problems) {
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
        let Some(after) = new.property(field) else {
            changes.add(at, "is removed", KEEP);
            continue;
        };
        let is_required = |part: Part<'_>| part.required().any(|name| name == field);
        if is_required(old) && !is_required(new) {
            let fix = "always answer with it, or publish a new major version";
            changes.add(&at, "is no longer required", fix);
        }
        if before.types() != after.types() {
            changes.add(&at, "has another type", RESTORE);
        }
        compare_parts((before, after), &at, compared, changes);
    }
    compare_values(old, new, at, changes);
    if let (Some(before), Some(after)) = (old.items(), new.items()) {
        compare_parts((before, after), &format!("{at} items"), compared, changes);
    }
}

fn compare_values(old: Part<'_>, new: Part<'_>, at: &str, changes: &mut Problems) {
    let Some(before) = old.values() else { return };
    let Some(after) = new.values() else {
        changes.add(at, "can be more than the listed values now", RESTORE);
        return;
    };
    if let Some(added) = values_missing_in(&after, &before) {
        let fix = "answer with a value that callers know, or publish a new major version";
        changes.add(at, format!("can be {added}, which callers do not know"), fix);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn changes(old: &Value, new: &Value) -> Vec<String> {
        let mut changes = Problems::default();
        compare_output(old, new, "x", &mut changes);
        changes.0.into_iter().map(|change| format!("{} {}", change.at, change.problem)).collect()
    }

    #[test]
    fn what_callers_miss_or_do_not_know_is_breaking() {
        let old = json!({
            "properties": {
                "a": { "type": "string" },
                "b": { "type": "array", "items": { "enum": ["x", "y"] } },
            },
            "required": ["a"],
        });
        let with = |a: Value, b: Value, required: Value| json!({ "properties": { "a": a, "b": b }, "required": required });
        let (a, b) = (&old["properties"]["a"], &old["properties"]["b"]);
        for (new, expected) in [
            (with(a.clone(), b.clone(), json!([])), "x field a is no longer required"),
            (
                with(json!({ "type": ["string", "null"] }), b.clone(), json!(["a"])),
                "x field a has another type",
            ),
            (
                with(
                    a.clone(),
                    json!({ "type": "array", "items": { "enum": ["x", "y", "z"] } }),
                    json!(["a"]),
                ),
                "x field b items can be z, which callers do not know",
            ),
            (
                with(a.clone(), json!({ "type": "array", "items": {} }), json!(["a"])),
                "x field b items can be more than the listed values now",
            ),
        ] {
            assert_eq!(changes(&old, &new), [expected]);
        }
    }

    #[test]
    fn fewer_values_and_more_fields_are_not() {
        let old = json!({ "properties": { "a": { "enum": [1, 2] } } });
        let new =
            json!({ "properties": { "a": { "enum": [1] }, "b": {} }, "required": ["a", "b"] });
        assert_eq!(changes(&old, &new), [""; 0]);
    }
}
