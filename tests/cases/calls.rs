//! The catalog, the schemas and the calls over REST.

use crate::harness::{Host, Options, Reply};
use reqwest::Method;
use serde_json::{Value, json};

#[tokio::test]
async fn an_agent_registers_gets_a_token_and_calls() {
    let host = Host::with(&["greeter"]).await;
    let reply =
        host.agent().await.call("greeter", json!({ "action": "greet", "name": "Ada" })).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.body["result"], json!({ "text": "Hello, Ada!" }));
    let meta = &reply.body["meta"];
    assert_eq!(meta["request_id"], reply.header("request-id"));
    assert_eq!(
        (&meta["capability"], &meta["action"], &meta["version"]),
        (&json!("greeter"), &json!("greet"), &json!("1.2.0"))
    );
    assert_eq!(
        (&meta["replayed"], &meta["test_mode"], &meta["cost_credits"]),
        (&json!(false), &json!(false), &json!(0))
    );
}

#[tokio::test]
async fn a_components_refusal_is_answered_as_the_error_envelope() {
    let host = Host::with(&["greeter"]).await;
    let reply =
        host.agent().await.call("greeter", json!({ "action": "greet", "name": "HAL" })).await;
    reply.assert_refused(403, "robot_refused");
    assert_eq!(reply.body["message"], "This greeter does not talk to robots.");
    assert_eq!(reply.body["retryable"], false);
    assert_eq!(
        reply.body["next"],
        json!({ "capability": "greeter", "input": { "action": "people" } })
    );
}

#[tokio::test]
async fn a_call_is_checked_in_the_documented_order() {
    let host = Host::with(&["template"]).await;
    let agent = host.agent().await;
    // The body is not read before the capability is found.
    let path = "/v1/capabilities/nothing/call";
    let token = format!("Bearer {}", agent.token);
    host.send(Method::POST, path, &[], Some("{".into()))
        .await
        .assert_refused(401, "authentication_required");
    host.send(Method::POST, path, &[("authorization", &token)], Some("{".into()))
        .await
        .assert_refused(404, "unknown_capability");
    let reply = agent.call("template_000", json!({ "action": "nothing", "x": 1 })).await;
    reply.assert_refused(400, "unknown_action");
    assert_eq!(
        reply.body["conflict"]["errors"][0]["expected"],
        json!(["alpha", "bravo", "listen"])
    );
    // A write of an unclaimed agent is refused for the claim before its scope and
    // its input are checked.
    let reader = host.token("svc.read").await;
    let body = json!({ "action": "bravo", "wrong": true }).to_string();
    let headers =
        [("authorization", &*format!("Bearer {reader}")), ("content-type", "application/json")];
    let reply =
        host.send(Method::POST, "/v1/capabilities/template_000/call", &headers, Some(body)).await;
    reply.assert_refused(403, "phone_binding_required");
    assert_eq!(reply.body["retryable"], true);
    assert_eq!(reply.body["next"]["capability"], "svc.phone-binding");
    assert_eq!(reply.body["next"]["then"], "retry_original");
    // The scope is checked before the input.
    let body = json!({ "action": "listen", "wrong": true }).to_string();
    let reply =
        host.send(Method::POST, "/v1/capabilities/template_000/call", &headers, Some(body)).await;
    reply.assert_refused(403, "insufficient_scope");
    assert_eq!(
        reply.body["conflict"],
        json!({ "kind": "scope", "required": ["svc.events"], "held": ["svc.read"] })
    );
    assert!(reply.header("www-authenticate").contains("scope=\"svc.events\""));
    agent
        .call("template_000", json!({ "action": "listen", "wrong": true }))
        .await
        .assert_refused(400, "validation_failed");
}

#[tokio::test]
async fn an_internal_action_does_not_exist_for_agents() {
    let host = Host::with(&["template"]).await;
    host.agent()
        .await
        .call("template_000", json!({ "action": "hidden" }))
        .await
        .assert_refused(400, "unknown_action");
    for path in ["/v1/capabilities", "/v1/capabilities/template_000/schema", "/openapi.json"] {
        assert!(!host.get(path).await.text.contains("hidden"), "{path}");
    }
}

