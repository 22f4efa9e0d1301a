//! Attacks by what a component stores, publishes and schedules.

use crate::harness::hostile::{Attack, Expected::*, Observation, Scene, with_script};
use serde_json::{Value, json};

/// Small quotas of the components that try to exceed them.
pub const QUOTAS: &str = "
[quotas.document_flood]
documents = 500

[quotas.byte_flood]
bytes = 1000000

[quotas.timer_flood]
timers = 50

[quotas.inbox_flood]
inbox_events_per_minute = 50
[limits]
call_wall_time_ms = 15000
";

/// Returns a component with a collection of things and these operations.
fn with_things(id: &str, operations: Value) -> Vec<u8> {
    with_script(&json!({ "id": id, "collections": [things()], "operations": operations }))
}

fn things() -> Value {
    json!({ "name": "things", "indexes": [{ "name": "kind", "paths": ["kind"] }], "text": ["text"] })
}

fn put(id: Value, body: Value, times: u64) -> Value {
    json!({ "op": "put", "collection": "things", "id": id, "body": body, "times": times })
}

/// Returns a document with a text of this number of bytes.
fn large(bytes: u64) -> Value {
    json!({ "raw": ["{\"x\":\"", { "repeat": "x", "times": bytes }, "\"}"] })
}

fn with_query(id: &str, filter: Value) -> Vec<u8> {
    let find = json!({ "op": "find", "collection": "things", "filter": filter, "limit": 10 });
    with_things(id, json!([find]))
}

/// Returns a component that writes documents with indexed lists of this length.
fn with_indexed_lists(id: &str, count: usize, length: usize, documents: u64) -> Vec<u8> {
    let names: Vec<String> = (0..count).map(|place| format!("l{place}")).collect();
    let index = |name: &String| json!({ "name": name, "paths": [format!("{name}[]")] });
    let list: Vec<usize> = (0..length).collect();
    let body: serde_json::Map<_, _> =
        names.iter().map(|name| (name.clone(), json!(list))).collect();
    with_script(&json!({
        "id": id,
        "collections": [{ "name": "things", "indexes": names.iter().map(index).collect::<Vec<_>>() }],
        "operations": [put(json!("{n}"), Value::Object(body), documents)],
    }))
}

