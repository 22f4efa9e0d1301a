//! Attacks by a component's descriptor.

use crate::harness::hostile::{Attack, Expected::*, Observation, signed, with_script};
use serde_json::{Value, json};

/// Returns a component with one action with the access `read`, whose input has one
/// field with this schema.
fn with_input(id: &str, schema: Value, definitions: Value) -> Vec<u8> {
    let input = json!({ "type": "object", "properties": { "x": schema }, "$defs": definitions });
    let action = json!({ "name": "act", "access": "read", "input": input, "operations": [] });
    with_script(&json!({ "id": id, "actions": [action] }))
}

/// Returns definitions, each of which refers to the next one as `refers` makes it.
fn chained_definitions(length: usize, refers: impl Fn(Value) -> Value) -> Value {
    let name = |number: usize| format!("d{number}");
    let next = |number: usize| json!({ "$ref": format!("#/$defs/{}", name(number + 1)) });
    let mut definitions: serde_json::Map<_, _> =
        (0..length).map(|number| (name(number), refers(next(number)))).collect();
    definitions.insert(name(length), json!({ "type": "integer" }));
    Value::Object(definitions)
}

fn with_chain(id: &str, length: usize, refers: impl Fn(Value) -> Value) -> Vec<u8> {
    with_input(id, json!({ "$ref": "#/$defs/d0" }), chained_definitions(length, refers))
}

fn with_title(id: &str, title: &str) -> Vec<u8> {
    with_script(&json!({ "id": id, "title": title }))
}

