//! People who look for a cofounder, with sessions that match them.

use crate::harness::{
    Host, Options, Reply,
    listings::{Lister, with},
};
use serde_json::{Value, json};

pub use crate::harness::needed::MATCHING as CAPABILITIES;

pub const MATCHING: &str = "matching_sessions";

pub async fn host() -> Host {
    // Many calls, of which none is about time.
    let configuration = "[limits]\ncall_wall_time_ms = 30000\n";
    Host::start(Options::with(&CAPABILITIES).configuration(configuration)).await
}

/// A person with one listing.
pub struct Seeker<'a> {
    pub lister: Lister<'a>,
    pub listing_id: String,
}

impl<'a> Seeker<'a> {
    /// Somebody who brings one thing and seeks another.
    pub async fn new(host: &'a Host, brings: &str, seeks: &str) -> Self {
        Self::with(host, brings, json!({ "want": [wish(seeks)] })).await
    }

    pub async fn with(host: &'a Host, brings: &str, criteria: Value) -> Self {
        let lister = Lister::new(host).await;
        let listing_id = lists(&lister, brings, criteria).await;
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
        let new = all.iter().filter(|it| it["state"] == "new");
        new.map(|it| it["listing_card"]["listing_id"].as_str().unwrap().to_owned()).collect()
    }

    /// Decides on the candidate that is this listing.
    pub async fn decides(&self, session_id: &str, listing_id: &str, decision: &str) -> Reply {
        let all = self.candidates(session_id).await;
        let is_it = |it: &&Value| it["listing_card"]["listing_id"] == listing_id;
        let candidate = all.iter().find(is_it).unwrap_or_else(|| panic!("{listing_id}: {all:#?}"));
        let fields = json!({
            "session_id": session_id, "candidate_id": candidate["candidate_id"], "decision": decision,
        });
        self.call("decide", fields).await
    }
}

/// Publishes somebody's search for a cofounder.
pub async fn lists(lister: &Lister<'_>, brings: &str, criteria: Value) -> String {
    let listing = json!({
        "category": "venture.cofounder", "side": "demand", "title": format!("Brings {brings}"),
        "description": "Looks for somebody to build with.",
        "attributes": { "strengths": [brings], "seeking": ["sales"], "progress": "idea" },
        "criteria": criteria, "publish": true,
    });
    let listing = lister.result("create", listing).await;
    listing["listing_id"].as_str().unwrap().to_owned()
}

/// That the other one brings this.
pub fn wish(strength: &str) -> Value {
    json!({ "field": "strengths", "op": "eq", "value": strength })
}

/// The result of a call that must have succeeded.
pub fn ok(reply: &Reply) -> Value {
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.body["result"].clone()
}
