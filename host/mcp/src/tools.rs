//! The tools of a catalog snapshot: one for each capability, with the actions that the caller's scopes permit; or
//! three tools that find, describe and call capabilities of a large catalog. They are made once for each snapshot
//! and set of scopes.

use crate::{
    McpSettings,
    description::description,
    finder,
    permitted::permitted_actions,
    request::{Target, ToolRequest, tool_call},
};
use arc_swap::ArcSwapOption;
use portolan_catalog::{Action, Capability, Snapshot, tool_name};
use portolan_vocabulary::{Access, AgentCaller, SCOPES, Timestamp};
use rmcp::model::{MetaObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};
use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

/// The number of sets of scopes.
const SCOPE_SETS: usize = 1 << SCOPES.len();

/// The tools of the latest catalog version.
#[derive(Debug, Default)]
pub(super) struct Cache(ArcSwapOption<(u64, Arc<Tools>)>);

/// The tools of a catalog, in the order of the capability ids.
#[derive(Debug)]
pub(super) struct Tools {
    /// The tools for each set of scopes, once a caller has asked for them.
    entries: [OnceLock<Vec<ToolEntry>>; SCOPE_SETS],
    /// The capability of each tool name, and of each id, which calls may name as well.
    names: BTreeMap<String, Arc<str>>,
    /// The three tools that replace `entries` if the catalog is too large to be listed; otherwise
    /// `None`.
    finder: Option<Vec<Tool>>,
}

#[derive(Debug)]
struct ToolEntry {
    tool: Tool,
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
        let names = snapshot.capabilities.keys().flat_map(names_of).collect();
        let finder = (snapshot.capabilities.len() > max_listed).then(finder::tools);
        Self { entries: Default::default(), names, finder }
    }

    /// Returns the three tools for a large catalog, or the tools of the capabilities that are not past their
    /// sunset and have an action that the caller's scopes permit. `snapshot` is that of these tools.
    pub(super) fn listed_tools(
        &self,
        snapshot: &Snapshot,
        caller: &AgentCaller,
        now: Timestamp,
    ) -> Vec<Tool> {
        if let Some(finder) = &self.finder {
            return finder.clone();
        }
        let entries = self.entries.get(scope_set(caller)).map(|entries| {
            entries.get_or_init(|| {
                let capabilities = snapshot.capabilities.values();
                capabilities.filter_map(|capability| ToolEntry::new(capability, caller)).collect()
            })
        });
        let entries = entries.into_iter().flatten();
        let entries = entries.filter(|entry| entry.sunset_at.is_none_or(|at| at > now));
        entries.map(|entry| entry.tool.clone()).collect()
    }

    /// Returns whether there is a tool of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        let is_finder = |tools: &Vec<Tool>| tools.iter().any(|tool| tool.name == name);
        self.names.contains_key(name) || self.finder.as_ref().is_some_and(is_finder)
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
        Self { entries: Default::default(), names, finder: is_large.then(finder::tools) }
    }
}

/// Returns the names by which calls name a capability: that of its tool, and its id.
fn names_of(id: &Arc<str>) -> [(String, Arc<str>); 2] {
    [(tool_name(id), Arc::clone(id)), (id.to_string(), Arc::clone(id))]
}

/// Returns a number for the set of the caller's scopes.
fn scope_set(caller: &AgentCaller) -> usize {
    let bits = SCOPES.iter().enumerate().filter(|(_, scope)| caller.has_scope(scope));
    bits.map(|(place, _)| 1_usize << place).sum()
}

impl ToolEntry {
    /// Makes the tool with the actions that the caller's scopes permit; `None` if they permit none.
    fn new(capability: &Capability, caller: &AgentCaller) -> Option<Self> {
        let actions = permitted_actions(capability, caller);
        if actions.is_empty() {
            return None;
        }
        let descriptor = &capability.descriptor;
        let schemas = capability.tool_of(&actions);
        let meta = [("capability_id", &descriptor.id), ("version", &descriptor.version)];
        let meta = meta.map(|(name, value)| (name.to_owned(), json!(value)));
        let description = description(capability, &actions);
        let tool = Tool::new(capability.tool_name(), description, schemas.input)
            .with_title(&descriptor.title)
            .with_raw_output_schema(schemas.output)
            .with_annotations(annotations(capability, &actions))
            .with_meta(MetaObject(Map::from_iter(meta)));
        Some(Self { tool, sunset_at: descriptor.sunset_at })
    }
}

/// Returns the hints about a tool with these actions. A hint that the tool is harmless must be true of every
/// action.
fn annotations(capability: &Capability, actions: &[&Action]) -> ToolAnnotations {
    let is_every = |predicate: fn(&Action) -> bool| actions.iter().all(|action| predicate(action));
    let read_only = actions.iter().all(|action| capability.only_reads(action));
    let destructive = !is_every(|action| !action.descriptor.destructive);
    ToolAnnotations::new().read_only(read_only).destructive(destructive && !read_only).idempotent(
        read_only
            || is_every(|action| {
                action.descriptor.idempotent || action.descriptor.access == Access::Read
            }),
    )
}
