//! What a listing says beyond its title and text: one type per kind of category, one schema per type.
#![expect(
    dead_code,
    reason = "the types are there for their schemas; nothing holds a value of them"
)]

pub(crate) mod home;
pub(crate) mod lead;
pub(crate) mod pro;
pub(crate) mod social;
pub(crate) mod venture;
pub(crate) mod work;

use portolan_sdk::prelude::*;
use schemars::{Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value};

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Makes the schema of one type of attributes.
pub(crate) type Make = fn(&mut SchemaGenerator) -> Schema;

/// The whole JSON Schema (2020-12) of a type of attributes. An attribute that is not given is left
/// out, never null.
pub(crate) fn schema(make: Make) -> Map<String, Value> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let made: Value = make(&mut settings.into_generator()).into();
    let mut schema = Map::new();
    schema.insert("$schema".into(), DIALECT.into());
    if let Value::Object(keywords) = made {
        schema.extend(keywords);
    }
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flat_map(Map::values_mut) {
        remove_null(property);
        remove_width(property);
    }
    schema
}

/// An optional field accepts null when it is read; a listing has no use for it.
fn remove_null(property: &mut Value) {
    let Some(property) = property.as_object_mut() else {
        return;
    };
    if property.get("default").is_some_and(Value::is_null) {
        property.remove("default");
    }
    if let Some(Value::Array(types)) = property.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            property.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(values)) = property.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(choices)) = property.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            property.remove("anyOf");
            for (keyword, value) in only {
                property.entry(keyword).or_insert(value);
            }
        }
    }
}

/// The width of a Rust number is no format that JSON Schema knows, and its range is said anyway.
fn remove_width(property: &mut Value) {
    let is_number = ["integer", "number"]
        .iter()
        .any(|name| property.get("type").is_some_and(|found| found == *name));
    if let (true, Some(property)) = (is_number, property.as_object_mut()) {
        property.remove("format");
    }
}

/// A calendar date, `YYYY-MM-DD`.
#[derive(JsonSchema)]
#[schemars(inline, extend("format" = "date"))]
pub(crate) struct Date(#[schemars(regex(pattern = r"^\d{4}-\d{2}-\d{2}$"))] String);

/// A language tag (BCP 47), such as `en` or `pt-BR`.
#[derive(JsonSchema)]
pub(crate) struct Language(#[schemars(regex(pattern = "^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$"))] String);

/// A few words.
#[derive(JsonSchema)]
pub(crate) struct Tag(#[schemars(length(min = 1, max = 60))] String);

/// A currency code (ISO 4217), such as `USD`.
#[derive(JsonSchema)]
pub(crate) struct Currency(#[schemars(regex(pattern = "^[A-Z]{3}$"))] String);

/// When somebody has time.
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Availability {
    WeekdayMornings,
    WeekdayAfternoons,
    WeekdayEvenings,
    WeekendDays,
    WeekendEvenings,
}

#[cfg(test)]
mod tests;
