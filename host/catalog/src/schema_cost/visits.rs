//! Counts the visits of the validator, to compare them with those that are computed.

use jsonschema::{Keyword, ValidationError, Validator};
use serde_json::{Map, Value, json};
use std::cell::Cell;

thread_local! {
    static VISITS: Cell<u64> = const { Cell::new(0) };
}

/// A keyword that counts how often the schema that has it is applied.
const COUNTED: &str = "x-counted";

struct Counter;

impl<'i> Keyword<'i> for Counter {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        self.is_valid(instance);
        Ok(())
    }

    fn is_valid(&self, _instance: &'i Value) -> bool {
        VISITS.set(VISITS.get() + 1);
        true
    }
}

/// Adds [`COUNTED`] to a schema and all of its subschemas.
fn counted(schema: &Value) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let member = |(name, value): (&String, &Value)| {
        let value = match (name.as_str(), value) {
            (
                "properties" | "patternProperties" | "$defs" | "dependentSchemas",
                Value::Object(map),
            ) => map.iter().map(|(name, value)| (name.clone(), counted(value))).collect(),
            ("enum" | "const" | "required", _) => value.clone(),
            (_, Value::Array(list)) => list.iter().map(counted).collect(),
            (_, Value::Object(_)) => counted(value),
            _ => value.clone(),
        };
        (name.clone(), value)
    };
    let mut fields: Map<String, Value> = fields.iter().map(member).collect();
    fields.insert(COUNTED.to_owned(), json!(true));
    Value::Object(fields)
}

/// Returns a validator that counts its visits; `None` if the schema cannot be used.
pub(crate) fn validator(schema: &Value) -> Option<Validator> {
    jsonschema::draft202012::options()
        .offline()
        .with_keyword(COUNTED, |_, _, _| Ok(Box::new(Counter)))
        .build(&counted(schema))
        .ok()
}

/// Returns the number of visits of one check.
pub(crate) fn visits(validator: &Validator, instance: &Value) -> u64 {
    VISITS.set(0);
    let _valid = validator.is_valid(instance);
    VISITS.get()
}
