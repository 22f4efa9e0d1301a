//! The tools of a catalog snapshot, made once for each: one tool for each capability, or three tools that
//! find, describe and call capabilities of a large catalog.

use crate::{
    McpSettings,
    description::description,
    finder,
    request::{Target, ToolRequest, tool_call},
};
use arc_swap::ArcSwapOption;
use portolan_catalog::{Action, Capability, Snapshot, tool_name};
use portolan_vocabulary::{Access, AgentCaller, Timestamp};
use rmcp::model::{MetaObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};
use std::{collections::BTreeMap, sync::Arc};

/// The tools of the latest catalog version.
#[derive(Debug, Default)]
pub(super) struct Cache(ArcSwapOption<(u64, Arc<Tools>)>);

/// The tools of a catalog, in the order of the capability ids.
#[derive(Debug)]
pub(super) struct Tools {
    entries: Vec<ToolEntry>,
    /// The capability of each tool name, and of each id, which calls may name as well.
    names: BTreeMap<String, Arc<str>>,
    /// The three tools that replace `entries` if the catalog is too large to be listed; otherwise
    /// `None`.
    finder: Option<Vec<Tool>>,
}

#[derive(Debug)]
struct ToolEntry {
    tool: Tool,
    accesses: Vec<Access>,
    sunset_at: Option<Timestamp>,
}

impl Cache {
    pub(super) fn tools_for(&self, snapshot: &Snapshot, settings: &McpSettings) -> Arc<Tools> {
        if let Some(cached) = &*self.0.load()
            && cached.0 == snapshot.version
        {
            return Arc::clone(&cached.1);
        }
        let tools = Arc::new(Tools::new(snapshot, settings.listed_tools));
        self.0.store(Some(Arc::new((snapshot.version, Arc::clone(&tools)))));
        tools
    }
}

impl Tools {
    fn new(snapshot: &Snapshot, max_listed: usize) -> Self {
        let capabilities = || snapshot.capabilities.values();
        let names = snapshot.capabilities.keys().flat_map(names_of).collect();
        let finder = (snapshot.capabilities.len() > max_listed).then(finder::tools);
        let entries = capabilities().filter(|_| finder.is_none());
        let entries = entries.map(|capability| ToolEntry::new(capability));
        Self { entries: entries.collect(), names, finder }
    }

    /// Returns the three tools for a large catalog, or the tools that are not past their sunset and
    /// have an action that the caller's scopes permit.
    pub(super) fn listed_tools(&self, caller: &AgentCaller, now: Timestamp) -> Vec<Tool> {
        if let Some(finder) = &self.finder {
            return finder.clone();
        }
        let callable = |access: &Access| access.scope().is_none_or(|scope| caller.has_scope(scope));
        let entries = self.entries.iter().filter(|tool| tool.sunset_at.is_none_or(|at| at > now));
        let entries = entries.filter(|tool| tool.accesses.iter().any(callable));
        entries.map(|entry| entry.tool.clone()).collect()
    }

    /// Parses a tool call. Returns `None` if there is no such tool.
    pub(super) fn request(&self, name: &str, arguments: Map<String, Value>) -> Option<ToolRequest> {
        if let Some(capability) = self.names.get(name) {
            return Some(ToolRequest::Call(Target {
                capability: Arc::clone(capability),
                body: arguments,
            }));
        }
        self.finder.as_ref().and_then(|_| finder::request(name, arguments))
    }

    /// Returns the tool and the arguments that call a capability; `None` if it is not loaded.
    pub(super) fn call_of(
        &self,
        capability: &str,
        input: Map<String, Value>,
    ) -> Option<Map<String, Value>> {
        let id = self.names.get(capability)?;
        Some(match self.finder {
            Some(_) => finder::call(id, input),
            None => tool_call(&tool_name(id), Value::Object(input)),
        })
    }

    /// Returns the call that describes a capability of a large catalog; `None` if the list does.
    pub(super) fn describing_call(&self, capability: &str) -> Option<Map<String, Value>> {
        self.finder.as_ref().map(|_| finder::describing_call(capability))
    }

    /// Returns the call that finds the capabilities of a large catalog; `None` if the list has them.
    pub(super) fn finding_call(&self) -> Option<Map<String, Value>> {
        self.finder.as_ref().map(|_| finder::finding_call())
    }

    /// Makes the tools of capabilities of which only the ids are known.
    #[cfg(test)]
    pub(super) fn named(ids: &[&str], is_large: bool) -> Self {
        let names = ids.iter().flat_map(|id| names_of(&Arc::from(*id))).collect();
        Self { entries: Vec::new(), names, finder: is_large.then(finder::tools) }
    }
}

/// Returns the names by which calls name a capability: that of its tool, and its id.
fn names_of(id: &Arc<str>) -> [(String, Arc<str>); 2] {
    [(tool_name(id), Arc::clone(id)), (id.to_string(), Arc::clone(id))]
}

impl ToolEntry {
    fn new(capability: &Capability) -> Self {
        let descriptor = &capability.descriptor;
        let schemas = &capability.tool;
        let meta = [("capability_id", &descriptor.id), ("version", &descriptor.version)];
        let meta = meta.map(|(name, value)| (name.to_owned(), json!(value)));
        let tool =
            Tool::new(capability.tool_name(), description(capability), Arc::clone(&schemas.input))
                .with_title(&descriptor.title)
                .with_raw_output_schema(Arc::clone(&schemas.output))
                .with_annotations(annotations(capability))
                .with_meta(MetaObject(Map::from_iter(meta)));
        let accesses = capability.callable().map(|action| action.descriptor.access).collect();
        Self { tool, accesses, sunset_at: descriptor.sunset_at }
    }
}

/// Returns the hints about a tool. A hint that the tool is harmless must be true of every action.
fn annotations(capability: &Capability) -> ToolAnnotations {
    let every_action = |predicate: fn(&Action) -> bool| capability.callable().all(predicate);
    let read_only = every_action(|action| action.descriptor.access == Access::Read);
    let destructive = !every_action(|action| !action.descriptor.destructive);
    ToolAnnotations::new()
        .read_only(read_only)
        .destructive(destructive && !read_only)
        .idempotent(read_only || every_action(|action| action.descriptor.idempotent))
}
