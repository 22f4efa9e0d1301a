//! Checks that the next step of an answer can be called by a program that knows nothing else.

use crate::harness::{Agent, Host, Reply};
use serde_json::{Value, json};
use std::{
    collections::{HashMap, HashSet},
    path::Path,
    sync::{LazyLock, Mutex, PoisonError},
};

/// Schemas by their URL; `None` if the capability is not loaded.
type Schemas = HashMap<String, Option<Value>>;

static SCHEMAS: LazyLock<Mutex<Schemas>> = LazyLock::new(Mutex::default);

/// Asserts that the next step of an answer can be called, and that a refusal is retryable if its
/// next step says to repeat the call.
pub async fn assert_callable(host: &Host, reply: &Reply) {
    let next = &reply.body["next"];
    let again = next["then"] == "retry_original" && reply.body["error_code"].is_string();
    assert!(!again || reply.body["retryable"] == true, "repeated in vain: {}", reply.text);
    assert_callable_step(host, next, &reply.text).await;
}

/// Asserts that the action of a next step exists, and that the input satisfies its schema once the
/// person has given the missing fields.
pub async fn assert_callable_step(host: &Host, next: &Value, answer: &str) {
    let Some(target) = next["capability"].as_str() else { return };
    let mut fault = None;
    // The capability may have been replaced since the schema was cached.
    for refresh in [false, true] {
        fault = match schema(host, target, refresh).await {
            Some(schema) => input_fault(&schema, next),
            None => (!is_shipped(target)).then(|| format!("there is no {target}")),
        };
        if fault.is_none() {
            return;
        }
    }
    panic!("nobody can take this step, {}: {answer}", fault.unwrap_or_default());
}

async fn schema(host: &Host, capability: &str, refresh: bool) -> Option<Value> {
    let path = format!("/v1/capabilities/{capability}/schema");
    let url = format!("{}{path}", host.url);
    let known = SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner).get(&url).cloned();
    if let Some(known) = known.filter(|_| !refresh) {
        return known;
    }
    let reply = host.get(&path).await;
    let schema = (reply.status == 200).then_some(reply.body);
    SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner).insert(url, schema.clone());
    schema
}

/// Returns whether a capability ships with the host, even if this host has not loaded it.
fn is_shipped(capability: &str) -> bool {
    let name = capability.replace(['.', '-'], "_");
    let page = format!("{}/../../docs/capabilities/{name}.md", env!("CARGO_MANIFEST_DIR"));
    Path::new(&page).exists()
}

/// Returns the branch of the schema for the step's action; `None` if there is no such action.
fn branch<'a>(schema: &'a Value, next: &Value) -> Option<&'a Value> {
    let branches = schema["oneOf"].as_array()?;
    match &next["input"]["action"] {
        Value::Null => branches.first().filter(|_| branches.len() == 1),
        name => branches.iter().find(|branch| branch["properties"]["action"]["const"] == *name),
    }
}

/// Returns why a program cannot call the step; `None` if it can.
fn input_fault(schema: &Value, next: &Value) -> Option<String> {
    let Some(branch) = branch(schema, next) else { return Some("there is no such action".into()) };
    let mut input = match &next["input"] {
        Value::Null => json!({}),
        input => input.clone(),
    };
    input["action"] = branch["properties"]["action"]["const"].clone();
    let missing = next["missing"].as_array().map_or(&[][..], Vec::as_slice);
    if !missing.is_empty() && !next["ask_user"].is_string() {
        return Some("there is no question to put to the person".to_owned());
    }
    for field in missing.iter().map(|field| field.as_str().unwrap()) {
        let Some(value) = example_value(branch, field) else {
            return Some(format!("what is {field}?"));
        };
        input[field] = value;
    }
    let mut standalone = branch.clone();
    standalone["$defs"] = schema.get("$defs").cloned().unwrap_or_else(|| json!({}));
    let validator = jsonschema::draft202012::new(&standalone).unwrap();
    validator.iter_errors(&input).next().map(|error| format!("{}: {error}", error.instance_path()))
}

/// Returns a value that a person could give for a field, from an example or the schema; `None` if
/// the action has no such field.
fn example_value(branch: &Value, field: &str) -> Option<Value> {
    let rules = branch["properties"].get(field)?;
    let examples = branch["examples"].as_array().map_or(&[][..], Vec::as_slice);
    let example = examples.iter().find_map(|example| example.get(field));
    let chosen = example.or_else(|| rules["enum"].get(0));
    let of_type = || match rules["type"].as_str().or_else(|| rules["type"][0].as_str()) {
        Some("integer" | "number") => rules["minimum"].as_i64().unwrap_or(1).into(),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("what the person says"),
    };
    Some(chosen.cloned().unwrap_or_else(of_type))
}

/// The next steps that were called already; each is called once.
#[derive(Default)]
pub struct FollowedSteps(HashSet<String>);

impl FollowedSteps {
    /// Calls the next step of an answer if it is a read that was not called before. Returns the
    /// fault if the host calls the step itself wrong or fails.
    pub async fn follow(&mut self, agent: &Agent<'_>, reply: &Reply) -> Option<String> {
        let next = &reply.body["next"];
        let target = next["capability"].as_str().filter(|_| next["missing"].is_null())?;
        let schema = schema(agent.host, target, false).await?;
        let reads = branch(&schema, next)?["x-access"] == "read";
        if !reads || !self.0.insert(next.to_string()) {
            return None;
        }
        let step = agent.call(target, next["input"].clone()).await;
        let wrong = ["validation_failed", "unknown_action", "unknown_capability"];
        let wrong = wrong.iter().any(|code| step.body["error_code"] == *code);
        let is_fault = wrong || step.status.is_server_error();
        is_fault.then(|| format!("{next} of {}: {}", reply.text, step.text))
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }
}
