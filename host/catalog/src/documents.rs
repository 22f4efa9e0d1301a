//! The JSON documents about a catalog: the list, its entries, a capability's schema.

use crate::{
    capability::{Action, Capability},
    schema::hoist,
};
use portolan_store::Served;
use portolan_vocabulary::{Access, Descriptor, Digest, Timestamp};
use serde_json::{Map, Value, json};
use std::{collections::BTreeMap, sync::Arc};

/// A document as it goes over the wire, made once.
#[derive(Debug, Clone)]
pub struct Document {
    pub body: Arc<str>,
    /// An entity tag (RFC 9110), quoted; weak, because the body may be compressed on its way.
    pub etag: String,
}

impl Document {
    pub fn new(value: &Value) -> Self {
        let body = value.to_string();
        let etag = format!("W/\"{}\"", &Digest::of(body.as_bytes()).hex()[..32]);
        Self { body: Arc::from(body), etag }
    }
}

/// `GET /v1/capabilities`: `{catalog_version, generated_at, count, capabilities}`.
pub(super) fn catalog(
    version: u64,
    changed_at: Timestamp,
    capabilities: &BTreeMap<Arc<str>, Arc<Capability>>,
    served: &BTreeMap<String, Served>,
) -> Document {
    let entries: Vec<_> = capabilities
        .values()
        .map(|capability| entry(capability, served.get(&*capability.id).map(|it| it.since)))
        .collect();
    Document::new(&json!({
        "catalog_version": version,
        "generated_at": changed_at,
        "count": entries.len(),
        "capabilities": entries,
    }))
}

fn entry(capability: &Capability, since: Option<Timestamp>) -> Value {
    let descriptor = &capability.descriptor;
    let mut entry = json!({
        "id": descriptor.id,
        "title": descriptor.title,
        "summary": descriptor.summary,
        "description": descriptor.description,
        "version": descriptor.version,
        "status": descriptor.status,
        "tags": descriptor.tags,
        "schema_url": format!("/v1/capabilities/{}/schema", descriptor.id),
        "call_url": format!("/v1/capabilities/{}/call", descriptor.id),
        "mcp_tool": capability.tool_name(),
        "component_digest": capability.digest,
        "default_action": descriptor.default_action,
        "actions": capability.callable().map(action_entry).collect::<Vec<_>>(),
        "errors": descriptor.errors.iter().map(|error| json!({
            "error_code": error.code,
            "retryable": error.retryable,
            "description": error.description,
        })).collect::<Vec<_>>(),
        "since": since,
    });
    if let Some(fields) = entry.as_object_mut() {
        let optional = [
            ("sunset_at", descriptor.sunset_at.map(|at| json!(at))),
            ("successor", descriptor.successor.as_ref().map(|id| json!(id))),
        ];
        fields.extend(
            optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))),
        );
    }
    entry
}

fn action_entry(action: &Action) -> Value {
    let action = &action.descriptor;
    let mut entry = json!({
        "name": action.name,
        "title": action.title,
        "description": action.description,
        "access": action.access,
        "requires_claim": action.access.requires_claim(),
        "scopes": action.access.scope().into_iter().collect::<Vec<_>>(),
        "idempotent": action.idempotent,
        "destructive": action.destructive,
        "cost_credits": action.cost_credits,
        "emits": action.emits,
        "errors": action.errors,
    });
    if let (Some(reason), Some(fields)) = (&action.deprecated, entry.as_object_mut()) {
        fields.insert("deprecated".to_owned(), json!(reason));
    }
    entry
}

/// `GET /v1/capabilities/{id}/schema`: one branch for each action that agents may call.
pub(super) fn schema(descriptor: &Descriptor, actions: &[Action]) -> Document {
    let mut definitions = Map::new();
    let callable = || actions.iter().filter(|action| action.descriptor.access != Access::Internal);
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

/// The host's own fields in a call's body, beside `action`.
pub(super) fn reserved_fields(access: Access) -> Map<String, Value> {
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
    let writes = access == Access::Write;
    let fields = fields.into_iter().filter(|_| writes);
    fields.map(|(name, schema)| (name.to_owned(), schema)).collect()
}

/// The body of one action's call as a schema, and the definitions it refers to below `base`.
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
    properties.extend(reserved_fields(described.access));
    let mut required = input.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    if !is_default {
        required.insert(0, json!("action"));
    }
    let mut branch = input.as_object().cloned().unwrap_or_default();
    let with_action = |example: &Value| {
        let mut body = Map::from_iter([("action".to_owned(), json!(described.name))]);
        body.extend(example.as_object().cloned().unwrap_or_default());
        Value::Object(body)
    };
    let examples: Vec<_> = described.examples.iter().flatten().map(with_action).collect();
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
