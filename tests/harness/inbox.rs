//! An agent that reads its inbox.

use crate::harness::{Agent, Host, Options, Reply, next_steps::assert_callable_step};
use reqwest::Method;
use serde_json::{Value, json};

/// Starts a host with the fixture `herald`, which sends agents events as often as a test asks.
pub async fn event_host() -> Host {
    let options = Options::with(&["herald", "svc_events", "svc_phone_binding"]);
    Host::start(options.configuration("[quotas.herald]\ninbox_events_per_minute = 10000")).await
}

pub struct Reader<'a> {
    pub agent: Agent<'a>,
    pub id: String,
}

/// Returns the client id and secret of a registration, as fields of a form.
pub fn credentials(registered: &Value) -> [(&'static str, String); 2] {
    ["client_id", "client_secret"].map(|name| (name, registered[name].as_str().unwrap().to_owned()))
}

impl<'a> Reader<'a> {
    pub async fn new(host: &'a Host) -> Self {
        let registered = host.register().await;
        let token = host.token_of(&registered, "svc.read svc.write svc.events").await;
        let id = registered["agent_id"].as_str().unwrap().to_owned();
        Self { agent: Agent { host, token }, id }
    }

    /// Registers an agent that is claimed.
    pub async fn claimed(host: &'a Host) -> Self {
        let registered = host.register().await;
        let id = registered["agent_id"].as_str().unwrap().to_owned();
        host.claim(&id).await;
        let token = host.token_of(&registered, "svc.read svc.write svc.events").await;
        Self { agent: Agent { host, token }, id }
    }

    /// Returns the same agent at another node.
    pub fn at(&self, host: &'a Host) -> Self {
        Self { agent: Agent { host, token: self.agent.token.clone() }, id: self.id.clone() }
    }

    /// Makes the fixture `herald` send events with these texts to this agent.
    pub async fn send_events(&self, subject: &str, texts: &[&str]) {
        let body = json!({
            "action": "proclaim", "agent": self.id, "subject": subject, "texts": texts,
        });
        self.agent.result("herald", body).await;
    }

    /// Polls the inbox with these parameters.
    pub async fn poll(&self, query: &str) -> Reply {
        let bearer = format!("Bearer {}", self.agent.host.current_token(&self.agent.token).await);
        let path = format!("/v1/agent-events/stream?{query}");
        self.agent.host.send(Method::GET, &path, &[("authorization", &bearer)], None).await
    }

    /// Polls the inbox, which must succeed, and returns the body. Asserts that the next steps of
    /// its events can be called.
    pub async fn page(&self, query: &str) -> Value {
        let reply = self.poll(query).await;
        assert_eq!(reply.status, 200, "{:#}", reply.body);
        for event in reply.body["events"].as_array().unwrap() {
            assert_callable_step(self.agent.host, &event["data"]["next"], &event.to_string()).await;
        }
        reply.body
    }

    pub async fn acknowledge(&self, ids: &[&str]) -> Value {
        let bearer = format!("Bearer {}", self.agent.host.current_token(&self.agent.token).await);
        let body = json!({ "ack_event_ids": ids });
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        let path = "/v1/agent-events/ack";
        let reply =
            self.agent.host.send(Method::POST, path, &headers, Some(body.to_string())).await;
        assert_eq!(reply.status, 200, "{:#}", reply.body);
        reply.body
    }
}

/// Returns the texts of events of the fixture `herald`.
pub fn texts(page: &Value) -> Vec<&str> {
    let events = page["events"].as_array().unwrap();
    events.iter().map(|event| event["data"]["text"].as_str().unwrap()).collect()
}

pub fn ids(page: &Value) -> Vec<&str> {
    let events = page["events"].as_array().unwrap();
    events.iter().map(|event| event["id"].as_str().unwrap()).collect()
}
