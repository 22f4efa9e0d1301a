//! Traces: one from the caller through the host to a webhook, as a collector receives it.

use crate::harness::{
    Host, Options, PATIENCE, Reply,
    collector::{Collector, attribute, hex, one},
    hostile::{delivered, with_script},
    inbox::Reader,
    mcp::{MODERN, request},
    webhooks::{self, accepting_receiver},
};
use opentelemetry_proto::tonic::trace::v1::{
    Span,
    span::SpanKind::{Client, Consumer, Internal, Producer, Server},
    status::StatusCode,
};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CALLER: &str = "b7ad6b7169203331";
const OTHER_CALLER: &str = "00f067aa0ba902b7";

fn traceparent(flags: &str) -> String {
    format!("00-{TRACE}-{CALLER}-{flags}")
}

fn telemetry(collector: &Collector, sample: &str) -> String {
    format!(
        "[telemetry]\notlp_endpoint = \"{}\"\nsample = {sample}\nservice_name = \"test\"\n",
        collector.url
    )
}

/// Returns a component that calls two others and publishes an event to this agent.
fn traced(agent: &str) -> Vec<u8> {
    let greet = json!({ "op": "invoke", "capability": "greeter", "action": "greet", "input": { "name": "Ada" } });
    let ask = json!({ "op": "invoke", "capability": "svc.status", "action": "get", "input": {} });
    let put = json!({ "op": "put", "collection": "things", "id": "one", "body": { "a": 1 } });
    let told = json!({
        "op": "publish", "type": "traced.told", "to": agent, "subject": "one", "data": {},
    });
    with_script(&json!({
        "id": "traced",
        "actions": [{ "name": "act", "operations": [greet, ask, put, told] }],
        "collections": [{ "name": "things", "indexes": [], "text": [] }],
        "publishes": ["traced.told"],
        "invokes": [
            { "capability": "greeter", "action": "greet" },
            { "capability": "svc.status", "action": "get" },
        ],
    }))
}

async fn call(reader: &Reader<'_>, capability: &str, headers: &[(&str, &str)]) -> Reply {
    call_with(reader, capability, &json!({ "action": "act" }), headers).await
}

async fn call_with(
    reader: &Reader<'_>,
    capability: &str,
    body: &Value,
    headers: &[(&str, &str)],
) -> Reply {
    let host = reader.agent.host;
    let bearer = format!("Bearer {}", host.current_token(&reader.agent.token).await);
    let mut all = vec![("authorization", &*bearer), ("content-type", "application/json")];
    all.extend(headers);
    let path = format!("/v1/capabilities/{capability}/call");
    host.send(Method::POST, &path, &all, Some(body.to_string())).await
}

async fn counts(host: &Host, outcome: &str) -> u64 {
    host.metric(&format!("portolan_telemetry_spans_total{{outcome=\"{outcome}\"}}")).await
}

fn is_child(child: &Span, parent: &Span) -> bool {
    child.parent_span_id == parent.span_id
}

