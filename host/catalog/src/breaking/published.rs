//! The version of a capability that a running host serves, read from the documents that it publishes.

use portolan_vocabulary::{
    Access, ActionDescriptor, Descriptor, ErrorDeclaration, ErrorKind, Publication, StateMachine,
    Transition,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Fields of a call's body that are the host's own.
const RESERVED: [&str; 3] = ["action", "idempotency_key", "dry_run"];

/// Returns the descriptor of the version that a host serves: `entry` is its entry in
/// `GET /v1/capabilities`, `schema` the answer of `GET /v1/capabilities/{id}/schema`. The kinds of errors and
/// the collections, which a host does not publish, are those of the candidate, so that they compare as equal.
/// Internal actions are left out.
pub fn published_version(entry: &Value, schema: &Value, candidate: &Descriptor) -> Descriptor {
    let actions: Vec<_> =
        array(entry, "actions").filter_map(|action| action_of(action, schema)).collect();
    let emitted: BTreeSet<&String> = actions.iter().flat_map(|action| &action.emits).collect();
    let publishes = emitted.into_iter().map(|event_type| {
        let mut own = candidate.publishes.iter();
        let sensitive =
            own.any(|declared| declared.event_type == *event_type && declared.sensitive);
        Publication { event_type: event_type.clone(), sensitive }
    });
    Descriptor {
        version: text(entry, "version"),
        default_action: entry.get("default_action").and_then(Value::as_str).map(str::to_owned),
        errors: array(entry, "errors").map(|error| error_of(error, candidate)).collect(),
        publishes: publishes.collect(),
        state_machines: array(schema, "x-state-machines").map(machine_of).collect(),
        actions,
        ..candidate.clone()
    }
}

fn action_of(entry: &Value, schema: &Value) -> Option<ActionDescriptor> {
    let name = text(entry, "name");
    let branch = array(schema, "oneOf").find(|branch| {
        branch.pointer("/properties/action/const").is_some_and(|own| *own == *name)
    })?;
    let access = match entry.get("access")?.as_str()? {
        "read" => Access::Read,
        "write" => Access::Write,
        "events" => Access::Events,
        _ => Access::Open,
    };
    let definitions = schema.get("$defs").cloned().unwrap_or_else(|| json!({}));
    let mut output = branch.get("x-output").cloned().unwrap_or_else(|| json!({}));
    let mut input = branch.clone();
    if let Some(fields) = input.get_mut("properties").and_then(Value::as_object_mut) {
        fields.retain(|name, _| !RESERVED.contains(&name.as_str()));
    }
    if let Some(required) = input.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name != "action");
    }
    for document in [&mut input, &mut output] {
        if let Some(fields) = document.as_object_mut() {
            fields.insert("$defs".to_owned(), definitions.clone());
        }
    }
    Some(ActionDescriptor {
        title: text(entry, "title"),
        description: text(entry, "description"),
        access,
        input: Ok(input),
        output: Ok(output),
        idempotent: entry.get("idempotent") == Some(&Value::Bool(true)),
        destructive: entry.get("destructive") == Some(&Value::Bool(true)),
        cost_credits: 0,
        errors: texts(entry, "errors"),
        emits: texts(entry, "emits"),
        callers: Vec::new(),
        examples: Vec::new(),
        deprecated: None,
        name,
    })
}

fn error_of(entry: &Value, candidate: &Descriptor) -> ErrorDeclaration {
    let code = text(entry, "error_code");
    let own = candidate.errors.iter().find(|error| error.code == code);
    ErrorDeclaration {
        kind: own.map_or(ErrorKind::Invalid, |own| own.kind),
        retryable: entry.get("retryable") == Some(&Value::Bool(true)),
        description: text(entry, "description"),
        code,
    }
}

fn machine_of(machine: &Value) -> StateMachine {
    let transition = |transition: &Value| Transition {
        action: text(transition, "action"),
        from: texts(transition, "from"),
        to: texts(transition, "to"),
        role: transition.get("role").and_then(Value::as_str).map(str::to_owned),
    };
    StateMachine {
        name: text(machine, "name"),
        states: texts(machine, "states"),
        transitions: array(machine, "transitions").map(transition).collect(),
    }
}

fn array<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

fn texts(value: &Value, name: &str) -> Vec<String> {
    array(value, name).filter_map(Value::as_str).map(str::to_owned).collect()
}

fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}
