//! The steps that one client can take: calls of the tools that it sees.

use crate::{
    Sender, finder,
    next::Steps,
    request::tool_call,
    tools::Tools,
    view::{ToolSet, View},
};
use portolan_catalog::{Capability, CapabilityTool};
use portolan_vocabulary::AgentCaller;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The tools that a client sees.
pub(super) struct Door<'a> {
    pub(super) tools: &'a Tools,
    pub(super) view: &'a View,
    pub(super) caller: &'a AgentCaller,
    /// The name of the tool that the client has called.
    pub(super) called: &'a str,
}

impl<'a> Door<'a> {
    /// Returns the view of the sender of a message. `called` is the name of the tool that it calls.
    pub(super) fn of(tools: &'a Tools, sender: &'a Sender, called: &'a str) -> Self {
        Self { tools, view: &sender.view, caller: &sender.caller, called }
    }
}

impl Door<'_> {
    fn capability(&self, id: &str) -> Option<&Arc<Capability>> {
        self.tools.snapshot.capabilities.get(id)
    }

    /// Returns the tool with the action that an input names. If it names none, or one that does not exist, returns the
    /// called tool, which refuses the call with the right actions, or the tool with the default action.
    fn tool_of<'a>(
        &self,
        capability: &'a Capability,
        input: &Map<String, Value>,
    ) -> Option<&'a CapabilityTool> {
        let named = input.get("action").and_then(Value::as_str);
        let tool = named.and_then(|action| capability.tool_with(action));
        let called = || capability.tools.iter().find(|tool| tool.name == self.called);
        let default = || capability.tool_with(capability.descriptor.default_action.as_deref()?);
        tool.or_else(called).or_else(default)
    }

    fn has_finder(&self) -> bool {
        self.tools.has_finder(self.view, self.caller)
    }
}

impl Steps for Door<'_> {
    fn call(&self, capability: &str, input: Map<String, Value>) -> Option<Map<String, Value>> {
        let capability = self.capability(capability)?;
        let tool = self.tool_of(capability, &input);
        let only_reads = tool.is_some_and(|tool| tool.read_only);
        if self.view.read_only && !only_reads {
            return None;
        }
        let is_listed = |tool: &&CapabilityTool| {
            self.view.tools == ToolSet::All
                || self.tools.lists(self.view, self.caller, capability, tool)
        };
        match tool.filter(is_listed) {
            Some(tool) => Some(tool_call(&tool.name, Value::Object(input))),
            None if self.has_finder() => Some(finder::call(&capability.id, only_reads, input)),
            None => Some(tool_call(&capability.tool_name(), Value::Object(input))),
        }
    }

    fn describe(&self, capability: &str) -> Map<String, Value> {
        match self.has_finder() {
            true => finder::describing_call(capability),
            false => list_step(),
        }
    }

    fn find(&self) -> Map<String, Value> {
        if self.has_finder() { finder::finding_call() } else { list_step() }
    }
}

/// Returns the step that lists the tools again.
fn list_step() -> Map<String, Value> {
    Map::from_iter([("method".to_owned(), json!("tools/list"))])
}
