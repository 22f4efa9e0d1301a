//! A tool of a capability as clients see it.

use crate::permitted::permits;
use portolan_catalog::{Action, Capability, CapabilityTool};
use portolan_vocabulary::{Access, AgentCaller};
use rmcp::model::{MetaObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The maximum number of examples of a tool.
const EXAMPLES: usize = 3;

/// Returns a tool with the actions that the caller's scopes permit, and with the schema of its answers if
/// `has_output`.
pub(super) fn tool(
    capability: &Capability,
    tool: &CapabilityTool,
    caller: &AgentCaller,
    has_output: bool,
) -> Tool {
    let mut actions = actions_of(capability, tool);
    actions.retain(|action| permits(caller, &action.descriptor));
    let schemas = capability.tool_of(&actions);
    let mut input = Arc::unwrap_or_clone(schemas.input);
    let examples: Vec<_> =
        actions.iter().filter_map(|action| action.descriptor.example()).collect();
    if !examples.is_empty() {
        let examples = examples.into_iter().take(EXAMPLES).collect();
        input.insert("examples".to_owned(), Value::Array(examples));
    }
    let descriptor = &capability.descriptor;
    let meta = [("capability_id", &descriptor.id), ("version", &descriptor.version)];
    let meta = meta.map(|(name, value)| (name.to_owned(), json!(value)));
    let annotations = ToolAnnotations::new()
        .read_only(tool.read_only)
        .destructive(tool.destructive)
        .idempotent(tool.idempotent);
    let listed = Tool::new(tool.name.clone(), description(capability, tool), input)
        .with_title(&tool.title)
        .with_annotations(annotations)
        .with_meta(MetaObject(Map::from_iter(meta)));
    match has_output {
        true => listed.with_raw_output_schema(schemas.output),
        false => listed,
    }
}

/// Returns the actions of a tool, in its order.
pub(super) fn actions_of<'a>(capability: &'a Capability, tool: &CapabilityTool) -> Vec<&'a Action> {
    tool.actions.iter().filter_map(|name| capability.action(name)).collect()
}

/// Returns what a tool is for, and what a call of it requires.
pub(super) fn description(capability: &Capability, tool: &CapabilityTool) -> String {
    let descriptor = &capability.descriptor;
    let mut text = match &tool.description {
        Some(text) => text.trim().to_owned(),
        None if capability.tools.len() == 1 => descriptor.description.trim().to_owned(),
        None => descriptor.summary.trim().to_owned(),
    };
    if text.is_empty() {
        text.clone_from(&descriptor.summary);
    }
    let needs_claim = |action: &&Action| action.descriptor.access == Access::Write;
    if actions_of(capability, tool).iter().any(needs_claim) {
        text.push_str("\nNeeds a person who has claimed this agent.");
    }
    text
}
