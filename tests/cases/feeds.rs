//! `portolan feeds` as an operator runs it.

use crate::harness::{PATIENCE, binary};
use serde_json::Value;
use std::{path::Path, process::Output};
use tokio::process::Command;

async fn feeds(arguments: &[&str]) -> Output {
    let mut command = Command::new(binary());
    command.arg("feeds").args(arguments).kill_on_drop(true);
    tokio::time::timeout(PATIENCE * 4, command.output()).await.unwrap().unwrap()
}

fn output_text(output: &Output) -> String {
    String::from_utf8_lossy(&[&*output.stdout, &*output.stderr].concat()).into_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invented_city_is_built_and_validated() {
    let folder = tempfile::tempdir().unwrap();
    let built = feeds(&["demo", "--folder", text(folder.path())]).await;
    assert!(output_text(&built).contains("published in"), "{}", output_text(&built));
    let checked = feeds(&["check", text(folder.path())]).await;
    assert!(checked.status.success(), "{}", output_text(&checked));

    // Another invented city must be built in another folder.
    let other = feeds(&["demo", "--seed", "2", "--folder", text(folder.path())]).await;
    assert_eq!(other.status.code(), Some(1), "{}", output_text(&other));
    assert!(output_text(&other).contains("choose another folder"), "{}", output_text(&other));

    // A copy of the documents with two errors.
    let copy = tempfile::tempdir().unwrap();
    for file in folder.path().join("current").read_dir().unwrap() {
        let file = file.unwrap();
        if file.path().is_file() {
            std::fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
        }
    }
    let roles = copy.path().join("sf-job-roles.json");
    let mut document: Value = serde_json::from_slice(&std::fs::read(&roles).unwrap()).unwrap();
    assert_eq!(document["items"].as_array().unwrap().len(), 420);
    assert_eq!(document["_meta"]["synthetic"], true);
    document["items"][0]["target_id"] = "tgt_nobody".into();
    document["items"][1]["title"] = "Call +1 415 555 0123".into();
    std::fs::write(&roles, document.to_string()).unwrap();
    let checked = feeds(&["check", text(copy.path())]).await;
    assert_eq!(checked.status.code(), Some(1), "{}", output_text(&checked));
    for pointer in ["sf-job-roles.json/items/0/target_id", "sf-job-roles.json/items/1/title"] {
        assert!(output_text(&checked).contains(pointer), "{pointer}: {}", output_text(&checked));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn input_that_cannot_be_built_is_reported_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let sources = folder.path().join("sources.toml");
    let missing = feeds(&["build", text(&sources)]).await;
    assert!(!missing.status.success());
    assert!(output_text(&missing).contains("sources.toml"), "{}", output_text(&missing));
    std::fs::write(&sources, "x = 1\n").unwrap();
    let unknown = feeds(&["build", text(&sources)]).await;
    assert!(!unknown.status.success());
    assert!(output_text(&unknown).contains("unknown field `x`"), "{}", output_text(&unknown));
    let nowhere = feeds(&["check", text(&folder.path().join("nowhere"))]).await;
    assert!(!nowhere.status.success());
    assert!(output_text(&nowhere).contains("nowhere"), "{}", output_text(&nowhere));
}
