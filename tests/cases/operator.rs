//! Internal actions that the operator runs.

use crate::harness::{Host, Options, Reply, command};
use serde_json::{Value, json};
use std::process::{Output, Stdio};

fn run(host: &Host, arguments: &[&str]) -> Output {
    let mut command = command(host.folder.path());
    command.stderr(Stdio::piped()).arg("run").args(arguments).output().unwrap()
}

fn output_text(output: &[u8]) -> String {
    String::from_utf8_lossy(output).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_can_run_internal_actions() {
    let host = Host::start(Options::with(&["notes"])).await;
    let agent = host.claimed_agent().await;
    let input = r#"{"id":"one","title":"By the operator","body":""}"#;
    let body = json!({ "action": "add_internal", "id": "one", "title": "t", "body": "" });
    agent.call("notes", body).await.assert_refused(400, "unknown_action");

    let output = run(&host, &["notes", "add_internal", "--input", input]);
    assert!(output.status.success(), "{}", output_text(&output.stderr));
    assert!(
        output_text(&output.stdout).contains("\"revision\": 1"),
        "{}",
        output_text(&output.stdout)
    );
    let note = agent.result("notes", json!({ "action": "get", "id": "one" })).await;
    assert_eq!(note["note"]["title"], "By the operator");

    let output = run(&host, &["notes", "add_internal", "--input", input]);
    assert!(!output.status.success());
    assert!(output_text(&output.stderr).contains("note_exists"), "{}", output_text(&output.stderr));

    // The same id is free in test mode.
    let output = run(&host, &["notes", "add_internal", "--test-mode", "--input", input]);
    assert!(output.status.success(), "{}", output_text(&output.stderr));

    let audit = host.operate("/audit?capability=notes&action=add_internal").await.body;
    let entries = audit["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 3, "{audit:#}");
    let is_of_operator = |entry: &Value| {
        entry["via"][0].as_str().unwrap().starts_with("operator:socket:")
            && entry["via"].as_array().unwrap().len() == 1
    };
    assert!(entries.iter().all(is_of_operator), "{audit:#}");
    assert!(entries.iter().all(|entry| entry["agent_id"].is_null()), "{audit:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_operator_calls_are_refused_with_the_reason() {
    let host = Host::start(Options::with(&["notes"])).await;
    for (arguments, words) in [
        (["nothing", "add_internal", "--input", "{}"], "unknown_capability"),
        (["notes", "nothing", "--input", "{}"], "unknown_action"),
        // An action of agents is not internal.
        (["notes", "put", "--input", "{}"], "unknown_action"),
        (["notes", "add_internal", "--input", "{}"], "/title"),
        (["notes", "add_internal", "--input", "{"], "--input is not JSON"),
    ] {
        let output = run(&host, &arguments);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(
            output_text(&output.stderr).contains(words),
            "{arguments:?}: {}",
            output_text(&output.stderr)
        );
    }
    // A page in a browser can send a form without a preflight, but not JSON.
    let url = format!("{}/capabilities/notes/add_internal", host.admin_url);
    let form = host.operator.post(&url).body(r#"{"id":"x","title":"t","body":""}"#);
    let refused = Reply::read(form.send().await.unwrap()).await;
    refused.assert_refused(415, "unsupported_media_type");
    let broken = host.operator.post(&url).header("content-type", "application/json").body("{");
    Reply::read(broken.send().await.unwrap()).await.assert_refused(400, "malformed_json");
}
