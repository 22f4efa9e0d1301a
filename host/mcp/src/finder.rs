//! The three tools for a catalog that is too large to be listed: they find, describe and call capabilities.

use crate::{
    description::description,
    permitted::permitted_actions,
    request::{Target, ToolRequest, tool_call},
};
use portolan_catalog::{Capability, Snapshot};
use portolan_vocabulary::{AgentCaller, FINDER_TOOLS, Failure, Timestamp};
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};
use std::{cmp::Reverse, sync::Arc};

const FIND: &str = FINDER_TOOLS[0];
const DESCRIBE: &str = FINDER_TOOLS[1];
const CALL: &str = FINDER_TOOLS[2];
/// The maximum number of capabilities of one answer.
const MAX_FOUND: usize = 20;

/// Returns the three tools.
pub(super) fn tools() -> Vec<Tool> {
    let id = json!({ "type": "string", "description": "The capability's id, as find_capabilities returns it." });
    let read_only = || ToolAnnotations::new().read_only(true).destructive(false).idempotent(true);
    vec![
        tool(
            FIND,
            "Find capabilities",
            "Finds capabilities of this host by words. Call describe_capability before you call one.",
            json!({ "query": { "type": "string", "maxLength": 200, "description": "Words for what you want to do. Without them, the answer lists the first capabilities." } }),
            &[],
        )
        .with_annotations(read_only()),
        tool(
            DESCRIBE,
            "Describe a capability",
            "Returns a capability's actions and the schema of its input.",
            json!({ "capability": id }),
            &["capability"],
        )
        .with_annotations(read_only()),
        tool(
            CALL,
            "Call a capability",
            "Calls a capability and returns its answer. A failure has `error_code` and in `next` the step that helps.",
            json!({
                "capability": id,
                "input": { "type": "object", "description": "`action` and its fields, by the schema of describe_capability.", "additionalProperties": true },
            }),
            &["capability", "input"],
        )
        .with_annotations(ToolAnnotations::new().read_only(false).destructive(true).idempotent(false)),
    ]
}

fn tool(
    name: &'static str,
    title: &str,
    text: &'static str,
    fields: Value,
    required: &[&str],
) -> Tool {
    let schema = json!({
        "type": "object", "properties": fields, "required": required, "additionalProperties": false,
    });
    let schema = schema.as_object().cloned().unwrap_or_default();
    Tool::new(name, text, Arc::new(schema)).with_title(title)
}

/// Parses a call of one of the three tools; returns `None` for another tool.
pub(super) fn request(tool: &str, mut arguments: Map<String, Value>) -> Option<ToolRequest> {
    let mut text = |name: &str| match arguments.shift_remove(name) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    Some(match tool {
        FIND => ToolRequest::Find { query: text("query") },
        DESCRIBE => ToolRequest::Describe { capability: text("capability") },
        CALL => {
            let capability = Arc::from(text("capability"));
            let body = match arguments.shift_remove("input") {
                Some(Value::Object(body)) => body,
                _ => Map::new(),
            };
            ToolRequest::Call(Target { capability, body })
        }
        _ => return None,
    })
}

/// Returns the step that calls a capability.
pub(super) fn call(capability: &str, input: Map<String, Value>) -> Map<String, Value> {
    tool_call(CALL, json!({ "capability": capability, "input": input }))
}

/// Returns the step that describes a capability.
pub(super) fn describing_call(capability: &str) -> Map<String, Value> {
    tool_call(DESCRIBE, json!({ "capability": capability }))
}

/// Returns the step that lists capabilities.
pub(super) fn finding_call() -> Map<String, Value> {
    tool_call(FIND, json!({}))
}

/// Returns the capabilities that the caller may call and that contain words of the query, the best
/// match first. A query without words matches all of them.
pub(super) fn find(
    snapshot: &Snapshot,
    caller: &AgentCaller,
    query: &str,
    now: Timestamp,
) -> Value {
    let query = query.to_lowercase();
    let words: Vec<&str> = query
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let callable = snapshot.capabilities.values().filter(|capability| {
        !capability.is_sunset(now) && !permitted_actions(capability, caller).is_empty()
    });
    let mut found: Vec<(usize, &Arc<Capability>)> = callable
        .map(|capability| (weight(capability, &words), capability))
        .filter(|(weight, _)| words.is_empty() || *weight > 0)
        .collect();
    found.sort_by_key(|(weight, capability)| (Reverse(*weight), Arc::clone(&capability.id)));
    let items = found.iter().take(MAX_FOUND).map(|(_, capability)| {
        json!({
            "capability": capability.id,
            "title": capability.descriptor.title,
            "summary": capability.descriptor.summary,
            "actions": capability.callable().map(|action| &action.descriptor.name).collect::<Vec<_>>(),
        })
    });
    json!({ "items": items.collect::<Vec<_>>(), "total": found.len() })
}

/// Returns how well a capability matches the words. A word in a name weighs more than one in a text.
fn weight(capability: &Capability, words: &[&str]) -> usize {
    let descriptor = &capability.descriptor;
    let actions = || capability.callable().map(|action| &action.descriptor);
    let names = format!("{} {} {}", descriptor.id, descriptor.title, descriptor.tags.join(" "));
    let action_names: String =
        actions().map(|action| format!("{} {} ", action.name, action.title)).collect();
    let texts = format!("{} {}", descriptor.summary, descriptor.description);
    let weighted_texts = [(names, 4), (action_names, 2), (texts, 1)]
        .map(|(text, weight)| (text.to_lowercase(), weight));
    let word_weight = |word: &&str| -> usize {
        weighted_texts
            .iter()
            .filter(|(text, _)| text.contains(*word))
            .map(|(_, weight)| weight)
            .sum()
    };
    words.iter().map(word_weight).sum()
}

/// Returns what a caller must know before a call: the description and the input schema, with the actions that
/// the caller's scopes permit; with all of them if they permit none.
pub(super) fn describe(
    snapshot: &Snapshot,
    caller: &AgentCaller,
    id: &str,
    now: Timestamp,
) -> Result<Value, Failure> {
    let capability = snapshot.find(id, now)?;
    let descriptor = &capability.descriptor;
    let mut actions = permitted_actions(capability, caller);
    if actions.is_empty() {
        actions = capability.callable().collect();
    }
    Ok(json!({
        "capability": capability.id,
        "version": descriptor.version,
        "title": descriptor.title,
        "description": description(capability, &actions),
        "input_schema": *capability.tool_of(&actions).input,
    }))
}
