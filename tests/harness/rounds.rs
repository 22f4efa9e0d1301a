//! Rounds, and the people who take part in them.

use crate::harness::{
    Host, Reply, conversations,
    matching::{Seeker, kept, ok, operate},
    time::HOUR,
};
use serde_json::{Value, json};
use std::time::Duration;

/// A category with two sides: offer and demand.
pub const TWO_SIDES: &str = "lead.general";
/// A category with one side.
pub const ONE_SIDE: &str = "venture.cofounder";

/// Opens a round that runs in an hour; returns its id.
pub async fn opened(host: &Host, category: &str) -> String {
    opened_for(host, category, HOUR).await
}

/// Opens a round that runs after this time; returns its id.
pub async fn opened_for(host: &Host, category: &str, time: Duration) -> String {
    let round = json!({ "category": category, "title": "Evening", "deadline": host.later(time) });
    let round = ok(&operate(host, "open_round", round).await);
    round["round_id"].as_str().unwrap().to_owned()
}

/// Moves the time to the deadline of a round, and waits until it has run.
pub async fn runs(host: &Host, round: &str) {
    host.reach(round, "deadline").await;
    conversations::until("the round runs", async || kept(host, round).await != "open").await;
}

/// Creates this number of people with a listing that seeks.
pub async fn seek(host: &Host, count: usize) -> Vec<Seeker<'_>> {
    lead(host, "demand", count).await
}

/// Creates this number of people with a listing that offers.
pub async fn offer(host: &Host, count: usize) -> Vec<Seeker<'_>> {
    lead(host, "offer", count).await
}

async fn lead<'a>(host: &'a Host, side: &str, count: usize) -> Vec<Seeker<'a>> {
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
    pub async fn joins(&self, round: &str) -> String {
        self.session(json!({ "mode": "round", "round_id": round })).await
    }

    pub async fn join(&self, round: &str) -> Reply {
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
pub struct Guest<'a> {
    pub person: &'a Seeker<'a>,
    pub session: String,
    /// The capacity: how many partners they accept.
    pub seats: usize,
    /// The indexes of the guests that this one ranked, the best first, and whether they accept
    /// nobody else.
    ranked: (Vec<usize>, bool),
}

impl Guest<'_> {
    pub async fn confirm(&self, accept: bool) -> Reply {
        self.person.confirm(&self.session, accept).await
    }

    pub async fn outcome(&self) -> Value {
        self.person.outcome(&self.session).await
    }

    pub async fn gets(&self) -> Value {
        self.person.gets(&self.session).await
    }

    pub async fn until(&self, state: &str) {
        self.person.until(&self.session, state).await;
    }

    /// Waits for this number of events about the session, and returns their types.
    pub async fn heard_types(&self, count: usize) -> Vec<String> {
        self.person.heard_types(&self.session, count).await
    }
}

/// A round with its participants; a participant is named by an index into `guests`.
pub struct Room<'a> {
    host: &'a Host,
    pub round: String,
    pub guests: Vec<Guest<'a>>,
}

/// The outcome of a round.
pub struct Matched {
    /// The result of each participant, in the order of `guests`.
    pub results: Vec<Value>,
    /// The indexes of the partners of each participant.
    pub got: Vec<Vec<usize>>,
    /// The pairs who are not partners and of whom each prefers the other to one of their partners
    /// or to a free seat.
    pub blocking_pairs: Vec<(usize, usize)>,
}

impl<'a> Room<'a> {
    /// Opens a round that these people join, each with a capacity of one.
    pub async fn of(host: &'a Host, category: &str, people: &[&'a Seeker<'a>]) -> Self {
        let people: Vec<_> = people.iter().map(|person| (*person, 1)).collect();
        Self::with_seats(host, category, &people).await
    }

    pub async fn with_seats(
        host: &'a Host,
        category: &str,
        people: &[(&'a Seeker<'a>, usize)],
    ) -> Self {
        let round = opened(host, category).await;
        let mut room = Self { host, round, guests: Vec::new() };
        for (person, seats) in people.iter().copied() {
            room.takes(person, seats).await;
        }
        room
    }

    pub async fn joins(&mut self, person: &'a Seeker<'a>) {
        self.takes(person, 1).await;
    }

    async fn takes(&mut self, person: &'a Seeker<'a>, seats: usize) {
        let joins = json!({ "mode": "round", "round_id": self.round, "capacity": seats });
        let session = person.session(joins).await;
        self.guests.push(Guest { person, session, seats, ranked: (Vec::new(), false) });
    }

