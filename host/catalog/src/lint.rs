//! Finds what a host accepts but agents do not understand well, for `portolan check --strict`.

use crate::{
    capability::Capability,
    capability_tool::CapabilityTool,
    problem::{Problem, Problems},
};
use portolan_vocabulary::{Access, ActionDescriptor, Descriptor};
use serde_json::Value;
use std::collections::HashSet;

/// The minimum number of words of the first line of a description: fewer do not say what something does.
const FIRST_LINE_WORDS: usize = 3;
/// The approximate number of bytes of a schema for each token of a language model.
const TOKEN_BYTES: usize = 4;
/// The maximum number of characters of the first line of a tool's description.
const FIRST_LINE_CHARACTERS: usize = 160;
/// The number of tokens above which a tool takes much of an agent's context.
const TOOL_TOKENS: usize = 2_000;
/// Words that say that a text is not written yet.
const UNWRITTEN: [&str; 4] = ["todo", "fixme", "tbd", "lorem"];

/// Returns the problems that agents would have with the capability, each with its fix.
pub fn lint(capability: &Capability) -> Vec<Problem> {
    let descriptor = &capability.descriptor;
    let mut problems = Problems::default();
    check_texts("", &descriptor.title, &descriptor.description, &mut problems);
    let is_callable = |action: &&ActionDescriptor| {
        action.access != Access::Internal && !descriptor.is_by_person(&action.name)
    };
    let callable = || descriptor.actions.iter().filter(is_callable);
    for action in callable() {
        let at = format!("actions.{}", action.name);
        check_texts(&format!("{at}."), &action.title, &action.description, &mut problems);
        check_example(action, &at, &mut problems);
        for (side, schema) in [("input", &action.input), ("output", &action.output)] {
            if let Ok(schema) = schema {
                check_fields(schema, &format!("{at}.{side}"), &mut problems);
            }
        }
    }
    check_errors(descriptor, &mut problems);
    for tool in &capability.tools {
        check_tool(capability, tool, &mut problems);
    }
    problems.0
}

/// Returns the approximate number of tokens of a tool's input schema.
pub fn tool_tokens(capability: &Capability, tool: &CapabilityTool) -> usize {
    let actions: Vec<_> =
        capability.callable().filter(|action| tool.has(&action.descriptor.name)).collect();
    let schema = capability.tool_of(&actions).input;
    serde_json::to_string(&*schema).map_or(0, |text| text.len()) / TOKEN_BYTES
}

/// Checks what an agent needs to choose a tool among many.
fn check_tool(capability: &Capability, tool: &CapabilityTool, problems: &mut Problems) {
    let at = format!("tools.{}", tool.name);
    let tokens = tool_tokens(capability, tool);
    if tokens > TOOL_TOKENS {
        problems.add(
            at.as_str(),
            format!("its input schema is about {tokens} tokens, more than {TOOL_TOKENS}"),
            "shorten descriptions, or declare more tools with fewer actions",
        );
    }
    let Some(description) = &tool.description else { return };
    let at = format!("{at}.description");
    let first = description.lines().next().unwrap_or_default();
    if first.chars().count() > FIRST_LINE_CHARACTERS {
        problems.add(
            at.as_str(),
            format!("its first line is longer than {FIRST_LINE_CHARACTERS} characters"),
            "say in one sentence what the tool does",
        );
    }
    if !description.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == "Use") {
        problems.add(
            at.as_str(),
            "does not say when to use the tool",
            "add a sentence that begins with \"Use\", and name what to use for something similar",
        );
    }
}

fn check_texts(at: &str, title: &str, description: &str, problems: &mut Problems) {
    let first = description.lines().next().unwrap_or_default().trim();
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|letter: char| !letter.is_alphanumeric());
        words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
    };
    let (title, description, first) = (words(title), words(description), words(first));
    if title == description {
        problems.add(
            format!("{at}title"),
            "is the description again",
            "name it in a few words, and say in the description when to use it; in Rust, begin the comment with one line for the title",
        );
        return;
    }
    let at = format!("{at}description");
    if first.iter().any(|word| UNWRITTEN.contains(&word.as_str())) {
        problems.add(at, "is not written yet", "say what it does and when to use it");
    } else if first.len() < FIRST_LINE_WORDS {
        problems.add(
            at,
            "its first line does not say what it does",
            "begin with a sentence such as \"Lends one book for two weeks.\"",
        );
    }
}

