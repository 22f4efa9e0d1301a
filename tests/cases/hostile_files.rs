//! Attacks by the form of a component's file: its signature, its imports and its sections.

use crate::harness::{
    component,
    hostile::{
        Attack, Expected::*, Observation, Scene, signed, with_custom_section, with_nested,
        with_operations,
    },
    patched, unsigned,
};
use serde_json::json;

/// The name of the section with a signature, and the number of bytes of its content.
const SIGNATURE_SECTION: &str = "portolan-signature";
const SIGNATURE_BYTES: usize = 97;

pub const SIGNATURES: &[Attack] = &[
    Attack::new(
        "changed_after_signing",
        "is a shipped component that was changed after it was signed",
        Refused("signature_invalid"),
        |_| patched(&component("owners"), &[("Owners", "0wners")]),
    ),
    Attack::new(
        "key_of_a_stranger",
        "is a shipped component, signed with a key of its own",
        Refused("publisher_mismatch"),
        |scene| signed(&scene.folder, "stranger.key", &unsigned(&component("owners"))),
    ),
    Attack::new(
        "borrowed_signature",
        "carries the signature of a shipped component",
        Refused("signature_invalid"),
        |_| {
            let shipped = component("owners");
            let content = &shipped[shipped.len() - SIGNATURE_BYTES..];
            with_custom_section(
                &without_operations("borrowed_signature"),
                SIGNATURE_SECTION,
                content,
            )
        },
    ),
    Attack::new(
        "signature_in_the_middle",
        "has more content after its signature",
        Refused("signature_invalid"),
        |scene| {
            let signed =
                signed(&scene.folder, "first.key", &without_operations("signature_in_the_middle"));
            with_custom_section(&signed, "more", b"content")
        },
    ),
    Attack::new(
        "unknown_signature",
        "has a signature of an unknown version",
        Refused("signature_invalid"),
        |_| {
            let content = [9; SIGNATURE_BYTES];
            with_custom_section(
                &without_operations("unknown_signature"),
                SIGNATURE_SECTION,
                &content,
            )
        },
    ),
];

fn without_operations(id: &str) -> Vec<u8> {
    with_operations(id, json!([]))
}

/// Returns a shipped or fixture component without its signature, under another
/// id of the same length.
fn renamed(name: &str, id: &str, other: &str) -> Vec<u8> {
    patched(&unsigned(&component(name)), &[(id, other)])
}

pub const IMPORTS: &[Attack] = &[
    Attack::new(
        "imports_sms",
        "imports `sms` without a grant",
        Refused("pending_approval"),
        |_| component("texter"),
    ),
    Attack::new(
        "imports_identity",
        "imports `identity` without a grant",
        Refused("pending_approval"),
        |_| renamed("owners", "owners", "humans"),
    ),
    Attack::new(
        "imports_inbox",
        "imports `inbox` without a grant",
        Refused("pending_approval"),
        |_| renamed("svc_events", "svc.events", "own_events"),
    ),
    Attack::new(
        "imports_webhooks",
        "imports `webhooks` without a grant",
        Refused("pending_approval"),
        |_| renamed("svc_webhooks", "svc.webhooks", "own_webhooks"),
    ),
    Attack::new(
        "imports_lookups",
        "imports `lookups` without a grant",
        Refused("pending_approval"),
        |_| renamed("owner_verification", "owner_verification", "owned_verification"),
    ),
    Attack::new("imports_http", "imports outgoing HTTP", Refused("unknown_import"), |_| {
        let import = "(import \"wasi:http/outgoing-handler@0.2.0\" (instance))";
        wat::parse_str(format!("(component {import})")).unwrap()
    }),
    Attack::new(
        "imports_by_the_hundred",
        "imports nine hundred interfaces with long names",
        Refused("unknown_import"),
        |_| {
            let long = "a".repeat(200);
            let import = |number: usize| format!("(import \"a:{long}/b{number}\" (instance))");
            let imports: String = (0..900).map(import).collect();
            wat::parse_str(format!("(component {imports})")).unwrap()
        },
    ),
    Attack::new(
        "imports_anything",
        "imports an interface that the host does not have",
        Refused("unknown_import"),
        |_| {
            let import = "(import \"portolan:capability/operator@2.0.0\" (instance))";
            wat::parse_str(format!("(component {import})")).unwrap()
        },
    ),
];

