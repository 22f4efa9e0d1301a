//! The fields of an action's input and output, in words that people read. A schema can refer to one large part
//! from many fields, so what is read and written for one field is bounded.

use crate::action::Action;
use serde_json::Value;
use std::fmt::{self, Write};

/// The maximum number of bytes that describe the values of one field.
const MAX_BYTES: usize = 1_000;
/// How many of the values or branches of a schema are read.
const MAX_BRANCHES: usize = 100;
/// The maximum depth of branches that is read: an optional value is a branch whose branches are its values.
const MAX_BRANCH_DEPTH: usize = 2;

/// The two schemas of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    Input,
    Output,
}

/// A field of an action's input or output.
#[derive(Debug)]
pub struct Field<'a> {
    pub name: &'a str,
    pub is_required: bool,
    /// The type, with code between backticks.
    pub kind: String,
    /// Bounds, pattern and default, each after a space or a comma; empty if there are none.
    pub limits: String,
    pub description: &'a str,
}

/// Returns the fields of one of an action's schemas.
pub fn fields(action: &Action, side: Side) -> impl Iterator<Item = Field<'_>> {
    let schema = match side {
        Side::Input => action.schemas.input.document(),
        Side::Output => action.schemas.output.document(),
    };
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = move |name: &str| {
        side == Side::Input
            && required.is_some_and(|required| required.iter().any(|one| one == name))
    };
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties.map(move |(name, field)| {
        let words = Words { document: schema, side };
        let resolved = resolve(field, schema);
        Field {
            name,
            is_required: is_required(name),
            kind: bounded(|text| words.kind(text, resolved)),
            limits: bounded(|text| limits(text, resolved)),
            description: field.get("description").and_then(Value::as_str).unwrap_or_default(),
        }
    })
}

/// A text that ends when it has the maximum number of bytes: the next write fails.
#[derive(Default)]
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = MAX_BYTES.saturating_sub(self.0.len());
        if text.len() <= room {
            self.0.push_str(text);
            return Ok(());
        }
        self.0.push_str(text.get(..text.floor_char_boundary(room)).unwrap_or_default());
        Err(fmt::Error)
    }
}

/// Returns the written text, with an ellipsis if it did not fit.
fn bounded(write: impl FnOnce(&mut Bounded) -> fmt::Result) -> String {
    let mut text = Bounded::default();
    let is_whole = write(&mut text).is_ok();
    if is_whole { text.0 } else { text.0 + "…" }
}

/// Writes the types of fields of one schema.
struct Words<'a> {
    document: &'a Value,
    side: Side,
}

impl Words<'_> {
    /// Writes the type of a field.
    fn kind(&self, text: &mut Bounded, field: &Value) -> fmt::Result {
        if is_choice(field, MAX_BRANCH_DEPTH) {
            return write_choices(text, field, &mut true);
        }
        match field.get("type") {
            Some(Value::String(one)) => self.of_type(text, one, field),
            Some(Value::Array(many)) => {
                let names = many.iter().filter_map(Value::as_str);
                // In an input, null means the same as no field.
                let names = names.filter(|name| self.side == Side::Output || *name != "null");
                for (at, name) in names.enumerate() {
                    text.write_str(if at == 0 { "" } else { " or " })?;
                    self.of_type(text, name, field)?;
                }
                Ok(())
            }
            _ => text.write_str("any"),
        }
    }

    /// Writes a field of the type with this name.
    fn of_type(&self, text: &mut Bounded, name: &str, field: &Value) -> fmt::Result {
        match name {
            "array" => self.array(text, field),
            "object" => object(text, field),
            other => text.write_str(other),
        }
    }

    /// Writes a list with its items. Lists of lists are not described, since a schema can be an item of itself.
    fn array(&self, text: &mut Bounded, field: &Value) -> fmt::Result {
        match field.get("items").map(|items| resolve(items, self.document)) {
            Some(items) if has_type(items, "array") => text.write_str("array of arrays"),
            Some(items) => {
                text.write_str("array of ")?;
                self.kind(text, items)?;
                limits(text, items)
            }
            None => text.write_str("array"),
        }
    }
}

/// Writes an object with the names of its fields.
fn object(text: &mut Bounded, field: &Value) -> fmt::Result {
    let fields = field.get("properties").and_then(Value::as_object).into_iter().flatten();
    text.write_str("object")?;
    for (at, (name, _)) in fields.enumerate() {
        write!(text, "{} `{name}`", if at == 0 { " of" } else { "," })?;
    }
    Ok(())
}

