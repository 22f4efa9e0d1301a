//! The part of a JSON Schema that applies to one place of an instance, in a form that can be read alone: without
//! references, and not larger than permitted.

use crate::tool::{Inner, inner};
use serde_json::{Map, Value};

/// The maximum number of bytes of a keyword's value, except of schemas. A longer one is left out.
const VALUE_BYTES: usize = 600;
/// The maximum number of consecutive references, and of alternatives within alternatives.
const HOPS: usize = 8;
/// The greatest depth of the schemas within the part.
const DEPTH: usize = 6;
/// The number of bytes around a keyword or a name: two quotes, a colon, a comma and two braces.
const PUNCTUATION: usize = 6;
/// Keywords that have no meaning outside their document, or are not needed to correct an input.
const LEFT_OUT: [&str; 8] =
    ["$ref", "$defs", "definitions", "$schema", "$id", "$comment", "title", "examples"];
/// Keywords that hold alternatives.
const ALTERNATIVES: [&str; 3] = ["anyOf", "oneOf", "allOf"];

/// The keywords of a schema and of the definitions to which it refers.
type Members<'a> = Vec<(&'a str, &'a Value)>;

/// Returns the part for the place of a JSON Pointer (RFC 6901), or for the nearest place above it that the schema
/// describes, in at most `max_bytes` bytes. Deeper levels are left out. Returns `None` if even the outermost
/// level is too large.
pub(super) fn part(document: &Value, pointer: &str, max_bytes: usize) -> Option<Value> {
    let mut schema = document;
    for name in pointer.split('/').skip(1) {
        let name = name.replace("~1", "/").replace("~0", "~");
        let Some(inside) = inside(document, schema, &name, HOPS) else { break };
        schema = inside;
    }
    (0..=DEPTH).rev().find_map(|depth| {
        let mut outline = Outline { document, bytes_left: max_bytes };
        outline.of(schema, depth)
    })
}

/// Returns the schema of a member or an element; `None` if the schema does not describe it.
fn inside<'a>(
    document: &'a Value,
    schema: &'a Value,
    name: &str,
    alternatives: usize,
) -> Option<&'a Value> {
    let members = members(document, schema)?;
    let keyword = |wanted: &str| {
        members.iter().find(|(keyword, _)| *keyword == wanted).map(|(_, value)| *value)
    };
    let element = || {
        let index: usize = name.parse().ok()?;
        let first = keyword("prefixItems").and_then(|list| list.get(index));
        first.or_else(|| keyword("items"))
    };
    let alternative = || {
        let fewer = alternatives.checked_sub(1)?;
        let lists = ALTERNATIVES.iter().filter_map(|wanted| keyword(wanted)?.as_array());
        lists.flatten().find_map(|schema| inside(document, schema, name, fewer))
    };
    keyword("properties")
        .and_then(|properties| properties.get(name))
        .or_else(element)
        .or_else(|| keyword("additionalProperties").filter(|schema| schema.is_object()))
        .or_else(alternative)
}

/// Returns the keywords of a schema, before those of the definitions to which it refers; `None` if it is not an
/// object.
fn members<'a>(document: &'a Value, schema: &'a Value) -> Option<Members<'a>> {
    let mut members = Members::new();
    let mut fields = schema.as_object()?;
    for _ in 0..HOPS {
        for (keyword, value) in fields {
            if !members.iter().any(|(known, _)| known == keyword) {
                members.push((keyword, value));
            }
        }
        let reference = fields.get("$ref").and_then(Value::as_str);
        let target = reference.and_then(|reference| document.pointer(reference.strip_prefix('#')?));
        let Some(definition) = target.and_then(Value::as_object) else { break };
        fields = definition;
    }
    Some(members)
}

/// Writes a schema without references, until no bytes are left.
struct Outline<'a> {
    document: &'a Value,
    bytes_left: usize,
}

