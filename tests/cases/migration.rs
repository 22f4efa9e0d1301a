//! The migration of documents to another form when a new version of their capability is installed.

use crate::cases::personal::export;
use crate::harness::{Agent, Host, Options, PATIENCE, Process, Reply, component, postgres};
use serde_json::{Value, json};
use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

/// A long time limit, so that ordinary calls succeed on a slow machine too.
const PATIENT: &str = "[limits]\ncall_wall_time_ms = 20000\n";

async fn sqlite_host() -> Host {
    Host::start(Options::with(&["library"]).configuration(PATIENT)).await
}

async fn postgres_host() -> Host {
    let url = postgres::database().await;
    Host::start(Options::with(&["library"]).postgres(&url).configuration(PATIENT)).await
}

/// Makes each case a test on SQLite and a test on PostgreSQL.
macro_rules! on_both {
    ($($case:ident)*) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                super::$case(super::sqlite_host().await).await;
            })*
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                super::$case(super::postgres_host().await).await;
            })*
        }
    };
}

on_both! {
    documents_are_migrated_and_no_call_fails_meanwhile
    a_document_that_cannot_be_migrated_is_quarantined_until_it_is_repaired
    a_document_that_cannot_be_read_is_left_out_and_reported
    documents_of_another_version_refuse_a_component_that_cannot_migrate_them
    a_component_that_cannot_migrate_most_documents_changes_nothing
    documents_that_get_the_same_unique_value_are_few_or_refuse_the_component
    a_replaced_version_serves_again_only_if_nothing_was_written_since
}

async fn put(agent: &Agent<'_>, id: &str, title: &str, code: &str) {
    agent.result("library", put_body(id, title, code)).await;
}

fn put_body(id: &str, title: &str, code: &str) -> Value {
    json!({ "action": "put", "id": id, "title": title, "code": code })
}

/// Puts this number of books. A call puts few of them, because the machine may be busy.
async fn fill(agent: &Agent<'_>, from: u32, count: u32) {
    for begun in (0..count).step_by(250) {
        let count = 250.min(count - begun);
        let body = json!({ "action": "fill", "from": from + begun, "count": count });
        agent.result("library", body).await;
    }
}

async fn get(agent: &Agent<'_>, id: &str) -> Value {
    agent.result("library", json!({ "action": "get", "id": id })).await
}

async fn count(agent: &Agent<'_>) -> Value {
    agent.result("library", json!({ "action": "count" })).await["count"].clone()
}

async fn install_next(host: &Host) {
    host.drop_in("library.wasm", &component("library_next"));
    host.wait_for_version("library", "2.0.0").await;
}

/// Returns the ids of the documents in quarantine, each with whether it was removed
/// from its collection.
async fn quarantined(host: &Host) -> Vec<(String, bool)> {
    let documents = host.operate("/documents").await.body["documents"].clone();
    let row =
        |row: &Value| (row["id"].as_str().unwrap().to_owned(), row["removed"].as_bool().unwrap());
    documents.as_array().unwrap().iter().map(row).collect()
}

fn document_path(id: &str) -> String {
    format!("/documents/document?capability=library&collection=books&id={id}")
}

async fn documents_are_migrated_and_no_call_fails_meanwhile(host: Host) {
    let agent = host.claimed_agent().await;
    for from in [0, 1000] {
        fill(&agent, from, 1000).await;
    }
    put(&agent, "moving", "a", "taken in turns").await;
    let removed = json!({ "action": "remove", "id": "book_00000007" });
    agent.result("library", removed).await;
    let stop = AtomicBool::new(false);
    let writes = async {
        let mut written = 0;
        while !stop.load(Ordering::Relaxed) {
            // New documents, changed ones, and a unique code that passes between two documents.
            let (new, other) = (format!("new_{written}"), written % 2);
            put(&agent, &new, "new", &new).await;
            put(&agent, "book_00000001", &format!("changed {written}"), "code 1").await;
            let (holder, free) = (format!("turn_{other}"), format!("turn_{}", 1 - other));
            put(&agent, &free, "free", &free).await;
            put(&agent, &holder, "holder", "in turns").await;
            get(&agent, "book_00001999").await;
            written += 1;
        }
        written
    };
    let migrate = async {
        install_next(&host).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
        stop.store(true, Ordering::Relaxed);
    };
    let (written, ()) = tokio::join!(writes, migrate);
    assert!(written > 1, "{written}");
    assert_eq!(quarantined(&host).await, []);
    assert_eq!(count(&agent).await, 2000 + 2 + written);
    assert_eq!(get(&agent, "book_00000001").await["text"], format!("changed {}", written - 1));
    assert_eq!(get(&agent, "book_00001999").await["revision"], 1);
    let gone = json!({ "action": "get", "id": "book_00000007" });
    agent.call("library", gone).await.assert_refused(404, "book_not_found");
    let taken = put_body("another", "t", "code 1");
    agent.call("library", taken).await.assert_refused(409, "code_taken");
    let status = host.status().await;
    assert_eq!(status["migrations"], json!([]));
}

