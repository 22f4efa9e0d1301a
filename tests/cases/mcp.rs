//! Access to `/mcp`: tokens, origins and sessions.

use crate::harness::{
    Host, Options, Reply,
    mcp::{LEGACY, MODERN, Mcp, content_type, message, request},
    postgres::Server as Postgres,
};
use reqwest::{Method, Response};
use serde_json::{Value, json};

const ALL: &str = "svc.read svc.write svc.events";

async fn assert_response_refused(response: Response, status: u16, code: &str) -> Reply {
    let reply = Reply::read(response).await;
    reply.assert_refused(status, code);
    reply
}

#[tokio::test]
async fn a_token_is_valid_for_this_endpoint_only() {
    let host = Host::with(&["ledger"]).await;
    let metadata = format!("{}/.well-known/oauth-protected-resource/mcp", host.url);
    let list = request(1, "tools/list", &json!({}));
    let reply = Reply::read(
        host.client.post(format!("{}/mcp", host.url)).json(&list).send().await.unwrap(),
    )
    .await;
    reply.assert_refused(401, "authentication_required");
    assert_eq!(
        reply.header("www-authenticate"),
        format!("Bearer resource_metadata=\"{metadata}\", scope=\"{ALL}\"")
    );
    let described = Reply::read(host.client.get(&metadata).send().await.unwrap()).await.body;
    assert_eq!(described["resource"], format!("{}/mcp", host.url));

    let agent = host.register().await;
    let (rest, mcp) = (host.token_of(&agent, ALL).await, host.mcp_token(&agent, ALL).await);
    let reply = Mcp::new(&host, rest).request("tools/list", json!({})).await;
    let reply = assert_response_refused(reply, 401, "audience_mismatch").await;
    assert_eq!(
        reply.body["next"]["http"],
        json!({ "method": "GET", "url": "/.well-known/oauth-protected-resource/mcp" })
    );
    let challenge = reply.header("www-authenticate");
    assert!(challenge.contains(&metadata) && challenge.contains("error=\"invalid_token\""));
    let reply = Mcp::new(&host, "forged".to_owned()).request("tools/list", json!({})).await;
    assert_response_refused(reply, 401, "token_invalid").await;
    let url = format!("{}/mcp?access_token={mcp}", host.url);
    let reply = host.client.post(url).json(&list).send().await.unwrap();
    assert_response_refused(reply, 401, "authentication_required").await;
    // A token for MCP is refused at the API for REST.
    let bearer = format!("Bearer {mcp}");
    let headers = [("authorization", &*bearer), ("content-type", "application/json")];
    let body = Some(json!({ "action": "balance", "account": "ada" }).to_string());
    let reply = host.send(Method::POST, "/v1/capabilities/ledger/call", &headers, body).await;
    reply.assert_refused(401, "audience_mismatch");
    assert_eq!(reply.body["next"]["http"]["url"], "/.well-known/oauth-protected-resource");
    assert!(!reply.header("www-authenticate").contains("/mcp\""));

    assert_eq!(Mcp::new(&host, mcp).tool_names().await, ["ledger_read", "ledger_write"]);
}

#[tokio::test]
async fn a_missing_scope_is_answered_with_every_scope_needed() {
    let host = Host::with(&["ledger", "svc_events"]).await;
    let agent = host.register().await;
    host.claim(agent["agent_id"].as_str().unwrap()).await;
    let open = json!({ "action": "open", "account": "ada" });
    let reader = Mcp::new(&host, host.mcp_token(&agent, "svc.read").await);
    for client in [reader, Mcp::new(&host, host.mcp_token(&agent, "svc.read").await).legacy().await]
    {
        let call = json!({ "name": "ledger", "arguments": open });
        let reply = assert_response_refused(
            client.request("tools/call", call).await,
            403,
            "insufficient_scope",
        )
        .await;
        let challenge = reply.header("www-authenticate");
        assert!(challenge.contains("/.well-known/oauth-protected-resource/mcp\""), "{challenge}");
        assert!(challenge.contains("error=\"insufficient_scope\", scope=\"svc.read svc.write\""));
        // Permitted calls are made.
        let balance = json!({ "action": "balance", "account": "ada" });
        assert_eq!(
            client.tool("ledger", balance).await["structuredContent"]["error_code"],
            "account_not_found"
        );
        // Tools that the client can never call are not listed, but those that find them.
        assert_eq!(client.tool_names().await[0], "ledger_read");
        assert!(!client.tool_names().await.contains(&"ledger_write".to_owned()));
    }
    // The claim is required before the scope.
    let anonymous = host.mcp("svc.read").await;
    let result = anonymous.tool("ledger", open.clone()).await;
    assert_eq!(
        (&result["isError"], &result["structuredContent"]["error_code"]),
        (&json!(true), &json!("phone_binding_required"))
    );
    let writer = Mcp::new(&host, host.mcp_token(&agent, "svc.read svc.write").await);
    assert_eq!(writer.tool("ledger", open).await["isError"], false);
    assert_eq!(
        Mcp::new(&host, host.mcp_token(&agent, ALL).await).tool_names().await,
        ["ledger_read", "ledger_write", "svc_events_inbox", "svc_events_write"]
    );
}

