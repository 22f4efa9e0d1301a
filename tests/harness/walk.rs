//! A few people who match, propose, talk, meet, disclose contact data and block each other at
//! random, and the model of what each of them may read.

use crate::harness::{
    Agent, Host, Options, PATIENCE, Reply,
    calendars::{self, CALENDAR},
    conversations::CONVERSATIONS,
    credits::CREDITS,
    disclosures::{Disclosures, KINDS},
    listings::{Lister, action_body},
    matching::{self, MATCHING, Seeker},
    meetings::{MEETINGS, minute, slot},
    pairings::PAIRINGS,
    relationships::RELATIONSHIPS,
};
use rand::{RngExt as _, rngs::StdRng, seq::IndexedRandom as _};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

pub const PEOPLE: usize = 5;

/// Starts a host with every capability that the walks use.
pub async fn host() -> Host {
    let names = [&matching::CAPABILITIES[..], &["calendar", "thread_meetings"]].concat();
    // The tests make many calls, and none of them is about the time limit.
    let configuration = "[limits]\ncall_wall_time_ms = 30000\n";
    Host::start(Options::with(&names).configuration(configuration)).await
}

/// A person with a listing and contact data of their own.
pub struct Walker<'a> {
    pub seeker: Seeker<'a>,
    pub secrets: [String; KINDS.len()],
}

impl<'a> Walker<'a> {
    async fn new(host: &'a Host, number: usize) -> Self {
        let secrets = [
            format!("+1415555010{number}"),
            format!("walker{number}@mail.example"),
            format!("Quill Harrow{number}"),
            format!("{number}7 Lantern Row"),
            format!("https://quill{number}.example/me"),
        ];
        let lister = Lister::with(host, &secrets[0]).await;
        let profile = json!({
            "action": "update_profile", "birth_year": 1990, "display_name": format!("Walker {number}"),
            "links": [secrets[4]],
        });
        lister.agent().result("owners", profile).await;
        let brings = ["engineering", "sales"][number % 2];
        let listing_id =
            matching::create_listing(&lister, matching::cofounder_listing(brings, json!({}))).await;
        Self { seeker: Seeker { lister, listing_id }, secrets }
    }

    pub fn agent(&self) -> &Agent<'a> {
        self.seeker.lister.agent()
    }

    pub fn id(&self) -> &str {
        &self.seeker.lister.id
    }

    /// Returns everything that this person can read, of their own and of others: a private step of
    /// another person must not change it.
    pub async fn view(&self, world: &World<'_>) -> Vec<(String, Value)> {
        let mut calls = vec![
            (CREDITS, json!({ "action": "balance" })),
            (PAIRINGS, json!({ "action": "list", "limit": 100 })),
            (CONVERSATIONS, json!({ "action": "list", "limit": 100 })),
            (MEETINGS, json!({ "action": "list", "limit": 100 })),
            (MATCHING, json!({ "action": "list", "limit": 100 })),
            (RELATIONSHIPS, json!({ "action": "list", "limit": 100 })),
            (CALENDAR, self.calendar_query()),
        ];
        calls.extend(world.walkers.iter().map(|other| {
            let body = json!({ "action": "get", "listing_id": other.seeker.listing_id });
            ("agent_listings", body)
        }));
        let own =
            world.sessions.iter().filter(|(_, owner)| world.walkers[*owner].id() == self.id());
        calls.extend(own.map(|(session_id, _)| {
            let body = json!({ "action": "candidates", "session_id": session_id, "limit": 100 });
            (MATCHING, body)
        }));
        let mut view = Vec::new();
        for (capability, body) in calls {
            let mut reply = self.agent().call(capability, body.clone()).await;
            if let Some(meta) = reply.body.get_mut("meta") {
                *meta = Value::Null;
            }
            view.push((format!("{capability} {body}"), reply.body));
        }
        let inbox = self.seeker.lister.reader.page("wait=0&cursor=0&limit=100").await;
        view.push(("inbox".to_owned(), inbox["events"].clone()));
        view
    }

    fn calendar_query(&self) -> Value {
        json!({ "action": "list_events", "start": minute(-60), "end": minute(2_880), "limit": 100 })
    }

    /// Returns the meetings in the calendar, each as its start, its end and its id.
    pub async fn booked_meetings(&self) -> Vec<(String, String, String)> {
        let listed = self.agent().result(CALENDAR, self.calendar_query()).await;
        let meetings = listed["items"].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let meetings = meetings.filter(|event| event["kind"] == "meeting");
        meetings
            .map(|event| (text(&event["start"]), text(&event["end"]), text(&event["id"])))
            .collect()
    }
}

