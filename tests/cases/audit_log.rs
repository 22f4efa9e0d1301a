//! The sealed audit log: what was changed, removed or added is noticed.

use crate::{
    cases::personal::{erase, stop},
    harness::{
        Host, Options, PATIENCE, Process, command, conversations, oauth::text, postgres,
        relationships,
    },
};
use serde_json::json;
use std::{
    path::Path,
    process::Stdio,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

/// Runs `portolan audit` with these arguments; returns its exit code and its lines.
fn audit(folder: &Path, arguments: &[&str]) -> (i32, Vec<String>) {
    let mut command = command(folder);
    let output = command.arg("audit").args(arguments).stderr(Stdio::piped()).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    (output.status.code().unwrap(), lines.lines().map(str::to_owned).collect())
}

fn assert_whole(folder: &Path, part: &str) {
    let (code, lines) = audit(folder, &["verify"]);
    assert_eq!(code, 0, "{lines:#?}");
    assert!(lines[0].contains("is whole") && lines[0].contains(part), "{part}: {lines:?}");
}

/// Asserts that there are these faults, in any order and no others.
fn assert_faults(folder: &Path, arguments: &[&str], faults: &[&str]) {
    let (code, mut lines) = audit(folder, &[&["verify"], arguments].concat());
    assert_eq!(code, 1, "{lines:#?}");
    for fault in faults {
        let at = lines.iter().position(|line| line.contains(fault));
        lines.remove(at.unwrap_or_else(|| panic!("{fault}: {lines:#?}")));
    }
    assert_eq!(lines, Vec::<String>::new());
}

/// Writes rows in this many checkpoints.
async fn write_checkpoints(host: &Host, count: usize) {
    static ACCOUNTS: AtomicU64 = AtomicU64::new(0);
    let agent = host.claimed_agent().await;
    for _ in 0..count {
        for _ in 0..3 {
            let account = format!("account_{}", ACCOUNTS.fetch_add(1, Ordering::Relaxed));
            agent.result("ledger", json!({ "action": "open", "account": account })).await;
        }
        // The export seals what is not sealed yet.
        assert_eq!(host.operate("/audit/export").await.status, 200);
    }
}

const ROW: &str = "at, request_id, agent_id, owner_id, via, capability, version, digest, action,
    outcome, duration_us, count, node, position, salt, commitment";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_change_of_rows_and_checkpoints_is_named() {
    let url = postgres::database().await;
    for options in [Options::with(&["ledger"]), Options::with(&["ledger"]).postgres(&url)] {
        let host = Host::start(options).await;
        let (folder, database) = (host.folder.path(), host.database());
        write_checkpoints(&host, 6).await;
        assert_whole(folder, "of 1 nodes");

        let (_, export) = audit(folder, &["export"]);
        std::fs::write(folder.join("export.jsonl"), export.join("\n")).unwrap();

        let changed = "UPDATE audit SET outcome = 'account_exists' WHERE position = 3";
        assert_eq!(database.execute(changed).await, 1);
        assert_faults(folder, &[], &["row changed: row 3 "]);
        let other_agent = "UPDATE audit SET agent_id = 'agt_x' WHERE position = 4";
        assert_eq!(database.execute(other_agent).await, 1);
        assert_faults(folder, &[], &["row changed: row 3 ", "row changed: row 4 "]);
        // Nobody can pass a change off as an erasure.
        let no_salt = "UPDATE audit SET salt = NULL, commitment = salt WHERE position = 4";
        assert_eq!(database.execute(no_salt).await, 1);
        assert_faults(folder, &[], &["row changed: row 3 ", "row changed: row 4 "]);
        assert_eq!(database.execute("DELETE FROM audit WHERE position = 5").await, 1);
        let mut faults = vec!["row changed: row 3 ", "row changed: row 4 ", "row missing: row 5 "];
        assert_faults(folder, &[], &faults);
        let copied =
            format!("INSERT INTO audit ({ROW}) SELECT {ROW} FROM audit WHERE position = 6");
        assert_eq!(database.execute(&copied).await, 1);
        faults.push("row added: ");
        assert_faults(folder, &[], &faults);
        let unsigned = format!(
            "INSERT INTO audit ({ROW}) SELECT {} FROM audit WHERE position = 7",
            ROW.replace("node", "''")
        );
        assert_eq!(database.execute(&unsigned).await, 1);
        faults.push("row added: ");
        assert_faults(folder, &[], &faults);
        let later =
            "SELECT CAST(min(number) AS TEXT) FROM audit_checkpoints WHERE first_position > 7";
        let later = database.texts(later).await.remove(0);
        let delete = format!("DELETE FROM audit_checkpoints WHERE number = {later}");
        assert_eq!(database.execute(&delete).await, 1);
        let missing = format!("signed checkpoints {later} to {later}, which are not there");
        faults.push(&missing);
        assert_faults(folder, &[], &faults);
        let signature = "UPDATE audit_checkpoints SET signature = replace(signature, '1', '2')
                         WHERE number = (SELECT max(number) FROM audit_checkpoints)";
        assert_eq!(database.execute(signature).await, 1);
        faults.push("signature wrong: ");
        assert_faults(folder, &[], &faults);
        assert_eq!(database.execute("DELETE FROM audit_checkpoints WHERE number = 1").await, 1);
        let (code, lines) = audit(folder, &["verify"]);
        assert!(
            code == 1 && lines.iter().any(|line| line.contains("checkpoints 1 to 1")),
            "{lines:?}"
        );

        // The export of before is verified without the host, by the key that the host publishes.
        let keys = host.get("/.well-known/audit-keys.json").await.body;
        let key = text(&keys[0], "public_key").to_owned();
        let export = "export.jsonl";
        assert_eq!(audit(folder, &["verify", "--from", export]).0, 0);
        assert_eq!(audit(folder, &["verify", "--from", export, "--key", &key]).0, 0);
        let (code, lines) = audit(folder, &["verify", "--from", export, "--key", &"0".repeat(64)]);
        assert!(code == 1 && lines[0].contains("signature wrong"), "{lines:?}");
        let text = std::fs::read_to_string(folder.join(export)).unwrap();
        let cut: Vec<&str> = text.lines().take(text.lines().count() - 1).collect();
        std::fs::write(folder.join(export), cut.join("\n")).unwrap();
        let (code, lines) = audit(folder, &["verify", "--from", export]);
        assert!(code == 1 && lines[0].contains("row missing"), "{lines:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_are_sealed_within_seconds_and_after_a_crash() {
    let host = Process::with(&["ledger"]);
    let agent = host.claimed_agent().await;
    agent.result("ledger", json!({ "action": "open", "account": "one" })).await;
    let sealed = "SELECT CAST(max(last_position) AS TEXT) FROM audit_checkpoints";
    let written = "SELECT CAST(max(position) AS TEXT) FROM audit";
    let started = Instant::now();
    loop {
        let database = host.database();
        let (sealed, written) = (database.texts(sealed).await, database.texts(written).await);
        if sealed == written {
            break;
        }
        assert!(started.elapsed() < PATIENCE, "{sealed:?} of {written:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    agent.result("ledger", json!({ "action": "open", "account": "two" })).await;
    let host = Process::start_in(stop(host));
    let agent = host.claimed_agent().await;
    agent.result("ledger", json!({ "action": "open", "account": "three" })).await;
    assert_whole(host.folder.path(), "5 rows");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_of_one_database_seal_their_own_rows() {
    let url = postgres::database().await;
    let address = "public_url = \"https://portolan.example\"";
    let start =
        || Host::start(Options::with(&["ledger"]).postgres(&url).add_configuration(address));
    let (one, other) = (start().await, start().await);
    write_checkpoints(&one, 2).await;
    write_checkpoints(&other, 2).await;
    let (_, _) = tokio::join!(write_checkpoints(&one, 3), write_checkpoints(&other, 3));
    for node in [&one, &other] {
        assert_whole(node.folder.path(), "of 2 nodes");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_erasure_keeps_every_checkpoint_valid() {
    let host = conversations::host().await;
    let (ada, bo) =
        (relationships::Person::new(&host).await, relationships::Person::new(&host).await);
    ada.call_ok("block", &bo.id).await;
    bo.call_ok("block", &ada.id).await;
    let (code, _) = audit(host.folder.path(), &["verify"]);
    assert_eq!(code, 0);
    assert_eq!(erase(&host, &ada.id).await.status, 200);
    assert_eq!(host.database().texts_found(&[ada.id.as_str()]), Vec::<String>::new());
    let (code, lines) = audit(host.folder.path(), &["verify"]);
    assert!(code == 0 && !lines[0].contains("(0 of erased people"), "{lines:?}");
    // His rows still name him.
    let his = host.operate(&format!("/audit?owner_id={}", bo.id)).await.body;
    assert!(!his["entries"].as_array().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_whose_retention_is_over_are_no_fault() {
    let configuration = "[retention]\naudit_days = 2\n";
    let host = Host::start(Options::with(&["ledger"]).configuration(configuration)).await;
    write_checkpoints(&host, 3).await;
    host.advance(Duration::from_secs(24 * 3600)).await;
    write_checkpoints(&host, 2).await;
    host.advance(Duration::from_secs(26 * 3600)).await;
    let old = "SELECT CAST(count(*) AS TEXT) FROM audit WHERE position <= 3";
    let started = Instant::now();
    while host.database().texts(old).await != ["0"] {
        assert!(started.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_whole(host.folder.path(), "of 1 nodes");
    let first =
        host.database().texts("SELECT CAST(min(number) AS TEXT) FROM audit_checkpoints").await;
    assert_ne!(first, ["1"]);
    // A newer row that is gone is a fault all the same.
    let newest = "DELETE FROM audit WHERE position = (SELECT max(position) - 1 FROM audit)";
    assert_eq!(host.database().execute(newest).await, 1);
    assert_faults(host.folder.path(), &[], &["row missing: "]);
}
