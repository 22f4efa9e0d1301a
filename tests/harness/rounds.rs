//! Rounds, and the people who take part in them.

use crate::harness::{
    Host, Reply, conversations,
    matching::{Seeker, kept, ok, operate},
    time::HOUR,
};
use serde_json::{Value, json};
use std::time::Duration;

/// A category in which those who offer and those who seek meet.
pub const TWO_SIDES: &str = "lead.general";
/// One in which all are of one side.
pub const ONE_SIDE: &str = "venture.cofounder";

/// The id of a round that runs in an hour.
pub async fn opened(host: &Host, category: &str) -> String {
    opened_for(host, category, HOUR).await
}

/// The id of a round that runs in so much time.
pub async fn opened_for(host: &Host, category: &str, time: Duration) -> String {
    let round = json!({ "category": category, "title": "Evening", "deadline": host.later(time) });
    let round = ok(&operate(host, "open_round", round).await);
    round["round_id"].as_str().unwrap().to_owned()
}

/// Lets the deadline of a round come, at which it runs.
pub async fn runs(host: &Host, round: &str) {
    host.reach(round, "deadline").await;
    conversations::until("the round runs", async || kept(host, round).await != "open").await;
}

/// So many people who seek an hour of somebody's time.
pub async fn seek(host: &Host, count: usize) -> Vec<Seeker<'_>> {
    lead(host, "demand", count).await
}

/// So many who offer it.
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
    /// The id of a session that takes part in a round.
    pub async fn joins(&self, round: &str) -> String {
        self.session(json!({ "mode": "round", "round_id": round })).await
    }

    pub async fn join(&self, round: &str) -> Reply {
        let body = json!({ "listing_id": self.listing_id, "mode": "round", "round_id": round });
        self.call("create", body).await
    }

    /// Says whether they want the one whom the round has found.
    pub async fn confirm(&self, session: &str, accept: bool) -> Reply {
        self.call("confirm", json!({ "session_id": session, "accept": accept })).await
    }

    pub async fn outcome(&self, session: &str) -> Value {
        self.result("result", json!({ "session_id": session })).await
    }
}

/// Somebody who takes part.
pub struct Guest<'a> {
    pub person: &'a Seeker<'a>,
    pub session: String,
    /// How many they take.
    pub seats: usize,
    /// Whom they ranked, and whether they want nobody else.
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

    /// The types of what this person was told of the round, once it is so much.
    pub async fn heard_types(&self, count: usize) -> Vec<String> {
        self.person.heard_types(&self.session, count).await
    }
}

/// A round with its guests, who are known by their numbers.
pub struct Room<'a> {
    host: &'a Host,
    pub round: String,
    pub guests: Vec<Guest<'a>>,
}

/// What a round came to.
pub struct Matched {
    /// Of each guest.
    pub results: Vec<Value>,
    /// Whom each got.
    pub got: Vec<Vec<usize>>,
    /// Who would both rather have each other than somebody they got, or a seat that is free.
    pub blocking_pairs: Vec<(usize, usize)>,
}

impl<'a> Room<'a> {
    /// A round that these join; each takes one.
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

    /// The numbers of those whom a guest could get, the best first, and their candidates' ids.
    pub async fn candidates(&self, who: usize) -> Vec<(usize, String)> {
        let guest = &self.guests[who];
        let candidates = guest.person.candidates(&guest.session).await;
        let number =
            |it: &Value| (self.number(it), it["candidate_id"].as_str().unwrap().to_owned());
        candidates.iter().map(number).collect()
    }

    /// Of whom a candidate is.
    fn number(&self, candidate: &Value) -> usize {
        let listing = candidate["listing_card"]["listing_id"].as_str().unwrap();
        self.guests.iter().position(|it| it.person.listing_id == listing).unwrap()
    }

    pub async fn ranks(&mut self, who: usize, whom: &[usize], only_these: bool) {
        let candidates = self.candidates(who).await;
        let id = |number: &usize| &candidates.iter().find(|it| it.0 == *number).unwrap().1;
        let ids: Vec<_> = whom.iter().map(id).collect();
        let guest = &mut self.guests[who];
        let rank = json!({
            "session_id": guest.session, "ordered_candidate_ids": ids, "only_these": only_these,
        });
        guest.person.result("rank", rank).await;
        guest.ranked = (whom.to_vec(), only_these);
    }

    /// Whom each would have, the dearest first: as they ranked them, then the others as they are
    /// listed.
    async fn lists(&self) -> Vec<Vec<usize>> {
        let mut lists = Vec::new();
        for (who, guest) in self.guests.iter().enumerate() {
            let (ranked, only_these) = &guest.ranked;
            let there: Vec<_> = self.candidates(who).await.into_iter().map(|it| it.0).collect();
            let mut list: Vec<_> = ranked.iter().copied().filter(|it| there.contains(it)).collect();
            let others = there.into_iter().filter(|it| !only_these && !ranked.contains(it));
            list.extend(others);
            lists.push(list);
        }
        lists
    }

    /// Lets the round run, and judges what it came to by what the guests said.
    pub async fn run(&self) -> Matched {
        let lists = self.lists().await;
        runs(self.host, &self.round).await;
        let (mut results, mut got) = (Vec::new(), Vec::new());
        for (guest, list) in self.guests.iter().zip(&lists) {
            let result = guest.outcome().await;
            let partners = result["partners"].as_array().unwrap().iter();
            let numbers: Vec<_> = partners.clone().map(|it| self.number(&it["partner"])).collect();
            for (partner, number) in partners.zip(&numbers) {
                let place = list.iter().position(|it| it == number).unwrap() + 1;
                assert_eq!(partner["rank_achieved"], place, "{result:#} {list:?}");
            }
            assert!(numbers.len() <= guest.seats, "{result:#}");
            got.push(numbers);
            results.push(result);
        }
        for (who, numbers) in got.iter().enumerate() {
            assert!(
                numbers.iter().all(|it| got[*it].contains(&who)),
                "each is the other's: {got:?}"
            );
        }
        let seats: Vec<_> = self.guests.iter().map(|it| it.seats).collect();
        let blocking_pairs = blocking_pairs(&lists, &seats, &got);
        let ran = |it: &&Value| it["state"] != "cancelled" && it["state"] != "closed";
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
    let place = |who: usize, whom: usize| lists[who].iter().position(|it| *it == whom);
    let rather = |who: usize, whom: usize| {
        let free = got[who].len() < seats[who];
        let least = got[who].iter().map(|it| place(who, *it).unwrap()).max();
        let wanted = place(who, whom).filter(|_| !got[who].contains(&whom));
        wanted.is_some_and(|wanted| free || least.is_some_and(|least| wanted < least))
    };
    let pairs = (0..lists.len()).flat_map(|one| (one + 1..lists.len()).map(move |it| (one, it)));
    pairs.filter(|(one, other)| rather(*one, *other) && rather(*other, *one)).collect()
}