/// Writes the bounds, the pattern and the default of a field.
fn limits(text: &mut Bounded, field: &Value) -> fmt::Result {
    for (least, most) in
        [("minLength", "maxLength"), ("minimum", "maximum"), ("minItems", "maxItems")]
    {
        let bound = |keyword| field.get(keyword).filter(|bound| **bound != 0);
        match (bound(least), bound(most)) {
            (Some(least), Some(most)) => write!(text, " {least}–{most}")?,
            (Some(least), None) => write!(text, " ≥{least}")?,
            (None, Some(most)) => write!(text, " ≤{most}")?,
            (None, None) => {}
        }
    }
    if let Some(pattern) = field.get("pattern").and_then(Value::as_str) {
        write!(text, ", pattern `{pattern}`")?;
    }
    if let Some(default) = field.get("default").filter(|default| !is_empty(default)) {
        write!(text, ", default `{default}`")?;
    }
    Ok(())
}

/// Returns whether a schema is an enum, whether or not its variants have descriptions.
fn is_choice(schema: &Value, depth: usize) -> bool {
    if list(schema, "enum").is_some() {
        return true;
    }
    let is_value = |branch: &Value| {
        branch.get("const").is_some() || (depth > 0 && is_choice(branch, depth - 1))
    };
    branches(schema).is_some_and(|mut branches| branches.all(is_value))
}

/// Writes the values of an enum; `is_first` tells whether the next one is the first.
fn write_choices(text: &mut Bounded, schema: &Value, is_first: &mut bool) -> fmt::Result {
    if let Some(values) = list(schema, "enum") {
        let mut values = values.iter().filter(|value| !value.is_null()).take(MAX_BRANCHES);
        return values.try_for_each(|value| write_value(text, value, is_first));
    }
    for branch in branches(schema).into_iter().flatten() {
        match branch.get("const") {
            Some(value) => write_value(text, value, is_first)?,
            None => write_choices(text, branch, is_first)?,
        }
    }
    Ok(())
}

fn write_value(text: &mut Bounded, value: &Value, is_first: &mut bool) -> fmt::Result {
    let between = if std::mem::take(is_first) { "" } else { ", " };
    write!(text, "{between}`{value}`")
}

/// Returns the first branches of a schema, without the one for null.
pub(super) fn branches(schema: &Value) -> Option<impl Iterator<Item = &Value>> {
    let branches = list(schema, "oneOf").or_else(|| list(schema, "anyOf"))?;
    Some(branches.iter().filter(|branch| !has_type(branch, "null")).take(MAX_BRANCHES))
}

fn list<'a>(schema: &'a Value, keyword: &str) -> Option<&'a Vec<Value>> {
    schema.get(keyword).and_then(Value::as_array)
}

/// Returns whether a schema has this type, alone or among others; null counts only alone.
pub(super) fn has_type(schema: &Value, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::Array(types)) => name != "null" && types.iter().any(|one| one == name),
        one => one.is_some_and(|one| one == name),
    }
}

/// Returns the schema that a reference leads to, or the schema itself.
pub(super) fn resolve<'a>(schema: &'a Value, document: &'a Value) -> &'a Value {
    let reference = schema.get("$ref").and_then(Value::as_str);
    let target = reference.and_then(|text| document.pointer(text.strip_prefix('#')?));
    target.unwrap_or(schema)
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(schema: &Value, field: &str) -> String {
        let words = Words { document: schema, side: Side::Output };
        let field = resolve(&schema["properties"][field], schema);
        bounded(|text| words.kind(text, field)) + &bounded(|text| limits(text, field))
    }

    #[test]
    fn values_are_told_in_words() {
        let schema = json!({ "properties": {
            "name": { "type": "string", "minLength": 1, "maxLength": 40 },
            "state": { "anyOf": [{ "oneOf": [{ "const": "a" }, { "enum": ["b", null] }] }, { "type": "null" }] },
            "tags": { "type": ["array", "null"], "items": { "type": "string", "maxLength": 9 } },
            "at": { "type": "object", "properties": { "lat": {}, "lng": {} } },
            "one": { "oneOf": [{ "const": 1 }, { "type": "object" }] },
        } });
        for (field, words) in [
            ("name", "string 1–40"),
            ("state", "`\"a\"`, `\"b\"`"),
            ("tags", "array of string ≤9 or null"),
            ("at", "object of `lat`, `lng`"),
            ("one", "any"),
        ] {
            assert_eq!(told(&schema, field), words, "{field}");
        }
    }

    #[test]
    fn a_schema_that_contains_itself_or_is_large_has_an_end() {
        let values: Vec<_> = (0..100_000).map(|number| json!({ "const": number })).collect();
        let schema = json!({
            "properties": {
                "itself": { "$ref": "#/$defs/list" },
                "many": { "oneOf": values },
                "long": { "const": "x", "default": "y".repeat(5_000) },
            },
            "$defs": { "list": { "type": ["array", "null"], "items": { "$ref": "#/$defs/list" } } },
        });
        assert_eq!(told(&schema, "itself"), "array of arrays or null");
        for field in ["many", "long"] {
            let words = told(&schema, field);
            assert!(words.len() < MAX_BYTES + 20 && words.len() > 500, "{field}: {}", words.len());
        }
    }
}
