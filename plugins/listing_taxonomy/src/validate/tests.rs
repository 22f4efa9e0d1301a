//! The validator knows every keyword of the schemas, and agrees with a complete validator.
use super::*;
use crate::taxonomy::NODES;
use proptest::{prelude::*, sample};
use std::{collections::BTreeMap, sync::LazyLock};

const KEYWORDS: &str = "type properties required additionalProperties enum minimum maximum \
    minLength maxLength pattern format items minItems maxItems x-criterion \
    x-not-above";
/// Keywords that do not restrict a value.
const SILENT: &str = "$schema title description default examples";

fn schemas() -> BTreeMap<String, Map<String, Value>> {
    let made = NODES.iter().filter_map(|node| Some(crate::attributes::schema(node.attributes?)));
    made.map(|schema| (Value::from(schema.clone()).to_string(), schema)).collect()
}

fn check_keywords(schema: &Map<String, Value>, is_root: bool) {
    for (keyword, value) in schema {
        let mut known = KEYWORDS.split(' ').chain(SILENT.split(' '));
        assert!(known.any(|known| known == keyword), "{keyword} in {schema:?}");
        match keyword.as_str() {
            "type" => assert!(value.is_string(), "{value}"),
            "properties" => {
                assert!(is_root, "the validator does not check objects in objects");
                for property in value.as_object().unwrap().values() {
                    check_keywords(property.as_object().unwrap(), false);
                }
            }
            "items" => check_keywords(value.as_object().unwrap(), false),
            "additionalProperties" => assert_eq!(value, false),
            "format" => assert_eq!(value, "date"),
            "pattern" => assert!(PATTERNS.iter().any(|(known, _)| value == *known), "{value}"),
            _ => {}
        }
    }
}

#[test]
fn no_other_keyword_occurs() {
    let schemas = schemas();
    assert!(schemas.len() > 20);
    schemas.values().for_each(|schema| check_keywords(schema, true));
}

#[test]
fn all_faults_are_reported_together() {
    let node = crate::taxonomy::node("home.let.apartment").unwrap();
    let schema = crate::attributes::schema(node.attributes.unwrap());
    let given = json!({
        "bedrooms": 2.5, "available_from": "2027-02-30", "pets": "some", "a/b~c": 1,
        "features": ["balcony", 7], "deposit": -1,
    });
    let found = |given: &Value| -> Vec<String> {
        let violations = attributes(&schema, given.as_object().unwrap()).into_iter();
        violations
            .map(|found| format!("{} {} {}", found.pointer, found.rule, found.expected))
            .collect()
    };
    assert_eq!(
        found(&given),
        [
            r#"/attributes/bedrooms type "integer""#,
            r#"/attributes/available_from format "date""#,
            r#"/attributes/pets enum ["allowed","negotiable","not_allowed"]"#,
            "/attributes/a~1b~0c additionalProperties false",
            r#"/attributes/features/1 type "string""#,
            "/attributes/deposit minimum 0",
        ]
    );
    assert_eq!(
        found(&json!({})),
        ["/attributes/bedrooms required true", "/attributes/available_from required true"]
    );
}

#[test]
fn empty_and_repeated_values_are_omitted() {
    let given = json!({"skills": [" Rust", "Rust", "C"], "languages": [], "pets": "allowed"});
    let normal = normal(given.as_object().unwrap().clone());
    assert_eq!(Value::from(normal), json!({"skills": ["Rust", "C"], "pets": "allowed"}));
}

static VALIDATORS: LazyLock<Vec<(Map<String, Value>, jsonschema::Validator)>> =
    LazyLock::new(|| {
        let with_validator = |schema: Map<String, Value>| {
            let options = jsonschema::options().should_validate_formats(true);
            (schema.clone(), options.build(&schema.into()).unwrap())
        };
        schemas().into_values().map(with_validator).collect()
    });

