//! The MCP tools of a capability: groups of its actions, in which either all actions only read, or
//! none does.
//!
//! A capability can declare some of its tools in the annotation [`TOOLS`]. Each action that is in none of these is in
//! a tool of all such actions that only read, that change something, or that are destructive.

use crate::{
    action::Action,
    problem::{Problems, check_line, check_text, excerpt},
};
use portolan_vocabulary::{
    Access, ActionDescriptor, Annotation, Descriptor, Digest, INTENTS, TOOLS, is_snake_case,
};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashSet;

/// The maximum number of characters of a tool's name, as clients of MCP limit it.
const NAME_CHARACTERS: usize = 64;
const TITLE_CHARACTERS: usize = 80;
/// The number of hexadecimal digits that tell long names apart.
const DIGEST_DIGITS: usize = 8;
const DESCRIPTION_CHARACTERS: usize = 1_000;
/// The maximum number of intents of an action, and of characters of each.
const ACTION_INTENTS: usize = 100;
const INTENT_CHARACTERS: usize = 120;

/// A tool as a capability declares it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Declared {
    /// The name after the capability's.
    name: String,
    title: String,
    description: String,
    /// The names of its actions, the most important one first.
    actions: Vec<String>,
    /// Whether it belongs among the few tools that a host lists by default.
    #[serde(default)]
    default: bool,
}

/// A tool: a name for some actions of a capability.
#[derive(Debug)]
pub struct CapabilityTool {
    pub name: String,
    pub title: String,
    /// The purpose of the tool, as the capability declares it; `None` for a tool of the actions that no
    /// declared tool has.
    pub description: Option<String>,
    /// The names of its actions.
    pub actions: Vec<String>,
    /// Whether it belongs among the few tools that a host lists by default.
    pub is_default: bool,
    /// Whether no action changes anything.
    pub read_only: bool,
    /// Whether an action removes or ends something.
    pub destructive: bool,
    /// Whether a repeated call of each action changes nothing more.
    pub idempotent: bool,
}

impl CapabilityTool {
    /// Returns whether it has an action of this name.
    pub fn has(&self, action: &str) -> bool {
        self.actions.iter().any(|name| name == action)
    }
}

/// Returns the name under which calls reach every action of a capability: the id in the characters that tool names
/// may have.
pub fn tool_name(id: &str) -> String {
    id.replace('.', "_")
}

/// Returns the name of a tool that nobody has declared. A part of a long id is replaced by digits of its digest.
fn undeclared_name(tool_name: &str, end: &str) -> String {
    let name = format!("{tool_name}_{end}");
    if name.len() <= NAME_CHARACTERS {
        return name;
    }
    let digest = Digest::of(tool_name.as_bytes()).hex();
    let digest = digest.get(..DIGEST_DIGITS).unwrap_or_default();
    let kept = NAME_CHARACTERS - DIGEST_DIGITS - end.len() - 2;
    format!("{}_{digest}_{end}", tool_name.get(..kept).unwrap_or(tool_name))
}

/// The effect of a call of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Reads,
    Changes,
    Destroys,
}

/// The ends of the names of the tools that nobody has declared, by what their actions do.
const UNDECLARED: [(Effect, &str, &str); 3] = [
    (Effect::Reads, "read", "read"),
    (Effect::Changes, "write", "write"),
    (Effect::Destroys, "destructive", "remove or end"),
];

/// Returns the tools with these actions of a capability, the declared tools first. `only_reads` tells whether an
/// action changes nothing.
pub(super) fn tools(
    descriptor: &Descriptor,
    actions: &[&Action],
    only_reads: impl Fn(&ActionDescriptor) -> bool,
) -> Vec<CapabilityTool> {
    let effect = |action: &ActionDescriptor| match (only_reads(action), action.destructive) {
        (true, _) => Effect::Reads,
        (false, false) => Effect::Changes,
        (false, true) => Effect::Destroys,
    };
    let tool = |name: String, title: String, own: Vec<&ActionDescriptor>| CapabilityTool {
        name,
        title,
        description: None,
        read_only: own.iter().all(|action| effect(action) == Effect::Reads),
        destructive: own.iter().any(|action| effect(action) == Effect::Destroys),
        idempotent: own.iter().all(|action| action.idempotent || effect(action) == Effect::Reads),
        actions: own.iter().map(|action| action.name.clone()).collect(),
        is_default: false,
    };
    let tool_name = tool_name(&descriptor.id);
    let actions: Vec<&ActionDescriptor> = actions.iter().map(|action| &action.descriptor).collect();
    let mut tools = Vec::new();
    for declared in declared(descriptor) {
        let named = |action: &&ActionDescriptor| declared.actions.contains(&action.name);
        let mut own: Vec<_> = actions.iter().copied().filter(named).collect();
        own.sort_by_key(|action| declared.actions.iter().position(|name| *name == action.name));
        let name = format!("{tool_name}_{}", declared.name);
        tools.push(CapabilityTool {
            description: Some(declared.description),
            is_default: declared.default,
            ..tool(name, declared.title, own)
        });
    }
    let is_left = |action: &ActionDescriptor| !tools.iter().any(|tool| tool.has(&action.name));
    let left: Vec<_> = actions.iter().copied().filter(|action| is_left(action)).collect();
    let groups = UNDECLARED.map(|(wanted, end, verb)| {
        let own = left.iter().copied().filter(|action| effect(action) == wanted);
        (own.collect::<Vec<_>>(), end, verb)
    });
    for (own, end, verb) in groups {
        if own.is_empty() {
            continue;
        }
        let title = &descriptor.title;
        tools.push(match own.len() == actions.len() {
            true => tool(tool_name.clone(), title.clone(), own),
            false => tool(undeclared_name(&tool_name, end), format!("{title}: {verb}"), own),
        });
    }
    tools
}