impl Outline<'_> {
    /// Returns the schema with `depth` levels of schemas within it; `None` if it is too large.
    fn of(&mut self, schema: &Value, depth: usize) -> Option<Value> {
        let document = self.document;
        let Some(members) = members(document, schema) else {
            self.take(&schema.to_string())?;
            return Some(schema.clone());
        };
        let mut outline = Map::new();
        for (keyword, value) in members {
            if LEFT_OUT.contains(&keyword) {
                continue;
            }
            let kept = match inner(keyword, value) {
                Some(_) if depth == 0 => continue,
                Some(inner) => self.inner(inner, depth - 1)?,
                None => {
                    let text = value.to_string();
                    if text.len() > VALUE_BYTES {
                        continue;
                    }
                    self.take(&text)?;
                    value.clone()
                }
            };
            self.take(keyword)?;
            outline.insert(keyword.to_owned(), kept);
        }
        Some(Value::Object(outline))
    }

    fn inner(&mut self, inner: Inner<'_>, depth: usize) -> Option<Value> {
        match inner {
            Inner::One(schema) => self.of(schema, depth),
            Inner::List(schemas) => {
                let mut element = |schema| {
                    self.take("")?;
                    self.of(schema, depth)
                };
                schemas.iter().map(&mut element).collect()
            }
            Inner::Map(schemas) => {
                let mut outline = Map::new();
                for (name, schema) in schemas {
                    self.take(name)?;
                    outline.insert(name.clone(), self.of(schema, depth)?);
                }
                Some(Value::Object(outline))
            }
        }
    }

    /// Counts a text; `None` if it is longer than what is left.
    fn take(&mut self, text: &str) -> Option<()> {
        self.bytes_left = self.bytes_left.checked_sub(text.len() + PUNCTUATION)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document() -> Value {
        json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "maxLength": 5, "title": "Name" },
                "place": { "anyOf": [{ "$ref": "#/$defs/Place" }, { "type": "null" }], "description": "Where." },
                "lines": { "type": "array", "items": { "$ref": "#/$defs/Line" } },
                "tree": { "$ref": "#/$defs/Tree" },
            },
            "additionalProperties": false,
            "$defs": {
                "Place": { "type": "object", "properties": { "lat": { "type": "number" } } },
                "Line": { "type": "object", "properties": { "a/b": { "const": 1 } }, "required": ["a/b"] },
                "Tree": { "type": "object", "properties": { "tree": { "$ref": "#/$defs/Tree" } } },
            },
        })
    }

    #[test]
    fn a_part_is_found_through_references_and_alternatives() {
        let document = document();
        let part = |pointer: &str| part(&document, pointer, 1_000).unwrap();
        assert_eq!(part("/name"), json!({ "type": "string", "maxLength": 5 }));
        assert_eq!(part("/place/lat"), json!({ "type": "number" }));
        assert_eq!(part("/lines/3/a~1b"), json!({ "const": 1 }));
        assert_eq!(
            part("/lines/0"),
            json!({ "type": "object", "properties": { "a/b": { "const": 1 } }, "required": ["a/b"] })
        );
        assert_eq!(part("/tree/tree/tree")["type"], "object");
        // A place that the schema does not describe has the schema of the place above.
        assert_eq!(part("/name/x"), part("/name"));
        assert_eq!(part("/more"), part(""));
        assert_eq!(part("")["additionalProperties"], false);
        assert!(!part("").to_string().contains("$ref"));
    }

    #[test]
    fn a_part_is_not_larger_than_permitted() {
        let document = document();
        for max_bytes in [20, 60, 120, 240, 480, 960] {
            if let Some(part) = part(&document, "", max_bytes) {
                assert!(part.to_string().len() <= max_bytes, "{max_bytes}: {part}");
            }
        }
        let tree = json!({ "type": "object", "properties": { "tree": { "type": "object" } } });
        assert_eq!(part(&document, "/tree", 100).unwrap(), tree);
        assert_eq!(part(&document, "", 10), None);
        let long = json!({ "enum": vec!["a name"; 200], "type": "string" });
        assert_eq!(part(&long, "", 100).unwrap(), json!({ "type": "string" }));
    }
}
