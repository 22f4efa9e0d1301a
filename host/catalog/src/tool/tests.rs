//! Tests that the schema of a tool accepts what the schemas of its actions accept.

use super::*;
use crate::{
    action::Schemas,
    companion::Companion,
    schema::{Schema, close},
};
use portolan_vocabulary::{Access, ActionDescriptor, Status};
use proptest::{collection, prelude::*, sample};

/// The maximum number of bytes of an instance.
const LIMIT: u64 = 256 << 10;

pub(crate) fn action(name: &str, access: Access, input: Value) -> Action {
    let input = close(input).unwrap();
    let output = json!({ "type": "object" });
    Action {
        descriptor: ActionDescriptor {
            name: name.to_owned(),
            title: format!("Does {name}"),
            description: String::new(),
            access,
            input: Ok(input.clone()),
            output: Ok(output.clone()),
            idempotent: false,
            destructive: false,
            cost_credits: 0,
            errors: Vec::new(),
            emits: Vec::new(),
            examples: Vec::new(),
            callers: Vec::new(),
            deprecated: None,
        },
        schemas: Schemas {
            input: Schema::new(input, LIMIT).unwrap(),
            output: Schema::new(output, LIMIT).unwrap(),
        },
        no_dry_run: false,
        by_person: false,
        consequence: None,
        companion: Companion::default(),
    }
}

pub(crate) fn descriptor(default_action: Option<&str>) -> Descriptor {
    Descriptor {
        id: "notes".to_owned(),
        version: "1.0.0".to_owned(),
        title: "Notes".to_owned(),
        summary: String::new(),
        description: String::new(),
        tags: Vec::new(),
        status: Status::Stable,
        sunset_at: None,
        successor: None,
        actions: Vec::new(),
        default_action: default_action.map(str::to_owned),
        errors: Vec::new(),
        collections: Vec::new(),
        invokes: Vec::new(),
        publishes: Vec::new(),
        subscriptions: Vec::new(),
        state_machines: Vec::new(),
        roles: Vec::new(),
        prompts: Vec::new(),
        annotations: Vec::new(),
    }
}

fn flat(default_action: Option<&str>, actions: &[Action]) -> Value {
    let actions: Vec<_> = actions.iter().collect();
    Value::Object((*ToolSchemas::new(&descriptor(default_action), &actions).input).clone())
}

#[test]
fn formats_that_clients_do_not_know_are_left_out() {
    let input = json!({
        "type": "object",
        "properties": {
            "at": { "type": "string", "format": "date-time" },
            "count": { "type": "integer", "format": "uint32", "minimum": 0 },
            "format": { "type": "array", "items": { "type": "number", "format": "double" } },
        },
    });
    let fields = flat(None, &[action("get", Access::Read, input)])["properties"].clone();
    assert_eq!(fields["at"]["format"], "date-time");
    assert_eq!((fields["count"].get("format"), &fields["count"]["minimum"]), (None, &json!(0)));
    assert_eq!(fields["format"]["items"], json!({ "type": "number" }));
}