/// Returns the value of an annotation with this key at this place.
fn annotation<'a>(descriptor: &'a Descriptor, at: &str, key: &str) -> Option<&'a Value> {
    let matches = |annotation: &&Annotation| annotation.at == at && annotation.key == key;
    descriptor.annotations.iter().find(matches)?.value.as_ref().ok()
}

/// Returns the tools that a capability declares; none if they cannot be read, which the check reports.
fn declared(descriptor: &Descriptor) -> Vec<Declared> {
    let value = annotation(descriptor, "", TOOLS).cloned().unwrap_or_default();
    serde_json::from_value(value).unwrap_or_default()
}

/// Returns the intents of an action: what people want when it is right for them, as the capability
/// declares it.
pub fn intents<'a>(descriptor: &'a Descriptor, action: &str) -> impl Iterator<Item = &'a str> {
    let value = annotation(descriptor, &format!("actions.{action}"), INTENTS);
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Checks the declaration of the tools in an annotation of the capability.
pub(super) fn check_tools(
    descriptor: &Descriptor,
    annotation: &Annotation,
    value: &Value,
    problems: &mut Problems,
) {
    let at = format!("annotations.{TOOLS}");
    if !annotation.at.is_empty() {
        problems.add(at, "is not at the capability", "move it to the capability");
        return;
    }
    let declared: Vec<Declared> = match Deserialize::deserialize(value) {
        Ok(declared) => declared,
        Err(error) => {
            let fix = "write a list of {name, title, description, actions, default?}";
            problems.add(at, format!("is not a list of tools: {error}"), fix);
            return;
        }
    };
    let mut known = HashSet::new();
    problems.add_duplicates(&at, declared.iter().map(|tool| tool.name.as_str()));
    for tool in &declared {
        let at = format!("{at}.{}", excerpt(&tool.name));
        let full_name = tool_name(&descriptor.id).len() + 1 + tool.name.len();
        if !is_snake_case(&tool.name) || full_name > NAME_CHARACTERS {
            problems.add(
                &at,
                format!("has no name in snake_case, or is longer than {NAME_CHARACTERS} characters with the id"),
                "name the task in one or two words, such as search",
            );
        }
        if UNDECLARED.iter().any(|(_, end, _)| *end == tool.name) {
            problems.add(
                &at,
                "has a name of the host's own tools",
                "name the task, such as search",
            );
        }
        check_line(&format!("{at}.title"), &tool.title, TITLE_CHARACTERS, problems);
        check_text(
            &format!("{at}.description"),
            &tool.description,
            DESCRIPTION_CHARACTERS,
            problems,
        );
        check_tool_actions(descriptor, tool, &at, &mut known, problems);
    }
}

fn check_tool_actions<'a>(
    descriptor: &'a Descriptor,
    tool: &Declared,
    at: &str,
    known: &mut HashSet<&'a str>,
    problems: &mut Problems,
) {
    let (mut reads, mut writes) = (0, 0);
    for name in &tool.actions {
        let is_callable = |action: &&ActionDescriptor| {
            action.name == *name
                && action.access != Access::Internal
                && !descriptor.is_by_person(name)
        };
        let Some(action) = descriptor.actions.iter().find(is_callable) else {
            problems.add(
                at,
                format!("{} is no action that agents may call", excerpt(name)),
                "name actions of this capability",
            );
            continue;
        };
        if !known.insert(&action.name) {
            problems.add(
                at,
                format!("{name} is in a tool already"),
                "put each action into one tool",
            );
        }
        match action.access {
            Access::Read => reads += 1,
            _ => writes += 1,
        }
    }
    if reads > 0 && writes > 0 {
        problems.add(
            at,
            "has actions that read and actions that do not",
            "declare two tools, so that clients can call the one that reads without asking a person",
        );
    }
    if tool.actions.is_empty() {
        problems.add(at, "has no actions", "name actions of this capability");
    }
}

