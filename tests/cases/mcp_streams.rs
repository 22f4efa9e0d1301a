//! Streams of `/mcp`: the notifications of changes, and when a stream ends.

use crate::harness::{
    Host, Process, component,
    mcp::{LEGACY, Mcp, Messages},
    oauth::{post, signer, text},
};
use portolan_vocabulary::Timestamp;
use reqwest::Response;
use serde_json::{Value, json};

const ALL: &str = "svc.read svc.write svc.events";
/// The lifetime of a token in seconds, long enough to open two streams with it.
const SHORT_S: u64 = 8;

async fn open_listener(client: &Mcp<'_>) -> Messages {
    let wanted = json!({ "notifications": { "toolsListChanged": true } });
    let mut messages = Messages::of(client.request("subscriptions/listen", wanted).await);
    let first = messages.next().await.unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    messages
}

/// Opens the stream of a session with any token of its agent.
async fn open_session_stream(session: &Mcp<'_>, token: &str) -> Messages {
    let url = format!("{}/mcp", session.host.url);
    let request = session.host.client.get(url).bearer_auth(token);
    let request = request.header("mcp-session-id", session.session());
    let request =
        request.header("accept", "text/event-stream").header("mcp-protocol-version", LEGACY);
    let response: Response = request.send().await.unwrap();
    assert_eq!(response.status(), 200);
    Messages::of(response)
}

/// Waits for this notification, and ignores others before it.
async fn wait_for_notification(messages: &mut Messages, method: &str) {
    while messages.next().await.unwrap()["method"] != method {}
}

async fn wait_for_end(messages: &mut Messages) {
    while messages.next().await.is_some() {}
}

const CHANGED: &str = "notifications/tools/list_changed";

#[tokio::test(flavor = "multi_thread")]
async fn a_new_component_appears_in_the_tools_of_a_connected_client() {
    let host = Process::with(&["ledger"]);
    let (modern, legacy) = (host.mcp(ALL).await, host.mcp(ALL).await.legacy().await);
    let mut listening = open_listener(&modern).await;
    let mut standing = open_session_stream(&legacy, &legacy.token).await;

    host.drop_in("greeter.wasm", &component("greeter"));
    for (messages, client) in [(&mut listening, &modern), (&mut standing, &legacy)] {
        wait_for_notification(messages, CHANGED).await;
        assert_eq!(client.tool_names().await, ["greeter", "ledger_read", "ledger_write"]);
    }
    std::fs::remove_file(host.catalog().join("ledger.wasm")).unwrap();
    for (messages, client) in [(&mut listening, &modern), (&mut standing, &legacy)] {
        wait_for_notification(messages, CHANGED).await;
        assert_eq!(client.tool_names().await, ["greeter"]);
    }
    // A host that stops ends its streams.
    host.signal("TERM");
    wait_for_end(&mut listening).await;
    wait_for_end(&mut standing).await;
    let (status, folder) = host.wait();
    assert!(status.success());
    let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
    assert!(!log.contains("still in flight"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_when_its_token_does() {
    let host = Host::with(&["ledger"]).await;
    let agent = host.register().await;
    let now = Timestamp::now().as_secs();
    let expires_at = now + SHORT_S;
    let claims = json!({
        "iss": host.url, "aud": format!("{}/mcp", host.url), "sub": agent["agent_id"],
        "client_id": agent["client_id"], "scope": ALL, "iat": now, "exp": expires_at,
        "jti": "tok_made_by_hand",
    });
    let short = signer(&host).await("at+jwt", &claims);
    let session = Mcp::new(&host, short.clone()).legacy().await;
    for mut messages in [
        open_listener(&Mcp::new(&host, short.clone())).await,
        open_session_stream(&session, &short).await,
    ] {
        wait_for_end(&mut messages).await;
        assert!(Timestamp::now().as_secs() >= expires_at);
    }
    // The session can be used with another token of the agent.
    let mut again = open_session_stream(&session, &host.mcp_token(&agent, ALL).await).await;
    host.drop_in("greeter.wasm", &component("greeter"));
    wait_for_notification(&mut again, CHANGED).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_when_its_token_is_revoked() {
    let host = Host::with(&["ledger"]).await;
    let agent = host.register().await;
    let token = host.mcp_token(&agent, ALL).await;
    let session = Mcp::new(&host, token.clone()).legacy().await;
    let streams = [
        open_listener(&Mcp::new(&host, token.clone())).await,
        open_session_stream(&session, &token).await,
    ];
    let other = host.mcp(ALL).await;
    let mut others = open_listener(&other).await;
    let basic = Some((text(&agent, "client_id"), text(&agent, "client_secret")));
    assert_eq!(post(&host, "/oauth/revoke", &[("token", &token)], basic).await.status, 200);
    for mut messages in streams {
        wait_for_end(&mut messages).await;
    }
    host.drop_in("greeter.wasm", &component("greeter"));
    wait_for_notification(&mut others, CHANGED).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_does_not_wait_for_a_person() {
    let host = Process::with(&["svc_phone_binding", "ledger"]);
    let client = host.mcp(ALL).await.with_capabilities(json!({ "elicitation": {} })).legacy().await;
    let call = json!({ "name": "ledger", "arguments": { "action": "open", "account": "ada" } });
    let mut messages = Messages::of(client.request("tools/call", call).await);
    assert_eq!(messages.next().await.unwrap()["method"], "elicitation/create");
    host.signal("TERM");
    let mut answer = Value::Null;
    while let Some(message) = messages.next().await {
        answer = message;
    }
    let told = &answer["result"]["structuredContent"];
    assert_eq!(told["error_code"], "phone_binding_required", "{answer:#}");
    let (status, _) = host.wait();
    assert!(status.success());
}
