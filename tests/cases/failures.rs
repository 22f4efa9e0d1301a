//! Components that failed before are refused without another attempt.

use crate::harness::{Options, Process, hostile::with_script};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The time limit of `describe`, in milliseconds.
const PATIENCE_MS: u64 = 4_000;

/// Returns a component that never ends its `describe`.
fn endless() -> Vec<u8> {
    with_script(&json!({ "id": "endless", "describing": [{ "op": "spin" }] }))
}

fn configuration(wall_time_ms: u64) -> String {
    format!("[limits]\ncall_wall_time_ms = {wall_time_ms}\n")
}

fn is_remembered(row: &Value) -> bool {
    assert_eq!(row["reason"], "describe_failed", "{row}");
    row["fix"].as_str().unwrap().contains("tries the same file again after a day")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_that_failed_is_not_tried_again_until_the_limits_change() {
    let mut options = Options::with(&["notes"]);
    options.components.push(("endless.wasm".into(), endless()));
    let host = Process::start(options.configuration(&configuration(PATIENCE_MS)));
    assert!(!is_remembered(&host.wait_for_refusal("endless.wasm").await));

    // The same content is refused without an attempt under another name, and after a restart.
    let started = Instant::now();
    host.drop_in("renamed.wasm", &endless());
    assert!(is_remembered(&host.wait_for_refusal("renamed.wasm").await));
    assert!(started.elapsed() < Duration::from_millis(PATIENCE_MS), "{:?}", started.elapsed());
    host.signal("TERM");
    let (_, folder) = host.wait();
    let host = Process::start_in(folder);
    assert!(is_remembered(&host.wait_for_refusal("endless.wasm").await));
    let message = host.wait_for_refusal("endless.wasm").await["message"].clone();
    let message = message.as_str().unwrap();
    assert!(message.contains("out of time; in ") && message.contains("(found at "), "{message}");
    host.wait_for_version("notes", "1.0.0").await;

    // With other limits, the component is tried again, because it may succeed.
    host.signal("TERM");
    let (_, folder) = host.wait();
    let file = folder.path().join("portolan.toml");
    let written = std::fs::read_to_string(&file).unwrap();
    let changed = written.replace(&configuration(PATIENCE_MS), &configuration(2_000));
    assert_ne!(written, changed);
    std::fs::write(&file, changed).unwrap();
    let host = Process::start_in(folder);
    assert!(!is_remembered(&host.wait_for_refusal("endless.wasm").await));
}
