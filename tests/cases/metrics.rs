//! The metrics for the operator's monitoring, read by a parser of other authors.

use crate::{
    cases::clients,
    harness::{Host, Options},
};
use reqwest::Method;
use serde_json::{Value, json};
use std::path::Path;

/// Returns the value of each sample with this name and these labels.
fn values(samples: &[Value], name: &str, labels: &Value) -> Vec<f64> {
    let wanted = |sample: &&Value| {
        let own = &sample["labels"];
        sample["name"] == name
            && labels.as_object().unwrap().iter().all(|(label, value)| &own[label] == value)
    };
    samples.iter().filter(wanted).map(|sample| sample["value"].as_f64().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_activity_and_health_of_a_node_can_be_monitored() {
    let host =
        Host::start(Options::with(&["notes"]).configuration("metrics_public = true\n")).await;
    host.drop_in("broken.wasm", b"not a component");
    host.wait_for("a refused file", |status| !status["refused"].as_array().unwrap().is_empty())
        .await;
    let agent = host.claimed_agent().await;
    let call = async |body: Value| agent.call("notes", body).await;
    let note = json!({ "action": "put", "id": "one", "note": { "title": "t", "body": "" } });
    assert_eq!(call(note).await.status, 200);
    for _ in 0..2 {
        assert_eq!(call(json!({ "action": "get", "id": "one" })).await.status, 200);
    }
    // Calls of actions that callers make up are refused before anything runs.
    for name in ["a", "b", "c"] {
        call(json!({ "action": name })).await.assert_refused(400, "unknown_action");
    }

    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients/metrics.py");
    let output = clients::run_program_file_at(&host, &host.admin_url, "python3", &program).await;
    let samples: Vec<Value> = serde_json::from_str(output.trim()).unwrap();
    let one = |name: &str, labels: Value| match values(&samples, name, &labels).as_slice() {
        [value] => *value,
        other => panic!("{name} {labels}: {other:?}\n{samples:#?}"),
    };
    let ended = |action: &str, outcome: &str| {
        let labels = json!({ "capability": "notes", "action": action, "outcome": outcome });
        one("portolan_calls_total", labels)
    };
    assert_eq!((ended("put", "ok"), ended("get", "ok")), (1.0, 2.0));
    let of_get = json!({ "capability": "notes", "action": "get" });
    assert_eq!(one("portolan_call_duration_seconds_count", of_get.clone()), 2.0);
    assert!(one("portolan_call_duration_seconds_sum", of_get) > 0.0);
    let unknown = json!({ "error_code": "unknown_action" });
    assert_eq!(one("portolan_refusals_total", unknown), 3.0);
    for name in ["a", "b", "c"] {
        assert!(values(&samples, "portolan_calls_total", &json!({ "action": name })).is_empty());
    }
    let none = || json!({});
    assert_eq!(one("portolan_build_info", json!({ "version": env!("CARGO_PKG_VERSION") })), 1.0);
    assert_eq!(one("portolan_catalog_refused_files", none()), 1.0);
    assert_eq!(one("portolan_dead_letters", none()), 0.0);
    assert!(one("portolan_capabilities", none()) >= 1.0);
    assert!(one("process_resident_memory_bytes", none()) > 1e6);
    // The metrics are only at the operator's address.
    host.get("/metrics").await.assert_refused(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_times_of_calls_and_requests_have_traces_as_exemplars() {
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let host =
        Host::start(Options::with(&["notes"]).configuration("metrics_public = true\n")).await;
    let agent = host.claimed_agent().await;
    let bearer = format!("Bearer {}", host.current_token(&agent.token).await);
    let call = async |id: &str, parent: &str| {
        let note = json!({ "title": "t", "body": "" });
        let body = json!({ "action": "put", "id": id, "note": note }).to_string();
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
            ("traceparent", parent),
        ];
        let path = "/v1/capabilities/notes/call";
        let reply = host.send(Method::POST, path, &headers, Some(body)).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        host.operate("/metrics").await
    };
    // What is not recorded is no exemplar: nobody would find its trace.
    let before = call("one", &format!("00-{trace}-00f067aa0ba902b7-00")).await;
    assert!(!before.text.contains(trace), "{}", before.text);
    let reply = call("two", &format!("00-{trace}-00f067aa0ba902b7-01")).await;
    let media_type = reply.header("content-type");
    assert!(media_type.starts_with("application/openmetrics-text; version=1.0.0"), "{media_type}");
    let label = format!(" # {{trace_id=\"{trace}\"}} ");
    for (family, own) in [
        ("portolan_call_duration_seconds_bucket{", "action=\"put\""),
        (
            "http_server_request_duration_seconds_bucket{",
            "http_route=\"/v1/capabilities/{id}/call\"",
        ),
    ] {
        let with_exemplar = reply
            .text
            .lines()
            .find(|line| line.starts_with(family) && line.contains(own) && line.contains(&label));
        let line = with_exemplar.unwrap_or_else(|| panic!("none of {family}: {}", reply.text));
        let (_, exemplar) = line.split_once(&label).unwrap();
        let seconds: f64 = exemplar.split(' ').next().unwrap().parse().unwrap();
        assert!(seconds > 0.0, "{line}");
    }
}
