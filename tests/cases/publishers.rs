//! Publishers: an id, with its documents, secrets and permission grants, belongs to the publisher
//! from whom it was first installed, and a component reaches only what it declares and the operator
//! permits.

use crate::harness::{Host, Options, Process, command, component, find_row, patched, unsigned};
use serde_json::json;
use std::{fs, path::Path, process::Output, time::Duration};

fn run_portolan(folder: &Path, arguments: &[&str]) -> Output {
    let output = command(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Signs a component with the key in this file of the folder, which is created
/// if it does not exist.
fn signed(folder: &Path, key: &str, component: &[u8]) -> Vec<u8> {
    let (key, file) = (folder.join(key), folder.join("to-sign.wasm"));
    if !key.exists() {
        run_portolan(folder, &["keygen", key.to_str().unwrap()]);
    }
    fs::write(&file, component).unwrap();
    run_portolan(folder, &["sign", file.to_str().unwrap(), "--key", key.to_str().unwrap()]);
    fs::read(file).unwrap()
}

fn with_version(component: &[u8], version: &str) -> Vec<u8> {
    patched(component, &[("1.2.0", version)])
}

fn restart(host: Process) -> Process {
    host.signal("TERM");
    let (status, folder) = host.wait();
    assert!(status.success());
    Process::start_in(folder)
}

async fn refusal_reason(host: &Host, file: &str) -> String {
    host.wait_for_refusal(file).await["reason"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_id_of_a_shipped_capability_cannot_be_taken() {
    let names = ["svc_phone_binding", "owners"];
    let thief = || ("aaa_weather.wasm".to_owned(), unsigned(&component("svc_phone_binding")));
    let other = || ("aaa_owners.wasm".to_owned(), unsigned(&component("owners")));
    let mut options = Options::with(&names);
    options.components.extend([thief(), other()]);
    // The copies are refused at the first start of a data folder, although their names sort first.
    let host = Process::start(options);
    assert_eq!(refusal_reason(&host, "aaa_weather.wasm").await, "reserved_id");
    assert_eq!(refusal_reason(&host, "aaa_owners.wasm").await, "publisher_mismatch");
    let status = host.status().await;
    for (id, file) in [("svc.phone-binding", "svc_phone_binding.wasm"), ("owners", "owners.wasm")] {
        let row = find_row(&status, "loaded", "id", id).unwrap();
        assert_eq!((&row["file"], &row["publisher"]), (&json!(file), &json!("host")));
    }
    // They are refused while the shipped files are removed.
    for name in names {
        fs::remove_file(host.catalog().join(format!("{name}.wasm"))).unwrap();
    }
    host.wait_for("nothing", |status| status["loaded"] == json!([])).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(host.status().await["loaded"], json!([]));
    assert_eq!(refusal_reason(&host, "aaa_owners.wasm").await, "publisher_mismatch");
    // They are refused after a restart without the shipped files.
    let host = restart(host);
    assert_eq!(host.status().await["loaded"], json!([]));
    assert_eq!(refusal_reason(&host, "aaa_weather.wasm").await, "reserved_id");
    assert_eq!(refusal_reason(&host, "aaa_owners.wasm").await, "publisher_mismatch");
    // When a shipped file is copied again, it serves.
    host.drop_in("owners.wasm", &component("owners"));
    host.wait_for_version("owners", "1.0.0").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_that_look_like_anothers_are_refused() {
    let host = Host::with(&["template"]).await;
    for (file, id) in [("one", "temp1ate_000"), ("two", "template-000"), ("three", "template_ooo")]
    {
        let file = format!("{file}.wasm");
        host.drop_in(&file, &patched(&component("template"), &[("template_000", id)]));
        let row = host.wait_for_refusal(&file).await;
        assert_eq!(row["reason"], "id_looks_alike", "{row:#}");
        assert!(row["message"].as_str().unwrap().contains("template_000"), "{row:#}");
    }
    // Another id of another publisher goes live at once.
    host.drop_in(
        "four.wasm",
        &patched(&component("template"), &[("template_000", "template_042")]),
    );
    host.wait_for_version("template_042", "1.2.0").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signature_binds_an_id_to_a_key() {
    let folder = Options::with(&[]).folder();
    let template = component("template");
    let first = signed(folder.path(), "first.key", &template);
    let newer = signed(folder.path(), "first.key", &with_version(&template, "1.3.0"));
    let forged = signed(folder.path(), "second.key", &with_version(&template, "1.4.0"));
    let host = Host::start_in(folder).await;
    host.drop_in("template.wasm", &first);
    host.wait_for_version("template_000", "1.2.0").await;
    // New content of the same file: without a signature, with another key, and changed
    // after it was signed.
    let changed = patched(&newer, &[("1.3.0", "1.9.0")]);
    for (content, expected) in [
        (with_version(&template, "1.4.0"), "publisher_mismatch"),
        (forged, "publisher_mismatch"),
        (changed, "signature_invalid"),
    ] {
        host.drop_in("template.wasm", &content);
        let what = format!("{expected} of template.wasm");
        host.wait_for(&what, |status| {
            find_row(status, "refused", "file", "template.wasm")
                .is_some_and(|row| row["reason"] == expected && row["still_serving"] == "1.2.0")
        })
        .await;
    }
    // A refused file leaves nothing behind: the newer version counts once it serves.
    host.drop_in("template.wasm", &first);
    host.drop_in("renamed.wasm", &newer);
    assert_eq!(refusal_reason(&host, "renamed.wasm").await, "duplicate_id");
    // The key, and not the file's name, is the publisher.
    fs::remove_file(host.catalog().join("template.wasm")).unwrap();
    host.wait_for_version("template_000", "1.3.0").await;
    // An older version is refused until the operator wants it.
    host.drop_in("renamed.wasm", &first);
    assert_eq!(refusal_reason(&host, "renamed.wasm").await, "version_downgrade");
    host.decide("template_000", "rollback").await;
    host.wait_for_version("template_000", "1.2.0").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_publisher_changes_its_key_by_a_statement_of_the_old_one() {
    let folder = Options::with(&[]).folder();
    let keys = folder.path().to_owned();
    let template = component("template");
    let first = signed(&keys, "old.key", &template);
    let after = signed(&keys, "old.key", &with_version(&template, "1.4.0"));
    let stranger = signed(&keys, "new.key", &with_version(&template, "1.3.0"));
    let named = |name: &str| keys.join(name).to_str().unwrap().to_owned();
    run_portolan(&keys, &["keygen", &named("successor.key"), "--succeeds", &named("old.key")]);
    let succeeded = signed(&keys, "successor.key", &with_version(&template, "1.3.0"));
    run_portolan(&keys, &["keygen", &named("third.key"), "--succeeds", &named("successor.key")]);
    let third = signed(&keys, "third.key", &with_version(&template, "1.5.0"));

    let host = Host::start_in(folder).await;
    let refused = async |content: &[u8]| {
        host.drop_in("template.wasm", content);
        host.wait_for("publisher_mismatch", |status| {
            find_row(status, "refused", "file", "template.wasm")
                .is_some_and(|row| row["reason"] == "publisher_mismatch")
        })
        .await;
    };
    host.drop_in("template.wasm", &first);
    host.wait_for_version("template_000", "1.2.0").await;
    refused(&stranger).await;
    host.drop_in("template.wasm", &succeeded);
    host.wait_for_version("template_000", "1.3.0").await;
    // The id belongs to the new key now, and the old key cannot take it back.
    refused(&after).await;
    let recorded = host.operate("/audit?capability=template_000&action=publisher:succeed").await;
    assert_eq!(recorded.body["entries"].as_array().unwrap().len(), 1, "{}", recorded.text);
    // A host that missed a key reads the whole succession from the last one.
    host.drop_in("template.wasm", &third);
    host.wait_for_version("template_000", "1.5.0").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_trusted_keys_are_loaded_if_the_operator_says_so() {
    let keys = Options::with(&[]).folder();
    let template = component("template");
    let friend = signed(keys.path(), "friend.key", &template);
    let stranger = signed(keys.path(), "stranger.key", &template);
    let printed =
        run_portolan(keys.path(), &["keygen", keys.path().join("x.key").to_str().unwrap()]);
    assert!(text(&printed.stdout).starts_with("ed25519:"), "{}", text(&printed.stdout));
    let sheet = keys.path().join("friend.wasm");
    fs::write(&sheet, &friend).unwrap();
    let sheet = text(&run_portolan(keys.path(), &["check", sheet.to_str().unwrap()]).stdout);
    let key = sheet.lines().find_map(|line| line.trim().strip_prefix("publisher ")).unwrap();
    let configuration = format!("trust = \"signed\"\ntrusted_keys = [\"{key}\"]\n");
    let host = Host::start(Options::with(&["owners"]).configuration(&configuration)).await;
    host.wait_for_version("owners", "1.0.0").await;
    for (file, content, expected) in [
        ("unsigned.wasm", &template, "not_signed"),
        ("stranger.wasm", &stranger, "key_not_trusted"),
    ] {
        host.drop_in(file, content);
        assert_eq!(refusal_reason(&host, file).await, expected);
    }
    host.drop_in("friend.wasm", &friend);
    host.wait_for_version("template_000", "1.2.0").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_waits_until_the_operator_permits_what_it_needs() {
    // Another publisher's component that calls internal actions.
    let mut options = Options::with(&["owners", "social_permissions", "social_relationships"]);
    options.components.push(("clerk.wasm".into(), component("clerk")));
    let host = Process::start(options.configuration("[grants]\n"));
    let row = host.wait_for_refusal("clerk.wasm").await;
    assert_eq!(row["reason"], "pending_approval", "{row:#}");
    let message = row["message"].as_str().unwrap();
    assert!(message.contains("invoke:social_permissions.relate"), "{message}");
    // A capability that is not installed needs no permission yet.
    assert!(!message.contains("calendar"), "{message}");
    let permitted = host.decide("clerk", "approve").await;
    let permitted: Vec<_> = permitted["permitted"].as_array().unwrap().iter().collect();
    assert!(permitted.contains(&&json!("invoke:social_permissions.allowed")), "{permitted:?}");
    host.wait_for_version("clerk", "1.0.0").await;
    let agent = host.claimed_agent().await;
    let tuple = json!({ "object": "listing:lst_1", "relation": "owner", "subject": "owner:own_1" });
    let state = json!({ "action": "state", "write": [tuple], "delete": [] });
    agent.result("clerk", state).await;
    // A call of a capability that is installed later and not permitted is refused and recorded.
    host.drop_in("calendar.wasm", &component("calendar"));
    host.wait_for_version("calendar", "1.0.0").await;
    let release = json!({ "action": "release", "ref": "mtg_1" });
    let refused = agent.call("clerk", release.clone()).await;
    refused.assert_refused(403, "not_permitted");
    assert!(refused.body["message"].as_str().unwrap().contains("calendar release"));
    host.wait_for("missing permissions", |status| {
        find_row(status, "loaded", "id", "clerk").is_some_and(|row| row["missing"].is_array())
    })
    .await;
    let recorded = host.operate("/audit?capability=calendar&action=release").await;
    assert_eq!(recorded.body["entries"][0]["outcome"], "not_permitted", "{}", recorded.text);
    assert_eq!(recorded.body["entries"][0]["via"], json!(["clerk"]));
    host.decide("clerk", "approve").await;
    host.wait_for("permissions", |status| {
        find_row(status, "loaded", "id", "clerk").is_some_and(|row| row.get("missing").is_none())
    })
    .await;
    agent.result("clerk", release).await;
    // The decisions are kept after a restart.
    let host = restart(host);
    host.wait_for_version("clerk", "1.0.0").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_cannot_publish_or_receive_what_belongs_to_others() {
    let host =
        Host::start(Options::with(&["ledger", "notes"]).configuration("[grants]\nledger = []\n"))
            .await;
    // The transfers of another publisher are sensitive.
    let row = host.wait_for_refusal("notes.wasm").await;
    assert_eq!(row["reason"], "pending_approval");
    assert!(row["message"].as_str().unwrap().contains("subscribe:ledger.transferred"), "{row:#}");
    // The namespace of an event belongs to its publisher.
    let herald = patched(
        &component("herald"),
        &[("herald.told", "ledger.told"), ("herald.rumoured", "ledger.rumoured")],
    );
    host.drop_in("herald.wasm", &herald);
    let row = host.wait_for_refusal("herald.wasm").await;
    assert_eq!(row["reason"], "namespace_taken", "{row:#}");
    assert!(row["fix"].as_str().unwrap().contains("adopt herald"), "{row:#}");
}
