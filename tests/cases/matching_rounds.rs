//! Rounds: who is matched with whom, and that there are no blocking pairs. The expected outcome is
//! computed from the participants' rankings.

use crate::harness::{
    listings::at,
    matching::{Seeker, host, ok, operate, search},
    rounds::{ONE_SIDE, Room, TWO_SIDES, offer, opened, seek},
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::SliceRandom as _};
use serde_json::{Value, json};

/// Returns all participants, those who seek first.
fn all<'a>(seek: &'a [Seeker<'a>], offer: &'a [Seeker<'a>]) -> Vec<&'a Seeker<'a>> {
    seek.iter().chain(offer).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_seeking_side_gets_its_best_stable_matching() {
    let host = host().await;
    let (seek, offer) = (seek(&host, 3).await, offer(&host, 3).await);
    let mut room = Room::of(&host, TWO_SIDES, &all(&seek, &offer)).await;
    // In one stable matching those who seek get their first choices and those who offer their last;
    // in another it is the reverse.
    let ranks = [[3, 4, 5], [4, 5, 3], [5, 3, 4], [1, 2, 0], [2, 0, 1], [0, 1, 2]];
    for (who, whom) in ranks.iter().enumerate() {
        room.ranks(who, whom, true).await;
    }
    let matched = room.run().await;
    assert_eq!(matched.got, [[3], [4], [5], [0], [1], [2]]);
    assert_eq!(matched.blocking_pairs, []);
    for (who, result) in matched.results.iter().enumerate() {
        assert_eq!(result["state"], "proposed", "{result:#}");
        assert_eq!(result["rank_achieved"], if who < 3 { 1 } else { 3 }, "{result:#}");
        assert_eq!(result["participants"], 6, "{result:#}");
        assert_eq!(result["partner"], result["partners"][0]["partner"], "{result:#}");
        let partner = &result["partner"];
        let listing = &room.guests[matched.got[who][0]].person.listing_id;
        assert_eq!(partner["listing_card"]["listing_id"], **listing, "{partner:#}");
        assert_eq!(partner["listing_card"]["trust"], "untrusted_user_content");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offer_may_have_a_capacity_for_several() {
    let host = host().await;
    let (seek, offer) = (seek(&host, 6).await, offer(&host, 2).await);
    let mut people: Vec<_> = all(&seek, &offer).into_iter().map(|person| (person, 1)).collect();
    people[6].1 = 3;
    let mut room = Room::with_seats(&host, TWO_SIDES, &people).await;
    let view = room.guests[6].gets().await;
    assert_eq!(view["capacity"], 3, "{view:#}");
    // Five seekers prefer the one with three seats, who prefers them in the reverse order.
    for who in 0..5 {
        room.ranks(who, &[6, 7], false).await;
    }
    // The sixth seeker accepts only the other one.
    room.ranks(5, &[7], true).await;
    room.ranks(6, &[5, 4, 3, 2, 1, 0], true).await;
    // The other one ranks nobody and so accepts everybody.
    let matched = room.run().await;
    assert_eq!(matched.blocking_pairs, []);
    assert_eq!(matched.got[6], [4, 3, 2], "the partners in the order of the ranking");
    assert_eq!(matched.results[6]["rank_achieved"], 2);
    assert_eq!(matched.got[7].len(), 1);
    let without: Vec<_> = (0..8).filter(|who| matched.got[*who].is_empty()).collect();
    assert_eq!(without.len(), 2, "{:?}", matched.got);
    for who in without {
        let result = &matched.results[who];
        let expected = json!({ "state": "unpaired", "partner": null, "partners": [] });
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(result[name], *value, "{result:#}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_matching_is_stable_for_random_rankings() {
    let host = host().await;
    let (seek, offer) = (seek(&host, 5).await, offer(&host, 3).await);
    let mut random = StdRng::seed_from_u64(9);
    for _ in 0..4 {
        let mut people: Vec<_> = all(&seek, &offer).into_iter().map(|person| (person, 1)).collect();
        people[5..].iter_mut().for_each(|person| person.1 = random.random_range(1..4));
        let mut room = Room::with_seats(&host, TWO_SIDES, &people).await;
        for who in 0..people.len() {
            let mut whom: Vec<_> = if who < 5 { (5..8).collect() } else { (0..5).collect() };
            whom.shuffle(&mut random);
            whom.truncate(random.random_range(0..=whom.len()));
            let only_these = random.random_range(0..3) == 0;
            room.ranks(who, &whom, only_these).await;
        }
        let matched = room.run().await;
        assert_eq!(matched.blocking_pairs, [], "{:?}", matched.got);
        // They reject their partners, so that they are free for the next round.
        for guest in &room.guests[..5] {
            if guest.gets().await["state"] == "proposed" {
                ok(&guest.confirm(false).await);
            }
        }
        for guest in &room.guests {
            assert_eq!(guest.gets().await["state"], "unpaired");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn participants_who_have_left_or_are_blocked_are_not_matched() {
    let host = host().await;
    let (seek, offer) = (seek(&host, 3).await, offer(&host, 3).await);
    let mut room = Room::of(&host, TWO_SIDES, &all(&seek, &offer)).await;
    room.ranks(0, &[3], false).await;
    room.ranks(3, &[0, 1], false).await;
    room.ranks(1, &[4], true).await;
    room.ranks(4, &[1], false).await;
    seek[0].lister.ties("block", &offer[0].lister).await;
    ok(&room.guests[1].person.call("close", json!({ "session_id": room.guests[1].session })).await);
    let rounds = seek[0].result("rounds", json!({ "category": TWO_SIDES })).await;
    let listed =
        rounds["items"].as_array().unwrap().iter().find(|round| round["round_id"] == room.round);
    assert_eq!(listed.unwrap()["participants"], 5, "{rounds:#}");
    for (one, other) in [(0, 3), (3, 0), (4, 1)] {
        let there = room.candidates(one).await;
        assert!(
            there.iter().all(|candidate| candidate.0 != other),
            "{one} lists {other}: {there:?}"
        );
    }
    // A person who has left the round no longer sees its participants.
    assert_eq!(room.candidates(1).await, []);
    let matched = room.run().await;
    assert_eq!(matched.blocking_pairs, []);
    assert!(!matched.got[0].contains(&3) && matched.got[1].is_empty(), "{:?}", matched.got);
    assert_eq!(matched.results[1]["state"], "closed");
    assert_eq!(matched.results[0]["participants"], 5);
    let left: Vec<_> = (0..6).filter(|who| matched.got[*who].is_empty()).collect();
    assert_eq!((left.len(), left[0]), (2, 1), "one of three has nobody: {:?}", matched.got);
    // The person may join another open round, leave it, and join it again.
    let round = opened(&host, TWO_SIDES).await;
    let again = seek[1].joins(&round).await;
    ok(&seek[1].call("close", json!({ "session_id": again })).await);
    seek[1].joins(&round).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declined_pairing_is_not_matched_again_in_a_round() {
    let host = host().await;
    let (seek, offer) = (seek(&host, 2).await, offer(&host, 2).await);
    let propose = json!({
        "action": "propose", "from_listing_id": seek[0].listing_id,
        "to_listing_id": offer[0].listing_id, "message": "May I ask you something?",
    });
    let pairing = seek[0].lister.agent().result("pairings", propose).await;
    let decline = json!({
        "action": "reply", "pairing_id": pairing["pairing_id"], "decision": "decline",
    });
    offer[0].lister.agent().result("pairings", decline).await;
    let mut room = Room::of(&host, TWO_SIDES, &all(&seek, &offer)).await;
    room.ranks(1, &[2], false).await;
    let there: Vec<_> = room.candidates(0).await.into_iter().map(|candidate| candidate.0).collect();
    assert_eq!(there, [3]);
    let matched = room.run().await;
    assert_eq!(matched.got, [[3], [2], [1], [0]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_of_one_side_says_whether_its_matching_is_stable() {
    let host = host().await;
    let mut people = Vec::new();
    for strength in ["engineering", "sales", "design", "finance", "science"] {
        people.push(Seeker::of(&host, search(strength, json!({}))).await);
    }
    let all: Vec<_> = people.iter().collect();
    let mut room = Room::of(&host, ONE_SIDE, &all).await;
    // Whichever of the first three is matched with the fourth forms a blocking pair with
    // one of the other two.
    for (who, whom) in [[1, 2, 3], [2, 0, 3], [0, 1, 3], [0, 1, 2]].iter().enumerate() {
        room.ranks(who, whom, true).await;
    }
    let matched = room.run().await;
    assert!(!matched.blocking_pairs.is_empty());
    assert_eq!(matched.results[0]["stable"], false);
    assert_eq!(matched.got[4], Vec::<usize>::new(), "nobody ranks this one of five people");
    assert_eq!(matched.results[4]["state"], "unpaired");

    let room = Room::of(&host, ONE_SIDE, &all[3..]).await;
    let matched = room.run().await;
    assert_eq!((&matched.got[0], &matched.results[0]["stable"]), (&vec![1], &json!(true)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_with_too_few_participants_is_cancelled() {
    let host = host().await;
    let (seek, offer) = (seek(&host, 3).await, offer(&host, 1).await);
    for people in [all(&seek, &offer), all(&seek, &[])] {
        let room = Room::of(&host, TWO_SIDES, &people).await;
        let matched = room.run().await;
        for (guest, result) in room.guests.iter().zip(&matched.results) {
            assert_eq!(result["state"], "cancelled", "{result:#}");
            assert_eq!(result["participants"], people.len(), "{result:#}");
            assert_eq!(result["partner"], Value::Null, "{result:#}");
            assert_eq!(guest.heard_types(1).await, ["match.round_completed"]);
        }
    }
    // After a cancelled round, the listing can have as many sessions as before.
    for _ in 0..3 {
        seek[0].session(json!({})).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_operator_opens_rounds() {
    let host = host().await;
    let ada = Seeker::new(&host, "engineering", "sales").await;
    let round = |category: &str, deadline: &str| json!({ "category": category, "title": "Evening", "deadline": deadline });
    let soon = at(3_600_000);
    for (category, deadline, status, code) in [
        ("venture.cofounders", soon.as_str(), 404, "category_unknown"),
        (ONE_SIDE, "2020-01-01T00:00:00Z", 400, "validation_failed"),
        (ONE_SIDE, "2200-01-01T00:00:00Z", 400, "validation_failed"),
        (ONE_SIDE, "tomorrow", 400, "validation_failed"),
    ] {
        let reply = operate(&host, "open_round", round(category, deadline)).await;
        reply.refused(status, code);
    }
    ada.call("open_round", round(ONE_SIDE, &soon)).await.refused(400, "unknown_action");
    let list = async |category: &str| {
        ada.result("rounds", json!({ "category": category })).await["items"].clone()
    };
    assert_eq!(list(ONE_SIDE).await, json!([]));
    let id = opened(&host, ONE_SIDE).await;
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
    let (seek, offer) = (seek(&host, 51).await, offer(&host, 50).await);
    let mut room = Room::of(&host, TWO_SIDES, &all(&seek[..50], &offer)).await;
    seek[50].join(&room.round).await.refused(409, "round_closed");
    let left = &room.guests[0];
    ok(&left.person.call("close", json!({ "session_id": left.session })).await);
    room.joins(&seek[50]).await;
    let matched = room.run().await;
    assert_eq!(matched.blocking_pairs, []);
    let without = matched.got.iter().filter(|got| got.is_empty()).count();
    assert_eq!((without, matched.got[0].len()), (1, 0), "only the one who has left has nobody");
}
