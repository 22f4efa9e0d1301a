//! The whole rehearsal, through real HTTP and the real readers: the numbers and
//! states of its records.

use crate::support::document;
use portolan_feeds::{Limits, Sources, check, demo};
use serde_json::Value;
use std::{collections::BTreeMap, path::Path, time::Duration};
use tempfile::TempDir;

const SEED: u64 = 7;

async fn rehearsed(raw: &Path, folder: &Path, seed: u64) {
    let stages = demo::write(raw, seed, crate::support::at(0)).unwrap();
    let limits = Limits { pause: Duration::ZERO, ..Limits::default() };
    let options = portolan_feeds::Options {
        limits,
        opened: Vec::new(),
        knowledge: None,
        ..crate::support::options(folder)
    };
    let report = demo::rehearse(&stages, &options, &|_| {}).await.unwrap().unwrap();
    let failing: Vec<_> = report.sources.iter().filter(|source| source.failing.is_some()).collect();
    assert!(failing.is_empty(), "{failing:#?}");
}

fn counted(items: &Value, pointer: &str) -> BTreeMap<String, usize> {
    items.as_array().unwrap().iter().fold(BTreeMap::new(), |mut counts, item| {
        let name = item.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        *counts.entry(name).or_default() += 1;
        counts
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rehearsal_makes_all_feeds_and_nothing_in_them_is_wrong() {
    let (raw, folder) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    rehearsed(raw.path(), folder.path(), SEED).await;
    let read = |file: &str| document(folder.path(), file);
    assert_eq!(check(folder.path()).unwrap(), []);

    let targets = &read("sf-live-targets.json")["features"];
    assert_eq!(targets.as_array().unwrap().len(), 180);
    let signals = &read("live-signal-feed.json")["items"];
    assert_eq!(
        counted(signals, "/kind"),
        [("funding".to_owned(), 30), ("hiring".to_owned(), 60)].into()
    );
    let states: BTreeMap<String, usize> = [
        ("closed", 5),
        ("confirmed", 10),
        ("corroborated", 6),
        ("disputed", 2),
        ("expired", 5),
        ("lead", 8),
        ("retracted", 1),
        ("source_backed", 17),
        ("stale", 5),
        ("unsourced", 3),
        ("verified", 28),
    ]
    .map(|(state, count)| (state.to_owned(), count))
    .into();
    assert_eq!(counted(signals, "/maturity"), states);
    let roles = &read("sf-job-roles.json")["items"];
    let boards = ["ashby", "greenhouse", "lever", "smartrecruiters", "workable"];
    assert_eq!(counted(roles, "/ats"), boards.map(|name| (name.to_owned(), 84)).into());
    assert_eq!(read("agent-readable-signals.json")["items"].as_array().unwrap().len(), 24);
    assert_eq!(read("sf-events.json")["items"].as_array().unwrap().len(), 250);
    assert_eq!(read("sf-people.json")["items"].as_array().unwrap().len(), 160);
    assert_eq!(read("public-social-signals.json")["items"].as_array().unwrap().len(), 140);
    assert_eq!(read("hi-handoff-manifest.json")["items"].as_array().unwrap().len(), 9);
    assert_eq!(read("agent-index.json")["items"].as_array().unwrap().len(), 8);

    for file in std::fs::read_dir(folder.path().join("current")).unwrap() {
        let file = file.unwrap();
        if file.path().is_dir() {
            continue;
        }
        let text = std::fs::read_to_string(file.path()).unwrap();
        let name = file.file_name().into_string().unwrap();
        if name.ends_with(".json") && name != "state.json" {
            let document: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(document["_meta"]["synthetic"], true);
        }
        for trace in ["<script", "taken()", "555-01", "555 01", "jobs@", "127.0.0.1", "mailto"] {
            assert!(!text.contains(trace), "{trace} in {:?}", file.file_name());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_seed_makes_the_same_feeds() {
    let folders = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    for folder in &folders {
        let raw = TempDir::new().unwrap();
        rehearsed(raw.path(), folder.path(), SEED + 1).await;
    }
    for feed in portolan_feeds::record::FEEDS {
        let [one, other] = folders.each_ref().map(|folder| document(folder.path(), feed.file));
        assert_eq!(one, other, "{}", feed.file);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rehearsal_that_was_given_is_brought_up_to_now() {
    let (raw, folder) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    rehearsed(raw.path(), folder.path(), SEED + 2).await;
    let before = document(folder.path(), "live-signal-feed.json");
    rehearsed(raw.path(), folder.path(), SEED + 2).await;
    assert_eq!(document(folder.path(), "live-signal-feed.json"), before);
    assert_eq!(check(folder.path()).unwrap(), []);
}

#[tokio::test]
async fn boards_that_come_in_pages_are_read_to_their_end() {
    let raw = TempDir::new().unwrap();
    let folder = TempDir::new().unwrap();
    let stage = raw.path().join("0");
    let site = stage.join("site");
    std::fs::create_dir_all(site.join("lever/v0/postings")).unwrap();
    let posting = |number: u32| serde_json::json!({ "id": format!("p{number}"), "text": "Engineer", "hostedUrl": format!("https://jobs.copperleaf.example/{number}") });
    let postings: Vec<Value> = (0..205).map(posting).collect();
    std::fs::write(
        site.join("lever/v0/postings/copperleaf.json"),
        Value::from(postings).to_string(),
    )
    .unwrap();
    std::fs::write(site.join("registry.json"), crate::support::REGISTRY).unwrap();
    let server = demo::serve(&stage).await.unwrap();
    let text = r#"
        license = "CC0-1.0"
        opt_out_url = "https://map.example/opt-out"
        registry = [{ id = "registry", publisher = "Register", url = "{origin}/registry.json" }]
        board = [{ target = "copperleaf", ats = "lever", token = "copperleaf", base = "{origin}/lever" }]
        [city]
        id = "sf"
        name = "San Francisco"
        country = "US"
        time_zone = "America/Los_Angeles"
        center = [-122.41942, 37.77493]
        bbox = [-122.52, 37.7, -122.35, 37.84]
    "#;
    let sources = Sources::parse(text, Some(&server.origin())).unwrap();
    portolan_feeds::build(&sources, &crate::support::options(folder.path()), &|_| {})
        .await
        .unwrap();
    assert_eq!(
        document(folder.path(), "sf-job-roles.json")["items"].as_array().unwrap().len(),
        205
    );
}
