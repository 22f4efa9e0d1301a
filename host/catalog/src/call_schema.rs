//! The JSON Schema of the request bodies that a capability accepts.

use crate::{action::Action, document::Document, schema::hoist};
use portolan_vocabulary::{Access, Descriptor};
use serde_json::{Map, Value, json};

/// Returns the body of `GET /v1/capabilities/{id}/schema`: one branch for each action that agents may
/// call.
pub(super) fn schema_document(descriptor: &Descriptor, actions: &[Action]) -> Document {
    let mut definitions = Map::new();
    let callable = || actions.iter().filter(|action| action.is_callable());
    let branches: Vec<_> = callable()
        .map(|action| {
            let (branch, found) = branch(descriptor, action, "#/$defs/");
            definitions.extend(found);
            branch
        })
        .collect();
    let names: Vec<_> = callable().map(|action| &action.descriptor.name).collect();
    let mut document = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": descriptor.title,
        "description": descriptor.description,
        "type": "object",
        "properties": { "action": { "enum": names } },
    });
    if let Some(fields) = document.as_object_mut() {
        if descriptor.default_action.is_none() {
            fields.insert("required".to_owned(), json!(["action"]));
        }
        fields.insert("oneOf".to_owned(), json!(branches));
        if !descriptor.state_machines.is_empty() {
            fields.insert("x-state-machines".to_owned(), json!(descriptor.state_machines));
        }
        if !definitions.is_empty() {
            fields.insert("$defs".to_owned(), Value::Object(definitions));
        }
    }
    Document::new(&document)
}

/// Returns the schemas of the host's own fields in a call's body, except `action`.
pub(super) fn reserved_fields(action: &Action) -> Map<String, Value> {
    let fields = [
        (
            "idempotency_key",
            json!({
                "type": "string", "minLength": 1, "maxLength": 255,
                "description": "Repeating a call with the same key gives the first answer again.",
            }),
        ),
        (
            "dry_run",
            json!({
                "type": "boolean", "default": false,
                "description": "Check everything, change nothing.",
            }),
        ),
    ];
    let writes = action.descriptor.access == Access::Write;
    let is_taken = |name: &str| writes && (name != "dry_run" || action.takes_dry_run());
    let fields = fields.into_iter().filter(|(name, _)| is_taken(name));
    fields.map(|(name, schema)| (name.to_owned(), schema)).collect()
}

/// Returns an example of an action as the body of a call.
pub(super) fn example_body(action: &str, example: &Value) -> Value {
    let mut body = Map::from_iter([("action".to_owned(), json!(action))]);
    body.extend(example.as_object().cloned().unwrap_or_default());
    Value::Object(body)
}

/// Returns the schema of the body of one action's call, and its definitions. References to these begin
/// with `base`.
pub fn branch(descriptor: &Descriptor, action: &Action, base: &str) -> (Value, Map<String, Value>) {
    let described = &action.descriptor;
    let prefix = |part: &str| format!("{}.{}.{part}", descriptor.id, described.name);
    let (input, mut definitions) = hoist(action.schemas.input.document(), base, &prefix("input"));
    let (output, found) = hoist(action.schemas.output.document(), base, &prefix("output"));
    definitions.extend(found);

    let is_default = descriptor.default_action.as_ref() == Some(&described.name);
    let mut properties =
        Map::from_iter([("action".to_owned(), json!({ "const": described.name }))]);
    properties
        .extend(input.get("properties").and_then(Value::as_object).cloned().unwrap_or_default());
    properties.extend(reserved_fields(action));
    let mut required = input.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    if !is_default {
        required.insert(0, json!("action"));
    }
    let mut branch = input.as_object().cloned().unwrap_or_default();
    let examples = described.examples.iter().flatten();
    let examples: Vec<_> = examples.map(|example| example_body(&described.name, example)).collect();
    let own = [
        ("title", json!(described.title)),
        ("description", json!(described.description)),
        ("type", json!("object")),
        ("properties", Value::Object(properties)),
        ("required", Value::Array(required)),
        ("additionalProperties", json!(false)),
        ("examples", Value::Array(examples)),
        ("x-access", json!(described.access)),
        ("x-requires-claim", json!(described.access.requires_claim())),
        ("x-output", output),
    ];
    branch.extend(own.map(|(name, value)| (name.to_owned(), value)));
    (Value::Object(branch), definitions)
}
