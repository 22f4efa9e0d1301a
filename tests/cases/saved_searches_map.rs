//! Saved searches of the map: who is told of which records of a publication, and how often.

use crate::harness::{
    Agent, Host, Options, PATIENCE, Process,
    component_sets::LISTINGS,
    feeds::{PUBLIC_URL, city, publish},
    inbox::Reader,
    listings::Lister,
    postgres,
};
use portolan_feeds::{
    document::{Documents, INDEX, etag},
    publish::documents,
    record::FEEDS,
};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    path::Path,
    time::{Duration, Instant},
};
use tempfile::TempDir;

const ROLES: &str = "sf-job-roles.json";
const SEARCHES: &str = "saved_searches";

/// Returns the documents of the invented city with more roles of these titles; the id of each ends with a letter.
fn with_roles(titles: &[(char, &str)]) -> Documents {
    let mut files = documents(&city().join("feeds")).unwrap();
    let mut roles: Value = serde_json::from_slice(&files[ROLES]).unwrap();
    let items = roles["items"].as_array_mut().unwrap();
    for (letter, title) in titles {
        let mut role = items[0].clone();
        role["id"] = role_id(*letter).into();
        role["title"] = (*title).into();
        items.push(role);
    }
    roles["_meta"]["count"] = items.len().into();
    files.insert(ROLES.to_owned(), format!("{roles}\n").into_bytes());
    let mut index: Value = serde_json::from_slice(&files[INDEX]).unwrap();
    for (at, feed) in FEEDS.iter().enumerate() {
        index["items"][at]["etag"] = etag(&files[feed.file]).into();
    }
    files.insert(INDEX.to_owned(), index.to_string().into_bytes());
    files
}

fn role_id(letter: char) -> String {
    format!("rol_{}{letter}", "0".repeat(25))
}

/// Returns options of a host that reads this folder of feeds.
fn options(feeds: &Path) -> Options {
    let components = [&LISTINGS[..], &[SEARCHES, "map_search"]].concat();
    let configuration = format!("public_url = {PUBLIC_URL:?}\nfeeds_dir = {feeds:?}\n");
    Options::with(&components).configuration(&configuration)
}

fn agent<'a>(host: &'a Host, token: &str) -> Agent<'a> {
    Agent { host, token: token.to_owned() }
}

/// Saves a search of the map for roles with these words, which are also its name.
async fn save(host: &Host, token: &str, words: &str) {
    let search =
        json!({ "action": "create", "name": words, "map_query": { "q": words, "role": {} } });
    agent(host, token).result(SEARCHES, search).await;
}

/// Returns the records of each event so far, by the name of the search.
async fn announced(host: &Host, token: &str) -> BTreeMap<String, Vec<Value>> {
    let reader = Reader { agent: agent(host, token), id: String::new() };
    let page = reader.page("wait=0&cursor=0&limit=100").await;
    let mut announced: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for event in page["events"].as_array().unwrap() {
        if event["type"] == "saved_search.matched" {
            let name = event["data"]["name"].as_str().unwrap().to_owned();
            announced.entry(name).or_default().push(event["data"]["records"].clone());
        }
    }
    announced
}

/// Waits until as many searches have announced something, and returns what.
async fn wait_for(host: &Host, token: &str, count: usize) -> BTreeMap<String, Vec<Value>> {
    let started = Instant::now();
    loop {
        let announced = announced(host, token).await;
        if announced.len() >= count {
            return announced;
        }
        assert!(started.elapsed() < PATIENCE, "{announced:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn record(letter: char, title: &str) -> Value {
    let id = role_id(letter);
    let url = format!("{PUBLIC_URL}/map/roles/{id}");
    json!({ "id": id, "feed": "roles", "title": title, "url": url, "change": "added" })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_role_is_announced_once_also_if_it_was_published_while_the_host_was_down() {
    let feeds = TempDir::new().unwrap();
    publish(feeds.path(), &with_roles(&[]), 1);
    let host = Process::start(options(feeds.path()));
    let token = Lister::new(&host).await.agent().token.clone();
    for words in ["kalona engineer", "wembley engineer"] {
        save(&host, &token, words).await;
    }
    let first = [('A', "Kalona engineer"), ('B', "Kalona gardener")];
    publish(feeds.path(), &with_roles(&first), 2);
    let kalona = ("kalona engineer".to_owned(), vec![json!([record('A', "Kalona engineer")])]);
    let expected = BTreeMap::from([kalona.clone()]);
    assert_eq!(wait_for(&host, &token, 1).await, expected);
    let page = host.fetch(&format!("/map/roles/{}", role_id('A')), &[]).await;
    assert_eq!(page.status, 200);
    let list = json!({ "action": "list", "limit": 5 });
    let listed = agent(&host, &token).result(SEARCHES, list).await;
    assert_eq!(listed["items"][1]["map_query"], json!({ "q": "kalona engineer", "role": {} }));
    let preview = json!({ "action": "preview", "map_query": { "q": "kalona", "role": {} } });
    let shown = agent(&host, &token).result(SEARCHES, preview).await;
    assert_eq!(shown["records"].as_array().unwrap().len(), 2);

    host.signal("TERM");
    let (_, folder) = host.wait();
    let later = [first[0], first[1], ('C', "Wembley engineer"), ('D', "Wembley gardener")];
    publish(feeds.path(), &with_roles(&later), 3);
    let host = Process::start_in(folder);
    let wembley = ("wembley engineer".to_owned(), vec![json!([record('C', "Wembley engineer")])]);
    let expected = BTreeMap::from([kalona, wembley]);
    assert_eq!(wait_for(&host, &token, 2).await, expected);

    // A restart with the same publication announces nothing.
    host.signal("TERM");
    let host = Process::start_in(host.wait().1);
    host.wait_for_feeds("publication", |feeds| feeds["in_force"] != Value::Null).await;
    host.wait_until_settled().await;
    assert_eq!(announced(&host, &token).await, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_announce_a_publication_once() {
    let feeds = TempDir::new().unwrap();
    publish(feeds.path(), &with_roles(&[]), 1);
    let url = postgres::database().await;
    let one = Host::start(options(feeds.path()).postgres(&url)).await;
    let other = Host::start(options(feeds.path()).postgres(&url)).await;
    let token = Lister::new(&one).await.agent().token.clone();
    save(&other, &token, "kalona engineer").await;
    publish(feeds.path(), &with_roles(&[('A', "Kalona engineer")]), 2);
    let announced_at_one = wait_for(&one, &token, 1).await;
    for node in [&one, &other] {
        node.wait_for_feeds("second publication", |feeds| {
            feeds["in_force"]["name"].as_str().is_some_and(|name| name.starts_with("20261102"))
        })
        .await;
        node.wait_until_settled().await;
    }
    let expected = vec![json!([record('A', "Kalona engineer")])];
    assert_eq!(announced_at_one, BTreeMap::from([("kalona engineer".to_owned(), expected)]));
    assert_eq!(announced(&other, &token).await, announced_at_one);
    // One event of each publication in each mode.
    let sql = "SELECT data FROM events WHERE event_type = 'feeds.published' AND test_mode = 0";
    let events = one.database().texts(sql).await;
    assert_eq!(events.len(), 2, "{events:?}");
}
