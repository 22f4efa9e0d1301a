//! Drafts: the input of a call, made from a contract and a record.

use crate::types::Handoff;
use serde_json::{Map, Value};

const OPEN: &str = "{{record.";
const CLOSE: &str = "}}";

/// Returns the value at a path of names and dots.
pub(crate) fn value_at<'r>(record: &'r Map<String, Value>, path: &str) -> Option<&'r Value> {
    let (first, rest) =
        path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let value = record.get(first)?;
    match rest {
        Some(rest) => value_at(value.as_object()?, rest),
        None => Some(value),
    }
}

/// Whether the contract can be used with this record: the record has the required fields and, if it
/// lists its contracts, this one is among them.
pub(crate) fn fits(handoff: &Handoff, handoff_id: &str, record: &Map<String, Value>) -> bool {
    let named =
        ["handoff_ids", "properties.handoff_ids"].iter().find_map(|path| value_at(record, path));
    let named = named.and_then(Value::as_array);
    named.is_none_or(|ids| ids.iter().any(|id| id == handoff_id))
        && handoff
            .from
            .required_fields
            .iter()
            .all(|path| value_at(record, path).is_some_and(has_value))
}

fn has_value(value: &Value) -> bool {
    !value.is_null() && value.as_str() != Some("")
}

/// Returns the template filled with the record's values, each field shortened to the length that
/// the contract allows.
pub(crate) fn fill(handoff: &Handoff, record: &Map<String, Value>) -> Map<String, Value> {
    let filled = handoff.input_template.iter().map(|(field, value)| {
        let Value::String(template) = value else { return (field.clone(), value.clone()) };
        let room = handoff.input_schema.pointer(&format!("/properties/{field}/maxLength"));
        let room = room.and_then(Value::as_u64).and_then(|room| usize::try_from(room).ok());
        let text = interpolate(template, record).chars().take(room.unwrap_or(usize::MAX)).collect();
        (field.clone(), Value::String(text))
    });
    filled.collect()
}

fn interpolate(template: &str, record: &Map<String, Value>) -> String {
    let (mut text, mut rest) = (String::new(), template);
    while let Some((before, after)) = rest.split_once(OPEN) {
        let Some((path, after)) = after.split_once(CLOSE) else { break };
        text.push_str(before);
        match value_at(record, path) {
            Some(Value::String(value)) => text.push_str(value),
            Some(Value::Number(value)) => text.push_str(&value.to_string()),
            _ => {}
        }
        rest = after;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn handoff(template: &Value) -> Handoff {
        serde_json::from_value(json!({
            "title": "Apply",
            "intent": "apply_to_role",
            "from": { "feed": "roles", "record_kind": "role", "required_fields": ["id", "at.name"] },
            "to": { "capability": "agent_listings", "action": "create" },
            "requires": { "claimed": true, "scopes": ["svc.write"] },
            "input_template": template,
            "input_schema": { "properties": { "title": { "maxLength": 20 } } },
            "missing": [],
            "carries": [],
            "never_carries": [],
            "consent_text": "",
        }))
        .unwrap()
    }

    fn record(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn values_are_filled_in_once_and_cut() {
        let handoff = handoff(&json!({
            "title": "For {{record.title}} at {{record.at.name}}",
            "number": "{{record.count}}{{record.gone}}",
            "remote": true,
        }));
        let record = record(json!({
            "title": "{{record.secret}}",
            "at": { "name": "Copperleaf" },
            "count": 3,
            "secret": "hidden",
        }));
        let filled = json!({ "title": "For {{record.secret}", "number": "3", "remote": true });
        assert_eq!(Value::Object(fill(&handoff, &record)), filled);
    }

    #[test]
    fn a_record_fits_if_it_has_the_required_fields_and_names_the_contract() {
        let handoff = handoff(&json!({}));
        for (value, expected) in [
            (json!({ "id": "r", "at": { "name": "A" } }), true),
            (json!({ "id": "r", "at": { "name": "A" }, "handoff_ids": ["hof_1"] }), true),
            (json!({ "id": "r", "at": { "name": "A" }, "handoff_ids": ["hof_2"] }), false),
            (
                json!({ "id": "r", "at": { "name": "A" }, "properties": { "handoff_ids": [] } }),
                false,
            ),
            (json!({ "id": "r", "at": { "name": "" } }), false),
            (json!({ "id": "r" }), false),
        ] {
            assert_eq!(fits(&handoff, "hof_1", &record(value.clone())), expected, "{value}");
        }
    }
}
