//! The life of a file in the catalog folder.

use crate::harness::{Host, Options, PATIENCE, Process, component, patched, template_copies};
use serde_json::json;
use std::collections::BTreeMap;

#[tokio::test(flavor = "multi_thread")]
async fn a_component_is_dropped_in_replaced_and_removed() {
    let host = Host::with(&[]).await;
    let agent = host.agent().await;
    let greet = json!({ "action": "greet", "name": "Ada" });
    agent.call("greeter", greet.clone()).await.assert_refused(404, "unknown_capability");
    // The file is copied into the folder, not renamed.
    std::fs::write(host.catalog().join("greeter.wasm"), component("greeter")).unwrap();
    host.wait_for_version("greeter", "1.2.0").await;
    assert_eq!(agent.result("greeter", greet.clone()).await["text"], "Hello, Ada!");
    let newer = patched(&component("greeter"), &[("Hello, ", "Howdy, "), ("1.2.0", "1.3.0")]);
    host.drop_in("greeter.wasm", &newer);
    host.wait_for_version("greeter", "1.3.0").await;
    assert_eq!(agent.result("greeter", greet.clone()).await["text"], "Howdy, Ada!");
    std::fs::remove_file(host.catalog().join("greeter.wasm")).unwrap();
    host.wait_for("removal", |status| status["loaded"] == json!([])).await;
    agent.call("greeter", greet).await.assert_refused(404, "unknown_capability");
    assert_eq!(host.get("/v1/capabilities").await.body["catalog_version"], 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn breaking_changes_are_reported() {
    let host = Host::with(&["template"]).await;
    let newer = patched(&component("template"), &[("bravo", "gamma"), ("1.2.0", "1.2.1")]);
    host.drop_in("template.wasm", &newer);
    host.wait_for_version("template_000", "1.2.1").await;
    let change = &host.status().await["changes"][0];
    assert_eq!((&change["from"], &change["to"]), (&json!("1.2.0"), &json!("1.2.1")));
    assert_eq!(change["breaking"], json!(["action bravo is removed"]));
    assert_eq!(change["unannounced"], true);
    let announced = patched(&component("template"), &[("bravo", "delta"), ("1.2.0", "2.0.0")]);
    host.drop_in("template.wasm", &announced);
    host.wait_for_version("template_000", "2.0.0").await;
    let change = &host.status().await["changes"][0];
    assert_eq!(
        (&change["breaking"], &change["unannounced"]),
        (&json!(["action gamma is removed"]), &json!(false))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_with_unchanged_components_compiles_nothing() {
    let host = Process::start(Options { components: template_copies(30), ..Options::default() });
    let catalog = host.get("/v1/capabilities").await;
    assert_eq!(catalog.body["count"], 30);
    let artifacts = |folder: &std::path::Path| -> BTreeMap<_, _> {
        let entries = std::fs::read_dir(folder.join("data/artifacts")).unwrap();
        entries
            .map(|entry| entry.unwrap())
            .map(|entry| (entry.file_name(), entry.metadata().unwrap().modified().unwrap()))
            .collect()
    };
    let before = artifacts(host.folder.path());
    assert_eq!(before.len(), 30);
    host.signal("TERM");
    let (status, folder) = host.wait();
    assert!(status.success());
    let host = Process::start_in(folder);
    assert_eq!(artifacts(host.folder.path()), before);
    // The catalog is the same as before: its version, its bytes, its ETag.
    let again = host.get("/v1/capabilities").await;
    assert_eq!(again.text, catalog.text);
    assert_eq!(again.header("etag"), catalog.header("etag"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_artifact_is_compiled_again() {
    let host = Process::with(&["greeter"]);
    host.signal("TERM");
    let (_, folder) = host.wait();
    for entry in std::fs::read_dir(folder.path().join("data/artifacts")).unwrap() {
        std::fs::write(entry.unwrap().path(), b"\x7fELF and then nothing").unwrap();
    }
    let host = Process::start_in(folder);
    assert_eq!(host.agent().await.call("greeter", json!({ "action": "people" })).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_artifact_with_flipped_bits_is_compiled_again() {
    let host = Process::with(&["greeter"]);
    host.signal("TERM");
    let (_, folder) = host.wait();
    let mut damaged = 0;
    for entry in std::fs::read_dir(folder.path().join("data/artifacts")).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        for bit in 0..40 {
            let at = bytes.len() * (bit + 1) / 42;
            bytes[at] ^= 1 << (bit % 8);
        }
        std::fs::write(path, bytes).unwrap();
        damaged += 1;
    }
    assert_eq!(damaged, 1);
    let host = Process::start_in(folder);
    assert_eq!(host.agent().await.call("greeter", json!({ "action": "people" })).await.status, 200);
    assert!(host.log().contains("its checksum is wrong"));
}

/// Starts a host on this folder, and kills it when the host's note of this
/// start contains this text.
fn killed_while_starting(folder: &std::path::Path, note: &str) {
    let mut command = crate::harness::command(folder);
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"];
    let before = std::fs::read_to_string(folder.join("data/catalog.start")).unwrap_or_default();
    let mut child = command.args(arguments).spawn().unwrap();
    let path = folder.join("data/catalog.start");
    let read = || std::fs::read_to_string(&path).unwrap_or_default();
    let started = std::time::Instant::now();
    while read() == before || !read().contains(note) {
        assert!(started.elapsed() < PATIENCE, "no {note}");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_ended_twice_over_a_file_leaves_it_out() {
    let options = Options::with(&["greeter", "matching_sessions"]);
    let folder = options.folder();
    // The host is killed while it loads the component that takes long to compile.
    killed_while_starting(folder.path(), "\"unfinished\":true");
    for _ in 0..2 {
        killed_while_starting(folder.path(), "\"loading\":\"matching_sessions.wasm");
    }
    let host = Process::start_in(folder);
    assert_eq!(host.wait_for_refusal("matching_sessions.wasm").await["reason"], "start_failed");
    assert_eq!(host.agent().await.call("greeter", json!({ "action": "people" })).await.status, 200);
    // The file is loaded when it is copied again.
    host.drop_in("matching_sessions.wasm", &component("matching_sessions"));
    host.wait_for_version("matching_sessions", "1.0.0").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn loaded_components_stay_when_the_folder_disappears() {
    let host = Host::with(&["greeter"]).await;
    std::fs::rename(host.catalog(), host.folder.path().join("elsewhere")).unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(2500)).await;
    let agent = host.agent().await;
    assert_eq!(agent.call("greeter", json!({ "action": "people" })).await.status, 200);
    std::fs::rename(host.folder.path().join("elsewhere"), host.catalog()).unwrap();
    host.drop_in("template.wasm", &component("template"));
    host.wait_for_version("template_000", "1.2.0").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_granted_import_is_linked() {
    let host = Host::start(Options {
        configuration: "[grants]\ntexter = [\"sms\"]\n".into(),
        components: vec![("texter.wasm".into(), component("texter"))],
        ..Options::default()
    })
    .await;
    host.wait_for_version("texter", "1.0.0").await;
    // The permission grant is for the id's publisher, not for any component that has the id.
    host.drop_in("copy.wasm", &component("texter"));
    let row = host.wait_for_refusal("copy.wasm").await;
    assert_eq!(row["reason"], "publisher_mismatch");
    let sent = host.agent().await.result("texter", json!({ "action": "text" })).await;
    assert_eq!(sent["to"], "+14155550100");
}
