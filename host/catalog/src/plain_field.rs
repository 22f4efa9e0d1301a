//! The plain fields of an input: those that a form of a page can have, such as a text, a number or a choice.

use crate::fields::{branches, has_type, resolve};
use serde_json::Value;

/// The most values of a choice that a form shows.
const CHOICES: usize = 50;
/// The number of characters from which a text is written in several lines.
const LONG_TEXT: u64 = 200;
/// The maximum depth of a schema that is read below a field: an optional value is a branch, whose values are
/// branches.
const DEPTH: usize = 4;

/// A plain field.
#[derive(Debug, PartialEq, Eq)]
pub struct PlainField<'a> {
    pub kind: PlainKind<'a>,
    pub description: &'a str,
    pub is_required: bool,
    /// Whether null is a value of it, or of the object that it is in: an empty field then means null.
    pub is_nullable: bool,
}

/// The values of a plain field.
#[derive(Debug, PartialEq, Eq)]
pub enum PlainKind<'a> {
    /// `is_long` if it is written in several lines.
    Text {
        max_length: Option<u64>,
        is_long: bool,
    },
    Number,
    YesNo,
    /// One of these texts.
    Choice(Vec<&'a str>),
    /// Some of these texts.
    Several(Vec<&'a str>),
}

/// Finds the plain field at a path of dotted names in the schema of an input; `None` if there is none, or if
/// a form cannot have its values.
pub fn plain_field<'a>(document: &'a Value, path: &str) -> Option<PlainField<'a>> {
    let (mut schema, mut is_nullable, mut is_required) = (document, false, true);
    let mut description = "";
    for name in path.split('.') {
        let object = without_null(schema, document, DEPTH).0;
        let property = object.get("properties")?.get(name)?;
        let required = object.get("required").and_then(Value::as_array);
        is_required &= required.is_some_and(|names| names.iter().any(|one| one == name));
        let (inner, has_null) = without_null(property, document, DEPTH);
        is_nullable |= has_null;
        description = [property, inner]
            .iter()
            .find_map(|schema| schema.get("description").and_then(Value::as_str))
            .unwrap_or_default();
        schema = property;
    }
    let kind = kind(without_null(schema, document, DEPTH).0, document)?;
    Some(PlainField { kind, description, is_required, is_nullable })
}

/// Returns whether the texts at a path of dotted names are choices, in a value or in each element of the lists on the
/// way.
pub fn has_choices(document: &Value, path: &str) -> bool {
    let mut schema = document;
    for name in path.split('.') {
        let object = without_null(schema, document, DEPTH).0;
        let items = object.get("items");
        let object = items.map_or(object, |items| without_null(items, document, DEPTH).0);
        let property = object.get("properties").and_then(|properties| properties.get(name));
        let Some(property) = property else { return false };
        schema = property;
    }
    let kind = kind(without_null(schema, document, DEPTH).0, document);
    matches!(kind, Some(PlainKind::Choice(_) | PlainKind::Several(_)))
}

/// Returns the schema of the values that are not null, and whether null is one too.
fn without_null<'a>(schema: &'a Value, document: &'a Value, depth: usize) -> (&'a Value, bool) {
    let schema = resolve(schema, document);
    let types = schema.get("type").and_then(Value::as_array);
    let names_null = types.is_some_and(|types| types.iter().any(|one| one == "null"));
    let all = ["anyOf", "oneOf"].iter().find_map(|keyword| schema.get(keyword)?.as_array());
    let has_null_branch = all.is_some_and(|all| all.iter().any(|branch| has_type(branch, "null")));
    let only = branches(schema).and_then(|mut branches| {
        let first = branches.next()?;
        branches.next().is_none().then_some(first)
    });
    match only {
        Some(only) if depth > 0 && only.get("const").is_none() => {
            let (inner, has_null) = without_null(only, document, depth - 1);
            (inner, has_null || has_null_branch)
        }
        _ => (schema, names_null || has_null_branch),
    }
}

