//! How builds change the maturity of a signal, through the whole pipeline.

use crate::support::{BOARD, BOARD_PATH, City, NOW, at, news, ok};
use portolan_feeds::{Evidence, EvidenceKind, Knowledge, check, not_published};
use serde_json::Value;

const NOBODY: &str = r#"{"name":"Copperleaf Robotics","jobs":[]}"#;
const POST: (&str, &str, &str) =
    ("Copperleaf Robotics is hiring", "https://paper.example/1", "2026-11-20T08:00:00Z");

async fn on_day(city: &mut City, day: i64) -> Vec<String> {
    city.options.now = at(day);
    city.build().await.unwrap();
    assert_eq!(check(city.folder.path()).unwrap(), []);
    city.signals()
}

fn first(city: &City) -> Value {
    city.document("live-signal-feed.json")["items"][0].clone()
}

/// Adds a statement about the first signal.
fn say(city: &mut City, kind: EvidenceKind, day: i64) -> &mut Evidence {
    let signal = first(city);
    city.knowledge().evidence.push(Evidence {
        id: format!("evidence-{day}"),
        signal_id: signal["id"].as_str().unwrap().to_owned(),
        kind,
        at: at(day),
        publisher: "Owner".to_owned(),
        url: "https://copperleaf.example/statement".to_owned(),
        answers: None,
    });
    city.knowledge().evidence.last_mut().unwrap()
}

/// Gives the company of the first signal a verified owner.
fn appoint(city: &mut City) {
    let target_id = first(city)["target_id"].as_str().unwrap().to_owned();
    city.knowledge().verified_owners.insert(target_id);
}

#[tokio::test]
async fn a_post_is_a_lead_until_the_companys_own_board_says_so() {
    let mut city = City::open().await;
    city.board.plays(BOARD_PATH, [ok("", NOBODY)]);
    city.paper.plays("/news", [ok("", news(&[POST]))]);
    assert_eq!(on_day(&mut city, 0).await, ["lead"]);
    let lead = first(&city);
    assert_eq!(lead["label"], "Lead – not verified");
    assert_eq!(lead["hiring"]["role_ids"], serde_json::json!([]));
    city.board.plays(BOARD_PATH, [ok("", BOARD)]);
    assert_eq!(on_day(&mut city, 1).await, ["verified"]);
    let verified = first(&city);
    assert_eq!(verified["id"], lead["id"]);
    assert_eq!(verified["hiring"]["role_count"], 1);
    assert_eq!(verified["maturity_history"].as_array().unwrap().len(), 2);
    // A role that is missing from one reading counts as open; missing from two
    // in a row, it is gone.
    city.board.plays(BOARD_PATH, [ok("", NOBODY)]);
    assert_eq!(on_day(&mut city, 2).await, ["verified"]);
    assert_eq!(on_day(&mut city, 3).await, ["stale"]);
    assert!(first(&city)["summary"].as_str().unwrap().starts_with("No role is open"));
    assert_eq!(on_day(&mut city, 16).await, ["stale"]);
    assert_eq!(on_day(&mut city, 17).await, ["closed"]);
    // A role that is posted later begins another signal.
    city.board.plays(BOARD_PATH, [ok("", BOARD)]);
    let mut both = on_day(&mut city, 18).await;
    both.sort();
    assert_eq!(both, ["closed", "verified"]);
}

#[tokio::test]
async fn a_role_that_is_back_verifies_again() {
    let mut city = City::open().await;
    assert_eq!(on_day(&mut city, 0).await, ["verified"]);
    city.board.plays(BOARD_PATH, [ok("", NOBODY)]);
    on_day(&mut city, 1).await;
    assert_eq!(on_day(&mut city, 2).await, ["stale"]);
    city.board.plays(BOARD_PATH, [ok("", BOARD)]);
    assert_eq!(on_day(&mut city, 3).await, ["verified"]);
}

#[tokio::test]
async fn a_board_that_cannot_be_read_makes_nothing_stale() {
    let mut city = City::open().await;
    on_day(&mut city, 0).await;
    city.board.plays(BOARD_PATH, [ok("", "down for repairs")]);
    for day in 1..4 {
        assert_eq!(on_day(&mut city, day).await, ["verified"]);
    }
    assert_eq!(city.roles(), [("Backend Engineer".to_owned(), "stale".to_owned())]);
}

