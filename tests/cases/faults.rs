//! Disks and databases that fail: errors are clear, no write that was answered is lost, and the
//! host recovers without a restart.

use crate::harness::{
    Agent, Host, Options, PATIENCE, Process, command,
    database::Database,
    disk::Disk,
    join_all,
    postgres::{self, Server},
};
use rlimit::Resource;
use serde_json::{Value, json};
use sqlx::{Connection as _, PgConnection};
use std::{
    future::Future,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

/// The time within which a call is answered whatever fails, and within which calls succeed again
/// when nothing fails any more.
const SOON: Duration = Duration::from_secs(5);

fn put_input(id: &str) -> Value {
    json!({ "action": "put", "id": id, "note": { "title": "a title", "body": "x".repeat(20_000) } })
}

fn get_input(id: &str) -> Value {
    json!({ "action": "get", "id": id })
}

/// Writes notes until one is refused as `dependency_unavailable`; returns the ids
/// of the written ones.
async fn write_until_refused(agent: &Agent<'_>, prefix: &str) -> Vec<String> {
    let mut written = Vec::new();
    loop {
        assert!(written.len() < 10_000, "the writes go on");
        let id = format!("{prefix} {}", written.len());
        let asked = Instant::now();
        let reply = agent.call("notes", put_input(&id)).await;
        assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
        if reply.status != 200 {
            reply.assert_refused(503, "dependency_unavailable");
            assert_eq!(reply.body["retryable"], true);
            return written;
        }
        written.push(id);
    }
}

/// Repeats a call until it succeeds; in between it is refused as `dependency_unavailable`.
async fn retry_until_answered(agent: &Agent<'_>, capability: &str, body: Value) -> Value {
    let started = Instant::now();
    loop {
        let reply = agent.call(capability, body.clone()).await;
        if reply.status == 200 {
            return reply.body["result"].clone();
        }
        reply.assert_refused(503, "dependency_unavailable");
        assert!(started.elapsed() < SOON, "{}", reply.text);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn wait_until<F: Future<Output = bool>>(what: &str, holds: impl Fn() -> F) {
    let started = Instant::now();
    while !holds().await {
        assert!(started.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Checks a host whose disk fails while it writes and then works again.
async fn check_failing_disk(host: Process, fail: impl Fn(&Process), repair: impl Fn(&Process)) {
    let agent = host.claimed_agent().await;
    agent.result("notes", put_input("first")).await;
    agent.result("ledger", json!({ "action": "open", "account": "bank" })).await;
    agent.result("ledger", json!({ "action": "open", "account": "ada" })).await;
    let timer = json!({
        "action": "schedule",
        "timer": "later",
        "after_ms": 0,
        "order": { "from": "bank", "to": "ada", "amount": 7 },
    });
    fail(&host);
    let mut written = write_until_refused(&agent, "before").await;
    agent.call("notes", put_input("refused")).await.assert_refused(503, "dependency_unavailable");
    // Reads go on, and so does the search for due work.
    agent.result("notes", get_input("first")).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    agent.result("notes", json!({ "action": "count" })).await;

    repair(&host);
    retry_until_answered(&agent, "notes", put_input("after")).await;
    agent.call("notes", get_input("refused")).await.assert_refused(404, "note_not_found");
    agent.result("ledger", timer).await;
    let balance = json!({ "action": "balance", "account": "ada" });
    wait_until("the timer", async || agent.result("ledger", balance.clone()).await["balance"] == 7)
        .await;

    host.signal("KILL");
    let (_, folder) = host.wait();
    let integrity = Database::of(folder.path()).texts("PRAGMA integrity_check").await;
    assert_eq!(integrity, ["ok"]);
    let host = Process::start_in(folder);
    let agent = host.claimed_agent().await;
    written.extend(["first".to_owned(), "after".to_owned()]);
    for id in written {
        agent.result("notes", get_input(&id)).await;
    }
}

fn limit_file_size(host: &Process, bytes: u64) {
    let process = i32::try_from(host.process_id()).unwrap();
    rlimit::prlimit(process, Resource::FSIZE, Some((bytes, rlimit::INFINITY)), None).unwrap();
}

/// In this test every write fails, also that of the log.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_recovers_when_its_folder_is_writable_again() {
    let host = Process::with(&["ledger", "notes"]);
    check_failing_disk(
        host,
        |host| limit_file_size(host, 0),
        |host| limit_file_size(host, rlimit::INFINITY),
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_recovers_when_its_full_disk_has_space_again() {
    let Some(disk) = Disk::with_megabytes(20) else { return };
    let host = Process::start_in(disk.place_data(Options::with(&["ledger", "notes"])));
    check_failing_disk(host, |_| {}, |_| disk.remount("size=64m")).await;
}

/// Starts a host, which must fail, and returns its error output.
fn failed_start(folder: &Path) -> String {
    let mut child = command(folder)
        .args(["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(child.wait().unwrap().code(), Some(1));
    std::fs::read_to_string(folder.join("log")).unwrap()
}

fn assert_last_line_contains(log: &str, parts: &[&str]) {
    let last = log.lines().last().unwrap();
    assert!(parts.iter().all(|part| last.contains(part)), "{parts:?}: {log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_only_disk_is_reported_at_the_start() {
    let Some(disk) = Disk::with_megabytes(20) else { return };
    let folder = disk.place_data(Options::default());
    disk.remount("ro");
    assert_last_line_contains(
        &failed_start(folder.path()),
        &["data/secret.keys", "Read-only file system", "--data-dir"],
    );
    disk.remount("rw");
    let host = Process::start_in(folder);
    host.signal("KILL");
    let (_, folder) = host.wait();
    disk.remount("ro");
    assert_last_line_contains(
        &failed_start(folder.path()),
        &["data/portolan.db", "Read-only file system", "--data-dir"],
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_file_is_reported_at_the_start() {
    let folder = Options::default().folder();
    let file = folder.path().join("data/portolan.db");
    std::fs::create_dir(folder.path().join("data")).unwrap();
    std::fs::write(&file, "no database ".repeat(1000)).unwrap();
    assert_last_line_contains(
        &failed_start(folder.path()),
        &["data/portolan.db", "not a database", "restore a backup"],
    );

    std::fs::remove_file(&file).unwrap();
    let host = Process::start_in(folder);
    host.signal("TERM");
    let (_, folder) = host.wait();
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[100..].fill(0x5a);
    std::fs::write(&file, bytes).unwrap();
    assert_last_line_contains(
        &failed_start(folder.path()),
        &["data/portolan.db", "malformed", "restore a backup"],
    );
}

async fn check_newer_database(options: Options) {
    let host = Process::start(options);
    host.signal("TERM");
    let (_, folder) = host.wait();
    let step =
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
                SELECT 9999, 'later', success, checksum, 1 FROM _sqlx_migrations WHERE version = 1";
    Database::of(folder.path()).execute(step).await;
    assert_last_line_contains(
        &failed_start(folder.path()),
        &["newer version", "9999", "restore an older backup"],
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newer_version_is_reported_at_the_start_on_sqlite() {
    check_newer_database(Options::default()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newer_version_is_reported_at_the_start_on_postgres() {
    let url = postgres::database().await;
    check_newer_database(Options::default().postgres(&url)).await;
}

/// Makes sixteen calls at once, and asserts that each is soon refused as `dependency_unavailable`.
async fn assert_all_refused(agent: &Agent<'_>) {
    let calls = (0..16).map(|call| async move {
        let asked = Instant::now();
        let body = if call % 2 == 0 { put_input("refused") } else { get_input("first") };
        let reply = agent.call("notes", body).await;
        reply.assert_refused(503, "dependency_unavailable");
        assert_eq!(reply.body["retryable"], true);
        assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
    });
    join_all(calls).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_recovers_when_postgres_is_back() {
    let mut server = Server::start(50);
    let url = server.database().await;
    let host = Process::start(Options::with(&["ledger", "notes"]).postgres(&url));
    let agent = host.claimed_agent().await;
    agent.result("notes", put_input("first")).await;
    for account in ["bank", "ada"] {
        agent.result("ledger", json!({ "action": "open", "account": account })).await;
    }
    let order = json!({ "from": "bank", "to": "ada", "amount": 7 });
    let timer = json!({ "action": "schedule", "timer": "later", "after_ms": 1000, "order": order });
    agent.result("ledger", timer).await;
    server.kill();
    for _ in 0..3 {
        assert_all_refused(&agent).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    server.start_again();
    server.ready().await;
    retry_until_answered(&agent, "notes", put_input("after")).await;
    retry_until_answered(&agent, "notes", get_input("first")).await;
    let balance = json!({ "action": "balance", "account": "ada" });
    wait_until("the timer", async || agent.result("ledger", balance.clone()).await["balance"] == 7)
        .await;
    let heard = json!({ "action": "heard", "subject": "accounts/bank" });
    wait_until("the subscriber", async || {
        agent.result("notes", heard.clone()).await["transfers"][0].is_string()
    })
    .await;

    host.signal("TERM");
    let (status, folder) = host.wait();
    assert!(status.success());
    server.kill();
    assert_last_line_contains(
        &failed_start(folder.path()),
        &["127.0.0.1:", "Connection refused", "check that the server runs"],
    );
}

/// Opens connections until PostgreSQL has none left.
async fn take_all_connections(url: &str) -> Vec<PgConnection> {
    let mut taken = Vec::new();
    loop {
        match PgConnection::connect(url).await {
            Ok(connection) => taken.push(connection),
            Err(error) => {
                assert!(error.to_string().contains("too many clients"), "{error}");
                return taken;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_recovers_when_postgres_has_connections_again() {
    let server = Server::start(30);
    let url = server.database().await;
    let host = Host::start(Options::with(&["notes"]).postgres(&url)).await;
    let agent = host.claimed_agent().await;
    agent.result("notes", put_input("first")).await;
    let mut taken = take_all_connections(&url).await;
    let take_away = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'portolan'";
    while !sqlx::query(take_away).fetch_all(&mut taken[0]).await.unwrap().is_empty() {
        taken.extend(take_all_connections(&url).await);
    }
    assert_all_refused(&agent).await;
    let other = Options::default().postgres(&url).folder();
    assert_last_line_contains(&failed_start(other.path()), &["127.0.0.1:", "too many clients"]);

    drop(taken);
    retry_until_answered(&agent, "notes", put_input("after")).await;
    retry_until_answered(&agent, "notes", get_input("first")).await;
}
