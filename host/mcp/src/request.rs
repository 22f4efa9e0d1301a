//! A parsed tool call, and a tool call as a next step names it.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The part of a message that names a tool and its arguments.
#[derive(Deserialize)]
pub(super) struct Message {
    pub(super) method: String,
    pub(super) params: Option<Parameters>,
}

#[derive(Deserialize)]
pub(super) struct Parameters {
    pub(super) name: String,
    pub(super) arguments: Option<Map<String, Value>>,
}

/// What a client has sent, from which the arguments of a refused call are read once more: the call itself takes them,
/// and a copy for each call would take as long as reading them.
#[derive(Debug)]
pub(super) enum Sent<'m> {
    /// The JSON text of the message.
    Message(&'m [u8]),
    Arguments(Map<String, Value>),
}

impl Sent<'_> {
    /// Returns the arguments of the call; none if the message has none.
    pub(super) fn arguments(self) -> Map<String, Value> {
        match self {
            Self::Arguments(arguments) => arguments,
            Self::Message(text) => {
                let message: Option<Message> = serde_json::from_slice(text).ok();
                let parameters = message.and_then(|message| message.params);
                parameters.and_then(|parameters| parameters.arguments).unwrap_or_default()
            }
        }
    }
}

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
