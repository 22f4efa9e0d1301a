//! A capability's description as a page of Markdown, for people.

use crate::{
    action::Action,
    capability::Capability,
    fields::{Field, Side, fields},
};
use portolan_names::is_invisible;
use portolan_vocabulary::{Access, ErrorCode, ErrorDeclaration, StateMachine};
use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    fmt::{self, Display},
};

/// The page of a capability.
#[derive(Debug)]
pub struct Reference<'a>(pub &'a Capability);

impl Display for Reference<'_> {
    fn fmt(&self, page: &mut fmt::Formatter<'_>) -> fmt::Result {
        let descriptor = &self.0.descriptor;
        writeln!(page, "# {}\n", plain(&descriptor.title))?;
        writeln!(page, "`{}` {}\n", descriptor.id, descriptor.version)?;
        writeln!(page, "{}\n", lines(&descriptor.description))?;
        let is_internal = |action: &&Action| action.descriptor.access == Access::Internal;
        let (internal, public): (Vec<_>, Vec<_>) = self.0.actions.iter().partition(is_internal);
        overview(page, &public)?;
        for machine in &descriptor.state_machines {
            states(page, machine)?;
        }
        writeln!(page, "## Actions\n")?;
        let mut common = CommonFields::of(&public);
        for action in &public {
            self.action(page, action, &mut common)?;
        }
        common.write(page)?;
        internal_actions(page, &internal)?;
        self.errors(page)
    }
}

impl Reference<'_> {
    fn action(
        &self,
        page: &mut fmt::Formatter<'_>,
        action: &Action,
        common: &mut CommonFields,
    ) -> fmt::Result {
        let described = &action.descriptor;
        writeln!(page, "### {}\n", described.name)?;
        writeln!(page, "{}\n", introduction(&described.title, &described.description))?;
        if let Some(reason) = &described.deprecated {
            writeln!(page, "Deprecated: {}\n", plain(reason))?;
        }
        field_table(page, action, Side::Input, common)?;
        field_table(page, action, Side::Output, common)?;
        // An action that can answer with every error needs no list: the last table has them.
        let has_all = self.own_errors().all(|error| described.errors.contains(&error.code));
        if !described.errors.is_empty() && !has_all {
            writeln!(page, "Errors: {}\n", codes(&described.errors))?;
        }
        if !described.emits.is_empty() {
            writeln!(page, "Events: {}\n", codes(&described.emits))?;
        }
        for example in described.examples.iter().flatten() {
            let mut body = serde_json::json!({ "action": described.name });
            if let (Some(body), Some(example)) = (body.as_object_mut(), example.as_object()) {
                body.extend(example.clone());
            }
            writeln!(page, "```json\n{body}\n```\n")?;
        }
        Ok(())
    }

    /// Returns the errors that are not common to all capabilities.
    fn own_errors(&self) -> impl Iterator<Item = &ErrorDeclaration> {
        self.0.descriptor.errors.iter().filter(|error| ErrorCode::from_name(&error.code).is_none())
    }

    fn errors(&self, page: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(page, "## Errors\n")?;
        write!(page, "[Every capability's codes](../api.md#error-codes)")?;
        if self.own_errors().next().is_none() {
            return writeln!(page, ".");
        }
        writeln!(page, ", and:\n\n| error code | HTTP | retryable | meaning |\n|---|---|---|---|")?;
        for error in self.own_errors() {
            let retryable = if error.retryable { "yes" } else { "no" };
            let status = error.kind.http_status();
            let (code, description) = (&error.code, cell(&error.description));
            writeln!(page, "| `{code}` | {status} | {retryable} | {description} |")?;
        }
        Ok(())
    }
}

/// Returns the title as a sentence and the description, or only the description if it begins with the title.
fn introduction(title: &str, description: &str) -> String {
    let bare = |text: &str| plain(text).trim_end_matches('.').to_owned();
    let (title, description) = (bare(title), lines(description));
    let first = description.split("\n\n").next().unwrap_or_default();
    match description.trim() {
        "" => format!("{title}."),
        text if text == title => format!("{title}."),
        text if bare(first) == title => text.to_owned(),
        text => format!("{title}. {text}"),
    }
}

fn overview(page: &mut fmt::Formatter<'_>, actions: &[&Action]) -> fmt::Result {
    writeln!(page, "| action | access | marks |\n|---|---|---|")?;
    for action in actions {
        let action = &action.descriptor;
        let marks = [
            (action.idempotent, "idempotent"),
            (action.destructive, "destructive"),
            (action.deprecated.is_some(), "deprecated"),
        ];
        let marks: Vec<_> = marks.iter().filter(|mark| mark.0).map(|mark| mark.1).collect();
        let (name, access) = (&action.name, action.access.name());
        writeln!(page, "| [`{name}`](#{name}) | {access} | {} |", marks.join(", "))?;
    }
    writeln!(page, "\n`*`: required.\n")
}

/// Writes the actions that other capabilities, timers, subscriptions and the operator run.
fn internal_actions(page: &mut fmt::Formatter<'_>, actions: &[&Action]) -> fmt::Result {
    if actions.is_empty() {
        return Ok(());
    }
    writeln!(page, "## Internal actions\n")?;
    writeln!(page, "Not for agents.\n\n| action | input | purpose, events |\n|---|---|---|")?;
    for action in actions {
        let described = &action.descriptor;
        let fields: Vec<_> = fields(action, Side::Input).collect();
        let input = if fields.iter().any(|field| field.name == "event_type") {
            "event".to_owned()
        } else {
            names(&fields)
        };
        write!(page, "| `{}` | {input} | {}", described.name, cell(&described.title))?;
        if !described.emits.is_empty() {
            write!(page, ", {}", codes(&described.emits))?;
        }
        writeln!(page, " |")?;
    }
    writeln!(page)
}

