//! The next step of an answer or a refusal, as a client of this protocol can take it.
//!
//! The pipeline names a call by the capability's id, and everything else as a request of the REST API. Here
//! both become calls of tools or requests of this protocol; a step that no client can take is left out.

use crate::request::Target;
use serde_json::{Map, Value, json};

/// The path of the catalog in the REST API.
const CATALOG: &str = "/v1/capabilities";
/// The rules about a field that an action does not have.
const UNKNOWN_FIELD: [&str; 2] = ["additionalProperties", "unevaluatedProperties"];
/// The maximum number of bytes of a value that a corrected call repeats.
const REPEATED_BYTES: usize = 256;

/// The steps that a client can take.
pub(super) trait Steps {
    /// Returns the step that calls a capability; `None` if it is not loaded, or if this client may not call it.
    fn call(&self, capability: &str, input: Map<String, Value>) -> Option<Map<String, Value>>;
    /// Returns the step after which the client knows the input of a capability.
    fn describe(&self, capability: &str) -> Map<String, Value>;
    /// Returns the step after which the client knows the capabilities.
    fn find(&self) -> Map<String, Value>;
}

/// Returns the next step of an answer or a refusal as a client can take it; `None` if it cannot take it. `conflict` is
/// that of a refusal. `call` is the call that ended so; `None` for a tool that calls no capability.
pub(super) fn translated(
    next: Value,
    conflict: Option<&Value>,
    steps: &dyn Steps,
    call: Option<&Target>,
) -> Option<Value> {
    let Some(path) = requested_path(&next) else { return step_of_call(next, steps) };
    let correction = call.filter(|call| schema_of(path) == Some(&*call.capability));
    let correction = correction.and_then(|call| corrected_call(conflict?, steps, call));
    correction.or_else(|| step_of_path(path, steps))
}

/// Returns the path of a step that is a request of the REST API.
fn requested_path(next: &Value) -> Option<&str> {
    next.get("http")?.get("url")?.as_str()
}

/// Returns the id of the capability whose schema has this path.
fn schema_of(path: &str) -> Option<&str> {
    path.strip_prefix(CATALOG)?.strip_prefix('/')?.strip_suffix("/schema")
}

/// Returns the step for a request of the REST API; `None` if there is none, as for a token, which this client
/// already has.
fn step_of_path(path: &str, steps: &dyn Steps) -> Option<Value> {
    let step = match schema_of(path) {
        Some(id) => steps.describe(id),
        None if path == CATALOG => steps.find(),
        None => return None,
    };
    Some(Value::Object(step))
}

/// Returns the step that calls the tool of a capability; `None` if the capability is not loaded. A step that
/// calls nothing, such as a wait, stays as it is.
fn step_of_call(next: Value, steps: &dyn Steps) -> Option<Value> {
    let Value::Object(mut members) = next else { return None };
    let Some(capability) = members.shift_remove("capability") else {
        return Some(Value::Object(members));
    };
    let input = match members.shift_remove("input") {
        Some(Value::Object(input)) => input,
        _ => Map::new(),
    };
    let mut step = steps.call(capability.as_str()?, input)?;
    step.extend(members);
    Some(Value::Object(step))
}

/// Returns the refused call without the fields at fault, which become the missing ones. A long value is not
/// repeated, so that its field is a missing one too. Returns `None` if that would be the same call again.
fn corrected_call(conflict: &Value, steps: &dyn Steps, call: &Target) -> Option<Value> {
    if conflict.get("kind")? != "validation" {
        return None;
    }
    let (mut missing, mut unknown) = (Vec::new(), Vec::new());
    for error in conflict.get("errors")?.as_array()? {
        let pointer = error.get("pointer")?.as_str()?;
        let Some(field) = field_of(pointer) else { continue };
        let rule = error.get("rule").and_then(Value::as_str).unwrap_or_default();
        let is_unknown = UNKNOWN_FIELD.contains(&rule) && pointer.matches('/').count() == 1;
        let fields = if is_unknown { &mut unknown } else { &mut missing };
        if !fields.contains(&field) {
            fields.push(field);
        }
    }
    let mut input = Map::new();
    for (field, value) in &call.body {
        if missing.contains(field) || unknown.contains(field) {
            continue;
        }
        if value.to_string().len() > REPEATED_BYTES {
            missing.push(field.clone());
        } else {
            input.insert(field.clone(), value.clone());
        }
    }
    if missing.is_empty() && input.len() == call.body.len() {
        return None;
    }
    let mut step = steps.call(&call.capability, input)?;
    if !missing.is_empty() {
        step.insert("missing".to_owned(), json!(missing));
    }
    Some(Value::Object(step))
}

