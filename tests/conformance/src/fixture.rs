//! The fixtures as data: the name, the input and the answer of each tool.

use rmcp::model::{CallToolResult, InputRequests, JsonObject, Tool};
use serde::Deserialize;
use std::sync::{Arc, LazyLock};

const DATA: &str = include_str!("../fixtures.json");

/// One tool of the suite.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fixture {
    pub(crate) name: String,
    pub(crate) description: String,
    #[serde(default = "no_input")]
    pub(crate) input: JsonObject,
    /// The answer, if it is always the same.
    pub(crate) result: Option<CallToolResult>,
    /// The questions of each round in the modern protocol.
    #[serde(default)]
    pub(crate) rounds: Vec<InputRequests>,
    /// Whether the state of its questions is signed.
    #[serde(default)]
    pub(crate) signed: bool,
    /// Whether it asks only questions that the client's capabilities allow.
    #[serde(default)]
    pub(crate) considerate: bool,
    /// The question that MCP before 2026-07-28 asks during the call.
    pub(crate) form: Option<JsonObject>,
}

fn no_input() -> JsonObject {
    let schema = serde_json::json!({ "type": "object", "properties": {} });
    schema.as_object().cloned().unwrap_or_default()
}

/// The content of the file.
#[derive(Debug, Deserialize)]
struct Fixtures {
    tools: Vec<Fixture>,
    /// The prompt that asks, in the form of a tool.
    prompt: Fixture,
}

#[expect(clippy::panic, reason = "the file is part of this program")]
static FIXTURES: LazyLock<Fixtures> = LazyLock::new(|| {
    serde_json::from_str(DATA).unwrap_or_else(|error| panic!("fixtures.json: {error}"))
});

pub(crate) fn all() -> &'static [Fixture] {
    &FIXTURES.tools
}

pub(crate) fn find(name: &str) -> Option<&'static Fixture> {
    all().iter().find(|fixture| fixture.name == name)
}

pub(crate) fn prompt() -> &'static Fixture {
    &FIXTURES.prompt
}

impl Fixture {
    pub(crate) fn tool(&self) -> Tool {
        Tool::new(self.name.clone(), self.description.clone(), Arc::new(self.input.clone()))
    }
}
