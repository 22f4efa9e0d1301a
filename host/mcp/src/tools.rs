//! The tools of a catalog snapshot: those that a client sees, and the calls that their names stand for.

use crate::{
    McpSettings,
    finder::{self, Finder},
    permitted::permits,
    request::{Permitted, Target, ToolRequest},
    tool,
    view::{ToolSet, View},
};
use arc_swap::ArcSwapOption;
use moka::sync::Cache as Pages;
use portolan_catalog::{Capability, CapabilityTool, Snapshot};
use portolan_vocabulary::{AgentCaller, Publisher, SCOPES, Timestamp};
use rmcp::model::Tool;
use serde_json::{Map, Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    sync::{Arc, OnceLock},
};

/// The maximum number of bytes of the tools that are listed by default: with the tools that find others, 8,000 tokens of
/// about four bytes.
const DEFAULT_BYTES: usize = 29_600;
/// The number of capabilities after which a list of all tools is continued on another page.
const PAGE_CAPABILITIES: usize = 50;
/// The number of pages that are kept, of all views and sets of scopes.
const KEPT_PAGES: u64 = 128;
/// The number of sets of scopes.
const SCOPE_SETS: usize = 1 << SCOPES.len();

/// The tools of the latest catalog version.
#[derive(Debug, Default)]
pub(super) struct Cache(ArcSwapOption<Tools>);

/// The tools of a catalog snapshot.
#[derive(Debug)]
pub(super) struct Tools {
    pub(super) snapshot: Arc<Snapshot>,
    /// The capability and permitted actions of each tool name. Calls may name a capability as well, by its id or by one
    /// tool name.
    names: BTreeMap<String, (Arc<str>, Permitted)>,
    /// The names of the tools that the operator wants among those that are listed by default.
    wanted: Vec<String>,
    max_default: usize,
    /// The names of the tools that are listed by default, for each set of scopes, and for clients that only read.
    defaults: [[OnceLock<BTreeSet<String>>; 2]; SCOPE_SETS],
    pages: Pages<PageKey, Arc<Page>>,
    finder: OnceLock<Finder>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct PageKey {
    scopes: usize,
    view: View,
    after: Option<String>,
}

/// A page of a list.
#[derive(Debug)]
struct Page {
    tools: Vec<Entry>,
    /// The id of the last capability, if there are more.
    next: Option<String>,
}

#[derive(Debug, Clone)]
struct Entry {
    tool: Tool,
    sunset_at: Option<Timestamp>,
}

impl Cache {
    pub(super) fn tools_for(&self, snapshot: Arc<Snapshot>, settings: &McpSettings) -> Arc<Tools> {
        if let Some(cached) = &*self.0.load()
            && cached.snapshot.version == snapshot.version
        {
            return Arc::clone(cached);
        }
        let tools = Arc::new(Tools::new(snapshot, settings));
        self.0.store(Some(Arc::clone(&tools)));
        tools
    }
}

impl Tools {
    fn new(snapshot: Arc<Snapshot>, settings: &McpSettings) -> Self {
        let mut names = BTreeMap::new();
        for (id, capability) in &snapshot.capabilities {
            let all = [capability.tool_name(), id.to_string()].map(|name| (name, Permitted::All));
            let own = capability.tools.iter().enumerate();
            let own = own.map(|(place, tool)| (tool.name.clone(), Permitted::Tool(place)));
            // The name for all actions may be that of the only tool.
            names.extend(
                all.into_iter()
                    .chain(own)
                    .map(|(name, permitted)| (name, (Arc::clone(id), permitted))),
            );
        }
        Self {
            snapshot,
            names,
            wanted: settings.tools.clone(),
            max_default: settings.listed_tools,
            defaults: Default::default(),
            pages: Pages::new(KEPT_PAGES),
            finder: OnceLock::new(),
        }
    }

    /// Returns whether a cursor can be of one of these lists.
    pub(super) fn is_cursor(&self, cursor: &str) -> bool {
        self.snapshot.capabilities.contains_key(cursor)
    }