/// Returns the field of a call's body in which a JSON Pointer (RFC 6901) is; `None` for the whole body.
fn field_of(pointer: &str) -> Option<String> {
    let field = pointer.strip_prefix('/')?.split('/').next()?;
    Some(field.replace("~1", "/").replace("~0", "~"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        finder,
        request::{Permitted, tool_call},
    };
    use std::sync::Arc;

    /// The steps of a client that sees every tool, or only those that find others.
    struct Client {
        has_finder: bool,
    }

    impl Steps for Client {
        fn call(&self, capability: &str, input: Map<String, Value>) -> Option<Map<String, Value>> {
            let is_loaded = ["faq_get", "notes.book"].contains(&capability);
            is_loaded.then(|| match self.has_finder {
                true => finder::call(capability, false, input),
                false => tool_call(&capability.replace('.', "_"), Value::Object(input)),
            })
        }

        fn describe(&self, capability: &str) -> Map<String, Value> {
            match self.has_finder {
                true => finder::describing_call(capability),
                false => Map::from_iter([("method".to_owned(), json!("tools/list"))]),
            }
        }

        fn find(&self) -> Map<String, Value> {
            match self.has_finder {
                true => finder::finding_call(),
                false => Map::from_iter([("method".to_owned(), json!("tools/list"))]),
            }
        }
    }

    /// Returns the step that the client gets for the refusal of a call of `notes.book`.
    fn step(has_finder: bool, body: Value, refusal: Value) -> Option<Value> {
        let body = body.as_object().unwrap().clone();
        let target =
            Target { capability: Arc::from("notes.book"), body, permitted: Permitted::All };
        let next = refusal["next"].clone();
        translated(next, refusal.get("conflict"), &Client { has_finder }, Some(&target))
    }

    fn next(next: Value) -> Value {
        json!({ "error_code": "x", "next": next })
    }

    fn invalid(errors: Value) -> Value {
        let url = "/v1/capabilities/notes.book/schema";
        json!({
            "conflict": { "kind": "validation", "errors": errors },
            "next": { "http": { "method": "GET", "url": url } },
        })
    }

    #[test]
    fn a_call_becomes_a_call_of_a_tool() {
        let ask = json!({
            "capability": "notes.book", "input": { "action": "get" }, "missing": ["id"], "ask_user": "Which?",
        });
        assert_eq!(
            step(false, json!({}), next(ask.clone())).unwrap(),
            json!({ "tool": "notes_book", "arguments": { "action": "get" }, "missing": ["id"], "ask_user": "Which?" })
        );
        assert_eq!(
            step(true, json!({}), next(ask)).unwrap(),
            json!({
                "tool": "call_capability",
                "arguments": { "capability": "notes.book", "input": { "action": "get" } },
                "missing": ["id"], "ask_user": "Which?",
            })
        );
        // A capability that is not loaded cannot be called.
        assert_eq!(
            step(false, json!({}), next(json!({ "capability": "gone", "input": {} }))),
            None
        );
    }

    #[test]
    fn a_wait_stays_and_a_request_becomes_what_a_client_can_do() {
        let wait = json!({ "after_s": 3, "then": "retry_original" });
        assert_eq!(step(false, json!({}), next(wait.clone())), Some(wait));
        let request = |url: &str| next(json!({ "http": { "method": "GET", "url": url } }));
        let list = json!({ "method": "tools/list" });
        assert_eq!(step(false, json!({}), request("/v1/capabilities")), Some(list.clone()));
        assert_eq!(step(false, json!({}), request("/v1/capabilities/faq_get/schema")), Some(list));
        assert_eq!(step(false, json!({}), request("/oauth/token")), None);
        assert_eq!(
            step(true, json!({}), request("/v1/capabilities")),
            Some(json!({ "tool": "find_capabilities", "arguments": {} }))
        );
        assert_eq!(
            step(true, json!({}), request("/v1/capabilities/faq_get/schema")),
            Some(
                json!({ "tool": "describe_capability", "arguments": { "capability": "faq_get" } })
            )
        );
    }

    #[test]
    fn an_invalid_call_is_followed_by_the_call_without_its_faults() {
        let long = "x".repeat(300);
        let body = json!({ "action": "add", "id": 7, "near": { "lat": 91 }, "page": 1, "text": long, "more": true });
        let errors = json!([
            { "pointer": "/id", "rule": "type" },
            { "pointer": "/near/lat", "rule": "maximum" },
            { "pointer": "/title", "rule": "required" },
            { "pointer": "/more", "rule": "additionalProperties" },
        ]);
        assert_eq!(
            step(false, body, invalid(errors)).unwrap(),
            json!({
                "tool": "notes_book", "arguments": { "action": "add", "page": 1 },
                "missing": ["id", "near", "title", "text"],
            })
        );
        let unknown = json!([{ "pointer": "/more", "rule": "additionalProperties" }]);
        assert_eq!(
            step(false, json!({ "action": "list", "more": 1 }), invalid(unknown)).unwrap(),
            json!({ "tool": "notes_book", "arguments": { "action": "list" } })
        );
        // A fault of the whole body names no field, and the same call would fail again.
        let whole = json!([{ "pointer": "", "rule": "minProperties" }]);
        assert_eq!(
            step(false, json!({ "action": "list" }), invalid(whole)),
            Some(json!({ "method": "tools/list" }))
        );
    }
}
