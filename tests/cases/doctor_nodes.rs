//! `portolan doctor` and `GET /problems` about what is between nodes: their catalogs, and a pooler in front of their database.

use crate::{
    cases::doctor::diagnose,
    harness::{Host, Options, PATIENCE, command, component, pooler::Pooler, postgres},
};
use serde_json::json;
use std::{
    process::Stdio,
    time::{Duration, Instant},
};

/// A sentence of the problem of different catalogs.
const OTHER: &str = "has served another catalog than this one";

/// Returns whether a node tells that another one serves a different catalog.
async fn tells_of_another(host: &Host) -> bool {
    let reply = host.operate("/problems").await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.text.contains(OTHER)
}

async fn wait_until_it_tells(host: &Host, expected: bool) {
    let started = Instant::now();
    while tells_of_another(host).await != expected {
        assert!(started.elapsed() < PATIENCE, "{:#}", host.status().await);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_serve_different_catalogs_are_named() {
    let url = postgres::database().await;
    let one = Host::start(Options::with(&["notes", "greeter"]).postgres(&url)).await;
    assert!(!tells_of_another(&one).await);
    let other = Host::start(Options::with(&["notes"]).postgres(&url)).await;
    wait_until_it_tells(&one, true).await;
    let fix = ["only here: greeter", "portolan catalog", "portolan publish"];
    diagnose(one.folder.path(), &[], &[]).names("catalog", "error", &fix);
    // The node that has changed its catalog last is the one that the others are compared with.
    assert!(!tells_of_another(&other).await);
    other.drop_in("greeter.wasm", &component("greeter"));
    other.wait_for_version("greeter", "1.2.0").await;
    for node in [&one, &other] {
        wait_until_it_tells(node, false).await;
    }
    one.drop_in("library.wasm", &component("library"));
    one.wait_for("the library", |status| status["loaded"].as_array().unwrap().len() == 3).await;
    wait_until_it_tells(&other, true).await;
    diagnose(other.folder.path(), &[], &[]).names("catalog", "error", &["missing here: library"]);
}

/// Asserts that the doctor and the start name the pooler behind which a host with these settings cannot work.
fn assert_named(pooler: &Pooler, settings: &str) {
    let folder = Options::default().postgres(&pooler.url).add_configuration(settings).folder();
    let fix = ["is a pooler", "pool_mode = transaction", "database_pooler"];
    diagnose(folder.path(), &[], &[]).names("database", "error", &fix);
    let begun = Instant::now();
    let output = command(folder.path())
        .args(["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains("is a pooler"), "{error}");
    // It is not tried again, as a server that starts is.
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pooler_behind_which_no_host_works_is_named() {
    let url = postgres::database().await;
    // Each statement would get another session, so there are no transactions.
    let pooler = Pooler::start(&url, "pool_mode = statement");
    assert_named(&pooler, "");
    assert_named(&pooler, "database_pooler = \"transaction\"");
    // The operator says that there is no pooler. One refuses the settings of a session, one ignores them.
    for settings in ["", "ignore_startup_parameters = extra_float_digits,options"] {
        assert_named(&Pooler::start(&url, settings), "database_pooler = \"none\"");
    }
    let pooler = Pooler::start(&url, "");
    let direct = format!("database_direct_url = \"{}\"", pooler.url);
    let folder = Options::default().postgres(&pooler.url).add_configuration(&direct).folder();
    let output = command(folder.path()).arg("migrate").stderr(Stdio::piped()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains("is a pooler"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pooler_in_front_of_postgresql_is_recognized() {
    let url = postgres::database().await;
    let ignoring = "ignore_startup_parameters = extra_float_digits,options";
    for settings in ["", ignoring, "pool_mode = session\ndefault_pool_size = 40"] {
        let pooler = Pooler::start(&url, settings);
        let folder = Options::with(&["notes"]).postgres(&pooler.url).folder();
        let found = diagnose(folder.path(), &[], &[]);
        assert!(found.of("database").is_empty(), "{settings}: {found:?}");
        let host = Host::start_in(folder).await;
        let note = json!({ "action": "put", "id": "one", "note": { "title": "one" } });
        host.claimed_agent().await.result("notes", note).await;
    }
}