pub const DOCUMENTS: &[Attack] = &[
    Attack::new(
        "many_writes",
        "writes three thousand documents in one call",
        Operation("at most 1000"),
        |_| with_things("many_writes", json!([put(json!("{n}"), json!({}), 3_000)])),
    ),
    Attack::new(
        "document_flood",
        "writes more documents than its quota",
        Call(429, "quota_exceeded"),
        |_| with_things("document_flood", json!([put(json!("{n}"), json!({}), 600)])),
    ),
    Attack::new(
        "byte_flood",
        "writes more bytes than its quota",
        Call(429, "quota_exceeded"),
        |_| with_things("byte_flood", json!([put(json!("{n}"), large(200_000), 8)])),
    ),
    Attack::new(
        "write_flood",
        "writes more bytes in one call than its memory",
        Operation("the memory of a call"),
        |_| with_things("write_flood", json!([put(json!("{n}"), large(250_000), 120)])),
    ),
    Attack::new(
        "large_document",
        "writes a document of a megabyte",
        Operation("larger than 262144 bytes"),
        |_| with_things("large_document", json!([put(json!("x"), large(1_000_000), 1)])),
    ),
    Attack::new(
        "large_key",
        "writes a document with an id of a megabyte",
        Operation("1 to 128 bytes"),
        |_| {
            let id = json!({ "repeat": "a", "times": 1_000_000 });
            with_things("large_key", json!([put(id, json!({}), 1)]))
        },
    ),
    Attack::new(
        "foreign_collection",
        "writes into a collection of another",
        Operation("is not declared"),
        |scene| {
            let write = json!({
                "op": "put", "collection": "owners", "id": scene.witness_owner, "body": {},
            });
            with_things("foreign_collection", json!([write]))
        },
    ),
    Attack::new(
        "undeclared_person",
        "writes a person's id where it declares none",
        Operation("undeclared_person"),
        |scene| {
            let body = json!({ "note": { "about": scene.witness_owner } });
            with_things("undeclared_person", json!([put(json!("x"), body, 1)]))
        },
    ),
    Attack::new(
        "person_in_a_key",
        "writes a person's id as a key, on the way to a path that it declares",
        Operation("undeclared_person"),
        |scene| {
            let body = json!({ "of": { &scene.witness_owner: { "note": "x" } } });
            let person = json!({ "path": "of{}.who", "erasure": "delete_document" });
            with_script(&json!({
                "id": "person_in_a_key",
                "collections": [{ "name": "things", "people": [person] }],
                "operations": [put(json!("x"), body, 1)],
            }))
        },
    ),
    Attack::new(
        "person_in_an_id",
        "writes a document whose id contains the id of a person",
        Operation("undeclared_person"),
        |scene| {
            let id = json!(format!("note/{}", scene.witness_owner));
            with_things("person_in_an_id", json!([put(id, json!({}), 1)]))
        },
    ),
    Attack::new(
        "write_in_a_read",
        "writes in an action for reads",
        Operation("an action of access read changes nothing"),
        |_| {
            with_script(&json!({
                "id": "write_in_a_read",
                "access": "read",
                "collections": [things()],
                "operations": [put(json!("x"), json!({}), 1)],
            }))
        },
    ),
    Attack::new(
        "many_indexed_values",
        "writes a document with a thousand indexed values",
        Operation("at most 500 of one document"),
        |_| with_indexed_lists("many_indexed_values", 10, 100, 1),
    ),
    Attack::new(
        "many_index_rows",
        "writes sixty documents with 400 indexed values each",
        Operation("at most 20000 indexed values"),
        |_| with_indexed_lists("many_index_rows", 4, 100, 60),
    ),
    Attack::new(
        "large_index_rows",
        "declares fifty indexes of the same two texts, so that a document takes fifty times its size",
        Operation("declare fewer indexes"),
        |_| {
            let paths = [["a", "b"], ["b", "a"]];
            let index =
                |number: usize| json!({ "name": format!("i{number}"), "paths": paths[number % 2] });
            let body = json!({ "a": "x".repeat(480), "b": "y".repeat(480) });
            with_script(&json!({
                "id": "large_index_rows",
                "collections": [{ "name": "things", "indexes": (0..50).map(index).collect::<Vec<_>>() }],
                "operations": [put(json!("{n}"), body, 10)],
            }))
        },
    ),
    Attack::new(
        "many_elements",
        "writes a list of a hundred thousand elements into an index",
        Operation("at most 100 can be indexed"),
        |_| {
            let list =
                json!({ "raw": ["{\"tags\":[0", { "repeat": ",0", "times": 100_000 }, "]}"] });
            let index = json!({ "name": "tags", "paths": ["tags[]"] });
            with_script(&json!({
                "id": "many_elements",
                "collections": [{ "name": "things", "indexes": [index] }],
                "operations": [put(json!("x"), list, 1)],
            }))
        },
    ),
    Attack::new(
        "many_reads",
        "reads a hundred thousand documents in one call",
        Harmless("ended by the limit of reads or by the time limit", |observed| {
            let limited = observed.reply.text.contains("at most 10000 documents");
            match limited || observed.reply.body["error_code"] == "capability_timeout" {
                true => Ok(()),
                false => Err("it reads them all".to_owned()),
            }
        }),
        |_| {
            let get = json!({ "op": "get", "collection": "things", "id": "{n}", "times": 100_000 });
            with_things("many_reads", json!([get]))
        },
    ),
    Attack::new(
        "deep_filter",
        "asks with a filter that nests a hundred deep",
        Operation("Invalid"),
        |_| {
            let nots = json!({ "repeat": "{\"not\":", "times": 100 });
            let ends = json!({ "repeat": "}", "times": 100 });
            with_query("deep_filter", json!({ "raw": [nots, "{\"kind\":{\"eq\":1}}", ends] }))
        },
    ),
    Attack::new(
        "wide_filter",
        "asks with a filter of a hundred thousand values",
        Operation("Invalid"),
        |_| {
            let values = json!({ "repeat": ",{n}", "times": 100_000 });
            with_query("wide_filter", json!({ "raw": ["{\"kind\":{\"in\":[0", values, "]}}"] }))
        },
    ),
    Attack::new("sql_in_a_filter", "asks with SQL in a path", Operation("Invalid"), |_| {
        with_query("sql_in_a_filter", json!({ "kind' OR 1=1 --": { "eq": 1 } }))
    }),
];

fn with_event(id: &str, event: &Event<'_>) -> Vec<u8> {
    let Event { event_type, to, data, times } = event;
    let publish = json!({
        "op": "publish", "type": event_type, "to": to, "subject": "rain", "data": data,
        "times": times,
    });
    with_script(&json!({
        "id": id, "publishes": [format!("{id}.told")], "operations": [publish],
    }))
}

struct Event<'a> {
    event_type: &'a str,
    to: &'a str,
    data: Value,
    times: u64,
}

