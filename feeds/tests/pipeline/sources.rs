//! Sources that are slow, broken or hostile: each is reported, affects no other source, and keeps
//! the records that were read before.

use crate::support::{Answer, BOARD, BOARD_PATH, City, REGISTRY, ok, status};
use flate2::{Compression, write::GzEncoder};
use portolan_feeds::{BuildError, check, not_published, publish::Turn, republish};
use serde_json::{Value, json};
use std::io::Write as _;

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

/// Builds with a valid board, then with this answer of the board, which the report must call
/// failing for this reason, and then with the valid board again.
async fn second_time(answer: Answer, reason: &str) {
    let mut city = City::open().await;
    city.build().await.unwrap();
    assert_eq!(city.roles(), [("Backend Engineer".to_owned(), "verified".to_owned())]);
    city.board.plays(BOARD_PATH, [answer]);
    city.options.now = crate::support::at(1);
    let report = city.build().await.unwrap();
    let board =
        report.sources.iter().find(|source| source.id == "board/workable/copperleaf").unwrap();
    let told = board.failing.as_ref().map_or("", |failing| failing.reason.as_str());
    assert!(told.contains(reason), "{told:?} is not {reason:?}");
    assert_eq!(board.read_at, Some(crate::support::at(0)));
    // The role that was read before is kept as stale, and no other source is affected.
    assert_eq!(city.roles(), [("Backend Engineer".to_owned(), "stale".to_owned())]);
    assert_eq!(city.document("sf-live-targets.json")["features"].as_array().unwrap().len(), 2);
    assert!(
        report
            .sources
            .iter()
            .filter(|source| source.id != board.id)
            .all(|source| source.failing.is_none())
    );
    assert_eq!(check(city.folder.path()).unwrap(), []);
    // When the board can be read again, the role is verified again.
    city.board.plays(BOARD_PATH, [ok("", BOARD)]);
    city.options.now = crate::support::at(2);
    city.build().await.unwrap();
    assert_eq!(city.roles(), [("Backend Engineer".to_owned(), "verified".to_owned())]);
}