    /// Returns a page of the tools that a view lists for this caller, those of the capabilities after the cursor, and
    /// the cursor of the next page.
    pub(super) fn list(
        &self,
        view: &View,
        caller: &AgentCaller,
        after: Option<String>,
        now: Timestamp,
    ) -> (Vec<Tool>, Option<String>) {
        let key = PageKey { scopes: scope_set(caller), view: view.clone(), after };
        let page = match self.pages.get(&key) {
            Some(page) => page,
            None => {
                let page = Arc::new(self.page(view, caller, key.after.as_deref()));
                self.pages.insert(key, Arc::clone(&page));
                page
            }
        };
        let is_served = |entry: &&Entry| entry.sunset_at.is_none_or(|at| at > now);
        let tools = page.tools.iter().filter(is_served).map(|entry| entry.tool.clone());
        (tools.collect(), page.next.clone())
    }

    fn page(&self, view: &View, caller: &AgentCaller, after: Option<&str>) -> Page {
        let start = after.map_or(Bound::Unbounded, |id| Bound::Excluded(Arc::from(id)));
        let mut rest = self.snapshot.capabilities.range((start, Bound::<Arc<str>>::Unbounded));
        let mut page = Page { tools: Vec::new(), next: None };
        let mut last = None;
        for (id, capability) in rest.by_ref().take(PAGE_CAPABILITIES) {
            last = Some(id.to_string());
            let listed =
                capability.tools.iter().filter(|tool| self.lists(view, caller, capability, tool));
            page.tools.extend(listed.map(|tool| Entry {
                tool: tool::tool(capability, tool, caller, view.output_schemas),
                sunset_at: capability.descriptor.sunset_at,
            }));
        }
        let has_rest = view.tools != ToolSet::Search && rest.next().is_some();
        page.next = last.filter(|_| has_rest);
        if after.is_none() && self.has_finder(view, caller) {
            let finder = finder::tools(view.read_only).into_iter();
            page.tools.extend(finder.map(|tool| Entry { tool, sunset_at: None }));
        }
        page
    }

    /// Returns whether a view lists a tool for this caller.
    pub(super) fn lists(
        &self,
        view: &View,
        caller: &AgentCaller,
        capability: &Capability,
        tool: &CapabilityTool,
    ) -> bool {
        if !can_see(view.read_only, caller, capability, tool) {
            return false;
        }
        match &view.tools {
            ToolSet::All => true,
            ToolSet::Search => false,
            ToolSet::Default => self.defaults(view.read_only, caller).contains(&tool.name),
            ToolSet::Named(names) => names.iter().any(|name| is_of(capability, name)),
        }
    }

    /// Returns whether a view lists the tools that find others: it does if it leaves tools out.
    pub(super) fn has_finder(&self, view: &View, caller: &AgentCaller) -> bool {
        match view.tools {
            ToolSet::All => false,
            ToolSet::Search | ToolSet::Named(_) => true,
            ToolSet::Default => {
                let all = self.snapshot.capabilities.values().flat_map(|capability| {
                    let is_seen = move |tool: &&CapabilityTool| {
                        can_see(view.read_only, caller, capability, tool)
                    };
                    capability.tools.iter().filter(is_seen)
                });
                let listed = self.defaults(view.read_only, caller).len();
                // A client that lacks scopes also finds the actions for which it needs them.
                all.count() > listed || scope_set(caller) + 1 < SCOPE_SETS
            }
        }
    }

    /// Returns whether a toolset of this name has a tool.
    pub(super) fn has_toolset(&self, name: &str) -> bool {
        self.snapshot.capabilities.values().any(|capability| is_of(capability, name))
    }

    /// Returns the tags of all capabilities, which are the names of toolsets.
    pub(super) fn tags(&self) -> BTreeSet<&str> {
        let capabilities = self.snapshot.capabilities.values();
        capabilities
            .flat_map(|capability| &capability.descriptor.tags)
            .map(String::as_str)
            .collect()
    }

