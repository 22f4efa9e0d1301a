//! Versions: published, recorded, brought back, on every node of a database.

use crate::harness::{
    Agent, Host, Options, Process, Reply, command, component, patched, postgres, unsigned,
};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

/// What a command has printed: whether it succeeded, standard output, standard error.
struct Printed {
    succeeded: bool,
    output: String,
    error: String,
}

/// Runs a command in the folder of a host, which it reaches by its socket.
async fn portolan(folder: &Path, arguments: &[&str]) -> Printed {
    let mut command = command(folder);
    command.args(arguments).stderr(std::process::Stdio::piped());
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Printed {
        succeeded: output.status.success(),
        output: text(&output.stdout),
        error: text(&output.stderr),
    }
}

async fn succeeds(folder: &Path, arguments: &[&str]) -> String {
    let printed = portolan(folder, arguments).await;
    assert!(printed.succeeded, "{arguments:?}: {}", printed.error);
    printed.output
}

async fn fails(folder: &Path, arguments: &[&str]) -> String {
    let printed = portolan(folder, arguments).await;
    assert!(!printed.succeeded, "{arguments:?}: {}", printed.output);
    printed.error
}

/// Writes a component beside the catalog folder, and returns its name.
fn built(host: &Host, name: &str, content: &[u8]) -> String {
    let folder = host.folder.path().join("built");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), content).unwrap();
    format!("built/{name}")
}

fn version(version: &str) -> Vec<u8> {
    patched(&component("template"), &[("1.2.0", version)])
}

/// A version without the action `bravo`.
fn breaking(version: &str) -> Vec<u8> {
    patched(&component("template"), &[("1.2.0", version), ("bravo", "brave")])
}

async fn post(host: &Host, path: &str, content: Vec<u8>) -> Reply {
    let request = host.operator.post(format!("{}{path}", host.admin_url)).body(content);
    Reply::read(request.send().await.unwrap()).await
}

async fn publish(host: &Host, file: &str, content: Vec<u8>) -> Reply {
    post(host, &format!("/catalog/publish?file={file}&by=ada"), content).await
}

async fn published(host: &Host, file: &str, content: Vec<u8>) -> Value {
    let reply = publish(host, file, content).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.body
}

async fn history(host: &Host, id: &str) -> Value {
    let reply = host.operate(&format!("/catalog/{id}/history")).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.body
}

/// The versions of a history with how they came, the newest first.
async fn arrivals(host: &Host, id: &str) -> Vec<(String, String)> {
    let text = |entry: &Value, name: &str| entry[name].as_str().unwrap().to_owned();
    let history = history(host, id).await;
    let entries = history["versions"].as_array().unwrap().iter();
    entries.map(|entry| (text(entry, "version"), text(entry, "arrival"))).collect()
}

