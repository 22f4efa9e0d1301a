//! Rounds: who is matched with whom, and that there are no blocking pairs. The expected outcome is
//! computed from the participants' rankings.

use crate::harness::{
    listings::instant_in_ms,
    matching::{Seeker, cofounder_listing, expect_ok, host, operate},
    rounds::{ONE_SIDE, TWO_SIDES, TestRound, create_offerers, create_seekers, open_round},
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::SliceRandom as _};
use serde_json::{Value, json};

/// Returns all participants, those who seek first.
fn all<'a>(seekers: &'a [Seeker<'a>], offerers: &'a [Seeker<'a>]) -> Vec<&'a Seeker<'a>> {
    seekers.iter().chain(offerers).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_seeking_side_gets_its_best_stable_matching() {
    let host = host().await;
    let (seekers, offerers) = (create_seekers(&host, 3).await, create_offerers(&host, 3).await);
    let mut round = TestRound::of(&host, TWO_SIDES, &all(&seekers, &offerers)).await;
    // In one stable matching those who seek get their first choices and those who offer their last;
    // in another it is the reverse.
    let ranks = [[3, 4, 5], [4, 5, 3], [5, 3, 4], [1, 2, 0], [2, 0, 1], [0, 1, 2]];
    for (index, ranked) in ranks.iter().enumerate() {
        round.rank(index, ranked, true).await;
    }
    let outcome = round.run().await;
    assert_eq!(outcome.partners, [[3], [4], [5], [0], [1], [2]]);
    assert_eq!(outcome.blocking_pairs, []);
    for (index, result) in outcome.results.iter().enumerate() {
        assert_eq!(result["state"], "proposed", "{result:#}");
        assert_eq!(result["rank_achieved"], if index < 3 { 1 } else { 3 }, "{result:#}");
        assert_eq!(result["participants"], 6, "{result:#}");
        assert_eq!(result["partner"], result["partners"][0]["partner"], "{result:#}");
        let partner = &result["partner"];
        let listing = &round.participants[outcome.partners[index][0]].person.listing_id;
        assert_eq!(partner["listing_card"]["listing_id"], **listing, "{partner:#}");
        assert_eq!(partner["listing_card"]["trust"], "untrusted_user_content");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offer_may_have_a_capacity_for_several() {
    let host = host().await;
    let (seekers, offerers) = (create_seekers(&host, 6).await, create_offerers(&host, 2).await);
    let mut people: Vec<_> =
        all(&seekers, &offerers).into_iter().map(|person| (person, 1)).collect();
    people[6].1 = 3;
    let mut round = TestRound::with_capacities(&host, TWO_SIDES, &people).await;
    let view = round.participants[6].get().await;
    assert_eq!(view["capacity"], 3, "{view:#}");
    // Five seekers prefer the one with three seats, who prefers them in the reverse order.
    for index in 0..5 {
        round.rank(index, &[6, 7], false).await;
    }
    // The sixth seeker accepts only the other one.
    round.rank(5, &[7], true).await;
    round.rank(6, &[5, 4, 3, 2, 1, 0], true).await;
    // The other one ranks nobody and so accepts everybody.
    let outcome = round.run().await;
    assert_eq!(outcome.blocking_pairs, []);
    assert_eq!(outcome.partners[6], [4, 3, 2], "the partners in the order of the ranking");
    assert_eq!(outcome.results[6]["rank_achieved"], 2);
    assert_eq!(outcome.partners[7].len(), 1);
    let unmatched: Vec<_> = (0..8).filter(|index| outcome.partners[*index].is_empty()).collect();
    assert_eq!(unmatched.len(), 2, "{:?}", outcome.partners);
    for index in unmatched {
        let result = &outcome.results[index];
        let expected = json!({ "state": "unpaired", "partner": null, "partners": [] });
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(result[name], *value, "{result:#}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_matching_is_stable_for_random_rankings() {
    let host = host().await;
    let (seekers, offerers) = (create_seekers(&host, 5).await, create_offerers(&host, 3).await);
    let mut random = StdRng::seed_from_u64(9);
    for _ in 0..4 {
        let mut people: Vec<_> =
            all(&seekers, &offerers).into_iter().map(|person| (person, 1)).collect();
        people[5..].iter_mut().for_each(|person| person.1 = random.random_range(1..4));
        let mut round = TestRound::with_capacities(&host, TWO_SIDES, &people).await;
        for index in 0..people.len() {
            let mut ranked: Vec<_> = if index < 5 { (5..8).collect() } else { (0..5).collect() };
            ranked.shuffle(&mut random);
            ranked.truncate(random.random_range(0..=ranked.len()));
            let only_these = random.random_range(0..3) == 0;
            round.rank(index, &ranked, only_these).await;
        }
        let outcome = round.run().await;
        assert_eq!(outcome.blocking_pairs, [], "{:?}", outcome.partners);
        // They reject their partners, so that they are free for the next round.
        for participant in &round.participants[..5] {
            if participant.get().await["state"] == "proposed" {
                expect_ok(&participant.confirm(false).await);
            }
        }
        for participant in &round.participants {
            assert_eq!(participant.get().await["state"], "unpaired");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn participants_who_have_left_or_are_blocked_are_not_matched() {
    let host = host().await;
    let (seekers, offerers) = (create_seekers(&host, 3).await, create_offerers(&host, 3).await);
    let mut round = TestRound::of(&host, TWO_SIDES, &all(&seekers, &offerers)).await;
    round.rank(0, &[3], false).await;
    round.rank(3, &[0, 1], false).await;
    round.rank(1, &[4], true).await;
    round.rank(4, &[1], false).await;
    seekers[0].lister.relate("block", &offerers[0].lister).await;
    expect_ok(
        &round.participants[1]
            .person
            .call("close", json!({ "session_id": round.participants[1].session }))
            .await,
    );
    let rounds = seekers[0].result("rounds", json!({ "category": TWO_SIDES })).await;
    let listed =
        rounds["items"].as_array().unwrap().iter().find(|entry| entry["round_id"] == round.id);
    assert_eq!(listed.unwrap()["participants"], 5, "{rounds:#}");
    for (one, other) in [(0, 3), (3, 0), (4, 1)] {
        let listed = round.candidates(one).await;
        assert!(
            listed.iter().all(|candidate| candidate.0 != other),
            "{one} lists {other}: {listed:?}"
        );
    }
    // A person who has left the round no longer sees its participants.
    assert_eq!(round.candidates(1).await, []);
    let outcome = round.run().await;
    assert_eq!(outcome.blocking_pairs, []);
    assert!(
        !outcome.partners[0].contains(&3) && outcome.partners[1].is_empty(),
        "{:?}",
        outcome.partners
    );
    assert_eq!(outcome.results[1]["state"], "closed");
    assert_eq!(outcome.results[0]["participants"], 5);
    let left: Vec<_> = (0..6).filter(|index| outcome.partners[*index].is_empty()).collect();
    assert_eq!((left.len(), left[0]), (2, 1), "one of three has nobody: {:?}", outcome.partners);
    // The person may join another open round, leave it, and join it again.
    let round = open_round(&host, TWO_SIDES).await;
    let again = seekers[1].join_round(&round).await;
    expect_ok(&seekers[1].call("close", json!({ "session_id": again })).await);
    seekers[1].join_round(&round).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declined_pairing_is_not_matched_again_in_a_round() {
    let host = host().await;
    let (seekers, offerers) = (create_seekers(&host, 2).await, create_offerers(&host, 2).await);
    let propose = json!({
        "action": "propose", "from_listing_id": seekers[0].listing_id,
        "to_listing_id": offerers[0].listing_id, "message": "May I ask you something?",
    });
    let pairing = seekers[0].lister.agent().result("pairings", propose).await;
    let decline = json!({
        "action": "reply", "pairing_id": pairing["pairing_id"], "decision": "decline",
    });
    offerers[0].lister.agent().result("pairings", decline).await;
    let mut round = TestRound::of(&host, TWO_SIDES, &all(&seekers, &offerers)).await;
    round.rank(1, &[2], false).await;
    let listed: Vec<_> =
        round.candidates(0).await.into_iter().map(|candidate| candidate.0).collect();
    assert_eq!(listed, [3]);
    let outcome = round.run().await;
    assert_eq!(outcome.partners, [[3], [2], [1], [0]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_of_one_side_says_whether_its_matching_is_stable() {
    let host = host().await;
    let mut people = Vec::new();
    for strength in ["engineering", "sales", "design", "finance", "science"] {
        people.push(Seeker::of(&host, cofounder_listing(strength, json!({}))).await);
    }
    let all: Vec<_> = people.iter().collect();
    let mut round = TestRound::of(&host, ONE_SIDE, &all).await;
    // Whichever of the first three is matched with the fourth forms a blocking pair with
    // one of the other two.
    for (index, ranked) in [[1, 2, 3], [2, 0, 3], [0, 1, 3], [0, 1, 2]].iter().enumerate() {
        round.rank(index, ranked, true).await;
    }
    let outcome = round.run().await;
    assert!(!outcome.blocking_pairs.is_empty());
    assert_eq!(outcome.results[0]["stable"], false);
    assert_eq!(outcome.partners[4], Vec::<usize>::new(), "nobody ranks this one of five people");
    assert_eq!(outcome.results[4]["state"], "unpaired");

    let round = TestRound::of(&host, ONE_SIDE, &all[3..]).await;
    let outcome = round.run().await;
    assert_eq!((&outcome.partners[0], &outcome.results[0]["stable"]), (&vec![1], &json!(true)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_with_too_few_participants_is_cancelled() {
    let host = host().await;
    let (seekers, offerers) = (create_seekers(&host, 3).await, create_offerers(&host, 1).await);
    for people in [all(&seekers, &offerers), all(&seekers, &[])] {
        let round = TestRound::of(&host, TWO_SIDES, &people).await;
        let outcome = round.run().await;
        for (participant, result) in round.participants.iter().zip(&outcome.results) {
            assert_eq!(result["state"], "cancelled", "{result:#}");
            assert_eq!(result["participants"], people.len(), "{result:#}");
            assert_eq!(result["partner"], Value::Null, "{result:#}");
            assert_eq!(participant.wait_for_event_types(1).await, ["match.round_completed"]);
        }
    }
    // After a cancelled round, the listing can have as many sessions as before.
    for _ in 0..3 {
        seekers[0].session(json!({})).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_operator_opens_rounds() {
    let host = host().await;
    let ada = Seeker::new(&host, "engineering", "sales").await;
    let round = |category: &str, deadline: &str| json!({ "category": category, "title": "Evening", "deadline": deadline });
    let soon = instant_in_ms(3_600_000);
    for (category, deadline, status, code) in [
        ("venture.cofounders", soon.as_str(), 404, "category_unknown"),
        (ONE_SIDE, "2020-01-01T00:00:00Z", 400, "validation_failed"),
        (ONE_SIDE, "2200-01-01T00:00:00Z", 400, "validation_failed"),
        (ONE_SIDE, "tomorrow", 400, "validation_failed"),
    ] {
        let reply = operate(&host, "open_round", round(category, deadline)).await;
        reply.assert_refused(status, code);
    }
    ada.call("open_round", round(ONE_SIDE, &soon)).await.assert_refused(400, "unknown_action");
    let list = async |category: &str| {
        ada.result("rounds", json!({ "category": category })).await["items"].clone()
    };
    assert_eq!(list(ONE_SIDE).await, json!([]));
    let id = open_round(&host, ONE_SIDE).await;
    for category in [ONE_SIDE, "venture"] {
        let rounds = list(category).await;
        assert_eq!((&rounds[0]["round_id"], &rounds[0]["state"]), (&json!(id), &json!("open")));
        assert_eq!(rounds[0]["participants"], 0, "{rounds:#}");
    }
    assert_eq!(list(TWO_SIDES).await, json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_has_a_hundred_participants_at_most() {
    let host = host().await;
    let (seekers, offerers) = (create_seekers(&host, 51).await, create_offerers(&host, 50).await);
    let mut round = TestRound::of(&host, TWO_SIDES, &all(&seekers[..50], &offerers)).await;
    seekers[50].call_join_round(&round.id).await.assert_refused(409, "round_closed");
    let left = &round.participants[0];
    expect_ok(&left.person.call("close", json!({ "session_id": left.session })).await);
    round.add_participant(&seekers[50]).await;
    let outcome = round.run().await;
    assert_eq!(outcome.blocking_pairs, []);
    let unmatched = outcome.partners.iter().filter(|partners| partners.is_empty()).count();
    assert_eq!(
        (unmatched, outcome.partners[0].len()),
        (1, 0),
        "only the one who has left has nobody"
    );
}
