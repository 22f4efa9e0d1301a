//! Random values made after a JSON Schema: most satisfy it, some do not.

use rand::{RngExt as _, rngs::StdRng, seq::IndexedRandom as _};
use serde_json::{Map, Value, json};

/// The nesting depth from which values have no optional fields and no more items than required.
const DEPTH: usize = 6;

/// Texts that satisfy the formats and patterns that schemas ask for, and others.
const TEXTS: [&str; 12] = [
    "",
    "a",
    "ada",
    "two words",
    "2026-11-22T10:00:00Z",
    "2026-11-22",
    "https://example.com/x",
    "+12015550123",
    "lst_01J0000000000000000000000A",
    "Europe/Berlin",
    "424242",
    "work.job",
];

/// Returns a random value made after the schema; `document` has the definitions that
/// the schema refers to.
pub fn value(schema: &Value, document: &Value, random: &mut StdRng, depth: usize) -> Value {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = document.pointer(reference.trim_start_matches('#')).unwrap();
        return value(target, document, random, depth + 1);
    }
    if let Some(fixed) = schema.get("const") {
        return fixed.clone();
    }
    if let Some(choices) = schema["enum"].as_array() {
        return choices.choose(random).cloned().unwrap_or_default();
    }
    for keyword in ["anyOf", "oneOf", "allOf"] {
        if let Some(choice) = schema[keyword].as_array().and_then(|all| all.choose(random)) {
            return value(choice, document, random, depth + 1);
        }
    }
    let kind = match &schema["type"] {
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => kinds.choose(random).unwrap().as_str().unwrap().to_owned(),
        _ => (*["object", "string", "integer", "boolean"].choose(random).unwrap()).to_owned(),
    };
    match kind.as_str() {
        "object" => Value::Object(object(schema, document, random, depth)),
        "array" => {
            let least = schema["minItems"].as_u64().unwrap_or(0);
            let most = if depth < DEPTH { least + 2 } else { least };
            let items = 0..random.random_range(least..=most);
            items.map(|_| value(&schema["items"], document, random, depth + 1)).collect()
        }
        "integer" | "number" => number(schema, random),
        "boolean" => json!(random.random_bool(0.5)),
        "null" => Value::Null,
        _ => json!(text(schema, random)),
    }
}

fn object(
    schema: &Value,
    document: &Value,
    random: &mut StdRng,
    depth: usize,
) -> Map<String, Value> {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut fields = Map::new();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let wanted = depth < DEPTH && random.random_bool(0.4);
        if wanted || required.contains(&name.as_str()) {
            fields.insert(name.clone(), value(field, document, random, depth + 1));
        }
    }
    fields
}

fn number(schema: &Value, random: &mut StdRng) -> Value {
    let least = schema["minimum"].as_f64().unwrap_or(0.0) as i64;
    let most = schema["maximum"].as_f64().unwrap_or(least as f64 + 100.0) as i64;
    json!(random.random_range(least..=most.max(least)))
}

fn text(schema: &Value, random: &mut StdRng) -> String {
    let least = schema["minLength"].as_u64().unwrap_or(0) as usize;
    let most = schema["maxLength"].as_u64().unwrap_or(100) as usize;
    let text: String = TEXTS.choose(random).unwrap().chars().take(most).collect();
    format!("{text}{}", "x".repeat(least.saturating_sub(text.chars().count())))
}