#[tokio::test]
async fn violations_are_reported_for_the_chosen_action() {
    let host = Host::with(&["template"]).await;
    let agent = host.agent().await;
    let body = json!({
        "action": "alpha",
        "customer": "",
        "lines": [{ "article": "a", "quantity": "2", "price": 3 }, { "article": "b", "quantity": 0 }],
        "color": "red",
    });
    let reply = agent.call("template_000", body).await;
    reply.assert_refused(400, "validation_failed");
    assert_eq!(reply.body["conflict"]["kind"], "validation");
    let errors = reply.body["conflict"]["errors"].as_array().unwrap();
    // Each error has the part of the schema that it is about.
    let row = |pointer: &str| {
        let found = errors.iter().find(|error| error["pointer"] == pointer);
        let mut row = found.unwrap_or_else(|| panic!("{pointer}: {errors:?}")).clone();
        let schema = row.as_object_mut().unwrap().shift_remove("schema");
        assert!(schema.is_some_and(|schema| schema["type"].is_string()), "{row}");
        row
    };
    assert_eq!(
        row("/customer"),
        json!({ "pointer": "/customer", "rule": "minLength", "expected": 1, "got": 0 })
    );
    assert_eq!(
        row("/lines/0/quantity"),
        json!({ "pointer": "/lines/0/quantity", "rule": "type", "expected": "integer", "got": "string" })
    );
    assert_eq!(row("/lines/1/quantity")["rule"], "minimum");
    assert_eq!(row("/lines/1/price")["rule"], "required");
    assert_eq!(
        row("/color"),
        json!({ "pointer": "/color", "rule": "additionalProperties", "expected": ["customer", "lines"] })
    );
    assert_eq!(errors.len(), 5);
    // Only writes have the reserved fields, so a read with one is refused.
    let reply = agent
        .call(
            "template_000",
            json!({ "action": "alpha", "customer": "x", "lines": [], "dry_run": true }),
        )
        .await;
    assert_eq!(reply.body["conflict"]["errors"][0]["pointer"], "/dry_run");
    // The action must be named.
    let reply = agent.call("template_000", json!({})).await;
    assert_eq!(
        reply.body["conflict"]["errors"][0],
        json!({
            "pointer": "/action", "rule": "required", "expected": ["alpha", "bravo", "listen"],
            "schema": { "type": "string", "enum": ["alpha", "bravo", "listen"] },
        })
    );
    let reply = agent.call("template_000", json!({ "action": 7 })).await;
    assert_eq!(reply.body["conflict"]["errors"][0]["rule"], "type");
}

#[tokio::test]
async fn bodies_that_are_not_a_json_object_are_refused() {
    let limits = "[limits]\ncall_input_bytes = 4096\n";
    let host = Host::start(Options::with(&["greeter"]).configuration(limits)).await;
    let token = format!("Bearer {}", host.token("svc.read").await);
    let send = async |media: &str, body: &str| {
        let headers = [("authorization", &*token), ("content-type", media)];
        host.send(Method::POST, "/v1/capabilities/greeter/call", &headers, Some(body.to_owned()))
            .await
    };
    for body in ["", "{", "[]", "null", "\"x\"", "{\"action\":\"people\"} {}", "\u{feff}{}"] {
        send("application/json", body).await.assert_refused(400, "malformed_json");
    }
    for media in ["text/plain", "application/x-www-form-urlencoded", "", "multipart/form-data"] {
        send(media, "{}").await.assert_refused(415, "unsupported_media_type");
    }
    assert_eq!(
        send("application/json; charset=utf-8", "{\"action\":\"people\"}").await.status,
        200
    );
    let large = json!({ "action": "greet", "name": "x".repeat(5000) }).to_string();
    let reply = send("application/json", &large).await;
    reply.assert_refused(413, "payload_too_large");
    assert_eq!(
        reply.body["conflict"],
        json!({ "kind": "limit", "name": "call_input_bytes", "limit": 4096 })
    );
    let message = reply.body["message"].as_str().unwrap();
    assert!(message.contains("4096 bytes") && message.contains("split"), "{message}");
    assert_eq!(
        reply.body["next"],
        json!({ "http": { "method": "GET", "url": "/v1/capabilities/greeter/schema" } })
    );
    let request = host.client.post(format!("{}/v1/agents/register", host.url));
    let large = json!({ "type": "anonymous", "agent_name": "x".repeat(5000) });
    let reply = Reply::read(request.json(&large).send().await.unwrap()).await;
    reply.assert_refused(413, "payload_too_large");
    assert_eq!(reply.body["next"]["http"]["url"], "/openapi.json");
    let deep = format!("{}{}", "[".repeat(2000), "]".repeat(2000));
    send("application/json", &deep).await.assert_refused(400, "malformed_json");
}

