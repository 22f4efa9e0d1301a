//! The log as JSON: a line about a request has its id and that of its trace.

use crate::harness::{Options, PATIENCE, Process};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_about_a_request_has_its_id_and_that_of_its_trace() {
    let host =
        Process::start(Options::with(&["misbehaves"]).configuration("log_format = \"json\"\n"));
    let agent = host.claimed_agent().await;
    let bearer = format!("Bearer {}", host.current_token(&agent.token).await);
    let traceparent = format!("00-{TRACE}-{CALLER}-01");
    let body = json!({ "action": "panics" }).to_string();
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
        ("traceparent", traceparent.as_str()),
    ];
    let path = "/v1/capabilities/misbehaves/call";
    let reply = host.send(Method::POST, path, &headers, Some(body)).await;
    reply.assert_refused(500, "capability_trapped");
    let request_id = reply.header("request-id").to_owned();
    let started = Instant::now();
    let line = loop {
        let log = host.log();
        // The last line may be incomplete.
        let mut lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let is_wanted =
            |line: &Value| line["request_id"] == request_id && line["fields"]["action"] == "panics";
        if let Some(line) = lines.find(is_wanted) {
            break line;
        }
        assert!(started.elapsed() < PATIENCE, "no line of {request_id}: {log}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!((&line["trace_id"], &line["level"]), (&json!(TRACE), &json!("WARN")), "{line}");
    let span = line["span_id"].as_str().unwrap();
    assert!(span.len() == 16 && span != CALLER, "{line}");
    assert_eq!(line["fields"]["capability"], "misbehaves", "{line}");
    assert!(line["timestamp"].as_str().unwrap().ends_with('Z'), "{line}");
}
