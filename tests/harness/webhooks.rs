//! Webhooks of an agent, and servers that receive their deliveries.

use crate::harness::{
    Host, Options, PATIENCE,
    inbox::Reader,
    server::{Server, response},
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Settings with one second between the attempts of a delivery.
pub const FAST_RETRIES: &str = "[webhooks]\nretry_seconds = [1, 1, 1, 1, 1, 1, 1, 1]\n";

pub fn options(more: &str) -> Options {
    Options::with(&["herald", "svc_events", "svc_webhooks"])
        .add_configuration(more)
        .add_configuration(
            "public_url = \"http://portolan.test\"\nreachable_networks = [\"127.0.0.0/8\"]\n",
        )
}

pub async fn host(more: &str) -> Host {
    Host::start(options(more)).await
}

/// Returns the event in the body of a request.
pub fn event(request: &str) -> Value {
    serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// Returns the answer to a challenge; `None` for any other event.
pub fn answer_challenge(request: &str) -> Option<String> {
    let event = event(request);
    let challenge = event["data"]["challenge"].as_str()?;
    Some(response("200 OK", "", &json!({ "challenge": challenge }).to_string()))
}

/// Starts a server that answers challenges itself, and every other event with the
/// function of the test.
pub async fn receiver(answer: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Server {
    Server::plain(move |request| answer_challenge(request).or_else(|| answer(request))).await
}

/// Starts a receiver that accepts every event.
pub async fn accepting_receiver() -> Server {
    receiver(|_| Some(response("204 No Content", "", ""))).await
}

/// Returns the texts of the events that a server received, without challenges.
pub fn received_texts(server: &Server) -> Vec<String> {
    let requests = server.requests();
    let text = |request: &String| Some(event(request)["data"]["text"].as_str()?.to_owned());
    requests.iter().filter_map(text).collect()
}

impl Reader<'_> {
    pub async fn webhooks(&self, body: Value) -> Value {
        self.agent.result("svc.webhooks", body).await
    }

    /// Creates a webhook, waits until it has answered its challenge, and returns its id and secret.
    pub async fn subscribe(&self, port: u16) -> (String, String) {
        let url = format!("http://127.0.0.1:{port}/in");
        let created = self.webhooks(json!({ "action": "create", "url": url })).await;
        let id = created["webhook"]["webhook_id"].as_str().unwrap().to_owned();
        self.wait_for_webhook_state(&id, "active").await;
        (id, created["secret"].as_str().unwrap().to_owned())
    }

    pub async fn webhook(&self, id: &str) -> Value {
        self.webhooks(json!({ "action": "get", "webhook_id": id })).await["webhook"].clone()
    }

    pub async fn wait_for_webhook_state(&self, id: &str, state: &str) {
        wait_until(async || self.webhook(id).await["state"] == state).await;
    }

    pub async fn deliveries(&self, id: &str, outcome: &str) -> Vec<Value> {
        let wanted = json!({ "action": "deliveries", "webhook_id": id, "outcome": outcome });
        self.webhooks(wanted).await["items"].as_array().unwrap().clone()
    }
}

pub async fn wait_until(mut reached: impl AsyncFnMut() -> bool) {
    let started = Instant::now();
    while !reached().await {
        assert!(started.elapsed() < PATIENCE, "not reached in time");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
