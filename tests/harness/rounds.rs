//! Rounds, and the people who take part in them.

use crate::harness::{
    Host, Reply, conversations,
    matching::{Seeker, expect_ok, operate, stored_state},
    time::HOUR,
};
use serde_json::{Value, json};
use std::time::Duration;

/// A category with two sides: offer and demand.
pub const TWO_SIDES: &str = "lead.general";
/// A category with one side.
pub const ONE_SIDE: &str = "venture.cofounder";

/// Opens a round that runs in an hour; returns its id.
pub async fn open_round(host: &Host, category: &str) -> String {
    open_round_after(host, category, HOUR).await
}

/// Opens a round that runs after this time; returns its id.
pub async fn open_round_after(host: &Host, category: &str, time: Duration) -> String {
    let round =
        json!({ "category": category, "title": "Evening", "deadline": host.instant_after(time) });
    let round = expect_ok(&operate(host, "open_round", round).await);
    round["round_id"].as_str().unwrap().to_owned()
}

/// Moves the time to the deadline of a round, and waits until it has run.
pub async fn run_round(host: &Host, round: &str) {
    host.reach(round, "deadline").await;
    conversations::wait_until("the round runs", async || stored_state(host, round).await != "open")
        .await;
}

/// Creates this number of people with a listing that seeks.
pub async fn create_seekers(host: &Host, count: usize) -> Vec<Seeker<'_>> {
    create_leads(host, "demand", count).await
}

/// Creates this number of people with a listing that offers.
pub async fn create_offerers(host: &Host, count: usize) -> Vec<Seeker<'_>> {
    create_leads(host, "offer", count).await
}

async fn create_leads<'a>(host: &'a Host, side: &str, count: usize) -> Vec<Seeker<'a>> {
    let mut people = Vec::new();
    for _ in 0..count {
        let listing = json!({
            "category": TWO_SIDES, "side": side, "title": "An hour a week",
            "description": "To talk about the work.", "attributes": { "subject": "advice" },
            "publish": true,
        });
        people.push(Seeker::of(host, listing).await);
    }
    people
}

impl Seeker<'_> {
    /// Creates a session that takes part in a round, and returns its id.
    pub async fn join_round(&self, round: &str) -> String {
        self.session(json!({ "mode": "round", "round_id": round })).await
    }

    pub async fn call_join_round(&self, round: &str) -> Reply {
        let body = json!({ "listing_id": self.listing_id, "mode": "round", "round_id": round });
        self.call("create", body).await
    }

    /// Confirms or rejects the partner that the round has found.
    pub async fn confirm(&self, session: &str, accept: bool) -> Reply {
        self.call("confirm", json!({ "session_id": session, "accept": accept })).await
    }

    pub async fn outcome(&self, session: &str) -> Value {
        self.result("result", json!({ "session_id": session })).await
    }
}

/// A participant of a round.
pub struct Participant<'a> {
    pub person: &'a Seeker<'a>,
    pub session: String,
    /// The capacity: how many partners they accept.
    pub capacity: usize,
    /// The indexes of the participants that this one ranked, the best first, and whether they accept
    /// nobody else.
    ranked: (Vec<usize>, bool),
}

impl Participant<'_> {
    pub async fn confirm(&self, accept: bool) -> Reply {
        self.person.confirm(&self.session, accept).await
    }

    pub async fn outcome(&self) -> Value {
        self.person.outcome(&self.session).await
    }

    pub async fn get(&self) -> Value {
        self.person.get(&self.session).await
    }

    pub async fn wait_for_state(&self, state: &str) {
        self.person.wait_for_state(&self.session, state).await;
    }

    /// Waits for this number of events about the session, and returns their types.
    pub async fn wait_for_event_types(&self, count: usize) -> Vec<String> {
        self.person.wait_for_event_types(&self.session, count).await
    }
}

/// A round with its participants; a participant is named by an index into `participants`.
pub struct TestRound<'a> {
    host: &'a Host,
    pub id: String,
    pub participants: Vec<Participant<'a>>,
}

/// The outcome of a round.
pub struct RoundOutcome {
    /// The result of each participant, in the order of `participants`.
    pub results: Vec<Value>,
    /// The indexes of the partners of each participant.
    pub partners: Vec<Vec<usize>>,
    /// The pairs who are not partners and of whom each prefers the other to one of their partners
    /// or to a free seat.
    pub blocking_pairs: Vec<(usize, usize)>,
}

impl<'a> TestRound<'a> {
    /// Opens a round that these people join, each with a capacity of one.
    pub async fn of(host: &'a Host, category: &str, people: &[&'a Seeker<'a>]) -> Self {
        let people: Vec<_> = people.iter().map(|person| (*person, 1)).collect();
        Self::with_capacities(host, category, &people).await
    }

    pub async fn with_capacities(
        host: &'a Host,
        category: &str,
        people: &[(&'a Seeker<'a>, usize)],
    ) -> Self {
        let id = open_round(host, category).await;
        let mut round = Self { host, id, participants: Vec::new() };
        for (person, capacity) in people.iter().copied() {
            round.add(person, capacity).await;
        }
        round
    }

