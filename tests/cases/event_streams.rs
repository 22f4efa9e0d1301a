//! Streams of server-sent events: where they begin, how they end.

use crate::harness::{
    Agent, PATIENCE,
    inbox::{Reader, credentials, event_host as host},
};
use serde_json::Value;
use std::time::Duration;

/// Reads a stream up to this number of events, and returns the id and the data of each.
async fn read_stream(
    reader: &Reader<'_>,
    headers: &[(&str, &str)],
    count: usize,
) -> Vec<(String, Value)> {
    let mut request = reader
        .agent
        .host
        .client
        .get(format!("{}/v1/agent-events/stream", reader.agent.host.url))
        .bearer_auth(&reader.agent.token)
        .header("accept", "text/event-stream");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let mut response = request.send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(response.headers()["x-accel-buffering"], "no");
    let mut text = String::new();
    let mut events = Vec::new();
    while events.len() < count {
        let part = tokio::time::timeout(PATIENCE, response.chunk()).await.unwrap().unwrap();
        text.push_str(std::str::from_utf8(&part.unwrap()).unwrap());
        while let Some((event, rest)) = text.split_once("\n\n") {
            let field = |name: &str| {
                let mut lines = event.lines();
                lines.find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim().to_owned()
            };
            if !field("data:").is_empty() {
                let data: Value = serde_json::from_str(&field("data:")).unwrap();
                assert_eq!(data["type"], field("event:"));
                events.push((field("id:"), data));
            }
            text = rest.to_owned();
        }
    }
    events
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_resumes_after_the_last_event_that_was_seen() {
    let host = host().await;
    let reader = Reader::new(&host).await;
    reader.send_events("towns/1", &["one", "two"]).await;
    let (seen, ()) = tokio::join!(read_stream(&reader, &[], 3), async {
        while host.waiting_readers().await == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        reader.send_events("towns/1", &["three"]).await;
    });
    let told: Vec<_> =
        seen.iter().map(|(_, event)| event["data"]["text"].as_str().unwrap()).collect();
    assert_eq!(told, ["one", "two", "three"]);
    reader.send_events("towns/1", &["four"]).await;
    // A stream that is opened again with the last id that it has seen continues after that event.
    let seen = read_stream(&reader, &[("last-event-id", &seen[1].0)], 2).await;
    let told: Vec<_> =
        seen.iter().map(|(_, event)| event["data"]["text"].as_str().unwrap()).collect();
    assert_eq!(told, ["three", "four"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_when_it_is_superseded_or_its_token_ends() {
    let host = host().await;
    let registered = host.register().await;
    let token = host.token_of(&registered, "svc.events").await;
    let id = registered["agent_id"].as_str().unwrap().to_owned();
    let reader = Reader { agent: Agent { host: &host, token }, id };
    let open = || async {
        let url = format!("{}/v1/agent-events/stream", host.url);
        let request = host.client.get(url).bearer_auth(&reader.agent.token);
        request.header("accept", "text/event-stream").send().await.unwrap()
    };
    let (body, ()) = tokio::join!(async { open().await.text().await.unwrap() }, async {
        while host.waiting_readers().await == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        reader.page("wait=0").await;
    });
    assert_eq!(body, "");
    // After its token is revoked, a waiting stream sends nothing more.
    let (body, ()) = tokio::join!(async { open().await.text().await.unwrap() }, async {
        while host.waiting_readers().await == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let sender = Reader { agent: host.agent().await, id: reader.id.clone() };
        let mut form = vec![("token", reader.agent.token.clone())];
        form.extend(credentials(&registered));
        let revoke = host.client.post(format!("{}/oauth/revoke", host.url)).form(&form);
        assert!(revoke.send().await.unwrap().status().is_success());
        sender.send_events("towns/1", &["after the revocation"]).await;
    });
    assert_eq!(body, "");
}
