//! Makes the descriptor from the script. Parts that the script leaves out have a harmless default:
//! one action `act` with the access `write`, which performs the script's own operations.

use crate::script::{json, list, text, text_or, texts};
use portolan_sdk::contract::{
    Descriptor,
    description::{
        Access, Action, Annotation, Collection, Erasure, Error, ErrorKind, Index, Invocation,
        Person, Prompt, PromptArgument, Publication, StateMachine, Status, Subscription,
        Transition,
    },
};
use serde_json::{Value, json as value};

pub(crate) fn descriptor(script: &Value) -> Descriptor {
    let publishes: Vec<_> = list(&script["publishes"]).map(|entry| publication(&entry)).collect();
    let action = |entry: Value| action(&entry, &publishes);
    Descriptor {
        id: text_or(&script["id"], "hostile"),
        version: text_or(&script["version"], "1.0.0"),
        title: text_or(&script["title"], "Hostile"),
        summary: text_or(&script["summary"], "Does harm."),
        description: text_or(&script["description"], "Does harm."),
        tags: texts(&script["tags"]),
        status: Status::Stable,
        sunset_at: script["sunset_at"].as_u64(),
        successor: script.get("successor").map(text),
        actions: list(&actions(script)).map(action).collect(),
        default_action: script.get("default_action").map(text),
        errors: list(&script["errors"]).map(|entry| error(&entry)).collect(),
        collections: list(&script["collections"]).map(|entry| collection(&entry)).collect(),
        invokes: list(&script["invokes"])
            .map(|entry| Invocation {
                capability: text(&entry["capability"]),
                action: text(&entry["action"]),
            })
            .collect(),
        subscriptions: list(&script["subscriptions"])
            .map(|entry| Subscription {
                event_type: text(&entry["type"]),
                action: text(&entry["action"]),
            })
            .collect(),
        state_machines: list(&script["state_machines"]).map(|entry| machine(&entry)).collect(),
        roles: texts(&script["roles"]),
        prompts: list(&script["prompts"]).map(|entry| prompt(&entry)).collect(),
        annotations: list(&script["annotations"])
            .map(|entry| Annotation { key: text(&entry["key"]), value: json(&entry["value"]) })
            .collect(),
        publishes,
    }
}

/// Returns the script's list of actions.
pub(crate) fn actions(script: &Value) -> Value {
    script.get("actions").cloned().unwrap_or_else(|| {
        value!([{ "name": "act", "access": script["access"], "operations": script["operations"] }])
    })
}

/// Returns an action that may publish every event of the capability.
fn action(entry: &Value, publishes: &[Publication]) -> Action {
    let schema = |schema: &Value, default: Value| match schema {
        Value::Null => default.to_string(),
        schema => json(schema),
    };
    Action {
        name: text(&entry["name"]),
        title: text_or(&entry["title"], "Act"),
        description: text_or(&entry["description"], "Does harm."),
        access: match entry["access"].as_str() {
            Some("read") => Access::Read,
            Some("events") => Access::Events,
            Some("open") => Access::Open,
            Some("internal") => Access::Internal,
            _ => Access::Write,
        },
        input: schema(&entry["input"], value!({ "type": "object" })),
        output: schema(&entry["output"], value!({})),
        idempotent: false,
        destructive: false,
        cost_credits: 0,
        errors: texts(&entry["errors"]),
        emits: publishes.iter().map(|published| published.event_type.clone()).collect(),
        callers: texts(&entry["callers"]),
        examples: list(&entry["examples"]).map(|example| json(&example)).collect(),
        deprecated: entry.get("deprecated").map(text),
        annotations: Vec::new(),
    }
}

fn error(entry: &Value) -> Error {
    Error {
        code: text(&entry["code"]),
        kind: ErrorKind::Conflict,
        retryable: false,
        description: text_or(&entry["description"], "Refused."),
    }
}

fn publication(entry: &Value) -> Publication {
    Publication { event_type: text(entry), sensitive: false }
}

/// Returns a collection whose documents name people in the fields `owner` and `agent`.
fn collection(entry: &Value) -> Collection {
    let person = |path: &str| Person {
        path: path.to_owned(),
        erasure: Erasure::DeleteDocument,
        fields: Vec::new(),
    };
    Collection {
        name: text(&entry["name"]),
        indexes: list(&entry["indexes"])
            .map(|index| Index {
                name: text(&index["name"]),
                paths: texts(&index["paths"]),
                unique: index["unique"] == true,
            })
            .collect(),
        text: texts(&entry["text"]),
        geo: None,
        version: 1,
        people: Some(vec![person("owner"), person("agent")]),
        annotations: Vec::new(),
    }
}

fn machine(entry: &Value) -> StateMachine {
    StateMachine {
        name: text(&entry["name"]),
        states: texts(&entry["states"]),
        transitions: list(&entry["transitions"])
            .map(|transition| Transition {
                action: text(&transition["action"]),
                from: texts(&transition["from"]),
                to: texts(&transition["to"]),
                role: None,
            })
            .collect(),
    }
}

fn prompt(entry: &Value) -> Prompt {
    Prompt {
        name: text(&entry["name"]),
        title: text_or(&entry["title"], "Ask"),
        description: text_or(&entry["description"], "Asks."),
        arguments: list(&entry["arguments"])
            .map(|argument| PromptArgument {
                name: text(&argument["name"]),
                description: text_or(&argument["description"], "Something."),
                required: false,
            })
            .collect(),
        text: text_or(&entry["text"], "Ask."),
        requires: Vec::new(),
    }
}
