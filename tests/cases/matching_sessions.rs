//! Matching: which candidates are found, in which order, and what each side sees and when.

use crate::harness::{
    credits::wait_until,
    matching::{Seeker, cofounder_listing, create_listing, expect_ok, host, strength_criterion},
};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn candidates_fit_from_both_sides_and_the_best_come_first() {
    let host = host().await;
    let ada = Seeker::new(&host, "engineering", "sales").await;
    let wished = Seeker::new(&host, "sales", "engineering").await;
    let one_sided = Seeker::new(&host, "sales", "finance").await;
    let must_not = json!({ "must": [strength_criterion("design")] });
    let never = Seeker::with(&host, "sales", must_not).await;
    let session = ada.session(json!({})).await;
    let found = ada.candidates(&session).await;
    let ids: Vec<_> =
        found.iter().map(|candidate| candidate["listing_card"]["listing_id"].as_str()).collect();
    let expected = [&wished, &one_sided].map(|seeker| Some(seeker.listing_id.as_str()));
    assert_eq!(ids, expected, "{found:#?}");
    assert!(!ids.contains(&Some(never.listing_id.as_str())));
    let reason = |asked_by: &str| json!({ "field": "strengths", "asked_by": asked_by });
    let reasons = |candidate: &Value, name: &str| candidate[name].as_array().unwrap().clone();
    assert!(reasons(&found[0], "reasons").contains(&reason("mine")), "{found:#?}");
    assert!(reasons(&found[0], "reasons").contains(&reason("theirs")), "{found:#?}");
    let is_gap = |line: &Value| {
        line["field"] == "strengths" && line["asked_by"] == "theirs" && line["share"] == 0.0
    };
    assert!(reasons(&found[1], "gaps").iter().any(is_gap), "{found:#?}");
    assert_eq!(found[0]["listing_card"]["trust"], "untrusted_user_content");
    for name in ["score", "score_mine", "score_theirs"] {
        let score = found[0][name].as_f64().unwrap();
        assert!(score > 0.0 && score <= 1.0, "{name} {score}");
    }
    let back = wished.session(json!({})).await;
    let theirs = wished.candidates(&back).await;
    let ours = theirs
        .iter()
        .find(|candidate| candidate["listing_card"]["listing_id"] == ada.listing_id)
        .unwrap();
    assert_eq!(ours["score"], found[0]["score"], "the same from both sides");
    assert_eq!(ours["score_mine"], found[0]["score_theirs"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn interest_is_disclosed_only_when_it_is_mutual() {
    let host = host().await;
    let ada = Seeker::new(&host, "engineering", "sales").await;
    let bo = Seeker::new(&host, "sales", "engineering").await;
    let (mine, theirs) = (ada.session(json!({})).await, bo.session(json!({})).await);
    let before =
        (bo.candidates(&theirs).await, bo.result("get", json!({ "session_id": theirs })).await);
    let one_sided = expect_ok(&ada.decide(&mine, &bo.listing_id, "interested").await);
    assert_eq!((&one_sided["state"], &one_sided["mutual"]), (&json!("interested"), &json!(false)));
    let after =
        (bo.candidates(&theirs).await, bo.result("get", json!({ "session_id": theirs })).await);
    assert_eq!(before, after, "one-sided interest is not visible to the other person");

    let both = bo.decide(&theirs, &ada.listing_id, "interested").await;
    let result = expect_ok(&both);
    assert_eq!(
        (&result["state"], &result["mutual"]),
        (&json!("mutual"), &json!(true)),
        "{result:#}"
    );
    let thread_id = result["thread_id"].as_str().unwrap();
    for (person, session) in [(&ada, &mine), (&bo, &theirs)] {
        let events = person.lister.receive_events("match.mutual", 1).await;
        let data = &events[0]["data"];
        assert_eq!((&data["session_id"], &data["thread_id"]), (&json!(session), &json!(thread_id)));
        assert_eq!(data["pairing_id"], result["pairing_id"], "{data:#}");
        let connected = person.lister.receive_events("pairing.connected", 1).await;
        assert_eq!(connected[0]["data"]["resource"]["id"], result["pairing_id"]);
        let candidates = person.candidates(session).await;
        assert_eq!(candidates[0]["state"], "mutual", "{candidates:#?}");
    }
    let next = &both.body["next"];
    let capability = next["capability"].as_str().unwrap();
    let messages = bo.lister.agent().result(capability, next["input"].clone()).await;
    assert_eq!(messages["items"], json!([]), "{messages:#}");
    // A person with whom a pairing is open is no candidate in a new session.
    ada.result("close", json!({ "session_id": mine })).await;
    let again = ada.session(json!({})).await;
    assert!(ada.candidates(&again).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pairing_declined_recently_is_not_connected_and_not_disclosed() {
    let host = host().await;
    let ada = Seeker::new(&host, "engineering", "sales").await;
    let bo = Seeker::new(&host, "sales", "engineering").await;
    let (mine, theirs) = (ada.session(json!({})).await, bo.session(json!({})).await);
    expect_ok(&ada.decide(&mine, &bo.listing_id, "interested").await);
    let propose = json!({
        "action": "propose", "from_listing_id": ada.listing_id, "to_listing_id": bo.listing_id,
        "message": "Shall we talk?",
    });
    let pairing = ada.lister.agent().result("pairings", propose).await;
    let pairing_id = &pairing["pairing_id"];
    let decline = json!({ "action": "reply", "pairing_id": pairing_id, "decision": "decline" });
    bo.lister.agent().result("pairings", decline).await;
    let decided = expect_ok(&bo.decide(&theirs, &ada.listing_id, "interested").await);
    let outcome = (&decided["state"], &decided["mutual"]);
    assert_eq!(outcome, (&json!("interested"), &json!(false)), "{decided:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn simultaneous_decisions_are_reported_to_both_people() {
    let host = host().await;
    let ada = Seeker::new(&host, "engineering", "sales").await;
    let bo = Seeker::new(&host, "sales", "engineering").await;
    let (mine, theirs) = (ada.session(json!({})).await, bo.session(json!({})).await);
    let (one, other) = tokio::join!(
        ada.decide(&mine, &bo.listing_id, "interested"),
        bo.decide(&theirs, &ada.listing_id, "interested"),
    );
    let mutual = [one, other].iter().filter(|reply| expect_ok(reply)["mutual"] == true).count();
    assert_eq!(mutual, 1, "the second decision says that the interest is mutual");
    for person in [&ada, &bo] {
        person.lister.receive_events("match.mutual", 1).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_listing_reaches_the_sessions_that_it_fits() {
    let host = host().await;
    let ada =
        Seeker::with(&host, "engineering", json!({ "must": [strength_criterion("sales")] })).await;
    let session = ada.session(json!({})).await;
    let view = ada.result("get", json!({ "session_id": session })).await;
    assert_eq!(view["state"], "exhausted", "{view:#}");
    let other = Seeker::new(&host, "design", "engineering").await;
    let fits = Seeker::new(&host, "sales", "engineering").await;
    let events = ada.lister.receive_events("match.updated", 1).await;
    assert_eq!(events[0]["data"]["new_count"], 1, "{events:#?}");
    assert_eq!(ada.new_listings(&session).await, [fits.listing_id.as_str()]);
    let view = ada.result("get", json!({ "session_id": session })).await;
    assert_eq!((&view["state"], &view["progress"]["new"]), (&json!("ready"), &json!(1)));

    // A listing that is changed so that it fits becomes a candidate, and one that is paused is
    // unavailable.
    let patch = json!({
        "listing_id": other.listing_id, "patch": { "attributes": { "strengths": ["sales"] } },
    });
    other.lister.result("update", patch).await;
    expect_ok(&fits.lister.call_on("pause", &fits.listing_id).await);
    // The next candidate is shown when no other one waits for a decision.
    wait_until(async || ada.new_listings(&session).await == [other.listing_id.as_str()]).await;
    let all = ada.candidates(&session).await;
    let gone = all.iter().find(|candidate| candidate["state"] == "unavailable").unwrap();
    assert_eq!((all.len(), &gone["listing_card"]), (2, &Value::Null), "{all:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decided_batch_brings_the_next_and_passed_listings_do_not_return() {
    let host = host().await;
    let ada = Seeker::new(&host, "engineering", "sales").await;
    let mut all = Vec::new();
    for _ in 0..5 {
        all.push(Seeker::new(&host, "sales", "engineering").await.listing_id);
    }
    let session = ada.session(json!({ "batch_size": 2 })).await;
    let mut seen = Vec::new();
    for round in 0..3 {
        let batch = ada.new_listings(&session).await;
        assert_eq!(batch.len(), if round < 2 { 2 } else { 1 });
        for listing in &batch {
            assert!(!seen.contains(listing), "{listing} came twice");
            expect_ok(&ada.decide(&session, listing, "pass").await);
        }
        seen.extend(batch);
    }
    let (mut expected, mut found) = (all, seen);
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    let view = ada.result("get", json!({ "session_id": session })).await;
    assert_eq!((&view["state"], &view["progress"]["passed"]), (&json!("exhausted"), &json!(5)));
    ada.result("close", json!({ "session_id": session })).await;
    let again = ada.session(json!({})).await;
    assert!(ada.candidates(&again).await.is_empty(), "passed candidates are not shown again soon");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_listings_are_in_the_same_order_every_time() {
    let host = host().await;
    let ada = Seeker::new(&host, "engineering", "sales").await;
    for strength in ["sales", "design", "sales", "finance"] {
        Seeker::new(&host, strength, "engineering").await;
    }
    let first = ada.session(json!({})).await;
    let preview = json!({ "listing_id": ada.listing_id });
    let (one, other) =
        (ada.result("preview", preview.clone()).await, ada.result("preview", preview).await);
    assert_eq!(one["items"].as_array().unwrap().len(), 4, "{one:#}");
    let names = |preview: &Value| {
        preview["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|candidate| candidate["reasons"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&one), names(&other));
    let text = one.to_string();
    for secret in ["lst_", "own_", "Brings"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    assert_eq!(ada.new_listings(&first).await, ada.new_listings(&first).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blocked_person_is_no_candidate_and_cannot_tell_why() {
    let host = host().await;
    let ada = Seeker::new(&host, "engineering", "sales").await;
    let bo = Seeker::new(&host, "sales", "engineering").await;
    let cy = Seeker::new(&host, "sales", "engineering").await;
    let (mine, theirs) = (ada.session(json!({})).await, bo.session(json!({})).await);
    let candidate = ada.candidates(&mine).await;
    bo.lister.relate("block", &ada.lister).await;
    expect_ok(&cy.lister.call_on("pause", &cy.listing_id).await);
    for id in candidate.iter().map(|candidate| &candidate["candidate_id"]) {
        let decide = json!({ "session_id": mine, "candidate_id": id, "decision": "interested" });
        let refused = ada.call("decide", decide).await;
        assert_eq!(refused.body["error_code"], "recipient_not_accepting", "{}", refused.text);
    }
    wait_until(async || {
        let all = ada.candidates(&mine).await;
        let bare =
            |candidate: &Value| (candidate["state"].clone(), candidate["listing_card"].clone());
        all.len() == 2 && bare(&all[0]) == bare(&all[1]) && all[0]["state"] == "unavailable"
    })
    .await;
    let back = bo.candidates(&theirs).await;
    assert!(
        back.iter().all(|candidate| candidate["listing_card"]["listing_id"] != ada.listing_id),
        "{back:#?}"
    );
    let again = ada.result("refine", json!({ "session_id": mine, "patch": {} })).await;
    assert_eq!(again["state"], "exhausted", "{again:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_end_with_their_listing_and_are_limited() {
    let host = host().await;
    let ada = Seeker::new(&host, "engineering", "sales").await;
    let mut sessions = Vec::new();
    for _ in 0..3 {
        sessions.push(ada.session(json!({})).await);
    }
    let listing = json!({ "listing_id": ada.listing_id });
    ada.call("create", listing.clone()).await.assert_refused(409, "session_limit_reached");
    let closed = ada.result("close", json!({ "session_id": sessions[0] })).await;
    assert_eq!((&closed["state"], &closed["reason"]), (&json!("closed"), &json!("closed")));
    ada.call("close", json!({ "session_id": sessions[0] }))
        .await
        .assert_refused(409, "invalid_transition");
    ada.result("pause", json!({ "session_id": sessions[1] })).await;
    expect_ok(&ada.lister.call_on("withdraw", &ada.listing_id).await);
    let events = ada.lister.receive_events("match.session_closed", 3).await;
    let reasons: Vec<_> =
        events.iter().map(|event| event["data"]["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["closed", "listing_inactive", "listing_inactive"]);
    ada.call("create", listing).await.assert_refused(409, "listing_not_active");
    let bo = Seeker::new(&host, "sales", "engineering").await;
    for action in ["get", "candidates", "close", "pause", "resume", "result"] {
        let foreign = bo.call(action, json!({ "session_id": sessions[2] })).await;
        foreign.assert_refused(404, "session_not_found");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn criteria_of_a_session_are_checked_as_a_listings_are() {
    let host = host().await;
    let ada = Seeker::new(&host, "engineering", "sales").await;
    Seeker::new(&host, "sales", "engineering").await;
    let unknown = json!({ "must": [{ "field": "height", "op": "gte", "value": 3 }] });
    let body = json!({ "listing_id": ada.listing_id, "criteria_override": unknown });
    let refused = ada.call("create", body).await;
    refused.assert_refused(400, "attributes_invalid");
    let pointer = &refused.body["conflict"]["errors"][0]["pointer"];
    assert_eq!(pointer, "/criteria_override/must/0/field", "{}", refused.text);
    let asks = json!({ "must": [strength_criterion("design")] });
    let session = ada.session(json!({ "criteria_override": asks })).await;
    assert!(ada.candidates(&session).await.is_empty());
    let patch = json!({ "criteria": { "must": [strength_criterion("sales")] } });
    let refined = ada.result("refine", json!({ "session_id": session, "patch": patch })).await;
    assert_eq!((&refined["state"], &refined["progress"]["new"]), (&json!("ready"), &json!(1)));
    let draft = json!({ "listing_draft": {
        "category": "venture.cofounder", "side": "demand",
        "attributes": { "strengths": ["nothing"], "seeking": ["sales"], "progress": "idea" },
    }});
    let refused = ada.call("preview", draft).await;
    refused.assert_refused(400, "attributes_invalid");
    let pointer = &refused.body["conflict"]["errors"][0]["pointer"];
    assert_eq!(pointer, "/listing_draft/attributes/strengths/0", "{}", refused.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_listing_of_the_same_person_is_never_a_candidate() {
    let host = host().await;
    let ada = Seeker::new(&host, "engineering", "sales").await;
    create_listing(&ada.lister, cofounder_listing("sales", json!({}))).await;
    let session = ada.session(json!({})).await;
    assert!(ada.candidates(&session).await.is_empty());
}