#[tokio::test]
async fn the_catalog_lists_what_can_be_called() {
    let host = Host::with(&["template", "greeter", "svc_status"]).await;
    let reply = host.get("/v1/capabilities").await;
    assert_eq!(reply.body["count"], 3);
    assert_eq!(reply.body["catalog_version"], 1);
    let ids: Vec<_> = reply.body["capabilities"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["greeter", "svc.status", "template_000"]);
    let entry = &reply.body["capabilities"][2];
    for field in [
        "title",
        "summary",
        "description",
        "version",
        "status",
        "tags",
        "schema_url",
        "call_url",
        "mcp_tool",
        "component_digest",
        "since",
    ] {
        assert!(!entry[field].is_null(), "{field}");
    }
    assert_eq!(reply.body["capabilities"][1]["mcp_tool"], "svc_status");
    assert_eq!(
        entry["actions"][1],
        json!({
            "name": "bravo", "title": "Say who would order", "description": "Say who would order.",
            "access": "write", "requires_claim": true, "scopes": ["svc.write"], "idempotent": false,
            "destructive": false, "cost_credits": 0, "emits": [], "errors": ["order_empty"],
        })
    );
    // The same catalog has the same bytes, and a client that has it gets 304.
    assert_eq!(host.get("/v1/capabilities").await.text, reply.text);
    let etag = reply.header("etag").to_owned();
    let again = host.send(Method::GET, "/v1/capabilities", &[("if-none-match", &etag)], None).await;
    assert_eq!(
        (again.status.as_u16(), again.text.as_str(), again.header("etag")),
        (304, "", &*etag)
    );
    let other =
        host.send(Method::GET, "/v1/capabilities", &[("if-none-match", "W/\"x\"")], None).await;
    assert_eq!(other.status, 200);
    // A changed catalog has another ETag.
    host.drop_in("wasi_probe.wasm", &crate::harness::component("wasi_probe"));
    host.wait_for_version("wasi_probe", "1.0.0").await;
    let changed =
        host.send(Method::GET, "/v1/capabilities", &[("if-none-match", &etag)], None).await;
    assert_eq!((changed.status.as_u16(), &changed.body["catalog_version"]), (200, &json!(2)));
}

#[tokio::test]
async fn the_schema_has_a_branch_for_each_action() {
    let host = Host::with(&["template"]).await;
    let reply = host.get("/v1/capabilities/template_000/schema").await;
    assert_eq!(reply.header("content-type"), "application/schema+json");
    let schema = &reply.body;
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["properties"]["action"]["enum"], json!(["alpha", "bravo", "listen"]));
    let branch = &schema["oneOf"][1];
    assert_eq!(branch["additionalProperties"], false);
    assert_eq!((&branch["x-access"], &branch["x-requires-claim"]), (&json!("write"), &json!(true)));
    assert_eq!(branch["required"][0], "action");
    assert!(branch["x-output"]["properties"]["total"].is_object());
    assert!(branch["properties"]["idempotency_key"].is_object());
    // The schema accepts the calls that the host accepts, and no others.
    let validator = jsonschema::draft202012::new(schema).unwrap();
    for (body, valid) in [
        (json!({ "action": "alpha", "customer": "x", "lines": [] }), true),
        (json!({ "action": "listen" }), true),
        (json!({ "action": "listen", "customer": "x" }), false),
        (json!({ "customer": "x", "lines": [] }), false),
    ] {
        assert_eq!(validator.is_valid(&body), valid, "{body}");
    }
    host.get("/v1/capabilities/%ff/schema").await.assert_refused(404, "unknown_capability");
    host.get("/v1/capabilities/nothing/schema").await.assert_refused(404, "unknown_capability");
}

