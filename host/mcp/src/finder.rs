//! Three tools that stand for a catalog too large to be listed: they find, describe and call.

use crate::{
    description::description,
    request::{Target, ToolRequest},
};
use portolan_catalog::{Capability, Snapshot};
use portolan_vocabulary::{AgentCaller, Failure, Timestamp};
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};
use std::{cmp::Reverse, sync::Arc};

const FIND: &str = "find_capabilities";
const DESCRIBE: &str = "describe_capability";
const CALL: &str = "call_capability";
/// Capabilities of one answer.
const FOUND: usize = 20;

/// The tools themselves.
pub(super) fn tools() -> Vec<Tool> {
    let id = json!({ "type": "string", "description": "The capability's id, as found." });
    let reads = || ToolAnnotations::new().read_only(true).destructive(false).idempotent(true);
    vec![
        tool(
            FIND,
            "Find capabilities",
            "Finds what this host can do, by words. Describe what you mean to call before you call it.",
            json!({ "query": { "type": "string", "maxLength": 200, "description": "Words for what you want to do; left out, the first of all." } }),
            &[],
        )
        .with_annotations(reads()),
        tool(
            DESCRIBE,
            "Describe a capability",
            "Gives a capability's actions and the schema of its input.",
            json!({ "capability": id }),
            &["capability"],
        )
        .with_annotations(reads()),
        tool(
            CALL,
            "Call a capability",
            "Calls a capability. The answer is the capability's own; a failure has `error_code` and in `next` the step that helps.",
            json!({
                "capability": id,
                "input": { "type": "object", "description": "As the capability's schema says: `action` and its fields.", "additionalProperties": true },
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

/// What a call of one of the three asks; none if it is of another tool.
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

/// The capabilities that have the most of the words, the best first.
pub(super) fn find(
    snapshot: &Snapshot,
    caller: &AgentCaller,
    query: &str,
    now: Timestamp,
) -> Value {
    let query = query.to_lowercase();
    let words: Vec<&str> =
        query.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
    let there =
        snapshot.capabilities.values().filter(|it| !it.is_sunset(now) && may_call(it, caller));
    let mut found: Vec<(usize, &Arc<Capability>)> = there
        .map(|it| (weight(it, &words), it))
        .filter(|(weight, _)| words.is_empty() || *weight > 0)
        .collect();
    found.sort_by_key(|(weight, capability)| (Reverse(*weight), Arc::clone(&capability.id)));
    let items = found.iter().take(FOUND).map(|(_, it)| {
        json!({
            "capability": it.id,
            "title": it.descriptor.title,
            "summary": it.descriptor.summary,
            "actions": it.callable().map(|action| &action.descriptor.name).collect::<Vec<_>>(),
        })
    });
    json!({ "items": items.collect::<Vec<_>>(), "total": found.len() })
}

/// Whether the caller's scopes could ever allow one of its actions.
pub(super) fn may_call(capability: &Capability, caller: &AgentCaller) -> bool {
    let scope = |access: portolan_vocabulary::Access| access.scope();
    capability.callable().any(|it| scope(it.descriptor.access).is_none_or(|it| caller.holds(it)))
}

/// How many of the words a capability has, and where.
fn weight(capability: &Capability, words: &[&str]) -> usize {
    let descriptor = &capability.descriptor;
    let actions = || capability.callable().map(|action| &action.descriptor);
    let names = format!("{} {} {}", descriptor.id, descriptor.title, descriptor.tags.join(" "));
    let verbs: String = actions().map(|it| format!("{} {} ", it.name, it.title)).collect();
    let texts = format!("{} {}", descriptor.summary, descriptor.description);
    let places =
        [(names, 4), (verbs, 2), (texts, 1)].map(|(text, weight)| (text.to_lowercase(), weight));
    let of_word = |word: &&str| -> usize {
        places.iter().filter(|(text, _)| text.contains(*word)).map(|(_, weight)| weight).sum()
    };
    words.iter().map(of_word).sum()
}

/// What there is to know before a call.
pub(super) fn describe(snapshot: &Snapshot, id: &str, now: Timestamp) -> Result<Value, Failure> {
    let capability = snapshot.find(id, now)?;
    let descriptor = &capability.descriptor;
    Ok(json!({
        "capability": capability.id,
        "version": descriptor.version,
        "title": descriptor.title,
        "description": description(capability),
        "input_schema": *capability.tool.input,
    }))
}
