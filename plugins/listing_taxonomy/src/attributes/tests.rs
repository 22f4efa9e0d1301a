//! The schemas are valid and complete, and accept their examples.
use crate::taxonomy::{self, NODES};
use jsonschema::Validator;
use serde_json::Value;

fn schema(code: &str) -> Value {
    super::schema(taxonomy::node(code).unwrap().attributes.unwrap()).into()
}

fn validator(code: &str) -> Validator {
    jsonschema::options().should_validate_formats(true).build(&schema(code)).unwrap()
}

#[test]
fn every_schema_is_valid_and_accepts_its_example() {
    for node in NODES.iter().filter(|node| node.attributes.is_some()) {
        let schema = schema(node.code);
        assert!(jsonschema::meta::is_valid(&schema), "{}", node.code);
        let examples = schema["examples"].as_array().unwrap();
        assert!(!examples.is_empty(), "{}", node.code);
        for example in examples {
            let valid = validator(node.code).validate(example).map_err(|error| error.to_string());
            assert_eq!(valid, Ok(()), "{}", node.code);
        }
    }
}

#[test]
fn every_schema_is_closed_flat_and_described() {
    for node in NODES.iter().filter(|node| node.attributes.is_some()) {
        let schema = schema(node.code);
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert_eq!(schema["type"], "object", "{}", node.code);
        assert_eq!(schema["additionalProperties"], false, "{}", node.code);
        let required = schema["required"].as_array();
        assert!(required.is_some_and(|list| !list.is_empty()), "{}", node.code);
        assert!(schema.get("$defs").is_none());
        for (name, property) in schema["properties"].as_object().unwrap() {
            assert!(property["type"].is_string(), "{}: {name} {property}", node.code);
            let format = property.get("format").and_then(Value::as_str);
            assert!(format.is_none_or(|format| format == "date"), "{}: {name}", node.code);
            assert!(property["description"].is_string(), "{}: {name}", node.code);
        }
    }
}

#[test]
fn listings_of_each_top_category_are_accepted_and_wrong_ones_refused() {
    let examples: Value = serde_json::from_str(include_str!("examples.json")).unwrap();
    for (kind, accepted) in [("accepted", true), ("refused", false)] {
        for example in examples[kind].as_array().unwrap() {
            let validator = validator(example[0].as_str().unwrap());
            assert_eq!(validator.is_valid(&example[1]), accepted, "{example}");
        }
    }
}
