//! The tools of a catalog snapshot, made once for it: one for each capability, or three that find,
//! describe and call all of them.

use crate::{
    McpSettings,
    description::description,
    finder,
    request::{Target, ToolRequest},
};
use arc_swap::ArcSwapOption;
use portolan_catalog::{Action, Capability, Snapshot};
use portolan_vocabulary::{Access, AgentCaller, Timestamp};
use rmcp::model::{MetaObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};
use std::{collections::BTreeMap, sync::Arc};

/// The tools of the catalog version they were made for.
#[derive(Debug, Default)]
pub(super) struct Cache(ArcSwapOption<(u64, Arc<Tools>)>);

/// What a catalog is as tools, in the order of its ids.
#[derive(Debug)]
pub(super) struct Tools {
    offered: Vec<Offered>,
    /// From tool to capability.
    names: BTreeMap<String, Arc<str>>,
    /// In the place of all of these, if there are too many.
    finder: Option<Vec<Tool>>,
}

#[derive(Debug)]
struct Offered {
    tool: Tool,
    accesses: Vec<Access>,
    sunset_at: Option<Timestamp>,
}

impl Cache {
    pub(super) fn of(&self, snapshot: &Snapshot, settings: &McpSettings) -> Arc<Tools> {
        if let Some(known) = &*self.0.load()
            && known.0 == snapshot.version
        {
            return Arc::clone(&known.1);
        }
        let tools = Arc::new(Tools::new(snapshot, settings.listed_tools));
        self.0.store(Some(Arc::new((snapshot.version, Arc::clone(&tools)))));
        tools
    }
}

impl Tools {
    fn new(snapshot: &Snapshot, listed: usize) -> Self {
        let capabilities = || snapshot.capabilities.values();
        let names = capabilities().map(|it| (it.tool_name(), Arc::clone(&it.id))).collect();
        let finder = (snapshot.capabilities.len() > listed).then(finder::tools);
        let offered = capabilities().filter(|_| finder.is_none()).map(|it| Offered::new(it));
        Self { offered: offered.collect(), names, finder }
    }

    /// Those that this caller's scopes could ever call.
    pub(super) fn listed(&self, caller: &AgentCaller, now: Timestamp) -> Vec<Tool> {
        if let Some(finder) = &self.finder {
            return finder.clone();
        }
        let callable = |access: &Access| access.scope().is_none_or(|scope| caller.holds(scope));
        let offered = self.offered.iter().filter(|it| it.sunset_at.is_none_or(|at| at > now));
        let offered = offered.filter(|it| it.accesses.iter().any(callable));
        offered.map(|it| it.tool.clone()).collect()
    }

    /// None if there is no such tool.
    pub(super) fn request(&self, name: &str, arguments: Map<String, Value>) -> Option<ToolRequest> {
        if let Some(capability) = self.names.get(name) {
            return Some(ToolRequest::Call(Target {
                capability: Arc::clone(capability),
                body: arguments,
            }));
        }
        self.finder.as_ref().and_then(|_| finder::request(name, arguments))
    }
}

impl Offered {
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

/// True of every action, and so of the tool.
fn annotations(capability: &Capability) -> ToolAnnotations {
    let all = |is: fn(&Action) -> bool| capability.callable().all(is);
    let read_only = all(|action| action.descriptor.access == Access::Read);
    let destructive = !all(|action| !action.descriptor.destructive);
    ToolAnnotations::new()
        .read_only(read_only)
        .destructive(destructive && !read_only)
        .idempotent(read_only || all(|action| action.descriptor.idempotent))
}