/// Waits until the history has so many entries.
async fn recorded(host: &Host, id: &str, count: usize) -> Vec<(String, String)> {
    let started = Instant::now();
    loop {
        let found = arrivals(host, id).await;
        if found.len() >= count {
            return found;
        }
        assert!(started.elapsed() < crate::harness::PATIENCE, "{found:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(one, other)| ((*one).to_owned(), (*other).to_owned())).collect()
}

/// The version that answers a call.
async fn answers(agent: &Agent<'_>) -> Value {
    let order = json!({ "action": "alpha", "customer": "Ada", "lines": [
        { "article": "ink", "quantity": 1, "price": 300 }] });
    let reply = agent.call("template_000", order).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.body["meta"]["version"].clone()
}

/// The host keeps nothing of what it refused: neither a file nor an entry.
fn files(host: &Host) -> Vec<PathBuf> {
    let entries = fs::read_dir(host.catalog()).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_are_recorded_however_they_come() {
    let host = Host::with(&["template"]).await;
    assert_eq!(recorded(&host, "template_000", 1).await, pairs(&[("1.2.0", "dropped")]));
    host.drop_in("template.wasm", &version("1.3.0"));
    host.loaded("template_000", "1.3.0").await;
    recorded(&host, "template_000", 2).await;
    let file = built(&host, "template.wasm", &version("1.4.0"));
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
    // The file in the folder is the published one, as an operator sees it.
    assert_eq!(fs::read(host.catalog().join("template.wasm")).unwrap(), version("1.4.0"));
    let audit = host.operate("/audit?capability=template_000&action=operator:publish").await.body;
    assert_eq!(audit["entries"][0]["version"], "1.4.0", "{audit:#}");
    // The same content is no second version.
    let output = succeeds(folder, &["publish", &file]).await;
    assert!(output.contains("template_000 1.4.0 serves already"), "{output}");
    assert_eq!(arrivals(&host, "template_000").await, pairs(&expected));
    let unknown = fails(folder, &["history", "nothing"]).await;
    assert!(unknown.contains("no version of nothing was ever here"), "{unknown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_version_gives_the_reason_of_a_check_and_leaves_nothing() {
    let host = Host::with(&["template"]).await;
    recorded(&host, "template_000", 1).await;
    let before = files(&host);
    let folder = host.folder.path();
    let truncated = &component("template")[..2000];
    for (name, content) in [
        ("cut.wasm", truncated.to_vec()),
        ("text.wasm", b"hello".to_vec()),
        ("bad.wasm", component("describe_lies")),
    ] {
        let file = built(&host, name, &content);
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
    let file = built(&host, "other.wasm", &version("1.3.0"));
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
async fn a_breaking_version_needs_a_new_major_version() {
    let host = Host::with(&["template"]).await;
    let folder = host.folder.path();
    let file = built(&host, "template.wasm", &breaking("1.3.0"));
    // The check says it before anything is published.
    let checked = portolan(folder, &["check", &file, "--against", &host.url]).await;
    assert!(!checked.succeeded);
    assert!(checked.output.contains("action bravo: is removed"), "{}", checked.output);
    let error = fails(folder, &["publish", &file]).await;
    for part in ["version 1.3.0 breaks callers of 1.2.0", "action bravo: is removed", "2.0.0"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    host.loaded("template_000", "1.2.0").await;
    let file = built(&host, "template.wasm", &breaking("2.0.0"));
    let output = succeeds(folder, &["publish", &file]).await;
    assert!(output.contains("breaking: action bravo is removed"), "{output}");
    let entry = history(&host, "template_000").await["versions"][0].clone();
    assert_eq!(entry["breaking"], json!(["action bravo is removed"]), "{entry:#}");
    let allowed = "[publish]\nbreaking = \"allow\"\n";
    let lenient = Host::start(Options::with(&["template"]).configuration(allowed)).await;
    let answer = published(&lenient, "template.wasm", breaking("1.3.0")).await;
    assert_eq!(answer["breaking"], json!(["action bravo is removed"]), "{answer:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_earlier_version_comes_back_within_a_second_and_no_call_fails() {
    let host = Host::with(&["template"]).await;
    recorded(&host, "template_000", 1).await;
    for number in ["1.3.0", "1.4.0"] {
        published(&host, "template.wasm", version(number)).await;
    }
    let folder = host.folder.path().to_owned();
    let stop = AtomicBool::new(false);
    let calls = async {
        let (agent, mut count) = (host.agent().await, 0);
        while !stop.load(Ordering::Relaxed) {
            answers(&agent).await;
            count += 1;
        }
        count
    };
    let operator = async {
        let agent = host.agent().await;
        assert_eq!(answers(&agent).await, "1.4.0");
        let started = Instant::now();
        let reply = post(&host, "/catalog/template_000/rollback", Vec::new()).await;
        let serving = answers(&agent).await;
        let took = started.elapsed();
        assert_eq!((reply.status.as_u16(), &reply.body["state"]), (200, &json!("serving")));
        assert_eq!((&reply.body["replaced"], serving), (&json!("1.4.0"), json!("1.3.0")));
        assert!(took < Duration::from_secs(1), "{took:?}");
        // Back by two versions, then to a named one, by the command.
        let output = succeeds(&folder, &["rollback", "template_000"]).await;
        assert!(output.contains("template_000 1.2.0 serves in place of 1.3.0"), "{output}");
        assert_eq!(answers(&agent).await, "1.2.0");
        let error = fails(&folder, &["rollback", "template_000"]).await;
        assert!(error.contains("no version before the serving one"), "{error}");
        let error = fails(&folder, &["rollback", "template_000", "--to", "7.0.0"]).await;
        assert!(error.contains("has no version 7.0.0"), "{error}");
        succeeds(&folder, &["rollback", "template_000", "--to", "1.4.0"]).await;
        assert_eq!(answers(&agent).await, "1.4.0");
        stop.store(true, Ordering::Relaxed);
    };
    let (count, ()) = tokio::join!(calls, operator);
    assert!(count > 10, "{count}");
    let history = arrivals(&host, "template_000").await;
    let back = |number: &str| (number.to_owned(), "rolled_back".to_owned());
    assert_eq!(history[..3], [back("1.4.0"), back("1.2.0"), back("1.3.0")]);
    let audit = host.operate("/audit?capability=template_000&action=operator:rollback").await.body;
    assert_eq!(audit["entries"].as_array().unwrap().len(), 3, "{audit:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_that_documents_do_not_fit_does_not_come_back() {
    let host = Host::with(&["library"]).await;
    let agent = host.claimed_agent().await;
    let fill = |from: u32| json!({ "action": "fill", "from": from, "count": 3 });
    agent.result("library", fill(0)).await;
    recorded(&host, "library", 1).await;
    let answer = published(&host, "library.wasm", component("library_next")).await;
    assert_eq!((&answer["state"], &answer["version"]), (&json!("serving"), &json!("2.0.0")));
    // Nothing was written since, so the documents of the first form are there.
    let reply = post(&host, "/catalog/library/rollback", Vec::new()).await;
    assert_eq!(reply.body["version"], "1.0.0", "{}", reply.text);
    published(&host, "library.wasm", component("library_next")).await;
    agent.result("library", fill(10)).await;
    host.database().execute("UPDATE documents SET updated_at = 0 WHERE id = 'book_00000011'").await;
    let reply = post(&host, "/catalog/library/rollback", Vec::new()).await;
    reply.refused(400, "validation_failed");
    assert_eq!(reply.body["conflict"]["reason"], "documents_of_other_version", "{}", reply.text);
    let book = json!({ "action": "get", "id": "book_00000011" });
    assert_eq!(agent.result("library", book).await["text"], "Title 11");
    assert_eq!(arrivals(&host, "library").await[0], ("2.0.0".into(), "published".into()));
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
    published(&host, "first.wasm", first.clone()).await;
    // A signed version replaces the file that serves, whatever its own name.
    published(&host, "second.wasm", second).await;
    assert_eq!(files(&host), [host.catalog().join("first.wasm")]);
    for (content, expected) in [
        (version("1.6.0"), "not_signed"),
        (foreign, "key_not_trusted"),
        (tampered, "signature_invalid"),
        // An older version of the same publisher, sent again by somebody who has it.
        (first.clone(), "version_downgrade"),
    ] {
        let reply = publish(&host, "first.wasm", content).await;
        assert_eq!(reply.body["conflict"]["reason"], expected, "{}", reply.text);
    }
    host.loaded("template_000", "1.3.0").await;
    assert_eq!(arrivals(&host, "template_000").await.len(), 2);
    // The operator may bring it back, and the host starts with it again.
    let reply = post(&host, "/catalog/template_000/rollback?to=1.2.0", Vec::new()).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    host.loaded("template_000", "1.2.0").await;
    assert_eq!(fs::read(host.catalog().join("first.wasm")).unwrap(), first);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_content_in_the_database_is_not_served() {
    let host = Host::with(&["template"]).await;
    recorded(&host, "template_000", 1).await;
    published(&host, "template.wasm", version("1.3.0")).await;
    let damage = "UPDATE component_contents SET content = substr(content, 2)";
    host.database().execute(damage).await;
    let reply = post(&host, "/catalog/template_000/rollback", Vec::new()).await;
    assert_eq!(reply.body["conflict"]["reason"], "content_missing", "{}", reply.text);
    host.loaded("template_000", "1.3.0").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn old_contents_are_removed_and_the_desired_one_stays() {
    let keep = "[publish]\nkeep = 2\n";
    let host = Host::start(Options::with(&["template"]).configuration(keep)).await;
    recorded(&host, "template_000", 1).await;
    published(&host, "template.wasm", version("1.3.0")).await;
    for (index, number) in ["1.4.0", "1.5.0", "1.6.0"].iter().enumerate() {
        host.drop_in("template.wasm", &version(number));
        host.loaded("template_000", number).await;
        recorded(&host, "template_000", 3 + index).await;
    }
    let history = history(&host, "template_000").await;
    let kept = |number: &str| {
        let entries = history["versions"].as_array().unwrap();
        let entry = entries.iter().find(|entry| entry["version"] == number).unwrap();
        entry["kept"].as_bool().unwrap()
    };
    let expected = [("1.2.0", false), ("1.3.0", true), ("1.4.0", false), ("1.5.0", true)];
    assert_eq!(expected.map(|(number, _)| (number, kept(number))), expected);
    let reply = post(&host, "/catalog/template_000/rollback?to=1.2.0", Vec::new()).await;
    reply.refused(409, "invalid_transition");
    assert_eq!(reply.body["conflict"]["reason"], "not_kept", "{}", reply.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_waits_for_the_permission_that_it_needs() {
    let options = Options::with(&["ledger"]).configuration("[grants]\nledger = []\n");
    let host = Host::start(options).await;
    host.wait_for("ledger", |status| !status["loaded"].as_array().unwrap().is_empty()).await;
    let answer = published(&host, "notes.wasm", component("notes")).await;
    assert_eq!(answer["state"], "pending_approval", "{answer:#}");
    assert_eq!(answer["missing"], json!(["subscribe:ledger.transferred"]));
    let entry = history(&host, "notes").await["versions"][0].clone();
    assert_eq!(entry["state"], "pending_approval", "{entry:#}");
    let row = host.refusal("notes.wasm").await;
    assert_eq!(row["reason"], "pending_approval", "{row:#}");
    assert!(!host.catalog().join("notes.wasm").exists());
    host.decide("notes", "approve").await;
    host.loaded("notes", "1.0.0").await;
    let entry = history(&host, "notes").await["versions"][0].clone();
    assert_eq!(entry["state"], "accepted", "{entry:#}");
    assert!(host.catalog().join("notes.wasm").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_node_of_a_database_serves_what_one_publishes() {
    let url = postgres::database().await;
    let keys = "secret_keys = \"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\"\n";
    let node = |names: &[&str]| Options::with(names).configuration(keys).postgres(&url);
    let one = Host::start(node(&["template"])).await;
    let other = Host::start(node(&["template"])).await;
    recorded(&one, "template_000", 1).await;
    published(&one, "template.wasm", version("1.3.0")).await;
    other.loaded("template_000", "1.3.0").await;
    assert_eq!(fs::read(other.catalog().join("template.wasm")).unwrap(), version("1.3.0"));
    // One that was not there, with an empty folder.
    let late = Host::start(node(&[])).await;
    late.loaded("template_000", "1.3.0").await;
    let reply = post(&other, "/catalog/template_000/rollback", Vec::new()).await;
    assert_eq!(reply.body["version"], "1.2.0", "{}", reply.text);
    for host in [&one, &other, &late] {
        host.loaded("template_000", "1.2.0").await;
    }
    // A file that is put into the folder of one node serves there until the next publication.
    late.drop_in("template.wasm", &version("1.8.0"));
    late.loaded("template_000", "1.8.0").await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    late.loaded("template_000", "1.8.0").await;
    one.loaded("template_000", "1.2.0").await;
    published(&one, "template.wasm", version("1.9.0")).await;
    late.loaded("template_000", "1.9.0").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_killed_between_record_and_file_installs_at_its_start() {
    let host = Process::with(&["template"]);
    recorded(&host, "template_000", 1).await;
    published(&host, "template.wasm", version("1.3.0")).await;
    host.signal("KILL");
    let (_, folder) = host.wait();
    // As if the host had been killed before it wrote the file and its note.
    fs::write(folder.path().join("catalog/template.wasm"), component("template")).unwrap();
    fs::remove_file(folder.path().join("data/catalog.installed")).unwrap();
    let host = Process::start_in(folder);
    host.loaded("template_000", "1.3.0").await;
    assert_eq!(fs::read(host.catalog().join("template.wasm")).unwrap(), version("1.3.0"));
    // What the operator removes stays away.
    fs::remove_file(host.catalog().join("template.wasm")).unwrap();
    host.wait_for("nothing", |status| status["loaded"] == json!([])).await;
    host.signal("TERM");
    let host = Process::start_in(host.wait().1);
    assert_eq!(host.status().await["loaded"], json!([]));
    // And comes back when it is asked for.
    let reply = post(&host, "/catalog/template_000/rollback", Vec::new()).await;
    assert_eq!(reply.body["version"], "1.3.0", "{}", reply.text);
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
    // By the address and the token, as from another machine.
    let file = built(&host, "template.wasm", &version("1.3.0"));
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
    host.loaded("template_000", "1.3.0").await;
    let large = "[limits]\ncomponent_bytes = 5000\n";
    let small = Host::start(Options::with(&[]).configuration(large)).await;
    let reply = publish_of(&small, unsigned(&component("owners"))).await;
    assert_eq!(reply.body["conflict"]["reason"], "too_large", "{}", reply.text);
}

async fn publish_of(host: &Host, content: Vec<u8>) -> Reply {
    publish(host, "large.wasm", content).await
}
