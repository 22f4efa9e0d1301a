//! A parsed tool call, and a tool call as a next step names it.

use serde_json::{Map, Value, json};
use std::sync::Arc;

/// A parsed tool call. `Find` and `Describe` come from the tools that find others.
#[derive(Debug)]
pub(super) enum ToolRequest {
    Find { query: String },
    Describe { capability: String },
    Call(Target),
}

/// The capability call that a tool call becomes.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) capability: Arc<str>,
    pub(super) body: Map<String, Value>,
    pub(super) permitted: Permitted,
}

/// The actions that a tool may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Permitted {
    All,
    /// Actions that change nothing.
    Reads,
    /// The actions of the tool at this place in the capability's list of tools.
    Tool(usize),
}

/// Returns a next step that calls a tool.
pub(super) fn tool_call(tool: &str, arguments: Value) -> Map<String, Value> {
    Map::from_iter([("tool".to_owned(), json!(tool)), ("arguments".to_owned(), arguments)])
}
