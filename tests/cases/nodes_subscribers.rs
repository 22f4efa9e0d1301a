//! Nodes with different catalogs: an event reaches the subscribers that other nodes serve, and each node runs the work of
//! what it serves.

use crate::harness::{Agent, Host, Options, PATIENCE, Process, postgres};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The address of all nodes, so that each takes the tokens of the others.
const ADDRESS: &str = "public_url = \"https://portolan.example\"";

fn options(url: &str, names: &[&str]) -> Options {
    Options::with(names).add_configuration(ADDRESS).postgres(url)
}

async fn node(url: &str, names: &[&str]) -> Host {
    Host::start(options(url, names)).await
}

/// Makes transfers, and returns their ids.
async fn transfer(agent: &Agent<'_>, amounts: std::ops::RangeInclusive<i64>) -> Vec<Value> {
    let mut transfers = Vec::new();
    for amount in amounts {
        let body = json!({ "action": "transfer", "from": "bank", "to": "ada", "amount": amount });
        transfers.push(agent.result("ledger", body).await["transfer"].clone());
    }
    transfers
}

async fn heard(agent: &Agent<'_>) -> Value {
    let body = json!({ "action": "heard", "subject": "accounts/bank" });
    agent.result("notes", body).await["transfers"].clone()
}

/// Waits until no delivery is left, and returns what the subscriber has heard.
async fn all_heard(agent: &Agent<'_>) -> Value {
    let started = Instant::now();
    let left = "SELECT capability FROM deliveries";
    while !agent.host.database().texts(left).await.is_empty() {
        assert!(started.elapsed() < PATIENCE, "an event is not delivered");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    heard(agent).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_reaches_a_subscriber_that_only_another_node_serves_once() {
    let url = postgres::database().await;
    let subscribing = node(&url, &["notes"]).await;
    let publishing = node(&url, &["ledger"]).await;
    let agent = publishing.claimed_agent().await;
    for account in ["bank", "ada"] {
        agent.result("ledger", json!({ "action": "open", "account": account })).await;
    }
    let there = Agent { host: &subscribing, token: agent.token.clone() };
    let transfers = transfer(&agent, 1..=5).await;
    assert_eq!(all_heard(&there).await, json!(transfers));

    // A subscriber that begins to be served later gets the events after that.
    let both = node(&url, &["ledger", "notes"]).await;
    let more = transfer(&Agent { host: &both, token: agent.token.clone() }, 6..=8).await;
    assert_eq!(all_heard(&there).await, json!([transfers, more].concat()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_waits_for_the_node_that_serves_its_capability() {
    let url = postgres::database().await;
    let subscribing = Process::start(options(&url, &["notes"]));
    let publishing = node(&url, &["ledger"]).await;
    let agent = publishing.claimed_agent().await;
    for account in ["bank", "ada"] {
        agent.result("ledger", json!({ "action": "open", "account": account })).await;
    }
    subscribing.signal("TERM");
    let (_status, folder) = subscribing.wait();
    let transfers = transfer(&agent, 1..=2).await;
    // The publishing node runs a timer of its own meanwhile, and leaves the deliveries.
    let order = json!({ "from": "bank", "to": "ada", "amount": 1 });
    let timer = json!({ "action": "schedule", "timer": "now", "after_ms": 0, "order": order });
    agent.result("ledger", timer).await;
    let started = Instant::now();
    let count = json!({ "action": "counter", "name": "now" });
    while agent.result("ledger", count.clone()).await["count"] != 1 {
        assert!(started.elapsed() < PATIENCE, "the timer does not run");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let untried = "SELECT capability FROM deliveries WHERE attempts = 0";
    assert_eq!(publishing.database().texts(untried).await.len(), 2 + 1);
    let subscribing = Process::start_in(folder);
    let there = Agent { host: &subscribing, token: agent.token.clone() };
    let heard = all_heard(&there).await;
    assert_eq!(heard.as_array().unwrap()[..2], transfers[..]);
    assert_eq!(heard.as_array().unwrap().len(), 3);
}
