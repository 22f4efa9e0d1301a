//! The tools that find and describe capabilities, and call those that are not listed.

use crate::{
    next::Steps,
    permitted::permits,
    request::{Permitted, Target, ToolRequest, tool_call},
    tool::{actions_of, description},
    words::{Document, Index},
};
use portolan_catalog::{Capability, CapabilityTool, Snapshot, intents};
use portolan_vocabulary::{Access, AgentCaller, FINDER_TOOLS, Failure, Timestamp};
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};
use std::{collections::HashMap, sync::Arc};

const FIND: &str = FINDER_TOOLS[0];
const DESCRIBE: &str = FINDER_TOOLS[1];
const READ: &str = FINDER_TOOLS[2];
const CALL: &str = FINDER_TOOLS[3];
/// The maximum number of tools of one answer.
const MAX_FOUND: usize = 8;
/// The number of found tools that an answer describes with an example.
const WITH_EXAMPLE: usize = 3;

/// How many characters of a query count.
const QUERY_CHARACTERS: usize = 200;
/// How much a word of a description weighs, against one of an intent or a name.
const TEXT_WEIGHT: f64 = 0.5;

/// The index for finding actions: each action with the words about it.
#[derive(Debug)]
pub(super) struct Finder {
    index: Index,
    /// The place of each action of the index: its capability, its tool and its name.
    actions: Vec<(Arc<Capability>, usize, String)>,
}

/// Returns the tools; without the one that can change something for clients that only read.
pub(super) fn tools(read_only: bool) -> Vec<Tool> {
    let id = json!({ "type": "string", "description": "The capability's id, as find_capabilities returns it." });
    let input = json!({ "type": "object", "description": "The fields of the call, by the schema of describe_capability.", "additionalProperties": true });
    let reads = || ToolAnnotations::new().read_only(true).destructive(false).idempotent(true);
    let changes = || ToolAnnotations::new().read_only(false).destructive(true).idempotent(false);
    let mut tools = vec![
        tool(
            FIND,
            "Find capabilities",
            "Finds what this host can do, by plain words. Use it when no listed tool fits: this host can do more than it lists. Each found action names the call that runs it.",
            json!({ "query": { "type": "string", "maxLength": 200, "description": "What you want to do, such as \"block somebody\". Without it, the answer lists the first capabilities." } }),
            &[],
        )
        .with_annotations(reads()),
        tool(
            DESCRIBE,
            "Describe a capability",
            "Returns a capability's actions and the schema of its input. Use it before you call one that is not listed.",
            json!({ "capability": id }),
            &["capability"],
        )
        .with_annotations(reads()),
        tool(
            READ,
            "Read from a capability",
            "Calls an action that changes nothing. Use it for reading actions that find_capabilities returns.",
            json!({ "capability": id, "input": input }),
            &["capability", "input"],
        )
        .with_annotations(reads()),
    ];
    if !read_only {
        let call = tool(
            CALL,
            "Call a capability",
            "Calls any action. Use it for the actions that find_capabilities returns and that change something. A failure has `error_code`, and in `next` the step that helps.",
            json!({ "capability": id, "input": input }),
            &["capability", "input"],
        );
        tools.push(call.with_annotations(changes()));
    }
    tools
}

fn tool(
    name: &'static str,
    title: &str,
    text: &'static str,
    fields: Value,
    required: &[&str],
) -> Tool {
    let schema = json!({
        "type": "object", "properties": fields, "required": required, "additionalProperties": false,
    });
    let schema = schema.as_object().cloned().unwrap_or_default();
    Tool::new(name, text, Arc::new(schema)).with_title(title)
}

/// Parses a call of one of the tools; returns `None` for another tool.
pub(super) fn request(tool: &str, mut arguments: Map<String, Value>) -> Option<ToolRequest> {
    let mut text = |name: &str| match arguments.shift_remove(name) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    let permitted = match tool {
        FIND => return Some(ToolRequest::Find { query: text("query") }),
        DESCRIBE => return Some(ToolRequest::Describe { capability: text("capability") }),
        READ => Permitted::Reads,
        CALL => Permitted::All,
        _ => return None,
    };
    let capability = Arc::from(text("capability"));
    let body = match arguments.shift_remove("input") {
        Some(Value::Object(body)) => body,
        _ => Map::new(),
    };
    Some(ToolRequest::Call(Target { capability, body, permitted }))
}

/// Returns the step that calls a capability which is not listed.
pub(super) fn call(
    capability: &str,
    only_reads: bool,
    input: Map<String, Value>,
) -> Map<String, Value> {
    let tool = if only_reads { READ } else { CALL };
    tool_call(tool, json!({ "capability": capability, "input": input }))
}

/// Returns the step that describes a capability.
pub(super) fn describing_call(capability: &str) -> Map<String, Value> {
    tool_call(DESCRIBE, json!({ "capability": capability }))
}

/// Returns the step that lists capabilities.
pub(super) fn finding_call() -> Map<String, Value> {
    tool_call(FIND, json!({}))
}

impl Finder {
    pub(super) fn new(snapshot: &Snapshot) -> Self {
        let (mut actions, mut documents, mut tools) = (Vec::new(), Vec::new(), 0);
        for capability in snapshot.capabilities.values() {
            for (place, tool) in capability.tools.iter().enumerate() {
                tools += 1;
                for action in actions_of(capability, tool) {
                    documents.push(document(tools, capability, tool, &action.descriptor.name));
                    actions.push((Arc::clone(capability), place, action.descriptor.name.clone()));
                }
            }
        }
        Self { index: Index::new(&documents), actions }
    }

