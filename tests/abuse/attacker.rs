//! An attacker at an address of their own.

use crate::harness::{
    Host, Reply,
    person::{Person, code, messages},
};
use reqwest::{Client, ClientBuilder, Method};
use serde_json::{Value, json};
use std::{
    net::{IpAddr, Ipv4Addr},
    time::Instant,
};

pub const BINDING: &str = "svc.phone-binding";
pub const JSON: (&str, &str) = ("content-type", "application/json");
pub const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
const LOOPBACK: u8 = 127;

/// A client at an address of its own, which the host sees without a proxy.
pub struct Attacker<'a> {
    pub host: &'a Host,
    pub address: IpAddr,
    pub client: Client,
}

impl<'a> Attacker<'a> {
    /// Returns the client with this number in its network. Each network is a /24.
    pub fn new(host: &'a Host, network: u8, number: u8) -> Self {
        let address = IpAddr::from(Ipv4Addr::new(LOOPBACK, network, 0, number));
        let client = browser(address).build().unwrap();
        Self { host, address, client }
    }

    /// Returns a person whose browser is at this address.
    pub fn person(&self) -> Person<'a> {
        Person::with(self.host, browser(self.address))
    }

    pub async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<String>,
    ) -> Reply {
        let mut request = self.client.request(method, format!("{}{path}", self.host.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request.body(body);
        }
        let reply = Reply::read(request.send().await.unwrap()).await;
        let is_fault = reply.status.is_server_error() && reply.status != 503;
        assert!(!is_fault, "{path}: {} {}", reply.status, reply.text);
        reply
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.send(Method::GET, path, &[], None).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Reply {
        self.send(Method::POST, path, &[JSON], Some(body.to_string())).await
    }

    pub async fn post_form(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        let form =
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.send(Method::POST, path, &[FORM], Some(form)).await
    }

    /// Asks to register an agent.
    pub async fn try_to_register(&self) -> Reply {
        let body = json!({ "type": "anonymous", "agent_name": "a guest" });
        self.post("/v1/agents/register", &body).await
    }

    pub async fn register(&self) -> Value {
        let reply = self.try_to_register().await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.body
    }

    /// Asks for a token of a registered agent for a resource.
    pub async fn try_token(&self, agent: &Value, path: &str) -> Reply {
        let resource = format!("{}{path}", self.host.url);
        let form = [
            ("grant_type", "client_credentials"),
            ("client_id", agent["client_id"].as_str().unwrap()),
            ("client_secret", agent["client_secret"].as_str().unwrap()),
            ("resource", resource.as_str()),
        ];
        self.post_form("/oauth/token", &form).await
    }

    pub async fn token(&self, agent: &Value) -> String {
        token_in(&self.try_token(agent, "").await)
    }

    pub async fn mcp_token(&self, agent: &Value) -> String {
        token_in(&self.try_token(agent, "/mcp").await)
    }

    /// Registers an agent, and returns its token.
    pub async fn agent(&self) -> String {
        self.token(&self.register().await).await
    }

    /// Registers this number of agents, and returns their tokens.
    pub async fn agents(&self, number: usize) -> Vec<String> {
        let mut tokens = Vec::new();
        for _ in 0..number {
            tokens.push(self.agent().await);
        }
        tokens
    }

    /// Registers an agent that a person has claimed, whose number nobody has to prove, and returns its token.
    pub async fn claimed(&self, owner_id: &str) -> String {
        let agent = self.register().await;
        self.host.claim_for(agent["agent_id"].as_str().unwrap(), owner_id).await;
        self.token(&agent).await
    }

    pub async fn call(&self, token: &str, capability: &str, body: &Value) -> Reply {
        self.call_raw(token, capability, body.to_string()).await
    }

    pub async fn call_raw(&self, token: &str, capability: &str, body: String) -> Reply {
        let path = format!("/v1/capabilities/{capability}/call");
        self.send_as(token, Method::POST, &path, Some(body)).await
    }

    pub async fn send_as(
        &self,
        token: &str,
        method: Method,
        path: &str,
        body: Option<String>,
    ) -> Reply {
        let bearer = format!("Bearer {token}");
        self.send(method, path, &[JSON, ("authorization", &bearer)], body).await
    }

    /// Makes a call that must succeed, and returns its result.
    pub async fn result(&self, token: &str, capability: &str, body: &Value) -> Value {
        let reply = self.call(token, capability, body).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.body["result"].clone()
    }

    /// Claims an agent with the code that is sent to the number.
    pub async fn claim(&self, token: &str, phone: &str) {
        let sent = messages(self.host, 0).await.len();
        self.result(token, BINDING, &bind(phone)).await;
        let code = code(self.host, sent + 1).await;
        self.result(token, BINDING, &json!({ "action": "verify", "code": code })).await;
    }
}

fn browser(address: IpAddr) -> ClientBuilder {
    Client::builder().local_address(Some(address)).redirect(reqwest::redirect::Policy::none())
}

fn token_in(reply: &Reply) -> String {
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.body["access_token"].as_str().unwrap().to_owned()
}

pub fn bind(phone: &str) -> Value {
    json!({ "action": "bind", "phone": phone })
}

/// Makes requests until one is refused as too many, at most `most`; returns how many were not.
pub async fn until_refused(most: usize, mut request: impl AsyncFnMut(usize) -> Reply) -> usize {
    for number in 0..most {
        if request(number).await.status == 429 {
            return number;
        }
    }
    most
}

/// Returns how many requests a limit for each minute lets through since `begun`: those of a minute, what the limit
/// has refilled since, because a busy machine sends slowly, and a few for the time of the last request.
pub fn permitted(each_minute: usize, begun: Instant) -> usize {
    let refilled = begun.elapsed().as_secs_f64() * each_minute as f64 / 60.0;
    each_minute + refilled.ceil() as usize + 10
}

/// Makes this number of requests, each of which must be answered with one of the statuses.
pub async fn all_answered(
    number: usize,
    statuses: &[u16],
    mut request: impl AsyncFnMut(usize) -> Reply,
) {
    for at in 0..number {
        let reply = request(at).await;
        assert!(statuses.contains(&reply.status.as_u16()), "{} {}", reply.status, reply.text);
    }
}
