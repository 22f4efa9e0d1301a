//! Hosts with listings, and people who create and search them.

use crate::harness::{Agent, Host, PATIENCE, Reply, inbox::Reader};
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

pub use crate::harness::component_sets::LISTINGS as CAPABILITIES;

pub const LISTINGS: &str = "agent_listings";

pub async fn host() -> Host {
    Host::with(&CAPABILITIES).await
}

/// A person with an agent.
pub struct Lister<'a> {
    pub reader: Reader<'a>,
    pub id: String,
}

impl<'a> Lister<'a> {
    pub async fn new(host: &'a Host) -> Self {
        Self::with(host, "+14155550100").await
    }

    /// Registers an agent of a person with this phone number.
    pub async fn with(host: &'a Host, phone: &str) -> Self {
        let agent = host.test_agent().await;
        let id = agent.claim(phone).await.as_str().unwrap().to_owned();
        Self { reader: Reader { agent, id: String::new() }, id }
    }

    /// Registers an agent of a person with this year of birth.
    pub async fn with_birth_year(host: &'a Host, year: u16) -> Self {
        let person = Self::new(host).await;
        let born = json!({ "action": "update_profile", "birth_year": year, "display_name": "Ada" });
        person.agent().result("owners", born).await;
        person
    }

    pub fn agent(&self) -> &Agent<'a> {
        &self.reader.agent
    }

    pub async fn call(&self, action: &str, fields: Value) -> Reply {
        self.agent().call(LISTINGS, action_body(action, &fields)).await
    }

    pub async fn result(&self, action: &str, fields: Value) -> Value {
        self.agent().result(LISTINGS, action_body(action, &fields)).await
    }

    /// Creates a listing, a room changed by these fields, and returns its id.
    pub async fn create_listing(&self, fields: Value) -> String {
        let listing = self.result("create", room(fields)).await;
        listing["listing_id"].as_str().unwrap().to_owned()
    }

    /// Makes a call about one listing.
    pub async fn call_on(&self, action: &str, listing_id: &str) -> Reply {
        self.call(action, json!({ "listing_id": listing_id })).await
    }

    /// The ids that a search finds.
    pub async fn search(&self, search: Value) -> Vec<String> {
        search_ids(self.agent(), search).await
    }

    /// Runs an action of `social_relationships`, such as `block` or `connect`.
    pub async fn relate(&self, action: &str, other: &Self) {
        let mut body = json!({ "action": action, "owner_id": other.id });
        if action == "accept" {
            body["kind"] = json!("connect");
        }
        self.agent().result("social_relationships", body).await;
    }

    /// Waits for this number of events of one type, acknowledges and returns them.
    pub async fn receive_events(&self, event: &str, count: usize) -> Vec<Value> {
        let started = Instant::now();
        let mut received = Vec::new();
        while received.len() < count {
            assert!(started.elapsed() < PATIENCE, "{} of {count} {event}", received.len());
            let page = self.reader.page(&format!("wait=5&types={event}")).await;
            let events = page["events"].as_array().unwrap();
            let ids: Vec<_> = events.iter().map(|event| event["id"].as_str().unwrap()).collect();
            if !ids.is_empty() {
                self.reader.acknowledge(&ids).await;
            }
            received.extend(events.iter().cloned());
        }
        received
    }
}

/// The ids that a search finds.
pub async fn search_ids(agent: &Agent<'_>, search: Value) -> Vec<String> {
    let found = agent.result(LISTINGS, action_body("search", &search)).await;
    let items = found["items"].as_array().unwrap().iter();
    items.map(|listing| listing["listing_id"].as_str().unwrap().to_owned()).collect()
}

/// Returns the instant this many milliseconds from now, as text.
pub fn instant_in_ms(milliseconds: u64) -> String {
    (jiff::Timestamp::now() + Duration::from_millis(milliseconds)).to_string()
}

/// Returns the age that a person born in this year has reached for certain.
pub fn age_at_least(birth_year: i16) -> i16 {
    jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).year() - birth_year - 1
}

/// Corrects a year of birth as the operator.
pub async fn correct_birth_year(host: &Host, owner_id: &str, birth_year: Value) -> Reply {
    let url = format!("{}/capabilities/owners/correct_birth_year?test_mode=true", host.admin_url);
    let input = json!({ "owner_id": owner_id, "birth_year": birth_year });
    Reply::read(host.operator.post(url).json(&input).send().await.unwrap()).await
}

/// A listing of somebody born in 1990 who looks for a date, changed by these fields.
pub fn date(fields: Value) -> Value {
    let mut date = room(json!({
        "category": "social.date", "side": "demand", "title": "A walk",
        "attributes": {
            "aims": ["open"], "gender": "woman", "seeking": ["man"], "age": age_at_least(1990),
        },
    }));
    let members = date.as_object_mut().unwrap();
    members.remove("compensation");
    members.extend(fields.as_object().unwrap().clone());
    date
}

pub fn action_body(action: &str, fields: &Value) -> Value {
    let mut body = Map::from_iter([("action".to_owned(), json!(action))]);
    body.extend(fields.as_object().unwrap().clone());
    body.into()
}

/// Returns the fields of a room to let, published at once, changed by these fields.
pub fn room(fields: Value) -> Value {
    let mut room = json!({
        "category": "home.let.room", "side": "offer", "title": "Sunny room",
        "description": "A **quiet** room with a desk.",
        "attributes": { "flatmates": 2, "available_from": "2027-01-01", "pets": "negotiable" },
        "place": { "lat": 37.759_91, "lng": -122.414_83, "label": "1 Main St", "precision": "exact" },
        "compensation": { "currency": "USD", "min": 1400, "max": 1400, "unit": "MONTH" },
        "publish": true,
    });
    room.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    room
}

/// Asserts that the next step of a refusal succeeds as it stands, or has a question for the person.
pub async fn follow_next_step(agent: &Agent<'_>, refused: &Reply) {
    let next = &refused.body["next"];
    if next["missing"].is_array() {
        assert!(next["ask_user"].is_string(), "{next:#}");
        return;
    }
    let capability = next["capability"].as_str().unwrap_or_else(|| panic!("{}", refused.text));
    let reply = agent.call(capability, next["input"].clone()).await;
    assert_eq!(reply.status, 200, "{next:#} {}", reply.text);
}

/// Runs an internal action as the operator, in test mode.
pub async fn moderate(host: &Host, action: &str, input: Value) -> Reply {
    let url = format!("{}/capabilities/{LISTINGS}/{action}?test_mode=true", host.admin_url);
    Reply::read(host.operator.post(url).json(&input).send().await.unwrap()).await
}
