//! Attacks by what a component claims: ids and namespaces of others, and reach that nobody has permitted.

use crate::harness::{
    component,
    hostile::{Attack, Expected::*, with_operations, with_script},
    unsigned,
};
use serde_json::{Value, json};

/// Attacks by ids that belong to others or look like those of others.
pub const IDS: &[Attack] = &[
    Attack::new(
        "takes_an_id",
        "declares the id of another publisher's capability",
        Refused("publisher_mismatch"),
        |_| with_operations("owners", json!([])),
    ),
    Attack::new(
        "takes_an_id_by_copy",
        "is a shipped component without its signature",
        Refused("publisher_mismatch"),
        |_| unsigned(&component("owners")),
    ),
    Attack::new(
        "takes_a_reserved_id",
        "declares the id `svc.phone-binding`",
        Refused("reserved_id"),
        |_| with_operations("svc.phone-binding", json!([])),
    ),
    Attack::new(
        "takes_a_shipped_id",
        "declares the id of a shipped capability that this host does not have",
        Refused("reserved_id"),
        |_| with_operations("calendar", json!([])),
    ),
    Attack::new(
        "new_reserved_id",
        "declares a new id that begins with `svc.`",
        Refused("reserved_id"),
        |_| with_operations("svc.weather", json!([])),
    ),
    Attack::new(
        "other_separator",
        "declares the id of another with another separator",
        Refused("id_looks_alike"),
        |_| with_operations("agent-credits", json!([])),
    ),
    Attack::new(
        "name_of_a_tool",
        "declares an id that would get the MCP tool name of another",
        Refused("reserved_id"),
        |_| with_operations("svc_phone-binding", json!([])),
    ),
    Attack::new(
        "name_of_a_host_tool",
        "declares the name of the host's MCP tool that calls capabilities as its id",
        Refused("reserved_id"),
        |_| with_operations("call_capability", json!([])),
    ),
    Attack::new(
        "alike_letters",
        "declares the id of another with a digit that looks like a letter",
        Refused("id_looks_alike"),
        |_| with_operations("conversat1ons", json!([])),
    ),
    Attack::new(
        "other_case",
        "declares the id of another in upper case",
        Refused("bad_descriptor"),
        |_| with_operations("Owners", json!([])),
    ),
    Attack::new(
        "confusable_letters",
        "declares the id of another with a Cyrillic letter",
        Refused("bad_descriptor"),
        |_| with_operations("\u{43e}wners", json!([])),
    ),
    Attack::new("id_as_path", "declares an id that is a path", Refused("bad_descriptor"), |_| {
        with_operations("../owners", json!([]))
    }),
    Attack::new("large_id", "declares an id of a megabyte", Refused("bad_descriptor"), |_| {
        with_script(&json!({ "id": { "repeat": "a", "times": 1_000_000 } }))
    }),
];

/// Attacks by declarations of what a component calls and hears.
pub const REACH: &[Attack] = &[
    Attack::new(
        "invokes_internal",
        "declares a call of an internal action: the phone number of a person",
        Refused("pending_approval"),
        |_| {
            let number = json!({ "capability": "svc.phone-binding", "action": "number" });
            with_script(&json!({ "id": "invokes_internal", "invokes": [number] }))
        },
    ),
    Attack::new(
        "invokes_write",
        "declares a call that writes in its caller's name",
        Refused("pending_approval"),
        |_| {
            let update = json!({ "capability": "owners", "action": "update_profile" });
            with_script(&json!({ "id": "invokes_write", "invokes": [update] }))
        },
    ),
    Attack::new(
        "invokes_itself",
        "declares a call of its own action",
        Refused("bad_descriptor"),
        |_| {
            let own = json!({ "capability": "invokes_itself", "action": "act" });
            with_script(&json!({ "id": "invokes_itself", "invokes": [own] }))
        },
    ),
    Attack::new(
        "listens_to_claims",
        "subscribes to a sensitive event of another",
        Refused("pending_approval"),
        |_| with_subscription("listens_to_claims", "identity.claimed"),
    ),
    Attack::new(
        "listens_to_the_host",
        "subscribes to a sensitive event of the host",
        Refused("pending_approval"),
        |_| with_subscription("listens_to_the_host", "sms.undeliverable"),
    ),
    Attack::new(
        "foreign_namespace",
        "publishes events in the namespace of another",
        Refused("namespace_taken"),
        |_| with_script(&json!({ "id": "foreign_namespace", "publishes": ["pairing.replied"] })),
    ),
    Attack::new(
        "new_type_in_a_namespace",
        "publishes a new type of event in the namespace of another",
        Refused("namespace_taken"),
        |_| with_script(&json!({ "id": "new_type_in_a_namespace", "publishes": ["credits.gift"] })),
    ),
    Attack::new(
        "shipped_namespace",
        "publishes events in the namespace of a shipped capability that this host does not have",
        Refused("namespace_taken"),
        |_| with_script(&json!({ "id": "shipped_namespace", "publishes": ["meeting.moved"] })),
    ),
    Attack::new(
        "event_of_the_host",
        "publishes an event of the host",
        Refused("bad_descriptor"),
        |_| with_script(&json!({ "id": "event_of_the_host", "publishes": ["catalog.changed"] })),
    ),
    Attack::new(
        "always_delivered",
        "publishes an event of a family that no rule of a person stops",
        Refused("bad_descriptor"),
        |_| with_script(&json!({ "id": "always_delivered", "publishes": ["approval.requested"] })),
    ),
    Attack::new(
        "always_delivered_identity",
        "publishes an event that reads like a sign-in",
        Refused("bad_descriptor"),
        |_| {
            with_script(
                &json!({ "id": "always_delivered_identity", "publishes": ["identity.claimed"] }),
            )
        },
    ),
    Attack::new(
        "unassigned_role",
        "declares the role of phone verification, which is another's",
        Harmless(
            "loaded without the role: people still verify with `svc.phone-binding`",
            |observed| {
                let own = |row: &&Value| row["role"] == "phone_verification";
                let role = observed.status["roles"].as_array().into_iter().flatten().find(own);
                let claim = &observed.registered["claim"]["capability"];
                match role.is_some_and(|row| row["id"] == "svc.phone-binding") {
                    true if claim == "svc.phone-binding" => Ok(()),
                    _ => Err(format!("the role is at {role:?}, and a claim at {claim}")),
                }
            },
        ),
        |_| {
            let action = |name: &str| json!({ "name": name, "access": "open", "operations": [] });
            let names = [
                "act",
                "bind",
                "resend",
                "verify",
                "adopted",
                "signed_in",
                "signed_out",
                "passkeys_changed",
                "erased",
            ];
            with_script(&json!({
                "id": "unassigned_role",
                "roles": ["phone_verification"],
                "actions": names.map(action),
            }))
        },
    ),
    Attack::new(
        "unknown_role",
        "declares a role that the host does not have",
        Refused("bad_descriptor"),
        |_| with_script(&json!({ "id": "unknown_role", "roles": ["administrator"] })),
    ),
];

fn with_subscription(id: &str, event_type: &str) -> Vec<u8> {
    let due = json!({ "name": "due", "access": "internal", "operations": [] });
    let act = json!({ "name": "act", "access": "read", "operations": [] });
    let subscription = json!({ "type": event_type, "action": "due" });
    with_script(&json!({ "id": id, "actions": [act, due], "subscriptions": [subscription] }))
}
