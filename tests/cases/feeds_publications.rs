//! Publications of the feeds that replace each other while clients read them.

use crate::harness::{
    Host, Process,
    feeds::{DOCUMENTS, INDEX_PATH, PUBLIC_URL, city, edition, index_meta, publish},
};
use portolan_feeds::document::{Documents, etag};
use serde_json::{Value, json};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

const FOLDER: &str = "data/feeds";

/// Returns whether the host serves these documents, by the metadata of the index.
async fn is_served(host: &Host, files: &Documents) -> bool {
    let index = host.fetch(INDEX_PATH, &[]).await;
    index.status == 200 && index_meta(&index.bytes) == index_meta(&files["agent-index.json"])
}

async fn wait_until_served(host: &Host, files: &Documents) {
    let started = std::time::Instant::now();
    while !is_served(host, files).await {
        assert!(started.elapsed() < crate::harness::PATIENCE, "{:#}", host.feeds_status().await);
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn feeds_that_are_not_published_yet_are_answered_with_retry_after() {
    let host = Process::start(Host::serving(""));
    for (path, ..) in DOCUMENTS {
        let reply = host.get(path).await;
        reply.assert_refused(503, "dependency_unavailable");
        assert!(reply.text.contains("portolan feeds build"), "{}", reply.text);
        assert_eq!(reply.header("retry-after"), "60");
    }
    assert_eq!(host.feeds_status().await, json!({ "in_force": null, "refused": null }));
    assert!(!host.get("/llms.txt").await.text.contains("agent.json"));

    // The folder is created, and then a publication in it.
    let files = edition("CC0-1.0");
    publish(&host.folder.path().join(FOLDER), &files, 1);
    wait_until_served(&host, &files).await;
    let status = host.feeds_status().await;
    assert!(status["in_force"]["name"].as_str().unwrap().starts_with("20261101T"), "{status}");
    assert_eq!(status["in_force"]["made_for"], Value::Null);
    let before = host.fetch(INDEX_PATH, &[]).await;

    // After a restart, the publication is served at once.
    host.signal("TERM");
    let (status, folder) = host.wait();
    assert!(status.success());
    let host = Process::start_in(folder);
    let after = host.fetch(INDEX_PATH, &[]).await;
    assert_eq!((after.status.as_u16(), after.header("etag")), (200, before.header("etag")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_publication_replaces_the_last_one_as_a_whole() {
    let host = Host::start(Host::serving("")).await;
    let folder = host.folder.path().join(FOLDER);
    let editions = Arc::new(["CC0-1.0", "CC-BY-4.0", "ODbL-1.0"].map(edition));
    publish(&folder, &editions[0], 1);
    wait_until_served(&host, &editions[0]).await;
    let host = Arc::new(host);
    let done = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..4)
        .map(|reader| {
            let (host, done) = (Arc::clone(&host), Arc::clone(&done));
            let editions = Arc::clone(&editions);
            tokio::spawn(async move {
                let mut seen = 0;
                while !done.load(Ordering::Relaxed) {
                    for (path, ..) in DOCUMENTS.iter().skip(3 + reader) {
                        let got = host.fetch(path, &[]).await;
                        let file = path.rsplit('/').next().unwrap();
                        // The bytes are all of one edition, and so is the ETag.
                        assert!(
                            editions.iter().any(|edition| edition[file] == got.bytes),
                            "{path}"
                        );
                        assert_eq!(got.header("etag"), etag(&got.bytes), "{path}");
                        seen += 1;
                    }
                }
                seen
            })
        })
        .collect();
    for day in 2..12 {
        let (before, next) = (&editions[(day - 2) % 3], &editions[(day - 1) % 3]);
        publish(&folder, next, u32::try_from(day).unwrap());
        wait_until_served(&host, next).await;
        // Once the next index is served, every other document is the next one too.
        for (path, ..) in DOCUMENTS.iter().skip(3) {
            let file = path.rsplit('/').next().unwrap();
            let got = host.fetch(path, &[("if-none-match", &etag(&before[file]))]).await;
            assert_eq!(got.status, 200, "{path}");
            assert!(got.bytes == next[file], "{path}");
        }
        let description = host.fetch("/map/data/openapi.json", &[]).await.json();
        let license = ["CC0-1.0", "CC-BY-4.0", "ODbL-1.0"][(day - 1) % 3];
        assert_eq!(description["info"]["license"]["name"], license);
    }
    done.store(true, Ordering::Relaxed);
    for reader in readers {
        assert!(reader.await.unwrap() > 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_publication_never_replaces_a_valid_one() {
    let host = Host::start(Host::serving("")).await;
    let folder = host.folder.path().join(FOLDER);
    let sound = edition("CC0-1.0");
    publish(&folder, &sound, 1);
    wait_until_served(&host, &sound).await;

    let mut wrong = edition("CC-BY-4.0");
    wrong.remove("sf-people.json");
    let mut talkative = edition("CC-BY-4.0");
    let people = String::from_utf8(talkative["sf-people.json"].clone()).unwrap();
    let people = people.replacen("\"public_bio\":\"", "\"public_bio\":\"Call 415 555 0123. ", 1);
    talkative.insert("sf-people.json".to_owned(), people.into_bytes());
    let mut broken = edition("CC-BY-4.0");
    broken.insert("sf-events.json".to_owned(), b"{".to_vec());
    for (day, (files, part)) in
        [(wrong, "it is missing"), (talkative, "public_bio"), (broken, "sf-events.json")]
            .into_iter()
            .enumerate()
    {
        let day = u32::try_from(day).unwrap() + 2;
        publish(&folder, &files, day);
        let name = format!("202611{day:02}T");
        let refused = |status: &Value| {
            status["refused"]["name"].as_str().is_some_and(|refused| refused.starts_with(&name))
        };
        let status = host.wait_for_feeds("refusal", refused).await;
        assert!(status["refused"]["faults"].to_string().contains(part), "{status:#}");
        assert!(status["in_force"]["name"].as_str().unwrap().starts_with("20261101T"));
        assert!(is_served(&host, &sound).await);
    }
    assert!(host.log().contains("has faults, so the one before stays"), "{}", host.log());
    assert!(!host.log().contains("555 0123"), "the log does not repeat the wrong value");

    let next = edition("ODbL-1.0");
    publish(&folder, &next, 9);
    wait_until_served(&host, &next).await;
    assert_eq!(host.feeds_status().await["refused"], Value::Null);

    // After the folder is removed and written again, the feeds are still served.
    std::fs::remove_dir_all(&folder).unwrap();
    publish(&folder, &sound, 10);
    wait_until_served(&host, &sound).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_that_passes_is_tried_again() {
    let host = Host::start(Host::serving("")).await;
    let folder = host.folder.path().join(FOLDER);
    let before = edition("CC0-1.0");
    publish(&folder, &before, 1);
    wait_until_served(&host, &before).await;
    // As with a full disk, the records cannot be written for a while.
    let records = host.folder.path().join("data/records");
    std::fs::remove_dir_all(&records).unwrap();
    let next = edition("CC-BY-4.0");
    publish(&folder, &next, 2);
    let status = host.wait_for_feeds("failure", |status| !status["refused"].is_null()).await;
    assert!(status["refused"]["name"].as_str().unwrap().starts_with("20261102T"), "{status:#}");
    assert!(host.log().contains("it is tried again"), "{}", host.log());
    assert!(!host.log().contains("has faults"), "{}", host.log());
    std::fs::create_dir_all(&records).unwrap();
    wait_until_served(&host, &next).await;
    assert_eq!(host.feeds_status().await["refused"], Value::Null);

    // The same holds for a link that cannot be followed for a while.
    let (link, looped) = (folder.join("current"), folder.join("looped"));
    let current = std::fs::read_link(&link).unwrap();
    std::os::unix::fs::symlink("current", &looped).unwrap();
    std::fs::rename(&looped, &link).unwrap();
    host.wait_for_feeds("failure", |status| status["refused"]["name"] == "current").await;
    std::os::unix::fs::symlink(current, &looped).unwrap();
    std::fs::rename(&looped, &link).unwrap();
    let status = host.wait_for_feeds("end", |status| status["refused"].is_null()).await;
    assert!(status["in_force"]["name"].as_str().unwrap().starts_with("20261102T"), "{status:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn feeds_built_for_another_address_are_reported() {
    let folder = city().join("feeds");
    let host = Host::start(
        crate::harness::Options::default().configuration(&format!("feeds_dir = {folder:?}")),
    )
    .await;
    let status = host.feeds_status().await;
    assert_eq!(status["in_force"]["made_for"], PUBLIC_URL);
    assert!(host.log().contains("lead to another address"), "{}", host.log());
    // The documents that the host makes itself link to its own address.
    let manifest = host.fetch("/.well-known/agent.json", &[]).await.json();
    assert_eq!(manifest["feeds_index"], format!("{}{INDEX_PATH}", host.url));
}