/// A step and its answer.
pub struct Step {
    pub by: usize,
    pub action: String,
    pub reply: Reply,
}

pub struct World<'a> {
    host: &'a Host,
    pub walkers: Vec<Walker<'a>>,
    pub disclosures: Disclosures,
    /// The ids of sessions, each with the index of its owner.
    sessions: Vec<(String, usize)>,
    pub pairings: BTreeSet<(String, usize, usize)>,
    pub threads: BTreeSet<(String, usize, usize)>,
    meetings: Vec<(String, usize, usize)>,
}

impl<'a> World<'a> {
    pub async fn new(host: &'a Host) -> Self {
        let mut walkers = Vec::new();
        for number in 0..PEOPLE {
            walkers.push(Walker::new(host, number).await);
        }
        Self {
            host,
            walkers,
            disclosures: Disclosures::default(),
            sessions: Vec::new(),
            pairings: BTreeSet::new(),
            threads: BTreeSet::new(),
            meetings: Vec::new(),
        }
    }

    /// Makes two people propose and accept, so that they have a conversation.
    pub async fn pair(&mut self, (from, to): (usize, usize)) {
        let [own, other] = [from, to].map(|walker| &self.walkers[walker].seeker.listing_id);
        let propose = json!({
            "action": "propose", "from_listing_id": own, "to_listing_id": other,
            "message": "Shall we build something?",
        });
        let proposed = self.call(from, PAIRINGS, propose).await.reply.body;
        let pairing = &proposed["result"]["pairing_id"];
        let accept = json!({ "action": "reply", "pairing_id": pairing, "decision": "accept" });
        let accepted = self.call(to, PAIRINGS, accept).await.reply;
        assert_eq!(accepted.status, 200, "{proposed:#} {}", accepted.text);
    }

