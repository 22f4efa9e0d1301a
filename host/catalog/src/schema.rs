//! An action's JSON Schema: it is checked when it is loaded, applied to every call, and moved into
//! larger documents without the loss of its references.

use crate::schema_cost::{BYTES_PER_VALUE, Cost, values_in};
use jsonschema::{PatternOptions, Validator, error::ValidationErrorKind};
use serde_json::{Map, Value, json};
use tokio::task::block_in_place;

/// The maximum number of violations that one refusal lists.
const VIOLATIONS: usize = 20;
/// The maximum number of bytes of JSON in the expectation of a violation.
const EXPECTED_BYTES: usize = 600;
/// The greatest depth of a schema.
const DEPTH: usize = 64;
/// The maximum number of visits in a check of the largest permitted instance; a schema that could take more
/// is refused. See `schema_cost`.
const MAX_VISITS: u64 = 10_000_000;
/// The number of visits above which a check leaves the threads that serve requests.
const INLINE_VISITS: u64 = 100_000;

/// The reason why a schema is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    #[error("{0}")]
    Invalid(String),
    #[error(
        "is too complex: the largest permitted value would take {visits} visits, and {MAX_VISITS} are permitted"
    )]
    TooComplex { visits: u64 },
}

impl From<String> for SchemaError {
    fn from(reason: String) -> Self {
        Self::Invalid(reason)
    }
}

/// A schema that is ready to be applied.
#[derive(Debug)]
pub struct Schema {
    document: Value,
    validator: Validator,
    cost: Cost,
}

impl Schema {
    /// Compiles a schema for instances of at most `max_bytes` bytes of JSON.
    ///
    /// # Errors
    ///
    /// Fails if the document is not a schema, refers to other documents, has a pattern that could take
    /// exponential time, or could take too many visits.
    pub fn new(document: Value, max_bytes: u64) -> Result<Self, SchemaError> {
        if depth(&document) > DEPTH {
            return Err(format!("nests deeper than {DEPTH} levels").into());
        }
        if let Err(error) = jsonschema::draft202012::meta::validate(&document) {
            return Err(format!(
                "is not a JSON Schema 2020-12: {error} (at {})",
                location(error.instance_path().as_str())
            )
            .into());
        }
        let cost = Cost::of(&document)?;
        let visits = cost.visits(max_bytes / BYTES_PER_VALUE);
        if visits > MAX_VISITS {
            return Err(SchemaError::TooComplex { visits });
        }
        let validator = jsonschema::draft202012::options()
            .offline()
            .should_validate_formats(true)
            .with_pattern_options(PatternOptions::regex().size_limit(1 << 20))
            .build(&document)
            .map_err(|error| {
                format!("cannot be used: {error}; a pattern has no look-around and no references to groups")
            })?;
        Ok(Self { document, validator, cost })
    }

    pub fn document(&self) -> &Value {
        &self.document
    }

    pub fn accepts(&self, instance: &Value) -> bool {
        self.validator.is_valid(instance)
    }

    /// Returns whether the check of an instance with `values` values may delay the other tasks of its thread.
    pub(super) fn takes_long(&self, values: u64) -> bool {
        self.cost.visits(values) > INLINE_VISITS
    }

    /// Returns what is wrong with an instance, as the `conflict` of a failure; `None` if it is valid. Before
    /// a check that takes long, the other tasks of this thread are moved to another one.
    pub fn violations(&self, instance: &Value) -> Option<Value> {
        match self.takes_long(values_in(instance)) {
            true => block_in_place(|| self.find_violations(instance)),
            false => self.find_violations(instance),
        }
    }

    fn find_violations(&self, instance: &Value) -> Option<Value> {
        if self.validator.is_valid(instance) {
            return None;
        }
        let errors: Vec<_> = self
            .validator
            .iter_errors(instance)
            .flat_map(|error| self.violation(&error, instance))
            .take(VIOLATIONS)
            .collect();
        Some(json!({ "kind": "validation", "errors": errors }))
    }

