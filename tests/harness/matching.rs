//! People who look for a cofounder, with sessions that match them.

use crate::harness::{
    Host, Options, PATIENCE, Reply,
    listings::{Lister, action_body},
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

pub use crate::harness::component_sets::MATCHING as CAPABILITIES;

pub const MATCHING: &str = "matching_sessions";

pub async fn host() -> Host {
    Host::start(options()).await
}

/// Returns options of a host with matching. The public URL is fixed, because tokens name it and it
/// would change with each start.
pub fn options() -> Options {
    // The tests make many calls, and none of them is about the time limit.
    let configuration =
        "public_url = \"http://matching.test\"\n[limits]\ncall_wall_time_ms = 30000\n";
    Options::with(&CAPABILITIES).configuration(configuration)
}

/// A person with one listing.
pub struct Seeker<'a> {
    pub lister: Lister<'a>,
    pub listing_id: String,
}

impl<'a> Seeker<'a> {
    /// Creates a person whose listing offers one strength and seeks another.
    pub async fn new(host: &'a Host, brings: &str, seeks: &str) -> Self {
        Self::with(host, brings, json!({ "want": [strength_criterion(seeks)] })).await
    }

    pub async fn with(host: &'a Host, brings: &str, criteria: Value) -> Self {
        Self::of(host, cofounder_listing(brings, criteria)).await
    }

    /// Creates a person with this listing.
    pub async fn of(host: &'a Host, listing: Value) -> Self {
        let lister = Lister::new(host).await;
        let listing_id = create_listing(&lister, listing).await;
        Self { lister, listing_id }
    }

    pub async fn call(&self, action: &str, fields: Value) -> Reply {
        self.lister.agent().call(MATCHING, action_body(action, &fields)).await
    }

    pub async fn result(&self, action: &str, fields: Value) -> Value {
        self.lister.agent().result(MATCHING, action_body(action, &fields)).await
    }

    /// Creates a session and returns its id.
    pub async fn session(&self, fields: Value) -> String {
        let mut body = json!({ "listing_id": self.listing_id });
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let session = self.result("create", body).await;
        session["session_id"].as_str().unwrap().to_owned()
    }

    pub async fn candidates(&self, session_id: &str) -> Vec<Value> {
        let fields = json!({ "session_id": session_id, "limit": 100 });
        self.result("candidates", fields).await["items"].as_array().unwrap().clone()
    }

    /// Returns the ids of the listings of the candidates that wait for a decision.
    pub async fn new_listings(&self, session_id: &str) -> Vec<String> {
        let all = self.candidates(session_id).await;
        let new = all.iter().filter(|candidate| candidate["state"] == "new");
        new.map(|candidate| candidate["listing_card"]["listing_id"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Decides on the candidate with this listing.
    pub async fn decide(&self, session_id: &str, listing_id: &str, decision: &str) -> Reply {
        let all = self.candidates(session_id).await;
        let has_listing =
            |candidate: &&Value| candidate["listing_card"]["listing_id"] == listing_id;
        let candidate =
            all.iter().find(has_listing).unwrap_or_else(|| panic!("{listing_id}: {all:#?}"));
        let fields = json!({
            "session_id": session_id, "candidate_id": candidate["candidate_id"], "decision": decision,
        });
        self.call("decide", fields).await
    }

    pub async fn get(&self, session_id: &str) -> Value {
        self.result("get", json!({ "session_id": session_id })).await
    }

    /// Waits until a session is in this state.
    pub async fn wait_for_state(&self, session_id: &str, state: &str) {
        let started = Instant::now();
        loop {
            let now = self.get(session_id).await["state"].clone();
            if now == state {
                return;
            }
            assert!(started.elapsed() < PATIENCE, "{now} and never {state}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Returns the type and data of every event of this person so far.
    pub async fn events(&self) -> Vec<(String, Value)> {
        let page = self.lister.reader.page("wait=0&cursor=0&limit=100").await;
        let events = page["events"].as_array().unwrap().iter();
        let pair =
            |event: &Value| (event["type"].as_str().unwrap().to_owned(), event["data"].clone());
        events.map(pair).collect()
    }

    /// Returns the type and data of every event about a session so far.
    pub async fn session_events(&self, session_id: &str) -> Vec<(String, Value)> {
        let mut events = self.events().await;
        events.retain(|(_, data)| data["session_id"] == session_id);
        events
    }

    /// Waits for this number of events about a session, and returns their types.
    pub async fn wait_for_event_types(&self, session_id: &str, count: usize) -> Vec<String> {
        let started = Instant::now();
        loop {
            let events = self.session_events(session_id).await;
            if events.len() >= count {
                return events.into_iter().map(|(name, _)| name).collect();
            }
            assert!(started.elapsed() < PATIENCE, "{} of {count}: {events:#?}", events.len());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Returns the fields of a listing that looks for a cofounder.
pub fn cofounder_listing(brings: &str, criteria: Value) -> Value {
    json!({
        "category": "venture.cofounder", "side": "demand", "title": format!("Brings {brings}"),
        "description": "Looks for somebody to build with.",
        "attributes": {
            "strengths": [brings], "progress": "idea",
            "seeking": ["engineering", "sales", "design", "finance", "industry"],
        },
        "criteria": criteria, "publish": true,
    })
}

/// Creates a listing and returns its id.
pub async fn create_listing(lister: &Lister<'_>, listing: Value) -> String {
    let listing = lister.result("create", listing).await;
    listing["listing_id"].as_str().unwrap().to_owned()
}

/// Runs an internal action as the operator, in test mode.
pub async fn operate(host: &Host, action: &str, input: Value) -> Reply {
    let url = format!("{}/capabilities/{MATCHING}/{action}?test_mode=true", host.admin_url);
    Reply::read(host.operator.post(url).json(&input).send().await.unwrap()).await
}

/// Returns the state of a document in the database.
pub async fn stored_state(host: &Host, id: &str) -> String {
    let sql = format!("SELECT json_extract(body, '$.state') FROM documents WHERE id = '{id}'");
    host.database().texts(&sql).await.remove(0)
}

/// Returns the names of matching's timers about a document.
pub async fn timer_names(host: &Host, id: &str) -> Vec<String> {
    let sql = format!(
        "SELECT name FROM timers WHERE capability = '{MATCHING}' AND name LIKE '%{id}' ORDER BY name"
    );
    host.database().texts(&sql).await
}

/// Returns the criterion that the other listing offers this strength.
pub fn strength_criterion(strength: &str) -> Value {
    json!({ "field": "strengths", "op": "eq", "value": strength })
}

/// Returns the result of a call that must have succeeded.
pub fn expect_ok(reply: &Reply) -> Value {
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.body["result"].clone()
}
