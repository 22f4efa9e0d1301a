//! Sessions over time: they expire, they search again by themselves, they report several new
//! candidates in one event, and a listing that is shown too often is ranked lower.

use crate::harness::time::HOUR;
use crate::harness::{
    Host,
    conversations::wait_until,
    matching::{
        Seeker, cofounder_listing, create_listing, expect_ok, host, operate, stored_state,
        strength_criterion, timer_names,
    },
};
use serde_json::{Value, json};

/// Creates a person who looks for one strength, and a session that has no candidate yet.
async fn create_waiting_session<'a>(host: &'a Host, wished: &str) -> (Seeker<'a>, String) {
    let seeker =
        Seeker::with(host, "industry", json!({ "must": [strength_criterion(wished)] })).await;
    let session = seeker.session(json!({})).await;
    assert_eq!(seeker.get(&session).await["state"], "exhausted");
    (seeker, session)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_expires_at_its_time_and_not_before() {
    let host = host().await;
    for paused in [false, true] {
        let (ada, session) = create_waiting_session(&host, "design").await;
        if paused {
            ada.result("pause", json!({ "session_id": session })).await;
        }
        let before = ada.get(&session).await;
        let id = json!({ "session_id": session });
        assert_eq!(operate(&host, "expire", id.clone()).await.status, 200);
        assert_eq!(ada.get(&session).await, before, "a session does not expire early");
        host.reach(&session, "expires_at").await;
        ada.wait_for_state(&session, "expired").await;
        let view = ada.get(&session).await;
        assert_eq!((&view["reason"], &view["allowed_actions"]), (&json!("expired"), &json!([])));
        assert_eq!(ada.wait_for_event_types(&session, 1).await, ["match.session_closed"]);
        let (_, data) = ada.session_events(&session).await.remove(0);
        assert_eq!(
            (&data["reason"], &data["actor"]["kind"]),
            (&json!("expired"), &json!("system"))
        );
        for action in ["refine", "pause", "resume", "close"] {
            let mut body = id.clone();
            if action == "refine" {
                body["patch"] = json!({});
            }
            ada.call(action, body).await.assert_refused(409, "invalid_transition");
        }
        assert_eq!(operate(&host, "expire", id).await.status, 200);
        assert_eq!(ada.wait_for_event_types(&session, 1).await.len(), 1, "the end sends one event");
        for _ in 0..3 {
            ada.session(json!({})).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_new_candidate_is_reported_at_once_and_later_ones_in_a_summary() {
    let host = host().await;
    let (ada, session) = create_waiting_session(&host, "sales").await;
    let publish = async |strength: &str| Seeker::new(&host, strength, "industry").await;
    let first = publish("sales").await;
    assert_eq!(ada.wait_for_event_types(&session, 1).await, ["match.updated"]);
    let event_data = async |number: usize| ada.session_events(&session).await.remove(number).1;
    let news = |data: &Value| (data["new_count"].clone(), data["removed_count"].clone());
    let data = event_data(0).await;
    assert_eq!(news(&data), (json!(1), json!(0)), "{data:#}");
    let best = ada.candidates(&session).await[0]["score"].clone();
    assert_eq!(data["top_score"], best, "{data:#}");
    let id = json!({ "session_id": session });
    assert_eq!(operate(&host, "tell", id.clone()).await.status, 200);

    // Within ten minutes, two listings that fit are published and one is paused.
    let is_tell = |timer: &String| timer.starts_with("tell/");
    for _ in 0..2 {
        publish("sales").await;
    }
    expect_ok(&first.lister.call_on("pause", &first.listing_id).await);
    let counted = async |name: &str| {
        let sql = format!(
            "SELECT json_extract(body, '$.news.{name}') || '' FROM documents WHERE id = '{session}'"
        );
        host.database().texts(&sql).await.remove(0)
    };
    wait_until("all is counted", async || {
        (counted("new").await, counted("removed").await) == ("2".into(), "1".into())
    })
    .await;
    // A session whose batch is empty searches for the next one by itself, and sets the timer again.
    wait_until("the next ones are shown", async || {
        let new = ada.new_listings(&session).await;
        !new.is_empty() && !new.contains(&first.listing_id)
    })
    .await;
    assert!(timer_names(&host, &session).await.iter().any(is_tell));
    assert_eq!(operate(&host, "tell", id.clone()).await.status, 200);
    assert_eq!(
        ada.wait_for_event_types(&session, 1).await.len(),
        1,
        "the next event is not sent early"
    );
    host.reach_timer(&format!("tell/%/{session}")).await;
    assert_eq!(ada.wait_for_event_types(&session, 2).await, ["match.updated", "match.updated"]);
    let data = event_data(1).await;
    assert_eq!(news(&data), (json!(2), json!(1)), "{data:#}");
    // Nothing new is left to report.
    host.advance(HOUR).await;
    assert_eq!(operate(&host, "tell", id).await.status, 200);
    assert_eq!(ada.wait_for_event_types(&session, 2).await.len(), 2);
}

/// A session stops listening after the first new listing, so that its document is written only a
/// few times however many are published; all are found later.
#[tokio::test(flavor = "multi_thread")]
async fn every_one_of_many_new_candidates_is_reported_and_shown() {
    let host = host().await;
    let ada =
        Seeker::with(&host, "industry", json!({ "must": [strength_criterion("finance")] })).await;
    let session = ada.session(json!({ "batch_size": 2 })).await;
    let brings = async || Seeker::new(&host, "finance", "industry").await;
    let mut all = vec![brings().await.listing_id];
    ada.wait_for_state(&session, "ready").await;
    assert_eq!(ada.wait_for_event_types(&session, 1).await, ["match.updated"]);
    for _ in 0..12 {
        all.push(brings().await.listing_id);
    }
    let watches = format!(
        "SELECT json_extract(body, '$.watch[0]') FROM documents WHERE id = '{session}' AND json_extract(body, '$.watch[0]') IS NOT NULL"
    );
    let listens = async || !host.database().texts(&watches).await.is_empty();
    wait_until("the session stops listening", async || !listens().await).await;
    host.reach_timer(&format!("tell/%/{session}")).await;
    assert_eq!(ada.wait_for_event_types(&session, 2).await.len(), 2);
    let (_, data) = ada.session_events(&session).await.remove(1);
    assert_eq!(data["new_count"], 12, "{data:#}");
    assert!(listens().await, "the session listens for new listings again");
    let mut shown = Vec::new();
    while let [next, ..] = ada.new_listings(&session).await.as_slice() {
        expect_ok(&ada.decide(&session, next, "pass").await);
        shown.push(next.clone());
    }
    all.sort();
    shown.sort();
    assert_eq!(shown, all, "each once");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_batch_is_shown_when_every_candidate_of_the_last_has_left() {
    let host = host().await;
    for reason in ["pause", "update", "unlist", "block"] {
        let (wished, other) = ("marketing", "operations");
        let (mut there, mut listings) = (Vec::new(), Vec::new());
        for _ in 0..2 {
            let seeker = Seeker::new(&host, wished, "industry").await;
            listings.push(seeker.listing_id.clone());
            there.push(seeker);
        }
        let ada =
            Seeker::with(&host, "industry", json!({ "must": [strength_criterion(wished)] })).await;
        let session = ada.session(json!({ "batch_size": 1 })).await;
        for _ in 0..2 {
            let batch = ada.new_listings(&session).await;
            assert_eq!(batch.len(), 1, "{reason}");
            let at = there.iter().position(|seeker| seeker.listing_id == batch[0]).unwrap();
            let gone = there.remove(at);
            match reason {
                "pause" => drop(expect_ok(&gone.lister.call_on("pause", &gone.listing_id).await)),
                "block" => gone.lister.relate("block", &ada.lister).await,
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
            wait_until("the next one comes", async || ada.new_listings(&session).await == left)
                .await;
        }
        ada.wait_for_state(&session, "exhausted").await;
        // Their listings must not become candidates of the next sessions.
        for seeker in there.iter().chain([&ada]) {
            expect_ok(&seeker.lister.call_on("withdraw", &seeker.listing_id).await);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_batch_is_shown_when_both_candidates_leave_at_once() {
    let host = host().await;
    for _ in 0..3 {
        let mut there = Vec::new();
        for _ in 0..3 {
            there.push(Seeker::new(&host, "finance", "industry").await);
        }
        let ada =
            Seeker::with(&host, "industry", json!({ "must": [strength_criterion("finance")] }))
                .await;
        let session = ada.session(json!({ "batch_size": 2 })).await;
        let batch = ada.new_listings(&session).await;
        let (gone, left): (Vec<_>, Vec<_>) =
            there.iter().partition(|seeker| batch.contains(&seeker.listing_id));
        let ([one, other], [left]) = (gone.as_slice(), left.as_slice()) else { panic!() };
        tokio::join!(
            one.lister.relate("block", &ada.lister),
            other.lister.relate("block", &ada.lister)
        );
        let expected = [left.listing_id.clone()];
        wait_until("the next one comes", async || ada.new_listings(&session).await == expected)
            .await;
        for seeker in there.iter().chain([&ada]) {
            expect_ok(&seeker.lister.call_on("withdraw", &seeker.listing_id).await);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_that_was_cut_off_is_continued_later() {
    let host = host().await;
    let bo = Seeker::new(&host, "science", "industry").await;
    let cy = Seeker::new(&host, "science", "industry").await;
    let ada =
        Seeker::with(&host, "industry", json!({ "must": [strength_criterion("science")] })).await;
    for other in [&bo, &cy] {
        ada.lister.relate("block", &other.lister).await;
    }
    let session = ada.session(json!({})).await;
    for other in [&bo, &cy] {
        ada.lister.relate("unblock", &other.lister).await;
    }
    let id = json!({ "session_id": session });
    assert_eq!(operate(&host, "look", id.clone()).await.status, 200);
    assert_eq!(
        ada.get(&session).await["state"],
        "exhausted",
        "the session has searched all listings"
    );
    // The session is changed as if there were more listings than one call can search.
    let sql = format!(
        "UPDATE documents SET body = json_set(body, '$.looked', json('false')) WHERE id = '{session}' AND json_extract(body, '$.looked')"
    );
    assert_eq!(host.database().execute(&sql).await, 1);
    assert_eq!(operate(&host, "look", id.clone()).await.status, 200);
    assert_eq!(ada.get(&session).await["state"], "ready");
    assert_eq!(ada.new_listings(&session).await.len(), 2);
    assert_eq!(ada.wait_for_event_types(&session, 1).await, ["match.updated"]);
    let (_, data) = ada.session_events(&session).await.remove(0);
    assert_eq!(data["new_count"], 2, "{data:#}");
    assert_eq!(operate(&host, "look", id).await.status, 200);
    assert_eq!(
        ada.wait_for_event_types(&session, 1).await.len(),
        1,
        "new candidates are reported once"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_or_closed_session_gets_no_candidates_or_events() {
    let host = host().await;
    let (paused_seeker, paused_session) = create_waiting_session(&host, "sales").await;
    let (closing_seeker, closed_session) = create_waiting_session(&host, "sales").await;
    let (active_seeker, active_session) = create_waiting_session(&host, "sales").await;
    paused_seeker.result("pause", json!({ "session_id": paused_session })).await;
    closing_seeker.result("close", json!({ "session_id": closed_session })).await;
    assert_eq!(timer_names(&host, &closed_session).await, Vec::<String>::new());
    let fits = Seeker::new(&host, "sales", "industry").await;
    // The active session has its event, so the other two would have theirs by now.
    assert_eq!(active_seeker.wait_for_event_types(&active_session, 1).await, ["match.updated"]);
    for action in ["look", "tell"] {
        for session in [&paused_session, &closed_session] {
            let id = json!({ "session_id": session });
            assert_eq!(operate(&host, action, id).await.status, 200);
        }
    }
    assert_eq!(paused_seeker.session_events(&paused_session).await.len(), 0);
    assert_eq!(
        closing_seeker.wait_for_event_types(&closed_session, 1).await,
        ["match.session_closed"]
    );
    for (seeker, session, state) in
        [(&paused_seeker, &paused_session, "paused"), (&closing_seeker, &closed_session, "closed")]
    {
        assert_eq!(stored_state(&host, session).await, state);
        assert!(seeker.candidates(session).await.is_empty());
    }
    // A resumed session finds what was published meanwhile, and reports what is published later.
    let resumed = paused_seeker.result("resume", json!({ "session_id": paused_session })).await;
    assert_eq!((&resumed["state"], &resumed["progress"]["new"]), (&json!("ready"), &json!(1)));
    assert_eq!(paused_seeker.new_listings(&paused_session).await, [fits.listing_id.as_str()]);
    Seeker::new(&host, "sales", "industry").await;
    assert_eq!(paused_seeker.wait_for_event_types(&paused_session, 1).await, ["match.updated"]);
}

/// How often a listing may be shown in a day before it is ranked lower, by the
/// decision record on matching.
const SHOWN_A_DAY: usize = 50;

#[tokio::test(flavor = "multi_thread")]
async fn a_listing_shown_often_without_a_decision_is_ranked_lower() {
    let host = host().await;
    // A listing has three sessions at most, so the person publishes as many listings as this needs.
    let crowd =
        Seeker::with(&host, "industry", json!({ "must": [strength_criterion("design")] })).await;
    let popular = Seeker::new(&host, "design", "industry").await;
    let mut shown = Vec::new();
    let mut listing_id = crowd.listing_id.clone();
    for number in 0..SHOWN_A_DAY {
        if number > 0 && number % 3 == 0 {
            let listing =
                cofounder_listing("industry", json!({ "must": [strength_criterion("design")] }));
            listing_id = create_listing(&crowd.lister, listing).await;
        }
        let session = crowd.result("create", json!({ "listing_id": listing_id })).await;
        let session = session["session_id"].as_str().unwrap().to_owned();
        assert_eq!(crowd.new_listings(&session).await, [popular.listing_id.as_str()]);
        shown.push(session);
    }
    let other = Seeker::new(&host, "finance", "industry").await;
    let wishes = json!({ "want": [strength_criterion("design")] });
    let ada = Seeker::with(&host, "industry", wishes).await;
    let first = async || {
        let session = ada.session(json!({ "batch_size": 1 })).await;
        (ada.new_listings(&session).await, session)
    };
    let (batch, session) = first().await;
    assert_eq!(batch, [other.listing_id.as_str()], "although the popular listing fits better");
    expect_ok(&ada.decide(&session, &other.listing_id, "later").await);
    assert_eq!(ada.new_listings(&session).await, [popular.listing_id.as_str()], "shown later");
    ada.result("close", json!({ "session_id": session })).await;
    // Two decisions make room: the session that has just shown the listing counts too.
    for session in &shown[..2] {
        expect_ok(&crowd.decide(session, &popular.listing_id, "later").await);
    }
    assert_eq!(first().await.0, [popular.listing_id.as_str()]);
}