#[tokio::test]
async fn foreign_hosts_and_origins_are_refused() {
    let options = Options::with(&["ledger"]).configuration(
        "[mcp]\nhosts = [\"agents.example\"]\norigins = [\"https://app.example:443\"]",
    );
    let host = Host::start(options).await;
    let client = host.mcp(ALL).await;
    let status = async |name: &str, value: &str| {
        let headers = [(name, value)];
        client.request_with("tools/list", json!({}), &headers).await.status().as_u16()
    };
    for (name, value, expected) in [
        ("origin", "https://app.example", 200),
        ("origin", "http://localhost:6274", 200),
        ("origin", &*host.url, 200),
        ("origin", "https://evil.example", 403),
        ("origin", "https://app.example.evil.example", 403),
        ("origin", "http://app.example", 403),
        ("origin", "null", 403),
        ("host", "agents.example", 200),
        ("host", "localhost", 200),
        ("host", "evil.example", 403),
    ] {
        assert_eq!(status(name, value).await, expected, "{name}: {value}");
    }
}

#[tokio::test]
async fn both_revisions_describe_the_server_and_its_features() {
    let host = Host::with(&["ledger"]).await;
    let client = host.mcp(ALL).await;
    let found = client.result("server/discover", json!({})).await;
    let versions = found["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!(MODERN)) && versions.contains(&json!(LEGACY)), "{found}");
    assert_eq!(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "portolan");
    assert_eq!(found["capabilities"]["tools"]["listChanged"], true);
    assert!(
        found["capabilities"]["extensions"]["io.modelcontextprotocol/oauth-client-credentials"]
            .is_object()
    );
    assert_eq!(
        (&found["resultType"], &found["cacheScope"]),
        (&json!("complete"), &json!("public"))
    );
    assert!(found["ttlMs"].as_u64().unwrap() > 0);
    let listed = client.result("tools/list", json!({})).await;
    assert_eq!(
        (&listed["resultType"], &listed["cacheScope"]),
        (&json!("complete"), &json!("private"))
    );
    // Methods that the modern revision has removed, and headers that it requires.
    for method in ["ping", "initialize", "logging/setLevel", "resources/subscribe", "nonsense"] {
        let parameters = json!({ "uri": "x", "level": "info" });
        let response = client.request(method, parameters).await;
        assert!([400, 404].contains(&response.status().as_u16()), "{method}: {response:?}");
    }
    let response =
        client.request_with("tools/list", json!({}), &[("mcp-method", "tools/call")]).await;
    assert_eq!(response.status(), 400);
    assert_eq!(message(response).await["error"]["code"], -32020);
    let unversioned = request(1, "tools/list", &json!({}));
    assert_eq!(client.send(&unversioned, &[]).await.status(), 400);
    let legacy = host.mcp(ALL).await.legacy().await;
    assert_eq!(legacy.result("ping", json!({})).await, json!({}));
    assert!(legacy.result("tools/list", json!({})).await.get("resultType").is_none());
}

#[tokio::test]
async fn a_session_belongs_to_its_agent_and_ends_on_request() {
    let host = Host::with(&["ledger"]).await;
    let (ada, eve) = (host.mcp(ALL).await.legacy().await, host.mcp(ALL).await);
    let session = [("mcp-session-id", ada.session())];
    let list = request(2, "tools/list", &json!({}));
    let legacy = [session[0], ("mcp-protocol-version", LEGACY)];
    assert_eq!(eve.send(&list, &legacy).await.status(), 404);
    let url = format!("{}/mcp", host.url);
    let ended = |token: &str| {
        let request =
            host.client.delete(&url).bearer_auth(token).header("mcp-session-id", ada.session());
        async { request.send().await.unwrap().status().as_u16() }
    };
    assert_eq!(ended(&eve.token).await, 404);
    assert_eq!(ada.tool_names().await, ["ledger_read", "ledger_write"]);
    assert_eq!(ended(&ada.token).await, 204);
    assert_eq!(ada.request("tools/list", json!({})).await.status(), 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_goes_on_at_another_node_and_after_a_restart() {
    let public_url = "http://127.0.0.1:1";
    let configuration = format!("public_url = \"{public_url}\"\n");
    let postgres = Postgres::start(100);
    let url = postgres.database().await;
    let options = || Options::with(&["ledger"]).configuration(&configuration).postgres(&url);
    let start = async || Host::start(options()).await;
    let first = start().await;
    let (ada, eve) = (first.register().await, first.register().await);
    let ada = Mcp::new(&first, first.mcp_token_at(public_url, &ada, ALL).await);
    let ada = ada.with_capabilities(json!({ "elicitation": {} })).legacy().await;
    assert_eq!(ada.tool_names().await, ["ledger_read", "ledger_write"]);
    let eve = Mcp::new(&first, first.mcp_token_at(public_url, &eve, ALL).await);

    let second = start().await;
    let session = [("mcp-session-id", ada.session()), ("mcp-protocol-version", LEGACY)];
    let list = request(2, "tools/list", &json!({}));
    assert_eq!(eve.at(&second).send(&list, &session).await.status(), 404);
    assert_eq!(ada.at(&second).tool_names().await, ["ledger_read", "ledger_write"]);
    assert_eq!(ada.tool_names().await, ["ledger_read", "ledger_write"]);

    let third = start().await;
    let url = format!("{}/mcp", third.url);
    let end = third.client.delete(&url).bearer_auth(&ada.token);
    let ended = end.header("mcp-session-id", ada.session()).send().await.unwrap();
    assert_eq!(ended.status(), 204);
    let fourth = start().await;
    assert_eq!(ada.at(&fourth).request("tools/list", json!({})).await.status(), 404);
}

#[tokio::test]
async fn the_number_of_sessions_is_limited() {
    let host = Host::start(Options::with(&[]).configuration("[mcp]\nsessions = 2")).await;
    let _first = host.mcp(ALL).await.legacy().await;
    let _second = host.mcp(ALL).await.legacy().await;
    let client = host.mcp(ALL).await;
    let parameters = json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
    let reply = client.send(&request(1, "initialize", &parameters), &[]).await;
    assert_response_refused(reply, 503, "capability_unavailable").await;
    // A client that needs no session is served.
    assert_eq!(client.tool_names().await, Vec::<String>::new());
}

#[tokio::test]
async fn one_agent_cannot_take_the_sessions_of_others() {
    let host = Host::start(Options::with(&[]).configuration("[mcp]\nsessions = 100")).await;
    let parameters = json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
    let initialize = request(1, "initialize", &parameters);
    let start = async |client: &Mcp<'_>| client.send(&initialize, &[]).await.status().as_u16();
    let client = host.mcp(ALL).await;
    for number in 0..16 {
        assert_eq!(start(&client).await, 200, "session {number}");
    }
    let reply = client.send(&initialize, &[]).await;
    assert_response_refused(reply, 429, "rate_limited").await;
    // All unclaimed agents of an address have a quarter of the sessions.
    let others = host.mcp(ALL).await;
    for _ in 0..9 {
        assert_eq!(start(&others).await, 200);
    }
    assert_eq!(start(&host.mcp(ALL).await).await, 429);
}

#[tokio::test]
async fn a_client_may_accept_every_media_type() {
    let host = Host::with(&["ledger"]).await;
    let client = host.mcp(ALL).await;
    for (accepted, status) in [
        ("*/*", 200),
        ("text/html, */*;q=0.8", 200),
        ("text/html", 400),
        ("application/json, */*;q=0", 400),
    ] {
        let headers = [("accept", accepted)];
        let response = client.request_with("tools/list", json!({}), &headers).await;
        assert_eq!(response.status(), status, "{accepted}");
    }
    // A stream of a session, too.
    let parameters = json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
    let initialize = request(1, "initialize", &parameters);
    assert_eq!(client.send(&initialize, &[("accept", "*/*")]).await.status(), 200);
}

/// The transport answers a client whose `Accept` has weights, and its answers are the same.
#[tokio::test]
async fn a_call_is_answered_alike_with_and_without_the_transport() {
    let host = Host::with(&["svc_phone_binding", "ledger"]).await;
    let forms = json!({ "elicitation": { "form": {} } });
    let client = host.mcp(ALL).await.with_capabilities(forms);
    let weighted = [("accept", "application/json;q=0.9, text/event-stream;q=0.8")];
    for (arguments, member) in [
        (json!({ "action": "counter", "name": "ada" }), "/structuredContent/result"),
        (json!({ "action": "balance", "account": "ada" }), "/structuredContent/message"),
        (json!({ "action": "balance", "account": 5 }), "/structuredContent/conflict/errors/0"),
        (json!({ "action": "none" }), "/structuredContent/error_code"),
        // A write by an agent that nobody has claimed asks its person.
        (json!({ "action": "open", "account": "ada" }), "/inputRequests/answers"),
    ] {
        let parameters = json!({ "name": "ledger", "arguments": arguments });
        let mut answers = Vec::new();
        for headers in [&[][..], &weighted] {
            let response = client.request_with("tools/call", parameters.clone(), headers).await;
            assert_eq!(
                (response.status().as_u16(), content_type(&response)),
                (200, "application/json")
            );
            let mut answer = message(response).await;
            assert!(answer["result"].pointer(member).is_some(), "{arguments}: {answer}");
            let text = answer.pointer_mut("/result/content/0/text").map(Value::take);
            if let Some(Value::String(text)) = text {
                let content: Value = serde_json::from_str(&text).unwrap();
                assert_eq!(content, answer["result"]["structuredContent"]);
            }
            for variable in ["/result/structuredContent/meta/request_id", "/result/requestState"] {
                answer.pointer_mut(variable).map(Value::take);
            }
            answers.push(answer.to_string());
        }
        assert_eq!(answers[0], answers[1]);
    }
}

/// Sends a request without the usual headers, so that a test can make each part invalid.
async fn send_bare(client: &Mcp<'_>, method: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let bearer = format!("Bearer {}", client.token);
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let headers = [&[("authorization", &*bearer)], headers].concat();
    client.host.send(method, "/mcp", &headers, Some(body.to_owned())).await
}

#[tokio::test]
async fn requests_that_are_not_accepted_are_answered_with_the_error_envelope() {
    let host = Host::start(
        Options::with(&["ledger"]).configuration("[limits]\ncall_input_bytes = 4096\n"),
    )
    .await;
    let client = host.mcp(ALL).await;
    let list = request(1, "tools/list", &json!({})).to_string();
    let json = ("content-type", "application/json");
    let both = ("accept", "application/json, text/event-stream");
    let stream = ("accept", "text/event-stream");
    let (legacy, modern) = (("mcp-protocol-version", LEGACY), ("mcp-protocol-version", MODERN));
    let known = [json, both];
    for (method, headers, status, code) in [
        ("POST", &[json, legacy][..], 400, "validation_failed"),
        ("POST", &[json, ("accept", "application/json"), modern], 400, "validation_failed"),
        ("POST", &[both, modern], 415, "unsupported_media_type"),
        ("POST", &[both, ("content-type", "text/plain"), modern], 415, "unsupported_media_type"),
        // A session, or the revision, is missing or unknown.
        ("POST", &[json, both, legacy], 400, "validation_failed"),
        ("POST", &known, 400, "validation_failed"),
        ("POST", &[json, both, ("mcp-protocol-version", "1999-01-01")], 400, "validation_failed"),
        ("POST", &[json, both, legacy, ("mcp-session-id", "nobody's")], 404, "not_found"),
        ("GET", &[legacy], 400, "validation_failed"),
        ("GET", &[stream, legacy], 400, "validation_failed"),
        ("GET", &[stream, modern], 405, "method_not_allowed"),
        ("DELETE", &[legacy], 400, "validation_failed"),
        ("DELETE", &[modern], 405, "method_not_allowed"),
        ("PUT", &known, 405, "method_not_allowed"),
        ("POST", &[json, both, modern, ("origin", "https://evil.example")], 403, "not_permitted"),
        ("POST", &[json, both, modern, ("origin", "nonsense")], 403, "not_permitted"),
        ("POST", &[json, both, modern, ("host", "evil.example")], 403, "not_permitted"),
        ("POST", &[json, both, modern, ("host", "@")], 400, "validation_failed"),
    ] {
        let reply = send_bare(&client, method, headers, &list).await;
        assert_eq!(reply.status, status, "{method} {headers:?}: {}", reply.text);
        reply.assert_refused(status, code);
        assert_eq!(reply.header("content-type"), "application/json");
        assert_eq!(status == 405, !reply.header("allow").is_empty(), "{method} {headers:?}");
    }
    let large = request(1, "tools/list", &json!({ "more": "x".repeat(5000) })).to_string();
    for client in [client, host.mcp("svc.read").await] {
        let reply = send_bare(&client, "POST", &[json, both, modern], &large).await;
        reply.assert_refused(413, "payload_too_large");
        assert_eq!(reply.body["conflict"]["limit"], 4096);
        // A body that is not a message is answered with the protocol's own error.
        for (body, code) in [
            ("{", -32700),
            ("", -32700),
            ("[]", -32600),
            ("{}", -32600),
            ("7", -32600),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        ] {
            let reply = send_bare(&client, "POST", &[json, both, modern], body).await;
            assert_eq!((reply.status.as_u16(), &reply.body["error"]["code"]), (400, &json!(code)));
            assert_eq!((&reply.body["jsonrpc"], reply.body.get("id")), (&json!("2.0"), None));
        }
    }
}
