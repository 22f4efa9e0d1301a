//! The refusal of an invalid input: which part of the schema each error is about, and an example.

use crate::{
    action::Action,
    call_schema::{example_body, reserved_fields},
    capability::Capability,
    schema_part::part,
};
use portolan_vocabulary::{ErrorCode, Failure};
use serde_json::{Value, json};

/// The maximum number of bytes of the schemas in one refusal, which its errors share.
const SCHEMA_BYTES: usize = 4_000;
/// The number of bytes that the schema of an error may have in any case.
const LEAST_SCHEMA_BYTES: usize = 300;
/// The maximum number of bytes of an example.
const EXAMPLE_BYTES: usize = 2_000;

impl Capability {
    /// Completes a failure of an action about its input: each error gets the part of the schema that it is
    /// about, and the conflict an example of the action. Returns other failures as they are.
    pub fn complete_validation(&self, action: &Action, mut failure: Failure) -> Failure {
        let conflict = failure.conflict.as_deref_mut().and_then(Value::as_object_mut);
        let Some(conflict) =
            conflict.filter(|conflict| conflict.get("kind") == Some(&json!("validation")))
        else {
            return failure;
        };
        let Some(Value::Array(errors)) = conflict.get_mut("errors") else { return failure };
        let max_bytes = (SCHEMA_BYTES / errors.len().max(1)).max(LEAST_SCHEMA_BYTES);
        for error in errors.iter_mut().filter_map(Value::as_object_mut) {
            let pointer = error.get("pointer").and_then(Value::as_str);
            let schema = pointer.and_then(|pointer| field_schema(action, pointer, max_bytes));
            if let Some(schema) = schema {
                error.entry("schema").or_insert(schema);
            }
        }
        if let Some(example) = example(action, errors) {
            conflict.entry("example").or_insert(example);
        }
        if failure.next.is_none() && failure.has_code(ErrorCode::ValidationFailed) {
            return failure.next(self.schema_step());
        }
        failure
    }

    /// Returns the conflict of a body that names no action that agents may call.
    pub(super) fn action_violation(&self, rule: &str) -> Value {
        let names: Vec<_> = self.callable().map(|action| action.descriptor.name.as_str()).collect();
        let schema = json!({ "type": "string", "enum": names });
        json!({
            "kind": "validation",
            "errors": [{ "pointer": "/action", "rule": rule, "expected": names, "schema": schema }],
        })
    }

    /// Returns the step that reads the schemas of this capability's inputs.
    pub fn schema_step(&self) -> Value {
        json!({ "http": { "method": "GET", "url": format!("/v1/capabilities/{}/schema", self.id) } })
    }
}

/// Returns the part of the schema of a call's body at a place.
fn field_schema(action: &Action, pointer: &str, max_bytes: usize) -> Option<Value> {
    let document = action.schemas.input.document();
    let name = pointer.trim_start_matches('/');
    let is_own = document.get("properties").is_some_and(|fields| fields.get(name).is_some());
    match reserved_fields(action).shift_remove(name) {
        Some(reserved) if !is_own => Some(reserved),
        _ => part(document, pointer, max_bytes),
    }
}

/// Returns the body of an example of the action, if there is one that is not too long: the first that has all
/// fields at fault, or else the first.
fn example(action: &Action, errors: &[Value]) -> Option<Value> {
    let pointers = errors.iter().filter_map(|error| error.get("pointer")?.as_str());
    let fields: Vec<&str> = pointers.filter_map(|pointer| pointer.split('/').nth(1)).collect();
    let has_all = |example: &&Value| fields.iter().all(|field| example.get(field).is_some());
    let examples = || action.descriptor.examples.iter().flatten();
    let example = examples().find(has_all).or_else(|| examples().next())?;
    let body = example_body(&action.descriptor.name, example);
    (body.to_string().len() <= EXAMPLE_BYTES).then_some(body)
}
