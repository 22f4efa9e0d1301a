//! People with a listing each, and the pairings of their listings.

use crate::harness::{
    Host, Options, PATIENCE, Reply,
    credits::{CREDITS, funds},
    inbox::Reader,
    listings::{self, Lister, action_body, room},
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

pub const PAIRINGS: &str = "pairings";
pub const PHONE: &str = "+14155550100";

/// Starts a host with pairings. The time limit is long, because many components start at once.
pub async fn host() -> Host {
    let names = [&listings::CAPABILITIES[..], &["agent_credits", "conversations", PAIRINGS]];
    let patient = "[limits]\ncall_wall_time_ms = 20000\n";
    Host::start(Options::with(&names.concat()).configuration(patient)).await
}

/// A person with a listing.
pub struct Party<'a> {
    pub lister: Lister<'a>,
    pub listing: String,
}

impl<'a> Party<'a> {
    /// Creates a person who lets a room.
    pub async fn landlord(host: &'a Host) -> Self {
        Self::with(host, PHONE, room(json!({}))).await
    }

    /// Creates a person who looks for a room.
    pub async fn seeker(host: &'a Host) -> Self {
        Self::with(host, PHONE, wanted_room()).await
    }

    /// Creates a person with this phone number and this listing.
    pub async fn with(host: &'a Host, phone: &str, listing: Value) -> Self {
        let lister = Lister::with(host, phone).await;
        let profile =
            json!({ "action": "update_profile", "birth_year": 1990, "display_name": "Ada" });
        lister.agent().result("owners", profile).await;
        let listing = lister.result("create", listing).await["listing_id"].clone();
        Self { lister, listing: listing.as_str().unwrap().to_owned() }
    }

    pub fn id(&self) -> &str {
        &self.lister.id
    }

    pub fn reader(&self) -> &Reader<'a> {
        &self.lister.reader
    }

    pub async fn call(&self, action: &str, fields: Value) -> Reply {
        self.lister.agent().call(PAIRINGS, action_body(action, &fields)).await
    }

    pub async fn result(&self, action: &str, fields: Value) -> Value {
        self.lister.agent().result(PAIRINGS, action_body(action, &fields)).await
    }

    pub async fn call_propose(&self, to: &Self) -> Reply {
        self.call_propose_to(&to.listing).await
    }

    pub async fn call_propose_to(&self, to: &str) -> Reply {
        let message = "May I see the room?";
        let fields =
            json!({ "from_listing_id": self.listing, "to_listing_id": to, "message": message });
        self.call("propose", fields).await
    }

    /// Proposes a pairing; returns its id.
    pub async fn propose(&self, to: &Self) -> String {
        let reply = self.call_propose(to).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.body["result"]["pairing_id"].as_str().unwrap().to_owned()
    }

    /// Makes a call about one pairing.
    pub async fn call_on(&self, action: &str, pairing: &str, fields: Value) -> Reply {
        let mut body = json!({ "pairing_id": pairing });
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.call(action, body).await
    }

    pub async fn call_on_ok(&self, action: &str, pairing: &str, fields: Value) -> Value {
        let reply = self.call_on(action, pairing, fields).await;
        assert_eq!(reply.status, 200, "{action}: {}", reply.text);
        reply.body["result"].clone()
    }

    pub async fn reply(&self, pairing: &str, decision: &str) -> Value {
        let message = (decision == "ask").then_some("How long do you want to stay?");
        let mut fields = json!({ "decision": decision });
        if let Some(message) = message {
            fields["message"] = json!(message);
        }
        self.call_on_ok("reply", pairing, fields).await
    }

    pub async fn get(&self, pairing: &str) -> Value {
        self.call_on_ok("get", pairing, json!({})).await
    }

    /// Returns the available and the held credits.
    pub async fn funds(&self) -> (u64, u64) {
        funds(self.reader()).await
    }

    pub async fn set_preferences(&self, fields: Value) {
        self.lister.agent().result("owners", action_body("set_preferences", &fields)).await;
    }

    /// Waits for this number of events about pairings, and returns them, the oldest first.
    pub async fn wait_for_events(&self, count: usize) -> Vec<Value> {
        let started = Instant::now();
        loop {
            let page = self.reader().page("wait=0&cursor=0&limit=100").await;
            let events = page["events"].as_array().unwrap().iter();
            let ours = |event: &&Value| event["type"].as_str().unwrap().starts_with("pairing.");
            let events: Vec<_> = events.filter(ours).cloned().collect();
            if events.len() >= count {
                return events;
            }
            assert!(started.elapsed() < PATIENCE, "{} of {count}: {events:#?}", events.len());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until a pairing is in this state.
    pub async fn wait_for_state(&self, pairing: &str, state: &str) {
        let started = Instant::now();
        loop {
            let now = self.get(pairing).await["state"].clone();
            if now == state {
                return;
            }
            assert!(started.elapsed() < PATIENCE, "{now} and never {state}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Returns the kinds of the ledger's transactions about a pairing, the oldest first.
    pub async fn ledger(&self, pairing: &str) -> Vec<String> {
        let statement = json!({ "action": "statement", "limit": 100 });
        let statement = self.lister.agent().result(CREDITS, statement).await;
        let reference = format!("pairing:{pairing}");
        let items = statement["items"].as_array().unwrap().iter().rev();
        let ours = items.filter(|entry| entry["ref"] == *reference);
        ours.map(|entry| entry["kind"].as_str().unwrap().to_owned()).collect()
    }
}

/// Returns the fields of a listing that looks for a room.
pub fn wanted_room() -> Value {
    json!({
        "category": "home.rent.room", "side": "demand", "title": "Looking for a room",
        "description": "Quiet, from January.", "attributes": { "move_in_from": "2027-01-01" },
        "publish": true,
    })
}

/// Creates two people and a pairing that connects them. Returns the seeker, the landlord and the
/// pairing's id.
pub async fn connected_pair(host: &Host) -> (Party<'_>, Party<'_>, String) {
    let (seeker, landlord) = (Party::seeker(host).await, Party::landlord(host).await);
    let pairing = seeker.propose(&landlord).await;
    landlord.reply(&pairing, "accept").await;
    (seeker, landlord, pairing)
}

/// Runs an internal action as the operator, in test mode.
pub async fn operate(host: &Host, action: &str, input: Value) -> Reply {
    let url = format!("{}/capabilities/{PAIRINGS}/{action}?test_mode=true", host.admin_url);
    Reply::read(host.operator.post(url).json(&input).send().await.unwrap()).await
}

/// Moves the time to the `due_at` of a pairing.
pub async fn reach_due_at(host: &Host, pairing: &str) {
    host.reach(pairing, "due_at").await;
}

pub fn event_types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}
