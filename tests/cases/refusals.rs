//! Files that are not valid capabilities: each is refused with its reason, and the
//! others keep serving.

use crate::harness::{Host, Options, Process, component, find_row, patched};
use serde_json::{Value, json};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

fn wat(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_bad_file_is_refused_with_its_reason() {
    let host = Process::with(&["greeter"]);
    let template = component("template");
    let mut longest = template.clone();
    longest.truncate(template.len() / 2);
    let native = {
        let artifacts = std::fs::read_dir(host.folder.path().join("data/artifacts")).unwrap();
        let path = artifacts
            .map(|entry| entry.unwrap().path())
            .find(|path| path.extension().is_some_and(|extension| extension == "artifact"));
        std::fs::read(path.unwrap()).unwrap()
    };
    let http = "(component (import \"wasi:http/outgoing-handler@0.2.0\" (instance)))";
    let unknown =
        "(component (import \"acme:thing/stuff@1.0.0\" (instance (export \"f\" (func)))))";
    let files: [(&str, Vec<u8>, &str); 11] = [
        ("empty", Vec::new(), "empty"),
        ("truncated", longest, "invalid"),
        ("damaged", patched(&template, &[("alpha", "al\u{0}ha")]), "bad_descriptor"),
        ("core_module", wat("(module)"), "core_module"),
        ("native", native, "native_code"),
        ("text", b"hello".to_vec(), "not_wasm"),
        ("garbage", [&b"\0asm\x0d\0\x01\0"[..], &[0xff; 64]].concat(), "invalid"),
        ("texter", component("texter"), "pending_approval"),
        ("http", wat(http), "unknown_import"),
        ("unknown", wat(unknown), "unknown_import"),
        ("no_exports", wat("(component)"), "contract_mismatch"),
    ];
    for (name, bytes, reason) in files {
        let file = format!("{name}.wasm");
        host.drop_in(&file, &bytes);
        let row = host.wait_for_refusal(&file).await;
        assert_eq!(row["reason"], reason, "{row:#}");
        assert!(
            !row["message"].as_str().unwrap().is_empty()
                && !row["fix"].as_str().unwrap().is_empty()
        );
        assert!(host.log().contains(&file), "{file} is in the log");
    }
    let waiting = host.wait_for_refusal("texter.wasm").await;
    assert!(waiting["message"].as_str().unwrap().contains("permission: sms"), "{waiting:#}");
    assert!(waiting["fix"].as_str().unwrap().contains("approve texter"), "{waiting:#}");
    assert_eq!(host.agent().await.call("greeter", json!({ "action": "people" })).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_descriptor_that_lies_is_refused_with_every_problem() {
    let host = Host::with(&["greeter"]).await;
    let template = component("template");
    let cases = [
        ("id", vec![("template_000", "Template 000")], "id"),
        ("traversal", vec![("template_000", "../template0")], "id"),
        ("duplicate_action", vec![("bravo", "alpha")], "actions"),
        ("bad_action", vec![("bravo", "br vo")], "actions.br vo"),
        ("bad_error", vec![("order_empty", "order empty")], "errors.order empty"),
        ("common_error", vec![("order_empty", "maintenance")], "errors.maintenance"),
    ];
    for (name, changes, at) in &cases {
        let file = format!("{name}.wasm");
        host.drop_in(&file, &patched(&template, changes));
        let row = host.wait_for_refusal(&file).await;
        assert_eq!(row["reason"], "bad_descriptor", "{row:#}");
        let problems = row["problems"].as_array().unwrap();
        assert!(problems.iter().any(|problem| problem["at"] == *at), "{name}: {problems:?}");
        assert!(problems.iter().all(|problem| !problem["fix"].as_str().unwrap().is_empty()));
    }
    // Two errors in one descriptor are reported together.
    host.drop_in(
        "two.wasm",
        &patched(&template, &[("template_000", "Template 000"), ("bravo", "alpha")]),
    );
    assert!(host.wait_for_refusal("two.wasm").await["problems"].as_array().unwrap().len() >= 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_describe_that_loops_traps_or_hoards_is_refused() {
    let limits = "[limits]\ncall_wall_time_ms = 1000\n";
    let host = Host::start(Options::with(&["greeter"]).configuration(limits)).await;
    for (name, words) in [
        ("describe_loops", "out of time"),
        ("describe_panics", "the dog ate the description"),
        ("describe_imports", "context"),
        ("describe_hoards", "memory"),
        ("describe_lies", ""),
    ] {
        let file = format!("{name}.wasm");
        host.drop_in(&file, &component(name));
        let row = host.wait_for_refusal(&file).await;
        let reason = if name == "describe_lies" { "bad_descriptor" } else { "describe_failed" };
        assert_eq!(row["reason"], reason, "{row:#}");
        assert!(row["message"].as_str().unwrap().contains(words), "{row:#}");
    }
    let lies = host.wait_for_refusal("describe_lies.wasm").await;
    let at: Vec<_> = lies["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| problem["at"].as_str().unwrap())
        .collect();
    for expected in [
        "version",
        "summary",
        "default_action",
        "subscriptions.thing.happened",
        "actions.no_schema.input",
        "actions.text_schema.input",
        "actions.open_schema.output",
        "actions.takes_action.input",
        "actions.far_reference.input",
        "actions.lookaround.input",
        "actions.bad_example.examples.0",
        "actions.unknown_code.errors",
        "actions.root_choice.input",
        "publishes.catalog.changed",
        "publishes.Happened",
        "actions.unlisted_event.emits",
        "actions.called_from_outside.callers",
        "invokes.describes_badly.bad_example",
        "invokes.No id.get",
        "annotations.no key",
        "annotations.example.org/twice",
        "annotations.example.org/large",
        "annotations.example.org/text",
        "annotations.portolan/while_suspended",
        "annotations.portolan/no_dry_run",
        "annotations.portolan/left_out_of_exports",
        "collections.Things",
        "state_machines.thing.nothing",
        "state_machines.thing.takes_action",
        "roles.pages",
        "roles.king",
        "prompts.Ask",
        "prompts.Ask.text",
    ] {
        assert!(at.contains(&expected), "{expected} is not in {at:?}");
    }
    assert_eq!(host.agent().await.call("greeter", json!({ "action": "people" })).await.status, 200);
}

/// Returns the component with `count` more memories, each of this number of pages of 64 KiB.
fn with_memories(component: &[u8], count: usize, pages: usize) -> Vec<u8> {
    let module = format!("(core module $m (memory {pages}))");
    let instances = "(core instance (instantiate $m))".repeat(count);
    let inner = wat(&format!("(component {module} {instances})"));
    let mut bytes = component.to_vec();
    // Two more sections: the inner component (id 4), and an instance section (id 5) that
    // instantiates (0) the component with index 0 and no arguments.
    bytes.push(4);
    leb128(&mut bytes, inner.len());
    bytes.extend(inner);
    bytes.extend([5, 4, 1, 0, 0, 0]);
    bytes
}

fn leb128(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sizes_of_several_memories_are_added_up() {
    let host = Process::with(&["greeter"]);
    let template = component("template");
    // 15 of 1 MiB are fine; 15 of 5 MiB are each below the limit of 64 MiB, but not together.
    host.drop_in("few.wasm", &with_memories(&template, 15, 16));
    host.wait_for_version("template_000", "1.2.0").await;
    for (file, count, pages, reason, words) in [
        ("heavy.wasm", 15, 80, "describe_failed", "67108864"),
        ("many.wasm", 40, 1, "exceeds_limits", "memories"),
        ("huge.wasm", 1, 1100, "exceeds_limits", "memory"),
    ] {
        host.drop_in(file, &with_memories(&template, count, pages));
        let row = host.wait_for_refusal(file).await;
        assert_eq!(row["reason"], reason, "{row:#}");
        assert!(row["message"].as_str().unwrap().contains(words), "{row:#}");
    }
    let agent = host.agent().await;
    let line = json!({ "article": "chart", "quantity": 2, "price": 420 });
    let order = json!({ "action": "alpha", "customer": "Ada", "lines": [line] });
    assert_eq!(agent.call("template_000", order).await.status, 200);
    assert_eq!(agent.call("greeter", json!({ "action": "people" })).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_belongs_to_the_publisher_that_it_was_first_installed_from() {
    let host = Host::with(&["greeter"]).await;
    let newer = patched(&component("greeter"), &[("Hello, ", "Howdy, ")]);
    host.drop_in("another.wasm", &newer);
    let row = host.wait_for_refusal("another.wasm").await;
    assert_eq!(row["reason"], "publisher_mismatch");
    assert!(row["message"].as_str().unwrap().contains("unsigned:greeter"), "{row:#}");
    let greet = json!({ "action": "greet", "name": "Ada" });
    assert_eq!(host.agent().await.result("greeter", greet.clone()).await["text"], "Hello, Ada!");
    // When the operator gives the id to the second publisher, the first
    // publisher's file is refused.
    let adopted = host.decide("greeter", "adopt").await;
    assert_eq!(adopted["publisher"], "unsigned:another");
    host.wait_for("heir", |status| find_row(status, "loaded", "file", "another.wasm").is_some())
        .await;
    let row = host.wait_for_refusal("greeter.wasm").await;
    assert_eq!(row["reason"], "publisher_mismatch");
    let agent = host.agent().await;
    assert_eq!(agent.result("greeter", greet.clone()).await["text"], "Howdy, Ada!");
    let recorded = host.operate("/audit?capability=greeter&action=operator:adopt").await;
    assert_eq!(recorded.body["entries"][0]["version"], "unsigned:another", "{}", recorded.text);
    // When the second publisher's file is removed, the first publisher still
    // has no right to the id.
    std::fs::remove_file(host.catalog().join("another.wasm")).unwrap();
    host.wait_for("nobody", |status| find_row(status, "loaded", "id", "greeter").is_none()).await;
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    assert_eq!(host.wait_for_refusal("greeter.wasm").await["reason"], "publisher_mismatch");
}

#[tokio::test(flavor = "multi_thread")]
async fn links_pipes_and_large_files_are_handled_or_refused() {
    let host = Host::start(
        Options::with(&["greeter"]).configuration("[limits]\ncomponent_bytes = 1048576\n"),
    )
    .await;
    // A link within the folder is allowed, because some systems mount files so.
    std::fs::write(host.catalog().join("stored"), component("template")).unwrap();
    symlink("stored", host.catalog().join("inside.wasm")).unwrap();
    host.wait_for_version("template_000", "1.2.0").await;
    let outside = host.folder.path().join("outside.wasm");
    std::fs::write(&outside, component("svc_status")).unwrap();
    symlink(&outside, host.catalog().join("leads_out.wasm")).unwrap();
    assert_eq!(host.wait_for_refusal("leads_out.wasm").await["reason"], "leads_outside");
    symlink("nothing", host.catalog().join("dangling.wasm")).unwrap();
    assert_eq!(host.wait_for_refusal("dangling.wasm").await["reason"], "unreadable");
    std::fs::create_dir(host.catalog().join("folder.wasm")).unwrap();
    assert_eq!(host.wait_for_refusal("folder.wasm").await["reason"], "not_a_file");
    let pipe = host.catalog().join("pipe.wasm");
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    assert_eq!(host.wait_for_refusal("pipe.wasm").await["reason"], "not_a_file");
    // A sparse file of 200 MB, which takes no space on the disk.
    let large = std::fs::File::create(host.catalog().join("large.wasm")).unwrap();
    large.set_len(200_000_000).unwrap();
    let row = host.wait_for_refusal("large.wasm").await;
    assert_eq!(row["reason"], "too_large");
    // Files with hidden and temporary names are ignored.
    for name in
        [".hidden.wasm", "~temporary.wasm", "#editor.wasm", "partial.wasm.part", "notes.txt"]
    {
        std::fs::write(host.catalog().join(name), "x").unwrap();
    }
    host.drop_in("last.wasm", b"x");
    host.wait_for_refusal("last.wasm").await;
    let refused = host.status().await["refused"].as_array().unwrap().len();
    assert_eq!(refused, 6);
    assert_eq!(host.agent().await.call("greeter", json!({ "action": "people" })).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_grows_while_it_is_read_is_loaded_when_complete() {
    let host = Host::with(&["greeter"]).await;
    // A file counts as finished when nothing was written for 200 ms. On a machine so busy that
    // this writer itself pauses longer, a refusal is right, and another file is tried.
    for attempt in 0..10 {
        let name = format!("growing_{attempt}.wasm");
        let path = host.catalog().join(&name);
        let writer = std::thread::spawn(move || write_slowly(&path, &component("template")));
        let mut refused = false;
        while !writer.is_finished() {
            refused |= find_row(&host.status().await, "refused", "file", &name).is_some();
        }
        let longest_pause = writer.join().unwrap();
        host.wait_for_version("template_000", "1.2.0").await;
        if longest_pause < Duration::from_millis(150) {
            assert!(!refused, "refused although no pause was longer than {longest_pause:?}");
            return;
        }
        std::fs::remove_file(host.catalog().join(&name)).unwrap();
        host.wait_for("removal", |status| find_row(status, "loaded", "file", &name).is_none())
            .await;
    }
    panic!("the machine is too busy to write a file without pauses of 150 ms");
}

/// Writes a file in 20 parts, 60 ms apart; returns the longest time between two parts.
fn write_slowly(path: &Path, bytes: &[u8]) -> Duration {
    let mut file = std::fs::File::create(path).unwrap();
    let mut written = Instant::now();
    let mut longest = Duration::ZERO;
    for part in bytes.chunks(bytes.len().div_ceil(20)) {
        file.write_all(part).unwrap();
        longest = longest.max(written.elapsed());
        written = Instant::now();
        std::thread::sleep(Duration::from_millis(60));
    }
    longest
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_replacement_leaves_the_old_version_serving() {
    let host = Host::with(&["greeter"]).await;
    let agent = host.agent().await;
    let whole = component("greeter");
    for bad in [Vec::new(), b"nonsense".to_vec(), whole[..whole.len() - 100].to_vec()] {
        host.drop_in("greeter.wasm", &bad);
        let row = host.wait_for_refusal("greeter.wasm").await;
        assert_eq!(row["still_serving"], "1.2.0");
        assert_eq!(agent.call("greeter", json!({ "action": "people" })).await.status, 200);
        host.drop_in("greeter.wasm", &whole);
        host.wait_for("recovery", |status| status["refused"] == json!([])).await;
    }
    assert_eq!(host.get("/v1/capabilities").await.body["catalog_version"], Value::from(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declaration_is_refused_until_the_stored_documents_satisfy_it() {
    let host = Host::with(&["notes"]).await;
    let agent = host.claimed_agent().await;
    for id in ["n1", "n2"] {
        let note = json!({ "title": "a note", "owner": "ada" });
        agent.result("notes", json!({ "action": "put", "id": id, "note": note })).await;
    }
    host.drop_in("notes.wasm", &component("describe_claims"));
    let row = host.wait_for_refusal("notes.wasm").await;
    assert_eq!(
        (&row["reason"], &row["still_serving"]),
        (&json!("documents_do_not_fit"), &json!("1.0.0"))
    );
    assert!(row["message"].as_str().unwrap().contains("collection notes"), "{row:#}");
    agent.result("notes", json!({ "action": "get", "id": "n1" })).await;

    agent.result("notes", json!({ "action": "delete", "id": "n2" })).await;
    host.drop_in("notes.wasm", &component("describe_claims"));
    host.wait_for_version("notes", "2.0.0").await;
}