#[tokio::test]
async fn a_source_that_is_malformed() {
    second_time(ok("", r#"{"jobs":[{"#), "not the JSON of a board").await;
}

#[tokio::test]
async fn a_source_that_is_something_else() {
    second_time(ok("", "<html><body>Please sign in</body></html>"), "not the JSON of a board")
        .await;
}

#[tokio::test]
async fn a_source_in_another_encoding_is_read() {
    let city = City::open().await;
    let utf_16: Vec<u8> = BOARD.encode_utf16().flat_map(u16::to_le_bytes).collect();
    city.board.plays(BOARD_PATH, [ok("content-type: application/json\r\n", utf_16)]);
    let press =
        crate::support::news(&[("Café opens", "https://paper.example/1", crate::support::NOW)]);
    let latin: Vec<u8> = press.chars().map(|character| u8::try_from(character).unwrap()).collect();
    city.paper.plays("/news", [ok("content-type: text/xml; charset=iso-8859-1\r\n", latin)]);
    let report = city.build().await.unwrap();
    assert!(report.sources.iter().all(|source| source.failing.is_none()), "{report:?}");
    assert_eq!(city.roles().len(), 1);
}

#[tokio::test]
async fn a_source_that_is_gone() {
    second_time(status("404 Not Found", ""), "the server answers 404").await;
    second_time(ok("", r#"{"name":null}"#), "the board is not known there").await;
}

#[tokio::test]
async fn a_source_that_says_nothing() {
    second_time(Answer::Silence, "takes too long").await;
}

#[tokio::test]
async fn a_source_that_never_ends() {
    second_time(Answer::Drip, "takes too long").await;
    second_time(Answer::Flood, "more than 200000 bytes").await;
}

#[tokio::test]
async fn a_source_that_is_huge_when_unpacked() {
    let bomb = gzip(&vec![b' '; 100_000_000]);
    assert!(bomb.len() < 200_000);
    second_time(ok("content-encoding: gzip\r\n", bomb), "more than 200000 bytes").await;
    second_time(ok("content-encoding: gzip\r\n", "not packed"), "not compressed as it says").await;
    second_time(ok("content-encoding: br\r\n", "x"), "not compressed as it says").await;
}

#[tokio::test]
async fn a_source_that_leads_elsewhere() {
    let elsewhere = status("302 Found", "location: http://127.0.0.1:1/admin\r\n");
    second_time(elsewhere, "leads elsewhere").await;
    let private = status("302 Found", "location: https://169.254.169.254/latest/meta-data/\r\n");
    second_time(private, "not a public one").await;
    let in_circles = status("302 Found", &format!("location: {BOARD_PATH}\r\n"));
    second_time(in_circles, "itself, again and again").await;
}

#[tokio::test]
async fn a_source_that_fails_and_one_that_asks_for_patience() {
    second_time(status("500 Internal Server Error", ""), "the server answers 500").await;
    second_time(status("429 Too Many Requests", "retry-after: 900\r\n"), "wait for 900 seconds")
        .await;
}

#[tokio::test]
async fn loopback_is_closed_unless_the_operator_opens_it() {
    let mut city = City::open().await;
    city.options.opened.clear();
    let report = city.build().await.unwrap();
    assert!(report.sources.iter().all(|source| source.failing.is_some()), "{report:?}");
    assert!(city.registry.asked().is_empty() && city.board.asked().is_empty());
}

#[tokio::test]
async fn a_server_that_recovers_is_asked_again_at_once() {
    let city = City::open().await;
    city.board.plays(
        BOARD_PATH,
        [status("503 Service Unavailable", "retry-after: 1\r\n"), ok("", BOARD)],
    );
    city.build().await.unwrap();
    assert_eq!(city.board.asked().len(), 2);
    assert_eq!(city.roles().len(), 1);
}

#[tokio::test]
async fn an_answer_that_still_holds_is_not_sent_again() {
    let mut city = City::open().await;
    let kept = "etag: \"one\"\r\nlast-modified: Sat, 21 Nov 2026 10:00:00 GMT\r\n";
    city.board.plays(BOARD_PATH, [ok(kept, BOARD), status("304 Not Modified", "")]);
    city.build().await.unwrap();
    city.options.now = crate::support::at(1);
    let report = city.build().await.unwrap();
    let asked = city.board.asked();
    assert!(!asked[0].to_lowercase().contains("if-none-match"));
    let second = asked[1].to_lowercase();
    assert!(second.contains("if-none-match: \"one\""), "{second}");
    assert!(second.contains("if-modified-since: sat, 21 nov 2026 10:00:00 gmt"), "{second}");
    assert_eq!(city.roles(), [("Backend Engineer".to_owned(), "verified".to_owned())]);
    // No record has changed, so only the index is a new document.
    assert_eq!(report.changed, ["agent-index.json"]);
}

#[tokio::test]
async fn script_and_contact_data_of_a_source_do_not_get_through() {
    let city = City::open().await;
    city.board.plays(
        BOARD_PATH,
        [ok(
            "",
            r#"{"jobs":[{"title":"Engineer <script>x()</script> call 415-555-0142","shortcode":"A1","department":"jo@copperleaf.example","city":"12 Main Street",
              "url":"https://jobs.copperleaf.example/A1","application_url":"javascript:x()",
              "description":"<p>Hi</p><script>x()</script><img src=x onerror=x()><a href=\"mailto:jo@copperleaf.example\">jo@copperleaf.example</a> <a href=\"https://a.example/?to=jo@b.example\">here</a><iframe src=https://evil.example></iframe>"}]}"#,
        )],
    );
    city.paper.plays(
        "/news",
        [ok(
            "",
            crate::support::news(&[(
                "Copperleaf Robotics <img src=x onerror=x()> at 99 Pine Street, Apt 3",
                "https://paper.example/1",
                crate::support::NOW,
            )]),
        )],
    );
    city.build().await.unwrap();
    assert_eq!(check(city.folder.path()).unwrap(), []);
    let roles = city.document("sf-job-roles.json").to_string();
    let events = city.document("sf-events.json").to_string();
    for trace in [
        "x()",
        "<script",
        "onerror",
        "iframe",
        "evil",
        "415-555",
        "jo@",
        "Main Street",
        "Pine Street",
    ] {
        assert!(!roles.contains(trace) && !events.contains(trace), "{trace}");
    }
}

#[tokio::test]
async fn an_empty_registry_is_not_believed() {
    let mut city = City::open().await;
    city.build().await.unwrap();
    city.registry.plays("/registry.json", [ok("", r#"{"organisations":[]}"#)]);
    city.options.now = crate::support::at(1);
    city.build().await.unwrap();
    assert_eq!(city.document("sf-live-targets.json")["features"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_registry_that_shrinks_is_believed_when_it_is_read_again_or_confirmed() {
    let organisation = |number: usize| {
        json!({
            "slug": format!("s{number}"), "name": format!("Number {number}"), "kind": "startup",
            "lat": 37.77, "lng": -122.42, "url": format!("https://register.example/{number}"),
        })
    };
    let registry = |count| {
        let all: Vec<_> = (0..count).map(organisation).collect();
        json!({ "organisations": all }).to_string()
    };
    let targets =
        |city: &City| city.document("sf-live-targets.json")["features"].as_array().unwrap().len();
    for is_confirmed in [false, true] {
        let mut city = City::open().await;
        city.registry.plays("/registry.json", [ok("", registry(21))]);
        city.build().await.unwrap();
        city.registry.plays("/registry.json", [ok("", registry(1))]);
        city.options.confirmed.extend(is_confirmed.then(|| "registry".to_owned()));
        city.options.now = crate::support::at(1);
        let report = city.build().await.unwrap();
        let failing = report.sources.iter().find_map(|source| source.failing.as_ref());
        match is_confirmed {
            true => assert_eq!((targets(&city), failing), (1, None)),
            false => {
                assert_eq!(targets(&city), 21);
                let reason = &failing.unwrap().reason;
                assert!(reason.starts_with("20 of its 21 records are missing"), "{reason}");
                city.build().await.unwrap();
                assert_eq!(targets(&city), 1);
            }
        }
    }
}

#[tokio::test]
async fn a_target_that_comes_back_has_its_signals_with_their_history() {
    let mut city = City::open().await;
    let title = "Copperleaf Robotics raises $12 million Series A";
    let items = [(title, "https://paper.example/1", crate::support::NOW)];
    city.paper.plays("/news", [ok("", crate::support::news(&items))]);
    city.build().await.unwrap();
    let history = |city: &City| {
        let signals = city.document("live-signal-feed.json")["items"].clone();
        let funding = |signal: &&Value| signal["kind"] == "funding";
        signals.as_array().unwrap().iter().find(funding).map(|one| one["maturity_history"].clone())
    };
    let before = history(&city).unwrap();
    city.paper.plays("/news", [ok("", crate::support::news(&[]))]);
    let without = REGISTRY.replace("\"copperleaf\"", "\"other\"").replace("Copperleaf", "Other");
    city.registry.plays("/registry.json", [ok("", without)]);
    city.options.now = crate::support::at(1);
    city.build().await.unwrap();
    assert_eq!(history(&city), None);
    city.registry.plays("/registry.json", [ok("", REGISTRY)]);
    city.options.now = crate::support::at(2);
    city.build().await.unwrap();
    assert_eq!(history(&city).unwrap()[0], before[0]);
}

#[tokio::test]
async fn a_record_that_is_not_valid_does_not_stop_the_others() {
    let city = City::open().await;
    let board = json!({ "name": "Copperleaf Robotics", "jobs": [
        { "title": "Backend Engineer", "shortcode": "A1", "url": "https://jobs.copperleaf.example/A1",
          "published_on": "2026-11-01", "description": "<p>Build.</p>" },
        // An identifier with a character that nobody sees.
        { "title": "Frontend Engineer", "shortcode": "A\u{200b}2",
          "url": "https://jobs.copperleaf.example/A2", "published_on": "2026-11-01" },
    ] });
    city.board.plays(BOARD_PATH, [ok("", board.to_string())]);
    let report = city.build().await.unwrap();
    assert_eq!(city.roles(), [("Backend Engineer".to_owned(), "verified".to_owned())]);
    assert_eq!(check(city.folder.path()).unwrap(), []);
    let [record] = report.quarantined.as_slice() else { panic!("{:?}", report.quarantined) };
    assert_eq!(record.document, "sf-job-roles.json");
    assert!(record.reason.starts_with("it has the invisible character"), "{}", record.reason);
    assert_eq!(record.source.as_deref(), Some("https://jobs.copperleaf.example/A2"));
    assert_eq!(not_published(city.folder.path()).unwrap().quarantined, report.quarantined);
    // No other record refers to it.
    let signals = city.document("live-signal-feed.json");
    let hiring = &signals["items"][0]["hiring"];
    assert_eq!(
        (hiring["role_ids"].as_array().unwrap().len(), &hiring["role_count"]),
        (1, &json!(1))
    );
}

#[tokio::test]
async fn two_builds_do_not_meet_and_a_publication_is_whole() {
    let mut city = City::open().await;
    city.build().await.unwrap();
    let turn = Turn::take(city.folder.path()).unwrap();
    let Err(BuildError::Folder(error)) = city.build().await else { panic!("two at once") };
    assert!(error.to_string().contains("another build"));
    // An objection does not wait for it.
    republish(city.folder.path(), city.options.now, &|_| {}).unwrap();
    drop(turn);
    for day in 1..5 {
        city.options.now = crate::support::at(day);
        city.build().await.unwrap();
    }
    // The current publication and the one before it are kept.
    let versions = std::fs::read_dir(city.folder.path().join("versions")).unwrap();
    assert_eq!(versions.count(), 2);
    // `check` notices that a published document was changed.
    let file = city.folder.path().join("current/sf-job-roles.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen("tgt_", "tgt_0", 1)).unwrap();
    assert!(!check(city.folder.path()).unwrap().is_empty());
}