/// Checks the intents in an annotation of an action.
pub(super) fn check_intents(annotation: &Annotation, value: &Value, problems: &mut Problems) {
    let at = format!("{}.annotations.{INTENTS}", excerpt(&annotation.at));
    let texts: Option<Vec<&str>> =
        value.as_array().and_then(|intents| intents.iter().map(Value::as_str).collect());
    match texts {
        Some(texts) if texts.len() <= ACTION_INTENTS && annotation.at.starts_with("actions.") => {
            for text in texts {
                check_line(&at, text, INTENT_CHARACTERS, problems);
            }
        }
        _ => problems.add(
            at,
            format!("is not a list of at most {ACTION_INTENTS} texts at an action"),
            "write what people want when the action is right, such as [\"find a flat\"]",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::tests::{action, descriptor};
    use serde_json::json;

    /// A descriptor with two reads, a write and a destructive action, and this declaration of tools.
    fn declaring(tools: Value) -> (Descriptor, Vec<Action>) {
        let mut actions: Vec<_> = [
            ("list", Access::Read),
            ("get", Access::Read),
            ("add", Access::Write),
            ("end", Access::Write),
            ("migrate", Access::Internal),
        ]
        .map(|(name, access)| action(name, access, json!({ "type": "object" })))
        .into();
        actions[3].descriptor.destructive = true;
        let mut descriptor = descriptor(None);
        descriptor.id = "my.notes".to_owned();
        descriptor.actions = actions.iter().map(|action| action.descriptor.clone()).collect();
        let annotation = Annotation { at: String::new(), key: TOOLS.to_owned(), value: Ok(tools) };
        descriptor.annotations.push(annotation);
        (descriptor, actions)
    }

    fn names_of(tools: Value) -> Vec<(String, Vec<String>)> {
        let (descriptor, actions) = declaring(tools);
        let callable: Vec<_> =
            actions.iter().filter(|one| one.descriptor.access != Access::Internal).collect();
        let tools = super::tools(&descriptor, &callable, |action| action.access == Access::Read);
        tools.into_iter().map(|tool| (tool.name, tool.actions)).collect()
    }

    fn problems_of(tools: Value) -> String {
        let (descriptor, _) = declaring(tools);
        let mut problems = Problems::default();
        let annotation = &descriptor.annotations[0];
        check_tools(&descriptor, annotation, annotation.value.as_ref().unwrap(), &mut problems);
        problems.0.iter().map(|problem| format!("{}: {}\n", problem.at, problem.problem)).collect()
    }

    fn tool(name: &str, actions: &[&str]) -> Value {
        json!({ "name": name, "title": "Notes", "description": "Keeps notes.", "actions": actions })
    }

    #[test]
    fn each_action_is_in_a_declared_tool_or_in_one_of_its_kind() {
        let expected = |tools: &[(&str, &[&str])]| -> Vec<(String, Vec<String>)> {
            let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            tools.iter().map(|(name, actions)| ((*name).to_owned(), own(actions))).collect()
        };
        assert_eq!(
            names_of(json!([])),
            expected(&[
                ("my_notes_read", &["list", "get"]),
                ("my_notes_write", &["add"]),
                ("my_notes_destructive", &["end"]),
            ])
        );
        assert_eq!(
            names_of(json!([tool("browse", &["get", "list"]), tool("change", &["end", "add"])])),
            expected(&[
                ("my_notes_browse", &["get", "list"]),
                ("my_notes_change", &["end", "add"])
            ])
        );
        // Annotations that cannot be parsed declare nothing; the check refuses them.
        assert_eq!(names_of(json!({})).len(), 3);
    }

    #[test]
    fn the_names_of_a_long_id_fit_and_differ() {
        let name =
            |last: &str| undeclared_name(&format!("{}{last}", "a".repeat(63)), "destructive");
        assert_eq!(name("b").len(), NAME_CHARACTERS);
        assert!(name("b") != name("c") && name("b").ends_with("_destructive"));
        assert_eq!(undeclared_name("notes", "read"), "notes_read");
    }

    #[test]
    fn a_wrong_declaration_is_refused_with_every_problem() {
        assert_eq!(problems_of(json!([tool("browse", &["list"])])), "");
        for (tools, problem) in [
            (json!([tool("mix", &["list", "add"])]), "that read and actions that do not"),
            (json!([tool("a", &["list"]), tool("b", &["list"])]), "list is in a tool already"),
            (json!([tool("a", &["list"]), tool("a", &["get"])]), "a is given twice"),
            (json!([tool("hidden", &["migrate"])]), "migrate is no action that agents may call"),
            (json!([tool("none", &[])]), "has no actions"),
            (json!([tool("Browse", &["list"])]), "no name in snake_case"),
            (json!([tool(&"x".repeat(60), &["list"])]), "longer than 64"),
            (json!([tool("read", &["list"])]), "a name of the host's own tools"),
            (json!({ "name": "browse" }), "not a list of tools"),
        ] {
            let problems = problems_of(tools);
            assert!(problems.contains(problem), "{problem}: {problems}");
        }
    }
}