    fn violation(&self, error: &jsonschema::ValidationError<'_>, whole: &Value) -> Vec<Value> {
        let pointer = error.instance_path().as_str().to_owned();
        let rule = error.kind().keyword();
        let keyword = self.document.pointer(error.schema_path().as_str());
        let expected =
            || keyword.filter(|value| value.to_string().len() <= EXPECTED_BYTES).cloned();
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                let siblings = self.sibling(error.schema_path().as_str(), "properties");
                let expected = siblings
                    .and_then(|properties| properties.get(name))
                    .filter(|schema| schema.to_string().len() <= EXPECTED_BYTES)
                    .cloned();
                vec![violation(
                    &join(&pointer, name),
                    rule,
                    expected.or_else(|| Some(json!(true))),
                    None,
                )]
            }
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                let known = self
                    .sibling(error.schema_path().as_str(), "properties")
                    .and_then(Value::as_object)
                    .map(|properties| json!(properties.keys().collect::<Vec<_>>()));
                unexpected
                    .iter()
                    .map(|name| violation(&join(&pointer, name), rule, known.clone(), None))
                    .collect()
            }
            // Where no field is listed, the validator does not name the unexpected ones.
            ValidationErrorKind::FalseSchema
                if error.schema_path().as_str().ends_with(UNLISTED) =>
            {
                let object = whole.pointer(&pointer).and_then(Value::as_object);
                let fields = object.into_iter().flat_map(Map::keys);
                let (rule, none) = (UNLISTED.trim_start_matches('/'), json!([]));
                let unlisted = |name: &String| {
                    violation(&join(&pointer, name), rule, Some(none.clone()), None)
                };
                fields.map(unlisted).collect()
            }
            _ => vec![violation(&pointer, rule, expected(), got(rule, error.instance()))],
        }
    }

    /// Returns the value of another keyword of the schema that contains the keyword at `path`.
    fn sibling(&self, path: &str, keyword: &str) -> Option<&Value> {
        let (parent, _) = path.rsplit_once('/')?;
        self.document.pointer(parent)?.get(keyword)
    }
}

/// The end of the path of the rule that refuses unlisted fields.
const UNLISTED: &str = "/additionalProperties";

fn violation(pointer: &str, rule: &str, expected: Option<Value>, got: Option<Value>) -> Value {
    let mut violation = json!({ "pointer": pointer, "rule": rule });
    if let Some(fields) = violation.as_object_mut() {
        fields.extend(expected.map(|expected| ("expected".to_owned(), expected)));
        fields.extend(got.map(|got| ("got".to_owned(), got)));
    }
    violation
}

