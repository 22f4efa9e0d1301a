//! WebSub hubs, which are told of new publications.

use crate::harness::{
    Host, PATIENCE,
    feeds::{INDEX_PATH, PUBLIC_URL, edition, publish},
    server::{Server, response},
};
use portolan_feeds::{
    document::{Documents, INDEX, etag},
    record::FEEDS,
};
use serde_json::Value;
use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

const PEOPLE: &str = "sf-people.json";

/// Starts a host that tells this hub, and publishes documents there.
async fn host(hub: &Server, files: &Documents) -> Host {
    let settings = format!(
        "reachable_networks = [\"127.0.0.0/8\"]\n[feeds]\nhubs = [\"http://127.0.0.1:{}/hub\"]\n",
        hub.port
    );
    let host = Host::start(Host::serving(&settings)).await;
    publish(&host.folder.path().join("data/feeds"), files, 1);
    host
}

/// Waits until the hub has got so many requests, and returns the addresses that each of them names.
async fn told(hub: &Server, count: usize) -> Vec<Vec<String>> {
    let started = Instant::now();
    while hub.requests().len() < count {
        assert!(started.elapsed() < PATIENCE, "{:?}", hub.requests());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let topics = |request: &String| {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("POST /hub "), "{head}");
        assert!(head.contains("application/x-www-form-urlencoded"), "{head}");
        let pairs: Vec<(String, String)> =
            url::form_urlencoded::parse(body.as_bytes()).into_owned().collect();
        assert_eq!(pairs[0], ("hub.mode".to_owned(), "publish".to_owned()));
        let mut topics: Vec<_> = pairs
            .into_iter()
            .skip(1)
            .map(|(name, topic)| {
                assert_eq!(name, "hub.url");
                topic.strip_prefix(PUBLIC_URL).unwrap().to_owned()
            })
            .collect();
        topics.sort();
        topics
    };
    hub.requests().iter().map(topics).collect()
}

fn all_topics() -> Vec<String> {
    let feeds = FEEDS.iter().map(|feed| format!("/map/data/{}", feed.file));
    let mut topics: Vec<_> = feeds.chain([INDEX_PATH.to_owned()]).collect();
    topics.sort();
    topics
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_is_told_of_all_documents_and_then_of_those_that_changed() {
    let hub = Server::plain(|_| Some(response("204 No Content", "", ""))).await;
    let mut files = edition("CC0-1.0");
    let host = host(&hub, &files).await;
    assert_eq!(told(&hub, 1).await, [all_topics()]);

    // The header leads a subscriber from each document to the hub.
    for topic in all_topics() {
        let link = host.fetch(&topic, &[]).await.header("link").to_owned();
        let wanted = format!(
            "<http://127.0.0.1:{}/hub>; rel=\"hub\", <{PUBLIC_URL}{topic}>; rel=\"self\"",
            hub.port
        );
        assert_eq!(link, wanted);
    }

    // Only the feed of people is another one in the next publication, and so is the index.
    let mut people: Value = serde_json::from_slice(&files[PEOPLE]).unwrap();
    people["items"][0]["title"] = "Founder of another name".into();
    let people = people.to_string().into_bytes();
    let mut index: Value = serde_json::from_slice(&files[INDEX]).unwrap();
    let at = FEEDS.iter().position(|feed| feed.file == PEOPLE).unwrap();
    index["items"][at]["etag"] = etag(&people).into();
    index["items"][at]["bytes"] = people.len().into();
    files.insert(PEOPLE.to_owned(), people);
    files.insert(INDEX.to_owned(), index.to_string().into_bytes());
    publish(&host.folder.path().join("data/feeds"), &files, 2);
    assert_eq!(told(&hub, 2).await[1], [INDEX_PATH.to_owned(), format!("/map/data/{PEOPLE}")]);
    let status = host.feeds_status().await;
    assert_eq!(status["hubs"][0]["error"], Value::Null, "{status:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_fails_is_asked_again() {
    let count = AtomicUsize::new(0);
    let hub = Server::plain(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0 => Some(response("503 Service Unavailable", "Retry-After: 1\r\n", "")),
        _ => Some(response("202 Accepted", "", "")),
    })
    .await;
    let host = host(&hub, &edition("CC0-1.0")).await;
    assert_eq!(told(&hub, 1).await.len(), 1);
    let started = Instant::now();
    loop {
        let status = host.feeds_status().await;
        let hub = &status["hubs"][0];
        if hub["error"].as_str().is_some_and(|error| error.contains("503")) {
            break;
        }
        assert!(started.elapsed() < PATIENCE, "{status:#}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(told(&hub, 2).await, [all_topics(), all_topics()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_name_no_hub_if_there_is_none() {
    let host = Host::start(Host::serving("")).await;
    publish(&host.folder.path().join("data/feeds"), &edition("CC0-1.0"), 1);
    let started = Instant::now();
    loop {
        let index = host.fetch(INDEX_PATH, &[]).await;
        if index.status == 200 {
            assert!(!index.headers.contains_key("link"));
            break;
        }
        assert!(started.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