#[tokio::test]
async fn a_role_of_another_kind_does_not_verify_a_lead() {
    let mut city = City::open().await;
    let post = ("Copperleaf Robotics is hiring a lawyer", "https://paper.example/1", NOW);
    city.paper.plays("/news", [ok("", news(&[post]))]);
    let mut states = on_day(&mut city, 0).await;
    states.sort();
    assert_eq!(states, ["lead", "verified"]);
}

#[tokio::test]
async fn a_later_statement_that_the_company_is_not_hiring_closes_a_lead() {
    let title = "Copperleaf Robotics is not hiring for the rest of the year";
    for (said_at, wanted) in [("2026-11-19T08:00:00Z", "lead"), ("2026-11-21T08:00:00Z", "closed")]
    {
        let mut city = City::open().await;
        city.board.plays(BOARD_PATH, [ok("", NOBODY)]);
        let stop = (title, "https://paper.example/2", said_at);
        city.paper.plays("/news", [ok("", news(&[POST, stop]))]);
        assert_eq!(on_day(&mut city, 1).await, [wanted], "{said_at}");
    }
}

#[tokio::test]
async fn a_round_on_the_word_of_unnamed_sources_is_a_lead_until_it_is_announced() {
    let mut city = City::open().await;
    city.board.plays(BOARD_PATH, [ok("", NOBODY)]);
    let reported = (
        "Copperleaf Robotics has raised $12 million, people familiar with the matter said",
        "https://paper.example/1",
        "2026-11-20T08:00:00Z",
    );
    city.paper.plays("/news", [ok("", news(&[reported]))]);
    assert_eq!(on_day(&mut city, 0).await, ["lead"]);
    let lead = first(&city);
    let announced = (
        "Copperleaf Robotics raises $12 million Series A",
        "https://gazette.example/2",
        "2026-11-22T08:00:00Z",
    );
    city.paper.plays("/news", [ok("", news(&[reported, announced]))]);
    assert_eq!(on_day(&mut city, 2).await, ["source_backed"]);
    let signal = first(&city);
    assert_eq!(signal["id"], lead["id"]);
    assert_eq!(signal["sources"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn two_publishers_corroborate_and_silence_expires() {
    let mut city = City::open().await;
    city.board.plays(BOARD_PATH, [ok("", NOBODY)]);
    let again = ("Copperleaf Robotics is hiring again", "https://news.paper.example/2", NOW);
    let other = ("Copperleaf Robotics is hiring, we hear", "https://gazette.example/3", NOW);
    city.paper.plays("/news", [ok("", news(&[POST, again]))]);
    assert_eq!(on_day(&mut city, 0).await, ["lead"]);
    city.paper.plays("/news", [ok("", news(&[POST, again, other]))]);
    assert_eq!(on_day(&mut city, 1).await, ["corroborated"]);
    assert_eq!(on_day(&mut city, 44).await, ["corroborated"]);
    assert_eq!(on_day(&mut city, 45).await, ["expired"]);
}

#[tokio::test]
async fn funding_is_as_sure_as_its_sources() {
    let mut city = City::open().await;
    city.board.plays(BOARD_PATH, [ok("", NOBODY)]);
    let title = "Copperleaf Robotics raises $12 million Series A led by Harbour Light Ventures";
    city.paper.plays("/news", [ok("", news(&[(title, "", NOW)]))]);
    assert_eq!(on_day(&mut city, 0).await, ["unsourced"]);
    assert_eq!(first(&city)["label"], "Unconfirmed");
    city.paper.plays("/news", [ok("", news(&[(title, "https://paper.example/1", NOW)]))]);
    assert_eq!(on_day(&mut city, 1).await, ["source_backed"]);
    let signal = first(&city);
    assert_eq!(signal["funding"]["amount_usd"], 12_000_000);
    assert_eq!(signal["funding"]["investors"][0]["lead"], true);
    let fund = &city.document("sf-live-targets.json")["features"];
    let fund = fund
        .as_array()
        .unwrap()
        .iter()
        .find(|feature| feature["properties"]["kind"] == "fund")
        .unwrap();
    assert_eq!(signal["funding"]["investors"][0]["target_id"], fund["id"]);
    // The company and the investor report the round, each on its own domain.
    let own = (
        format!("Copperleaf Robotics raises $12 million Series A: {}", "thank you"),
        "https://blog.copperleaf.example/a",
        NOW,
    );
    let theirs = (
        format!("Copperleaf Robotics raises $12 million Series A: {}", "welcome"),
        "https://harbourlight.example/b",
        NOW,
    );
    let all = [
        (title, "https://paper.example/1", NOW),
        (&own.0, own.1, own.2),
        (&theirs.0, theirs.1, theirs.2),
    ];
    city.paper.plays("/news", [ok("", news(&all))]);
    assert_eq!(on_day(&mut city, 2).await, ["confirmed"]);
}

#[tokio::test]
async fn only_a_verified_owners_objection_counts_and_a_review_decides() {
    let mut city = City::open().await;
    on_day(&mut city, 0).await;
    say(&mut city, EvidenceKind::OwnerObjects, 1);
    assert_eq!(on_day(&mut city, 1).await, ["verified"]);
    appoint(&mut city);
    assert_eq!(on_day(&mut city, 2).await, ["disputed"]);
    say(&mut city, EvidenceKind::ObjectionRejected, 3);
    assert_eq!(on_day(&mut city, 3).await, ["verified"]);
    assert_eq!(on_day(&mut city, 4).await, ["verified"]);
    say(&mut city, EvidenceKind::SourceRetracted, 5);
    say(&mut city, EvidenceKind::ObjectionUpheld, 6);
    assert_eq!(on_day(&mut city, 6).await, ["retracted"]);
    // Roles older than the retraction do not begin another signal.
    assert_eq!(on_day(&mut city, 7).await, ["retracted"]);
}

#[tokio::test]
async fn the_owners_word_verifies_without_a_board() {
    let mut city = City::open().await;
    city.board.plays(BOARD_PATH, [ok("", NOBODY)]);
    city.paper.plays("/news", [ok("", news(&[POST]))]);
    on_day(&mut city, 0).await;
    appoint(&mut city);
    say(&mut city, EvidenceKind::OwnerConfirms, 1);
    assert_eq!(on_day(&mut city, 1).await, ["verified"]);
    assert_eq!(first(&city)["hiring"]["evidence"], "owner");
    assert_eq!(on_day(&mut city, 60).await, ["verified"]);
}

#[tokio::test]
async fn what_was_submitted_is_a_publisher_more_and_verifies_nothing() {
    let mut city = City::open().await;
    city.board.plays(BOARD_PATH, [ok("", NOBODY)]);
    city.paper.plays("/news", [ok("", news(&[POST]))]);
    on_day(&mut city, 0).await;
    // A source on the paper's own domain is not a second publisher.
    say(&mut city, EvidenceKind::Supports, 1).url = "https://news.paper.example/2".to_owned();
    assert_eq!(on_day(&mut city, 1).await, ["lead"]);
    assert_eq!(first(&city)["sources"].as_array().unwrap().len(), 2);
    say(&mut city, EvidenceKind::Supports, 2).url = "https://gazette.example/3".to_owned();
    assert_eq!(on_day(&mut city, 2).await, ["corroborated"]);
    let signal = first(&city);
    let step = signal["maturity_history"].as_array().unwrap().last().unwrap();
    let source = signal["sources"].as_array().unwrap().last().unwrap();
    assert_eq!(step["source_id"], source["id"]);
    assert_eq!(
        (&source["type"], &source["url"]),
        (&"other".into(), &"https://gazette.example/3".into())
    );
    // A submitted source is new evidence only once: 45 days later, the lead expires.
    assert_eq!(on_day(&mut city, 46).await, ["corroborated"]);
    assert_eq!(on_day(&mut city, 47).await, ["expired"]);
}

#[tokio::test]
async fn what_was_submitted_is_the_source_of_funding_and_confirms_nothing() {
    let mut city = City::open().await;
    city.board.plays(BOARD_PATH, [ok("", NOBODY)]);
    let title = "Copperleaf Robotics raises $12 million Series A led by Harbour Light Ventures";
    city.paper.plays("/news", [ok("", news(&[(title, "", NOW)]))]);
    assert_eq!(on_day(&mut city, 0).await, ["unsourced"]);
    say(&mut city, EvidenceKind::Supports, 1).url = "https://copperleaf.example/a".to_owned();
    assert_eq!(on_day(&mut city, 1).await, ["source_backed"]);
    say(&mut city, EvidenceKind::Supports, 2).url = "https://harbourlight.example/b".to_owned();
    assert_eq!(on_day(&mut city, 2).await, ["source_backed"]);
    appoint(&mut city);
    say(&mut city, EvidenceKind::OwnerConfirms, 3);
    assert_eq!(on_day(&mut city, 3).await, ["confirmed"]);
}

#[tokio::test]
async fn a_review_decides_the_objection_that_it_answers() {
    let mut city = City::open().await;
    on_day(&mut city, 0).await;
    say(&mut city, EvidenceKind::ObjectionUpheld, 1).answers = Some("evidence-0".to_owned());
    say(&mut city, EvidenceKind::SourceRetracted, 2);
    assert_eq!(on_day(&mut city, 2).await, ["disputed"]);
    assert_eq!(on_day(&mut city, 3).await, ["disputed"]);
    say(&mut city, EvidenceKind::ObjectionRejected, 4).answers = Some("evidence-2".to_owned());
    assert_eq!(on_day(&mut city, 4).await, ["verified"]);
    assert_eq!(on_day(&mut city, 5).await, ["verified"]);
}

#[tokio::test]
async fn what_was_found_wrong_stays_so_while_it_is_told_and_what_was_said_about_it_is_kept() {
    let mut city = City::open().await;
    city.board.plays(BOARD_PATH, [ok("", NOBODY)]);
    let title = "Copperleaf Robotics raises $12 million Series A led by Harbour Light Ventures";
    city.paper.plays("/news", [ok("", news(&[(title, "https://paper.example/1", NOW)]))]);
    assert_eq!(on_day(&mut city, 0).await, ["source_backed"]);
    say(&mut city, EvidenceKind::SourceRetracted, 1);
    say(&mut city, EvidenceKind::ObjectionUpheld, 2);
    assert_eq!(on_day(&mut city, 2).await, ["retracted"]);
    // The signal leaves the feed after 90 days. The paper's item begins it again, and the stored
    // statements retract it again.
    assert_eq!(on_day(&mut city, 92).await, [""; 0]);
    assert_eq!(on_day(&mut city, 93).await, ["retracted"]);
    // Without the statements, the signal that begins again is source-backed.
    city.options.knowledge = Some(Knowledge::default());
    assert_eq!(on_day(&mut city, 183).await, [""; 0]);
    assert_eq!(on_day(&mut city, 184).await, ["source_backed"]);
}

#[tokio::test]
async fn what_nobody_can_tell_now_is_as_the_last_build_knew_it() {
    let mut city = City::open().await;
    city.board.plays(BOARD_PATH, [ok("", NOBODY)]);
    city.paper.plays("/news", [ok("", news(&[POST]))]);
    on_day(&mut city, 0).await;
    appoint(&mut city);
    on_day(&mut city, 1).await;
    let is_verified = |city: &City| {
        let targets = city.document("sf-live-targets.json")["features"].clone();
        targets
            .as_array()
            .unwrap()
            .iter()
            .any(|feature| feature["properties"]["verified_owner"] == true)
    };
    city.options.knowledge = None;
    on_day(&mut city, 2).await;
    assert!(is_verified(&city));
    city.options.knowledge = Some(Knowledge::default());
    on_day(&mut city, 3).await;
    assert!(!is_verified(&city));
}

#[tokio::test]
async fn what_cannot_be_cited_is_not_heard_and_no_clock_but_this_one_counts() {
    let mut city = City::open().await;
    on_day(&mut city, 0).await;
    say(&mut city, EvidenceKind::SourceRetracted, 1).url = "https://jo@paper.example/".to_owned();
    assert_eq!(on_day(&mut city, 1).await, ["verified"]);
    say(&mut city, EvidenceKind::SourceRetracted, 9).publisher = " ".to_owned();
    assert_eq!(on_day(&mut city, 2).await, ["disputed"]);
}

#[tokio::test]
async fn a_signal_that_was_not_valid_for_a_while_comes_back_with_its_history() {
    let mut city = City::open().await;
    assert_eq!(on_day(&mut city, 0).await, ["verified"]);
    let before = first(&city);
    // It has more sources than a record may have bytes.
    for number in 0..5_000 {
        say(&mut city, EvidenceKind::Supports, 1).id = format!("evidence-{number}");
    }
    for day in 1..3 {
        assert_eq!(on_day(&mut city, day).await, Vec::<String>::new());
        let quarantined = not_published(city.folder.path()).unwrap().quarantined;
        assert!(quarantined.iter().any(|record| before["id"] == record.id), "{quarantined:?}");
    }
    city.knowledge().evidence.clear();
    assert_eq!(on_day(&mut city, 3).await, ["verified"]);
    let after = first(&city);
    for field in ["id", "detected_at", "maturity_history", "sources"] {
        assert_eq!(after[field], before[field], "{field}");
    }
}
