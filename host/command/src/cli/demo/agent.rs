//! An agent of the demonstration, which uses the host over HTTP.

use crate::cli::client::unreachable_host;
use anyhow::{Context as _, bail};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The maximum number of attempts at a rate-limited call.
const MAX_ATTEMPTS: usize = 3;
const LONGEST_WAIT_S: u64 = 65;

pub(super) struct Agent {
    client: reqwest::Client,
    url: String,
    pub(super) token: String,
}

impl Agent {
    /// Registers an agent in test mode and gets a token with every scope.
    pub(super) async fn new(
        client: &reqwest::Client,
        url: &str,
        name: &str,
    ) -> anyhow::Result<Self> {
        let body = json!({ "type": "anonymous", "agent_name": name, "mode": "test" });
        let request = client.post(format!("{url}/v1/agents/register")).json(&body);
        let registered = send(request, url).await?;
        let field = |name: &str| registered.get(name).and_then(Value::as_str).unwrap_or_default();
        let (id, secret) = (field("client_id"), field("client_secret"));
        if id.is_empty() {
            bail!("the host did not register an agent: {registered:#}");
        }
        let form = [
            ("grant_type", "client_credentials"),
            ("client_id", id),
            ("client_secret", secret),
            ("scope", "svc.read svc.write svc.events"),
        ];
        let issued = send(client.post(format!("{url}/oauth/token")).form(&form), url).await?;
        let token = issued.get("access_token").and_then(Value::as_str);
        let token = token.with_context(|| format!("the host did not issue a token: {issued:#}"))?;
        Ok(Self { client: client.clone(), url: url.to_owned(), token: token.to_owned() })
    }

    pub(super) async fn get(&self, path: &str) -> anyhow::Result<Value> {
        let request = self.client.get(format!("{}{path}", self.url)).bearer_auth(&self.token);
        send(request, &self.url).await
    }

    /// Returns the result of a call. A rate-limited call is retried after the wait that the host
    /// names.
    pub(super) async fn call(
        &self,
        capability: &str,
        action: &str,
        fields: Value,
    ) -> anyhow::Result<Value> {
        let mut body = Map::from_iter([("action".to_owned(), json!(action))]);
        body.extend(fields.as_object().cloned().unwrap_or_default());
        let url = format!("{}/v1/capabilities/{capability}/call", self.url);
        for _ in 0..MAX_ATTEMPTS {
            let request = self.client.post(&url).bearer_auth(&self.token).json(&body);
            let mut answer = send(request, &self.url).await?;
            if let Some(result) = answer.get_mut("result") {
                return Ok(result.take());
            }
            let wait = answer.pointer("/next/after_s").and_then(Value::as_u64);
            match wait.filter(|_| answer.get("error_code") == Some(&json!("rate_limited"))) {
                Some(wait) => {
                    tokio::time::sleep(Duration::from_secs(wait.min(LONGEST_WAIT_S))).await
                }
                None => bail!("{capability} {action} was refused: {answer:#}"),
            }
        }
        bail!("{capability} {action} is still rate-limited after {MAX_ATTEMPTS} attempts")
    }
}

/// A picture of a room.
const PICTURE: &[u8] = include_bytes!("../../../../../examples/demo/room.png");

impl Agent {
    /// Sends the picture of the demonstration to the address of an upload.
    pub(super) async fn send_picture(&self, url: &str) -> anyhow::Result<()> {
        let sent = self.client.put(url).body(PICTURE).send().await;
        let sent = sent.with_context(|| unreachable_host(&self.url))?;
        sent.error_for_status().context("the host refused the picture")?;
        Ok(())
    }
}

async fn send(request: reqwest::RequestBuilder, url: &str) -> anyhow::Result<Value> {
    let answer = request.send().await.with_context(|| unreachable_host(url))?;
    answer.json().await.context("the answer is not JSON")
}

/// Returns the text at a JSON pointer of an answer, or an empty text.
pub(super) fn text<'a>(answer: &'a Value, pointer: &str) -> &'a str {
    answer.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