#[tokio::test(flavor = "multi_thread")]
async fn one_trace_leads_from_the_caller_to_a_webhook() {
    let collector = Collector::start().await;
    let mut options = webhooks::options("");
    options.components.extend(Options::with(&["greeter", "svc_status"]).components);
    options.configuration += &telemetry(&collector, "0.0");
    options.configuration +=
        "[grants]\ntraced = [\"invoke:greeter.greet\", \"invoke:svc.status.get\"]\n";
    let host = Host::start(options).await;
    let receiver = accepting_receiver().await;
    let reader = Reader::claimed(&host).await;
    reader.subscribe(receiver.port).await;
    host.drop_in("traced.wasm", &traced(&reader.id));
    host.wait_for_version("traced", "1.0.0").await;
    receiver.forget_requests();

    let parent = traceparent("01");
    let headers = [("traceparent", &*parent), ("tracestate", "rojo=00f067aa0ba902b7")];
    let reply = call(&reader, "traced", &headers).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    let has_webhook = |spans: &[Span]| {
        ["POST webhook", "POST /v1/capabilities/{id}/call"]
            .iter()
            .all(|name| spans.iter().any(|span| span.name == *name))
    };
    let spans = collector.wait_for(TRACE, has_webhook).await;
    let door = one(&spans, "POST /v1/capabilities/{id}/call", Server);
    assert_eq!(hex(&door.parent_span_id), CALLER);
    assert_eq!(door.trace_state, "rojo=00f067aa0ba902b7");
    assert_eq!(attribute(door, "http.response.status_code"), "200");
    assert_eq!(attribute(door, "http.route"), "/v1/capabilities/{id}/call");
    assert_eq!(attribute(door, "portolan.request.id"), reply.body["meta"]["request_id"]);
    let called = one(&spans, "call traced", Internal);
    assert!(is_child(called, door), "{called:?}");
    assert_eq!(attribute(called, "portolan.action"), "act");
    for stage in ["permit", "validate"] {
        assert!(is_child(one(&spans, stage, Internal), called), "{stage}");
    }
    let run_in = |parent: &Span| {
        let mut runs = spans.iter().filter(|span| span.name == "run" && is_child(span, parent));
        runs.next().unwrap_or_else(|| panic!("nothing runs in {}", parent.name)).clone()
    };
    let run = run_in(called);
    for nested in ["call greeter", "call svc.status"] {
        let nested = one(&spans, nested, Internal);
        assert!(is_child(nested, &run), "{nested:?}");
        let inner = run_in(nested);
        assert!(inner.start_time_unix_nano >= nested.start_time_unix_nano, "{inner:?}");
    }
    assert!(is_child(one(&spans, "COMMIT", Client), called));
    let published = one(&spans, "publish traced.told", Producer);
    assert!(is_child(published, called), "{published:?}");
    let delivery = one(&spans, "POST webhook", Client);
    assert!(is_child(delivery, published), "{delivery:?}");
    assert_eq!(attribute(delivery, "http.response.status_code"), "204");
    assert_eq!(
        attribute(delivery, "messaging.message.id"),
        attribute(published, "messaging.message.id"),
    );
    for span in &spans {
        assert!(span.end_time_unix_nano >= span.start_time_unix_nano, "{span:?}");
    }
    // The receiver is told where it is in the trace, and not what the caller's system keeps in it.
    let sent = format!("traceparent: 00-{TRACE}-{}-01\r\n", hex(&delivery.span_id));
    let request = receiver.requests().pop().unwrap();
    assert!(request.contains(&sent) && !request.contains("tracestate"), "{request}");
    assert!(collector.services().iter().all(|name| name == "test"));
    let log = host.log();
    assert!(!log.contains("spans do not reach"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_follows_an_event_into_the_capability_that_receives_it() {
    let collector = Collector::start().await;
    let settings = format!(
        "{}[grants]\nlistener = [\"subscribe:traced.told\"]\n",
        telemetry(&collector, "0.0")
    );
    let host = Host::start(Options::default().configuration(&settings)).await;
    let told = json!({
        "op": "publish", "type": "traced.told", "to": "capabilities", "subject": "one", "data": {},
    });
    let teller = json!({
        "id": "traced",
        "actions": [{ "name": "act", "operations": [told] }],
        "publishes": ["traced.told"],
    });
    let heard = json!({ "op": "put", "collection": "things", "id": "one", "body": { "a": 1 } });
    let listener = json!({
        "id": "listener",
        "actions": [
            { "name": "act", "operations": [] },
            { "name": "hear", "access": "internal", "input": delivered(), "operations": [heard] },
        ],
        "collections": [{ "name": "things", "indexes": [], "text": [] }],
        "subscriptions": [{ "type": "traced.told", "action": "hear" }],
    });
    for (id, script) in [("traced", &teller), ("listener", &listener)] {
        host.drop_in(&format!("{id}.wasm"), &with_script(script));
        host.wait_for_version(id, "1.0.0").await;
    }
    let reader = Reader::claimed(&host).await;
    let sampled = traceparent("01");
    let reply = call(&reader, "traced", &[("traceparent", &*sampled)]).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    let commits = |spans: &[Span]| spans.iter().filter(|span| span.name == "COMMIT").count();
    let is_whole =
        |spans: &[Span]| commits(spans) >= 2 && spans.iter().any(|span| span.name == "due work");
    let spans = collector.wait_for(TRACE, is_whole).await;
    let published = one(&spans, "publish traced.told", Producer);
    let delivery = one(&spans, "due work", Consumer);
    // It is a span of the call's trace, and not another trace with a link.
    assert!(is_child(delivery, published) && delivery.links.is_empty(), "{delivery:?}");
    assert_eq!(attribute(delivery, "portolan.capability"), "listener");
    assert_eq!(attribute(delivery, "portolan.action"), "hear");
    let received = one(&spans, "call listener", Internal);
    assert!(is_child(received, delivery), "{received:?}");
    for name in ["run", "COMMIT"] {
        let mut below = spans.iter().filter(|span| span.name == name && is_child(span, received));
        assert!(below.next().is_some(), "no {name} of the delivery: {spans:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_sampled_sends_nothing_and_goes_on() {
    let collector = Collector::start().await;
    let mut options = webhooks::options("");
    options.configuration += &telemetry(&collector, "0.0");
    let host = Host::start(options).await;
    let receiver = accepting_receiver().await;
    let reader = Reader::claimed(&host).await;
    reader.subscribe(receiver.port).await;
    host.drop_in("traced.wasm", &traced_alone(&reader.id));
    host.wait_for_version("traced", "1.0.0").await;
    receiver.forget_requests();
    assert_eq!(call(&reader, "traced", &[]).await.status, 200);
    for parent in [&*traceparent("00"), "00-x"] {
        assert_eq!(call(&reader, "traced", &[("traceparent", parent)]).await.status, 200);
    }
    let started = Instant::now();
    while receiver.requests().len() < 3 {
        assert!(started.elapsed() < PATIENCE, "{:?}", receiver.requests());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // A caller's trace reaches the receiver as the caller has sent it; the other calls have none.
    let with_trace: Vec<_> = receiver
        .requests()
        .iter()
        .filter_map(|request| request.lines().find_map(|line| line.strip_prefix("traceparent: ")))
        .map(str::to_owned)
        .collect();
    assert_eq!(with_trace, [traceparent("00")]);
    // Strangers do not choose what is recorded.
    for token in [None, Some(("authorization", "Bearer eyJhbGciOiJFZERTQSJ9.e30.x"))] {
        let sampled = traceparent("01");
        let headers: Vec<_> = [("traceparent", &*sampled)].into_iter().chain(token).collect();
        assert_eq!(host.send(Method::GET, "/healthz", &headers, None).await.status, 200);
    }
    // A sampled call shows that nothing else was in the queue before it.
    call(&reader, "traced", &[("traceparent", &*traceparent("01"))]).await;
    collector.wait_for(TRACE, |spans| !spans.is_empty()).await;
    let is_other =
        |span: &Span| hex(&span.trace_id) != TRACE || span.name.starts_with("GET /healthz");
    let others: Vec<_> = collector.spans().into_iter().filter(is_other).collect();
    assert!(others.is_empty(), "{others:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_webhook_of_another_person_does_not_learn_the_callers_trace() {
    let collector = Collector::start().await;
    let mut options = webhooks::options("");
    options.configuration += &telemetry(&collector, "0.0");
    let host = Host::start(options).await;
    let receiver = accepting_receiver().await;
    let other = Reader::claimed(&host).await;
    other.subscribe(receiver.port).await;
    host.drop_in("traced.wasm", &traced_alone(&other.id));
    host.wait_for_version("traced", "1.0.0").await;
    let caller = Reader::claimed(&host).await;
    receiver.forget_requests();
    for flags in ["00", "01"] {
        let parent = traceparent(flags);
        let reply = call(&caller, "traced", &[("traceparent", &*parent)]).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
    }
    let started = Instant::now();
    while receiver.requests().len() < 2 {
        assert!(started.elapsed() < PATIENCE, "{:?}", receiver.requests());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let requests = receiver.requests();
    assert!(requests.iter().all(|request| !request.contains(TRACE)), "{requests:?}");
    let told: Vec<_> = requests
        .iter()
        .filter_map(|request| request.lines().find_map(|line| line.strip_prefix("traceparent: ")))
        .collect();
    assert_eq!(told.len(), 1, "{requests:?}");
    let own = told[0].split('-').nth(1).unwrap();
    let spans = collector.wait_for(own, |spans| !spans.is_empty()).await;
    let delivery = one(&spans, "POST webhook", Client);
    assert_eq!(told[0], format!("00-{own}-{}-03", hex(&delivery.span_id)));
    // The operator finds the call by the link.
    let spans = collector
        .wait_for(TRACE, |spans| spans.iter().any(|span| span.name == "publish traced.told"))
        .await;
    let published = one(&spans, "publish traced.told", Producer);
    let [link] = &delivery.links[..] else { panic!("{delivery:?}") };
    assert_eq!((hex(&link.trace_id), &link.span_id), (TRACE.to_owned(), &published.span_id));
}

/// Returns a component that only publishes an event to this agent.
fn traced_alone(agent: &str) -> Vec<u8> {
    let told = json!({
        "op": "publish", "type": "traced.told", "to": agent, "subject": "one", "data": {},
    });
    with_script(&json!({
        "id": "traced",
        "actions": [{ "name": "act", "operations": [told] }],
        "publishes": ["traced.told"],
    }))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_call_belongs_to_the_trace_of_its_message() {
    let collector = Collector::start().await;
    let options = Options::with(&["greeter"]).configuration(&telemetry(&collector, "0.0"));
    let host = Host::start(options).await;
    let mcp = host.mcp("svc.read svc.write").await;
    let message = |accepted: &str| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "a test", "version": "1" },
            "traceparent": traceparent("01").replace(CALLER, accepted),
        });
        let arguments = json!({ "action": "greet", "name": "Ada" });
        let parameters = json!({ "name": "greeter", "arguments": arguments, "_meta": meta });
        request(7, "tools/call", &parameters)
    };
    // The second message goes through the transport of the SDK, because no direct call accepts with weights.
    let weighed = "application/json, text/event-stream;q=0.9";
    for (parent, headers) in [(CALLER, &[][..]), (OTHER_CALLER, &[("accept", weighed)])] {
        let response = mcp.send(&message(parent), headers).await;
        assert_eq!(response.status(), 200);
        response.text().await.unwrap();
        let is_call =
            |span: &Span| span.name == "call greeter" && hex(&span.parent_span_id) == parent;
        collector.wait_for(TRACE, |spans| spans.iter().any(is_call)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_call_is_a_failed_span_with_its_code() {
    let collector = Collector::start().await;
    let headers = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&headers, "x-collector-key = k1\n").unwrap();
    let settings = format!(
        "{}headers_file = \"{}\"\n",
        telemetry(&collector, "1.0"),
        headers.path().display()
    );
    let host = Host::start(Options::with(&["notes"]).configuration(&settings)).await;
    let agent = host.claimed_agent().await;
    let gone = json!({ "action": "get", "id": "lake" });
    agent.call("notes", gone).await.assert_refused(404, "note_not_found");
    let started = Instant::now();
    let failed = loop {
        let spans = collector.spans();
        let found = spans.iter().find(|span| span.name == "call notes").cloned();
        if let Some(found) = found {
            break found;
        }
        assert!(started.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(attribute(&failed, "error.type"), "note_not_found");
    assert_eq!(failed.status.unwrap().code, StatusCode::Error as i32);
    assert!(collector.headers().iter().all(|headers| headers["x-collector-key"] == "k1"));
    assert!(counts(&host, "exported").await > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_does_not_answer_delays_no_call() {
    let collector = Collector::answering(0).await;
    let options = Options::with(&["notes"]).configuration(&telemetry(&collector, "1.0"));
    let host = Host::start(options).await;
    let agent = host.claimed_agent().await;
    let started = Instant::now();
    for number in 0..20 {
        let note = json!({ "title": "t", "body": "" });
        let body: Value = json!({ "action": "put", "id": format!("n{number}"), "note": note });
        assert_eq!(agent.call("notes", body).await.status, 200);
    }
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    assert_eq!(counts(&host, "exported").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_is_kept_without_a_collector_and_found_by_its_request() {
    let host = Host::start(Options::with(&["notes", "svc_status"])).await;
    let agent = Reader::claimed(&host).await;
    let parent = traceparent("01");
    let headers = [("traceparent", &*parent)];
    let without_id = json!({ "action": "get" });
    let reply = call_with(&agent, "notes", &without_id, &headers).await;
    reply.assert_refused(400, "validation_failed");
    let request_id = reply.header("request-id").to_owned();
    let path = format!("/traces/{request_id}");
    // Spans are kept when they have ended, shortly after the answer.
    let begun = Instant::now();
    let door = "POST /v1/capabilities/{id}/call";
    let kept = loop {
        let reply = host.operate(&path).await;
        if reply.body["tree"][0]["name"] == door {
            break reply.body;
        }
        assert!(begun.elapsed() < PATIENCE, "{}", reply.text);
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!((&kept["trace_id"], &kept["request_id"]), (&json!(TRACE), &json!(request_id)));
    assert_eq!(kept["error"], "validation_failed", "{kept}");
    let tree = kept["tree"].as_array().unwrap();
    let place = |name: &str| {
        let span = tree.iter().find(|span| span["name"] == name);
        span.unwrap_or_else(|| panic!("no {name}: {kept}"))
    };
    assert_eq!(
        (&place("call notes")["depth"], &place("validate")["depth"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(place("call notes")["attributes"]["error.type"], "validation_failed");
    let list = host.operate("/traces?failed=true&order=slowest").await.body;
    let listed = list["traces"].as_array().unwrap();
    assert!(listed.iter().any(|trace| trace["trace_id"] == TRACE), "{list}");
    let unknown = host.operate("/traces/req_unknown").await;
    unknown.assert_refused(404, "not_found");
    assert!(unknown.text.contains("telemetry.keep"), "{}", unknown.text);
}
