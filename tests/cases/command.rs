//! The command line.

use crate::harness::time::HOUR;
use crate::harness::{Host, PATIENCE, Process, Reply, command, component, postgres};
use serde_json::{Value, json};
use std::{path::Path, process::Output};
use tempfile::TempDir;

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = command(folder);
    command.stderr(std::process::Stdio::piped());
    command.args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn check_describes_a_component() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("greeter.wasm"), component("greeter")).unwrap();
    let output = run(folder.path(), &["check", "greeter.wasm"]);
    assert!(output.status.success(), "{}", stdout(&output));
    for part in [
        "greeter 1.2.0",
        "sha256:",
        "compiled  in",
        "greet ",
        "read",
        "portolan:capability/context@2.0.0",
        "fit for a catalog",
    ] {
        assert!(stdout(&output).contains(part), "{part}: {}", stdout(&output));
    }
    std::fs::write(folder.path().join("texter.wasm"), component("texter")).unwrap();
    let output = run(folder.path(), &["check", "texter.wasm"]);
    assert!(stdout(&output).contains("approve texter`, which permits: sms"), "{}", stdout(&output));
}

#[test]
fn check_says_what_is_wrong_and_how_to_fix_it() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("bad.wasm"), component("describe_lies")).unwrap();
    let output = run(folder.path(), &["check", "bad.wasm"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("not fit for a catalog"), "{}", stdout(&output));
    assert!(stdout(&output).matches("to fix it:").count() > 10, "{}", stdout(&output));
    let output = run(folder.path(), &["check", "missing.wasm"]);
    assert!(
        stderr(&output).contains("missing.wasm; name another, or build it"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn the_version_says_what_the_binary_was_built_from() {
    let folder = TempDir::new().unwrap();
    let short = stdout(&run(folder.path(), &["-V"]));
    assert_eq!(short, format!("portolan {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(stdout(&run(folder.path(), &["--version"])), short);
    let long = stdout(&run(folder.path(), &["--version", "--verbose"]));
    assert!(long.starts_with(&short), "{long}");
    let json = stdout(&run(folder.path(), &["-V", "--verbose", "--json"]));
    let json: Value = serde_json::from_str(&json).unwrap();
    let facts = json.as_object().unwrap();
    assert_eq!(long.lines().count(), facts.len());
    for (name, fact) in facts.iter().filter(|(name, _)| *name != "version") {
        assert!(long.contains(&format!("{name}: {}\n", fact.as_str().unwrap())), "{long}");
    }
    assert_eq!(json["contract"], "portolan:capability@2.0.0");
    for version in ["rustc", "wasmtime", "sqlite"] {
        assert!(json[version].as_str().unwrap().starts_with(|first: char| first.is_ascii_digit()));
    }
    let wrong = run(folder.path(), &["--verbose"]);
    assert!(!wrong.status.success() && stderr(&wrong).contains("--version"), "{}", stderr(&wrong));
}

#[tokio::test(flavor = "multi_thread")]
async fn check_requires_that_every_collection_declares_its_people_and_a_host_does_not() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("some.wasm"), component("describe_forgets")).unwrap();
    let output = run(folder.path(), &["check", "some.wasm"]);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    for part in ["collections.visits.people: is not declared", "to fix it:", ".nobody()"] {
        assert!(stdout(&output).contains(part), "{part}: {}", stdout(&output));
    }
    let host = Host::with(&["describe_forgets"]).await;
    host.wait_for_version("forgetful", "1.0.0").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn call_and_catalog_use_a_running_host() {
    let host = Host::with(&["greeter"]).await;
    host.drop_in("bad.wasm", b"nonsense");
    host.wait_for_refusal("bad.wasm").await;
    let folder = host.folder.path();
    let input = "{\"action\":\"greet\",\"name\":\"Ada\"}";
    let output = run(folder, &["call", "greeter", "--url", &host.url, "--input", input]);
    let answer: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(
        (output.status.code(), &answer["result"]["text"]),
        (Some(0), &Value::from("Hello, Ada!"))
    );
    let output = run(folder, &["call", "nothing", "--url", &host.url]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("unknown_capability"));
    let output = run(folder, &["call", "greeter", "--url", &host.url, "--input", "{"]);
    assert!(stderr(&output).contains("--input is not JSON"));
    let output = run(folder, &["catalog"]);
    for part in ["1 loaded, 1 refused", "greeter", "refused: bad.wasm", "not_wasm", "to fix it:"] {
        assert!(stdout(&output).contains(part), "{part}: {}", stdout(&output));
    }
}

#[test]
fn commands_without_a_host_say_how_to_start_one() {
    let folder = TempDir::new().unwrap();
    for arguments in [
        &["call", "greeter", "--url", "http://127.0.0.1:1"][..],
        &["catalog", "--admin-url", "http://127.0.0.1:1"],
    ] {
        let output = run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains("start one with `portolan serve`"), "{}", stderr(&output));
    }
}

#[test]
fn serve_reports_every_error_in_its_configuration() {
    let folder = TempDir::new().unwrap();
    let configuration = r#"
        listen = "nowhere"
        public_url = "x"
        trusted_keys = ["ed25519:12"]
        trusted_proxies = ["everybody"]
        [limits]
        call_wall_time_ms = 1
        concurrent_calls_per_capability = 1000000
        [retention]
        event_days = 0
        [tokens]
        access_seconds = 1
        refresh_days = 0
        key_days = 4000
        [roles]
        pages = "No id"
        [grants]
        "no/id" = ["sms"]
    "#;
    std::fs::write(folder.path().join("portolan.toml"), configuration).unwrap();
    let output = run(folder.path(), &["serve"]);
    assert_eq!(output.status.code(), Some(1));
    for part in [
        "listen is",
        "public_url cannot be used",
        "trusted_keys has \"ed25519:12\"",
        "trusted_proxies has \"everybody\"",
        "limits.call_wall_time_ms is 1",
        "limits.concurrent_calls_per_capability is above",
        "retention.event_days is 0",
        "tokens.access_seconds is 1",
        "tokens.refresh_days is 0",
        "tokens.key_days is 4000",
        "roles.pages is \"No id\"",
        "grants has \"no/id\"",
    ] {
        assert!(stderr(&output).contains(part), "{part}: {}", stderr(&output));
    }
    std::fs::write(folder.path().join("portolan.toml"), "colour = 1\n").unwrap();
    let output = run(folder.path(), &["serve"]);
    assert!(stderr(&output).contains("colour"), "{}", stderr(&output));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    std::fs::write(folder.path().join("portolan.toml"), "").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = run(folder.path(), &["serve", "--listen", &address]);
    assert!(stderr(&output).contains("--listen"), "{}", stderr(&output));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_sees_who_did_what() {
    let host = Host::with(&["ledger"]).await;
    let agent = host.claimed_agent().await;
    for account in ["ada", "bob", "ada"] {
        agent.call("ledger", json!({ "action": "open", "account": account })).await;
    }
    let folder = host.folder.path();
    let ask = |arguments: &[&str]| {
        let output = run(folder, &[&["audit"], arguments].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let all = ask(&["--capability", "ledger", "--json"]);
    let rows: Vec<Value> = all.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let outcomes: Vec<_> = rows.iter().map(|row| row["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["account_exists", "ok", "ok"]);
    assert_eq!((&rows[0]["owner_id"], &rows[0]["via"]), (&json!("own_test"), &json!([])));
    let agent_id = rows[0]["agent_id"].as_str().unwrap();
    assert_eq!(ask(&["--agent", agent_id, "--outcome", "failed"]).lines().count(), 1);
    assert_eq!(ask(&["--since", "1h", "--limit", "2"]).lines().count(), 2);
    assert_eq!(ask(&["--until", "1h"]).lines().count(), 0);
    assert!(ask(&["--action", "open", "--outcome", "ok"]).contains("ledger.open"));
    let output = run(folder, &["audit", "--since", "yesterday"]);
    assert!(stderr(&output).contains("write 30m, 12h, 7d"), "{}", stderr(&output));
    let wrong =
        host.operator.get(format!("{}/audit?limit=x", host.admin_url)).send().await.unwrap();
    Reply::read(wrong).await.assert_refused(400, "validation_failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_of_a_running_host_is_restored() {
    let host = Process::with(&["ledger"]);
    let agent = host.claimed_agent().await;
    let open = |account: &str| json!({ "action": "open", "account": account });
    let balance = |account: &str| json!({ "action": "balance", "account": account });
    agent.result("ledger", open("kept")).await;
    let output = run(host.folder.path(), &["backup", "copy.db"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("secret.keys"), "{}", stderr(&output));
    let again = run(host.folder.path(), &["backup", "copy.db"]);
    assert!(!again.status.success() && stderr(&again).contains("copy.db"), "{}", stderr(&again));
    agent.result("ledger", open("lost")).await;
    let running = run(host.folder.path(), &["restore", "copy.db"]);
    assert!(stderr(&running).contains("another host uses"), "{}", stderr(&running));

    host.signal("KILL");
    let (_, folder) = host.wait();
    std::fs::write(folder.path().join("wrong.db"), "nonsense").unwrap();
    let wrong = run(folder.path(), &["restore", "wrong.db"]);
    assert!(
        stderr(&wrong).contains("wrong.db is not a database of Portolan"),
        "{}",
        stderr(&wrong)
    );
    let restored = run(folder.path(), &["restore", "copy.db"]);
    assert!(restored.status.success(), "{}", stderr(&restored));
    assert!(stdout(&restored).contains("data/portolan.db.before-1"), "{}", stdout(&restored));
    assert!(folder.path().join("data/portolan.db.before-1").exists());

    let migrated = run(folder.path(), &["migrate"]);
    assert!(stdout(&migrated).contains("the schema is up to date"), "{}", stdout(&migrated));
    let host = Process::start_in(folder);
    let agent = host.claimed_agent().await;
    agent.result("ledger", balance("kept")).await;
    assert_eq!(agent.call("ledger", balance("lost")).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_printed_commands_for_postgresql_work() {
    let (from, to) = (postgres::database().await, postgres::database().await);
    let folder = TempDir::new().unwrap();
    let tell = |what: &str, url: &str| {
        let output = run(folder.path(), &[what, "--database-url", url, "a copy.dump"]);
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    for expected in ["was created: step", "is up to date: step"] {
        let migrated = run(folder.path(), &["migrate", "--database-url", &from]);
        assert!(stdout(&migrated).contains(expected), "{}{}", stdout(&migrated), stderr(&migrated));
    }
    for command in [tell("backup", &from), tell("restore", &to)] {
        let done = std::process::Command::new("sh")
            .args(["-c", &command])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(done.status.success(), "{command}: {}", stderr(&done));
    }
    let migrated = run(folder.path(), &["migrate", "--database-url", &to]);
    assert!(
        stdout(&migrated).contains("is up to date"),
        "{}{}",
        stdout(&migrated),
        stderr(&migrated)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_crashes_its_subscriber_becomes_a_dead_letter_and_is_replayed() {
    let host = Host::with(&["ledger", "notes"]).await;
    let agent = host.claimed_agent().await;
    for account in ["bank", "ada"] {
        agent.result("ledger", json!({ "action": "open", "account": account })).await;
    }
    let note = json!({ "title": "what makes the subscriber crash" });
    agent.result("notes", json!({ "action": "put", "id": "poison", "note": note })).await;
    let transfer = |memo: &str| json!({ "action": "transfer", "from": "bank", "to": "ada", "amount": 1, "memo": memo });
    let poisoned = agent.result("ledger", transfer("poison")).await["transfer"].clone();
    let letters = || {
        let output = run(host.folder.path(), &["dead-letters", "list"]);
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    // Each attempt is after a longer wait than the last.
    for attempt in 1..=8 {
        let made = format!("SELECT lane FROM deliveries WHERE attempts = {attempt}");
        let made = async || !host.database().texts(&made).await.is_empty();
        wait_until("an attempt", made).await;
        host.advance(HOUR).await;
    }
    assert!(letters().contains("capability_trapped"), "{}", letters());
    assert!(letters().contains("notes.on_transferred failed 8 times"), "{}", letters());

    // A later event is delivered although the first one failed for good.
    let later = agent.result("ledger", transfer("fine")).await["transfer"].clone();
    let ask = json!({ "action": "heard", "subject": "accounts/bank" });
    let transfers = async || agent.result("notes", ask.clone()).await["transfers"].clone();
    wait_until("the later one", async || transfers().await == json!([later])).await;

    // Further ones are dropped, by number and all.
    let columns = "event_seq, capability, action, lane, attempts, due_at, dead, last_error";
    let copy = format!(
        "INSERT INTO deliveries ({columns}) SELECT {columns} FROM deliveries WHERE dead = 1"
    );
    assert_eq!(host.database().execute(&copy).await, 1);
    let dead = "SELECT CAST(id AS TEXT) FROM deliveries WHERE dead = 1 ORDER BY id";
    let numbers = host.database().texts(dead).await;
    let drop = ["dead-letters", "drop", &*numbers[1], "987654"];
    let output = run(host.folder.path(), &drop);
    assert!(!output.status.success());
    assert!(stdout(&output).contains("dead letters that are removed: 1"), "{}", stdout(&output));
    assert!(stderr(&output).contains("with these numbers: 987654"), "{}", stderr(&output));
    assert_eq!(host.database().texts(dead).await, numbers[..1]);

    agent.result("notes", json!({ "action": "delete", "id": "poison" })).await;
    let replay = ["dead-letters", "replay", "--all"];
    let output = run(host.folder.path(), &replay);
    assert!(
        stdout(&output).contains("1 events will be delivered again"),
        "{}{}",
        stdout(&output),
        stderr(&output)
    );
    wait_until("the mended one", async || transfers().await == json!([later, poisoned])).await;
    assert_eq!(letters(), "");
    let given_up = "INSERT INTO deliveries (event_seq, capability, action, lane, attempts, due_at, dead, last_error)
                    SELECT seq, 'gone', 'on_transferred', 'gone', 8, 0, 1, 'it is gone' FROM events LIMIT 2";
    let count = host.database().execute(given_up).await;
    let output = run(host.folder.path(), &["dead-letters", "drop", "--all"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let removed = format!("dead letters that are removed: {count}");
    assert!(count > 0 && stdout(&output).contains(&removed), "{}", stdout(&output));
    assert_eq!(letters(), "");
}

async fn wait_until(what: &str, wanted: impl AsyncFn() -> bool) {
    let started = std::time::Instant::now();
    while !wanted().await {
        assert!(started.elapsed() < PATIENCE, "no {what}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}