/// Writes the transitions of a state machine: as a diagram (Mermaid), and as a table with the roles and the
/// actions that keep the state.
fn states(page: &mut fmt::Formatter<'_>, machine: &StateMachine) -> fmt::Result {
    writeln!(page, "## States: {}\n", machine.name)?;
    writeln!(page, "```mermaid\nstateDiagram-v2")?;
    for ((from, to), actions) in state_changes(machine) {
        writeln!(page, "    {from} --> {to} : {}", actions.join("/"))?;
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
            names(&transition.to, "unchanged"),
        )?;
    }
    writeln!(page)
}

/// Returns the changes of state, each with the actions that make it.
fn state_changes(machine: &StateMachine) -> BTreeMap<(&str, &str), Vec<&str>> {
    let mut state_changes: BTreeMap<_, Vec<&str>> = BTreeMap::new();
    for transition in &machine.transitions {
        let from = match &*transition.from {
            [] => vec!["[*]"],
            states => states.iter().map(String::as_str).collect(),
        };
        for from in from {
            for to in transition.to.iter().filter(|to| *to != from) {
                state_changes.entry((from, to.as_str())).or_default().push(&transition.action);
            }
        }
    }
    state_changes
}

impl Field<'_> {
    fn row(&self, mark: &str) -> String {
        let kind = cell(&format!("{}{}", self.kind, self.limits));
        format!("| `{}`{mark} | {kind} | {} |", self.name, cell(self.description))
    }

    fn mark(&self) -> &'static str {
        if self.is_required { "\\*" } else { "" }
    }
}

/// The rows of fields that several actions have with the same type and description.
#[derive(Debug)]
struct CommonFields {
    rows: BTreeSet<(Side, String)>,
    /// The long lists of field names, each with the first action that has the list.
    lists: BTreeMap<(Side, String), String>,
}

/// The number of names from which a list is linked when it occurs again. A shorter list is repeated.
const LINKED_NAMES: usize = 5;

impl CommonFields {
    fn of(actions: &[&Action]) -> Self {
        let mut counts = BTreeMap::new();
        for action in actions {
            for side in [Side::Input, Side::Output] {
                for field in fields(action, side) {
                    *counts.entry((side, field.row(""))).or_insert(0) += 1;
                }
            }
        }
        counts.retain(|_, count| *count > 1);
        Self { rows: counts.into_keys().collect(), lists: BTreeMap::new() }
    }

    fn contains(&self, side: Side, field: &Field<'_>) -> bool {
        self.rows.contains(&(side, field.row("")))
    }

    /// Returns the names of an action's common fields, or a link to the action that has listed them.
    fn list(&mut self, side: Side, action: &str, fields: &[Field<'_>]) -> String {
        let names = names(fields);
        match self.lists.entry((side, names.clone())) {
            Entry::Occupied(first) => format!("as of [`{0}`](#{0})", first.get()),
            Entry::Vacant(first) if fields.len() >= LINKED_NAMES => {
                first.insert(action.to_owned());
                names
            }
            Entry::Vacant(_) => names,
        }
    }

    fn write(&self, page: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (side, title) in [(Side::Input, "input"), (Side::Output, "output")] {
            let mut rows = self.rows.iter().filter(|row| row.0 == side).peekable();
            if rows.peek().is_none() {
                continue;
            }
            writeln!(page, "## Common {title} fields\n")?;
            writeln!(page, "| {title} | type | meaning |\n|---|---|---|")?;
            for (_, row) in rows {
                writeln!(page, "{row}")?;
            }
            writeln!(page)?;
        }
        Ok(())
    }
}

/// Writes a table of the fields that only this action has, and the names of the common ones.
fn field_table(
    page: &mut fmt::Formatter<'_>,
    action: &Action,
    side: Side,
    common: &mut CommonFields,
) -> fmt::Result {
    let (title, label) = match side {
        Side::Input => ("input", "Input"),
        Side::Output => ("output", "Output"),
    };
    let (shared, own): (Vec<_>, Vec<_>) =
        fields(action, side).partition(|field| common.contains(side, field));
    if !own.is_empty() {
        writeln!(page, "| {title} | type | meaning |\n|---|---|---|")?;
        for field in &own {
            writeln!(page, "{}", field.row(field.mark()))?;
        }
        writeln!(page)?;
    }
    if !shared.is_empty() {
        let names = common.list(side, &action.descriptor.name, &shared);
        writeln!(page, "[{label}](#common-{title}-fields): {names}\n")?;
    }
    Ok(())
}

fn names(fields: &[Field<'_>]) -> String {
    let names = fields.iter().map(|field| format!("`{}`{}", field.name, field.mark()));
    names.collect::<Vec<_>>().join(", ")
}

fn codes(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Returns a text in one line. Control characters are left out, since the author is not trusted.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace(is_invisible, "")
}

fn lines(text: &str) -> String {
    text.replace(|letter: char| is_invisible(letter) && letter != '\n', "")
}

fn cell(text: &str) -> String {
    plain(text).replace('|', "\\|")
}
