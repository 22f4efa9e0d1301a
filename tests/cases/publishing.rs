//! Versions are published, recorded, and refused.

use crate::harness::{
    Host, Options, Reply, command, component, patched,
    publishing::{
        arrivals, breaking_version, fails, files, history, pairs, portolan, post, publish,
        publish_ok, succeeds, version, wait_for_arrivals, write_component,
    },
    unsigned,
};
use serde_json::{Value, json};
use std::fs;

#[tokio::test(flavor = "multi_thread")]
async fn versions_are_recorded_for_every_kind_of_arrival() {
    let host = Host::with(&["template"]).await;
    assert_eq!(wait_for_arrivals(&host, "template_000", 1).await, pairs(&[("1.2.0", "dropped")]));
    host.drop_in("template.wasm", &version("1.3.0"));
    host.wait_for_version("template_000", "1.3.0").await;
    wait_for_arrivals(&host, "template_000", 2).await;
    let file = write_component(&host, "template.wasm", &version("1.4.0"));
    let folder = host.folder.path();
    let output = succeeds(folder, &["publish", &file, "--by", "ada"]).await;
    assert!(output.contains("template_000 1.4.0 serves in place of 1.3.0 (sha256:"), "{output}");
    let expected = [("1.4.0", "published"), ("1.3.0", "dropped"), ("1.2.0", "dropped")];
    assert_eq!(arrivals(&host, "template_000").await, pairs(&expected));
    let shown = succeeds(folder, &["history", "template_000"]).await;
    for part in [
        "template_000 1.4.0 serves at this node",
        "* 1.4.0",
        "  1.3.0",
        "by ada",
        "publisher unsigned:template",
        "from the catalog folder",
        "built/template.wasm",
        "desired",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let shown = succeeds(folder, &["history", "template_000", "--json"]).await;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["desired"], shown["versions"][0]["seq"], "{shown:#}");
    assert_eq!(shown["versions"][0]["breaking"], json!([]));
    // The file in the catalog folder is the published one.
    assert_eq!(fs::read(host.catalog().join("template.wasm")).unwrap(), version("1.4.0"));
    let audit = host.operate("/audit?capability=template_000&action=operator:publish").await.body;
    assert_eq!(audit["entries"][0]["version"], "1.4.0", "{audit:#}");
    // The same content does not make a second version.
    let output = succeeds(folder, &["publish", &file]).await;
    assert!(output.contains("template_000 1.4.0 serves already"), "{output}");
    assert_eq!(arrivals(&host, "template_000").await, pairs(&expected));
    let unknown = fails(folder, &["history", "nothing"]).await;
    assert!(unknown.contains("no version of nothing was ever here"), "{unknown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_version_gives_the_reason_of_a_check_and_leaves_nothing() {
    let host = Host::with(&["template"]).await;
    wait_for_arrivals(&host, "template_000", 1).await;
    let before = files(&host);
    let folder = host.folder.path();
    let truncated = &component("template")[..2000];
    for (name, content) in [
        ("cut.wasm", truncated.to_vec()),
        ("text.wasm", b"hello".to_vec()),
        ("bad.wasm", component("describe_lies")),
    ] {
        let file = write_component(&host, name, &content);
        let checked = portolan(folder, &["check", &file]).await;
        let line = checked.output.lines().find(|line| line.contains("not fit for a catalog"));
        let line = line.unwrap_or_else(|| panic!("{name}: {}", checked.output));
        let error = fails(folder, &["publish", &file]).await;
        assert!(error.contains(line), "{line}\n{error}");
        assert!(error.contains("to fix it: "), "{error}");
    }
    let error = fails(folder, &["publish", "built/bad.wasm", "--name", "../bad.wasm"]).await;
    assert!(error.contains("is not the name of a file"), "{error}");
    // An unsigned component under another file's name is another publisher's.
    let file = write_component(&host, "other.wasm", &version("1.3.0"));
    let error = fails(folder, &["publish", &file]).await;
    assert!(error.contains("publisher_mismatch") && error.contains("--name"), "{error}");
    succeeds(folder, &["publish", &file, "--name", "template.wasm"]).await;
    // The file of another capability is not replaced.
    let another = patched(&component("template"), &[("template_000", "template_042")]);
    let reply = publish(&host, "template.wasm", another).await;
    assert_eq!(reply.body["conflict"]["reason"], "file_taken", "{}", reply.text);
    assert_eq!(files(&host), before);
    let expected = [("1.3.0", "published"), ("1.2.0", "dropped")];
    assert_eq!(arrivals(&host, "template_000").await, pairs(&expected));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_file_with_the_content_that_serves_is_of_another_publisher() {
    let host = Host::with(&["template"]).await;
    wait_for_arrivals(&host, "template_000", 1).await;
    let folder = host.folder.path();
    let file = write_component(&host, "template.wasm", &version("1.3.0"));
    succeeds(folder, &["publish", &file]).await;
    let before = files(&host);
    let copy = write_component(&host, "zz.wasm", &version("1.3.0"));
    let refused = fails(folder, &["publish", &copy]).await;
    assert!(refused.contains("publisher_mismatch"), "{refused}");
    assert_eq!(files(&host), before);
    succeeds(folder, &["rollback", "template_000"]).await;
    host.wait_for_version("template_000", "1.2.0").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_breaking_version_needs_a_new_major_version() {
    let host = Host::with(&["template"]).await;
    let folder = host.folder.path();
    let file = write_component(&host, "template.wasm", &breaking_version("1.3.0"));
    // `portolan check` reports the break before anything is published.
    let checked = portolan(folder, &["check", &file, "--against", &host.url]).await;
    assert!(!checked.succeeded);
    assert!(checked.output.contains("action bravo: is removed"), "{}", checked.output);
    let error = fails(folder, &["publish", &file]).await;
    for part in ["version 1.3.0 breaks callers of 1.2.0", "action bravo: is removed", "2.0.0"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    host.wait_for_version("template_000", "1.2.0").await;
    let file = write_component(&host, "template.wasm", &breaking_version("2.0.0"));
    let output = succeeds(folder, &["publish", &file]).await;
    assert!(output.contains("breaking: action bravo is removed"), "{output}");
    let entry = history(&host, "template_000").await["versions"][0].clone();
    assert_eq!(entry["breaking"], json!(["action bravo is removed"]), "{entry:#}");
    let allowed = "[publish]\nbreaking = \"allow\"\n";
    let lenient = Host::start(Options::with(&["template"]).configuration(allowed)).await;
    let answer = publish_ok(&lenient, "template.wasm", breaking_version("1.3.0")).await;
    assert_eq!(answer["breaking"], json!(["action bravo is removed"]), "{answer:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn signatures_are_verified_when_a_version_is_published() {
    let keys = Options::with(&[]).folder();
    let at = |name: &str| keys.path().join(name).to_str().unwrap().to_owned();
    let friend = succeeds(keys.path(), &["keygen", &at("friend.key")]).await;
    succeeds(keys.path(), &["keygen", &at("stranger.key")]).await;
    let signed = async |key: &str, content: Vec<u8>| {
        fs::write(at("to-sign.wasm"), content).unwrap();
        succeeds(keys.path(), &["sign", &at("to-sign.wasm"), "--key", &at(key)]).await;
        fs::read(at("to-sign.wasm")).unwrap()
    };
    let configuration = format!("trust = \"signed\"\ntrusted_keys = [\"{}\"]\n", friend.trim());
    let host = Host::start(Options::with(&[]).configuration(&configuration)).await;
    let first = signed("friend.key", version("1.2.0")).await;
    let second = signed("friend.key", version("1.3.0")).await;
    let foreign = signed("stranger.key", version("1.4.0")).await;
    let mut tampered = signed("friend.key", version("1.5.0")).await;
    let middle = tampered.len() / 2;
    tampered[middle] ^= 1;
    publish_ok(&host, "first.wasm", first.clone()).await;
    // A signed version replaces the file that serves, whatever its own name.
    publish_ok(&host, "second.wasm", second).await;
    assert_eq!(files(&host), [host.catalog().join("first.wasm")]);
    for (content, expected) in [
        (version("1.6.0"), "not_signed"),
        (foreign, "key_not_trusted"),
        (tampered, "signature_invalid"),
        // An older version of the same publisher.
        (first.clone(), "version_downgrade"),
    ] {
        let reply = publish(&host, "first.wasm", content).await;
        assert_eq!(reply.body["conflict"]["reason"], expected, "{}", reply.text);
    }
    host.wait_for_version("template_000", "1.3.0").await;
    assert_eq!(arrivals(&host, "template_000").await.len(), 2);
    // The operator may roll back to it, which also restores the file.
    let reply = post(&host, "/catalog/template_000/rollback?to=1.2.0", Vec::new()).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    host.wait_for_version("template_000", "1.2.0").await;
    assert_eq!(fs::read(host.catalog().join("first.wasm")).unwrap(), first);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_waits_for_the_permission_that_it_needs() {
    let options = Options::with(&["ledger"]).configuration("[grants]\nledger = []\n");
    let host = Host::start(options).await;
    host.wait_for("ledger", |status| !status["loaded"].as_array().unwrap().is_empty()).await;
    let answer = publish_ok(&host, "notes.wasm", component("notes")).await;
    assert_eq!(answer["state"], "pending_approval", "{answer:#}");
    assert_eq!(answer["missing"], json!(["subscribe:ledger.transferred"]));
    let entry = history(&host, "notes").await["versions"][0].clone();
    assert_eq!(entry["state"], "pending_approval", "{entry:#}");
    let row = host.wait_for_refusal("notes.wasm").await;
    assert_eq!(row["reason"], "pending_approval", "{row:#}");
    assert!(!host.catalog().join("notes.wasm").exists());
    host.decide("notes", "approve").await;
    host.wait_for_version("notes", "1.0.0").await;
    let entry = history(&host, "notes").await["versions"][0].clone();
    assert_eq!(entry["state"], "accepted", "{entry:#}");
    assert!(host.catalog().join("notes.wasm").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_operator_publishes() {
    let host = Host::with(&["template"]).await;
    let path = "/catalog/publish?file=template.wasm";
    let admin = format!("{}{path}", host.admin_url);
    for url in [admin.as_str(), &format!("{}{path}", host.url)] {
        let request = host.client.post(url).body(version("1.3.0"));
        let reply = Reply::read(request.send().await.unwrap()).await;
        assert!([401, 404].contains(&reply.status.as_u16()), "{}", reply.text);
    }
    // The command can also use the address and the token, as from another machine.
    let file = write_component(&host, "template.wasm", &version("1.3.0"));
    let token = fs::read_to_string(host.folder.path().join("data/operator.token")).unwrap();
    let elsewhere = Options::with(&[]).folder();
    let mut publish = command(elsewhere.path());
    publish
        .arg("publish")
        .arg(host.folder.path().join(file))
        .args(["--admin-url", &host.admin_url]);
    publish.env("PORTOLAN_OPERATOR_TOKEN", token.trim());
    let status = tokio::task::spawn_blocking(move || publish.status()).await.unwrap().unwrap();
    assert!(status.success());
    host.wait_for_version("template_000", "1.3.0").await;
    let large = "[limits]\ncomponent_bytes = 5000\n";
    let small = Host::start(Options::with(&[]).configuration(large)).await;
    let reply = publish_of(&small, unsigned(&component("owners"))).await;
    assert_eq!(reply.body["conflict"]["reason"], "too_large", "{}", reply.text);
}

async fn publish_of(host: &Host, content: Vec<u8>) -> Reply {
    publish(host, "large.wasm", content).await
}

/// The host answers before such a component has arrived, and closes the connection.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_operator_reads_why_whatever_the_size_of_the_component() {
    let host = Host::with(&["template"]).await;
    let elsewhere = tempfile::TempDir::new().unwrap();
    fs::write(elsewhere.path().join("large.wasm"), vec![0; 16 << 20]).unwrap();
    let publish = ["publish", "large.wasm", "--admin-url", &host.admin_url];
    let error = fails(elsewhere.path(), &publish).await;
    assert!(error.contains("Send the operator's token"), "{error}");
    assert!(error.contains("PORTOLAN_OPERATOR_TOKEN"), "{error}");
}