/// Attacks by the work of describing a component or of checking its descriptor.
pub const COSTS: &[Attack] = &[
    Attack::new("describe_spins", "never ends its `describe`", Refused("describe_failed"), |_| {
        with_describe_operation("describe_spins", json!({ "op": "spin" }))
    }),
    Attack::new("describe_traps", "traps in its `describe`", Refused("describe_failed"), |_| {
        with_describe_operation("describe_traps", json!({ "op": "trap" }))
    }),
    Attack::new(
        "describe_allocates",
        "allocates without end in its `describe`",
        Refused("describe_failed"),
        |_| {
            let megabyte = json!({ "op": "allocate", "bytes": 1 << 20, "times": 1000 });
            with_describe_operation("describe_allocates", megabyte)
        },
    ),
    Attack::new(
        "describe_invokes",
        "calls another capability in its `describe`",
        Refused("describe_failed"),
        |_| {
            let invoke =
                json!({ "op": "invoke", "capability": "owners", "action": "me", "input": {} });
            with_describe_operation("describe_invokes", invoke)
        },
    ),
    Attack::new(
        "large_descriptor",
        "returns a description of ten megabytes",
        Refused("describe_failed"),
        |_| {
            let text = json!({ "repeat": "harm ", "times": 2_000_000 });
            with_script(&json!({ "id": "large_descriptor", "description": text }))
        },
    ),
    Attack::new(
        "many_actions",
        "declares a thousand actions with schemas",
        Refused("bad_descriptor"),
        |_| {
            let action =
                json!({ "name": "act{n}", "access": "read", "title": "A", "description": "A" });
            let actions = json!([{ "of": action, "times": 1_000 }]);
            with_script(&json!({ "id": "many_actions", "actions": actions }))
        },
    ),
    Attack::new(
        "many_errors",
        "declares ten thousand errors, and one action with all of them",
        Refused("bad_descriptor"),
        |_| {
            let errors = json!([{ "of": { "code": "e{n}", "description": "E" }, "times": 10_000 }]);
            let action = json!({
                "name": "act", "access": "read",
                "errors": [{ "of": "e{n}", "times": 10_000 }],
            });
            with_script(&json!({ "id": "many_errors", "errors": errors, "actions": [action] }))
        },
    ),
    Attack::new(
        "many_states",
        "declares a state machine of five thousand states and transitions",
        Refused("bad_descriptor"),
        |_| {
            let transition = json!({ "action": "act", "from": [], "to": ["s{n}"] });
            let machine = json!({
                "name": "thing",
                "states": [{ "of": "s{n}", "times": 5_000 }],
                "transitions": [{ "of": transition, "times": 5_000 }],
            });
            with_script(&json!({ "id": "many_states", "state_machines": [machine] }))
        },
    ),
    Attack::new(
        "many_collections",
        "declares two thousand collections",
        Refused("bad_descriptor"),
        |_| {
            let collections = json!([{ "of": { "name": "c{n}" }, "times": 2_000 }]);
            with_script(&json!({ "id": "many_collections", "collections": collections }))
        },
    ),
    Attack::new(
        "many_indexes",
        "declares a collection with five thousand indexed paths",
        Refused("bad_descriptor"),
        |_| {
            let index = json!({ "name": "i{n}", "paths": ["p{n}"] });
            let collection =
                json!({ "name": "things", "indexes": [{ "of": index, "times": 5_000 }] });
            with_script(&json!({ "id": "many_indexes", "collections": [collection] }))
        },
    ),
    Attack::new(
        "indexes_everywhere",
        "declares fifty collections with ten indexes each",
        Refused("bad_descriptor"),
        |_| {
            let indexes: Vec<_> = (0..10)
                .map(|place| json!({ "name": format!("i{place}"), "paths": [format!("p{place}")] }))
                .collect();
            let collections =
                json!([{ "of": { "name": "c{n}", "indexes": indexes }, "times": 50 }]);
            with_script(&json!({ "id": "indexes_everywhere", "collections": collections }))
        },
    ),
    Attack::new(
        "many_examples",
        "declares twenty thousand examples",
        Refused("bad_descriptor"),
        |_| {
            let action = json!({
                "name": "act", "access": "read", "examples": [{ "of": {}, "times": 20_000 }],
            });
            with_script(&json!({ "id": "many_examples", "actions": [action] }))
        },
    ),
    Attack::new(
        "doubling_references",
        "has a schema of 40 definitions that each refer twice to the next one",
        Refused("schema_too_complex"),
        |_| with_chain("doubling_references", 40, |next| json!({ "allOf": [next, next] })),
    ),
    Attack::new(
        "nested_choices",
        "has a schema of 12 nested `oneOf` with four branches each",
        Refused("schema_too_complex"),
        |_| with_chain("nested_choices", 12, |next| json!({ "oneOf": [next, next, next, next] })),
    ),
    Attack::new(
        "nested_unevaluated",
        "has a schema of 20 nested `unevaluatedProperties`",
        Refused("schema_too_complex"),
        |_| {
            with_chain(
                "nested_unevaluated",
                20,
                |next| json!({ "anyOf": [next], "unevaluatedProperties": false }),
            )
        },
    ),
    Attack::new(
        "circular_reference",
        "has a schema that refers to itself on the same value",
        Refused("bad_descriptor"),
        |_| {
            let own = json!({ "$ref": "#/$defs/d0" });
            with_input("circular_reference", own.clone(), json!({ "d0": own }))
        },
    ),
    Attack::new(
        "remote_reference",
        "has a schema that refers to a page",
        Refused("bad_descriptor"),
        |_| {
            let page = json!({ "$ref": "https://example.com/schema.json" });
            with_input("remote_reference", page, json!({}))
        },
    ),
    Attack::new(
        "large_pattern",
        "has a pattern that repeats its repetitions",
        Refused("bad_descriptor"),
        |_| with_input("large_pattern", json!({ "pattern": "((a{100}){100}){100}" }), json!({})),
    ),
    Attack::new(
        "many_patterns",
        "has ten thousand large patterns",
        Refused("bad_descriptor"),
        |_| {
            let field = "\"p{n}\":{\"pattern\":\"\\\\p{L}{20}\"},";
            let fields = json!({ "repeat": field, "times": 10_000 });
            let schema = json!(["{\"type\":\"object\",\"properties\":{", fields, "\"last\":{}}}"]);
            let action = json!({ "name": "act", "access": "read", "input": { "raw": schema } });
            with_script(&json!({ "id": "many_patterns", "actions": [action] }))
        },
    ),
    Attack::new(
        "slow_pattern",
        "has a pattern that takes thousands of steps for each character",
        Refused("schema_too_complex"),
        |_| with_input("slow_pattern", json!({ "pattern": "^(a|b)*a(a|b){5000}$" }), json!({})),
    ),
    Attack::new(
        "false_example",
        "has an example that its schema forbids",
        Refused("bad_descriptor"),
        |_| {
            let action = json!({ "name": "act", "access": "read", "examples": [{ "x": 1 }] });
            with_script(&json!({ "id": "false_example", "actions": [action] }))
        },
    ),
    Attack::new(
        "unique_items",
        "has `uniqueItems`, and is called with forty thousand items",
        Harmless("answered: items are compared in linear time", check_success),
        |_| with_input("unique_items", json!({ "type": "array", "uniqueItems": true }), json!({})),
    )
    .with_body(|| json!({ "action": "act", "x": (0..40_000).collect::<Vec<_>>() })),
];

