//! Starting and stopping: nothing that was answered is lost.

use crate::harness::{Options, Process, command, join_all};
use serde_json::json;
use std::{os::unix::process::ExitStatusExt as _, process::Stdio};

#[tokio::test(flavor = "multi_thread")]
async fn a_term_signal_lets_calls_in_flight_finish() {
    let limits = "[limits]\ncall_wall_time_ms = 4000\n";
    let host = Process::start(Options::with(&["wasi_probe"]).configuration(limits));
    let agent = host.agent().await;
    let sleep = || json!({ "action": "sleep" });
    let tools = [host.mcp("svc.read").await, host.mcp("svc.read").await.legacy().await];
    let call = agent.call("wasi_probe", sleep());
    let tools = tools.iter().map(|client| client.tool("wasi_probe", sleep()));
    let stop = async {
        tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
        host.signal("TERM");
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        // The host no longer accepts connections.
        let refused = reqwest::Client::new().get(format!("{}/healthz", host.url)).send().await;
        assert!(refused.is_err());
    };
    let (reply, results, ()) = tokio::join!(call, join_all(tools), stop);
    reply.assert_refused(504, "capability_timeout");
    for result in results {
        assert_eq!(result["structuredContent"]["error_code"], "capability_timeout", "{result}");
    }
    let (status, _) = host.wait();
    assert_eq!(status.code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_loses_no_registration_that_was_answered() {
    let options = Options::with(&["greeter"]);
    let mut host =
        Process::start(options.configuration("public_url = \"https://portolan.example\""));
    let mut tokens = Vec::new();
    for _ in 0..3 {
        tokens.push(host.token("svc.read").await);
        let agent = host.register().await;
        host.signal("KILL");
        let (_, folder) = host.wait();
        host = Process::start_in(folder);
        let form = [
            ("grant_type", "client_credentials"),
            ("client_id", agent["client_id"].as_str().unwrap()),
            ("client_secret", agent["client_secret"].as_str().unwrap()),
        ];
        let reply =
            host.client.post(format!("{}/oauth/token", host.url)).form(&form).send().await.unwrap();
        assert_eq!(reply.status(), 200);
    }
    // The signing key is the same, and the tokens that it signed are valid.
    let headers = [
        ("authorization", &*format!("Bearer {}", tokens[0])),
        ("content-type", "application/json"),
    ];
    let body = Some("{\"action\":\"people\"}".into());
    let path = "/v1/capabilities/greeter/call";
    let reply = host.send(reqwest::Method::POST, path, &headers, body).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
}

#[test]
fn a_host_runs_on_when_nobody_reads_its_output() {
    let folder = tempfile::TempDir::new().unwrap();
    let mut child = command(folder.path())
        .args(["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let log = || std::fs::read_to_string(folder.path().join("log")).unwrap();
    let started = std::time::Instant::now();
    while !log().contains(" ready ") && started.elapsed() < crate::harness::PATIENCE {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert!(child.try_wait().unwrap().is_none(), "{}", log());
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
}
