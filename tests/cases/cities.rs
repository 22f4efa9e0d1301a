//! Several cities in one host: each below its own path, none changed by another.

use crate::harness::{
    Host, PATIENCE, command,
    feeds::{
        DOCUMENTS, INDEX_PATH, OTHER_CITY, PUBLIC_URL, changed, city, index_meta, other_city,
        publish, with_other_city,
    },
};
use portolan_feeds::{
    document::{INDEX, etag},
    publish::documents,
    record::FEEDS,
};
use serde_json::{Value, json};
use std::{path::Path, time::Instant};
use tempfile::TempDir;

const MANIFEST: &str = "/.well-known/agent.json";
const SERVICE: &str = "/map/data/openapi.json";
const OTHER_INDEX: &str = "/map/oakland/data/agent-index.json";
const PAGES: [(&str, &str, &str); 4] = [
    ("companies", "sf-live-targets.json", "features"),
    ("roles", "sf-job-roles.json", "items"),
    ("people", "sf-people.json", "items"),
    ("events", "sf-events.json", "items"),
];

/// Starts a host whose other city has its feeds in this folder.
async fn start(first: &Path, other: &Path) -> Host {
    let settings = with_other_city(&format!("feeds_dir = {first:?}"), other);
    Host::start(Host::serving(&settings)).await
}

async fn both() -> Host {
    start(&city().join("feeds"), &other_city().join(OTHER_CITY)).await
}

