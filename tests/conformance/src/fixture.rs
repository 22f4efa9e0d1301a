//! The fixtures as data: what each tool is called, takes and answers.

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
    /// What it answers, if that is always the same.
    pub(crate) result: Option<CallToolResult>,
    /// What it asks in the modern protocol, one round after the other.
    #[serde(default)]
    pub(crate) rounds: Vec<InputRequests>,
    /// Its questions are signed.
    #[serde(default)]
    pub(crate) signed: bool,
    /// It asks only what the client says that it can answer.
    #[serde(default)]
    pub(crate) considerate: bool,
    /// What it asks in the older protocol, while the call waits.
    pub(crate) form: Option<JsonObject>,
}

fn no_input() -> JsonObject {
    let schema = serde_json::json!({ "type": "object", "properties": {} });
    schema.as_object().cloned().unwrap_or_default()
}

/// Everything in the file.
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

pub(crate) fn named(name: &str) -> Option<&'static Fixture> {
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