    /// Returns the indexes and candidate ids of a participant's candidates, the best first.
    pub async fn candidates(&self, who: usize) -> Vec<(usize, String)> {
        let guest = &self.guests[who];
        let candidates = guest.person.candidates(&guest.session).await;
        let number = |candidate: &Value| {
            (self.number(candidate), candidate["candidate_id"].as_str().unwrap().to_owned())
        };
        candidates.iter().map(number).collect()
    }

    /// Returns the index of the participant whose listing a candidate shows.
    fn number(&self, candidate: &Value) -> usize {
        let listing = candidate["listing_card"]["listing_id"].as_str().unwrap();
        self.guests.iter().position(|guest| guest.person.listing_id == listing).unwrap()
    }

    pub async fn ranks(&mut self, who: usize, whom: &[usize], only_these: bool) {
        let candidates = self.candidates(who).await;
        let id =
            |number: &usize| &candidates.iter().find(|candidate| candidate.0 == *number).unwrap().1;
        let ids: Vec<_> = whom.iter().map(id).collect();
        let guest = &mut self.guests[who];
        let rank = json!({
            "session_id": guest.session, "ordered_candidate_ids": ids, "only_these": only_these,
        });
        guest.person.result("rank", rank).await;
        guest.ranked = (whom.to_vec(), only_these);
    }

    /// Returns the preference list of each participant, the best first: those they ranked, then,
    /// unless they accept nobody else, their other candidates in the order of the listing.
    async fn lists(&self) -> Vec<Vec<usize>> {
        let mut lists = Vec::new();
        for (who, guest) in self.guests.iter().enumerate() {
            let (ranked, only_these) = &guest.ranked;
            let there: Vec<_> =
                self.candidates(who).await.into_iter().map(|candidate| candidate.0).collect();
            let mut list: Vec<_> =
                ranked.iter().copied().filter(|number| there.contains(number)).collect();
            let others = there.into_iter().filter(|number| !only_these && !ranked.contains(number));
            list.extend(others);
            lists.push(list);
        }
        lists
    }

    /// Runs the round, and checks its outcome against the participants' rankings.
    pub async fn run(&self) -> Matched {
        let lists = self.lists().await;
        runs(self.host, &self.round).await;
        let (mut results, mut got) = (Vec::new(), Vec::new());
        for (guest, list) in self.guests.iter().zip(&lists) {
            let result = guest.outcome().await;
            let partners = result["partners"].as_array().unwrap().iter();
            let numbers: Vec<_> =
                partners.clone().map(|partner| self.number(&partner["partner"])).collect();
            for (partner, number) in partners.zip(&numbers) {
                let place = list.iter().position(|other| other == number).unwrap() + 1;
                assert_eq!(partner["rank_achieved"], place, "{result:#} {list:?}");
            }
            assert!(numbers.len() <= guest.seats, "{result:#}");
            got.push(numbers);
            results.push(result);
        }
        for (who, numbers) in got.iter().enumerate() {
            assert!(
                numbers.iter().all(|partner| got[*partner].contains(&who)),
                "a partner does not have the participant as a partner: {got:?}"
            );
        }
        let seats: Vec<_> = self.guests.iter().map(|guest| guest.seats).collect();
        let blocking_pairs = blocking_pairs(&lists, &seats, &got);
        let ran = |result: &&Value| result["state"] != "cancelled" && result["state"] != "closed";
        for result in results.iter().filter(ran) {
            let told = (&result["blocking_pairs"], &result["stable"]);
            let expected = (json!(blocking_pairs.len()), json!(blocking_pairs.is_empty()));
            assert_eq!(told, (&expected.0, &expected.1), "{lists:?} {got:?} {result:#}");
        }
        Matched { results, got, blocking_pairs }
    }
}

fn blocking_pairs(
    lists: &[Vec<usize>],
    seats: &[usize],
    got: &[Vec<usize>],
) -> Vec<(usize, usize)> {
    let place = |who: usize, whom: usize| lists[who].iter().position(|other| *other == whom);
    let rather = |who: usize, whom: usize| {
        let free = got[who].len() < seats[who];
        let least = got[who].iter().map(|partner| place(who, *partner).unwrap()).max();
        let wanted = place(who, whom).filter(|_| !got[who].contains(&whom));
        wanted.is_some_and(|wanted| free || least.is_some_and(|least| wanted < least))
    };
    let pairs =
        (0..lists.len()).flat_map(|one| (one + 1..lists.len()).map(move |other| (one, other)));
    pairs.filter(|(one, other)| rather(*one, *other) && rather(*other, *one)).collect()
}