#[test]
fn one_object_names_the_actions_of_each_field() {
    let schema = flat(
        None,
        &[
            action(
                "get",
                Access::Read,
                json!({
                    "type": "object",
                    "properties": { "id": { "type": "string", "description": "Which note." } },
                    "required": ["id"],
                }),
            ),
            action(
                "list",
                Access::Read,
                json!({
                    "type": "object",
                    "properties": {
                        "limit": { "type": "integer", "default": 20 },
                        "state": { "$ref": "#/$defs/State" },
                    },
                    "$defs": { "State": { "enum": ["open", "done"] } },
                }),
            ),
            action(
                "save",
                Access::Write,
                json!({
                    "type": "object",
                    "properties": {
                        "id": { "type": "string", "maxLength": 9, "description": "A new one, if left out." },
                        "state": { "$ref": "#/$defs/State" },
                        "more": true,
                    },
                    "$defs": { "State": { "enum": ["open"] } },
                }),
            ),
        ],
    );
    assert_eq!(
        schema,
        json!({
            "type": "object",
            "properties": {
                "action": {
                    "type": "string",
                    "enum": ["get", "list", "save"],
                    "description": "The action:\n- get: Does get\n- list: Does list\n- save: Does save",
                },
                "id": {
                    "anyOf": [
                        { "type": "string", "description": "For get." },
                        { "type": "string", "maxLength": 9, "description": "For save." },
                    ],
                    "description": "For get (required), save. get: Which note. save: A new one, if left out.",
                },
                "limit": { "type": "integer", "description": "For list.", "default": 20 },
                "state": {
                    "anyOf": [
                        { "$ref": "#/$defs/State", "description": "For list." },
                        { "$ref": "#/$defs/State_2", "description": "For save." },
                    ],
                    "description": "For list, save.",
                },
                "more": { "description": "For save." },
                "idempotency_key": {
                    "type": "string", "minLength": 1, "maxLength": 255,
                    "description": "For save. Repeating a call with the same key gives the first answer again.",
                },
                "dry_run": {
                    "type": "boolean",
                    "description": "For save. Check everything, change nothing.",
                    "default": false,
                },
            },
            "required": ["action"],
            "additionalProperties": false,
            "$defs": { "State": { "enum": ["open", "done"] }, "State_2": { "enum": ["open"] } },
        })
    );
}

#[test]
fn a_default_action_need_not_be_named() {
    let input = json!({ "type": "object", "properties": { "q": {} }, "required": ["q"] });
    let schema = flat(Some("ask"), &[action("ask", Access::Read, input)]);
    assert_eq!(schema["required"], json!(["q"]));
    assert_eq!(schema["properties"]["action"]["default"], "ask");
    // The default may be an action that this caller does not see.
    let input = json!({ "type": "object" });
    let action = |name| action(name, Access::Read, input.clone());
    let schema = flat(Some("ask"), &[action("list"), action("get")]);
    assert_eq!(schema["required"], json!(["action"]));
    assert!(schema["properties"]["action"].get("default").is_none());
    // An action that is alone need not be named either.
    let schema = flat(Some("ask"), &[action("list")]);
    assert_eq!(schema["properties"]["action"]["default"], "list");
    assert_eq!(schema.get("required"), None);
}

#[test]
fn definitions_that_are_the_same_are_kept_once_and_may_refer_to_themselves() {
    let tree = || {
        json!({
            "type": "object",
            "properties": { "tree": { "$ref": "#/$defs/Tree" } },
            "$defs": { "Tree": { "type": "array", "items": { "$ref": "#/$defs/Tree" } } },
        })
    };
    let actions = [action("a", Access::Read, tree()), action("b", Access::Read, tree())];
    let schema = flat(None, &actions);
    assert_eq!(schema["properties"]["tree"]["$ref"], "#/$defs/Tree");
    assert_eq!(schema["$defs"].as_object().unwrap().len(), 1);
    let schema = Schema::new(schema, LIMIT).unwrap();
    assert!(schema.accepts(&json!({ "action": "b", "tree": [[], [[]]] })));
    assert!(!schema.accepts(&json!({ "action": "b", "tree": [1] })));
}

#[test]
fn a_schema_that_is_tied_to_its_document_loses_its_rules() {
    let input = json!({
        "type": "object",
        "properties": {
            "a": { "type": "string" },
            "b": { "$ref": "#/properties/a", "description": "Like a." },
            "c": { "$anchor": "here", "type": "string" },
        },
    });
    let schema = flat(None, &[action("x", Access::Read, input)]);
    assert_eq!(schema["properties"]["b"], json!({ "description": "For every action. Like a." }));
    assert_eq!(schema["properties"]["c"], json!({ "description": "For every action." }));
}

#[test]
fn values_that_look_like_schemas_stay_as_they_are() {
    let fixed = json!({ "$ref": "#/nowhere", "properties": { "x": true } });
    let input = json!({ "type": "object", "properties": { "a": { "const": fixed } } });
    let schema = flat(None, &[action("x", Access::Read, input)]);
    assert_eq!(schema["properties"]["a"]["const"], fixed);
}

