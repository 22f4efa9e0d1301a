//! The log of changes as it is served, followers that read nothing else, and the parts of feeds.

use crate::harness::{
    Host, PATIENCE,
    feeds::{INDEX_PATH, PUBLIC_URL, city, publish},
};
use portolan_feeds::{
    changes::Follower,
    descriptions::unpack,
    document::{Documents, INDEX, etag},
    publish::documents,
    record::FEEDS,
};
use serde_json::Value;
use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

const CHANGES: &str = "/map/data/changes.json";
const PEOPLE: &str = "sf-people.json";

/// Returns the documents of the invented city with another title of the first person.
fn titled(title: &str) -> Documents {
    let mut files = documents(&city().join("feeds")).unwrap();
    let mut people: Value = serde_json::from_slice(&files[PEOPLE]).unwrap();
    people["items"][0]["title"] = title.into();
    files.insert(PEOPLE.to_owned(), format!("{people}\n").into_bytes());
    let mut index: Value = serde_json::from_slice(&files[INDEX]).unwrap();
    for (at, feed) in FEEDS.iter().enumerate() {
        index["items"][at]["etag"] = etag(&files[feed.file]).into();
    }
    files.insert(INDEX.to_owned(), index.to_string().into_bytes());
    files
}

fn folder(host: &Host) -> PathBuf {
    host.folder.path().join("data/feeds")
}

