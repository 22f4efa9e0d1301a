//! Tests that the computed visits are never fewer than those of the validator.

use super::{visits::*, *};
use proptest::{collection, prelude::*, sample};
use serde_json::json;

fn computed_visits(schema: &Value, instance: &Value) -> u64 {
    Cost::of(schema).unwrap().visits(values_in(instance))
}

fn doubling(levels: usize, keyword: &str) -> Value {
    let definition = |level: usize| {
        let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
        let schema = match level + 1 == levels {
            true => json!({ "type": "integer" }),
            false => json!({ keyword: [next, next] }),
        };
        (format!("d{level}"), schema)
    };
    let definitions: Map<String, Value> = (0..levels).map(definition).collect();
    json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": definitions })
}

#[test]
fn references_that_double_are_counted() {
    let schema = doubling(12, "allOf");
    let instance = json!({ "a": 1 });
    let (real, most) =
        (visits(&validator(&schema).unwrap(), &instance), computed_visits(&schema, &instance));
    assert!(real >= 1 << 12, "{real}");
    assert!((real..=4 * real).contains(&most), "{most} for {real}");
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let cost = Cost::of(&doubling(60, keyword)).unwrap();
        assert!(cost.visits(1) > 1 << 50, "{keyword}: {cost:?}");
    }
}

#[test]
fn references_that_double_at_every_level_of_the_instance_are_counted() {
    let schema = json!({ "allOf": [{ "items": { "$ref": "#" } }, { "items": { "$ref": "#" } }] });
    let nested = |depth: usize| (0..depth).fold(json!([]), |inner, _| json!([inner]));
    // The validator remembers some results, so it visits less.
    let real = visits(&validator(&schema).unwrap(), &nested(12));
    assert!(computed_visits(&schema, &nested(12)) >= real, "{real}");
    assert_eq!(Cost::of(&schema).unwrap().visits(1_000), u64::MAX);
}

#[test]
fn an_ordinary_schema_costs_little() {
    let schema = json!({
        "type": "object",
        "properties": {
            "title": { "type": "string", "minLength": 1, "maxLength": 140 },
            "tags": { "type": "array", "items": { "type": "string", "maxLength": 30 } },
            "place": { "$ref": "#/$defs/Place" },
            "kind": { "enum": ["offer", "demand"] },
            "tree": { "$ref": "#/$defs/Tree" },
        },
        "$defs": {
            "Place": { "type": "object", "properties": { "lat": { "type": "number" }, "lng": { "type": "number" } } },
            "Tree": { "type": "object", "properties": { "children": { "type": "array", "items": { "$ref": "#/$defs/Tree" } } } },
        },
    });
    let cost = Cost::of(&schema).unwrap();
    assert!(cost.per_value <= 4 && cost.fixed <= 20, "{cost:?}");
}

#[test]
fn a_schema_without_a_cost_is_refused_with_the_reason() {
    for (schema, reason) in [
        (json!({ "$ref": "#" }), "lead back to themselves"),
        (
            json!({ "allOf": [{ "$ref": "#/$defs/a" }], "$defs": { "a": { "not": { "$ref": "#" } } } }),
            "lead back",
        ),
        (json!({ "$ref": "#/$defs/missing" }), "is not in it"),
        (json!({ "$ref": "https://example.com/" }), "is not in it"),
        (json!({ "$dynamicRef": "#node" }), "uses $dynamicRef"),
        (json!({ "items": { "format": "regex" } }), "uses the format"),
        (json!({ "pattern": "(" }), "cannot be used"),
        (
            json!({ "prefixItems": vec![json!({ "pattern": "\\p{L}{20}" }); 500] }),
            "states together",
        ),
    ] {
        let error = Cost::of(&schema).unwrap_err();
        assert!(error.contains(reason), "{schema}: {error}");
    }
}

#[test]
fn references_are_resolved_as_pointers_and_anchors() {
    let schema = json!({
        "properties": { "a": { "$ref": "#/$defs/a~1b%20c" }, "d": { "$ref": "#here" } },
        "$defs": { "a/b c": { "type": "string" }, "d": { "$anchor": "here", "type": "string" } },
    });
    assert_eq!(Cost::of(&schema).unwrap(), Cost { fixed: 5, per_value: 0 });
}

