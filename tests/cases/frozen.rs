//! Components that were built for version 2.0.0 of the contract. They are committed as files and
//! not built with the host, and every later host must load and run them.

use crate::harness::{Host, Options, hostile::embed_script};
use serde_json::{Value, json};

fn frozen(name: &str) -> Vec<u8> {
    let file = format!("{}/../../tests/frozen/{name}.wasm", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&file).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_with_the_first_sdk_works() {
    let mut options = Options::with(&[]);
    options.components.push(("notes.wasm".to_owned(), frozen("notes")));
    let host = Host::start(options).await;
    let agent = host.claimed_agent().await;
    for words in ["about the sea", "about the mountains"] {
        let id = words.rsplit(' ').next().unwrap();
        let note = json!({ "title": words, "body": words });
        agent.result("notes", json!({ "action": "put", "id": id, "note": note })).await;
    }
    let found = agent.result("notes", json!({ "action": "find", "text": "mountains" })).await;
    assert_eq!(found["items"].as_array().unwrap().len(), 1, "{found:#}");
    let get = |id: &str| json!({ "action": "get", "id": id });
    agent.result("notes", get("sea")).await;
    agent.call("notes", get("lake")).await.assert_refused(404, "note_not_found");
    let opened = agent.result("notes", json!({ "action": "seal_open", "text": "a secret" })).await;
    assert!(opened.to_string().contains("a secret"), "{opened:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_function_of_the_contract_is_there() {
    let due = json!({ "name": "due", "access": "internal", "operations": [] });
    let operations = json!([
        { "op": "log", "text": "a line" },
        { "op": "random", "bytes": 8 },
        { "op": "new_id", "prefix": "thg" },
        { "op": "caller" },
        { "op": "put", "collection": "things", "id": "one", "body": { "kind": "a", "text": "sea" } },
        { "op": "get", "collection": "things", "id": "one" },
        { "op": "find", "collection": "things", "filter": { "kind": { "eq": "a" } }, "limit": 10 },
        { "op": "delete", "collection": "things", "id": "one" },
        { "op": "publish", "type": "frozen.told", "to": "all", "subject": "one", "data": {} },
        { "op": "timer", "name": "soon", "after_ms": 60_000, "action": "due", "input": {} },
        { "op": "invoke", "capability": "greeter", "action": "greet", "input": { "name": "Ada" } },
    ]);
    let act = json!({ "name": "act", "operations": operations });
    let things = json!({
        "name": "things", "indexes": [{ "name": "kind", "paths": ["kind"] }], "text": ["text"],
    });
    let script = json!({
        "id": "frozen",
        "actions": [act, due],
        "collections": [things],
        "publishes": ["frozen.told"],
        "invokes": [{ "capability": "greeter", "action": "greet" }],
    });
    let mut options = Options::with(&["greeter"])
        .configuration("[grants]\nfrozen = [\"invoke:greeter.greet\"]\n");
    options.components.push(("frozen.wasm".to_owned(), embed_script(frozen("hostile"), &script)));
    let host = Host::start(options).await;
    let agent = host.claimed_agent().await;
    let done = agent.result("frozen", json!({ "action": "act" })).await;
    let reports = done["operations"].as_array().unwrap();
    assert_eq!(reports.len(), operations.as_array().unwrap().len());
    let failed: Vec<&Value> = reports.iter().filter(|report| report["done"] != 1).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}