async fn wait(host: &Host, mut is_met: impl AsyncFnMut() -> bool) {
    let started = Instant::now();
    while !is_met().await {
        assert!(started.elapsed() < PATIENCE, "{:#}", host.feeds_status().await);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Starts a host, and publishes the city there.
async fn host() -> Host {
    let host = Host::start(Host::serving("")).await;
    publish(&folder(&host), &titled("Founder"), 1);
    wait(&host, async || host.fetch(INDEX_PATH, &[]).await.status == 200).await;
    host
}

/// Returns the cursor in the index.
async fn cursor(host: &Host) -> String {
    let index = host.fetch(INDEX_PATH, &[]).await.json();
    index["changes"]["cursor"].as_str().unwrap().to_owned()
}

/// Publishes another title, and waits until it is served.
async fn publish_title(host: &Host, title: &str, day: u32) {
    let before = cursor(host).await;
    publish(&folder(host), &titled(title), day);
    wait(host, async || cursor(host).await != before).await;
}

async fn page(host: &Host, query: &str) -> Value {
    let got = host.fetch(&format!("{CHANGES}{query}"), &[]).await;
    assert_eq!(got.status, 200, "{query}");
    got.json()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_that_reads_only_changes_has_the_document_that_is_served() {
    let host = host().await;
    let path = format!("/map/data/{PEOPLE}");
    let first = host.fetch(&path, &[]).await;
    let mut follower = Follower::new(PEOPLE, &first.bytes).unwrap();
    let now = page(&host, "").await;
    assert_eq!(now["changes"], Value::Array(Vec::new()));
    assert_eq!(now["snapshot"]["index"], format!("{PUBLIC_URL}{INDEX_PATH}"));
    let mut since = now["next"].as_str().unwrap().to_owned();
    assert_eq!(since, cursor(&host).await);

    publish_title(&host, "Chief of Everything", 2).await;
    publish_title(&host, "Chief of Nothing", 3).await;
    let mut pages = 0;
    loop {
        let read = page(&host, &format!("?since={since}&limit=1&feed=people,roles")).await;
        for change in read["changes"].as_array().unwrap() {
            follower.apply(&change.to_string()).unwrap();
        }
        since = read["next"].as_str().unwrap().to_owned();
        pages += 1;
        if read["has_more"] == false {
            break;
        }
    }
    assert_eq!((pages, &since), (4, &cursor(&host).await));
    let served = host.fetch(&path, &[]).await;
    assert_eq!(follower.document().unwrap(), served.bytes);

    // The person's history.
    let id = served.json()["items"][0]["id"].as_str().unwrap().to_owned();
    let history = page(&host, &format!("?id={id}")).await;
    let titles: Vec<_> = history["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["record"]["title"].as_str().unwrap())
        .collect();
    assert_eq!(titles, ["Chief of Everything", "Chief of Nothing"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_served_as_lines_and_as_events_that_resume() {
    let host = host().await;
    let since = cursor(&host).await;
    let mut stream = host
        .client
        .get(format!("{}{CHANGES}?since={since}", host.url))
        .header("accept", "text/event-stream")
        .send()
        .await
        .unwrap();
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    publish_title(&host, "Chief of Everything", 2).await;
    let mut text = String::new();
    while !text.contains("event: document") {
        let chunk = tokio::time::timeout(PATIENCE, stream.chunk()).await.unwrap();
        text.push_str(std::str::from_utf8(&chunk.unwrap().unwrap()).unwrap());
    }
    drop(stream);
    assert!(text.contains("event: changed"), "{text}");
    let last = text.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().unwrap();
    assert_eq!(last, cursor(&host).await);

    let accept = [("accept", "application/x-ndjson")];
    for (path, headers) in [(CHANGES, &accept[..]), ("/map/data/changes.ndjson", &[])] {
        let got = host.fetch(&format!("{path}?since={since}"), headers).await;
        assert_eq!(got.header("content-type"), "application/x-ndjson");
        assert_eq!((got.header("next-cursor"), got.header("has-more")), (last, "false"));
        let lines = String::from_utf8(got.bytes).unwrap();
        let ops: Vec<Value> = lines
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["op"].take())
            .collect();
        assert_eq!(ops, ["changed", "document"]);
    }
    // The last id is taken for the cursor, and nothing is repeated.
    publish_title(&host, "Chief of Nothing", 3).await;
    let mut stream = host
        .client
        .get(format!("{}{CHANGES}?since={since}", host.url))
        .header("accept", "text/event-stream")
        .header("last-event-id", last)
        .send()
        .await
        .unwrap();
    let chunk = tokio::time::timeout(PATIENCE, stream.chunk()).await.unwrap().unwrap().unwrap();
    let text = std::str::from_utf8(&chunk).unwrap();
    assert!(text.contains("Chief of Nothing") && !text.contains("Everything"), "{text}");
}

/// Opens a stream of changes.
async fn stream(host: &Host, query: &str) -> reqwest::Response {
    let request = host.client.get(format!("{}{CHANGES}{query}", host.url));
    request.header("accept", "text/event-stream").send().await.unwrap()
}

/// Reads a stream until it has this text, and returns what was read.
async fn read_until(stream: &mut reqwest::Response, wanted: &str) -> String {
    let mut text = String::new();
    while !text.contains(wanted) {
        let Ok(chunk) = tokio::time::timeout(PATIENCE, stream.chunk()).await else {
            panic!("the stream has only {text}");
        };
        text.push_str(std::str::from_utf8(&chunk.unwrap().unwrap()).unwrap());
    }
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_without_changes_says_where_it_is() {
    let host = host().await;
    // A browser keeps the id of an event without data, and sends it when it reconnects.
    let mut all = stream(&host, "").await;
    let mut roles = stream(&host, "?feed=roles").await;
    let begin = format!("id: {}\n\n", cursor(&host).await);
    for stream in [&mut all, &mut roles] {
        assert_eq!(read_until(stream, &begin).await.replace(": alive\n\n", ""), begin);
    }
    publish_title(&host, "Chief of Everything", 2).await;
    let end = format!("id: {}\n", cursor(&host).await);
    assert!(read_until(&mut all, &end).await.contains("Chief of Everything"));
    let read = read_until(&mut roles, &end).await;
    assert!(!read.contains("data:"), "{read}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_address_cannot_take_all_streams() {
    let configuration = "trusted_proxies = [\"127.0.0.0/8\"]\n";
    let host = Host::start(Host::serving(configuration)).await;
    publish(&folder(&host), &titled("Founder"), 1);
    wait(&host, async || host.fetch(INDEX_PATH, &[]).await.status == 200).await;
    let open = async |address: &str| {
        let request = host.client.get(format!("{}{CHANGES}", host.url));
        let request = request.header("accept", "text/event-stream");
        request.header("x-forwarded-for", address).send().await.unwrap()
    };
    let mut streams = Vec::new();
    for number in 0..8 {
        // The addresses of one client.
        let stream = open(&format!("2001:db8::{number:x}")).await;
        assert_eq!(stream.status(), 200);
        streams.push(stream);
    }
    let refused = open("2001:db8::9").await;
    assert_eq!(refused.status(), 429);
    assert!(refused.headers().contains_key("retry-after"));
    assert_eq!(open("2001:db8:0:1::9").await.status(), 200);
    drop(streams);
    wait(&host, async || open("2001:db8::9").await.status() == 200).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_changes_of_the_served_publication_stay_while_others_are_refused() {
    let host = host().await;
    let since = cursor(&host).await;
    publish_title(&host, "Chief of Everything", 2).await;
    let before = page(&host, &format!("?since={since}")).await;
    // Builds remove all but the two newest publications.
    for day in 3..6 {
        let mut wrong = titled("Chief of Nothing");
        wrong.remove("sf-events.json");
        publish(&folder(&host), &wrong, day);
    }
    let name = "20261105T";
    let is_refused = |status: &Value| {
        status["refused"]["name"].as_str().is_some_and(|refused| refused.starts_with(name))
    };
    let status = host.wait_for_feeds("refusal", is_refused).await;
    let served = status["in_force"]["name"].as_str().unwrap();
    assert!(!folder(&host).join("versions").join(served).exists(), "{status:#}");
    assert_eq!(page(&host, &format!("?since={since}")).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_that_is_not_known_leads_back_to_the_index() {
    let host = host().await;
    let unknown = format!("{CHANGES}?since=000000000001-0123456789ab");
    for headers in [&[][..], &[("accept", "text/event-stream")]] {
        let got = host.fetch(&unknown, headers).await;
        assert_eq!(got.status, 410);
        assert_eq!(got.header("content-type"), "application/problem+json");
        let problem = got.json();
        assert_eq!(
            (problem["status"].as_u64(), &problem["error_code"]),
            (Some(410), &"cursor_invalid".into())
        );
        assert_eq!(problem["next"]["http"]["url"], INDEX_PATH);
    }
    for query in ["?since=1", "?limit=0", "?limit=1001", "?page=2"] {
        assert_eq!(host.fetch(&format!("{CHANGES}{query}"), &[]).await.status, 400, "{query}");
    }
    let empty = Host::start(Host::serving("")).await;
    empty.get(CHANGES).await.assert_refused(503, "dependency_unavailable");
}

#[tokio::test(flavor = "multi_thread")]
async fn descriptions_are_in_parts_that_are_read_again_only_when_they_change() {
    let host = Host::with_city().await;
    let index = host.fetch(INDEX_PATH, &[]).await.json();
    let roles = host.fetch("/map/data/sf-job-roles.json", &[]).await.json();
    let role = &roles["items"][0];
    let (url, id) = role["description_url"].as_str().unwrap().split_once('#').unwrap();
    assert_eq!(role["id"], id);
    let path = url.strip_prefix(PUBLIC_URL).unwrap();
    let listed = index["items"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|feed| feed["parts"].as_array().unwrap());
    let entry = listed.clone().find(|part| part["path"] == path).unwrap();
    let count: u64 = listed.map(|part| part["record_count"].as_u64().unwrap()).sum();
    assert_eq!(roles["_meta"]["count"], count);

    let plain = host.fetch(path, &[]).await;
    assert_eq!(
        (plain.status.as_u16(), plain.header("etag")),
        (200, entry["etag"].as_str().unwrap())
    );
    assert_eq!(
        (plain.header("etag"), plain.bytes.len()),
        (etag(&plain.bytes).as_str(), usize::try_from(entry["bytes"].as_u64().unwrap()).unwrap())
    );
    let items = plain.json()["items"].take();
    let described = items.as_array().unwrap().iter().find(|item| item["id"] == id).unwrap();
    assert!(described["description_html"].as_str().unwrap().contains('<'));
    let packed = host.fetch(path, &[("accept-encoding", "gzip, br")]).await;
    assert_eq!(packed.header("content-encoding"), "gzip");
    assert_eq!(packed.header("vary"), "accept-encoding");
    assert!(packed.bytes.len() < plain.bytes.len());
    for tag in [plain.header("etag"), packed.header("etag")] {
        let headers = [("if-none-match", tag), ("accept-encoding", "gzip")];
        let known = host.fetch(path, &headers).await;
        assert_eq!((known.status.as_u16(), known.bytes.len()), (304, 0), "{tag}");
    }
    host.get("/map/data/parts/roles-nothing.json").await.assert_refused(404, "not_found");
    // When each source was last checked.
    let sources = index["sources"].as_array().unwrap();
    assert!(sources.len() > 30 && sources.iter().all(|source| source["checked_at"].is_string()));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_feed_is_also_served_as_lines_and_as_a_table() {
    let host = Host::with_city().await;
    let index = host.fetch(INDEX_PATH, &[]).await.json();
    for entry in index["items"].as_array().unwrap() {
        let count = usize::try_from(entry["record_count"].as_u64().unwrap()).unwrap();
        let forms = entry["forms"].as_array().unwrap();
        assert_eq!(forms.len(), 2);
        for form in forms {
            let path = form["url"].as_str().unwrap().strip_prefix(PUBLIC_URL).unwrap();
            let got = host.fetch(path, &[]).await;
            assert_eq!(
                (got.status.as_u16(), got.header("content-type")),
                (200, form["media_type"].as_str().unwrap()),
                "{path}"
            );
            assert_eq!(got.header("etag"), etag(&got.bytes), "{path}");
            let known = host.fetch(path, &[("if-none-match", got.header("etag"))]).await;
            assert_eq!(known.status, 304, "{path}");
            let text = String::from_utf8(got.bytes).unwrap();
            if path.ends_with(".ndjson") {
                assert_eq!(text.lines().count(), count, "{path}");
                assert!(text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
            } else {
                assert!(text.lines().count() > count, "{path}");
                assert!(text.lines().next().unwrap().split(',').any(|name| name == "id"), "{path}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_publication_of_a_day_is_served_as_it_was() {
    let host = Host::with_city().await;
    let list = host.fetch("/map/data/snapshots.json", &[]).await.json();
    let days = list["items"].as_array().unwrap();
    // The city was built on six days, of which those of the last two weeks are kept.
    assert!((1..=2).contains(&days.len()), "{list}");
    let path = days[0]["path"].as_str().unwrap();
    let index = host.fetch(&format!("{path}agent-index.json"), &[]).await;
    assert_eq!(index.status, 200);
    let since = index.json()["changes"]["cursor"].as_str().unwrap().to_owned();
    assert!(
        !page(&host, &format!("?since={since}")).await["changes"].as_array().unwrap().is_empty()
    );
    let roles = host.fetch(&format!("{path}sf-job-roles.json"), &[]).await;
    assert!(roles.json()["_meta"]["count"].as_u64().unwrap() > 0);
    // The entity tags are those that the index of that day lists.
    let index = index.json();
    let items = index["items"].as_array().unwrap().iter();
    let parts = items.clone().flat_map(|feed| feed["parts"].as_array().unwrap());
    let mut tags = 0;
    for entry in items.chain(parts) {
        let listed = entry["etag"].as_str().unwrap();
        let document = entry["path"].as_str().unwrap().replace("/map/data/", path);
        let plain = host.fetch(&document, &[]).await;
        assert_eq!((plain.header("etag"), etag(&plain.bytes).as_str()), (listed, listed));
        let gzip = ("accept-encoding", "gzip");
        let packed = host.fetch(&document, &[gzip]).await;
        assert_eq!(packed.header("content-encoding"), "gzip", "{document}");
        assert_eq!(packed.header("content-length"), packed.bytes.len().to_string());
        assert!(unpack(&packed.bytes).unwrap() == plain.bytes, "{document}");
        assert_ne!(packed.header("etag"), listed);
        for tag in [listed, packed.header("etag")] {
            let known = host.fetch(&document, &[gzip, ("if-none-match", tag)]).await;
            assert_eq!((known.status.as_u16(), known.bytes.len()), (304, 0), "{document}");
        }
        tags += 1;
    }
    assert!(tags > FEEDS.len());
    let list = host.fetch("/map/data/snapshots.json", &[]).await;
    assert_eq!(list.header("etag"), etag(&list.bytes));
    let known = [("if-none-match", list.header("etag"))];
    assert_eq!(host.fetch("/map/data/snapshots.json", &known).await.status, 304);
    for wrong in ["state.json", "../current/state.json", "nothing.json"] {
        assert_eq!(host.fetch(&format!("{path}{wrong}"), &[]).await.status, 404, "{wrong}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_cost_more_than_a_copy_are_counted() {
    let limits = "trusted_proxies = [\"127.0.0.0/8\"]\nrate_limits = \"on\"\n[limits]\nrequests_per_minute = 8\n";
    let feeds = city().join("feeds");
    let host = Host::start(Host::serving(&format!("feeds_dir = {feeds:?}\n{limits}"))).await;
    let status = async |file: &str| {
        let path = format!("/map/data/{file}");
        host.fetch(&path, &[("x-forwarded-for", "192.0.2.9")]).await.status.as_u16()
    };
    let mut statuses = Vec::new();
    for path in [
        "snapshots.json",
        "snapshots/2026-01-01/sf-people.json",
        "sf-people.csv",
        "sf-people.ndjson",
        "changes.json",
    ] {
        for _ in 0..2 {
            statuses.push(status(path).await);
        }
    }
    assert_eq!(statuses, [200, 200, 404, 404, 200, 200, 200, 200, 429, 429]);
    // A document is a copy of what is in memory.
    assert_eq!([status("sf-people.csv").await, status("sf-people.json").await], [429, 200]);
}
