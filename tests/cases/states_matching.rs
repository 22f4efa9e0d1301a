//! Every state with every action: sessions, their candidates, and rounds.

use crate::{
    cases::states::{Table, texts},
    harness::{
        Host, Reply,
        conversations::wait_until,
        matching::{MATCHING, Seeker, expect_ok, host, operate, stored_state, strength_criterion},
        next_steps::FollowedSteps,
        rounds::{ONE_SIDE, open_round, run_round},
    },
};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Actions that events of listings run; they are tested with the candidates.
const NOT_TRIED: [&str; 3] = ["arrive", "on_listing_active", "on_listing_ended"];
/// Actions that timers run.
const INTERNAL: [&str; 4] = ["end_round", "expire", "look", "run_round"];

/// Creates this number of people who match only each other.
async fn create_matching_people<'a>(host: &'a Host, count: usize) -> Vec<Seeker<'a>> {
    static ISLANDS: AtomicUsize = AtomicUsize::new(0);
    let island = format!("island {}", ISLANDS.fetch_add(1, Ordering::Relaxed));
    let mut people = Vec::new();
    for _ in 0..count {
        let same = json!({ "field": "industries", "op": "eq", "value": island });
        let listing = json!({
            "category": ONE_SIDE, "side": "demand", "title": "Looks for a cofounder",
            "description": "To build with.", "publish": true,
            "attributes": {
                "strengths": ["sales"], "seeking": ["sales"], "progress": "idea",
                "industries": [island],
            },
            "criteria": { "must": [same], "want": [strength_criterion("sales")] },
        });
        people.push(Seeker::of(host, listing).await);
    }
    people
}

/// A session in some state, and a person who fits it.
struct Search<'a> {
    host: &'a Host,
    ada: Seeker<'a>,
    bo: Seeker<'a>,
    session: String,
    round: Option<String>,
}

impl<'a> Search<'a> {
    async fn stream(host: &'a Host, state: &str) -> Self {
        let [ada, bo] = <[_; 2]>::try_from(create_matching_people(host, 2).await).ok().unwrap();
        let session = ada.session(json!({})).await;
        let id = json!({ "session_id": session });
        match state {
            "exhausted" => drop(expect_ok(&ada.decide(&session, &bo.listing_id, "pass").await)),
            "paused" => drop(ada.result("pause", id).await),
            "closed" => drop(ada.result("close", id).await),
            "expired" => host.reach(&session, "expires_at").await,
            _ => {}
        }
        ada.wait_for_state(&session, state).await;
        Self { host, ada, bo, session, round: None }
    }

    async fn of_round(host: &'a Host, state: &str) -> Self {
        let [ada, bo] = <[_; 2]>::try_from(create_matching_people(host, 2).await).ok().unwrap();
        let round = open_round(host, ONE_SIDE).await;
        let session = ada.join_round(&round).await;
        if state != "cancelled" {
            let theirs = bo.join_round(&round).await;
            if state != "collecting" {
                run_round(host, &round).await;
            }
            if ["paired", "unpaired"].contains(&state) {
                expect_ok(&ada.confirm(&session, true).await);
                expect_ok(&bo.confirm(&theirs, state == "paired").await);
            }
        } else {
            run_round(host, &round).await;
        }
        ada.wait_for_state(&session, state).await;
        Self { host, ada, bo, session, round: Some(round) }
    }

    async fn new(host: &'a Host, state: &str) -> Self {
        let of_round = ["collecting", "proposed", "paired", "unpaired", "cancelled"];
        match of_round.contains(&state) {
            true => Self::of_round(host, state).await,
            false => Self::stream(host, state).await,
        }
    }