/// Describes the instance by its type or length, never by its value, which may be private.
fn got(rule: &str, instance: &Value) -> Option<Value> {
    match (rule, instance) {
        ("minLength" | "maxLength", Value::String(text)) => Some(json!(text.chars().count())),
        ("minItems" | "maxItems", Value::Array(items)) => Some(json!(items.len())),
        ("type", _) => Some(json!(type_name(instance))),
        _ => None,
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns a JSON Pointer (RFC 6901) that is one step deeper.
fn join(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

fn location(pointer: &str) -> &str {
    if pointer.is_empty() { "its root" } else { pointer }
}

/// Returns the object schema with a rule that refuses fields that it does not list.
pub(super) fn close(mut schema: Value) -> Result<Value, String> {
    let Some(fields) = schema.as_object_mut() else {
        return Err("is not an object".to_owned());
    };
    if fields.get("type").and_then(Value::as_str) != Some("object") {
        return Err("does not say \"type\": \"object\" at its root".to_owned());
    }
    for keyword in ["oneOf", "anyOf", "allOf"] {
        if fields.contains_key(keyword) {
            return Err(format!(
                "has {keyword} at its root, which several agents' tool interfaces refuse; make it \
                 several actions, or move it below a property"
            ));
        }
    }
    fields.insert("additionalProperties".to_owned(), json!(false));
    Ok(schema)
}

/// Takes the definitions out of a schema, so that it can become part of a larger document. Returns the
/// schema and its definitions, with references written as `{base}{prefix}.{name}`.
pub fn hoist(schema: &Value, base: &str, prefix: &str) -> (Value, Map<String, Value>) {
    let mut schema = schema.clone();
    let mut definitions = Map::new();
    for keyword in ["$defs", "definitions"] {
        let taken = schema.as_object_mut().and_then(|fields| fields.shift_remove(keyword));
        if let Some(Value::Object(found)) = taken {
            definitions
                .extend(found.into_iter().map(|(name, value)| (format!("{prefix}.{name}"), value)));
        }
    }
    rewrite(&mut schema, base, prefix);
    definitions.values_mut().for_each(|definition| rewrite(definition, base, prefix));
    (schema, definitions)
}

fn rewrite(value: &mut Value, base: &str, prefix: &str) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(reference)) = fields.get_mut("$ref") {
                let name = ["#/$defs/", "#/definitions/"]
                    .iter()
                    .find_map(|start| reference.strip_prefix(start))
                    .map(str::to_owned);
                if let Some(name) = name {
                    *reference = format!("{base}{prefix}.{name}");
                }
            }
            fields.values_mut().for_each(|field| rewrite(field, base, prefix));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rewrite(item, base, prefix)),
        _ => {}
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: u64 = 256 << 10;

    fn schema() -> Schema {
        let document = json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "minLength": 1, "maxLength": 5 },
                "side": { "enum": ["offer", "demand"] },
                "near": { "type": "object", "properties": { "lat": { "type": "number", "maximum": 90 } }, "required": ["lat"] },
            },
            "required": ["name"],
        });
        Schema::new(close(document).unwrap(), LIMIT).unwrap()
    }

    #[test]
    fn violations_name_pointer_rule_and_expectation() {
        let found = schema()
            .violations(&json!({ "side": "both", "near": { "lat": 91 }, "a/b": 1 }))
            .unwrap();
        let errors = found.pointer("/errors").unwrap().as_array().unwrap();
        let find = |pointer: &str| {
            errors.iter().find(|error| error.get("pointer").unwrap() == pointer).unwrap()
        };
        assert_eq!(
            find("/side"),
            &json!({ "pointer": "/side", "rule": "enum", "expected": ["offer", "demand"] })
        );
        assert_eq!(
            find("/near/lat"),
            &json!({ "pointer": "/near/lat", "rule": "maximum", "expected": 90 })
        );
        assert_eq!(find("/name").get("rule").unwrap(), "required");
        assert_eq!(find("/name").pointer("/expected/type").unwrap(), "string");
        assert_eq!(
            find("/a~1b"),
            &json!({ "pointer": "/a~1b", "rule": "additionalProperties", "expected": ["name", "side", "near"] })
        );
    }

    #[test]
    fn a_field_of_an_object_without_fields_is_named() {
        let empty = Schema::new(close(json!({ "type": "object" })).unwrap(), LIMIT).unwrap();
        let found = empty.violations(&json!({ "a": 1 })).unwrap();
        let error = json!({ "pointer": "/a", "rule": "additionalProperties", "expected": [] });
        assert_eq!(found.pointer("/errors").unwrap(), &json!([error]));
    }

    #[test]
    fn a_violation_never_quotes_the_value() {
        let found = schema().violations(&json!({ "name": "a secret that is long" })).unwrap();
        assert_eq!(found.pointer("/errors/0/got").unwrap(), 21);
        assert!(!found.to_string().contains("secret"));
    }

    #[test]
    fn bad_schemas_are_refused() {
        for (document, expected) in [
            (json!({ "type": "objekt" }), "is not a JSON Schema"),
            (json!({ "$ref": "https://example.com/schema" }), "is not in it"),
            (json!({ "pattern": "(?=a)b" }), "cannot be used"),
        ] {
            let error = Schema::new(document.clone(), LIMIT).unwrap_err().to_string();
            assert!(error.contains(expected), "{document}: {error}");
        }
    }

    #[test]
    fn definitions_move_with_their_references() {
        let schema = json!({
            "properties": { "a": { "$ref": "#/$defs/A" } },
            "$defs": { "A": { "items": { "$ref": "#/$defs/A" } } },
        });
        let (schema, definitions) = hoist(&schema, "#/components/schemas/", "x.search.input");
        let reference = "#/components/schemas/x.search.input.A";
        assert_eq!(schema, json!({ "properties": { "a": { "$ref": reference } } }));
        assert_eq!(
            definitions.get("x.search.input.A").unwrap(),
            &json!({ "items": { "$ref": reference } })
        );
    }
}
