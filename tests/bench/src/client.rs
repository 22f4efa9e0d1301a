//! A client over HTTP, with a connection of its own.

use crate::{
    host::BenchHost,
    response::{Head, read},
};
use anyhow::{Context as _, Result, ensure};
use portolan_identity::{Credentials, Registration};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::{io::AsyncWriteExt as _, net::TcpStream};

/// The phone number that claims agents in test mode: each agent claimed with it gets
/// an owner of its own.
const PHONE: &str = "+14155550100";
const CODE: &str = "424242";
/// A connection that was idle for longer is not used again, because the host may be closing it.
const IDLE: Duration = Duration::from_secs(20);
const SCOPES: &str = "svc.read svc.write svc.events";

/// An agent in test mode.
pub(crate) struct Client {
    address: String,
    pub(crate) token: String,
    pub(crate) agent_id: String,
    /// The owner; empty for an anonymous agent.
    pub(crate) owner_id: String,
    connection: Option<(TcpStream, Instant)>,
}

pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Value,
    pub(crate) took_ms: f64,
}

impl Reply {
    /// Returns the result of a successful call.
    pub(crate) fn result(&self) -> Result<&Value> {
        ensure!(self.status == 200, "{} {}", self.status, self.body);
        self.body.get("result").context("no result")
    }
}

impl Client {
    /// Registers an anonymous agent.
    pub(crate) async fn anonymous(host: &BenchHost) -> Result<Self> {
        let identity = &host.app.host.identity;
        let new =
            Registration { identity_type: "anonymous", test_mode: true, ..Registration::default() };
        let agent = identity.register(new).await?;
        let secret =
            Credentials::Secret { client_id: agent.client_id, secret: agent.client_secret };
        let client = identity.authenticate_client(&secret, None).await?;
        let granted = identity.issue_for_client_credentials(&client, Some(SCOPES), None).await?;
        Ok(Self {
            address: host.address.clone(),
            token: granted.access_token,
            agent_id: agent.agent_id,
            owner_id: String::new(),
            connection: None,
        })
    }

    /// Registers an agent and claims it for a new person.
    pub(crate) async fn claimed(host: &BenchHost) -> Result<Self> {
        let mut client = Self::anonymous(host).await?;
        let binding = "svc.phone-binding";
        client.result(binding, &json!({ "action": "bind", "phone": PHONE })).await?;
        let verified = client.result(binding, &json!({ "action": "verify", "code": CODE })).await?;
        client.owner_id = text(&verified, "/owner_id").to_owned();
        Ok(client)
    }

    pub(crate) async fn result(&mut self, capability: &str, body: &Value) -> Result<Value> {
        let reply = self.call(capability, body).await?;
        Ok(reply.result().with_context(|| format!("{capability} {body}"))?.clone())
    }

    pub(crate) async fn call(&mut self, capability: &str, body: &Value) -> Result<Reply> {
        self.post(&format!("/v1/capabilities/{capability}/call"), body).await
    }

    pub(crate) async fn post(&mut self, path: &str, body: &Value) -> Result<Reply> {
        let body = body.to_string();
        let kind = "content-type: application/json";
        self.send(&format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n{kind}\r\ncontent-length: {}\r\n\r\n{body}",
            self.token,
            body.len()
        ))
        .await
    }

    pub(crate) async fn get(&mut self, path: &str) -> Result<Reply> {
        let token = &self.token;
        self.send(&format!(
            "GET {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\r\n"
        ))
        .await
    }

    /// Sends a whole HTTP request.
    pub(crate) async fn send(&mut self, request: &str) -> Result<Reply> {
        let fresh = self.connection.take().filter(|(_, used)| used.elapsed() < IDLE);
        let mut stream = match fresh {
            Some((stream, _)) => stream,
            None => {
                let stream = TcpStream::connect(&self.address).await?;
                stream.set_nodelay(true)?;
                stream
            }
        };
        let begun = Instant::now();
        stream.write_all(request.as_bytes()).await?;
        let response = read(&mut stream).await?;
        let took_ms = begun.elapsed().as_secs_f64() * 1e3;
        let head = Head::of(&response)?.context("no head")?;
        let (status, body) = (head.status()?, head.json(&response)?);
        self.connection = Some((stream, Instant::now()));
        Ok(Reply { status, body, took_ms })
    }
}

/// Returns a text of an answer, or an empty one.
pub(crate) fn text<'a>(answer: &'a Value, pointer: &str) -> &'a str {
    answer.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the items of a list.
pub(crate) fn items(answer: &Value) -> &[Value] {
    answer.get("items").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