#[test]
fn a_pattern_of_many_states_costs_more() {
    let cost = |pattern: &str| Cost::of(&json!({ "pattern": pattern })).unwrap().per_value;
    assert!(cost("^[a-z]+$") < 10, "{}", cost("^[a-z]+$"));
    assert!(cost("[01]*1[01]{2000}") > 60);
    assert_eq!(values_in(&json!({ "abcd": "0123456789" })), 10);
    // The characters of a text are visited by the patterns of one field alone.
    let field = json!({ "pattern": "^[a-z]+$" });
    let fields = json!({ "properties": { "a": field, "b": field, "c": field } });
    assert_eq!(Cost::of(&fields).unwrap().per_value, cost("^[a-z]+$"));
    assert_eq!(Cost::of(&json!({ "format": "uint64" })).unwrap().fixed, 1);
    assert_eq!(Cost::of(&json!({ "format": "date" })).unwrap().fixed, 1 + FORMAT_VISITS);
}

/// A schema that refers to any of three definitions, as subschemas of the same value and of children.
fn schema() -> impl Strategy<Value = Value> {
    let reference = sample::select(vec!["#/$defs/a", "#/$defs/b", "#/$defs/c"]);
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!({ "type": ["object", "array", "integer"] })),
        Just(json!({ "minimum": 1 })),
        reference.prop_map(|reference| json!({ "items": { "$ref": reference } })),
    ];
    let inner = leaf.prop_recursive(3, 12, 3, |inner| {
        let list = || collection::vec(inner.clone(), 1..3);
        prop_oneof![
            list().prop_map(|list| json!({ "allOf": list })),
            list().prop_map(|list| json!({ "anyOf": list })),
            list().prop_map(|list| json!({ "oneOf": list })),
            list().prop_map(|list| json!({ "prefixItems": list, "items": list.first() })),
            inner.clone().prop_map(|one| json!({ "not": one })),
            inner.clone().prop_map(|one| json!({ "items": one, "contains": one })),
            inner
                .clone()
                .prop_map(|one| json!({ "propertyNames": one, "additionalProperties": one })),
            inner.clone().prop_map(
                |one| json!({ "properties": { "x": one }, "patternProperties": { "x": one } })
            ),
            (inner.clone(), inner.clone())
                .prop_map(|(one, two)| json!({ "if": one, "then": two, "else": two })),
            (inner.clone(), list())
                .prop_map(|(one, list)| json!({ "allOf": list, "unevaluatedProperties": one })),
            (inner.clone(), list())
                .prop_map(|(one, list)| json!({ "anyOf": list, "unevaluatedItems": one })),
            inner.clone().prop_map(|one| json!({ "dependentSchemas": { "x": one } })),
        ]
    });
    let named = sample::select(vec!["#/$defs/a", "#/$defs/b", "#/$defs/c"]);
    (named, collection::vec(inner, 3)).prop_map(|(root, definitions)| {
        let names = ["a", "b", "c"].map(str::to_owned);
        let definitions: Map<String, Value> = names.into_iter().zip(definitions).collect();
        json!({ "$ref": root, "$defs": definitions })
    })
}

fn instance() -> impl Strategy<Value = Value> {
    let leaf = sample::select(vec![json!(0), json!(2), json!("x"), json!({}), json!([])]);
    leaf.prop_recursive(5, 24, 4, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            collection::btree_map(sample::select(vec!["x", "y", "xx"]), inner, 0..3).prop_map(
                |map| {
                    Value::Object(
                        map.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
                    )
                }
            ),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 100_000, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn no_instance_takes_more_visits_than_computed(
        schema in schema(),
        instances in collection::vec(instance(), 8),
    ) {
        let cost = Cost::of(&schema);
        // References that lead back on the same value are refused.
        prop_assume!(cost.is_ok());
        let validator = validator(&schema).unwrap();
        for instance in instances {
            let most = cost.as_ref().unwrap().visits(values_in(&instance));
            if most > 1_000_000 {
                continue;
            }
            let real = visits(&validator, &instance);
            prop_assert!(real <= most, "{real} visits, {most} computed: {schema} with {instance}");
        }
    }
}