    pub async fn add_participant(&mut self, person: &'a Seeker<'a>) {
        self.add(person, 1).await;
    }

    async fn add(&mut self, person: &'a Seeker<'a>, capacity: usize) {
        let fields = json!({ "mode": "round", "round_id": self.id, "capacity": capacity });
        let session = person.session(fields).await;
        self.participants.push(Participant {
            person,
            session,
            capacity,
            ranked: (Vec::new(), false),
        });
    }

    /// Returns the indexes and candidate ids of a participant's candidates, the best first.
    pub async fn candidates(&self, index: usize) -> Vec<(usize, String)> {
        let participant = &self.participants[index];
        let candidates = participant.person.candidates(&participant.session).await;
        let entry = |candidate: &Value| {
            (self.index_of(candidate), candidate["candidate_id"].as_str().unwrap().to_owned())
        };
        candidates.iter().map(entry).collect()
    }

    /// Returns the index of the participant whose listing a candidate shows.
    fn index_of(&self, candidate: &Value) -> usize {
        let listing = candidate["listing_card"]["listing_id"].as_str().unwrap();
        self.participants
            .iter()
            .position(|participant| participant.person.listing_id == listing)
            .unwrap()
    }

    pub async fn rank(&mut self, index: usize, ranked: &[usize], only_these: bool) {
        let candidates = self.candidates(index).await;
        let id =
            |number: &usize| &candidates.iter().find(|candidate| candidate.0 == *number).unwrap().1;
        let ids: Vec<_> = ranked.iter().map(id).collect();
        let participant = &mut self.participants[index];
        let rank = json!({
            "session_id": participant.session, "ordered_candidate_ids": ids, "only_these": only_these,
        });
        participant.person.result("rank", rank).await;
        participant.ranked = (ranked.to_vec(), only_these);
    }

    /// Returns the preference list of each participant, the best first: those they ranked, then,
    /// unless they accept nobody else, their other candidates in the order of the listing.
    async fn preference_lists(&self) -> Vec<Vec<usize>> {
        let mut lists = Vec::new();
        for (index, participant) in self.participants.iter().enumerate() {
            let (ranked, only_these) = &participant.ranked;
            let listed: Vec<_> =
                self.candidates(index).await.into_iter().map(|candidate| candidate.0).collect();
            let mut list: Vec<_> =
                ranked.iter().copied().filter(|number| listed.contains(number)).collect();
            let others =
                listed.into_iter().filter(|number| !only_these && !ranked.contains(number));
            list.extend(others);
            lists.push(list);
        }
        lists
    }

    /// Runs the round, and checks its outcome against the participants' rankings.
    pub async fn run(&self) -> RoundOutcome {
        let lists = self.preference_lists().await;
        run_round(self.host, &self.id).await;
        let (mut results, mut partners) = (Vec::new(), Vec::new());
        for (participant, list) in self.participants.iter().zip(&lists) {
            let result = participant.outcome().await;
            let entries = result["partners"].as_array().unwrap().iter();
            let numbers: Vec<_> =
                entries.clone().map(|partner| self.index_of(&partner["partner"])).collect();
            for (partner, number) in entries.zip(&numbers) {
                let place = list.iter().position(|other| other == number).unwrap() + 1;
                assert_eq!(partner["rank_achieved"], place, "{result:#} {list:?}");
            }
            assert!(numbers.len() <= participant.capacity, "{result:#}");
            partners.push(numbers);
            results.push(result);
        }
        for (index, numbers) in partners.iter().enumerate() {
            assert!(
                numbers.iter().all(|partner| partners[*partner].contains(&index)),
                "a partner does not have the participant as a partner: {partners:?}"
            );
        }
        let capacities: Vec<_> =
            self.participants.iter().map(|participant| participant.capacity).collect();
        let blocking_pairs = blocking_pairs(&lists, &capacities, &partners);
        let has_run =
            |result: &&Value| result["state"] != "cancelled" && result["state"] != "closed";
        for result in results.iter().filter(has_run) {
            let reported = (&result["blocking_pairs"], &result["stable"]);
            let expected = (json!(blocking_pairs.len()), json!(blocking_pairs.is_empty()));
            assert_eq!(reported, (&expected.0, &expected.1), "{lists:?} {partners:?} {result:#}");
        }
        RoundOutcome { results, partners, blocking_pairs }
    }
}

fn blocking_pairs(
    lists: &[Vec<usize>],
    capacities: &[usize],
    partners: &[Vec<usize>],
) -> Vec<(usize, usize)> {
    let rank = |index: usize, other: usize| lists[index].iter().position(|entry| *entry == other);
    let prefers = |index: usize, other: usize| {
        let has_free_seat = partners[index].len() < capacities[index];
        let worst = partners[index].iter().map(|partner| rank(index, *partner).unwrap()).max();
        let wanted = rank(index, other).filter(|_| !partners[index].contains(&other));
        wanted.is_some_and(|wanted| has_free_seat || worst.is_some_and(|worst| wanted < worst))
    };
    let pairs =
        (0..lists.len()).flat_map(|one| (one + 1..lists.len()).map(move |other| (one, other)));
    pairs.filter(|(one, other)| prefers(*one, *other) && prefers(*other, *one)).collect()
}
