//! The people of the scripted month, the passing of its days, and what reaches their agents when.

use crate::harness::{
    Agent, Host, Reply,
    listings::{Lister, action_body},
    time::DAY,
};
use serde_json::{Value, json};
use std::{collections::BTreeSet, time::Duration};

pub const ADA: usize = 0;
pub const BEN: usize = 1;
pub const CLEO: usize = 2;
pub const DAN: usize = 3;
pub const EVE: usize = 4;
pub const PEOPLE: [usize; 5] = [ADA, BEN, CLEO, DAN, EVE];
const NAMES: [&str; 5] = ["Ada", "Ben", "Cleo", "Dan", "Eve"];
/// The phone numbers. Each agent of the second one is the same person's.
pub const PHONES: [&str; 5] =
    ["+14155550100", "+14155550115", "+14155550102", "+14155550103", "+14155550104"];

/// The quiet hours of Ada and Dan, and the time of Cleo's digest of conversations, in UTC.
pub const QUIET: [&str; 2] = ["22:00", "07:00"];
pub const DIGEST_AT: &str = "18:00";
/// Words of titles and messages that the people write.
const THEIR_WORDS: [&str; 8] = [
    "Quillfeather",
    "brindlemoss",
    "tarnwhistle",
    "Rust engineer",
    "Sunny room",
    "term sheet",
    "sort laundry",
    "know hospitals",
];
/// When all agents look into their inboxes: just before the digest, when the quiet hours begin, and
/// just before they end.
const LOOKS: [&str; 3] = ["06:59", "17:59", "22:00"];

/// An event, and the interval in which it reached an agent: between two looks into the inbox.
pub struct Arrival {
    pub person: usize,
    pub after: String,
    pub by: String,
    pub event: Value,
}

impl Arrival {
    pub fn kind(&self) -> &str {
        self.event["type"].as_str().unwrap()
    }

    /// Returns whether the event names this id.
    pub fn names(&self, id: &str) -> bool {
        self.event.to_string().contains(id)
    }
}

/// A silence: from an instant on, one person hears nothing of another one.
pub struct Silence {
    pub person: usize,
    pub other: usize,
    pub since: String,
}

pub struct Month<'a> {
    pub host: &'a Host,
    pub people: Vec<Lister<'a>>,
    /// The people who still have an agent.
    pub present: BTreeSet<usize>,
    pub arrivals: Vec<Arrival>,
    pub silences: Vec<Silence>,
    last_look: String,
}

/// Returns the text of all files of the archive of a person's data, which is ready.
pub async fn download(agent: &Agent<'_>, export_id: &Value) -> String {
    let (mut text, mut part) = (String::new(), json!(1));
    while !part.is_null() {
        let input =
            json!({ "action": "download", "export_id": export_id, "part": part, "limit": 10 });
        let mut parts = agent.result("data_rights", input).await;
        for item in parts["items"].as_array().unwrap() {
            text.push_str(item["text"].as_str().unwrap());
        }
        part = parts["next_part"].take();
    }
    text
}

fn minutes(time_of_day: &str) -> u64 {
    let (hour, minute) = time_of_day.split_once(':').unwrap();
    hour.parse::<u64>().unwrap() * 60 + minute.parse::<u64>().unwrap()
}

/// Returns the time from an instant to the next occurrence of a time of the day, in UTC.
fn until(now: &str, time_of_day: &str) -> Duration {
    let at = minutes(&now[11..16]);
    let seconds: f64 = now[17..].trim_end_matches('Z').parse().unwrap();
    let left = (minutes(time_of_day) + 1440 - at - 1) % 1440 + 1;
    Duration::from_secs(left * 60) - Duration::from_secs_f64(seconds)
}

impl<'a> Month<'a> {
    /// Begins a month at eight in the morning, with the people, whose agents they have claimed.
    pub async fn begin(host: &'a Host) -> Self {
        let now = host.instant_after(Duration::ZERO);
        host.advance(until(&now, "08:00")).await;
        let mut people = Vec::new();
        for (name, phone) in NAMES.iter().zip(PHONES) {
            let person = Lister::with(host, phone).await;
            let profile =
                json!({ "action": "update_profile", "birth_year": 1990, "display_name": name });
            person.agent().result("owners", profile).await;
            people.push(person);
        }
        let (present, last_look) = (PEOPLE.into(), host.instant_after(Duration::ZERO));
        let mut month =
            Self { host, people, present, arrivals: Vec::new(), silences: Vec::new(), last_look };
        month.look().await;
        month
    }

    pub fn id(&self, person: usize) -> &str {
        &self.people[person].id
    }

    pub fn now(&self) -> String {
        self.host.instant_after(Duration::ZERO)
    }

    /// Makes a call. The service's own words in the answer contain none of other people's.
    pub async fn call(&self, by: usize, capability: &str, action: &str, fields: Value) -> Reply {
        let reply = self.people[by].agent().call(capability, action_body(action, &fields)).await;
        let own = [&reply.body["next"], &reply.body["message"]].map(Value::to_string).concat();
        assert!(THEIR_WORDS.iter().all(|word| !own.contains(word)), "{}", reply.text);
        reply
    }

