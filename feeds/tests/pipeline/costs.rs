//! What sources may cost: time, details, answers that have not changed.

use crate::support::{Answer, BOARD, BOARD_PATH, City, at, ok};
use portolan_feeds::{Report, build, record::Ats};
use serde_json::json;
use std::time::Duration;

fn reason(report: &Report, id: &str) -> String {
    let source = report.sources.iter().find(|source| source.id == id).unwrap();
    source.failing.as_ref().map(|failing| failing.reason.clone()).unwrap_or_default()
}

#[tokio::test]
async fn a_slow_source_fails_alone() {
    let mut city = City::open().await;
    city.board.plays(BOARD_PATH, [Answer::Silence]);
    city.options.limits.source = Duration::from_millis(200);
    city.options.limits.request = Duration::from_secs(60);
    let report = city.build().await.unwrap();
    let told = reason(&report, "board/workable/copperleaf");
    assert!(told.starts_with("its answers take more than"), "{told}");
    assert_eq!(city.document("sf-live-targets.json")["_meta"]["count"], 2);
    city.options.limits.source = Duration::from_secs(60);
    city.options.limits.reading = Duration::from_millis(300);
    let report = city.build().await.unwrap();
    let told = reason(&report, "board/workable/copperleaf");
    assert!(told.starts_with("the sources were not all read within"), "{told}");
}

#[tokio::test]
async fn a_source_has_so_many_bytes_in_all() {
    let mut city = City::open().await;
    city.options.limits.source_bytes = BOARD.len() - 1;
    let report = city.build().await.unwrap();
    let told = reason(&report, "board/workable/copperleaf");
    assert!(told.ends_with("bytes in all"), "{told}");
}

#[tokio::test]
async fn details_are_read_once_and_not_all_in_one_build() {
    let mut city = City::open().await;
    let job = |id: u32, name: &str| {
        json!({ "id": id.to_string(), "name": name, "releasedDate": "2026-11-01T10:00:00Z", "visibility": "PUBLIC",
            "company": { "identifier": "copperleaf" }, "location": { "city": "San Francisco", "region": "CA", "country": "us" } })
    };
    let list = |jobs: Vec<serde_json::Value>| {
        ok("", json!({ "totalFound": jobs.len(), "content": jobs }).to_string())
    };
    let path = "/v1/companies/copperleaf/postings?limit=100&offset=0";
    city.board.plays(path, [list(vec![job(1, "Welder"), job(2, "Fitter"), job(3, "Painter")])]);
    for id in 1..4 {
        let detail = json!({ "jobAd": { "sections": { "jobDescription": { "text": format!("<p>About {id}.</p>") } } } });
        city.board.plays(
            &format!("/v1/companies/copperleaf/postings/{id}"),
            [ok("", detail.to_string())],
        );
    }
    city.options.limits.details = 2;
    let mut sources = city.sources();
    sources.board[0].ats = Ats::Smartrecruiters;
    let asked = |city: &City, id: u32| {
        let path = format!("GET /v1/companies/copperleaf/postings/{id} ");
        city.board.asked().iter().filter(|head| head.starts_with(&path)).count()
    };
    let counts = |city: &City| [1, 2, 3].map(|id| asked(city, id));
    let summaries = |city: &City| {
        let document = city.document("sf-job-roles.json");
        let roles = document["items"].as_array().unwrap().iter();
        let mut all: Vec<_> =
            roles.map(|role| role["summary"].as_str().unwrap().to_owned()).collect();
        all.sort();
        all
    };
    let report = build(&sources, &city.options, &|_| {}).await.unwrap();
    assert_eq!(counts(&city), [1, 1, 0]);
    assert_eq!(summaries(&city), ["", "About 1.", "About 2."]);
    let refused: Vec<_> = report.sources.iter().flat_map(|source| &source.refused).collect();
    assert_eq!(refused[0].reason, "the details of 1 postings are read in later builds");
    // The third one is new, and a share of the others, the one that was read first, is read again.
    city.options.now = at(1);
    build(&sources, &city.options, &|_| {}).await.unwrap();
    assert_eq!(counts(&city), [2, 1, 1]);
    assert_eq!(summaries(&city), ["About 1.", "About 2.", "About 3."]);
    // What has changed in the list is read anew.
    city.board.plays(path, [list(vec![job(1, "Welder"), job(2, "Fitter"), job(3, "Artist")])]);
    city.options.now = at(2);
    build(&sources, &city.options, &|_| {}).await.unwrap();
    assert_eq!(counts(&city), [2, 2, 2]);
}

#[tokio::test]
async fn a_board_that_has_not_changed_is_not_read_again() {
    let mut city = City::open().await;
    city.build().await.unwrap();
    let state = city.folder.path().join("current/state.json");
    let text = std::fs::read_to_string(&state).unwrap();
    std::fs::write(&state, text.replace("Build.", "Built.")).unwrap();
    let summary = |city: &City| city.document("sf-job-roles.json")["items"][0]["summary"].clone();
    city.options.now = at(1);
    city.build().await.unwrap();
    assert_eq!(summary(&city), "Built.");
    city.board.plays(BOARD_PATH, [ok("", format!("{BOARD} "))]);
    city.options.now = at(2);
    city.build().await.unwrap();
    assert_eq!(summary(&city), "Build.");
}

#[tokio::test]
async fn what_a_publisher_writes_takes_no_signal_away() {
    let mut city = City::open().await;
    let feed = |items: serde_json::Value| {
        let feed = json!({ "version": "https://jsonfeed.org/version/1.1", "title": "Paper", "items": items });
        ok("", feed.to_string())
    };
    let item = |id: &str, text: &str| {
        json!({ "id": id, "url": format!("https://{id}.example/1"), "title": "Copperleaf Robotics raises $12 million",
            "content_text": text, "date_published": "2026-11-20T10:00:00Z" })
    };
    let real = item("paper", "Copperleaf Robotics raises $12 million.");
    city.paper.plays("/news", [feed(json!([real]))]);
    city.build().await.unwrap();
    let before = city.signals().len();
    city.paper
        .plays("/news", [feed(json!([real, item("other", "tgt_00000000000000000000000000")]))]);
    city.options.now = at(1);
    let report = city.build().await.unwrap();
    assert_eq!(
        (city.signals().len(), report.quarantined.len()),
        (before, 0),
        "{:?}",
        report.quarantined
    );
}
