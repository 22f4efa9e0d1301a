//! A capability's description as a page of Markdown, for people.

use crate::{action::Action, capability::Capability};
use portolan_vocabulary::{Access, ErrorCode, StateMachine};
use serde_json::Value;
use std::fmt::{self, Display, Write as _};

/// The page of a capability.
#[derive(Debug)]
pub struct Reference<'a>(pub &'a Capability);

impl Display for Reference<'_> {
    fn fmt(&self, page: &mut fmt::Formatter<'_>) -> fmt::Result {
        let descriptor = &self.0.descriptor;
        writeln!(page, "# {}\n", plain(&descriptor.title))?;
        writeln!(page, "`{}` {}\n", descriptor.id, descriptor.version)?;
        writeln!(page, "{}\n", lines(&descriptor.description))?;
        self.overview(page)?;
        for machine in &descriptor.state_machines {
            states(page, machine)?;
        }
        writeln!(page, "## Actions\n")?;
        for action in &self.0.actions {
            self.action(page, action)?;
        }
        self.errors(page)
    }
}

impl Reference<'_> {
    fn overview(&self, page: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(page, "| action | access | | |\n|---|---|---|---|")?;
        for action in &self.0.actions {
            let action = &action.descriptor;
            let marks = [
                (action.idempotent, "idempotent"),
                (action.destructive, "destructive"),
                (action.deprecated.is_some(), "deprecated"),
            ];
            let marks: Vec<_> = marks.iter().filter(|mark| mark.0).map(|mark| mark.1).collect();
            let (name, access, title) = (&action.name, action.access.name(), cell(&action.title));
            writeln!(page, "| [`{name}`](#{name}) | {access} | {title} | {} |", marks.join(", "))?;
        }
        writeln!(page)
    }

    fn action(&self, page: &mut fmt::Formatter<'_>, action: &Action) -> fmt::Result {
        let described = &action.descriptor;
        writeln!(page, "### {}\n", described.name)?;
        writeln!(page, "{}. {}\n", plain(&described.title), lines(&described.description))?;
        if let Some(reason) = &described.deprecated {
            writeln!(page, "Deprecated: {}\n", plain(reason))?;
        }
        fields(page, "input", action.schemas.input.document())?;
        fields(page, "output", action.schemas.output.document())?;
        if !described.errors.is_empty() {
            writeln!(page, "Errors: {}\n", codes(&described.errors))?;
        }
        if !described.emits.is_empty() {
            writeln!(page, "Events: {}\n", codes(&described.emits))?;
        }
        if described.access != Access::Internal {
            for example in described.examples.iter().flatten() {
                let mut body = serde_json::json!({ "action": described.name });
                if let (Some(body), Some(example)) = (body.as_object_mut(), example.as_object()) {
                    body.extend(example.clone());
                }
                writeln!(page, "```json\n{body}\n```\n")?;
            }
        }
        Ok(())
    }

    fn errors(&self, page: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors = &self.0.descriptor.errors;
        if errors.is_empty() {
            return Ok(());
        }
        writeln!(page, "## Errors\n")?;
        writeln!(page, "Beside [those that every capability has](../api.md#error-codes).\n")?;
        writeln!(page, "| error code | HTTP | retryable | |\n|---|---|---|---|")?;
        for error in errors.iter().filter(|error| ErrorCode::from_name(&error.code).is_none()) {
            let retryable = if error.retryable { "yes" } else { "no" };
            let status = error.kind.http_status();
            let (code, description) = (&error.code, cell(&error.description));
            writeln!(page, "| `{code}` | {status} | {retryable} | {description} |")?;
        }
        Ok(())
    }
}

/// Writes a state machine as a diagram (Mermaid) and as a table.
fn states(page: &mut fmt::Formatter<'_>, machine: &StateMachine) -> fmt::Result {
    writeln!(page, "## States: {}\n", machine.name)?;
    writeln!(page, "```mermaid\nstateDiagram-v2")?;
    for transition in &machine.transitions {
        let begin = [String::from("[*]")];
        let from = if transition.from.is_empty() { &begin[..] } else { &transition.from };
        for from in from {
            // A transition without a target state has no arrow.
            for to in &transition.to {
                writeln!(page, "    {from} --> {to} : {}", transition.action)?;
            }
        }
    }
    for end in &machine.states {
        let leaves = |transition: &portolan_vocabulary::Transition| {
            transition.from.contains(end) && transition.to.iter().any(|to| to != end)
        };
        if !machine.transitions.iter().any(leaves) {
            writeln!(page, "    {end} --> [*]")?;
        }
    }
    writeln!(page, "```\n\n| action | by | from | to |\n|---|---|---|---|")?;
    for transition in &machine.transitions {
        let names = |states: &[String], none: &str| match states {
            [] => none.to_owned(),
            states => states.join(", "),
        };
        writeln!(
            page,
            "| `{}` | {} | {} | {} |",
            transition.action,
            transition.role.as_deref().unwrap_or_default(),
            names(&transition.from, "–"),
            names(&transition.to, "stays"),
        )?;
    }
    writeln!(page)
}

/// Writes the fields of an object schema, one in each row.
fn fields(page: &mut fmt::Formatter<'_>, title: &str, schema: &Value) -> fmt::Result {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Ok(());
    };
    if properties.is_empty() {
        return Ok(());
    }
    writeln!(page, "| {title} | type | |\n|---|---|---|")?;
    let required = schema.get("required").and_then(Value::as_array);
    for (name, field) in properties {
        let needed = required.is_some_and(|names| names.iter().any(|required| required == name));
        let mark = if needed && title == "input" { "\\*" } else { "" };
        let description = field.get("description").and_then(Value::as_str).unwrap_or_default();
        writeln!(page, "| `{name}`{mark} | {} | {} |", kind(field), cell(description))?;
    }
    writeln!(page)
}

/// Describes in a few words what a field accepts.
fn kind(field: &Value) -> String {
    let mut kind = match field.get("type") {
        Some(Value::String(one)) => one.clone(),
        Some(Value::Array(many)) => {
            many.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
        }
        _ => "any".to_owned(),
    };
    if let Some(values) = field.get("enum").and_then(Value::as_array) {
        let values: Vec<_> = values.iter().map(|value| format!("`{value}`")).collect();
        kind = values.join(", ");
    }
    for (keyword, words) in [
        ("minLength", "at least"),
        ("maxLength", "at most"),
        ("minimum", "from"),
        ("maximum", "to"),
        ("minItems", "at least"),
        ("maxItems", "at most"),
    ] {
        if let Some(bound) = field.get(keyword).filter(|bound| **bound != 0) {
            let _written = write!(kind, " {words} {bound}");
        }
    }
    if let Some(default) = field.get("default").filter(|default| !default.is_null()) {
        let _written = write!(kind, ", default `{default}`");
    }
    kind
}

fn codes(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Returns a text in one line, without control characters, because the author is not trusted.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace(char::is_control, "")
}

fn lines(text: &str) -> String {
    text.replace(|letter: char| letter.is_control() && letter != '\n', "")
}

fn cell(text: &str) -> String {
    plain(text).replace('|', "\\|")
}
