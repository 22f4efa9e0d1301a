//! Versions of a capability, published by commands and by requests, and the host's history of them.

use crate::harness::{Agent, Host, PATIENCE, Reply, command, component, patched};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// The outcome of a command: whether it succeeded, its standard output and its standard error.
pub struct CommandOutput {
    pub succeeded: bool,
    pub output: String,
    pub error: String,
}

/// Runs `portolan` in the folder of a host, which the command reaches through its socket.
pub async fn portolan(folder: &Path, arguments: &[&str]) -> CommandOutput {
    let mut command = command(folder);
    command.args(arguments).env("PORTOLAN_CACHE_DIR", folder.join("cache"));
    command.stderr(std::process::Stdio::piped());
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    CommandOutput {
        succeeded: output.status.success(),
        output: text(&output.stdout),
        error: text(&output.stderr),
    }
}

pub async fn succeeds(folder: &Path, arguments: &[&str]) -> String {
    let printed = portolan(folder, arguments).await;
    assert!(printed.succeeded, "{arguments:?}: {}", printed.error);
    printed.output
}

pub async fn fails(folder: &Path, arguments: &[&str]) -> String {
    let printed = portolan(folder, arguments).await;
    assert!(!printed.succeeded, "{arguments:?}: {}", printed.output);
    printed.error
}

/// Writes a component into a folder beside the catalog folder, and returns its path
/// from the host's folder.
pub fn write_component(host: &Host, name: &str, content: &[u8]) -> String {
    let folder = host.folder.path().join("built");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), content).unwrap();
    format!("built/{name}")
}

pub fn version(version: &str) -> Vec<u8> {
    patched(&component("template"), &[("1.2.0", version)])
}

/// Returns a version of the fixture `template` without the action `bravo`.
pub fn breaking_version(version: &str) -> Vec<u8> {
    patched(&component("template"), &[("1.2.0", version), ("bravo", "brave")])
}

pub async fn post(host: &Host, path: &str, content: Vec<u8>) -> Reply {
    let request = host.operator.post(format!("{}{path}", host.admin_url)).body(content);
    Reply::read(request.send().await.unwrap()).await
}

pub async fn publish(host: &Host, file: &str, content: Vec<u8>) -> Reply {
    post(host, &format!("/catalog/publish?file={file}&by=ada"), content).await
}

pub async fn publish_ok(host: &Host, file: &str, content: Vec<u8>) -> Value {
    let reply = publish(host, file, content).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.body
}

pub async fn history(host: &Host, id: &str) -> Value {
    let reply = host.operate(&format!("/catalog/{id}/history")).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.body
}

/// Returns the versions of a history, each with its arrival, the newest first.
pub async fn arrivals(host: &Host, id: &str) -> Vec<(String, String)> {
    let text = |entry: &Value, name: &str| entry[name].as_str().unwrap().to_owned();
    let history = history(host, id).await;
    let entries = history["versions"].as_array().unwrap().iter();
    entries.map(|entry| (text(entry, "version"), text(entry, "arrival"))).collect()
}

/// Waits until the history has this number of entries, and returns the versions
/// with their arrivals.
pub async fn wait_for_arrivals(host: &Host, id: &str, count: usize) -> Vec<(String, String)> {
    let started = Instant::now();
    loop {
        let found = arrivals(host, id).await;
        if found.len() >= count {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "{found:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

pub fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(one, other)| ((*one).to_owned(), (*other).to_owned())).collect()
}

/// Returns the version that answers a call.
pub async fn serving_version(agent: &Agent<'_>) -> Value {
    let order = json!({ "action": "alpha", "customer": "Ada", "lines": [
        { "article": "ink", "quantity": 1, "price": 300 }] });
    let reply = agent.call("template_000", order).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.body["meta"]["version"].clone()
}

/// Returns the files of the catalog folder, in the order of their names.
pub fn files(host: &Host) -> Vec<PathBuf> {
    let entries = fs::read_dir(host.catalog()).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}