/// Waits until the index at this path has this licence.
async fn wait_until_served(host: &Host, path: &str, license: &str) {
    let started = Instant::now();
    loop {
        let index = host.fetch(path, &[]).await;
        if index.status == 200 && index_meta(&index.bytes)["license"] == license {
            return;
        }
        assert!(started.elapsed() < PATIENCE, "{:#}", host.operate("/status").await.body);
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Returns the id of the first record of a document.
fn first_id(document: &[u8], field: &str) -> String {
    let document: Value = serde_json::from_slice(document).unwrap();
    document[field][0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_city_serves_its_documents_below_its_own_path() {
    let host = both().await;
    let files = documents(&other_city().join(OTHER_CITY)).unwrap();
    let index: Value = serde_json::from_slice(&files[INDEX]).unwrap();
    for (at, feed) in FEEDS.iter().enumerate() {
        let path = format!("/map/oakland/data/{}", feed.file);
        let entry = &index["items"][at];
        assert_eq!(entry["path"], path);
        assert_eq!(entry["url"], format!("{PUBLIC_URL}{path}"));
        let got = host.fetch(&path, &[]).await;
        assert_eq!((got.status.as_u16(), &got.bytes), (200, &files[feed.file]), "{path}");
        assert_eq!(got.header("etag"), entry["etag"], "{path}");
        let known = host.fetch(&path, &[("if-none-match", got.header("etag"))]).await;
        assert_eq!(known.status, 304, "{path}");
        let packed = host.fetch(&path, &[("accept-encoding", "br")]).await;
        assert_eq!(packed.header("content-encoding"), "br", "{path}");
        let form = entry["forms"][0]["url"].as_str().unwrap();
        let form = host.fetch(form.strip_prefix(PUBLIC_URL).unwrap(), &[]).await;
        assert_eq!(form.status, 200, "{path}");
    }
    let part = index["items"][4]["parts"][0]["path"].as_str().unwrap();
    assert!(part.starts_with("/map/oakland/data/parts/"), "{part}");
    assert_eq!(host.fetch(part, &[]).await.status, 200);
    for (file, link) in [("openapi.json", "/map/oakland"), ("catalog.jsonld", "/map/oakland/data/")]
    {
        let got = host.fetch(&format!("/map/oakland/data/{file}"), &[]).await;
        assert!(text(&got.bytes).contains(&format!("{PUBLIC_URL}{link}")), "{file}");
        assert!(!text(&got.bytes).contains("\"/map/data/"), "{file}");
    }
    let days = host.fetch("/map/oakland/data/snapshots.json", &[]).await.json();
    let day = days["items"][0]["path"].as_str().unwrap();
    assert!(day.starts_with("/map/oakland/data/snapshots/"), "{days}");
    let snapshot = host.fetch(&format!("{day}sf-live-targets.json"), &[]).await.json();
    assert_eq!(snapshot["_meta"]["city"], index["_meta"]["city"]);
    let schema = host.fetch("/map/oakland/data/schemas/roles.json", &[]).await;
    assert_eq!(schema.status, 200);
    for path in ["nothing.json", "parts/nothing.json", "snapshots/2020-01-01/agent-index.json"] {
        let got = host.fetch(&format!("/map/oakland/data/{path}"), &[]).await;
        assert_eq!(got.status, 404, "{path}");
    }
    let posted = host.request(reqwest::Method::POST, OTHER_INDEX, &[]).await;
    assert_eq!(posted.status, 405);
    assert_eq!(host.fetch("/map/nowhere/data/agent-index.json", &[]).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_city_is_as_it_is_alone() {
    let (alone, host) = (Host::with_city().await, both().await);
    // The manifest and its example in the description list the cities.
    for (path, ..) in DOCUMENTS.iter().filter(|(path, ..)| ![MANIFEST, SERVICE].contains(path)) {
        let (before, with_other) = (alone.fetch(path, &[]).await, host.fetch(path, &[]).await);
        assert!(before.bytes == with_other.bytes, "{path}");
        assert_eq!(before.header("etag"), with_other.header("etag"), "{path}");
    }
    for path in ["/map/data/catalog.jsonld", "/map/data/changes.json", "/map/data/snapshots.json"] {
        let (before, with_other) = (alone.fetch(path, &[]).await, host.fetch(path, &[]).await);
        assert_eq!(text(&before.bytes), text(&with_other.bytes), "{path}");
    }
    let mut service = host.fetch(SERVICE, &[]).await.json();
    let content = &mut service["paths"][MANIFEST]["get"]["responses"]["200"]["content"];
    let example = content["application/json"]["examples"]["first"]["value"].as_object_mut();
    example.unwrap().remove("cities").unwrap();
    assert!(service == alone.fetch(SERVICE, &[]).await.json());
    let mut manifest = host.fetch(MANIFEST, &[]).await.json();
    let cities = manifest.as_object_mut().unwrap().remove("cities").unwrap();
    assert_eq!(manifest, alone.fetch(MANIFEST, &[]).await.json());
    let name = &manifest["_meta"]["city"]["name"];
    let at = |path: &str| format!("{PUBLIC_URL}{path}");
    assert_eq!(
        cities,
        json!([
            { "name": name, "map_url": at("/map/"), "feeds_index": at(INDEX_PATH) },
            { "name": "Oakland", "map_url": at("/map/oakland/"), "feeds_index": at(OTHER_INDEX) },
        ])
    );
    let schema = host.fetch("/map/data/schemas/agent.schema.json", &[]).await.json();
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(validator.is_valid(&host.fetch(MANIFEST, &[]).await.json()));
    assert!(validator.is_valid(&manifest));
}

#[tokio::test(flavor = "multi_thread")]
async fn maps_and_pages_of_a_city_lead_to_its_own() {
    let host = both().await;
    let (map, first_map) = (host.fetch("/map/oakland/", &[]).await, host.fetch("/map/", &[]).await);
    assert_eq!((map.status.as_u16(), &map.bytes), (200, &first_map.bytes));
    // The addresses in the page are relative.
    let (_, script) = text(&map.bytes).split_once("src=\"assets/").unwrap();
    let script = script.split('"').next().unwrap();
    assert_eq!(host.fetch(&format!("/map/oakland/assets/{script}"), &[]).await.status, 200);
    let settings = host.fetch("/map/oakland/settings.json", &[]).await.json();
    let first = host.fetch(INDEX_PATH, &[]).await.json();
    let name = &first["_meta"]["city"]["name"];
    assert_eq!(settings, json!({ "cities": [{ "name": name, "path": "/map/" }] }));
    let settings = host.fetch("/map/settings.json", &[]).await.json();
    assert_eq!(settings, json!({ "cities": [{ "name": "Oakland", "path": "/map/oakland/" }] }));

    let files = documents(&other_city().join(OTHER_CITY)).unwrap();
    let first_files = documents(&city().join("feeds")).unwrap();
    let site = text(&host.fetch("/sitemap.xml?part=site", &[]).await.bytes).to_owned();
    for path in ["/map/", "/map/objection", "/map/oakland/", "/map/oakland/objection"] {
        assert!(site.contains(&format!("<loc>{PUBLIC_URL}{path}</loc>")), "{path}: {site}");
    }
    let parts = text(&host.fetch("/sitemap.xml", &[]).await.bytes).to_owned();
    for (folder, file, field) in PAGES {
        let id = first_id(&files[file], field);
        let path = format!("/map/oakland/{folder}/{id}");
        let page = host.fetch(&path, &[("accept", "text/html")]).await;
        assert_eq!(page.status, 200, "{path}");
        let html = text(&page.bytes);
        assert!(html.contains(&format!("rel=\"canonical\" href=\"{PUBLIC_URL}{path}\"")), "{html}");
        assert!(html.contains("href=\"/map/oakland/\""), "{html}");
        assert!(html.contains(&format!("/map/oakland/objection?record={id}")), "{html}");
        for folder in ["companies", "roles", "people", "events", "handoffs", "data"] {
            assert!(!html.contains(&format!("/map/{folder}/")), "{path}: {html}");
        }
        let record = host.fetch(&format!("{path}.json"), &[]).await;
        assert_eq!(record.json()["id"], *id, "{path}");
        // Invented organisations can have the same name in both.
        if !text(&first_files[file]).contains(&id) {
            let elsewhere = host.fetch(&format!("/map/{folder}/{id}"), &[]).await;
            assert_eq!(elsewhere.status, 404, "{path}");
        }
        for part in [format!("{folder}-1"), format!("oakland-{folder}-1")] {
            assert!(parts.contains(&format!("?part={part}</loc>")), "{part}: {parts}");
        }
        let listed = host.fetch(&format!("/sitemap.xml?part=oakland-{folder}-1"), &[]).await;
        assert!(text(&listed.bytes).contains(&format!("<loc>{PUBLIC_URL}{path}</loc>")), "{path}");
    }
    let id = first_id(&files["sf-people.json"], "items");
    let objection = host.fetch(&format!("/map/oakland/objection?record={id}"), &[]).await;
    assert!(text(&objection.bytes).contains(&format!("/map/oakland/people/{id}")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_city_without_feeds_stops_no_other() {
    let folder = TempDir::new().unwrap();
    let other = folder.path().join("other");
    let host = start(&city().join("feeds"), &other).await;
    assert_eq!(host.fetch(INDEX_PATH, &[]).await.status, 200);
    for path in ["data/agent-index.json", "data/changes.json", "companies/tgt_1", "data/parts/x"] {
        let got = host.fetch(&format!("/map/oakland/{path}"), &[("accept", "*/*")]).await;
        assert_eq!(got.status, 503, "{path}");
    }
    let index = host.fetch(OTHER_INDEX, &[]).await;
    assert_eq!(index.json()["error_code"], "dependency_unavailable");
    assert_eq!(index.header("retry-after"), "60");
    let sitemap = host.fetch("/sitemap.xml?part=site", &[]).await;
    assert!(!text(&sitemap.bytes).contains("oakland"));
    assert_eq!(host.operate("/status").await.body["cities"]["oakland"]["in_force"], Value::Null);

    let files = changed(&other_city().join(OTHER_CITY), "license", &"CC0-1.0".into());
    publish(&other, &files, 1);
    wait_until_served(&host, OTHER_INDEX, "CC0-1.0").await;

    // The same holds the other way round.
    let host = start(&folder.path().join("nothing"), &other).await;
    assert_eq!(host.fetch(INDEX_PATH, &[]).await.status, 503);
    assert_eq!(host.fetch(OTHER_INDEX, &[]).await.status, 200);
    assert_eq!(host.fetch("/map/oakland/settings.json", &[]).await.json(), json!({}));
    let sitemap = host.fetch("/sitemap.xml", &[]).await;
    assert!(text(&sitemap.bytes).contains("?part=oakland-companies-1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_publication_of_one_city_leaves_the_other_alone() {
    let folder = TempDir::new().unwrap();
    let other = folder.path().join("other");
    let edition =
        |license: &str| changed(&other_city().join(OTHER_CITY), "license", &license.into());
    publish(&other, &edition("CC0-1.0"), 1);
    let host = start(&city().join("feeds"), &other).await;
    let changes = async |path: &str| host.fetch(path, &[]).await.json();
    let (first, second) = ("/map/data/changes.json", "/map/oakland/data/changes.json");
    let (first_before, before) = (changes(first).await, changes(second).await);
    assert_eq!(before["snapshot"]["index"], format!("{PUBLIC_URL}{OTHER_INDEX}"));
    let index_before = host.fetch(INDEX_PATH, &[]).await;

    let next = edition("CC-BY-4.0");
    publish(&other, &next, 2);
    wait_until_served(&host, OTHER_INDEX, "CC-BY-4.0").await;
    let roles = host.fetch("/map/oakland/data/sf-job-roles.json", &[]).await;
    assert_eq!(roles.header("etag"), etag(&next["sf-job-roles.json"]));
    let since = before["next"].as_str().unwrap();
    let changed = changes(&format!("{second}?since={since}")).await;
    assert_eq!(changed["changes"].as_array().unwrap().len(), FEEDS.len(), "{changed}");
    assert!(changed["changes"].as_array().unwrap().iter().all(|change| change["op"] == "document"));

    let index = host.fetch(INDEX_PATH, &[]).await;
    assert_eq!(index.header("etag"), index_before.header("etag"));
    assert_eq!(index.header("last-modified"), index_before.header("last-modified"));
    assert_eq!(changes(first).await, first_before);
    // A cursor of one city is none of the other.
    let gone = host.fetch(&format!("{first}?since={since}"), &[]).await;
    assert_eq!(
        (gone.status.as_u16(), &gone.json()["next"]["http"]["url"]),
        (410, &INDEX_PATH.into())
    );
    let since = first_before["next"].as_str().unwrap();
    let gone = host.fetch(&format!("{second}?since={since}"), &[]).await;
    assert_eq!(gone.json()["next"]["http"]["url"], OTHER_INDEX);
}

#[tokio::test(flavor = "multi_thread")]
async fn feeds_that_are_made_for_another_path_are_refused() {
    let folder = TempDir::new().unwrap();
    let other = folder.path().join("other");
    publish(&other, &changed(&city().join("feeds"), "license", &"CC0-1.0".into()), 1);
    let host = start(&other_city().join(OTHER_CITY), &other).await;
    for path in [INDEX_PATH, OTHER_INDEX] {
        assert_eq!(host.fetch(path, &[]).await.status, 503, "{path}");
    }
    let status = host.operate("/status").await.body;
    for status in [&status["feeds"], &status["cities"]["oakland"]] {
        assert!(status["refused"]["faults"].to_string().contains("--city"), "{status}");
    }
    assert_eq!(host.metric("portolan_city_feeds_refused{city=\"oakland\"}").await, 1);
}

#[test]
fn each_city_is_built_and_objected_to_in_its_own_folder() {
    let folder = TempDir::new().unwrap();
    let configuration = with_other_city("", Path::new(OTHER_CITY));
    std::fs::write(folder.path().join("portolan.toml"), configuration).unwrap();
    let run = |arguments: &[&str]| command(folder.path()).arg("feeds").args(arguments).output();
    for city in [&["demo"][..], &["demo", "--seed", "2", "--city", OTHER_CITY]] {
        assert!(run(city).unwrap().status.success(), "{city:?}");
    }
    let files = |city: &str| documents(&folder.path().join(city)).unwrap();
    let (first, other) = (files("data/feeds"), files(OTHER_CITY));
    for city in ["data/feeds", OTHER_CITY] {
        assert!(run(&["check", city]).unwrap().status.success(), "{city}");
    }
    // Capabilities read the first city, so handoffs begin there only.
    let handoffs = |files: &portolan_feeds::document::Documents| {
        let all: Value = serde_json::from_slice(&files["hi-handoff-manifest.json"]).unwrap();
        all["items"].as_array().unwrap().len()
    };
    assert_eq!((handoffs(&first), handoffs(&other)), (9, 0));

    let person = first_id(&other["sf-people.json"], "items");
    let objects = ["object", "--person", &person, "--reason", "asked"];
    assert_eq!(run(&objects).unwrap().status.code(), Some(2), "nobody of the first city");
    assert!(files("data/feeds")["sf-people.json"] == first["sf-people.json"]);
    let of_other = [&objects[..], &["--city", OTHER_CITY]].concat();
    assert!(run(&of_other).unwrap().status.success());
    let left = files(OTHER_CITY);
    assert!(!text(&left["sf-people.json"]).contains(&person));
    let index: Value = serde_json::from_slice(&left[INDEX]).unwrap();
    assert_eq!(index["items"][0]["path"], "/map/oakland/data/sf-live-targets.json");

    let unknown = run(&["demo", "--city", "berkeley"]).unwrap();
    assert!(!unknown.status.success());
    let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
    assert!(log.contains("no city has the slug \"berkeley\""), "{log}");
}

#[test]
fn a_start_with_a_wrong_city_names_the_setting() {
    let folder = TempDir::new().unwrap();
    let cities =
        "[[feeds.cities]]\nslug = \"companies\"\nname = \"Oakland\"\npath = \"data/feeds\"\n";
    std::fs::write(folder.path().join("portolan.toml"), cities).unwrap();
    let output = command(folder.path()).arg("serve").output().unwrap();
    assert!(!output.status.success());
    let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
    for fault in ["feeds.cities has the slug \"companies\"", "a folder of its own"] {
        assert!(log.contains(fault), "{log}");
    }
}