    /// Makes a call that must succeed, and returns its result.
    pub async fn ok(&self, by: usize, capability: &str, action: &str, fields: Value) -> Value {
        let reply = self.call(by, capability, action, fields).await;
        assert_eq!(reply.status, 200, "{} {capability} {action}: {}", NAMES[by], reply.text);
        reply.body["result"].clone()
    }

    /// Returns the items of a list, which fit into one page.
    pub async fn list(&self, by: usize, capability: &str, fields: Value) -> Vec<Value> {
        let mut fields = fields;
        fields["limit"] = json!(100);
        let page = self.ok(by, capability, "list", fields).await;
        assert_eq!(page["next_cursor"], Value::Null, "{capability}: more than one page");
        page["items"].as_array().unwrap().clone()
    }

    /// Creates a listing, and returns its id.
    pub async fn publish(&self, by: usize, listing: Value) -> String {
        let created = self.ok(by, "agent_listings", "create", listing).await;
        assert_eq!(created["state"], "active", "{created:#}");
        created["listing_id"].as_str().unwrap().to_owned()
    }

    /// Proposes one listing to another one, and returns the pairing's id.
    pub async fn propose(&self, by: usize, from: &str, to: &str) -> String {
        let fields = json!({
            "from_listing_id": from, "to_listing_id": to, "message": "Shall we talk about it?",
        });
        let proposed = self.ok(by, "pairings", "propose", fields).await;
        proposed["pairing_id"].as_str().unwrap().to_owned()
    }

    pub async fn pairing(&self, by: usize, action: &str, id: &str, mut fields: Value) -> Value {
        fields["pairing_id"] = json!(id);
        self.ok(by, "pairings", action, fields).await
    }

    pub async fn accept(&self, by: usize, pairing: &str) -> Value {
        self.pairing(by, "reply", pairing, json!({ "decision": "accept" })).await["thread_id"]
            .clone()
    }

    pub async fn write(&self, by: usize, thread_id: &Value, text: &str) -> Value {
        self.ok(by, "conversations", "send", json!({ "thread_id": thread_id, "text": text })).await
    }

    /// Lets every agent that is left read and acknowledge its inbox.
    pub async fn look(&mut self) {
        self.host.wait_until_settled().await;
        let by = self.now();
        for &person in &self.present {
            let reader = &self.people[person].reader;
            loop {
                let page = reader.page("wait=0&limit=100").await;
                let events = page["events"].as_array().unwrap();
                let ids: Vec<_> =
                    events.iter().map(|event| event["id"].as_str().unwrap()).collect();
                if ids.is_empty() {
                    break;
                }
                reader.acknowledge(&ids).await;
                let after = self.last_look.clone();
                for event in events {
                    let own = [&event["data"]["next"], &event["data"]["summary"]];
                    let own = own.map(Value::to_string).concat();
                    assert!(THEIR_WORDS.iter().all(|word| !own.contains(word)), "{event:#}");
                }
                self.arrivals.extend(events.iter().map(|event| Arrival {
                    person,
                    after: after.clone(),
                    by: by.clone(),
                    event: event.clone(),
                }));
            }
        }
        self.last_look = by;
    }

    /// Lets time pass to the next occurrence of this time of the day.
    pub async fn pass_to(&mut self, time_of_day: &str) {
        loop {
            self.look().await;
            let now = self.now();
            let stops = LOOKS.into_iter().chain([time_of_day]);
            let next = stops.min_by_key(|stop| until(&now, stop)).unwrap();
            self.host.advance(until(&now, next)).await;
            if next == time_of_day {
                return self.look().await;
            }
        }
    }

    /// Lets this number of days pass, to nine in the morning.
    pub async fn pass(&mut self, days: usize) {
        for _ in 0..days {
            self.pass_to("09:00").await;
        }
    }

    /// Notes that from now on nothing that the other one causes may reach the person.
    pub fn silence(&mut self, person: usize, other: usize) {
        let since = self.now();
        self.silences.push(Silence { person, other, since });
    }

    /// Returns the arrivals of one type at one person.
    pub fn arrived(&self, person: usize, kind: &str) -> Vec<&Arrival> {
        let all = self.arrivals.iter();
        all.filter(|arrival| arrival.person == person && arrival.kind() == kind).collect()
    }

    /// Returns the only event of a type that names an id, which has reached the person.
    pub fn the_event(&self, person: usize, kind: &str, id: &str) -> &Value {
        let arrived = self.arrived(person, kind);
        let named: Vec<_> = arrived.iter().filter(|arrival| arrival.names(id)).collect();
        assert_eq!(named.len(), 1, "{} {kind} {id}: {:#?}", NAMES[person], self.types_of(person));
        &named[0].event
    }

    pub fn types_of(&self, person: usize) -> Vec<(&str, &str)> {
        let all = self.arrivals.iter().filter(|arrival| arrival.person == person);
        all.map(|arrival| (arrival.by.as_str(), arrival.kind())).collect()
    }

    /// Returns the instant this many days later, at an hour, as text.
    pub fn at(&self, days: u32, hour: u32) -> String {
        format!("{}T{hour:02}:00:00Z", &self.host.instant_after(DAY * days)[..10])
    }
}
