//! Components in OCI registries: pushed, pulled, and published from there.

use crate::harness::{
    Host, Options, command, component, patched,
    registry::{Registry, USER, docker_config, new_password},
};
use serde_json::{Value, json};
use std::{
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Output, Stdio},
};
use tempfile::TempDir;

fn folder() -> TempDir {
    let folder = Options::with(&[]).folder();
    fs::write(folder.path().join("greeter.wasm"), component("greeter")).unwrap();
    folder
}

fn run(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = command(folder);
    command.args(arguments).envs(variables.iter().copied()).stderr(std::process::Stdio::piped());
    command.output().unwrap()
}

fn succeeds(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments, &[]);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

fn fails(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments, &[]);
    assert!(!output.status.success(), "{arguments:?}: {}", text(&output.stdout));
    text(&output.stderr)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_goes_through_a_registry_unchanged() {
    let registry = Registry::start();
    let folder = folder();
    let at = folder.path();
    let address = registry.address("tools/greeter:1.0.0");
    let output = succeeds(at, &["push", "greeter.wasm", &address, "--json"]);
    let pushed: Value = serde_json::from_str(&output).unwrap();
    let pinned = pushed["address"].as_str().unwrap();
    assert!(pinned.contains("/tools/greeter@sha256:"), "{pushed:#}");
    // An existing file is replaced only with `--force`.
    let error = fails(at, &["pull", &address]);
    assert!(error.contains("greeter.wasm is there already"), "{error}");
    for (from, to) in [(address.as_str(), "by-tag.wasm"), (pinned, "by-digest.wasm")] {
        succeeds(at, &["pull", from, "--output", to]);
        assert_eq!(fs::read(at.join(to)).unwrap(), component("greeter"));
    }
    succeeds(at, &["pull", &address, "--force"]);
    // Other tools read these types, which the CNCF defines for Wasm artifacts.
    let manifest = reqwest::Client::new()
        .get(format!("http://{}/v2/tools/greeter/manifests/1.0.0", registry.host))
        .header("accept", "application/vnd.oci.image.manifest.v1+json")
        .send()
        .await
        .unwrap();
    assert_eq!(manifest.headers()["docker-content-digest"], *pushed["digest"].as_str().unwrap());
    let manifest: Value = manifest.json().await.unwrap();
    assert_eq!(manifest["config"]["mediaType"], "application/vnd.wasm.config.v0+json");
    assert_eq!(manifest["layers"].as_array().unwrap().len(), 1);
    assert_eq!(manifest["layers"][0]["mediaType"], "application/wasm");
    let blob = manifest["config"]["digest"].as_str().unwrap();
    let config = format!("http://{}/v2/tools/greeter/blobs/{blob}", registry.host);
    let config: Value = reqwest::get(config).await.unwrap().json().await.unwrap();
    assert_eq!((&config["architecture"], &config["os"]), (&json!("wasm"), &json!("wasip2")));
    assert_eq!(config["layerDigests"], json!([manifest["layers"][0]["digest"]]));
    assert!(config["component"]["exports"].as_array().unwrap().contains(&json!("describe")));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_registry_has_changed_is_not_read() {
    let registry = Registry::start();
    let folder = folder();
    let at = folder.path();
    let address = registry.address("greeter:1");
    succeeds(at, &["push", "greeter.wasm", &address]);
    assert!(registry.damage("\0asm") > 0);
    let error = fails(at, &["pull", &address, "--output", "read.wasm"]);
    assert!(error.contains("damaged"), "{error}");
    let names = fs::read_dir(at).unwrap().map(|entry| entry.unwrap().file_name());
    let names: Vec<_> = names.filter(|name| name.to_string_lossy().contains("read")).collect();
    assert!(names.is_empty(), "{names:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_is_a_component_within_the_limits_is_stored_and_read() {
    let registry = Registry::start();
    let folder = folder();
    let at = folder.path();
    let address = registry.address("greeter:1");
    fs::write(at.join("text.wasm"), "hello").unwrap();
    let error = fails(at, &["push", "text.wasm", &address]);
    assert!(error.contains("not fit for a catalog: not WebAssembly (not_wasm)"), "{error}");
    let error = fails(at, &["pull", &address]);
    assert!(error.contains("greeter.wasm is there already"), "{error}");
    let error = fails(at, &["pull", &address, "--force"]);
    assert!(error.contains("look at its name and tag"), "{error}");
    succeeds(at, &["push", "greeter.wasm", &address]);
    fs::write(at.join("portolan.toml"), "[limits]\ncomponent_bytes = 2000\n").unwrap();
    let error = fails(at, &["pull", &address, "--force"]);
    assert!(error.contains("limits.component_bytes"), "{error}");
    for (address, part) in [
        ("greeter:1", "it has no oci://"),
        ("oci://greeter:1", "it names no registry"),
        ("oci://127.0.0.1:1/greeter:1", "no registry answers at 127.0.0.1:1"),
        ("oci://127.0.0.1:1/greeter@sha256:zz", "oci://"),
    ] {
        let error = fails(at, &["pull", address, "--output", "x.wasm"]);
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_come_from_dockers_configuration_or_a_flag_and_are_never_printed() {
    let (password, wrong_password) = (new_password(), new_password());
    let registry = Registry::start_closed(&password);
    let folder = folder();
    let at = folder.path();
    let address = registry.address("greeter:1");
    let error = fails(at, &["push", "greeter.wasm", &address]);
    assert!(error.contains("docker login"), "{error}");
    let docker = at.join("docker");
    fs::create_dir(&docker).unwrap();
    fs::write(docker.join("config.json"), docker_config(&registry.host, &password)).unwrap();
    let stored = [("DOCKER_CONFIG", docker.to_str().unwrap()), ("RUST_LOG", "trace")];
    let output = run(at, &["push", "greeter.wasm", &address], &stored);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let given = [("PORTOLAN_REGISTRY_PASSWORD", password.as_str()), ("RUST_LOG", "trace")];
    let pull = ["pull", &address, "--output", "x.wasm", "--username", "ada"];
    let output_of_flag = run(at, &pull, &given);
    assert!(output_of_flag.status.success(), "{}", text(&output_of_flag.stderr));
    fs::write(docker.join("config.json"), docker_config(&registry.host, &wrong_password)).unwrap();
    let wrong = run(at, &["pull", &address, "--output", "y.wasm"], &stored);
    assert!(!wrong.status.success());
    let printed = [&output, &output_of_flag, &wrong]
        .map(|output| text(&output.stdout) + &text(&output.stderr))
        .concat();
    assert!(!printed.contains(&password) && !printed.contains(&wrong_password), "{printed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_is_published_from_a_registry() {
    let registry = Registry::start();
    let host = Host::with(&["template"]).await;
    let at = host.folder.path();
    let next = patched(&component("template"), &[("1.2.0", "1.3.0")]);
    fs::write(at.join("template.wasm"), next).unwrap();
    let address = registry.address("template:1.3.0");
    succeeds(at, &["push", "template.wasm", &address]);
    let output = succeeds(at, &["publish", &address]);
    assert!(output.contains("template_000 1.3.0 serves in place of 1.2.0"), "{output}");
    let history = host.operate("/catalog/template_000/history").await.body;
    let source = history["versions"][0]["source"].as_str().unwrap();
    assert!(source.starts_with(&format!("oci://{}/template@sha256:", registry.host)), "{source}");
}

/// Writes a credential helper of Docker, which gives this answer, into a folder.
fn write_helper(folder: &Path, answer: &str) {
    let helper = folder.join("docker-credential-test");
    let script = format!("#!/bin/sh\nread -r registry\ntest -n \"$registry\" && echo '{answer}'\n");
    fs::write(&helper, script).unwrap();
    fs::set_permissions(&helper, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn credentials_come_from_docker_s_helper_and_from_standard_input() {
    let password = new_password();
    let registry = Registry::start_closed(&password);
    let folder = folder();
    let docker = folder.path().join("docker");
    fs::create_dir(&docker).unwrap();
    let helpers = json!({ "credHelpers": { registry.host.as_str(): "test" } });
    fs::write(docker.join("config.json"), helpers.to_string()).unwrap();
    let path = format!("{}:{}", docker.display(), std::env::var("PATH").unwrap());
    let variables = [("DOCKER_CONFIG", docker.to_str().unwrap()), ("PATH", path.as_str())];
    let push = ["push", "greeter.wasm", &registry.address("greeter:1.0.0")];
    let push_with = |answer: &str| {
        write_helper(&docker, answer);
        run(folder.path(), &push, &variables)
    };

    let missing = run(folder.path(), &push, &variables);
    assert!(
        text(&missing.stderr).contains("docker-credential-test, which Docker's"),
        "{missing:?}"
    );
    let given = push_with(&json!({ "Username": USER, "Secret": password }).to_string());
    assert!(given.status.success(), "{}", text(&given.stderr));
    let token = push_with(&json!({ "Username": "<token>", "Secret": password }).to_string());
    assert!(text(&token.stderr).contains("has a token for"), "{}", text(&token.stderr));
    let unreadable = push_with("nothing");
    assert!(
        text(&unreadable.stderr).contains("gives no credentials"),
        "{}",
        text(&unreadable.stderr)
    );

    let typed = [&push[..], &["--username", USER, "--password-stdin"]].concat();
    let mut command = command(folder.path());
    let mut child =
        command.args(typed).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    writeln!(child.stdin.take().unwrap(), "{password}").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let named = fails(folder.path(), &[&push[..], &["--username", USER]].concat());
    assert!(named.contains("set PORTOLAN_REGISTRY_PASSWORD"), "{named}");
}