fn check_success(observed: &Observation) -> Result<(), String> {
    if observed.reply.status == 200 { Ok(()) } else { Err("it is not answered".to_owned()) }
}

fn with_describe_operation(id: &str, operation: Value) -> Vec<u8> {
    with_script(&json!({ "id": id, "describing": [operation] }))
}

/// Attacks by texts that would deceive readers in a catalog, on a page or in a terminal.
pub const TEXTS: &[Attack] = &[
    Attack::new(
        "escape_sequence",
        "has an escape sequence of terminals in its title",
        Refused("bad_descriptor"),
        |_| with_title("escape_sequence", "Weather\u{1b}[2J"),
    ),
    Attack::new(
        "reversed_text",
        "has a character in its title that reverses the text",
        Refused("bad_descriptor"),
        |_| with_title("reversed_text", "Weather \u{202e}snoitacifirev"),
    ),
    Attack::new(
        "invisible_title",
        "has a title of invisible characters",
        Refused("bad_descriptor"),
        |_| with_title("invisible_title", "\u{200b}\u{2060}"),
    ),
    Attack::new(
        "controls_in_a_tag",
        "has control characters in a tag",
        Refused("bad_descriptor"),
        |_| with_script(&json!({ "id": "controls_in_a_tag", "tags": ["rain\u{7}\r\n"] })),
    ),
    Attack::new(
        "controls_in_an_error",
        "has an escape sequence in the description of an error",
        Refused("bad_descriptor"),
        |_| {
            let error = json!({ "code": "no_rain", "description": "None.\u{9b}2J" });
            with_script(&json!({ "id": "controls_in_an_error", "errors": [error] }))
        },
    ),
    Attack::new(
        "controls_in_a_deprecation",
        "has a reversed text in the reason of a deprecation",
        Refused("bad_descriptor"),
        |_| {
            let action = json!({ "name": "act", "access": "read", "deprecated": "\u{2067}now" });
            with_script(&json!({ "id": "controls_in_a_deprecation", "actions": [action] }))
        },
    ),
    Attack::new("large_tags", "has tags of a megabyte", Refused("bad_descriptor"), |_| {
        with_script(&json!({ "id": "large_tags", "tags": [{ "repeat": "a", "times": 1_000_000 }] }))
    }),
    Attack::new("large_version", "has a version of a megabyte", Refused("bad_descriptor"), |_| {
        let build = json!(["1.0.0+", { "repeat": "a", "times": 1_000_000 }]);
        with_script(&json!({ "id": "large_version", "version": build }))
    }),
];

/// Attacks by the version or the signature of a file that replaces another one.
pub const REPLACEMENTS: &[Attack] = &[
    Attack::new(
        "older_version",
        "replaces a signed component by an older version with the same key",
        Refused("version_downgrade"),
        |scene| signed(&scene.folder, "first.key", &with_version("older_version", "1.1.0")),
    )
    .replacing(|scene| signed(&scene.folder, "first.key", &with_version("older_version", "1.2.0"))),
    Attack::new(
        "other_key",
        "replaces a signed component by one with another key",
        Refused("publisher_mismatch"),
        |scene| signed(&scene.folder, "second.key", &with_version("other_key", "1.1.0")),
    )
    .replacing(|scene| signed(&scene.folder, "first.key", &with_version("other_key", "1.0.0"))),
    Attack::new(
        "no_key_any_more",
        "replaces a signed component by an unsigned one",
        Refused("publisher_mismatch"),
        |_| with_version("no_key_any_more", "1.1.0"),
    )
    .replacing(|scene| {
        signed(&scene.folder, "first.key", &with_version("no_key_any_more", "1.0.0"))
    }),
];

fn with_version(id: &str, version: &str) -> Vec<u8> {
    with_script(&json!({ "id": id, "version": version }))
}
