//! Rounds from their deadline on: what is refused, who gets which event and when, how both sides
//! confirm, and that a host that is killed runs each round once.

use crate::harness::{
    Agent, Host, Process,
    conversations::wait_until,
    inbox::Reader,
    listings::Lister,
    matching::{Seeker, expect_ok, host, operate, options, stored_state, timer_names},
    rounds::{
        ONE_SIDE, TWO_SIDES, TestRound, create_offerers, create_seekers, open_round,
        open_round_after, run_round,
    },
    time::{DAY, HOUR},
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The time until a round's deadline, which is enough to join it.
const SOON: Duration = Duration::from_secs(2);

/// Creates two people who look for a cofounder.
async fn create_cofounders(host: &Host) -> [Seeker<'_>; 2] {
    let ada = Seeker::new(host, "engineering", "sales").await;
    [ada, Seeker::new(host, "sales", "engineering").await]
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_entries_to_a_round_are_refused() {
    let host = host().await;
    let [ada, bo] = create_cofounders(&host).await;
    let body = json!({ "listing_id": ada.listing_id, "mode": "round" });
    let refused = ada.call("create", body.clone()).await;
    refused.assert_refused(400, "validation_failed");
    assert_eq!(refused.body["conflict"]["errors"][0]["pointer"], "/round_id", "{}", refused.text);
    ada.call_join_round("rnd_01JZX8Q4M2N6P7R8S9T0V1W2X3").await.assert_refused(409, "round_closed");
    let other = open_round(&host, TWO_SIDES).await;
    ada.call_join_round(&other).await.assert_refused(409, "round_closed");
    let round = open_round(&host, ONE_SIDE).await;
    for mode in ["round", "stream"] {
        // A capacity of more than one is refused in a category with one side,
        // and outside of rounds.
        let mut body = json!({ "listing_id": ada.listing_id, "mode": mode, "capacity": 2 });
        if mode == "round" {
            body["round_id"] = json!(round);
        }
        let refused = ada.call("create", body).await;
        refused.assert_refused(400, "validation_failed");
        assert_eq!(refused.body["conflict"]["errors"][0]["pointer"], "/capacity");
    }
    let mine = ada.join_round(&round).await;
    ada.call_join_round(&round).await.assert_refused(409, "round_closed");
    let theirs = bo.join_round(&round).await;

    let of_mine = json!({ "session_id": mine });
    let candidates = ada.candidates(&mine).await;
    let candidate = candidates[0]["candidate_id"].clone();
    let rank = |ids: &[&Value]| json!({ "session_id": mine, "ordered_candidate_ids": ids });
    let unknown = json!("cand_01JZX8Q4M2N6P7R8S9T0V1W2X3");
    let own = json!(mine.replace("mse_", "cand_"));
    for id in [&unknown, &own] {
        ada.call("rank", rank(&[id])).await.assert_refused(404, "candidate_not_found");
    }
    ada.call("rank", rank(&[&candidate, &candidate]))
        .await
        .assert_refused(400, "validation_failed");
    let decide = json!({ "session_id": mine, "candidate_id": candidate, "decision": "interested" });
    ada.call("decide", decide).await.assert_refused(409, "invalid_transition");
    ada.confirm(&mine, true).await.assert_refused(409, "invalid_transition");
    let refused = ada.call("result", of_mine.clone()).await;
    refused.assert_refused(409, "round_not_run");
    assert_eq!(refused.body["retryable"], true, "{}", refused.text);
    for action in ["get", "candidates", "result", "close"] {
        let foreign = bo.call(action, of_mine.clone()).await;
        foreign.assert_refused(404, "session_not_found");
    }
    bo.call("rank", rank(&[&candidate])).await.assert_refused(404, "session_not_found");
    bo.confirm(&mine, true).await.assert_refused(404, "session_not_found");

    // These are refused from the deadline on, whether the round has run or not.
    host.clock.advance(HOUR);
    for step in ["due", "run"] {
        if step == "run" {
            run_round(&host, &round).await;
        }
        ada.call("rank", rank(&[&candidate])).await.assert_refused(409, "round_closed");
        let cy = Seeker::new(&host, "design", "sales").await;
        cy.call_join_round(&round).await.assert_refused(409, "round_closed");
    }
    assert_eq!(bo.get(&theirs).await["state"], "proposed");
    let listed = ada.result("rounds", json!({})).await;
    assert!(!listed.to_string().contains(&round), "{listed:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn participants_learn_their_own_outcome_and_nothing_else() {
    let host = host().await;
    let (seekers, offerers) = (create_seekers(&host, 2).await, create_offerers(&host, 2).await);
    let people: Vec<_> = seekers.iter().chain(&offerers).collect();
    let mut round = TestRound::of(&host, TWO_SIDES, &people).await;
    let view = async |round: &TestRound<'_>| {
        let participant = &round.participants[2];
        (participant.get().await, participant.person.candidates(&participant.session).await)
    };
    let before = view(&round).await;
    round.rank(0, &[2], true).await;
    round.rank(1, &[3], true).await;
    assert_eq!(view(&round).await, before, "a participant does not see how others rank");
    let outcome = round.run().await;
    assert_eq!(outcome.partners, [[2], [3], [0], [1]]);
    for participant in &round.participants {
        let event_types = participant.wait_for_event_types(1).await;
        assert_eq!(event_types, ["match.round_completed"]);
        let (_, data) = participant.person.session_events(&participant.session).await.remove(0);
        assert_eq!((&data["paired"], &data["round_id"]), (&json!(true), &json!(round.id)));
        assert_eq!(data["actor"], json!({ "kind": "system" }), "{data:#}");
        let next = &data["next"];
        let result =
            participant.person.lister.agent().result("matching_sessions", next["input"].clone());
        assert_eq!(result.await["state"], "proposed");
    }

    // Both confirm. The first one's answer is not visible to the other one before that.
    let (one, other) = (&round.participants[0], &round.participants[2]);
    let before = (other.get().await, other.outcome().await);
    let answer = expect_ok(&one.confirm(true).await);
    assert_eq!(
        (&answer["state"], &answer["partner"]["state"]),
        (&json!("proposed"), &json!("interested"))
    );
    assert_eq!((other.get().await, other.outcome().await), before);
    assert_eq!(other.wait_for_event_types(1).await.len(), 1);
    let reply = other.confirm(true).await;
    let both = expect_ok(&reply);
    assert_eq!((&both["state"], &both["partner"]["mutual"]), (&json!("paired"), &json!(true)));
    let next = &reply.body["next"];
    assert_eq!(next["capability"], "conversations", "{}", reply.text);
    let messages = other.person.lister.agent().result("conversations", next["input"].clone()).await;
    assert_eq!(messages["items"], json!([]));
    for participant in [one, other] {
        assert_eq!(
            participant.wait_for_event_types(2).await,
            ["match.round_completed", "match.mutual"]
        );
        let (_, data) = participant.person.session_events(&participant.session).await.remove(1);
        assert_eq!(data["pairing_id"], both["partner"]["pairing_id"], "{data:#}");
        assert_eq!(participant.outcome().await["partner"]["pairing_id"], data["pairing_id"]);
        let events = participant.person.events().await;
        let connected = events.into_iter().find(|(name, _)| name == "pairing.connected");
        let (_, connected) = connected.unwrap();
        assert_eq!(connected["resource"]["id"], data["pairing_id"], "{connected:#}");
        assert_eq!(connected["origin"], "round", "{connected:#}");
    }

    // One confirms and the other one rejects.
    let (one, other) = (&round.participants[1], &round.participants[3]);
    expect_ok(&one.confirm(true).await);
    let answer = expect_ok(&other.confirm(false).await);
    assert_eq!(answer["state"], "unpaired");
    for participant in [one, other] {
        assert_eq!(
            participant.wait_for_event_types(2).await,
            ["match.round_completed", "match.session_closed"]
        );
        let (_, data) = participant.person.session_events(&participant.session).await.remove(1);
        assert_eq!((&data["reason"], &data["actor"]["kind"]), (&json!("round"), &json!("system")));
        participant.confirm(true).await.assert_refused(409, "invalid_transition");
        assert_eq!(timer_names(&host, &participant.session).await, Vec::<String>::new());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_of_several_partners_is_confirmed_separately() {
    let host = host().await;
    let (seekers, offerers) = (create_seekers(&host, 3).await, create_offerers(&host, 2).await);
    let mut people: Vec<_> = seekers.iter().chain(&offerers).map(|person| (person, 1)).collect();
    people[3].1 = 3;
    let mut round = TestRound::with_capacities(&host, TWO_SIDES, &people).await;
    for index in 0..3 {
        round.rank(index, &[3], true).await;
    }
    round.rank(3, &[0, 1, 2], true).await;
    let outcome = round.run().await;
    assert_eq!(outcome.partners[3], [0, 1, 2]);
    let mentor = &round.participants[3];
    let of = |number: usize| outcome.results[3]["partners"][number]["partner"].clone();
    let refused = mentor.confirm(true).await;
    refused.assert_refused(400, "validation_failed");
    assert_eq!(refused.body["conflict"]["errors"][0]["pointer"], "/candidate_id");
    let confirm = async |number: usize| {
        let body = json!({
            "session_id": mentor.session, "candidate_id": of(number)["candidate_id"], "accept": true,
        });
        mentor.person.call("confirm", body).await
    };
    let states = async || {
        let result = mentor.outcome().await;
        let partners = result["partners"].as_array().unwrap().clone();
        let states =
            partners.iter().map(|partner| partner["partner"]["state"].as_str().unwrap().to_owned());
        (result["state"].as_str().unwrap().to_owned(), states.collect::<Vec<_>>().join(" "))
    };
    let is = |state: &str, partners: &str| (state.to_owned(), partners.to_owned());
    expect_ok(&confirm(1).await);
    assert_eq!(states().await, is("proposed", "new interested new"));
    expect_ok(&round.participants[1].confirm(true).await);
    assert_eq!(states().await, is("proposed", "new mutual new"));
    expect_ok(&round.participants[0].confirm(false).await);
    assert_eq!(states().await, is("proposed", "unavailable mutual new"));
    confirm(0).await.assert_refused(409, "recipient_not_accepting");
    // After two days, the partners who have not answered are unavailable.
    host.reach_timer(&format!("end_round/%/{}", mentor.session)).await;
    mentor.wait_for_state("paired").await;
    assert_eq!(states().await, is("paired", "unavailable mutual unavailable"));
    round.participants[2].confirm(true).await.assert_refused(409, "invalid_transition");
    assert_eq!(round.participants[2].get().await["state"], "unpaired");
    let event_types = mentor.wait_for_event_types(3).await;
    assert_eq!(event_types, ["match.round_completed", "match.mutual", "match.updated"]);
    for (index, last) in
        ["match.session_closed", "match.mutual", "match.session_closed"].iter().enumerate()
    {
        assert_eq!(
            round.participants[index].wait_for_event_types(2).await,
            ["match.round_completed", *last]
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn simultaneous_confirmations_connect_both_people() {
    let host = host().await;
    let [ada, bo] = create_cofounders(&host).await;
    let round = TestRound::of(&host, ONE_SIDE, &[&ada, &bo]).await;
    round.run().await;
    let [one, other] = [&round.participants[0], &round.participants[1]];
    let replies = tokio::join!(one.confirm(true), other.confirm(true));
    let paired =
        [replies.0, replies.1].iter().filter(|reply| expect_ok(reply)["state"] == "paired").count();
    assert_eq!(paired, 1, "the second answer says that they are paired");
    for participant in [one, other] {
        assert_eq!(
            participant.wait_for_event_types(2).await,
            ["match.round_completed", "match.mutual"]
        );
        assert_eq!(participant.get().await["state"], "paired");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_match_that_is_not_confirmed_in_time_ends() {
    let host = host().await;
    let [ada, bo] = create_cofounders(&host).await;
    let round = TestRound::of(&host, ONE_SIDE, &[&ada, &bo]).await;
    round.run().await;
    let [one, other] = [&round.participants[0], &round.participants[1]];
    expect_ok(&one.confirm(true).await);
    host.advance(2 * DAY).await;
    for participant in [one, other] {
        participant.wait_for_state("unpaired").await;
        assert_eq!(
            participant.wait_for_event_types(2).await,
            ["match.round_completed", "match.session_closed"]
        );
        let again = json!({ "session_id": participant.session });
        assert_eq!(operate(&host, "end_round", again).await.status, 200);
        assert_eq!(participant.wait_for_event_types(2).await.len(), 2, "the end sends one event");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_match_ends_when_a_partner_leaves_before_the_confirmation() {
    let host = host().await;
    for reason in ["listing", "block"] {
        let [ada, bo] = create_cofounders(&host).await;
        let round = TestRound::of(&host, ONE_SIDE, &[&ada, &bo]).await;
        round.run().await;
        let [one, other] = [&round.participants[0], &round.participants[1]];
        expect_ok(&one.confirm(true).await);
        if reason == "listing" {
            expect_ok(&bo.lister.call_on("pause", &bo.listing_id).await);
            other.wait_for_state("closed").await;
            one.wait_for_state("unpaired").await;
            let event_types = ["match.round_completed", "match.session_closed"];
            assert_eq!(one.wait_for_event_types(2).await, event_types);
            assert_eq!(other.wait_for_event_types(2).await, event_types);
        } else {
            ada.lister.relate("block", &bo.lister).await;
            let result = other.outcome().await;
            assert_eq!(result["partner"], Value::Null, "{result:#}");
            other.confirm(true).await.assert_refused(409, "recipient_not_accepting");
            assert_eq!(other.get().await["state"], "proposed");
        }
    }
}

/// A person whose agent is used again after the host was started again.
struct Credentials {
    token: String,
    id: String,
    listing_id: String,
}

impl Credentials {
    fn of(person: &Seeker<'_>) -> Self {
        let token = person.lister.agent().token.clone();
        Self { token, id: person.lister.id.clone(), listing_id: person.listing_id.clone() }
    }

    fn at<'a>(&self, host: &'a Host) -> Seeker<'a> {
        let agent = Agent { host, token: self.token.clone() };
        let reader = Reader { agent, id: String::new() };
        let lister = Lister { reader, id: self.id.clone() };
        Seeker { lister, listing_id: self.listing_id.clone() }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_dies_at_the_deadline_runs_the_round_once() {
    let mut host = Process::start(options());
    let [ada, bo] = create_cofounders(&host).await;
    let credentials = [Credentials::of(&ada), Credentials::of(&bo)];
    drop([ada, bo]);
    // The host is killed before the round's timer is due (`None`), and at
    // different moments of its run.
    for wait in [None, Some(1), Some(8), Some(25)] {
        let people = credentials.each_ref().map(|entry| entry.at(&host));
        let started = Instant::now();
        let round = open_round_after(&host, ONE_SIDE, SOON).await;
        let sessions = [people[0].join_round(&round).await, people[1].join_round(&round).await];
        drop(people);
        let id = json!({ "round_id": round });
        let deadline = tokio::time::sleep(SOON.saturating_sub(started.elapsed()));
        if let Some(wait) = wait {
            deadline.await;
            tokio::select! {
                _ = operate(&host, "run_round", id.clone()) => {}
                () = tokio::time::sleep(Duration::from_millis(wait)) => {}
            }
            host.signal("KILL");
        } else {
            host.signal("KILL");
            deadline.await;
        }
        let (_, folder) = host.wait();
        host = Process::start_in(folder);
        wait_until("the round runs", async || stored_state(&host, &round).await == "done").await;
        assert_eq!(operate(&host, "run_round", id).await.status, 200);
        let people = credentials.each_ref().map(|entry| entry.at(&host));
        for (person, session) in people.iter().zip(&sessions) {
            assert_eq!(person.wait_for_event_types(session, 1).await, ["match.round_completed"]);
            assert_eq!(person.get(session).await["state"], "proposed");
            assert_eq!(timer_names(&host, session).await.len(), 1, "one timer ends the session");
        }
        expect_ok(&people[0].confirm(&sessions[0], false).await);
    }
}