async fn a_document_that_cannot_be_migrated_is_quarantined_until_it_is_repaired(host: Host) {
    const KEEPER: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";
    let registered = host.register().await;
    host.claim_for(registered["agent_id"].as_str().unwrap(), KEEPER).await;
    let token = host.token_of(&registered, "svc.read svc.write").await;
    let agent = Agent { host: &host, token };
    fill(&agent, 0, 10).await;
    put(&agent, "bad", "broken", "bad").await;
    put(&agent, "worse", "broken", "worse").await;
    install_next(&host).await;
    assert_eq!(count(&agent).await, 10);
    let expected = [("bad".to_owned(), true), ("worse".to_owned(), true)];
    assert_eq!(quarantined(&host).await, expected);
    let shown = host.operate(&document_path("bad")).await.body;
    let document = &shown["document"];
    assert_eq!((&document["title"], &document["code"]), (&json!("broken"), &json!("bad")));
    // The export of the person named in a quarantined document contains it.
    let exported = export(&host, KEEPER).await;
    let has = |id: &str| exported.text.contains(&format!("\"id\":\"{id}\""));
    assert!(has("bad") && has("worse"), "{}", exported.text);
    assert!(exported.text.contains(r#""quarantine_reason":"it is broken""#), "{}", exported.text);
    assert_eq!((&shown["version"], &shown["reason"]), (&json!(1), &json!("it is broken")));
    // A repair that a call could not write is refused, and the document stays in quarantine.
    let taken = json!({ "name": "Mended", "code": "code 3" });
    repair(&host, "bad", &taken).await.assert_refused(400, "validation_failed");
    let reply = repair(&host, "bad", &json!({ "name": "Mended", "code": "bad" })).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert_eq!(get(&agent, "bad").await["text"], "Mended");
    let url = format!("{}{}", host.admin_url, document_path("worse"));
    let dropped = host.operator.delete(&url).send().await.unwrap();
    assert_eq!(dropped.status(), 200);
    assert_eq!(quarantined(&host).await, []);
    Reply::read(host.operator.delete(&url).send().await.unwrap())
        .await
        .assert_refused(404, "not_found");
}

async fn repair(host: &Host, id: &str, document: &Value) -> Reply {
    let url = format!("{}{}", host.admin_url, document_path(id));
    Reply::read(host.operator.put(url).json(document).send().await.unwrap()).await
}

async fn a_document_that_cannot_be_read_is_left_out_and_reported(host: Host) {
    let agent = host.claimed_agent().await;
    fill(&agent, 0, 10).await;
    put(&agent, "strange", "odd", "strange").await;
    install_next(&host).await;
    assert_eq!(count(&agent).await, 10);
    let started = Instant::now();
    while quarantined(&host).await.is_empty() {
        assert!(started.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(quarantined(&host).await, [("strange".to_owned(), false)]);
    let body = json!({ "action": "get", "id": "strange" });
    agent.call("library", body).await.assert_refused(500, "internal_error");
    // The text of the document is not in the reason.
    let reason = host.operate(&document_path("strange")).await.body["reason"].clone();
    assert!(!reason.as_str().unwrap().contains("number"), "{reason}");
    // A new version of the document ends the quarantine.
    put(&agent, "strange", "readable", "strange").await;
    assert_eq!(quarantined(&host).await, []);
    assert_eq!(count(&agent).await, 11);
}

async fn documents_of_another_version_refuse_a_component_that_cannot_migrate_them(host: Host) {
    let agent = host.claimed_agent().await;
    host.drop_in("library.wasm", &component("library_next"));
    // There is nothing to migrate.
    host.wait_for_version("library", "2.0.0").await;
    fill(&agent, 0, 3).await;
    host.drop_in("library.wasm", &component("library"));
    let refused = host.wait_for_refusal("library.wasm").await;
    assert_eq!(refused["reason"], "documents_of_other_version", "{refused}");
    assert_eq!(refused["still_serving"], "2.0.0");
    assert!(refused["message"].as_str().unwrap().contains("3 documents of version 2"), "{refused}");
    assert_eq!(get(&agent, "book_00000002").await["text"], "Title 2");
}

async fn a_component_that_cannot_migrate_most_documents_changes_nothing(host: Host) {
    let agent = host.claimed_agent().await;
    fill(&agent, 0, 1).await;
    put(&agent, "bad", "broken", "bad").await;
    put(&agent, "worse", "broken", "worse").await;
    host.drop_in("library.wasm", &component("library_next"));
    let refused = host.wait_for_refusal("library.wasm").await;
    assert_eq!(refused["reason"], "migration_failed", "{refused}");
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains("2 of 3 documents") && message.contains("it is broken"), "{message}");
    assert_eq!(get(&agent, "bad").await["text"], "broken");
    put(&agent, "bad", "still written", "bad").await;
    assert_eq!(quarantined(&host).await, []);
}

async fn documents_that_get_the_same_unique_value_are_few_or_refuse_the_component(host: Host) {
    let agent = host.claimed_agent().await;
    for number in 0..250 {
        put(&agent, &format!("same_{number:03}"), "same", &format!("{number}")).await;
    }
    host.drop_in("library.wasm", &component("library_next"));
    let refused = host.wait_for_refusal("library.wasm").await;
    assert_eq!(refused["reason"], "migration_failed", "{refused}");
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains("249 documents of books, such as same_001"), "{message}");
    assert_eq!(get(&agent, "same_007").await["code"], "7");
    for number in 3..250 {
        put(&agent, &format!("same_{number:03}"), "other", &format!("{number}")).await;
    }
    install_next(&host).await;
    let expected = ["same_001", "same_002"].map(|id| (id.to_owned(), true));
    assert_eq!(quarantined(&host).await, expected);
}

async fn a_replaced_version_serves_again_only_if_nothing_was_written_since(host: Host) {
    let agent = host.claimed_agent().await;
    fill(&agent, 0, 20).await;
    install_next(&host).await;
    host.drop_in("library.wasm", &component("library"));
    host.wait_for_version("library", "1.0.0").await;
    assert_eq!(get(&agent, "book_00000002").await["text"], "Title 2");
    put(&agent, "more", "More", "more").await;
    install_next(&host).await;
    assert_eq!(count(&agent).await, 21);
    put(&agent, "since", "Since", "since").await;
    // The document is changed as if its call had begun long before the switch.
    host.database().execute("UPDATE documents SET updated_at = 0 WHERE id = 'since'").await;
    host.drop_in("library.wasm", &component("library"));
    let refused = host.wait_for_refusal("library.wasm").await;
    assert_eq!(refused["reason"], "documents_of_other_version", "{refused}");
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains("1 of them were written since version 1 was replaced"), "{message}");
    assert_eq!(count(&agent).await, 22);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_migration_goes_on_after_a_kill() {
    // A migration of few documents may end before it is seen.
    let (mut host, mut filled) = (Process::start(Options::with(&["library"])), 5);
    loop {
        let agent = host.claimed_agent().await;
        for from in 0..filled {
            fill(&agent, from * 1000, 1000).await;
        }
        drop(agent);
        host.drop_in("library.wasm", &component("library_next"));
        if host.sees_migration("library", "2.0.0").await {
            break;
        }
        (host, filled) = (Process::start(Options::with(&["library"])), filled * 2);
    }
    host.signal("KILL");
    let (_, folder) = host.wait();
    host = Process::start_in(folder);
    host.wait_for_version("library", "2.0.0").await;
    let agent = host.claimed_agent().await;
    assert_eq!(count(&agent).await, filled * 1000);
    assert_eq!(get(&agent, "book_00004999").await["text"], "Title 4999");
    assert_eq!(quarantined(&host).await, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retired_generation_is_removed_after_a_week() {
    let host = sqlite_host().await;
    let agent = host.claimed_agent().await;
    fill(&agent, 0, 300).await;
    install_next(&host).await;
    let rows = async || {
        let sql = "SELECT state || ' ' || count(d.id) FROM collections c
                   LEFT JOIN documents d ON d.collection = c.id
                   WHERE c.capability = 'library' GROUP BY c.id ORDER BY 1";
        host.database().texts(sql).await
    };
    assert_eq!(rows().await, ["retired 300", "serving 300"]);
    host.clock.advance(Duration::from_secs(8 * 24 * 3600));
    let started = Instant::now();
    while rows().await.len() > 1 {
        assert!(started.elapsed() < PATIENCE, "{:?}", rows().await);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(count(&agent).await, 300);
}
