//! Reads the files of `taxonomy/attributes/` and makes a JSON Schema for each kind of attributes.

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// One file: named types of values, and attributes that use them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    #[serde(default)]
    types: BTreeMap<String, Map<String, Value>>,
    #[serde(default)]
    attributes: BTreeMap<String, Attributes>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Attributes {
    description: String,
    example: Value,
    required: Vec<String>,
    properties: Map<String, Value>,
}

/// Returns the schema of each kind of attributes as a JSON text, keyed by the name of the kind.
pub(crate) fn schemas(files: Vec<File>) -> Result<BTreeMap<String, String>> {
    let (mut types, mut attributes) = (BTreeMap::new(), BTreeMap::new());
    for file in files {
        types.extend(file.types);
        attributes.extend(file.attributes);
    }
    for keywords in types.values_mut() {
        keywords.entry("type").or_insert_with(|| "string".into());
    }
    let text = |(name, attributes): (String, Attributes)| {
        let text = schema(attributes, &types).with_context(|| name.clone())?.to_string();
        Ok((name, text))
    };
    attributes.into_iter().map(text).collect()
}

type Types = BTreeMap<String, Map<String, Value>>;

fn schema(attributes: Attributes, types: &Types) -> Result<Value> {
    let Attributes { description, example, required, mut properties } = attributes;
    for (name, keywords) in &mut properties {
        let keywords = keywords.as_object_mut().context("a field must be a table")?;
        refer(keywords, types).with_context(|| name.clone())?;
    }
    Ok(json!({
        "$schema": DIALECT,
        "description": description,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
        "examples": [example],
    }))
}

/// Replaces the name of a type with its keywords. The field's own keywords stay.
fn refer(field: &mut Map<String, Value>, types: &Types) -> Result<()> {
    let named = |name: Value| {
        let found = name.as_str().and_then(|name| types.get(name));
        found.cloned().with_context(|| format!("there is no type {name}"))
    };
    if let Some(name) = field.shift_remove("is") {
        for (keyword, value) in named(name)? {
            field.entry(keyword).or_insert(value);
        }
    }
    if let Some(name) = field.shift_remove("list_of") {
        field.insert("type".into(), "array".into());
        field.insert("items".into(), named(name)?.into());
    }
    Ok(())
}
