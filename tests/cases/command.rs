//! The command line.

use crate::harness::{Host, command, component};
use serde_json::Value;
use std::{path::Path, process::Output};
use tempfile::TempDir;

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = command(folder);
    command.stderr(std::process::Stdio::piped());
    command.args(arguments).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn check_tells_what_a_component_is() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("greeter.wasm"), component("greeter")).unwrap();
    let output = run(folder.path(), &["check", "greeter.wasm"]);
    assert!(output.status.success(), "{}", out(&output));
    for part in [
        "greeter 1.2.0",
        "sha256:",
        "compiled  in",
        "greet ",
        "read",
        "portolan:capability/context@1.0.0",
        "fit for a catalog",
    ] {
        assert!(out(&output).contains(part), "{part}: {}", out(&output));
    }
    std::fs::write(folder.path().join("texter.wasm"), component("texter")).unwrap();
    let output = run(folder.path(), &["check", "texter.wasm"]);
    assert!(out(&output).contains("\"texter\" = [\"sms\"]"), "{}", out(&output));
}

#[test]
fn check_tells_what_is_wrong_and_how_to_mend_it() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("bad.wasm"), component("describe_lies")).unwrap();
    let output = run(folder.path(), &["check", "bad.wasm"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(out(&output).contains("not fit for a catalog"), "{}", out(&output));
    assert!(out(&output).matches("to fix it:").count() > 10, "{}", out(&output));
    let output = run(folder.path(), &["check", "missing.wasm"]);
    assert!(err(&output).contains("cannot read missing.wasm"), "{}", err(&output));
}

#[tokio::test(flavor = "multi_thread")]
async fn call_and_catalog_talk_to_a_running_host() {
    let host = Host::with(&["greeter"]).await;
    host.drop_in("bad.wasm", b"nonsense");
    host.refusal("bad.wasm").await;
    let folder = host.folder.path();
    let input = "{\"action\":\"greet\",\"name\":\"Ada\"}";
    let output = run(folder, &["call", "greeter", "--url", &host.url, "--input", input]);
    let answer: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(
        (output.status.code(), &answer["result"]["text"]),
        (Some(0), &Value::from("Hello, Ada!"))
    );
    let output = run(folder, &["call", "nothing", "--url", &host.url]);
    assert_eq!(output.status.code(), Some(1));
    assert!(out(&output).contains("unknown_capability"));
    let output = run(folder, &["call", "greeter", "--url", &host.url, "--input", "{"]);
    assert!(err(&output).contains("--input is not JSON"));
    let output = run(folder, &["catalog", "--admin-url", &host.admin_url]);
    for part in ["1 loaded, 1 refused", "greeter", "refused: bad.wasm", "not_wasm", "to fix it:"] {
        assert!(out(&output).contains(part), "{part}: {}", out(&output));
    }
}

#[test]
fn commands_without_a_host_say_how_to_start_one() {
    let folder = TempDir::new().unwrap();
    for arguments in [
        &["call", "greeter", "--url", "http://127.0.0.1:1"][..],
        &["catalog", "--admin-url", "http://127.0.0.1:1"],
    ] {
        let output = run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(err(&output).contains("start one with `portolan serve`"), "{}", err(&output));
    }
}

#[test]
fn serve_reports_every_fault_of_its_configuration() {
    let folder = TempDir::new().unwrap();
    std::fs::write(
        folder.path().join("portolan.toml"),
        "listen = \"nowhere\"\npublic_url = \"x\"\n[limits]\ncall_wall_time_ms = 1\n",
    )
    .unwrap();
    let output = run(folder.path(), &["serve"]);
    assert_eq!(output.status.code(), Some(1));
    for part in ["listen is", "public_url is", "limits.call_wall_time_ms is 1"] {
        assert!(err(&output).contains(part), "{part}: {}", err(&output));
    }
    std::fs::write(folder.path().join("portolan.toml"), "colour = 1\n").unwrap();
    let output = run(folder.path(), &["serve"]);
    assert!(err(&output).contains("colour"), "{}", err(&output));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    std::fs::write(folder.path().join("portolan.toml"), "").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = run(folder.path(), &["serve", "--listen", &address]);
    assert!(err(&output).contains("--listen"), "{}", err(&output));
}
