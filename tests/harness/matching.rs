//! People who look for a cofounder, with sessions that match them.

use crate::harness::{
    Host, Options, PATIENCE, Reply,
    listings::{Lister, with},
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

pub use crate::harness::needed::MATCHING as CAPABILITIES;

pub const MATCHING: &str = "matching_sessions";

pub async fn host() -> Host {
    Host::start(options()).await
}

/// Tokens name the host's address, which is another one after each start.
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
    /// A person whose listing offers one strength and seeks another.
    pub async fn new(host: &'a Host, brings: &str, seeks: &str) -> Self {
        Self::with(host, brings, json!({ "want": [wish(seeks)] })).await
    }

    pub async fn with(host: &'a Host, brings: &str, criteria: Value) -> Self {
        Self::of(host, search(brings, criteria)).await
    }

    /// A person with this listing.
    pub async fn of(host: &'a Host, listing: Value) -> Self {
        let lister = Lister::new(host).await;
        let listing_id = publishes(&lister, listing).await;
        Self { lister, listing_id }
    }

    pub async fn call(&self, action: &str, fields: Value) -> Reply {
        self.lister.agent().call(MATCHING, with(action, &fields)).await
    }

    pub async fn result(&self, action: &str, fields: Value) -> Value {
        self.lister.agent().result(MATCHING, with(action, &fields)).await
    }

    /// The id of a new session.
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

    /// The listings of the candidates that are to be decided on.
    pub async fn new_listings(&self, session_id: &str) -> Vec<String> {
        let all = self.candidates(session_id).await;
        let new = all.iter().filter(|candidate| candidate["state"] == "new");
        new.map(|candidate| candidate["listing_card"]["listing_id"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Decides on the candidate that is this listing.
    pub async fn decides(&self, session_id: &str, listing_id: &str, decision: &str) -> Reply {
        let all = self.candidates(session_id).await;
        let is_it = |candidate: &&Value| candidate["listing_card"]["listing_id"] == listing_id;
        let candidate = all.iter().find(is_it).unwrap_or_else(|| panic!("{listing_id}: {all:#?}"));
        let fields = json!({
            "session_id": session_id, "candidate_id": candidate["candidate_id"], "decision": decision,
        });
        self.call("decide", fields).await
    }

    pub async fn gets(&self, session_id: &str) -> Value {
        self.result("get", json!({ "session_id": session_id })).await
    }

    /// Waits until a session is in this state.
    pub async fn until(&self, session_id: &str, state: &str) {
        let started = Instant::now();
        loop {
            let now = self.gets(session_id).await["state"].clone();
            if now == state {
                return;
            }
            assert!(started.elapsed() < PATIENCE, "{now} and never {state}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Type and data of every event of this person so far.
    pub async fn events(&self) -> Vec<(String, Value)> {
        let page = self.lister.reader.page("wait=0&cursor=0&limit=100").await;
        let events = page["events"].as_array().unwrap().iter();
        let pair =
            |event: &Value| (event["type"].as_str().unwrap().to_owned(), event["data"].clone());
        events.map(pair).collect()
    }

    /// The events about a session.
    pub async fn heard(&self, session_id: &str) -> Vec<(String, Value)> {
        let mut events = self.events().await;
        events.retain(|(_, data)| data["session_id"] == session_id);
        events
    }

    /// The types of these events, once there are this many.
    pub async fn heard_types(&self, session_id: &str, count: usize) -> Vec<String> {
        let started = Instant::now();
        loop {
            let heard = self.heard(session_id).await;
            if heard.len() >= count {
                return heard.into_iter().map(|(name, _)| name).collect();
            }
            assert!(started.elapsed() < PATIENCE, "{} of {count}: {heard:#?}", heard.len());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// A listing that looks for a cofounder.
pub fn search(brings: &str, criteria: Value) -> Value {
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

/// Publishes a listing.
pub async fn publishes(lister: &Lister<'_>, listing: Value) -> String {
    let listing = lister.result("create", listing).await;
    listing["listing_id"].as_str().unwrap().to_owned()
}

/// Runs an internal action as the operator, in test mode.
pub async fn operate(host: &Host, action: &str, input: Value) -> Reply {
    let url = format!("{}/capabilities/{MATCHING}/{action}?test_mode=true", host.admin_url);
    Reply::read(host.operator.post(url).json(&input).send().await.unwrap()).await
}

/// The state of a document in the database.
pub async fn kept(host: &Host, id: &str) -> String {
    let sql = format!("SELECT json_extract(body, '$.state') FROM documents WHERE id = '{id}'");
    host.database().texts(&sql).await.remove(0)
}

/// The timers of matching that are about a document.
pub async fn timers(host: &Host, id: &str) -> Vec<String> {
    let sql = format!(
        "SELECT name FROM timers WHERE capability = '{MATCHING}' AND name LIKE '%{id}' ORDER BY name"
    );
    host.database().texts(&sql).await
}

/// A criterion: the other listing offers this strength.
pub fn wish(strength: &str) -> Value {
    json!({ "field": "strengths", "op": "eq", "value": strength })
}

/// The result of a call that must have succeeded.
pub fn ok(reply: &Reply) -> Value {
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.body["result"].clone()
}
