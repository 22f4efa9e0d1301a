//! The schemas are valid and complete, and accept their examples.
use crate::taxonomy::{self, NODES};
use jsonschema::Validator;
use serde_json::{Value, json};

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
            let validator = validator(node.code);
            let errors: Vec<_> =
                validator.iter_errors(example).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{}: {errors:?}", node.code);
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
        assert!(
            schema["required"].as_array().is_some_and(|list| !list.is_empty()),
            "{}",
            node.code
        );
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
fn listings_of_each_top_category_are_accepted() {
    let accepted = [
        ("work.job.software", json!({"employment_type": "FULL_TIME", "skills": ["Rust"]})),
        (
            "work.candidate.healthcare",
            json!({"employment_types": ["PART_TIME"], "credentials": ["RN"]}),
        ),
        ("home.let.apartment", json!({"bedrooms": 0, "available_from": "2027-01-01"})),
        ("home.rent.room", json!({"move_in_from": "2027-01-01", "max_flatmates": 2})),
        ("social.friend.sport", json!({"interests": ["running"]})),
        (
            "social.date",
            json!({"aims": ["open"], "gender": "man", "seeking": ["woman"], "age": 18}),
        ),
        (
            "venture.cofounder",
            json!({"strengths": ["sales"], "seeking": ["engineering"], "progress": "idea"}),
        ),
        ("venture.raise.seed", json!({"stage": "seed", "currency": "EUR", "amount": 900_000.0})),
        ("venture.invest.growth", json!({"kind": "fund", "stages": ["growth"], "currency": "USD"})),
        ("pro.lawyer.ip", json!({"jurisdictions": ["US-CA", "DE"], "fees": ["hourly"]})),
        ("pro.client.lawyer.family", json!({"jurisdiction": "US-CA", "client_kind": "individual"})),
        ("pro.service.repair", json!({"venues": ["at_client"]})),
        (
            "pro.client.service.tutoring",
            json!({"subjects": ["maths"], "level": "adult", "venues": ["online"]}),
        ),
        ("lead.general", json!({"subject": "advice"})),
    ];
    for (code, attributes) in accepted {
        assert!(validator(code).is_valid(&attributes), "{code}: {attributes}");
    }
}

#[test]
fn wrong_attributes_are_refused() {
    let refused = [
        ("work.job.software", json!({})),
        ("work.job.software", json!({"employment_type": "FULL_TIME", "religion": "any"})),
        ("work.job.software", json!({"employment_type": "full time"})),
        ("work.job.software", json!({"employment_type": "FULL_TIME", "seniority": null})),
        ("work.job.software", json!({"employment_type": "FULL_TIME", "skills": [""]})),
        ("home.let.apartment", json!({"bedrooms": -1, "available_from": "2027-01-01"})),
        ("home.let.apartment", json!({"bedrooms": 1, "available_from": "soon"})),
        ("home.let.apartment", json!({"bedrooms": 1, "available_from": "2027-02-30"})),
        (
            "social.date",
            json!({"aims": ["open"], "gender": "man", "seeking": ["woman"], "age": 17}),
        ),
        ("venture.raise.seed", json!({"stage": "seed", "currency": "dollars", "amount": 1})),
        ("pro.lawyer.ip", json!({"jurisdictions": ["California"], "fees": ["hourly"]})),
    ];
    for (code, attributes) in refused {
        assert!(!validator(code).is_valid(&attributes), "{code}: {attributes}");
    }
}
