//! Sessions over time: they expire, they search again by themselves, they report several new
//! candidates in one event, and a listing that is shown too often is ranked lower.

use crate::harness::time::HOUR;
use crate::harness::{
    Host,
    conversations::until,
    matching::{Seeker, host, kept, ok, operate, publishes, search, timers, wish},
};
use serde_json::{Value, json};

/// Creates a person who looks for one strength, and a session that has no candidate yet.
async fn waits<'a>(host: &'a Host, wished: &str) -> (Seeker<'a>, String) {
    let seeker = Seeker::with(host, "industry", json!({ "must": [wish(wished)] })).await;
    let session = seeker.session(json!({})).await;
    assert_eq!(seeker.gets(&session).await["state"], "exhausted");
    (seeker, session)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_expires_at_its_time_and_not_before() {
    let host = host().await;
    for paused in [false, true] {
        let (ada, session) = waits(&host, "design").await;
        if paused {
            ada.result("pause", json!({ "session_id": session })).await;
        }
        let before = ada.gets(&session).await;
        let id = json!({ "session_id": session });
        assert_eq!(operate(&host, "expire", id.clone()).await.status, 200);
        assert_eq!(ada.gets(&session).await, before, "a session does not expire early");
        host.reach(&session, "expires_at").await;
        ada.until(&session, "expired").await;
        let view = ada.gets(&session).await;
        assert_eq!((&view["reason"], &view["allowed_actions"]), (&json!("expired"), &json!([])));
        assert_eq!(ada.heard_types(&session, 1).await, ["match.session_closed"]);
        let (_, data) = ada.heard(&session).await.remove(0);
        assert_eq!(
            (&data["reason"], &data["actor"]["kind"]),
            (&json!("expired"), &json!("system"))
        );
        for action in ["refine", "pause", "resume", "close"] {
            let mut body = id.clone();
            if action == "refine" {
                body["patch"] = json!({});
            }
            ada.call(action, body).await.refused(409, "invalid_transition");
        }
        assert_eq!(operate(&host, "expire", id).await.status, 200);
        assert_eq!(ada.heard_types(&session, 1).await.len(), 1, "the end sends one event");
        for _ in 0..3 {
            ada.session(json!({})).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_new_candidate_is_reported_at_once_and_later_ones_in_a_summary() {
    let host = host().await;
    let (ada, session) = waits(&host, "sales").await;
    let brings = async |strength: &str| Seeker::new(&host, strength, "industry").await;
    let first = brings("sales").await;
    assert_eq!(ada.heard_types(&session, 1).await, ["match.updated"]);
    let told = async |number: usize| ada.heard(&session).await.remove(number).1;
    let news = |data: &Value| (data["new_count"].clone(), data["removed_count"].clone());
    let data = told(0).await;
    assert_eq!(news(&data), (json!(1), json!(0)), "{data:#}");
    let best = ada.candidates(&session).await[0]["score"].clone();
    assert_eq!(data["top_score"], best, "{data:#}");
    let id = json!({ "session_id": session });
    assert_eq!(operate(&host, "tell", id.clone()).await.status, 200);

    // Within ten minutes, two listings that fit are published and one is paused.
    let name = format!("tell/{session}");
    for _ in 0..2 {
        brings("sales").await;
    }
    ok(&first.lister.does("pause", &first.listing_id).await);
    let counted = async |name: &str| {
        let sql = format!(
            "SELECT json_extract(body, '$.news.{name}') || '' FROM documents WHERE id = '{session}'"
        );
        host.database().texts(&sql).await.remove(0)
    };
    until("all is counted", async || {
        (counted("new").await, counted("removed").await) == ("2".into(), "1".into())
    })
    .await;
    // A session whose batch is empty searches for the next one by itself, and sets the timer again.
    until("the next ones are shown", async || {
        let new = ada.new_listings(&session).await;
        !new.is_empty() && !new.contains(&first.listing_id)
    })
    .await;
    assert!(timers(&host, &session).await.iter().any(|timer| timer.ends_with(&name)));
    assert_eq!(operate(&host, "tell", id.clone()).await.status, 200);
    assert_eq!(ada.heard_types(&session, 1).await.len(), 1, "the next event is not sent early");
    host.reach_timer(&name).await;
    assert_eq!(ada.heard_types(&session, 2).await, ["match.updated", "match.updated"]);
    let data = told(1).await;
    assert_eq!(news(&data), (json!(2), json!(1)), "{data:#}");
    // Nothing new is left to report.
    host.advance(HOUR).await;
    assert_eq!(operate(&host, "tell", id).await.status, 200);
    assert_eq!(ada.heard_types(&session, 2).await.len(), 2);
}

/// A session stops listening after the first new listing, so that its document is written only a
/// few times however many are published; all are found later.
#[tokio::test(flavor = "multi_thread")]
async fn every_one_of_many_new_candidates_is_reported_and_shown() {
    let host = host().await;
    let ada = Seeker::with(&host, "industry", json!({ "must": [wish("finance")] })).await;
    let session = ada.session(json!({ "batch_size": 2 })).await;
    let brings = async || Seeker::new(&host, "finance", "industry").await;
    let mut all = vec![brings().await.listing_id];
    ada.until(&session, "ready").await;
    assert_eq!(ada.heard_types(&session, 1).await, ["match.updated"]);
    for _ in 0..12 {
        all.push(brings().await.listing_id);
    }
    let watches = format!(
        "SELECT json_extract(body, '$.watch[0]') FROM documents WHERE id = '{session}' AND json_extract(body, '$.watch[0]') IS NOT NULL"
    );
    let listens = async || !host.database().texts(&watches).await.is_empty();
    until("the session stops listening", async || !listens().await).await;
    host.reach_timer(&format!("tell/{session}")).await;
    assert_eq!(ada.heard_types(&session, 2).await.len(), 2);
    let (_, data) = ada.heard(&session).await.remove(1);
    assert_eq!(data["new_count"], 12, "{data:#}");
    assert!(listens().await, "the session listens for new listings again");
    let mut shown = Vec::new();
    while let [next, ..] = ada.new_listings(&session).await.as_slice() {
        ok(&ada.decides(&session, next, "pass").await);
        shown.push(next.clone());
    }
    all.sort();
    shown.sort();
    assert_eq!(shown, all, "each once");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_batch_comes_when_every_candidate_of_the_last_has_left() {
    let host = host().await;
    for reason in ["pause", "update", "unlist", "block"] {
        let (wished, other) = ("marketing", "operations");
        let (mut there, mut listings) = (Vec::new(), Vec::new());
        for _ in 0..2 {
            let seeker = Seeker::new(&host, wished, "industry").await;
            listings.push(seeker.listing_id.clone());
            there.push(seeker);
        }
        let ada = Seeker::with(&host, "industry", json!({ "must": [wish(wished)] })).await;
        let session = ada.session(json!({ "batch_size": 1 })).await;
        for _ in 0..2 {
            let batch = ada.new_listings(&session).await;
            assert_eq!(batch.len(), 1, "{reason}");
            let at = there.iter().position(|seeker| seeker.listing_id == batch[0]).unwrap();
            let gone = there.remove(at);
            match reason {
                "pause" => drop(ok(&gone.lister.does("pause", &gone.listing_id).await)),
                "block" => gone.lister.ties("block", &ada.lister).await,
                _ => {
                    let patch = match reason {
                        "update" => json!({ "attributes": { "strengths": [other] } }),
                        _ => json!({ "visibility": "unlisted" }),
                    };
                    let update = json!({ "listing_id": gone.listing_id, "patch": patch });
                    gone.lister.result("update", update).await;
                }
            }
            let left: Vec<_> = there.iter().map(|seeker| seeker.listing_id.clone()).collect();
            until("the next one comes", async || ada.new_listings(&session).await == left).await;
        }
        ada.until(&session, "exhausted").await;
        // Their listings must not become candidates of the next sessions.
        for seeker in there.iter().chain([&ada]) {
            ok(&seeker.lister.does("withdraw", &seeker.listing_id).await);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_batch_comes_when_both_candidates_leave_at_once() {
    let host = host().await;
    for _ in 0..3 {
        let mut there = Vec::new();
        for _ in 0..3 {
            there.push(Seeker::new(&host, "finance", "industry").await);
        }
        let ada = Seeker::with(&host, "industry", json!({ "must": [wish("finance")] })).await;
        let session = ada.session(json!({ "batch_size": 2 })).await;
        let batch = ada.new_listings(&session).await;
        let (gone, left): (Vec<_>, Vec<_>) =
            there.iter().partition(|seeker| batch.contains(&seeker.listing_id));
        let ([one, other], [left]) = (gone.as_slice(), left.as_slice()) else { panic!() };
        tokio::join!(
            one.lister.ties("block", &ada.lister),
            other.lister.ties("block", &ada.lister)
        );
        let expected = [left.listing_id.clone()];
        until("the next one comes", async || ada.new_listings(&session).await == expected).await;
        for seeker in there.iter().chain([&ada]) {
            ok(&seeker.lister.does("withdraw", &seeker.listing_id).await);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_that_was_cut_off_is_continued_later() {
    let host = host().await;
    let bo = Seeker::new(&host, "science", "industry").await;
    let cy = Seeker::new(&host, "science", "industry").await;
    let ada = Seeker::with(&host, "industry", json!({ "must": [wish("science")] })).await;
    for other in [&bo, &cy] {
        ada.lister.ties("block", &other.lister).await;
    }
    let session = ada.session(json!({})).await;
    for other in [&bo, &cy] {
        ada.lister.ties("unblock", &other.lister).await;
    }
    let id = json!({ "session_id": session });
    assert_eq!(operate(&host, "look", id.clone()).await.status, 200);
    assert_eq!(
        ada.gets(&session).await["state"],
        "exhausted",
        "the session has searched all listings"
    );
    // The session is changed as if there were more listings than one call can search.
    let sql = format!(
        "UPDATE documents SET body = json_set(body, '$.looked', json('false')) WHERE id = '{session}' AND json_extract(body, '$.looked')"
    );
    assert_eq!(host.database().execute(&sql).await, 1);
    assert_eq!(operate(&host, "look", id.clone()).await.status, 200);
    assert_eq!(ada.gets(&session).await["state"], "ready");
    assert_eq!(ada.new_listings(&session).await.len(), 2);
    assert_eq!(ada.heard_types(&session, 1).await, ["match.updated"]);
    let (_, data) = ada.heard(&session).await.remove(0);
    assert_eq!(data["new_count"], 2, "{data:#}");
    assert_eq!(operate(&host, "look", id).await.status, 200);
    assert_eq!(ada.heard_types(&session, 1).await.len(), 1, "new candidates are reported once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_or_closed_session_gets_no_candidates_or_events() {
    let host = host().await;
    let (resting, rests) = waits(&host, "sales").await;
    let (closing, closed) = waits(&host, "sales").await;
    let (looking, looks) = waits(&host, "sales").await;
    resting.result("pause", json!({ "session_id": rests })).await;
    closing.result("close", json!({ "session_id": closed })).await;
    assert_eq!(timers(&host, &closed).await, Vec::<String>::new());
    let fits = Seeker::new(&host, "sales", "industry").await;
    // The active session has its event, so the other two would have theirs by now.
    assert_eq!(looking.heard_types(&looks, 1).await, ["match.updated"]);
    for action in ["look", "tell"] {
        for session in [&rests, &closed] {
            let id = json!({ "session_id": session });
            assert_eq!(operate(&host, action, id).await.status, 200);
        }
    }
    assert_eq!(resting.heard(&rests).await.len(), 0);
    assert_eq!(closing.heard_types(&closed, 1).await, ["match.session_closed"]);
    for (seeker, session, state) in [(&resting, &rests, "paused"), (&closing, &closed, "closed")] {
        assert_eq!(kept(&host, session).await, state);
        assert!(seeker.candidates(session).await.is_empty());
    }
    // A resumed session finds what was published meanwhile, and reports what is published later.
    let resumed = resting.result("resume", json!({ "session_id": rests })).await;
    assert_eq!((&resumed["state"], &resumed["progress"]["new"]), (&json!("ready"), &json!(1)));
    assert_eq!(resting.new_listings(&rests).await, [fits.listing_id.as_str()]);
    Seeker::new(&host, "sales", "industry").await;
    assert_eq!(resting.heard_types(&rests, 1).await, ["match.updated"]);
}

/// How often a listing may be shown in a day before it is ranked lower, by the
/// decision record on matching.
const SHOWN_A_DAY: usize = 50;

#[tokio::test(flavor = "multi_thread")]
async fn a_listing_shown_often_without_a_decision_is_ranked_lower() {
    let host = host().await;
    // A listing has three sessions at most, so the person publishes as many listings as this needs.
    let crowd = Seeker::with(&host, "industry", json!({ "must": [wish("design")] })).await;
    let popular = Seeker::new(&host, "design", "industry").await;
    let mut shown = Vec::new();
    let mut listing_id = crowd.listing_id.clone();
    for number in 0..SHOWN_A_DAY {
        if number > 0 && number % 3 == 0 {
            let listing = search("industry", json!({ "must": [wish("design")] }));
            listing_id = publishes(&crowd.lister, listing).await;
        }
        let session = crowd.result("create", json!({ "listing_id": listing_id })).await;
        let session = session["session_id"].as_str().unwrap().to_owned();
        assert_eq!(crowd.new_listings(&session).await, [popular.listing_id.as_str()]);
        shown.push(session);
    }
    let other = Seeker::new(&host, "finance", "industry").await;
    let wishes = json!({ "want": [wish("design")] });
    let ada = Seeker::with(&host, "industry", wishes).await;
    let first = async || {
        let session = ada.session(json!({ "batch_size": 1 })).await;
        (ada.new_listings(&session).await, session)
    };
    let (batch, session) = first().await;
    assert_eq!(batch, [other.listing_id.as_str()], "although the popular listing fits better");
    ok(&ada.decides(&session, &other.listing_id, "later").await);
    assert_eq!(ada.new_listings(&session).await, [popular.listing_id.as_str()], "shown later");
    ada.result("close", json!({ "session_id": session })).await;
    // Two decisions make room: the session that has just shown the listing counts too.
    for session in &shown[..2] {
        ok(&crowd.decides(session, &popular.listing_id, "later").await);
    }
    assert_eq!(first().await.0, [popular.listing_id.as_str()]);
}
