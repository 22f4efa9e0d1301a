//! The events that have reached an inbox after an event, by polling and by a stream.

use crate::harness::{PATIENCE, inbox::Reader};
use serde_json::Value;

/// Polls the events after this one, and returns their ids.
pub async fn poll(reader: &Reader<'_>, after: u64) -> Vec<String> {
    let (mut ids, mut cursor) = (Vec::new(), after.to_string());
    loop {
        let page = reader.page(&format!("wait=0&cursor={cursor}&limit=100")).await;
        let events = page["events"].as_array().unwrap().iter();
        ids.extend(events.map(|event| event["id"].as_str().unwrap().to_owned()));
        if page["has_more"] == false {
            return ids;
        }
        page["cursor"].as_str().unwrap().clone_into(&mut cursor);
    }
}

/// Reads this number of events after this one from a stream, and returns their ids.
pub async fn stream(reader: &Reader<'_>, after: u64, count: usize) -> Vec<String> {
    let host = reader.agent.host;
    let token = host.current_token(&reader.agent.token).await;
    let request = host.client.get(format!("{}/v1/agent-events/stream", host.url));
    let request = request.bearer_auth(token).header("accept", "text/event-stream");
    let mut response = request.header("last-event-id", after.to_string()).send().await.unwrap();
    let (mut text, mut ids) = (String::new(), Vec::new());
    while ids.len() < count {
        let part = tokio::time::timeout(PATIENCE, response.chunk()).await.unwrap().unwrap();
        text.push_str(std::str::from_utf8(&part.unwrap()).unwrap());
        while let Some((event, rest)) = text.split_once("\n\n") {
            if let Some(data) = event.lines().find_map(|line| line.strip_prefix("data:")) {
                let event: Value = serde_json::from_str(data).unwrap();
                ids.push(event["id"].as_str().unwrap().to_owned());
            }
            text = rest.to_owned();
        }
    }
    ids
}