fn kind<'a>(schema: &'a Value, document: &'a Value) -> Option<PlainKind<'a>> {
    if let Some(choices) = choices(schema) {
        return Some(PlainKind::Choice(choices));
    }
    let is = |name: &str| has_type(schema, name);
    if is("string") {
        let max_length = schema.get("maxLength").and_then(Value::as_u64);
        let is_long = max_length.is_some_and(|most| most > LONG_TEXT);
        return Some(PlainKind::Text { max_length, is_long });
    }
    if is("integer") || is("number") {
        return Some(PlainKind::Number);
    }
    if is("boolean") {
        return Some(PlainKind::YesNo);
    }
    let items = schema.get("items").filter(|_| is("array"))?;
    choices(without_null(items, document, DEPTH).0).map(PlainKind::Several)
}

/// Returns the texts of an enum, whether or not its variants have descriptions.
fn choices(schema: &Value) -> Option<Vec<&str>> {
    let texts: Option<Vec<&str>> = match schema.get("enum").and_then(Value::as_array) {
        Some(values) => values.iter().filter(|value| !value.is_null()).map(Value::as_str).collect(),
        None => {
            let mut texts = Vec::new();
            for branch in branches(schema)? {
                match branch.get("const") {
                    Some(value) => texts.push(value.as_str()?),
                    None => texts
                        .extend(branch.get("enum")?.as_array()?.iter().filter_map(Value::as_str)),
                }
            }
            Some(texts)
        }
    };
    texts.filter(|texts| !texts.is_empty() && texts.len() <= CHOICES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_of_forms_are_found_with_their_values() {
        let schema = json!({
            "properties": {
                "name": { "type": "string", "maxLength": 40, "description": "The name." },
                "text": { "type": ["string", "null"], "maxLength": 4000 },
                "policy": { "anyOf": [
                    { "oneOf": [{ "const": "all" }, { "const": "none" }] }, { "type": "null" },
                ] },
                "notify": { "type": "array", "items": { "enum": ["reply", "match"] } },
                "hours": { "anyOf": [
                    { "$ref": "#/$defs/hours" }, { "type": "null" },
                ] },
                "count": { "type": "integer" },
                "agree": { "type": "boolean" },
                "things": { "type": "array", "items": { "type": "object" } },
            },
            "required": ["name", "hours"],
            "$defs": { "hours": {
                "type": "object", "properties": { "from": { "type": "string" } }, "required": ["from"],
            } },
        });
        let found = |path: &str| plain_field(&schema, path);
        let name = found("name").unwrap();
        assert_eq!(name.kind, PlainKind::Text { max_length: Some(40), is_long: false });
        assert_eq!(
            (name.description, name.is_required, name.is_nullable),
            ("The name.", true, false)
        );
        let text = found("text").unwrap();
        assert_eq!(text.kind, PlainKind::Text { max_length: Some(4000), is_long: true });
        assert!(text.is_nullable && !text.is_required);
        let policy = found("policy").unwrap();
        assert_eq!(policy.kind, PlainKind::Choice(vec!["all", "none"]));
        assert!(policy.is_nullable);
        assert_eq!(found("notify").unwrap().kind, PlainKind::Several(vec!["reply", "match"]));
        let from = found("hours.from").unwrap();
        assert!(from.is_nullable && from.is_required);
        assert_eq!(found("count").unwrap().kind, PlainKind::Number);
        assert_eq!(found("agree").unwrap().kind, PlainKind::YesNo);
        for path in ["things", "nothing", "name.more", "hours", ""] {
            assert_eq!(found(path), None, "{path}");
        }
    }

    #[test]
    fn choices_are_found_in_the_things_of_lists() {
        let schema = json!({ "properties": {
            "items": { "type": "array", "items": { "anyOf": [{ "$ref": "#/$defs/thing" }, { "type": "null" }] } },
            "one": { "$ref": "#/$defs/thing" },
        }, "$defs": { "thing": { "properties": {
            "name": { "type": "string" }, "state": { "enum": ["in_review"] },
            "tags": { "type": "array", "items": { "enum": ["a_b"] } },
        } } } });
        for path in ["items.state", "items.tags", "one.state", "one.tags"] {
            assert!(has_choices(&schema, path), "{path}");
        }
        for path in ["items", "items.name", "one.name", "one.state.more", "none", ""] {
            assert!(!has_choices(&schema, path), "{path}");
        }
    }
}