#[test]
fn contradicting_amounts_and_dates_are_refused_with_their_field() {
    for (code, given, expected) in [
        ("venture.raise", json!({"amount": 100, "committed": 101}), "/attributes/committed"),
        (
            "venture.raise",
            json!({"amount": 700_000, "min_cheque": 700_001}),
            "/attributes/min_cheque",
        ),
        ("venture.invest", json!({"cheque_min": 2, "cheque_max": 1}), "/attributes/cheque_min"),
        (
            "home.rent.apartment",
            json!({"move_in_from": "2027-03-01", "move_in_by": "2027-02-28"}),
            "/attributes/move_in_from",
        ),
        (
            "home.let.short_stay",
            json!({"available_from": "2027-03-01", "available_until": "2027-02-28"}),
            "/attributes/available_from",
        ),
        (
            "home.rent.short_stay",
            json!({"arrive": "2027-03-02", "depart": "2027-03-01"}),
            "/attributes/arrive",
        ),
        (
            "home.let.room",
            json!({"min_term_months": 7, "max_term_months": 6}),
            "/attributes/min_term_months",
        ),
    ] {
        let schema =
            crate::attributes::schema(crate::taxonomy::node(code).unwrap().attributes.unwrap());
        let mut all = schema["examples"][0].as_object().unwrap().clone();
        all.extend(given.as_object().unwrap().clone());
        let found = attributes(&schema, &all);
        let places: Vec<_> = found.iter().map(|violation| violation.pointer.as_str()).collect();
        assert_eq!(places, [expected], "{code} {given}");
    }
}

#[test]
fn equal_bounds_do_not_contradict() {
    let schema = crate::attributes::schema(
        crate::taxonomy::node("venture.invest").unwrap().attributes.unwrap(),
    );
    let mut all = schema["examples"][0].as_object().unwrap().clone();
    all.extend([("cheque_min".to_owned(), json!(5)), ("cheque_max".to_owned(), json!(5.0))]);
    assert!(attributes(&schema, &all).is_empty());
}

#[test]
fn ordered_fields_name_fields_of_their_own_type() {
    let mut pairs = 0;
    for (schema, _) in VALIDATORS.iter() {
        for property in schema["properties"].as_object().unwrap().values() {
            let Some(other) = property.get(NOT_ABOVE) else { continue };
            let other = &schema["properties"][other.as_str().unwrap()];
            assert_eq!(
                (&property["type"], &property["format"]),
                (&other["type"], &other["format"])
            );
            pairs += 1;
        }
    }
    assert!(pairs > 0);
}

/// Generates values that satisfy a schema, and similar values that do not.
fn near(schema: &Value) -> BoxedStrategy<Value> {
    let listed = schema["enum"].as_array().cloned().unwrap_or_default();
    let anything = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..3000).prop_map(Value::from),
        (-4000i32..4000).prop_map(|number| json!(f64::from(number) / 4.0)),
        "[a-zA-Z0-9é-]{0,5}".prop_map(Value::from),
        "[a-z]{2,3}(-[A-Za-z0-9]{1,9}){0,2}".prop_map(Value::from),
        "[A-Z]{2,3}(-[A-Z0-9]{0,4})?".prop_map(Value::from),
        "[12][09][0-9]{2}-[01][0-9]-[0-3][0-9]".prop_map(Value::from),
        "é{58,62}".prop_map(Value::from),
    ]
    .boxed();
    let mut choices = vec![anything];
    if !listed.is_empty() {
        choices.push(sample::select(listed).boxed());
    }
    if schema["items"].is_object() {
        let list = prop::collection::vec(near(&schema["items"]), 0..7);
        choices.push(list.prop_map(Value::from).boxed());
    }
    prop::strategy::Union::new(choices).boxed()
}

fn given() -> impl Strategy<Value = (usize, Value)> {
    (0..VALIDATORS.len()).prop_flat_map(|index| {
        let schema = &VALIDATORS[index].0;
        let example = schema["examples"][0].as_object().unwrap().clone();
        let properties = schema["properties"].as_object().unwrap();
        let change = |(name, property): (&String, &Value)| {
            (Just(name.clone()), prop::option::weighted(0.2, near(property)))
        };
        let changed: Vec<_> = properties.iter().map(change).collect();
        let odd = prop::option::weighted(0.1, "[a-z/~]{1,4}");
        let names: Vec<_> = properties.keys().cloned().collect();
        let dropped = prop::option::weighted(0.2, sample::select(names));
        (changed, odd, dropped).prop_map(move |(changed, odd, dropped)| {
            let mut given = example.clone();
            given.extend(changed.into_iter().filter_map(|(name, value)| Some((name, value?))));
            given.extend(odd.map(|name| (name, Value::from(1))));
            if let Some(name) = dropped {
                given.remove(&name);
            }
            (index, Value::Object(given))
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn the_validator_agrees_with_a_complete_one((index, given) in given()) {
        let (schema, validator) = &VALIDATORS[index];
        let mut found = attributes(schema, given.as_object().unwrap());
        // A complete validator does not know this keyword.
        found.retain(|violation| violation.rule != NOT_ABOVE);
        prop_assert_eq!(found.is_empty(), validator.is_valid(&given), "{} {:?}", given, found);
    }
}