    /// Runs the action. Returns `None` if the session has no round to run.
    async fn run_action(&self, action: &str) -> Option<Reply> {
        let mut body = json!({ "session_id": self.session });
        match action {
            "run_round" => {
                let round = self.round.as_deref()?;
                self.host.reach(round, "deadline").await;
                body = json!({ "round_id": round });
            }
            // A session expires only when its time is over. For a session of a round the time is
            // not moved, because the round would run first.
            "expire" if self.round.is_none() => {
                self.host.reach(&self.session, "expires_at").await;
            }
            "decide" | "rank" => {
                let candidates = self.ada.candidates(&self.session).await;
                let ids: Vec<_> =
                    candidates.iter().map(|candidate| candidate["candidate_id"].clone()).collect();
                if action == "rank" {
                    body["ordered_candidate_ids"] = json!(ids);
                } else {
                    let unknown = json!("cand_01JZX8Q4M2N6P7R8S9T0V1W2X3");
                    body["candidate_id"] = ids.into_iter().next().unwrap_or(unknown);
                    body["decision"] = json!("later");
                }
            }
            "confirm" => body["accept"] = json!(true),
            "refine" => body["patch"] = json!({}),
            _ => {}
        }
        Some(match INTERNAL.contains(&action) {
            true => operate(self.host, action, body).await,
            false => self.ada.call(action, body).await,
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_action_on_a_session_in_every_state() {
    let host = host().await;
    let table = Table::read(&host, MATCHING, "session").await;
    let actions: Vec<_> =
        table.actions().into_iter().filter(|action| !NOT_TRIED.contains(action)).collect();
    let (mut faults, mut followed, mut tried) = (Vec::new(), FollowedSteps::default(), 0);
    for state in &table.states {
        // A refused action changes nothing, so the next one is tried on the same session.
        let mut unchanged = None;
        for action in &actions {
            let search = match unchanged.take() {
                Some(unchanged) => unchanged,
                None => Search::new(&host, state).await,
            };
            let before = search.ada.get(&search.session).await;
            assert_eq!(before["state"], **state);
            let allowed = texts(&before["allowed_actions"]);
            let Some(reply) = search.run_action(action).await else {
                unchanged = Some(search);
                continue;
            };
            tried += 1;
            faults.extend(followed.follow(search.ada.lister.agent(), &reply).await);
            let view = search.ada.get(&search.session).await;
            let after = &view["state"];
            let internal = INTERNAL.contains(action);
            let expected = table.leads(state, action, None);
            let fits = match &expected {
                Some(to) => reply.status == 200 && to.iter().any(|state| *after == **state),
                // An internal action that runs too late does nothing.
                None if internal => reply.status == 200 && *after == **state,
                None => {
                    // A round that has run says so with a code of its own.
                    let is_over = *action == "rank" && reply.body["error_code"] == "round_closed";
                    let conflict = &reply.body["conflict"];
                    let reports_state = reply.body["error_code"] == "invalid_transition"
                        && conflict["current"] == **state
                        && texts(&conflict["allowed_actions"]) == allowed;
                    (reports_state || is_over) && view == before
                }
            };
            let listed = allowed.iter().any(|allowed| allowed == action);
            if !fits || listed != (expected.is_some() && !internal) {
                faults.push(format!("{action} of what is {state}, now {after}: {}", reply.text));
            }
            unchanged = (view == before).then_some(search);
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(tried > 90 && followed.count() > 10, "{tried} tried, {} steps", followed.count());
}

/// A candidate in some state.
struct Found<'a> {
    search: Search<'a>,
    /// The session of the person who is the candidate.
    theirs: String,
    candidate_id: String,
}

impl<'a> Found<'a> {
    async fn new(host: &'a Host, state: &str) -> Self {
        let [ada, bo] = <[_; 2]>::try_from(create_matching_people(host, 2).await).ok().unwrap();
        let session = ada.session(json!({})).await;
        let theirs = bo.session(json!({})).await;
        match state {
            "interested" | "later" => {
                expect_ok(&ada.decide(&session, &bo.listing_id, state).await);
            }
            "passed" => drop(expect_ok(&ada.decide(&session, &bo.listing_id, "pass").await)),
            "mutual" => {
                expect_ok(&ada.decide(&session, &bo.listing_id, "interested").await);
                expect_ok(&bo.decide(&theirs, &ada.listing_id, "interested").await);
            }
            "unavailable" => drop(expect_ok(&bo.lister.call_on("pause", &bo.listing_id).await)),
            _ => {}
        }
        let id = format!(
            "SELECT id FROM documents WHERE body LIKE '%{session}%' AND json_extract(body, '$.listing_id') = '{}' AND json_extract(body, '$.for_owner') IS NOT NULL",
            bo.listing_id
        );
        let candidate_id = host.database().texts(&id).await.remove(0);
        wait_until(state, async || stored_state(host, &candidate_id).await == state).await;
        let search = Search { host, ada, bo, session, round: None };
        Self { search, theirs, candidate_id }
    }

    async fn state(&self) -> String {
        stored_state(self.search.host, &self.candidate_id).await
    }

    /// Returns the revision of the candidate's document.
    async fn revision(&self) -> String {
        let sql =
            format!("SELECT revision || '' FROM documents WHERE id = '{}'", self.candidate_id);
        self.search.host.database().texts(&sql).await.remove(0)
    }

    async fn decide(&self, decision: &str) -> Reply {
        let body = json!({
            "session_id": self.search.session, "candidate_id": self.candidate_id,
            "decision": decision,
        });
        self.search.ada.call("decide", body).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_decision_on_a_candidate_in_every_state() {
    let host = host().await;
    let table = Table::read(&host, MATCHING, "candidate").await;
    let mut faults = Vec::new();
    for state in &table.states {
        for (decision, to) in [("interested", "interested"), ("pass", "passed"), ("later", "later")]
        {
            let found = Found::new(&host, state).await;
            let shown = found.search.ada.candidates(&found.search.session).await;
            let shown =
                shown.iter().find(|candidate| candidate["candidate_id"] == found.candidate_id);
            let listed =
                shown.is_some_and(|candidate| candidate["allowed_actions"] == json!(["decide"]));
            let reply = found.decide(decision).await;
            let after = found.state().await;
            let expected = table.leads(state, "decide", None);
            let fits = match &expected {
                Some(all) => reply.status == 200 && after == to && all.contains(&after),
                None => {
                    let code = match state.as_str() {
                        "unavailable" => "recipient_not_accepting",
                        _ => "invalid_transition",
                    };
                    reply.body["error_code"] == code && after == *state
                }
            };
            if !fits || listed != expected.is_some() {
                faults.push(format!("{decision} of what is {state}, now {after}: {}", reply.text));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_candidate_in_every_state_follows_its_listing() {
    let host = host().await;
    let table = Table::read(&host, MATCHING, "candidate").await;
    let mut faults = Vec::new();
    for state in &table.states {
        for action in ["on_listing_ended", "on_listing_active"] {
            let found = Found::new(&host, state).await;
            let (bo, expected) = (&found.search.bo, table.leads(state, action, None));
            let before = found.revision().await;
            match (action, state.as_str()) {
                // An unavailable candidate has already ended, and a mutual one
                // is no longer written.
                ("on_listing_ended", "unavailable") | ("on_listing_active", "mutual") => continue,
                ("on_listing_ended", _) => {
                    expect_ok(&bo.lister.call_on("pause", &bo.listing_id).await);
                    bo.wait_for_state(&found.theirs, "closed").await;
                }
                (_, "unavailable") => {
                    drop(expect_ok(&bo.lister.call_on("resume", &bo.listing_id).await))
                }
                _ => {
                    let patch = json!({ "listing_id": bo.listing_id, "patch": { "remote": true } });
                    bo.lister.result("update", patch).await;
                }
            }
            if action == "on_listing_active" {
                wait_until("the event is handled", async || found.revision().await != before).await;
            }
            let after = found.state().await;
            let fits = match &expected {
                Some(to) => to.contains(&after),
                None => after == *state,
            };
            if !fits {
                faults.push(format!("{action} of what is {state}, now {after}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_runs_in_one_state_only() {
    let host = host().await;
    let table = Table::read(&host, MATCHING, "round").await;
    assert_eq!(table.actions().into_iter().collect::<Vec<_>>(), ["run_round"]);
    for state in &table.states {
        let round = open_round(&host, ONE_SIDE).await;
        let people = create_matching_people(&host, if state == "cancelled" { 1 } else { 2 }).await;
        let mut sessions = Vec::new();
        for person in &people {
            sessions.push(person.join_round(&round).await);
        }
        let id = json!({ "round_id": round });
        // Before its deadline, a round does not run.
        expect_ok(&operate(&host, "run_round", id.clone()).await);
        assert_eq!(stored_state(&host, &round).await, "open");
        if state != "open" {
            run_round(&host, &round).await;
        }
        assert_eq!(stored_state(&host, &round).await, *state);
        let views = async || {
            let mut views: Vec<Value> = Vec::new();
            for (person, session) in people.iter().zip(&sessions) {
                views.push(person.get(session).await);
            }
            views
        };
        let before = views().await;
        host.reach(&round, "deadline").await;
        expect_ok(&operate(&host, "run_round", id).await);
        let after = stored_state(&host, &round).await;
        match table.leads(state, "run_round", None) {
            Some(to) => assert!(to.contains(&after), "{state} {after}"),
            None => assert_eq!((&after, views().await), (state, before)),
        }
    }
}