    /// Waits until no event waits for a subscribing capability and no timer is due.
    pub async fn wait_until_settled(&self) {
        let started = Instant::now();
        let sql = "SELECT 'a delivery' FROM deliveries WHERE dead = 0 UNION ALL SELECT name FROM timers WHERE due_at < unixepoch() * 1000";
        while !self.host.database().texts(sql).await.is_empty() {
            assert!(started.elapsed() < PATIENCE);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Takes a random step that must be invisible to all other people, unless it
    /// connects two of them.
    pub async fn private_step(&mut self, random: &mut StdRng) -> Step {
        let by = random.random_range(0..PEOPLE);
        let own: Vec<_> = self.sessions.iter().filter(|session| session.1 == by).cloned().collect();
        let Some((session_id, _)) = own.choose(random) else {
            let listing_id = &self.walkers[by].seeker.listing_id;
            let body = json!({ "action": "create", "listing_id": listing_id });
            return self.call(by, MATCHING, body).await;
        };
        let of = |action: &str| json!({ "action": action, "session_id": session_id });
        match random.random_range(0..12) {
            0 => self.call(by, MATCHING, of("pause")).await,
            1 | 2 => self.call(by, MATCHING, of("resume")).await,
            3 => {
                let mut refine = of("refine");
                refine["patch"] =
                    json!({ "criteria": { "want": [matching::strength_criterion("sales")] } });
                self.call(by, MATCHING, refine).await
            }
            4 => {
                let start = random.random_range(0..20) * 15;
                let block = json!({
                    "action": "add_block", "start": minute(start), "end": minute(start + 10),
                    "label": "Dentist",
                });
                self.call(by, CALENDAR, block).await
            }
            5 => {
                let mute = ["mute", "unmute"][random.random_range(0..2)];
                let other = self.random_other(by, random);
                let body = json!({ "action": mute, "owner_id": self.walkers[other].id() });
                self.call(by, RELATIONSHIPS, body).await
            }
            _ => {
                let found = self.walkers[by].seeker.candidates(session_id).await;
                let Some(candidate) = found.choose(random) else {
                    return self.call(by, MATCHING, of("candidates")).await;
                };
                let mut decide = of("decide");
                decide["candidate_id"] = candidate["candidate_id"].clone();
                let decisions = ["interested", "interested", "pass", "later"];
                decide["decision"] = json!(decisions[random.random_range(0..decisions.len())]);
                self.call(by, MATCHING, decide).await
            }
        }
    }

    /// Takes a random step that concerns another person.
    pub async fn step(&mut self, random: &mut StdRng) -> Step {
        let one = random.random_range(0..PEOPLE);
        let other = self.random_other(one, random);
        match random.random_range(0..40) {
            0..5 => {
                let [from, to] = [one, other].map(|walker| &self.walkers[walker].seeker.listing_id);
                let propose = json!({
                    "action": "propose", "from_listing_id": from, "to_listing_id": to,
                    "message": "Shall we build something?",
                });
                self.call(one, PAIRINGS, propose).await
            }
            5..22 => self.pairing_step(random).await,
            22..26 => self.conversation_step(random).await,
            26..38 => self.meeting_step(random).await,
            number => {
                let action = if number == 38 { "block" } else { "unblock" };
                let body = json!({ "action": action, "owner_id": self.walkers[other].id() });
                self.call(one, RELATIONSHIPS, body).await
            }
        }
    }

    fn random_other(&self, one: usize, random: &mut StdRng) -> usize {
        (one + random.random_range(1..PEOPLE)) % PEOPLE
    }

    /// Returns one of the two people, or in one of twelve cases anybody.
    fn random_participant(&self, (one, other): (usize, usize), random: &mut StdRng) -> usize {
        match random.random_range(0..12) {
            0 => random.random_range(0..PEOPLE),
            number if number % 2 == 0 => one,
            _ => other,
        }
    }

    async fn pairing_step(&mut self, random: &mut StdRng) -> Step {
        // Mostly, pairings of people who are connected are chosen.
        let connected = |from: usize, to: usize| {
            self.threads.iter().any(|(_, one, other)| (*one, *other) == (from, to))
        };
        let prefers_connected = random.random_bool(0.6);
        let all: Vec<_> = self.pairings.iter().cloned().collect();
        let open: Vec<_> = all
            .iter()
            .filter(|pairing| prefers_connected && connected(pairing.1, pairing.2))
            .cloned()
            .collect();
        let Some((id, from, to)) = open.choose(random).or_else(|| all.choose(random)) else {
            return self.call(0, PAIRINGS, json!({ "action": "list" })).await;
        };
        let by = self.random_participant((*from, *to), random);
        let of = |action: &str, more: Value| {
            calendars::merged(json!({ "action": action, "pairing_id": id }), more)
        };
        let reply = |decision: &str| of("reply", json!({ "decision": decision }));
        let body = match random.random_range(0..20) {
            0..5 => reply("accept"),
            5 => reply("decline"),
            6 | 7 => of("reply", json!({ "decision": "ask", "message": "How do you work?" })),
            8 | 9 => of("message", json!({ "message": "In the mornings." })),
            10 => of("withdraw", json!({})),
            11 if random.random_bool(0.3) => of("close", json!({ "outcome": "met" })),
            12 => of("get", json!({})),
            _ => return self.disclosure_step(by, (*from, *to), id, random).await,
        };
        self.call(by, PAIRINGS, body).await
    }

    async fn disclosure_step(
        &mut self,
        by: usize,
        (from, to): (usize, usize),
        pairing: &str,
        random: &mut StdRng,
    ) -> Step {
        let kinds: Vec<usize> = (0..KINDS.len()).filter(|_| random.random_bool(0.6)).collect();
        let mut body = json!({
            "action": "disclose", "pairing_id": pairing,
            "fields": kinds.iter().map(|kind| KINDS[*kind]).collect::<Vec<_>>(),
        });
        let detailed = kinds.iter().filter(|kind| (1..4).contains(*kind));
        let secrets = &self.walkers[by].secrets;
        let details = detailed.map(|kind| (KINDS[*kind].to_owned(), json!(secrets[*kind])));
        let details: serde_json::Map<_, _> = details.collect();
        if !details.is_empty() {
            body["details"] = details.into();
        }
        let step = self.call(by, PAIRINGS, body).await;
        if step.reply.status == 200 {
            let other = if by == from { to } else { from };
            self.disclosures.record(by, other, pairing, &kinds);
        }
        step
    }

    async fn conversation_step(&mut self, random: &mut StdRng) -> Step {
        let all: Vec<_> = self.threads.iter().cloned().collect();
        let Some((id, one, other)) = all.choose(random) else {
            return self.call(0, CONVERSATIONS, json!({ "action": "list" })).await;
        };
        let by = self.random_participant((*one, *other), random);
        let body = match random.random_range(0..8) {
            0 => json!({ "action": "messages", "thread_id": id }),
            1 => json!({ "action": "close", "thread_id": id }),
            2 => json!({ "action": "archive", "thread_id": id }),
            _ => json!({ "action": "send", "thread_id": id, "text": "What about a prototype?" }),
        };
        self.call(by, CONVERSATIONS, body).await
    }

    async fn meeting_step(&mut self, random: &mut StdRng) -> Step {
        // There are few times to choose from, so that meetings overlap.
        let mut slots = || -> Vec<Value> {
            let count = random.random_range(1..3);
            (0..count).map(|_| slot(random.random_range(0..6) * 15)).collect()
        };
        let proposed = slots();
        let threads: Vec<_> = self.threads.iter().cloned().collect();
        let propose = self.meetings.len() < self.threads.len() || random.random_range(0..6) == 0;
        if let Some((id, one, other)) = threads.choose(random).filter(|_| propose) {
            let by = self.random_participant((*one, *other), random);
            let body = json!({
                "action": "propose", "thread_id": id, "title": "A first look", "duration_min": 30,
                "slots": proposed, "time_zone": "America/Los_Angeles",
            });
            return self.call(by, MEETINGS, body).await;
        }
        let Some((id, one, other)) = self.meetings.choose(random).cloned() else {
            return self.call(0, MEETINGS, json!({ "action": "list" })).await;
        };
        let by = self.random_participant((one, other), random);
        let of = |action: &str| json!({ "action": action, "meeting_id": id });
        let seen = self.walkers[by].agent().call(MEETINGS, of("get")).await.body["result"].clone();
        let offered = seen["slots"].as_array().and_then(|slots| slots.choose(random)).cloned();
        let offered = offered.unwrap_or_default()["slot_id"].clone();
        let body = match (random.random_range(0..16), offered.is_string()) {
            (0..7, true) => {
                let mut accept = of("accept");
                accept["slot_id"] = offered;
                accept["sequence"] = seen["sequence"].clone();
                accept
            }
            (7 | 8, true) => {
                let mut accept = of("accept_counter");
                accept["slot_id"] = offered;
                accept
            }
            (9..12, _) => calendars::merged(of("counter"), json!({ "slots": proposed })),
            (12, _) => calendars::merged(of("reschedule"), json!({ "slots": proposed })),
            (13, _) => of("cancel"),
            (14, _) => of("decline"),
            _ => of("decline_counter"),
        };
        self.call(by, MEETINGS, body).await
    }

    /// Makes a call, and records its result in the model.
    async fn call(&mut self, by: usize, capability: &str, body: Value) -> Step {
        let action = format!("{capability} {}", body["action"].as_str().unwrap());
        let reply = self.walkers[by].agent().call(capability, body).await;
        let result = &reply.body["result"];
        let text = |field: &str| result[field].as_str().map(str::to_owned);
        if action == "matching_sessions create" {
            self.sessions.extend(text("session_id").map(|id| (id, by)));
        }
        if let (PAIRINGS | MATCHING, Some(id)) = (capability, text("pairing_id")) {
            let known = self.pairings.iter().find(|pairing| pairing.0 == id).cloned();
            let pair = match known {
                Some((_, from, to)) => Some((from, to)),
                None => self.pair_of(by, &id).await,
            };
            if let Some((from, to)) = pair {
                self.pairings.insert((id, from, to));
                self.threads.extend(text("thread_id").map(|thread| (thread, from, to)));
            }
        }
        if action == "thread_meetings propose"
            && let (Some(id), Some(thread)) = (text("meeting_id"), text("thread_id"))
        {
            let (_, one, other) = self.threads.iter().find(|known| known.0 == thread).unwrap();
            self.meetings.push((id, *one, *other));
        }
        Step { by, action, reply }
    }

    /// Returns the two people of a pairing, as one of them sees it; `None` if the
    /// other one is not shown.
    async fn pair_of(&self, by: usize, pairing: &str) -> Option<(usize, usize)> {
        let get = action_body("get", &json!({ "pairing_id": pairing }));
        let seen = self.walkers[by].agent().call(PAIRINGS, get).await;
        let other = seen.body["result"]["other"]["owner_id"].as_str()?;
        let other = self.walkers.iter().position(|walker| walker.id() == other)?;
        Some((by, other))
    }

    /// Asserts that a text has no contact data that was not disclosed to the reader.
    pub fn assert_discloses_nothing(&self, by: usize, text: &str, what: &str) {
        for (owner, walker) in self.walkers.iter().enumerate().filter(|(owner, _)| *owner != by) {
            for (kind, secret) in walker.secrets.iter().enumerate() {
                let is_readable = self.disclosures.are_readable(by, owner, kind);
                assert!(
                    is_readable || !text.contains(secret),
                    "{what}: {by} reads {secret}: {text}"
                );
            }
        }
    }

    /// Asserts that a text has no contact data at all, not even exchanged data.
    pub fn assert_has_no_contact_data(&self, by: usize, text: &str, what: &str) {
        let others = self.walkers.iter().enumerate().filter(|(owner, _)| *owner != by);
        for secret in others.flat_map(|(_, walker)| &walker.secrets) {
            assert!(!text.contains(secret), "{what}: {by} reads {secret}: {text}");
        }
    }
}
