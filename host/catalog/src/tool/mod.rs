//! A capability as one MCP tool. Its schema is one object for all actions, because several agents'
//! tool interfaces refuse `oneOf` and the like at the root. It accepts at least what the actions
//! accept, except null for a field that can be left out instead; every call is checked against its action's own
//! schema.

mod definitions;
mod plain;
mod property;
mod walk;

use crate::{action::Action, call_schema::reserved_fields};
use definitions::{Definitions, DocumentDefinitions};
use plain::{drop_null, plain_input, split_types};
use portolan_vocabulary::{ActionDescriptor, Descriptor};
use property::{FieldUse, property};
use serde_json::{Map, Value, json};
use std::sync::Arc;
pub(super) use walk::{Inner, inner};

/// The schemas of a tool.
#[derive(Debug, Clone)]
pub struct ToolSchemas {
    /// The schema of the body of a call.
    pub input: Arc<Map<String, Value>>,
    /// The schema of the body of an answer: a success or a failure, since clients check both.
    pub output: Arc<Map<String, Value>>,
}

impl ToolSchemas {
    pub(super) fn new(descriptor: &Descriptor, actions: &[&Action]) -> Self {
        Self { input: Arc::new(input(descriptor, actions)), output: Arc::new(output(actions)) }
    }
}

/// Returns the only action, or the default action if it is one of these.
fn default_action<'a>(descriptor: &'a Descriptor, actions: &[&'a Action]) -> Option<&'a str> {
    if let [only] = actions {
        return Some(&only.descriptor.name);
    }
    let default = descriptor.default_action.as_deref()?;
    actions.iter().any(|action| action.descriptor.name == default).then_some(default)
}

fn input(descriptor: &Descriptor, actions: &[&Action]) -> Map<String, Value> {
    let mut definitions = Definitions::default();
    let mut uses: Vec<(String, Vec<FieldUse<'_>>)> = Vec::new();
    let mut open = false;
    for action in actions {
        let document = action.schemas.input.document();
        let own = DocumentDefinitions::of(document);
        let reserved = reserved_fields(action);
        let listed = document.get("properties").and_then(Value::as_object);
        open |= document.get("patternProperties").is_some();
        for (name, schema) in listed.into_iter().flatten().chain(&reserved) {
            let is_required = required(action).any(|field| field == name.as_str());
            let mut schema = definitions.take(&own, schema);
            if !is_required {
                drop_null(&mut schema);
            }
            plain_input(&mut schema);
            let one = FieldUse { action: &action.descriptor.name, required: is_required, schema };
            match uses.iter_mut().find(|(known, _)| known == name) {
                Some((_, uses)) => uses.push(one),
                None => uses.push((name.clone(), vec![one])),
            }
        }
    }
    let mut properties = Map::from_iter([("action".to_owned(), action_field(descriptor, actions))]);
    let fields = uses.iter().map(|(name, uses)| (name.clone(), property(uses, actions.len())));
    properties.extend(fields);
    let always = uses
        .iter()
        .filter(|(_, uses)| uses.len() == actions.len() && uses.iter().all(|field| field.required));
    let action = default_action(descriptor, actions).is_none().then_some("action");
    let required: Vec<&str> =
        action.into_iter().chain(always.map(|(name, _)| name.as_str())).collect();
    let mut schema = object(properties, &required);
    if !open {
        schema.insert("additionalProperties".to_owned(), json!(false));
    }
    define(&mut schema, definitions, plain_input);
    schema
}

fn output(actions: &[&Action]) -> Map<String, Value> {
    let mut definitions = Definitions::default();
    let uses: Vec<FieldUse<'_>> = actions
        .iter()
        .map(|action| {
            let document = action.schemas.output.document();
            let mut root = document.clone();
            if let Some(fields) = root.as_object_mut() {
                fields.shift_remove("$defs");
                fields.shift_remove("definitions");
                fields.shift_remove("$schema");
            }
            let mut schema = definitions.take(&DocumentDefinitions::of(document), &root);
            split_types(&mut schema);
            FieldUse { action: &action.descriptor.name, required: false, schema }
        })
        .collect();
    let text = json!({ "type": "string" });
    let flag = json!({ "type": "boolean" });
    let meta = json!({
        "type": "object",
        "description": "The action, its version, and how it answered.",
        "properties": {
            "capability": text, "action": text, "version": text, "request_id": text,
            "replayed": flag, "test_mode": flag, "cost_credits": { "type": "integer" },
            "dry_run": flag, "would_emit": { "type": "array", "items": { "type": "object" } },
        },
        "required": ["capability", "action", "version", "request_id"],
    });
    let next = json!({ "type": "object", "description": "The next step." });
    let code = json!({ "type": "string", "description": "The error code of a refusal." });
    let retryable =
        json!({ "type": "boolean", "description": "Whether the same call can succeed later." });
    let conflict = json!({ "type": "object", "description": "The reason in detail." });
    let properties = [
        ("result", property(&uses, actions.len())),
        ("meta", meta),
        ("next", next),
        ("error_code", code),
        ("message", text),
        ("retryable", retryable),
        ("conflict", conflict),
    ];
    let properties = properties.map(|(name, schema)| (name.to_owned(), schema));
    let mut schema = object(Map::from_iter(properties), &[]);
    let bodies = json!([
        { "required": ["result", "meta"] },
        { "required": ["error_code", "message", "retryable"] },
    ]);
    schema.insert("anyOf".to_owned(), bodies);
    define(&mut schema, definitions, split_types);
    schema
}

/// Returns the schema of the field that names the action.
fn action_field(descriptor: &Descriptor, actions: &[&Action]) -> Value {
    let names: Vec<&str> = actions.iter().map(|action| action.descriptor.name.as_str()).collect();
    let line = |action: &&Action| {
        let ActionDescriptor { name, title, deprecated, .. } = &action.descriptor;
        let note = deprecated.as_ref().map(|reason| format!(" Deprecated: {reason}"));
        format!("\n- {name}: {title}{}", note.unwrap_or_default())
    };
    let lines: String = actions.iter().map(line).collect();
    let mut field = json!({
        "type": "string",
        "enum": names,
        "description": format!("The action:{lines}"),
    });
    let default = default_action(descriptor, actions);
    if let (Some(default), Some(fields)) = (default, field.as_object_mut()) {
        fields.insert("default".to_owned(), json!(default));
    }
    field
}

fn required(action: &Action) -> impl Iterator<Item = &str> {
    let listed = action.schemas.input.document().get("required").and_then(Value::as_array);
    listed.into_iter().flatten().filter_map(Value::as_str)
}

fn object(properties: Map<String, Value>, required: &[&str]) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema
}

/// Adds the definitions, each of which `rewrite` writes plainly.
fn define(schema: &mut Map<String, Value>, definitions: Definitions, rewrite: fn(&mut Value)) {
    let mut definitions = definitions.into_map();
    definitions.values_mut().for_each(rewrite);
    if !definitions.is_empty() {
        schema.insert("$defs".to_owned(), Value::Object(definitions));
    }
}

#[cfg(test)]
pub(crate) mod tests;
