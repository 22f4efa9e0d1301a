//! The probes: they tell a node that cannot serve from one that can, and why. `portolan doctor` names the fix.

use crate::{
    cases::doctor::{Diagnosis, diagnose, diagnose_as_configured},
    harness::{Host, Options, PATIENCE, Process, command, component, disk::Disk, postgres},
};
use reqwest::Client;
use serde_json::{Value, json};
use std::{
    net::TcpListener,
    os::unix::{fs::DirBuilderExt as _, net::UnixListener},
    process::{Child, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// The time within which a probe must name a fault.
const NOTICED: Duration = Duration::from_secs(30);

/// Returns the status and the body of a probe at the operator's address.
async fn probe(client: &Client, admin_url: &str, path: &str) -> Option<(u16, Value)> {
    let response = client.get(format!("{admin_url}{path}")).send().await.ok()?;
    Some((response.status().as_u16(), response.json().await.ok()?))
}

/// Waits until the node is unready for exactly these parts, or ready if there are none.
async fn wait_for_readiness(host: &Host, parts: &[&str]) -> Value {
    let started = Instant::now();
    loop {
        let (status, body) = probe(&host.client, &host.admin_url, "/readyz").await.unwrap();
        let named: Vec<_> =
            body["reasons"].as_array().unwrap().iter().map(|reason| &reason["part"]).collect();
        let is_expected = named.iter().all(|part| parts.contains(&part.as_str().unwrap()))
            && named.len() == parts.len();
        if is_expected {
            assert_eq!(status, if parts.is_empty() { 200 } else { 503 }, "{body}");
            assert_eq!(body["ready"], parts.is_empty(), "{body}");
            return body;
        }
        assert!(started.elapsed() < NOTICED, "never {parts:?}: {body}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Asks the doctor about a running host.
fn diagnose_running(host: &Host) -> Diagnosis {
    let token = std::fs::read_to_string(host.folder.path().join("operator.copy")).unwrap();
    diagnose(
        host.folder.path(),
        &[("PORTOLAN_OPERATOR_TOKEN", token.trim())],
        &["--admin-url", &host.admin_url],
    )
}

/// Keeps the operator's token outside of the data folder.
fn keep_token(host: &Host) {
    let folder = host.folder.path();
    std::fs::copy(folder.join("data/operator.token"), folder.join("operator.copy")).unwrap();
}

fn note(id: &str) -> Value {
    json!({ "action": "put", "id": id, "note": { "title": "a title", "body": "" } })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sound_node_is_ready_and_tells_no_more_than_that() {
    let host = Host::with(&["notes"]).await;
    let ready = wait_for_readiness(&host, &[]).await;
    assert!(ready["age_s"].as_u64().unwrap() < 10, "{ready}");
    let folder = host.folder.path().display().to_string();
    assert!(!ready.to_string().contains(&folder), "{ready}");
    for (path, member) in [("/startupz", "started"), ("/healthz", "healthy")] {
        let (status, body) = probe(&host.client, &host.admin_url, path).await.unwrap();
        assert_eq!((status, &body[member]), (200, &Value::Bool(true)), "{path}");
    }
    assert_eq!(host.get("/healthz").await.text, "ok");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_data_folder_makes_a_node_unready_and_loses_no_write() {
    let host = Host::with(&["notes"]).await;
    keep_token(&host);
    let agent = host.claimed_agent().await;
    agent.result("notes", note("before")).await;
    let data = host.folder.path().join("data");
    std::fs::rename(&data, host.folder.path().join("aside")).unwrap();
    // No write is acknowledged that nobody could read again.
    agent.call("notes", note("refused")).await.assert_refused(503, "dependency_unavailable");
    wait_for_readiness(&host, &["data_folder", "database"]).await;
    let diagnosis = diagnose_running(&host);
    diagnosis.names("data_folder", "error", &["cannot be found", "put", "portolan restore"]);
    diagnosis.names("database", "error", &["was deleted or replaced", "stop the host"]);
    // Another folder in its place does not help.
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("portolan.db"), "").unwrap();
    agent.call("notes", note("refused")).await.assert_refused(503, "dependency_unavailable");
    let problem = "is not the folder that this host started with";
    diagnose_running(&host).names("data_folder", "error", &[problem]);
    // The folder is back, and everything goes on.
    std::fs::remove_dir_all(&data).unwrap();
    std::fs::rename(host.folder.path().join("aside"), &data).unwrap();
    wait_for_readiness(&host, &[]).await;
    agent.result("notes", note("after")).await;
    agent
        .call("notes", json!({ "action": "get", "id": "refused" }))
        .await
        .assert_refused(404, "note_not_found");
    assert!(host.log().contains("not ready"), "{}", host.log());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_makes_a_node_unready_and_refuses_no_component_for_good() {
    let Some(disk) = Disk::with_megabytes(96) else { return };
    let host = Process::start_in(disk.place_data(Options::with(&["notes"])));
    wait_for_readiness(&host, &[]).await;
    let filler = disk.fill();
    host.drop_in("ledger.wasm", &component("ledger"));
    let refused = host.wait_for_refusal("ledger.wasm").await;
    assert_eq!(refused["reason"], "host_failed", "{refused}");
    assert!(refused["fix"].as_str().unwrap().contains("free space"), "{refused}");
    wait_for_readiness(&host, &["disk"]).await;
    let diagnosis = diagnose(host.folder.path(), &[], &[]);
    diagnosis.names("disk", "error", &["MiB are free", "du -xh"]);
    std::fs::remove_file(filler).unwrap();
    wait_for_readiness(&host, &[]).await;
    host.wait_for_version("ledger", "1.0.0").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_server_that_is_down_makes_a_node_unready_until_it_is_back() {
    let mut server = postgres::Server::start(60);
    let url = server.database().await;
    let host = Host::start(Options::with(&["notes"]).postgres(&url)).await;
    wait_for_readiness(&host, &[]).await;
    server.kill();
    wait_for_readiness(&host, &["database"]).await;
    let diagnosis = diagnose(host.folder.path(), &[], &[]);
    diagnosis.names("database", "error", &["takes no writes", "database server"]);
    assert!(host.operate("/metrics").await.status.is_success(), "metrics without the database");
    server.start_again();
    server.ready().await;
    wait_for_readiness(&host, &[]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_that_is_ahead_of_the_database_makes_a_node_unready() {
    let url = postgres::database().await;
    let host = Host::start(Options::with(&["notes"]).postgres(&url)).await;
    wait_for_readiness(&host, &[]).await;
    host.clock.advance(Duration::from_secs(300));
    wait_for_readiness(&host, &["clock"]).await;
    let ahead = ["s ahead of that of the database server", "timedatectl"];
    diagnose(host.folder.path(), &[], &[]).names("clock", "error", &ahead);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_catalog_folder_that_cannot_be_read_makes_a_node_unready() {
    let host = Host::with(&["notes"]).await;
    let aside = host.folder.path().join("aside");
    std::fs::rename(host.catalog(), &aside).unwrap();
    wait_for_readiness(&host, &["catalog"]).await;
    diagnose(host.folder.path(), &[], &[]).names("catalog", "error", &["cannot be read", "chmod"]);
    // The loaded capabilities still serve.
    host.claimed_agent().await.result("notes", note("one")).await;
    std::fs::rename(aside, host.catalog()).unwrap();
    wait_for_readiness(&host, &[]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secret_keys_that_are_gone_are_named_while_they_can_be_saved() {
    let host = Host::with(&["notes"]).await;
    let file = host.folder.path().join("data/secret.keys");
    let keys = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let diagnosis = diagnose(host.folder.path(), &[], &[]);
    diagnosis.names("keys", "error", &["cannot be read", "put", "back"]);
    // The node has them in its memory, and serves.
    let ready = wait_for_readiness(&host, &[]).await;
    assert!(ready["warnings"].as_array().unwrap().contains(&json!("keys")), "{ready}");
    std::fs::write(&file, keys).unwrap();
    let diagnosis = diagnose(host.folder.path(), &[], &[]);
    assert!(diagnosis.of("keys").is_empty(), "{diagnosis:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_answers_the_probes_from_its_first_moment() {
    let folder: TempDir = Options::with(&["map_search", "calendar"]).folder();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let admin_url = format!("http://127.0.0.1:{port}");
    let mut start = command(folder.path());
    start.args(["serve", "--listen", "127.0.0.1:0", "--admin-listen"]);
    start.arg(format!("127.0.0.1:{port}")).stdout(Stdio::null());
    let _child = Killed(start.spawn().unwrap());
    let (client, started) = (Client::new(), Instant::now());
    let mut before = Vec::new();
    loop {
        match probe(&client, &admin_url, "/startupz").await {
            Some((200, body)) => {
                assert_eq!(body["started"], true);
                break;
            }
            Some((status, body)) => {
                assert_eq!((status, &body["started"]), (503, &Value::Bool(false)), "{body}");
                let alive = probe(&client, &admin_url, "/healthz").await;
                assert!(alive.is_none_or(|(status, _)| status == 200));
                before.push(body["reasons"][0]["reason"].as_str().unwrap().to_owned());
            }
            None => {}
        }
        assert!(started.elapsed() < PATIENCE, "the host does not start: {before:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(before.iter().any(|reason| reason.contains("loads the catalog")), "{before:?}");
    let (status, ready) = probe(&client, &admin_url, "/readyz").await.unwrap();
    assert_eq!(status, 200, "{ready}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_doctor_asks_a_start_that_follows_a_crash() {
    let folder: TempDir = Options::with(&["map_search", "calendar"]).folder();
    let data = folder.path().join("data");
    std::fs::DirBuilder::new().mode(0o700).create(&data).unwrap();
    // A host that was killed has left its socket behind, at which nothing listens.
    drop(UnixListener::bind(data.join("operator.sock")).unwrap());
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let address = format!("127.0.0.1:{port}");
    let flags = ["--listen", "127.0.0.1:0", "--admin-listen", &address];
    let mut start = command(folder.path());
    let _child = Killed(start.arg("serve").args(flags).stdout(Stdio::null()).spawn().unwrap());
    let started = Instant::now();
    // Before the address is bound, nothing answers.
    while Client::new().get(format!("http://{address}/startupz")).send().await.is_err() {
        assert!(started.elapsed() < PATIENCE, "the address is never bound");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let diagnosis = diagnose_as_configured(folder.path(), &[], &flags);
    assert_eq!(diagnosis.found["host"], "starting", "{:#}", diagnosis.found);
    assert!(diagnosis.success && diagnosis.of("ports").is_empty(), "{:#}", diagnosis.found);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_stops_is_not_ready_for_probes_and_metrics() {
    let configuration = "[limits]\nstop_delay_ms = 5000\n";
    let host = Process::start(Options::default().configuration(configuration));
    wait_for_readiness(&host, &[]).await;
    assert_eq!(host.metric("portolan_ready").await, 1);
    host.signal("TERM");
    let unready = wait_for_readiness(&host, &["host"]).await;
    assert_eq!(unready["reasons"][0]["reason"], "it is stopping", "{unready}");
    assert_eq!(host.metric("portolan_ready").await, 0);
    assert!(host.wait().0.success());
}

/// A process that is killed when this is dropped.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ended = self.0.kill();
        let _status = self.0.wait();
    }
}
