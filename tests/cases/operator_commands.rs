//! The operator's commands on a running host: what they print, what they change, and what they refuse.

use crate::harness::{Agent, Host, Options, command, component, find_row, patched};
use serde_json::{Value, json};
use std::{fs, process::Stdio};

/// Runs a command beside a host. Returns whether it succeeded, and what it printed.
fn run(host: &Host, arguments: &[&str]) -> (bool, String) {
    let mut command = command(host.folder.path());
    let output = command.stderr(Stdio::piped()).args(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

/// Runs a command that must succeed and print these parts.
fn prints(host: &Host, arguments: &[&str], parts: &[&str]) -> String {
    let (succeeded, text) = run(host, arguments);
    assert!(succeeded, "{arguments:?}: {text}");
    for part in parts {
        assert!(text.contains(part), "{arguments:?} does not print {part}: {text}");
    }
    text
}

/// Runs a command that must fail and print this part.
fn fails(host: &Host, arguments: &[&str], part: &str) {
    let (succeeded, text) = run(host, arguments);
    assert!(!succeeded && text.contains(part), "{arguments:?} does not print {part}: {text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_in_quarantine_are_shown_repaired_and_dropped() {
    let host = Host::with(&["library"]).await;
    prints(&host, &["documents"], &["no document is in quarantine"]);
    prints(&host, &["sources"], &["no source is named"]);
    let agent = host.claimed_agent().await;
    for id in ["bad", "worse"] {
        let put = json!({ "action": "put", "id": id, "title": "broken", "code": id });
        agent.result("library", put).await;
    }
    for index in 0..8 {
        let (id, title) = (format!("book_{index}"), "fine");
        let put = json!({ "action": "put", "id": id, "title": title, "code": id });
        agent.result("library", put).await;
    }
    host.drop_in("library.wasm", &component("library_next"));
    host.wait_for_version("library", "2.0.0").await;
    let list = ["library books bad", "library books worse", "could not be migrated since"];
    prints(&host, &["documents"], &list);
    let listed = prints(&host, &["documents", "--json"], &[]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed["documents"].as_array().unwrap().len(), 2);
    prints(&host, &["documents", "show", "library", "books", "bad"], &["\"title\": \"broken\""]);
    let corrected = host.folder.path().join("corrected.json");
    let file = corrected.to_str().unwrap();
    let repair = ["documents", "repair", "library", "books", "bad", file];
    fails(&host, &repair, "cannot read");
    fs::write(&corrected, "{").unwrap();
    fails(&host, &repair, "is not JSON");
    // The code belongs to another document.
    fs::write(&corrected, r#"{"name":"Mended","code":"book_1"}"#).unwrap();
    fails(&host, &repair, "unique");
    fs::write(&corrected, r#"{"name":"Mended","code":"bad"}"#).unwrap();
    prints(&host, &repair, &["bad is repaired and serves again"]);
    let drop = ["documents", "drop", "library", "books", "worse"];
    fails(&host, &drop, "--yes");
    prints(&host, &[&drop[..], &["--yes"]].concat(), &["worse is deleted"]);
    prints(&host, &["documents"], &["no document is in quarantine"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_catalog_shows_permissions_and_quotas_and_takes_decisions() {
    let host =
        Host::start(Options::with(&["greeter", "notes", "texter"]).configuration("[grants]")).await;
    let vacant =
        ["2 loaded, 1 refused", "(pending_approval)", "approve texter --digest", "vacant role: "];
    let sheet = prints(&host, &["catalog"], &vacant);
    let digest = sheet.split("--digest ").nth(1).unwrap().split('`').next().unwrap().to_owned();
    let wrong = digest.replace(|letter: char| letter.is_ascii_digit(), "f");
    fails(&host, &["catalog", "approve", "texter", "--digest", &wrong], "digest");
    let approve = ["catalog", "approve", "texter", "--digest", &digest];
    prints(&host, &approve, &["texter may now: sms"]);
    host.wait_for_version("texter", "1.0.0").await;
    prints(&host, &["catalog"], &["3 loaded, 0 refused"]);
    let permissions =
        ["greeter (unsigned:greeter)", "portolan:capability/sms@2.0.0", "texter (unsigned:texter)"];
    prints(&host, &["catalog", "--permissions"], &permissions);
    let note = json!({ "title": "a note", "body": "" });
    let put = json!({ "action": "put", "id": "one", "note": note });
    host.claimed_agent().await.result("notes", put).await;
    prints(&host, &["catalog", "--quotas"], &["quota: notes has 1 of "]);
    let status = prints(&host, &["catalog", "--json"], &[]);
    let status: Value = serde_json::from_str(&status).unwrap();
    assert!(find_row(&status, "loaded", "id", "greeter").is_some());

    let newer = patched(&component("greeter"), &[("Hello, ", "Howdy, ")]);
    host.drop_in("another.wasm", &newer);
    host.wait_for_refusal("another.wasm").await;
    let refused = ["refused: another.wasm", "(publisher_mismatch)", "catalog adopt greeter"];
    prints(&host, &["catalog"], &refused);
    prints(&host, &["catalog", "adopt", "greeter"], &["greeter belongs to unsigned:another now"]);
    fails(&host, &["catalog", "adopt", "nothing"], "nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_catalog_shows_breaking_changes_and_the_problems_of_a_refused_file() {
    let host = Host::with(&["template"]).await;
    let newer = patched(&component("template"), &[("bravo", "gamma"), ("1.2.0", "1.2.1")]);
    host.drop_in("template.wasm", &newer);
    host.wait_for_version("template_000", "1.2.1").await;
    let change = ["breaking at 20", ": template_000 1.2.0 -> 1.2.1", "  - action bravo is removed"];
    prints(&host, &["catalog"], &change);
    host.drop_in("template.wasm", &component("describe_lies"));
    host.wait_for_refusal("template.wasm").await;
    let refused = [
        "1 loaded, 1 refused",
        "refused: template.wasm",
        "(bad_descriptor)",
        "  - version: \"one\" is not a semantic version",
        "its earlier content, version 1.2.1, still serves",
    ];
    prints(&host, &["catalog"], &refused);
}

#[tokio::test(flavor = "multi_thread")]
async fn timers_keys_and_people_are_shown_and_changed() {
    let host = Host::with(&["ledger", "notes"]).await;
    let owner = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";
    let registered = host.register().await;
    host.claim_for(registered["agent_id"].as_str().unwrap(), owner).await;
    let token = host.token_of(&registered, "svc.read svc.write").await;
    let agent = Agent { host: &host, token };
    for account in ["ada", "bo"] {
        agent.result("ledger", json!({ "action": "open", "account": account })).await;
    }
    let note = json!({ "title": "canary", "body": "" });
    agent.result("notes", json!({ "action": "put", "id": "one", "note": note })).await;
    let order = json!({ "from": "ada", "to": "bo", "amount": 1, "memo": "later" });
    let timer =
        json!({ "action": "schedule", "timer": "later", "after_ms": 3_600_000, "order": order });
    agent.result("ledger", timer).await;
    prints(&host, &["timers", "ledger"], &["ledger", "1 pending", "0 due", "next at "]);
    prints(&host, &["timers", "ledger", "--drop"], &["removed 1 timers of ledger"]);
    assert_eq!(prints(&host, &["timers", "ledger"], &[]), "");
    fails(&host, &["timers", "--drop"], "<ID>");

    let before = prints(&host, &["keys", "list"], &["signs tokens (the newest key)"]);
    let after = prints(&host, &["keys", "rotate"], &["signs tokens from now on (new)"]);
    assert_eq!(before.lines().count() + 1, after.lines().count());

    fails(&host, &["people", "erase", owner], "--yes");
    let exported = prints(&host, &["people", "export", owner], &[]);
    let _json: Value = serde_json::from_str(&exported).unwrap();
    // Without the capability that announces an erasure, there is none that can be cancelled.
    fails(&host, &["people", "erase", owner, "--yes"], "data_rights");
    prints(&host, &["people", "erase", owner, "--yes", "--now"], &["is erased: "]);
}
