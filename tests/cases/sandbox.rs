//! Components that misbehave while they run: the caller gets the right error code, and no other
//! call notices.

use crate::harness::{Host, Options, Process, component};
use serde_json::{Value, json};

/// A shorter time limit than the default, so that endless calls end sooner.
const LIMITS: &str = "[limits]\ncall_wall_time_ms = 1000\n";

fn options() -> Options {
    Options::with(&["misbehaves", "greeter", "wasi_probe"]).configuration(LIMITS)
}

async fn hostile() -> Host {
    Host::start(options()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn each_misbehaviour_has_its_error_code_and_affects_no_other_call() {
    let host = hostile().await;
    let agent = host.agent().await;
    let limit = |name: &str, limit: u64| json!({ "kind": "limit", "name": name, "limit": limit });
    let cases: [(&str, u16, &str, bool, Value); 15] = [
        ("loops_forever", 504, "capability_timeout", true, Value::Null),
        ("grows_memory", 500, "capability_trapped", false, limit("call_memory_bytes", 64 << 20)),
        ("recurses", 500, "capability_trapped", false, Value::Null),
        (
            "floods_output",
            500,
            "capability_answer_invalid",
            false,
            limit("call_output_bytes", 1 << 20),
        ),
        (
            "floods_next",
            500,
            "capability_answer_invalid",
            false,
            limit("call_output_bytes", 1 << 20),
        ),
        ("answers_text", 500, "capability_answer_invalid", false, Value::Null),
        ("answers_nothing", 500, "capability_answer_invalid", false, Value::Null),
        ("breaks_schema", 500, "capability_answer_invalid", false, Value::Null),
        ("breaks_next", 500, "capability_answer_invalid", false, Value::Null),
        ("undeclared_code", 500, "capability_answer_invalid", false, Value::Null),
        ("forged_code", 500, "capability_answer_invalid", false, Value::Null),
        ("traps", 500, "capability_trapped", false, Value::Null),
        ("panics", 500, "capability_trapped", false, Value::Null),
        ("asks_for_much", 500, "capability_trapped", false, Value::Null),
        ("floods_log", 200, "", false, Value::Null),
    ];
    for (action, status, code, retryable, conflict) in cases {
        let reply = agent.call("misbehaves", json!({ "action": action })).await;
        assert_eq!(reply.status, status, "{action}: {}", reply.text);
        if status != 200 {
            reply.assert_refused(status, code);
            assert_eq!(
                (&reply.body["retryable"], &reply.body["conflict"]),
                (&json!(retryable), &conflict),
                "{action}"
            );
            // The details of the failure are for the operator, not for the caller.
            assert!(!reply.text.contains("dog") && !reply.text.contains("wasm"), "{}", reply.text);
        }
        let next = agent.result("greeter", json!({ "action": "greet", "name": action })).await;
        assert_eq!(next["text"], format!("Hello, {action}!"));
        assert_eq!(agent.result("misbehaves", json!({ "action": "behaves" })).await["number"], 1);
    }
    assert!(host.log().contains("the dog ate it"), "the author's panic is in the operator's log");
    assert!(host.log().contains("call stack exhausted"), "the log names the recursion");
    let flood = host
        .log()
        .lines()
        .filter(|line| line.contains("xxxxxxxx"))
        .map(str::len)
        .collect::<Vec<_>>();
    assert_eq!(flood.len(), 64);
    assert!(flood.iter().all(|length| *length < 1400));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_that_waits_in_a_host_call_is_ended_too() {
    let host = hostile().await;
    let agent = host.agent().await;
    agent
        .call("wasi_probe", json!({ "action": "sleep" }))
        .await
        .assert_refused(504, "capability_timeout");
    assert_eq!(agent.call("greeter", json!({ "action": "people" })).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn wasi_is_provided_and_empty() {
    let host = hostile().await;
    let found = host.agent().await.result("wasi_probe", json!({ "action": "look" })).await;
    assert_eq!((&found["environment"], &found["arguments"]), (&json!(0), &json!(0)));
    assert_eq!((&found["files"], &found["sockets"]), (&json!(false), &json!(false)));
    assert_eq!(found["now"], found["wasi_now"], "both clocks are the call's fixed instant");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_component_prints_is_logged() {
    let host = hostile().await;
    let agent = host.agent().await;
    agent.result("wasi_probe", json!({ "action": "look" })).await;
    agent.result("wasi_probe", json!({ "action": "floods_output" })).await;
    let log = host.log();
    let line = |text: &str| log.lines().find(|line| line.contains(text)).unwrap_or_default();
    for (text, level) in [
        ("the probe looks around", "INFO"),
        ("it finds nothing", "INFO"),
        ("the probe complains", "WARN"),
        ("36 more messages of this call are left out", "WARN"),
    ] {
        let line = line(text);
        assert!(line.contains(level) && line.contains("wasi_probe"), "{text}: {log}");
    }
    assert!(!line("flood 31").is_empty() && line("flood 32").is_empty(), "half of 64 are printed");
}

#[tokio::test(flavor = "multi_thread")]
async fn misbehaviour_leaves_no_memory_and_no_thread_behind() {
    let host = Process::start(options());
    let agent = host.agent().await;
    let round = async || {
        for action in
            ["loops_forever", "grows_memory", "recurses", "floods_output", "traps", "panics"]
        {
            agent.call("misbehaves", json!({ "action": action })).await;
        }
        agent.call("wasi_probe", json!({ "action": "sleep" })).await;
    };
    for _ in 0..2 {
        round().await;
    }
    let (threads, memory) = (host.process_status("Threads"), host.process_status("VmRSS"));
    for _ in 0..6 {
        round().await;
    }
    assert!(host.process_status("Threads") <= threads + 1, "threads");
    let grown = host.process_status("VmRSS").saturating_sub(memory);
    // Six rounds that each leak 64 MiB would exceed this; memory that the allocator keeps does not.
    assert!(grown < 32 << 10, "{grown} KiB more than before");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_capability_that_hangs_does_not_occupy_every_sandbox() {
    let limits = "[limits]\ncall_wall_time_ms = 5000\ncall_queue_time_ms = 500\nconcurrent_calls = 8\nconcurrent_calls_per_capability = 4\n";
    let host = Host::start(Options::with(&["wasi_probe", "greeter"]).configuration(limits)).await;
    let agent = host.agent().await;
    let sleep = || agent.call("wasi_probe", json!({ "action": "sleep" }));
    let sleepers = async { tokio::join!(sleep(), sleep(), sleep(), sleep()) };
    let others = async {
        tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
        let refused = sleep().await;
        let served = agent.call("greeter", json!({ "action": "people" })).await;
        (refused, served)
    };
    let (slept, (refused, served)) = tokio::join!(sleepers, others);
    refused.assert_refused(503, "capability_unavailable");
    assert_eq!(refused.header("retry-after"), "1");
    assert_eq!(served.status, 200);
    for reply in [slept.0, slept.1, slept.2, slept.3] {
        reply.assert_refused(504, "capability_timeout");
    }
    assert_ne!(sleep().await.status, 503, "the permits are free again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_with_many_slow_calls_leaves_sandboxes_to_others() {
    let settings = "rate_limits = \"on\"\n[limits]\ncall_wall_time_ms = 5000\ncall_queue_time_ms = 500\nconcurrent_calls = 4\nconcurrent_calls_per_capability = 4\nconcurrent_calls_per_caller = 2\n";
    let components = ["wasi_probe", "greeter"];
    let host = Host::start(Options::with(&components).configuration(settings)).await;
    let (agent, other) = (host.agent().await, host.agent().await);
    let sleep = || agent.call("wasi_probe", json!({ "action": "sleep" }));
    let sleepers = async { tokio::join!(sleep(), sleep()) };
    let others = async {
        tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
        let people = json!({ "action": "people" });
        tokio::join!(agent.call("greeter", people.clone()), other.call("greeter", people))
    };
    let (slept, (refused, served)) = tokio::join!(sleepers, others);
    refused.assert_refused(429, "rate_limited");
    assert_eq!(refused.body["conflict"]["name"], "concurrent_calls_per_caller");
    assert_eq!(served.status, 200);
    for reply in [slept.0, slept.1] {
        reply.assert_refused(504, "capability_timeout");
    }
    agent.result("greeter", json!({ "action": "people" })).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_state_survives_a_call() {
    let host = Host::start(Options {
        components: vec![("a.wasm".into(), component("svc_status"))],
        ..Options::default()
    })
    .await;
    let agent = host.agent().await;
    let first = agent.result("svc.status", json!({ "action": "limits" })).await;
    for _ in 0..20 {
        assert_eq!(agent.result("svc.status", json!({ "action": "limits" })).await, first);
    }
    let memory = first["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|limit| limit["name"] == "call_memory_bytes")
        .unwrap();
    assert_eq!(memory["value"], 64 << 20);
}