pub const EVENTS: &[Attack] = &[
    Attack::new(
        "undeclared_event",
        "publishes an event of another that it does not declare",
        Operation("does not declare that it emits"),
        |scene: &Scene| {
            let to = &scene.stranger_agent;
            let event = Event { event_type: "identity.claimed", to, data: json!({}), times: 1 };
            with_event("undeclared_event", &event)
        },
    ),
    Attack::new(
        "forged_event",
        "sends an event to a stranger, with another source, type and time in its data",
        Harmless(
            "it arrives with its own type, and the host's source",
            |observed: &Observation| {
                let own = |event: &&Value| event["type"] == "forged_event.told";
                let Some(event) = observed.stranger_inbox.iter().find(own) else {
                    return Err("it does not arrive".to_owned());
                };
                let source = event["source"].as_str().unwrap_or_default();
                match source.ends_with("/v1") && event["data"]["source"] == "https://bank.example" {
                    true => Ok(()),
                    false => Err(format!("it arrives as {event}")),
                }
            },
        ),
        |scene| {
            let data = json!({
                "source": "https://bank.example", "type": "identity.claimed", "id": "evt_1",
                "time": "1970-01-01T00:00:00Z", "specversion": "9",
            });
            let (event_type, to) = ("forged_event.told", scene.stranger_agent.as_str());
            with_event("forged_event", &Event { event_type, to, data, times: 1 })
        },
    ),
    Attack::new(
        "inbox_flood",
        "sends a stranger more events in a minute than its quota",
        Call(429, "quota_exceeded"),
        |scene| {
            let (event_type, to) = ("inbox_flood.told", scene.stranger_agent.as_str());
            with_event("inbox_flood", &Event { event_type, to, data: json!({}), times: 60 })
        },
    ),
    Attack::new(
        "event_flood",
        "publishes a thousand events in one call",
        Operation("at most 100 events"),
        |_| {
            let (event_type, to) = ("event_flood.told", "capabilities");
            with_event("event_flood", &Event { event_type, to, data: json!({}), times: 1_000 })
        },
    ),
    Attack::new(
        "large_event",
        "publishes an event of a megabyte",
        Operation("at most 20000 bytes"),
        |_| {
            let (event_type, to) = ("large_event.told", "capabilities");
            with_event("large_event", &Event { event_type, to, data: large(1_000_000), times: 1 })
        },
    ),
];

fn with_timer_action(id: &str, timer: Value) -> Vec<u8> {
    let due = json!({ "name": "due", "access": "internal", "operations": [] });
    let act = json!({ "name": "act", "operations": [timer] });
    with_script(&json!({ "id": id, "actions": [act, due] }))
}

fn timer(action: &str, times: u64) -> Value {
    json!({
        "op": "timer", "name": "t{n}", "after_ms": 86_400_000, "action": action, "input": {},
        "times": times,
    })
}

pub const TIMERS: &[Attack] = &[
    Attack::new(
        "many_timers",
        "sets a thousand timers in one call",
        Operation("at most 100 timers"),
        |_| with_timer_action("many_timers", timer("due", 1_000)),
    ),
    Attack::new(
        "timer_flood",
        "sets more timers than its quota",
        Call(429, "quota_exceeded"),
        |_| with_timer_action("timer_flood", timer("due", 60)),
    ),
    Attack::new(
        "timer_for_another",
        "sets a timer for an action of another capability",
        Operation("is not an internal action"),
        |_| with_timer_action("timer_for_another", timer("complete_change", 1)),
    ),
    Attack::new(
        "timer_for_a_write",
        "sets a timer for an action that only agents may call",
        Operation("is not an internal action"),
        |_| with_timer_action("timer_for_a_write", timer("act", 1)),
    ),
    Attack::new(
        "timer_without_end",
        "sets a timer for the last millisecond that a number can hold",
        Operation("is after the year 9999"),
        |_| {
            let set = json!({
                "op": "timer", "name": "last", "at": u64::MAX, "action": "due", "input": {},
            });
            with_timer_action("timer_without_end", set)
        },
    ),
    Attack::new(
        "timer_chain",
        "sets a timer that is due at once and sets itself again, for ever",
        Harmless("it takes turns with the timers of others", |observed| {
            let report = &observed.reply.body["result"]["operations"][0];
            if report["done"] == 1 { Ok(()) } else { Err(format!("it is not set: {report}")) }
        }),
        |_| {
            let set = json!({
                "op": "timer", "name": "again", "after_ms": 0, "action": "due", "input": {},
            });
            let due = json!({ "name": "due", "access": "internal", "operations": [set] });
            let act = json!({ "name": "act", "operations": [set] });
            with_script(&json!({ "id": "timer_chain", "actions": [act, due] }))
        },
    ),
    Attack::new(
        "large_timer",
        "sets a timer with a name of a megabyte",
        Operation("1 to 128 bytes"),
        |_| {
            let name = json!({ "repeat": "a", "times": 1_000_000 });
            let set = json!({
                "op": "timer", "name": name, "after_ms": 0, "action": "due", "input": {},
            });
            with_timer_action("large_timer", set)
        },
    ),
];