    /// Returns the tools whose actions fit the words of a query, the best first, as `{items, total}`. A query without
    /// words finds the first capabilities. The examples are calls that the client can make.
    pub(super) fn find(
        &self,
        query: &str,
        caller: &AgentCaller,
        now: Timestamp,
        steps: &dyn Steps,
    ) -> Value {
        let ranked = self.ranked(query, now);
        let items = ranked
            .iter()
            .take(MAX_FOUND)
            .enumerate()
            .filter_map(|(place, found)| self.item(found, caller, steps, place < WITH_EXAMPLE));
        json!({ "items": items.collect::<Vec<_>>(), "total": ranked.len() })
    }

    /// Returns the actions that fit the words of a query, the best first.
    pub(super) fn actions(
        &self,
        query: &str,
        now: Timestamp,
    ) -> impl Iterator<Item = (Arc<Capability>, String)> {
        let found = self.search(query).into_iter();
        let found = found.filter_map(|found| self.actions.get(found));
        found
            .filter(move |(capability, ..)| !capability.is_sunset(now))
            .map(|(capability, _, action)| (Arc::clone(capability), action.clone()))
    }

    /// Returns the places of the actions that fit the words of a query, the best first.
    fn search(&self, query: &str) -> Vec<usize> {
        let end = query.char_indices().nth(QUERY_CHARACTERS).map_or(query.len(), |(end, _)| end);
        self.index.search(query.get(..end).unwrap_or_default())
    }

    /// Returns the found actions of each tool, the best tool and the best action first.
    fn ranked(&self, query: &str, now: Timestamp) -> Vec<Vec<usize>> {
        let mut tools: Vec<Vec<usize>> = Vec::new();
        let mut places: HashMap<(&str, usize), usize> = HashMap::new();
        for found in self.search(query) {
            let Some((capability, tool, _)) = self.actions.get(found) else { continue };
            if capability.is_sunset(now) {
                continue;
            }
            let place = *places.entry((&capability.id, *tool)).or_insert(tools.len());
            match tools.get_mut(place) {
                Some(actions) => actions.push(found),
                None => tools.push(vec![found]),
            }
        }
        tools
    }

    fn item(
        &self,
        found: &[usize],
        caller: &AgentCaller,
        steps: &dyn Steps,
        has_example: bool,
    ) -> Option<Value> {
        let (capability, place, best) = self.actions.get(*found.first()?)?;
        let tool = capability.tools.get(*place)?;
        let actions = found.iter().filter_map(|found| {
            let action = &capability.action(&self.actions.get(*found)?.2)?.descriptor;
            let missing = action.access.scope().filter(|_| !permits(caller, action));
            let needs_claim = action.access == Access::Write && caller.owner_id.is_none();
            let shown = [
                Some(("action", json!(action.name))),
                Some(("title", json!(action.title))),
                missing.map(|scope| ("needs_scope", json!(scope))),
                needs_claim.then(|| ("needs_claim", json!(true))),
            ];
            Some(members(shown))
        });
        let example = capability.action(best)?.descriptor.example().filter(|_| has_example);
        let step = match example {
            Some(Value::Object(example)) => steps.call(&capability.id, example),
            _ => None,
        };
        let item = [
            Some(("capability", json!(capability.id))),
            Some(("tool", json!(tool.name))),
            Some(("title", json!(tool.title))),
            Some(("summary", json!(capability.descriptor.summary))),
            Some(("only_reads", json!(tool.read_only))),
            Some(("actions", actions.collect())),
            step.map(|step| ("example", Value::Object(step))),
        ];
        Some(members(item))
    }
}

/// Returns an object of the members that there are.
fn members<const COUNT: usize>(members: [Option<(&str, Value)>; COUNT]) -> Value {
    members.into_iter().flatten().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Returns the texts about an action.
fn document(group: usize, capability: &Capability, tool: &CapabilityTool, name: &str) -> Document {
    let descriptor = &capability.descriptor;
    let action = capability.action(name).map(|action| &action.descriptor);
    let title = action.map(|action| action.title.as_str()).unwrap_or_default();
    let text = action.map(|action| action.description.as_str()).unwrap_or_default();
    let id = descriptor.id.replace(['.', '_', '-'], " ");
    let names = format!(
        "{} {title} {id} {} {} {}",
        name.replace('_', " "),
        descriptor.title,
        tool.title,
        descriptor.tags.join(" ")
    );
    let wanted = intents(descriptor, name).map(str::to_owned).collect();
    Document { group, wanted, texts: vec![(1.0, names), (TEXT_WEIGHT, text.to_owned())] }
}

/// Returns the facts that a caller needs before a call: the description of each tool of a capability and the input
/// schema, with the actions that the caller's scopes permit; with all of them if they permit none.
pub(super) fn describe(
    snapshot: &Snapshot,
    caller: &AgentCaller,
    id: &str,
    now: Timestamp,
) -> Result<Value, Failure> {
    let capability = snapshot.find(id, now)?;
    let descriptor = &capability.descriptor;
    let all: Vec<_> = capability.callable().collect();
    let permitted: Vec<_> =
        all.iter().copied().filter(|action| permits(caller, &action.descriptor)).collect();
    let actions = if permitted.is_empty() { all } else { permitted };
    let is_described = |name: &str| actions.iter().any(|action| action.descriptor.name == name);
    let tools = capability.tools.iter().filter_map(|tool| {
        let own: Vec<_> = tool.actions.iter().filter(|name| is_described(name)).collect();
        (!own.is_empty()).then(|| {
            json!({
                "tool": tool.name,
                "description": description(capability, tool),
                "only_reads": tool.read_only,
                "actions": own,
            })
        })
    });
    Ok(json!({
        "capability": capability.id,
        "version": descriptor.version,
        "title": descriptor.title,
        "description": descriptor.description,
        "tools": tools.collect::<Vec<_>>(),
        "input_schema": *capability.tool_of(&actions).input,
    }))
}