fn check_example(action: &ActionDescriptor, at: &str, problems: &mut Problems) {
    let takes_fields = action.input.as_ref().is_ok_and(|schema| {
        schema.get("properties").and_then(Value::as_object).is_some_and(|fields| !fields.is_empty())
    });
    if takes_fields && action.examples.is_empty() {
        let fix = "add an input as an agent would send it; in Rust, example = r#\"{…}\"#";
        problems.add(format!("{at}.examples"), "there is none", fix);
    }
}

/// Reports every field without a description, in a schema and its definitions.
fn check_fields(document: &Value, at: &str, problems: &mut Problems) {
    let mut seen = HashSet::new();
    let mut pending = vec![(document, at.to_owned())];
    while let Some((schema, at)) = pending.pop() {
        if !seen.insert(std::ptr::from_ref(schema)) {
            continue;
        }
        for (name, field) in
            schema.get("properties").and_then(Value::as_object).into_iter().flatten()
        {
            let at = format!("{at}.{name}");
            // Every page has its elements in a field `items`, which needs no description.
            let is_page = name == "items" && field.get("items").is_some();
            if !is_page && !is_described(document, field) {
                problems.add(
                    &at,
                    "has no description",
                    "say what it means, its unit or its form; in Rust, a comment /// at the field",
                );
            }
            pending.push((field, at));
        }
        for target in alternatives(document, schema) {
            pending.push((target, at.clone()));
        }
        if let Some(items) = schema.get("items") {
            pending.push((items, format!("{at}[]")));
        }
    }
}

/// Returns the schemas that describe the same value: alternatives, and what a reference leads to.
fn alternatives<'a>(document: &'a Value, schema: &'a Value) -> impl Iterator<Item = &'a Value> {
    let lists = ["anyOf", "oneOf", "allOf"];
    let branches = lists.into_iter().filter_map(|name| schema.get(name).and_then(Value::as_array));
    branches.flatten().chain(target(document, schema))
}

fn target<'a>(document: &'a Value, schema: &Value) -> Option<&'a Value> {
    document.pointer(schema.get("$ref")?.as_str()?.strip_prefix('#')?)
}

/// Returns whether a field, or a schema that it refers to, has a description. A constant needs none.
fn is_described(document: &Value, field: &Value) -> bool {
    let has_text = |schema: &Value| {
        schema
            .get("description")
            .and_then(Value::as_str)
            .is_some_and(|text| !text.trim().is_empty())
    };
    let is_null = |schema: &&Value| schema.get("type").is_some_and(|name| name == "null");
    has_text(field)
        || field.get("const").is_some()
        || alternatives(document, field)
            .filter(|schema| !is_null(schema))
            .any(|schema| has_text(schema) || target(document, schema).is_some_and(has_text))
}

fn check_errors(descriptor: &Descriptor, problems: &mut Problems) {
    for error in &descriptor.errors {
        if !descriptor.actions.iter().any(|action| action.errors.contains(&error.code)) {
            problems.add(
                format!("errors.{}", error.code),
                "no action answers with it",
                "name it in the errors of the actions that can answer with it, or remove it",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn places(check: impl Fn(&mut Problems)) -> Vec<String> {
        let mut problems = Problems::default();
        check(&mut problems);
        problems.0.into_iter().map(|problem| problem.at).collect()
    }

    #[test]
    fn a_field_without_description_is_found_at_any_depth() {
        let schema = json!({
            "properties": {
                "plain": { "type": "string" },
                "items": { "items": { "type": "string" } },
                "book": { "description": "The book.", "$ref": "#/$defs/Book" },
                "list": { "description": "All.", "items": { "$ref": "#/$defs/Book" } },
                "kind": { "anyOf": [{ "$ref": "#/$defs/Kind" }, { "type": "null" }] },
            },
            "$defs": {
                "Kind": { "description": "What it is.", "enum": ["a"] },
                "Book": { "properties": { "code": {}, "next": { "description": "Next.", "$ref": "#/$defs/Book" } } },
            },
        });
        let mut found = places(|problems| check_fields(&schema, "x", problems));
        found.sort();
        // A definition is reported once, at one of the fields that refer to it.
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.contains(&"x.plain".to_owned()), "{found:?}");
        assert!(found.iter().any(|at| at.ends_with(".code")), "{found:?}");
    }

    #[test]
    fn a_title_is_not_the_description_again() {
        for (title, description, expected) in [
            ("Lend a book", "Lend a book.", "title"),
            ("Lend", "TODO: write this text", "description"),
            ("Lend", "Lends.", "description"),
        ] {
            assert_eq!(
                places(|problems| check_texts("", title, description, problems)),
                [expected]
            );
        }
        let good = |problems: &mut Problems| check_texts("", "Lend", "Lends one book.", problems);
        assert_eq!(places(good), [""; 0]);
    }
}
