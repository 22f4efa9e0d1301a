//! `portolan check --strict`, `--against` and `--config`.

use crate::harness::{Host, command, component};
use std::{fs, path::Path, process::Output};
use tempfile::TempDir;

fn check(folder: &Path, arguments: &[&str]) -> (bool, String) {
    let Output { status, stdout, stderr } = command(folder)
        .arg("check")
        .args(arguments)
        .stderr(std::process::Stdio::piped())
        .output()
        .unwrap();
    let text = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (status.success(), text)
}

fn folder_with(names: &[&str]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for name in names {
        fs::write(folder.path().join(format!("{name}.wasm")), component(name)).unwrap();
    }
    folder
}

#[test]
fn strict_names_what_agents_miss_and_where() {
    let folder = folder_with(&["library"]);
    let (fit, _) = check(folder.path(), &["library.wasm"]);
    assert!(fit);
    let (fit, text) = check(folder.path(), &["--strict", "library.wasm"]);
    assert!(!fit, "{text}");
    for part in [
        "actions.put.input.title: has no description",
        "to fix it:",
        "tool      library_read (reads; about",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_version_is_compared_with_a_file() {
    let folder = folder_with(&["library", "library_next", "greeter"]);
    let (fit, text) = check(folder.path(), &["--against", "library.wasm", "library.wasm"]);
    assert!(fit && text.contains("compatible"), "{text}");
    let (fit, text) = check(folder.path(), &["--against", "library_next.wasm", "library.wasm"]);
    assert!(!fit, "{text}");
    assert!(
        text.contains("collections.books: has version 1, and documents of 2 are stored"),
        "{text}"
    );
    let (fit, text) = check(folder.path(), &["--against", "greeter.wasm", "library.wasm"]);
    assert!(!fit && text.contains("greeter.wasm is the capability greeter"), "{text}");
}

#[tokio::test]
async fn a_version_is_compared_with_a_running_host() {
    let host = Host::with(&["library"]).await;
    let folder = folder_with(&["library"]);
    let url = host.url.clone();
    let compared = tokio::task::spawn_blocking(move || {
        check(folder.path(), &["--against", &url, "library.wasm"])
    });
    let (fit, text) = compared.await.unwrap();
    assert!(fit && text.contains("compatible"), "{text}");
}

/// The state machines, internal actions and events of the serving version are read from the host.
#[tokio::test]
async fn a_version_with_states_and_events_is_compared_with_a_running_host() {
    let host = Host::with(&["social_relationships"]).await;
    let folder = folder_with(&["social_relationships"]);
    let url = host.url.clone();
    let compared = tokio::task::spawn_blocking(move || {
        check(folder.path(), &["--against", &url, "social_relationships.wasm"])
    });
    let (fit, text) = compared.await.unwrap();
    assert!(fit && text.contains("compatible"), "{text}");
}

#[test]
fn the_limits_of_the_host_are_in_force() {
    let folder = folder_with(&["greeter"]);
    fs::write(folder.path().join("small.toml"), "[limits]\ncomponent_bytes = 65536\n").unwrap();
    let (fit, text) = check(folder.path(), &["--config", "small.toml", "greeter.wasm"]);
    assert!(!fit && text.contains("too_large"), "{text}");
    let (fit, text) = check(folder.path(), &["--config", "missing.toml", "greeter.wasm"]);
    assert!(!fit && text.contains("missing.toml is not a file"), "{text}");
}
