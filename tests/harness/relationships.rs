//! A person of test mode who has relationships with others.

use crate::harness::{Agent, Host, Reply, inbox::Reader};
use serde_json::{Value, json};

pub const OWNERS: &str = "owners";
pub const RELATIONSHIPS: &str = "social_relationships";

pub struct Person<'a> {
    pub reader: Reader<'a>,
    pub id: String,
}

impl<'a> Person<'a> {
    pub async fn new(host: &'a Host) -> Self {
        let agent = host.test_agent().await;
        let id = agent.claim("+14155550100").await.as_str().unwrap().to_owned();
        Self { reader: Reader { agent, id: String::new() }, id }
    }

    pub fn agent(&self) -> &Agent<'a> {
        &self.reader.agent
    }

    pub async fn call(&self, action: &str, owner_id: &str) -> Reply {
        self.agent().call(RELATIONSHIPS, json!({ "action": action, "owner_id": owner_id })).await
    }

    pub async fn call_ok(&self, action: &str, owner_id: &str) -> Value {
        self.agent().result(RELATIONSHIPS, json!({ "action": action, "owner_id": owner_id })).await
    }

    pub async fn call_kind(&self, action: &str, kind: &str, owner_id: &str) -> Reply {
        let body = json!({ "action": action, "kind": kind, "owner_id": owner_id });
        self.agent().call(RELATIONSHIPS, body).await
    }

    pub async fn call_kind_ok(&self, action: &str, kind: &str, owner_id: &str) -> Value {
        let reply = self.call_kind(action, kind, owner_id).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.body["result"].clone()
    }

    pub async fn list(&self, filter: Value) -> Vec<Value> {
        let mut body = json!({ "action": "list" });
        body.as_object_mut().unwrap().extend(filter.as_object().unwrap().clone());
        self.agent().result(RELATIONSHIPS, body).await["items"].as_array().unwrap().clone()
    }

    pub async fn set_contact_policy(&self, policy: &str) {
        let body = json!({ "action": "set_preferences", "contact_policy": policy });
        self.agent().result(OWNERS, body).await;
    }

    /// Returns the events about relationships so far.
    pub async fn relationship_events(&self) -> Vec<Value> {
        let page = self.reader.page("wait=0&cursor=0").await;
        let events = page["events"].as_array().unwrap().iter();
        let ours = |event: &&Value| event["type"].as_str().unwrap().starts_with("relationship.");
        events.filter(ours).cloned().collect()
    }

    /// Calls the next step of a refusal or an event, which must succeed.
    pub async fn call_next_step(&self, next: &Value) -> Value {
        let capability = next["capability"].as_str().unwrap();
        self.agent().result(capability, next["input"].clone()).await
    }

    pub async fn connect_with(&self, other: &Self) {
        self.call_ok("connect", &other.id).await;
        other.call_kind_ok("accept", "connect", &self.id).await;
    }
}
