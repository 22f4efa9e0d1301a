//! The inbox as a resource: who may read it, and how clients are told of new events.

use crate::harness::{
    Agent, Host, component,
    inbox::{Reader, event_host, ids, texts},
    mcp::{LEGACY, Mcp, Messages, message},
};
use serde_json::{Value, json};

const ALL: &str = "svc.read svc.write svc.events";
const INBOX: &str = "portolan://inbox";
const UPDATED: &str = "notifications/resources/updated";
const LIST_CHANGED: &str = "notifications/tools/list_changed";

/// Returns an agent that reads its inbox, and a client of MCP with the same agent.
async fn reader_and_client(host: &Host) -> (Reader<'_>, Mcp<'_>) {
    let registered = host.register().await;
    let id = registered["agent_id"].as_str().unwrap().to_owned();
    let token = host.token_of(&registered, ALL).await;
    let client = Mcp::new(host, host.mcp_token(&registered, ALL).await);
    (Reader { agent: Agent { host, token }, id }, client)
}

async fn read_inbox(client: &Mcp<'_>) -> Value {
    let read = client.result("resources/read", json!({ "uri": INBOX })).await;
    let contents = &read["contents"][0];
    assert_eq!(contents["mimeType"], "application/json");
    serde_json::from_str(contents["text"].as_str().unwrap()).unwrap()
}

/// Adds a component, which clients are told of, and waits for that: the messages until then.
async fn messages_until_change(host: &Host, messages: &mut Messages, file: &str) -> Vec<Value> {
    host.drop_in(file, &component(file.trim_end_matches(".wasm")));
    let mut before = Vec::new();
    loop {
        let message = messages.next().await.unwrap();
        if message["method"] == LIST_CHANGED {
            return before;
        }
        before.push(message);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_inbox_is_a_resource_and_reading_it_takes_nothing_from_readers() {
    let host = event_host().await;
    let (reader, client) = reader_and_client(&host).await;
    reader.send_events("towns/1", &["first", "second"]).await;
    let inbox = read_inbox(&client).await;
    assert_eq!((texts(&inbox), &inbox["has_more"]), (vec!["first", "second"], &json!(false)));
    let page = reader.page("wait=0").await;
    assert_eq!(page["events"], inbox["events"]);
    // They are shown until they are acknowledged.
    assert_eq!(texts(&read_inbox(&client).await), ["first", "second"]);
    reader.page(&format!("wait=0&ack_event_ids={}", ids(&page)[0])).await;
    assert_eq!(texts(&read_inbox(&client).await), ["second"]);
    let many: Vec<_> = (0..60).map(|number| number.to_string()).collect();
    reader.send_events("towns/2", &many.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let inbox = read_inbox(&client).await;
    assert_eq!((texts(&inbox).len(), &inbox["has_more"]), (50, &json!(true)));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_inbox_needs_the_scope_for_events() {
    let host = event_host().await;
    let uris = async |scope: &str| -> Vec<String> {
        let listed = host.mcp(scope).await.result("resources/list", json!({})).await;
        let resources = listed["resources"].as_array().unwrap().iter();
        resources.map(|resource| resource["uri"].as_str().unwrap().to_owned()).collect()
    };
    assert!(uris(ALL).await.contains(&INBOX.to_owned()));
    assert!(!uris("svc.read svc.write").await.contains(&INBOX.to_owned()));
    let client = host.mcp("svc.read").await;
    let wanted = json!({ "notifications": { "resourceSubscriptions": [INBOX] } });
    let listened = client.request("subscriptions/listen", wanted).await;
    let listened = message(listened).await;
    let read = message(client.request("resources/read", json!({ "uri": INBOX })).await).await;
    let session = host.mcp("svc.read").await.legacy().await;
    let subscribe = session.request("resources/subscribe", json!({ "uri": INBOX })).await;
    for refused in [listened, read, message(subscribe).await] {
        assert_eq!(refused["error"]["data"]["error_code"], "insufficient_scope", "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscribed_client_is_told_of_new_events_of_its_own_agent() {
    let host = event_host().await;
    let (reader, client) = reader_and_client(&host).await;
    let (other, _) = reader_and_client(&host).await;
    reader.send_events("towns/1", &["known before"]).await;
    let wanted = json!({ "notifications": {
        "toolsListChanged": true, "resourceSubscriptions": [INBOX, "portolan://pages/any"],
    } });
    let mut messages = Messages::of(client.request("subscriptions/listen", wanted).await);
    let accepted = messages.next().await.unwrap()["params"]["notifications"].clone();
    assert_eq!(accepted["resourceSubscriptions"], json!([INBOX]), "{accepted}");
    other.send_events("towns/1", &["for somebody else"]).await;
    assert!(messages_until_change(&host, &mut messages, "greeter.wasm").await.is_empty());
    reader.send_events("towns/1", &["new"]).await;
    let updated = messages.next().await.unwrap();
    assert_eq!(updated["method"], UPDATED, "{updated}");
    assert_eq!(updated["params"]["uri"], INBOX);
    assert_eq!(texts(&read_inbox(&client).await), ["known before", "new"]);
    // A reader that waits is told too.
    assert_eq!(texts(&reader.page("wait=0").await), ["known before", "new"]);
    let poll = reader.page("wait=5&cursor=2");
    let sent = reader.send_events("towns/1", &["newer"]);
    let (page, ()) = tokio::join!(poll, sent);
    assert_eq!(texts(&page), ["newer"]);
    assert_eq!(messages.next().await.unwrap()["method"], UPDATED);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_subscribes_to_the_inbox_until_it_unsubscribes() {
    let host = event_host().await;
    let (reader, client) = reader_and_client(&host).await;
    let session = client.legacy().await;
    let request = host.client.get(format!("{}/mcp", host.url)).bearer_auth(&session.token);
    let request = request
        .header("mcp-session-id", session.session())
        .header("accept", "text/event-stream")
        .header("mcp-protocol-version", LEGACY);
    let mut messages = Messages::of(request.send().await.unwrap());
    reader.send_events("towns/1", &["before"]).await;
    // A second subscription replaces the first.
    for _ in 0..2 {
        session.result("resources/subscribe", json!({ "uri": INBOX })).await;
    }
    reader.send_events("towns/1", &["new"]).await;
    let updated = messages.next().await.unwrap();
    assert_eq!((&updated["method"], &updated["params"]["uri"]), (&json!(UPDATED), &json!(INBOX)));
    session.result("resources/unsubscribe", json!({ "uri": INBOX })).await;
    reader.send_events("towns/1", &["unseen"]).await;
    assert!(messages_until_change(&host, &mut messages, "greeter.wasm").await.is_empty());
    let other = json!({ "uri": "portolan://pages/any" });
    let refused = message(session.request("resources/subscribe", other).await).await;
    assert_eq!(refused["error"]["code"], -32002, "{refused}");
}
