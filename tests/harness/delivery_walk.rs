//! A random walk in which people also set what events they want and when, and what reaches their inboxes,
//! streams and webhooks.

use crate::harness::{
    Host,
    arrivals::{poll, stream},
    conversations::CONVERSATIONS,
    delivery_model::{
        Cap, Counts, Digest, Event, Hours, NOTICES, Recipient, Settings, Span, ZONES, minute_of_day,
    },
    relationships::{OWNERS, RELATIONSHIPS},
    server::Server,
    time::{DAY, HOUR, MINUTE, SECOND},
    walk::{PEOPLE, Step, World},
    walk_office::{Office, are_colleagues, is_of_office},
    webhooks::{accepting_receiver, event},
};
use rand::{RngExt as _, rngs::StdRng, seq::IndexedRandom as _};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// Families and types of events that people disable, cap and have delivered once a day.
const FAMILIES: [&str; 9] = [
    "conversation",
    "identity",
    "match",
    "meeting",
    "meeting.confirmed",
    "notifications",
    "owner",
    "pairing",
    "relationship",
];
/// The people who read a stream, and who have a webhook, instead of polling; and those who set caps.
const STREAMING: [usize; 2] = [0, 1];
const WITH_WEBHOOK: [usize; 2] = [2, 3];
const CAPPING: [usize; 2] = [3, 4];
/// No step takes longer, so that none goes on into the next minute if it begins early enough in its own.
const LONGEST_STEP: Duration = Duration::from_secs(40);

pub struct DeliveryWalk<'a> {
    host: &'a Host,
    pub world: World<'a>,
    office: Office,
    recipients: Vec<Recipient>,
    agents: Vec<String>,
    /// The number of events in each inbox that were read.
    read: BTreeMap<String, u64>,
    last_event: u64,
    webhooks: Vec<(usize, Server)>,
    /// The ids of the events that have reached each person.
    arrived: Vec<BTreeSet<String>>,
    blocks: BTreeSet<(usize, usize)>,
    pub counts: Counts,
}

fn now(host: &Host) -> u64 {
    host.clock.now().as_millis()
}

fn instant(at: u64) -> String {
    jiff::Timestamp::from_millisecond(i64::try_from(at).unwrap()).unwrap().to_string()
}