pub const SECTIONS: &[Attack] = &[
    Attack::new(
        "exports_by_the_thousand",
        "exports a hundred thousand types",
        Refused("contract_mismatch"),
        |_| with_exports(100_000),
    ),
    Attack::new(
        "many_exports",
        "exports ten thousand types, and nothing else",
        Refused("contract_mismatch"),
        |_| with_exports(10_000),
    ),
    Attack::new(
        "many_types",
        "contains ten thousand types that nothing uses",
        Harmless("loaded: it is called like any other", check_success),
        |_| {
            let types = "(type (tuple u32 string))".repeat(10_000);
            with_nested(&without_operations("many_types"), &format!("(component {types})"), 0)
        },
    ),
    Attack::new(
        "doubling_types",
        "contains 60 types that each hold the previous one twice",
        Refused("invalid"),
        |_| {
            let pair =
                |number: usize| format!("(type $t{} (tuple $t{number} $t{number}))", number + 1);
            let pairs: String = (0..60).map(pair).collect();
            let nested = format!("(component (type $t0 (tuple u64 u64)) {pairs})");
            with_nested(&without_operations("doubling_types"), &nested, 0)
        },
    ),
    Attack::new(
        "large_table",
        "has a table of ten million elements",
        Refused("exceeds_limits"),
        |_| with_module("large_table", "(table 10000000 funcref)", 1),
    ),
    Attack::new("many_memories", "has forty memories", Refused("exceeds_limits"), |_| {
        with_module("many_memories", "(memory 1)", 40)
    }),
    Attack::new("large_memory", "has an initial memory of 3 GB", Refused("exceeds_limits"), |_| {
        with_module("large_memory", "(memory 48000)", 1)
    }),
    Attack::new(
        "endless_start",
        "never ends the start of its module",
        Refused("describe_failed"),
        |_| with_module("endless_start", "(func $f (loop (br 0))) (start $f)", 1),
    ),
    Attack::new(
        "start_that_grows",
        "grows its memory without end when it is started",
        Refused("describe_failed"),
        |_| {
            let grow =
                "(loop (br_if 0 (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) unreachable";
            with_module("start_that_grows", &format!("(memory 1) (func $f {grow}) (start $f)"), 1)
        },
    ),
    Attack::new("cut_short", "is cut off in the middle", Refused("invalid"), |_: &Scene| {
        let mut whole = without_operations("cut_short");
        whole.truncate(whole.len() / 2);
        whole
    }),
    Attack::new("core_module", "is a core module", Refused("core_module"), |_| {
        wat::parse_str("(module)").unwrap()
    }),
];

fn with_exports(count: usize) -> Vec<u8> {
    let export = |number: usize| format!("(export \"t{number}\" (type $t))");
    let exports: String = (0..count).map(export).collect();
    wat::parse_str(format!("(component (type $t (tuple u32)) {exports})")).unwrap()
}

/// Returns the plain component with a nested component added, which contains `module` and
/// instantiates it `instances` times.
fn with_module(id: &str, module: &str, instances: usize) -> Vec<u8> {
    let instance = "(core instance (instantiate $m))".repeat(instances);
    let nested = format!("(component (core module $m {module}) {instance})");
    with_nested(&without_operations(id), &nested, 1)
}

fn check_success(observed: &Observation) -> Result<(), String> {
    if observed.reply.status == 200 { Ok(()) } else { Err("it is not answered".to_owned()) }
}
