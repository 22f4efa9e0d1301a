//! Existing documents are indexed anew when a new version of their capability
//! declares other indexes.

use crate::harness::{Agent, Host, Options, Process, hostile::with_script, postgres};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering},
};

/// A long time limit, so that ordinary calls succeed on a slow machine too.
const PATIENT: &str = "[limits]\ncall_wall_time_ms = 20000\n";
/// The number of documents that one call of `fill` writes.
const FILL: u64 = 1_000;

/// Returns the component with an index over `shelf`, and with a unique one over `code` if
/// `with_codes`.
fn shelf_component(version: &str, with_codes: bool) -> Vec<u8> {
    let mut indexes = vec![json!({ "name": "shelf", "paths": ["shelf"] })];
    if with_codes {
        indexes.push(json!({ "name": "code", "paths": ["code"], "unique": true }));
    }
    let put = |id: &str, code: &str, times: u64| {
        let body = json!({ "shelf": "first", "code": code });
        json!({ "op": "put", "collection": "things", "id": id, "body": body, "times": times })
    };
    let action =
        |name: String, operation: Value| json!({ "name": name, "operations": [operation] });
    let count = |filter: Value| {
        let mut count = json!({ "op": "count", "collection": "things" });
        if !filter.is_null() {
            count["filter"] = filter;
        }
        count
    };
    let mut actions: Vec<Value> = (0..20)
        .map(|part| {
            let name = format!("{part}_{{n}}");
            action(format!("fill_{part}"), put(&name, &name, FILL))
        })
        .collect();
    actions.extend((0..50).map(|part| {
        let name = format!("new_{part}");
        action(format!("write_{part}"), put(&name, &name, 1))
    }));
    actions.push(action("twin".into(), put("twin", "0_7", 1)));
    actions.push(action("count".into(), count(Value::Null)));
    actions.push(action("find".into(), count(json!({ "code": { "eq": "new_3" } }))));
    with_script(&json!({
        "id": "shelf", "version": version, "actions": actions,
        "collections": [{ "name": "things", "indexes": indexes }],
    }))
}

fn options() -> Options {
    let mut options = Options::with(&[]);
    options.components.push(("shelf.wasm".into(), shelf_component("1.0.0", false)));
    options.configuration(PATIENT)
}

async fn sqlite_host() -> Host {
    Host::start(options()).await
}

async fn postgres_host() -> Host {
    Host::start(options().postgres(&postgres::database().await)).await
}

mod on_sqlite {
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn documents_are_reindexed_while_writes_go_on() {
        super::documents_are_reindexed_while_writes_go_on(super::sqlite_host().await).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn documents_that_do_not_fit_a_new_index_refuse_the_component() {
        super::documents_that_do_not_fit_a_new_index_refuse_the_component(
            super::sqlite_host().await,
        )
        .await;
    }
}

mod on_postgres {
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn documents_are_reindexed_while_writes_go_on() {
        super::documents_are_reindexed_while_writes_go_on(super::postgres_host().await).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn documents_that_do_not_fit_a_new_index_refuse_the_component() {
        super::documents_that_do_not_fit_a_new_index_refuse_the_component(
            super::postgres_host().await,
        )
        .await;
    }
}

/// Calls an action, and returns the report of its one operation.
async fn call_operation(agent: &Agent<'_>, action: &str) -> Value {
    agent.result("shelf", json!({ "action": action })).await["operations"][0].clone()
}

async fn fill(agent: &Agent<'_>, parts: u64) {
    for part in 0..parts {
        let report = call_operation(agent, &format!("fill_{part}")).await;
        assert_eq!(report["done"], FILL, "{report}");
    }
}

async fn count(agent: &Agent<'_>) -> u64 {
    call_operation(agent, "count").await["last"].as_str().unwrap().parse().unwrap()
}

async fn documents_are_reindexed_while_writes_go_on(host: Host) {
    let agent = host.claimed_agent().await;
    fill(&agent, 20).await;
    assert_eq!(
        call_operation(&agent, "find").await["done"],
        0,
        "there is no index over the code yet"
    );
    let stop = AtomicBool::new(false);
    // After each write, the number of documents indexed so far is recorded. Two such numbers
    // show that a write ended between them, while documents were being indexed.
    let writes = async {
        let (mut written, mut indexed) = (0, BTreeSet::new());
        while !stop.load(Ordering::Relaxed) {
            let report = call_operation(&agent, &format!("write_{}", written % 50)).await;
            assert_eq!(report["done"], 1, "{report}");
            written += 1;
            indexed.extend(host.status().await["migrations"][0]["migrated"].as_u64());
        }
        (written, indexed)
    };
    let index = async {
        host.drop_in("shelf.wasm", &shelf_component("1.1.0", true));
        host.wait_for_version("shelf", "1.1.0").await;
        stop.store(true, Ordering::Relaxed);
    };
    let ((written, indexed), ()) = tokio::join!(writes, index);
    assert!(indexed.len() > 1, "no write ended while documents were indexed: {indexed:?}");
    assert_eq!(count(&agent).await, 20_000 + 50.min(written));
    assert_eq!(call_operation(&agent, "find").await["last"], "1");
    let twin = call_operation(&agent, "twin").await;
    assert!(twin["refusal"].as_str().unwrap().contains("Duplicate"), "{twin}");
    assert_eq!(host.status().await["migrations"], json!([]));
    assert_eq!(host.operate("/documents").await.body["documents"], json!([]));
}

async fn documents_that_do_not_fit_a_new_index_refuse_the_component(host: Host) {
    let agent = host.claimed_agent().await;
    fill(&agent, 1).await;
    assert_eq!(call_operation(&agent, "twin").await["done"], 1);
    host.drop_in("shelf.wasm", &shelf_component("1.1.0", true));
    let row = host.wait_for_refusal("shelf.wasm").await;
    assert_eq!(row["reason"], "documents_do_not_fit", "{row}");
    let message = row["message"].as_str().unwrap();
    assert!(message.contains("the same value of a unique index"), "{message}");
    assert_eq!(row["still_serving"], "1.0.0");
    // Nothing is quarantined, and writes go on.
    assert_eq!(host.operate("/documents").await.body["documents"], json!([]));
    assert_eq!(call_operation(&agent, "write_3").await["done"], 1);
    assert_eq!(count(&agent).await, FILL + 2);
    let filling = "SELECT name FROM collections WHERE state = 'filling'
                   OR followed_by IS NOT NULL OR fenced_until > 0";
    assert_eq!(host.database().texts(filling).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn indexing_goes_on_after_a_kill() {
    // The indexing of few documents may end before it is seen.
    let (mut host, mut parts) = (Process::start(options()), 5);
    loop {
        let agent = host.claimed_agent().await;
        fill(&agent, parts).await;
        drop(agent);
        host.drop_in("shelf.wasm", &shelf_component("1.1.0", true));
        if host.sees_migration("shelf", "1.1.0").await {
            break;
        }
        (host, parts) = (Process::start(options()), parts * 2);
    }
    host.signal("KILL");
    let (_, folder) = host.wait();
    host = Process::start_in(folder);
    host.wait_for_version("shelf", "1.1.0").await;
    let agent = host.claimed_agent().await;
    assert_eq!(count(&agent).await, parts * FILL);
    let twin = call_operation(&agent, "twin").await;
    assert!(twin["refusal"].as_str().unwrap().contains("Duplicate"), "{twin}");
}