impl<'a> DeliveryWalk<'a> {
    pub async fn new(host: &'a Host, counts: Counts) -> Self {
        let mut world = World::new(host).await;
        for pair in [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)] {
            world.pair(pair).await;
        }
        let office = Office::open(&world.walkers).await;
        let mut webhooks = Vec::new();
        for person in WITH_WEBHOOK {
            let server = accepting_receiver().await;
            world.walkers[person].seeker.lister.reader.subscribe(server.port).await;
            webhooks.push((person, server));
        }
        let (mut recipients, mut agents) = (Vec::new(), Vec::new());
        for walker in &world.walkers {
            let listed = walker.agent().result(OWNERS, json!({ "action": "list_agents" })).await;
            agents.push(listed["items"][0]["agent_id"].as_str().unwrap().to_owned());
            let always = walker.preferences().await["always_delivered"].clone();
            recipients.push(Recipient::new(serde_json::from_value(always).unwrap()));
        }
        let mut this = Self {
            host,
            world,
            office,
            recipients,
            agents,
            read: BTreeMap::new(),
            last_event: 0,
            webhooks: Vec::new(),
            arrived: vec![BTreeSet::new(); PEOPLE],
            blocks: BTreeSet::new(),
            counts,
        };
        // Events that were published before are not part of the walk.
        host.wait_until_settled().await;
        this.new_events().await;
        for person in 0..PEOPLE {
            this.new_arrivals(person).await;
        }
        for (_, server) in &webhooks {
            server.forget_requests();
        }
        this.webhooks = webhooks;
        let from = now(host);
        for person in CAPPING {
            let cap = |events: &str| Cap { events: events.to_owned(), most: 1, hours: 1 };
            let caps = vec![cap("conversation"), cap("relationship")];
            this.prefer(person, Settings { caps, ..Settings::default() }).await;
        }
        this.observe(from).await;
        this
    }

    /// Takes a step, and checks what has reached whom.
    pub async fn step(&mut self, random: &mut StdRng) {
        self.reach_room_for_a_step().await;
        let from = now(self.host);
        match random.random_range(0..20) {
            0..5 => {
                let step = self.world.step(random).await;
                self.note(&step);
            }
            5..9 => self.talk(random).await,
            9..11 => {
                let step = self.world.private_step(random).await;
                self.note(&step);
            }
            11..13 => self.relate(random).await,
            13..17 => self.set(random).await,
            17 => self.mute_conversation(random).await,
            _ => {
                let times = [SECOND * 61, MINUTE * 10, HOUR, HOUR * 3, HOUR * 8];
                return self.advance(*times.choose(random).unwrap()).await;
            }
        }
        self.observe(from).await;
    }

    /// Lets somebody write to the organisation or act for it, or want more or less of what it causes, and
    /// checks what has reached whom.
    pub async fn work(&mut self, random: &mut StdRng) {
        self.reach_room_for_a_step().await;
        let from = now(self.host);
        match random.random_range(0..6) {
            0 => self.set_for_work(random).await,
            _ => self.office.step(&self.world.walkers, random).await,
        }
        self.observe(from).await;
    }

    /// Lets somebody disable the events of organisations or applications, or want them again.
    async fn set_for_work(&mut self, random: &mut StdRng) {
        let person = random.random_range(0..PEOPLE);
        let mut settings = self.recipients[person].settings.clone();
        let family = *["application", "org"].choose(random).unwrap();
        match settings.disabled.iter().position(|disabled| disabled == family) {
            Some(place) => drop(settings.disabled.remove(place)),
            None => settings.disabled.push(family.to_owned()),
        }
        self.prefer(person, settings).await;
    }

    /// Waits for the next minute, if a step could go on into it.
    async fn reach_room_for_a_step(&mut self) {
        let in_minute = Duration::from_millis(now(self.host) % 60_000);
        if in_minute + LONGEST_STEP > MINUTE {
            self.advance(MINUTE - in_minute + SECOND).await;
        }
    }

    async fn advance(&mut self, time: Duration) {
        self.host.wait_until_settled().await;
        self.host.clock.advance(time);
        self.observe(now(self.host)).await;
    }

    /// Takes everything back that keeps events from people, and asserts that none is lost.
    pub async fn finish(&mut self) {
        let from = now(self.host);
        for person in 0..PEOPLE {
            let agent = self.world.walkers[person].agent();
            let mut muted = self.recipients[person].settings.muted.clone();
            for subject in muted.clone().into_keys() {
                let (capability, field) = match subject.starts_with("own_") {
                    true => (RELATIONSHIPS, "owner_id"),
                    false => (CONVERSATIONS, "thread_id"),
                };
                let unmute = json!({ "action": "unmute", field: subject });
                if agent.call(capability, unmute).await.status == 200 {
                    muted.remove(&subject);
                }
            }
            self.prefer(person, Settings { muted, ..Settings::default() }).await;
        }
        self.observe(from).await;
        for _ in 0..2 {
            self.advance(DAY + HOUR).await;
        }
        for (person, recipient) in self.recipients.iter().enumerate() {
            let held = self.world.walkers[person].preferences().await["held_events"].clone();
            assert_eq!(held, 0, "{person}");
            recipient.close(&mut self.counts);
        }
    }

    /// Applies a step of the walk to the model.
    fn note(&mut self, step: &Step) {
        assert!(!step.reply.status.is_server_error(), "{}: {}", step.action, step.reply.text);
        let result = &step.reply.body["result"];
        let other = self.world.walkers.iter().position(|walker| result["owner_id"] == walker.id());
        let (200, Some(other)) = (step.reply.status.as_u16(), other) else { return };
        let (now, by) = (now(self.host), step.by);
        let id = self.world.walkers[other].id().to_owned();
        let mut settings = self.recipients[by].settings.clone();
        match step.action.as_str() {
            "social_relationships mute" => settings.mute(&id, None, now),
            "social_relationships unmute" => drop(settings.muted.remove(&id)),
            "social_relationships block" => drop(self.blocks.insert((by, other))),
            "social_relationships unblock" => drop(self.blocks.remove(&(by, other))),
            _ => return,
        }
        self.recipients[by].change(settings, now);
        if are_colleagues(by, other) {
            return;
        }
        let is_blocked = [(by, other), (other, by)].iter().any(|pair| self.blocks.contains(pair));
        for (one, other) in [(by, other), (other, by)] {
            let other = self.world.walkers[other].id().to_owned();
            let blocked = &mut self.recipients[one].blocked;
            match is_blocked {
                true => drop(blocked.entry(other).or_insert(now)),
                false => drop(blocked.remove(&other)),
            }
        }
    }

    /// Lets people follow and connect.
    async fn relate(&mut self, random: &mut StdRng) {
        let by = random.random_range(0..PEOPLE);
        let other = (by + random.random_range(1..PEOPLE)) % PEOPLE;
        let mut body = json!({ "owner_id": self.world.walkers[other].id() });
        let actions = ["connect", "follow", "accept", "accept", "disconnect", "unfollow", "reject"];
        let action = *actions.choose(random).unwrap();
        if ["accept", "reject"].contains(&action) {
            body["kind"] = json!(["connect", "follow"].choose(random).unwrap());
        }
        body["action"] = json!(action);
        let reply = self.world.walkers[by].agent().call(RELATIONSHIPS, body).await;
        assert!(!reply.status.is_server_error(), "{}", reply.text);
    }

    async fn talk(&mut self, random: &mut StdRng) {
        let threads: Vec<_> = self.world.threads.iter().cloned().collect();
        let Some((thread, one, other)) = threads.choose(random) else { return };
        let by = *[*one, *other].choose(random).unwrap();
        let body = json!({ "action": "send", "thread_id": thread, "text": "One more thing." });
        for _ in 0..random.random_range(1..4) {
            let reply = self.world.walkers[by].agent().call(CONVERSATIONS, body.clone()).await;
            assert!(!reply.status.is_server_error(), "{}", reply.text);
        }
    }

    async fn mute_conversation(&mut self, random: &mut StdRng) {
        let threads: Vec<_> = self.world.threads.iter().cloned().collect();
        let Some((thread, one, other)) = threads.choose(random) else { return };
        let by = *[*one, *other].choose(random).unwrap();
        let mut settings = self.recipients[by].settings.clone();
        let mut body = json!({ "thread_id": thread });
        if random.random_bool(0.6) {
            body["action"] = json!("mute");
            // To the second, which is what the host gets.
            let until = now(self.host) / 1000 * 1000 + random.random_range(5..300) * 60_000;
            let until = random.random_bool(0.7).then_some(until);
            if let Some(until) = until {
                body["until"] = json!(instant(until));
            }
            settings.mute(thread, until, now(self.host));
        } else {
            body["action"] = json!("unmute");
            settings.muted.remove(thread);
        }
        let reply = self.world.walkers[by].agent().call(CONVERSATIONS, body).await;
        assert!(!reply.status.is_server_error(), "{}", reply.text);
        if reply.status == 200 {
            self.recipients[by].change(settings, now(self.host));
        }
    }

    /// Changes one of the preferences of somebody.
    async fn set(&mut self, random: &mut StdRng) {
        let person = random.random_range(0..PEOPLE);
        let mut settings = self.recipients[person].settings.clone();
        let (_, offset) = *ZONES.choose(random).unwrap();
        let minute = minute_of_day(now(self.host), offset);
        let after = |minutes: i64| (minute + minutes).rem_euclid(24 * 60);
        let families = |random: &mut StdRng| -> Vec<String> {
            FAMILIES.sample(random, 2).map(|name| (*name).to_owned()).collect()
        };
        match random.random_range(0..9) {
            // The hours have begun, or begin soon.
            0..3 => {
                let from = after(random.random_range(-60..30));
                let to = (from + random.random_range(40..600)).rem_euclid(24 * 60);
                settings.quiet = random.random_bool(0.8).then_some(Hours { from, to, offset });
            }
            3 | 4 => {
                settings.disabled =
                    if random.random_bool(0.7) { families(random) } else { Vec::new() };
            }
            5 => {
                let types = NOTICES.iter().filter(|_| random.random_bool(0.3));
                settings.without_notice = types.map(|(_, name)| (*name).to_owned()).collect();
            }
            6 => {
                let (events, at) = (families(random), after(random.random_range(20..400)));
                settings.digest = random.random_bool(0.8).then_some(Digest { events, at, offset });
            }
            _ if CAPPING.contains(&person) => {
                let often = ["conversation", "pairing", "relationship"];
                settings.caps = often
                    .sample(random, 2)
                    .map(|events| Cap {
                        events: (*events).to_owned(),
                        most: 1,
                        hours: if events.len() > 7 { 1 } else { 24 },
                    })
                    .collect();
            }
            _ => (settings.quiet, settings.digest) = (None, None),
        }
        self.prefer(person, settings).await;
    }

    /// Sets all preferences of a person.
    async fn prefer(&mut self, person: usize, settings: Settings) {
        let body = settings.body();
        self.world.walkers[person].agent().result(OWNERS, body).await;
        self.recipients[person].change(settings, now(self.host));
    }

    /// Checks what was published and what has arrived since the last check, in a step that began then.
    async fn observe(&mut self, from: u64) {
        self.host.wait_until_settled().await;
        let span = Span { from, to: now(self.host) };
        for (person, event) in self.new_events().await {
            self.counts.of_office += usize::from(is_of_office(&event.event_type));
            self.recipients[person].publish(event);
        }
        for person in 0..PEOPLE {
            for id in self.new_arrivals(person).await {
                self.recipients[person].deliver(&id, span);
                assert!(self.arrived[person].insert(id));
            }
            self.recipients[person].settle(span, &mut self.counts);
        }
        let held = "SELECT owner_id || ' ' || count(*) FROM held_events GROUP BY owner_id";
        let held = numbers(&self.host.database().texts(held).await);
        for (person, recipient) in self.recipients.iter().enumerate() {
            let (least, most) = recipient.held();
            let held = held.get(self.world.walkers[person].id()).copied().unwrap_or_default();
            let held = usize::try_from(held).unwrap();
            assert!((least..=most).contains(&held), "{held} of {least} to {most} are held");
        }
    }

    /// Returns the ids of the events that a webhook has received since the last call.
    fn new_requests(&self, person: usize, server: &Server) -> Vec<String> {
        let requests = server.requests();
        let ids = requests.iter().map(|request| event(request)["id"].as_str().unwrap().to_owned());
        let ids: Vec<String> = ids.collect();
        let distinct: BTreeSet<&String> = ids.iter().collect();
        assert_eq!(ids.len(), distinct.len(), "something was delivered twice");
        ids.into_iter().filter(|id| !self.arrived[person].contains(id)).collect()
    }

    /// Returns the events for people that were published since the last call, each with its person.
    async fn new_events(&mut self) -> Vec<(usize, Event)> {
        let rows = format!(
            "SELECT json_object('seq', seq, 'id', id, 'event_type', event_type, 'subject', subject,
             'data', data, 'to', audience_id, 'occurred_at', occurred_at) FROM events
             WHERE seq > {} AND audience IN ('agent', 'owner') ORDER BY seq",
            self.last_event
        );
        let rows = self.host.database().texts(&rows).await;
        let rows: Vec<Value> = rows.iter().map(|row| serde_json::from_str(row).unwrap()).collect();
        self.last_event = rows.last().map_or(self.last_event, |row| row["seq"].as_u64().unwrap());
        let person = |row: &Value| {
            let is_to = |person: &usize| {
                row["to"] == self.world.walkers[*person].id() || row["to"] == *self.agents[*person]
            };
            (0..PEOPLE).find(is_to)
        };
        rows.iter().filter_map(|row| Some((person(row)?, Event::of(row)))).collect()
    }

    /// Returns the ids of the events that have reached a person since the last call, and acknowledges them.
    async fn new_arrivals(&mut self, person: usize) -> Vec<String> {
        let agent = &self.agents[person];
        let last =
            format!("SELECT agent_id || ' ' || last_seq FROM inboxes WHERE agent_id = '{agent}'");
        let last = numbers(&self.host.database().texts(&last).await);
        let last = last.get(agent).copied().unwrap_or_default();
        let before = self.read.insert(agent.clone(), last).unwrap_or_default();
        let count = usize::try_from(last - before).unwrap();
        if count == 0 {
            return Vec::new();
        }
        let reader = &self.world.walkers[person].seeker.lister.reader;
        let webhook = self.webhooks.iter().find(|(of, _)| *of == person);
        let ids = match webhook {
            // Events that a webhook has accepted are acknowledged in the inbox.
            Some((_, server)) => self.new_requests(person, server),
            None if STREAMING.contains(&person) => stream(reader, before, count).await,
            None => poll(reader, before).await,
        };
        assert_eq!(ids.len(), count, "{ids:?}");
        for ids in ids.chunks(100) {
            reader.acknowledge(&ids.iter().map(String::as_str).collect::<Vec<_>>()).await;
        }
        ids
    }
}

/// Returns the numbers of rows that are an id and a number.
fn numbers(rows: &[String]) -> BTreeMap<String, u64> {
    let number = |row: &String| {
        let (id, number) = row.split_once(' ').unwrap();
        (id.to_owned(), number.parse().unwrap())
    };
    rows.iter().map(number).collect()
}