    /// Returns the names of the tools that are listed by default for this caller.
    fn defaults(&self, read_only: bool, caller: &AgentCaller) -> &BTreeSet<String> {
        let place = self.defaults.get(scope_set(caller));
        let place = place.and_then(|sets| sets.get(usize::from(read_only)));
        static NONE: BTreeSet<String> = BTreeSet::new();
        place.map_or(&NONE, |place| place.get_or_init(|| self.choose_defaults(read_only, caller)))
    }

    /// Chooses the tools that are listed by default: all, if they are few; otherwise those that the operator wants,
    /// those that the host's capabilities declare as such, those that others declare, and the rest of the others', until
    /// there are enough.
    fn choose_defaults(&self, read_only: bool, caller: &AgentCaller) -> BTreeSet<String> {
        let rank = |capability: &Capability, tool: &CapabilityTool| {
            let wanted = self.wanted.iter().position(|name| *name == tool.name);
            let is_host = capability.publisher == Publisher::Host;
            (wanted.unwrap_or(usize::MAX), !tool.is_default, !is_host)
        };
        let mut candidates: Vec<_> = self
            .snapshot
            .capabilities
            .values()
            .flat_map(|capability| capability.tools.iter().map(move |tool| (capability, tool)))
            .filter(|(capability, tool)| can_see(read_only, caller, capability, tool))
            .map(|(capability, tool)| (rank(capability, tool), capability, tool))
            .collect();
        if candidates.len() > self.max_default {
            candidates.retain(|(rank, ..)| *rank != (usize::MAX, true, false));
        }
        candidates.sort_by_key(|(rank, ..)| *rank);
        let (mut chosen, mut bytes) = (BTreeSet::new(), 0);
        for (_, capability, tool) in candidates {
            if chosen.len() >= self.max_default {
                break;
            }
            let size = serde_json::to_string(&tool::tool(capability, tool, caller, false));
            let size = size.map_or(DEFAULT_BYTES, |text| text.len());
            if bytes + size <= DEFAULT_BYTES {
                bytes += size;
                chosen.insert(tool.name.clone());
            }
        }
        chosen
    }

    /// Parses a tool call. Returns `None` if there is no such tool.
    pub(super) fn request(&self, name: &str, arguments: Map<String, Value>) -> Option<ToolRequest> {
        let mut target = match self.names.get(name) {
            Some((id, permitted)) => {
                Target { capability: Arc::clone(id), body: arguments, permitted: *permitted }
            }
            None => match finder::request(name, arguments)? {
                ToolRequest::Call(target) => target,
                other => return Some(other),
            },
        };
        if let Some(action) = self.only_action(&target) {
            target.body.insert("action".to_owned(), json!(action));
        }
        Some(ToolRequest::Call(target))
    }

    /// Returns the action of a call that names none, if its tool has no other.
    fn only_action(&self, target: &Target) -> Option<&str> {
        let Permitted::Tool(place) = target.permitted else { return None };
        if target.body.contains_key("action") {
            return None;
        }
        let capability = self.snapshot.capabilities.get(&target.capability)?;
        match capability.tools.get(place)?.actions.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Returns the index of the actions that agents may want.
    pub(super) fn finder(&self) -> &Finder {
        self.finder.get_or_init(|| Finder::new(&self.snapshot))
    }
}

/// Returns whether a tool can be listed for this caller: its scopes permit one of the actions.
fn can_see(
    read_only: bool,
    caller: &AgentCaller,
    capability: &Capability,
    tool: &CapabilityTool,
) -> bool {
    let is_permitted = |name: &String| {
        capability.action(name).is_some_and(|action| permits(caller, &action.descriptor))
    };
    (tool.read_only || !read_only) && tool.actions.iter().any(is_permitted)
}

/// Returns whether a capability belongs to a toolset: by a tag, by its id, or by the name of its tool.
fn is_of(capability: &Capability, toolset: &str) -> bool {
    capability.descriptor.tags.iter().any(|tag| tag == toolset)
        || &*capability.id == toolset
        || capability.tool_name() == toolset
}

/// Returns a number for the set of the caller's scopes.
fn scope_set(caller: &AgentCaller) -> usize {
    let bits = SCOPES.iter().enumerate().filter(|(_, scope)| caller.has_scope(scope));
    bits.map(|(place, _)| 1_usize << place).sum()
}