/// Returns whether a value is or has a null, which optional fields of a tool do not accept.
fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(elements) => elements.iter().any(has_null),
        Value::Object(members) => members.values().any(has_null),
        _ => false,
    }
}

/// Schemas of one field, some by reference, in the forms that differ between actions.
fn field() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!({})),
        Just(json!({ "type": "string", "maxLength": 3 })),
        Just(json!({ "type": ["integer", "null"], "minimum": 1 })),
        Just(json!({ "enum": ["x", "y", null] })),
        Just(json!({ "const": 2 })),
        Just(json!({ "$ref": "#/$defs/One" })),
        Just(json!({ "$ref": "#/$defs/Two", "description": "Two." })),
        Just(json!({ "$ref": "#/properties/a" })),
    ];
    leaf.prop_recursive(2, 8, 2, |inner| {
        prop_oneof![
            inner
                .clone()
                .prop_map(|inner| json!({ "type": "array", "items": inner, "maxItems": 2 })),
            inner.clone().prop_map(|inner| json!({ "anyOf": [inner, { "type": "boolean" }] })),
            inner.clone().prop_map(|inner| json!({ "not": inner })),
            inner.prop_map(|inner| json!({
                "type": "object", "properties": { "x": inner }, "additionalProperties": false,
            })),
        ]
    })
}

fn input() -> impl Strategy<Value = Value> {
    let name = || sample::select(vec!["a", "b", "c"]);
    let fields = collection::btree_map(name(), field(), 0..3);
    let required = collection::btree_set(name(), 0..2);
    (fields, required, field(), field()).prop_map(|(fields, required, one, two)| {
        let required: Vec<_> = required.into_iter().filter(|name| fields.contains_key(name)).collect();
        let mut properties: Map<String, Value> =
            fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
        // Some of the references lead to this property.
        properties.entry("a").or_insert(json!({ "type": "string" }));
        let two = json!({ "anyOf": [two, { "$ref": "#/$defs/One" }] });
        json!({
            "type": "object", "properties": properties, "required": required,
            "$defs": { "One": { "anyOf": [{ "type": "string" }, { "type": "array", "items": one }] }, "Two": two },
        })
    })
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = sample::select(vec![
        json!(null),
        json!(true),
        json!(2),
        json!(0),
        json!("x"),
        json!("long"),
        json!(1.5),
    ]);
    leaf.prop_recursive(2, 8, 2, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            inner.prop_map(|inner| json!({ "x": inner })),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_flat_schema_accepts_what_the_strict_one_accepts(
        inputs in collection::vec(input(), 1..4),
        has_default in any::<bool>(),
        bodies in collection::vec(collection::btree_map(sample::select(vec!["a", "b", "c"]), value(), 0..3), 12),
    ) {
        // A property that refers to itself has no meaning.
        let usable: Vec<_> = inputs.into_iter().filter(|input| {
            close(input.clone()).is_ok_and(|closed| Schema::new(closed, LIMIT).is_ok()) && input["properties"]["a"]["$ref"] != "#/properties/a"
        }).collect();
        prop_assume!(!usable.is_empty());
        let names = ["one", "two", "three"];
        let actions: Vec<_> = usable.into_iter().zip(names).map(|(input, name)| action(name, Access::Read, input)).collect();
        let default = has_default.then_some("one");
        let document = flat(default, &actions);
        prop_assert!(["oneOf", "anyOf", "allOf"].iter().all(|keyword| document.get(keyword).is_none()));
        let schema = Schema::new(document, LIMIT).unwrap();
        for body in bodies {
            let body: Map<String, Value> = body.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            if body.values().any(has_null) {
                continue;
            }
            for action in &actions {
                if !action.schemas.input.accepts(&Value::Object(body.clone())) {
                    continue;
                }
                let mut named = body.clone();
                named.insert("action".to_owned(), json!(action.descriptor.name));
                prop_assert!(schema.accepts(&Value::Object(named)));
                if default == Some(action.descriptor.name.as_str()) {
                    prop_assert!(schema.accepts(&Value::Object(body.clone())));
                }
            }
        }
    }
}