#[tokio::test]
async fn the_openapi_description_follows_the_catalog() {
    let host = Host::with(&["template", "greeter"]).await;
    let reply = host.get("/openapi.json").await;
    assert_eq!(reply.header("content-type"), "application/openapi+json");
    assert!(reply.body["openapi"].as_str().unwrap().starts_with("3.1"));
    let post = &reply.body["paths"]["/v1/capabilities/template_000/call"]["post"];
    let body = &post["requestBody"]["content"]["application/json"]["schema"]["oneOf"][0];
    assert_eq!(body["properties"]["customer"]["maxLength"], 60);
    let result =
        &post["responses"]["200"]["content"]["application/json"]["schema"]["properties"]["result"];
    assert!(result["anyOf"][0]["properties"]["total"].is_object());
    assert!(reply.body["paths"]["/v1/capabilities/greeter/call"]["post"].is_object());
    assert_eq!(reply.body["servers"][0]["url"], host.url);
    every_reference_resolves(&reply.body, &reply.body);
    std::fs::remove_file(host.catalog().join("greeter.wasm")).unwrap();
    host.wait_for("removal", |status| status["loaded"].as_array().unwrap().len() == 1).await;
    let reply = host.get("/openapi.json").await;
    assert!(reply.body["paths"]["/v1/capabilities/greeter/call"].is_null());
}

fn every_reference_resolves(document: &Value, value: &Value) {
    match value {
        Value::Object(fields) => {
            if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
                assert!(
                    document.pointer(reference.trim_start_matches('#')).is_some(),
                    "{reference}"
                );
            }
            fields.values().for_each(|field| every_reference_resolves(document, field));
        }
        Value::Array(items) => {
            items.iter().for_each(|item| every_reference_resolves(document, item))
        }
        _ => {}
    }
}

#[tokio::test]
async fn large_answers_are_compressed_and_every_response_has_an_id() {
    let host = Host::with(&["template"]).await;
    for encoding in ["gzip", "br"] {
        let reply =
            host.send(Method::GET, "/openapi.json", &[("accept-encoding", encoding)], None).await;
        assert_eq!(reply.header("content-encoding"), encoding, "{reply:?}");
    }
    for encoding in ["identity", "gzip;q=0, gzip", "gzip;q=0.5, identity"] {
        let reply =
            host.send(Method::GET, "/openapi.json", &[("accept-encoding", encoding)], None).await;
        assert!(!reply.headers.contains_key("content-encoding"), "{encoding}");
        assert_eq!(reply.body["openapi"], "3.1.0", "{encoding}");
    }
    let mut seen = std::collections::HashSet::new();
    for (method, path, status) in [
        (Method::GET, "/healthz", 200),
        (Method::GET, "/v1/capabilities", 200),
        (Method::GET, "/nothing", 404),
        (Method::DELETE, "/v1/capabilities", 405),
        (Method::POST, "/v1/capabilities/template_000/call", 401),
        (Method::POST, "/oauth/token", 400),
    ] {
        let reply = host.send(method, path, &[], None).await;
        assert_eq!(reply.status, status, "{path}");
        assert!(seen.insert(reply.header("request-id").to_owned()), "{path}");
    }
    let nothing = host.get("/nothing").await;
    let documents = nothing.body["next"]["http"]["url"].as_str().unwrap();
    assert_eq!(host.get(documents).await.status, 200, "{}", nothing.text);
}
