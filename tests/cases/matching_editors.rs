//! Editors of a listing may change it, but only its owner may match with it.

use crate::harness::{
    Host,
    matching::{Seeker, expect_ok, host},
    rounds::{ONE_SIDE, TestRound},
};
use serde_json::{Value, json};

/// Creates Ada, Bo whose listing matches hers, and a third person without a matching listing.
async fn create_three_people(host: &Host) -> [Seeker<'_>; 3] {
    let ada = Seeker::new(host, "engineering", "sales").await;
    let bo = Seeker::new(host, "sales", "engineering").await;
    [ada, bo, Seeker::new(host, "design", "finance").await]
}

/// Grants a person the right to edit another person's listing.
async fn grant_editor(ada: &Seeker<'_>, eve: &Seeker<'_>) {
    let grant = json!({
        "action": "grant", "relation": "editor", "object": format!("listing:{}", ada.listing_id),
        "subject": format!("owner:{}", eve.lister.id),
    });
    ada.lister.agent().result("social_permissions", grant).await;
}

/// Changes a session's owner, as if an editor had created it with an earlier
/// version that allowed it.
async fn change_session_owner(host: &Host, session: &str, eve: &Seeker<'_>) {
    let owner_id = &eve.lister.id;
    let is_there = "json_extract(body, '$.owner_id') IS NOT NULL";
    let sql = format!(
        "UPDATE documents SET body = json_set(body, '$.owner_id', '{owner_id}') WHERE id = '{session}' AND {is_there}"
    );
    assert_eq!(host.database().execute(&sql).await, 1, "{session}");
}

async fn pairings(person: &Seeker<'_>) -> Value {
    let list = json!({ "action": "list" });
    person.lister.agent().result("pairings", list).await["items"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_editor_previews_candidates_and_cannot_start_a_session() {
    let host = host().await;
    let [ada, bo, eve] = create_three_people(&host).await;
    let private = json!({ "listing_id": ada.listing_id, "patch": { "visibility": "network" } });
    ada.lister.result("update", private).await;
    let listing = json!({ "listing_id": ada.listing_id });
    eve.call("preview", listing.clone()).await.assert_refused(404, "listing_not_found");
    grant_editor(&ada, &eve).await;
    let rewrites = json!({ "listing_id": ada.listing_id, "patch": { "title": "Rewritten" } });
    eve.lister.result("update", rewrites).await;
    let reply = eve.call("preview", listing.clone()).await;
    assert!(!expect_ok(&reply)["items"].as_array().unwrap().is_empty(), "{}", reply.text);
    let next = &reply.body["next"];
    let listed =
        eve.lister.agent().call(next["capability"].as_str().unwrap(), next["input"].clone());
    expect_ok(&listed.await);
    eve.call("create", listing.clone()).await.assert_refused(404, "listing_not_found");
    let next = ada.call("preview", listing).await.body["next"].clone();
    assert_eq!(next["input"]["action"], "create", "{next:#}");
    bo.session(json!({})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_for_somebody_elses_listing_connects_nobody() {
    let host = host().await;
    let [ada, bo, eve] = create_three_people(&host).await;
    grant_editor(&ada, &eve).await;
    let (early, late) = (ada.session(json!({})).await, ada.session(json!({})).await);
    let theirs = bo.session(json!({})).await;
    expect_ok(&ada.decide(&early, &bo.listing_id, "interested").await);
    for session in [&early, &late] {
        change_session_owner(&host, session, &eve).await;
    }
    // A decision in the editor's session does not count as the listing owner's interest.
    let decided = expect_ok(&bo.decide(&theirs, &ada.listing_id, "interested").await);
    assert_eq!((&decided["state"], &decided["mutual"]), (&json!("interested"), &json!(false)));
    for decision in ["interested", "pass", "later"] {
        let refused = eve.decide(&late, &bo.listing_id, decision).await;
        refused.assert_refused(404, "listing_not_found");
    }
    let session = json!({ "session_id": late });
    eve.call("refine", json!({ "session_id": late, "patch": {} }))
        .await
        .assert_refused(404, "listing_not_found");
    eve.result("close", session).await;
    for person in [&ada, &bo] {
        assert_eq!(pairings(person).await, json!([]));
    }
    // The owner's own decision counts.
    let mine = ada.session(json!({})).await;
    let both = expect_ok(&ada.decide(&mine, &bo.listing_id, "interested").await);
    assert_eq!(both["mutual"], true, "{both:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_round_only_the_listings_owner_ranks_and_confirms() {
    let host = host().await;
    let [ada, bo, eve] = create_three_people(&host).await;
    grant_editor(&ada, &eve).await;
    let round = TestRound::of(&host, ONE_SIDE, &[&ada, &bo]).await;
    let (mine, theirs) = (&round.participants[0].session, &round.participants[1].session);
    let candidate = ada.candidates(mine).await[0]["candidate_id"].clone();
    change_session_owner(&host, mine, &eve).await;
    let rank = json!({ "session_id": mine, "ordered_candidate_ids": [candidate] });
    eve.call("rank", rank).await.assert_refused(404, "listing_not_found");
    change_session_owner(&host, mine, &ada).await;
    round.run().await;
    expect_ok(&ada.confirm(mine, true).await);
    change_session_owner(&host, mine, &eve).await;
    for accept in [true, false] {
        eve.confirm(mine, accept).await.assert_refused(404, "listing_not_found");
    }
    bo.confirm(theirs, true).await.assert_refused(409, "recipient_not_accepting");
    assert_eq!(pairings(&ada).await, json!([]));
}
