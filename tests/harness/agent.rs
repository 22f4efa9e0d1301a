//! Agents, and the answers to their calls.

use crate::harness::{Host, next_steps};
use reqwest::{StatusCode, Url, header::HeaderMap};
use serde_json::{Value, json};

/// An agent with a token.
pub struct Agent<'a> {
    pub host: &'a Host,
    pub token: String,
}

impl Host {
    /// Registers an anonymous agent and returns its credentials.
    pub async fn register(&self) -> Value {
        let body = json!({ "type": "anonymous", "agent_name": "a test" });
        let reply = self.client.post(format!("{}/v1/agents/register", self.url)).json(&body);
        let reply = Reply::read(reply.send().await.unwrap()).await;
        assert_eq!(reply.status, 200, "{}", reply.body);
        reply.body
    }

    /// Registers an anonymous agent and returns an access token for it with this scope.
    pub async fn token(&self, scope: &str) -> String {
        let agent = self.register().await;
        self.token_of(&agent, scope).await
    }

    /// Registers an anonymous agent, which calls with all scopes.
    pub async fn agent(&self) -> Agent<'_> {
        Agent { host: self, token: self.token("svc.read svc.write svc.events").await }
    }

    /// Registers an anonymous agent of test mode, which calls with all scopes.
    pub async fn test_agent(&self) -> Agent<'_> {
        let body = json!({ "type": "anonymous", "mode": "test" });
        let reply = self.client.post(format!("{}/v1/agents/register", self.url)).json(&body);
        let agent = Reply::read(reply.send().await.unwrap()).await.body;
        Agent { host: self, token: self.token_of(&agent, "svc.read svc.write svc.events").await }
    }

    /// Writes into the database that the person `own_test` has claimed an agent.
    pub async fn claim(&self, agent_id: &str) {
        self.claim_for(agent_id, "own_test").await;
    }

    /// Writes into the database that this person has claimed an agent.
    pub async fn claim_for(&self, agent_id: &str, owner_id: &str) {
        let claim = format!(
            "UPDATE documents SET body = replace(body, '\"owner_id\":null', '\"owner_id\":\"{owner_id}\"') WHERE id = '{agent_id}'"
        );
        assert_eq!(self.database().execute(&claim).await, 1);
    }

    /// Registers an agent with all scopes that the person `own_test` has claimed.
    pub async fn claimed_agent(&self) -> Agent<'_> {
        let agent = self.register().await;
        self.claim(agent["agent_id"].as_str().unwrap()).await;
        let token = self.token_of(&agent, "svc.read svc.write svc.events").await;
        Agent { host: self, token }
    }
}

impl Agent<'_> {
    /// Calls an action, and asserts that the next step of the answer, if any, can be called.
    pub async fn call(&self, capability: &str, body: Value) -> Reply {
        let url = format!("{}/v1/capabilities/{capability}/call", self.host.url);
        let token = self.host.current_token(&self.token).await;
        let request = self.host.client.post(url).bearer_auth(token).json(&body);
        let reply = Reply::read(request.send().await.unwrap()).await;
        next_steps::assert_callable(self.host, &reply).await;
        reply
    }

    /// Claims this agent of test mode with the phone number; returns the owner's id.
    pub async fn claim(&self, phone: &str) -> Value {
        let binding = "svc.phone-binding";
        self.result(binding, json!({ "action": "bind", "phone": phone })).await;
        let verified = self.result(binding, json!({ "action": "verify", "code": "424242" })).await;
        verified["owner_id"].clone()
    }

    /// Makes a call that must succeed, and returns its result.
    pub async fn result(&self, capability: &str, body: Value) -> Value {
        let reply = self.call(capability, body).await;
        assert_eq!(reply.status, 200, "{:#}", reply.body);
        reply.body["result"].clone()
    }
}

/// A response, read to its end.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// The address that was requested.
    pub url: Url,
    pub text: String,
    /// Null if the text is not JSON.
    pub body: Value,
}

impl Reply {
    pub async fn read(response: reqwest::Response) -> Self {
        let (status, headers) = (response.status(), response.headers().clone());
        let url = response.url().clone();
        let text = String::from_utf8_lossy(&response.bytes().await.unwrap()).into_owned();
        let body = serde_json::from_str(&text).unwrap_or_default();
        Self { status, headers, url, text, body }
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Asserts that the response is the failure envelope, with this status and code
    /// and no unknown field.
    pub fn assert_refused(&self, status: u16, code: &str) {
        assert_eq!(
            (self.status.as_u16(), &self.body["error_code"]),
            (status, &json!(code)),
            "{}",
            self.text
        );
        let known = ["error_code", "message", "retryable", "conflict", "next"];
        assert!(
            self.body.as_object().unwrap().keys().all(|key| known.contains(&key.as_str())),
            "{}",
            self.text
        );
        assert!(self.body["message"].is_string() && self.body["retryable"].is_boolean());
        assert!(self.header("request-id").starts_with("req_"));
    }
}
