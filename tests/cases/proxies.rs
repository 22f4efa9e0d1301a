//! A host behind nginx and Caddy, as `docs/proxies.md` configures them.

use crate::harness::{
    Host, PATIENCE, Reply, arrivals, component,
    inbox::{Reader, texts},
    mcp::{LEGACY, Mcp, Messages},
    media::{NAMES, put},
    oauth::{ADA, balance, call, code, post, public_client, redemption, text},
    person::Person,
    proxy::{Proxy, Server},
    relationships,
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const ALL: &str = "svc.read svc.write svc.events";
const CHANGED: &str = "notifications/tools/list_changed";
/// The address of a client that connects to the proxy.
const CLIENT: &str = "127.0.0.3";
/// The number of requests that reuse a connection to the host.
const REQUESTS: u64 = 20;

async fn check_sign_in(proxy: &Proxy, host: &Host) {
    let client = public_client(host).await;
    let mut person = Person::with(host, proxy.client());
    let code = code(&mut person, &client, ADA).await;
    let granted = post(host, "/oauth/token", &redemption(&client, &code), None).await;
    assert_eq!(granted.status, 200, "{}", granted.text);
    let reply = call(host, text(&granted.body, "access_token"), balance()).await;
    reply.assert_refused(404, "account_not_found");
}

/// Opens the stream of a session.
async fn session_stream(session: &Mcp<'_>) -> Messages {
    let request = session.host.client.get(format!("{}/mcp", session.host.url));
    let request = request.bearer_auth(&session.token).header("accept", "text/event-stream");
    let request = request.header("mcp-session-id", session.session());
    let response = request.header("mcp-protocol-version", LEGACY).send().await.unwrap();
    Messages::of(response)
}

async fn wait_for_change(messages: &mut Messages) {
    while messages.next().await.unwrap()["method"] != CHANGED {}
}

/// Checks that calls are answered, and that events of a stream arrive while it goes on.
async fn check_mcp(host: &Host) {
    let (modern, legacy) = (host.mcp(ALL).await, host.mcp(ALL).await.legacy().await);
    let told = modern.tool("ledger", balance()).await;
    assert_eq!(told["structuredContent"]["error_code"], "account_not_found", "{told}");
    let wanted = json!({ "notifications": { "toolsListChanged": true } });
    let listening = Messages::of(modern.request("subscriptions/listen", wanted).await);
    let mut streams = [listening, session_stream(&legacy).await];
    let greeter = host.catalog().join("greeter.wasm");
    for _ in 0..2 {
        host.drop_in("greeter.wasm", &component("greeter"));
        for messages in &mut streams {
            wait_for_change(messages).await;
        }
        std::fs::remove_file(&greeter).unwrap();
        for messages in &mut streams {
            wait_for_change(messages).await;
        }
    }
}

/// Checks that an event answers a long poll, and that events of a stream arrive while it is open.
async fn check_events(host: &Host) {
    let reader = Reader::new(host).await;
    let send = async |words: &[&str]| {
        while host.waiting_readers().await == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        reader.send_events("towns/1", words).await;
    };
    let started = Instant::now();
    let (page, ()) = tokio::join!(reader.page("wait=50"), send(&["one"]));
    assert_eq!(texts(&page), ["one"]);
    assert!(started.elapsed() < Duration::from_secs(45), "the answer waited for its end");
    let after = page["cursor"].as_str().unwrap().parse().unwrap();
    let (arrived, ()) = tokio::join!(arrivals::stream(&reader, after, 2), send(&["two", "three"]));
    assert_eq!(arrived.len(), 2, "{arrived:?}");
}

/// Checks that a body of the largest size reaches the host, and that the host itself refuses a larger one.
async fn check_upload(host: &Host) {
    let token = host.token(ALL).await;
    let url = format!("{}/v1/capabilities/ledger/call", host.url);
    for (bytes, status, error) in
        [(256 << 10, 404, "account_not_found"), ((256 << 10) + 1, 413, "payload_too_large")]
    {
        let body = balance().to_string();
        let body = format!("{body}{}", " ".repeat(bytes - body.len()));
        let request = host.client.post(&url).bearer_auth(&token);
        let request = request.header("content-type", "application/json").body(body);
        Reply::read(request.send().await.unwrap()).await.assert_refused(status, error);
    }
}

/// Checks that a file of a person reaches the host, which is larger than any other body.
async fn check_file(host: &Host) {
    let person = relationships::Person::new(host).await;
    let mut file = b"%PDF-1.7\n".to_vec();
    file.resize(2 << 20, b' ');
    let begun = person.begin_upload("document", file.len(), json!({})).await;
    let sent = put(host, &begun, file).await;
    assert_eq!(sent.status, 201, "{}", sent.text);
}

/// Checks that the audit log has the client's address, and neither the proxy's nor one that the client claims.
async fn check_address(proxy: &Proxy, host: &Host) {
    let agent = host.register().await;
    let client = proxy.client().local_address(Some(CLIENT.parse().unwrap())).build().unwrap();
    let request = client.post(format!("{}/oauth/token", host.url));
    let request = request.form(&[("grant_type", "client_credentials")]);
    let request = request.basic_auth(text(&agent, "client_id"), Some("wrong"));
    let request = request.header("x-forwarded-for", "192.0.2.9");
    assert_eq!(request.send().await.unwrap().status(), 401);
    let started = Instant::now();
    let row = loop {
        let rows = host.operate("/audit?action=auth:client_refused").await.body;
        match &rows["entries"][0] {
            Value::Null => assert!(started.elapsed() < PATIENCE, "no row"),
            row => break row.clone(),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(row["address"], CLIENT, "{row}");
}

async fn check(server: Server) {
    let (proxy, host) =
        Proxy::start(server, &[&NAMES[..], &["herald", "ledger", "svc_events"]].concat()).await;
    check_sign_in(&proxy, &host).await;
    check_mcp(&host).await;
    check_events(&host).await;
    check_upload(&host).await;
    check_file(&host).await;
    check_address(&proxy, &host).await;
    let opened = "portolan_connections_opened_total";
    let before = host.metric(opened).await;
    for _ in 0..REQUESTS {
        assert_eq!(host.get("/healthz").await.text, "ok");
    }
    let opened = host.metric(opened).await - before;
    assert!(opened < REQUESTS / 4, "{opened} connections for {REQUESTS} requests");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_is_used_through_nginx() {
    check(Server::Nginx).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_is_used_through_caddy() {
    check(Server::Caddy).await;
}
