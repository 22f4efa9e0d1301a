//! Releases of a version to a share of callers, and the people who meet them.

use crate::harness::{
    Agent, Host, PATIENCE, Reply, component, join_all, patched, publishing::post,
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Returns the component `mutant` with one of its faults.
pub fn mutant(fault: u32) -> Vec<u8> {
    patched(&component("mutant"), &[("mutation:00", &format!("mutation:{fault:02}"))])
}

/// Gives a component to a share of the callers of `mutant`.
pub async fn share(host: &Host, percent: u32, content: Vec<u8>) -> Reply {
    let path = format!("/catalog/publish?file=mutant.wasm&by=ada&share={percent}");
    post(host, &path, content).await
}

/// Gives a component to a share of the callers of `mutant`, and returns the release.
pub async fn shared(host: &Host, percent: u32, content: Vec<u8>) -> Value {
    let reply = share(host, percent, content).await;
    assert_eq!(
        (reply.status.as_u16(), &reply.body["state"]),
        (200, &json!("shared")),
        "{}",
        reply.text
    );
    release(host, "mutant").await
}

/// Returns whether a release runs.
pub fn is_running(release: &Value) -> bool {
    release["state"] == "running"
}

/// Returns the newest release of a capability.
pub async fn release(host: &Host, id: &str) -> Value {
    let reply = host.operate(&format!("/catalog/{id}/release")).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.body
}

/// Waits until the newest release of a capability is as wanted, and returns it.
pub async fn wait_for_release(host: &Host, id: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let started = Instant::now();
    loop {
        let found = release(host, id).await;
        if wanted(&found) {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "{found:#}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Returns the number of calls of both versions that were counted.
pub fn counted(release: &Value) -> u64 {
    let calls = |side: &str| release["figures"][side]["calls"].as_u64().unwrap();
    calls("served") + calls("canary")
}

/// Registers an agent that a person has claimed.
pub async fn agent_of<'a>(host: &'a Host, owner_id: &str) -> Agent<'a> {
    let registered = host.register().await;
    host.claim_for(registered["agent_id"].as_str().unwrap(), owner_id).await;
    let token = host.token_of(&registered, "svc.read svc.write svc.events").await;
    Agent { host, token }
}

/// Registers an agent for each of so many people.
pub async fn people(host: &Host, count: usize) -> Vec<Agent<'_>> {
    let mut agents = Vec::new();
    for number in 0..count {
        agents.push(agent_of(host, &format!("own_person{number}")).await);
    }
    agents
}

/// Returns the price of one piece: 250 from a version without fault, and 255 from that with the fault 1.
pub async fn price(agent: &Agent<'_>) -> u64 {
    let quoted = agent.result("mutant", json!({ "action": "quote", "quantity": 1 })).await;
    quoted["cents"].as_u64().unwrap()
}

/// Returns the price that each of the agents is told. Some ask at once, so that all have connections.
pub async fn prices(agents: &[Agent<'_>]) -> Vec<u64> {
    let mut told = Vec::new();
    for some in agents.chunks(20) {
        told.extend(join_all(some.iter().map(price)).await);
    }
    told
}
