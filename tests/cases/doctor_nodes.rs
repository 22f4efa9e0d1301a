//! `portolan doctor` and `GET /problems` about what is between nodes: their catalogs, and a pooler before their database.

use crate::{
    cases::doctor::diagnose,
    harness::{Host, Options, PATIENCE, command, component, pooler::Pooler, postgres},
};
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pooler_in_place_of_postgresql_is_named_and_no_host_starts_behind_it() {
    let url = postgres::database().await;
    // One that refuses the settings of a session, and one that is told to ignore them.
    for settings in ["", "ignore_startup_parameters = extra_float_digits,options"] {
        let pooler = Pooler::start(&url, settings);
        let folder = Options::default().postgres(&pooler.url).folder();
        let fix = ["is a pooler", "PgBouncer", "name PostgreSQL itself in database_url"];
        diagnose(folder.path(), &[], &[]).names("database", "error", &fix);
        let begun = Instant::now();
        let output = command(folder.path())
            .args(["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"])
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains("is a pooler"), "{error}");
        // It is not tried again, as a server that starts is.
        assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    }
}
