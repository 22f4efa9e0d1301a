//! What several nodes permit together of one limit.

use crate::harness::{
    Host, Options, PATIENCE,
    oauth::{balance, call},
    postgres,
};
use std::time::{Duration, Instant};

const LIMIT: usize = 60;
const CONFIGURATION: &str = "public_url = \"https://portolan.example\"
rate_limits = \"on\"
[limits]
anonymous_calls_per_minute = 60
";

/// Makes calls at a node until one is refused, at most this many, and returns how many were permitted.
async fn permitted(node: &Host, token: &str, most: usize) -> usize {
    for number in 0..most {
        let reply = call(node, token, balance()).await;
        if reply.status == 429 {
            return number;
        }
        reply.assert_refused(404, "account_not_found");
    }
    most
}

/// Returns how much of its calls an agent has used, as a node knows it.
async fn used(node: &Host, agent_id: &str) -> usize {
    let callers = node.operate("/callers").await.body;
    let accounts = callers["accounts"].as_array().unwrap();
    let own = accounts.iter().find(|account| account["account"] == agent_id);
    let rates = own.map(|account| account["rates"].as_array().unwrap().clone());
    let calls = rates.iter().flatten().find(|rate| rate["limit"] == "anonymous_calls_per_minute");
    calls.map_or(0, |rate| rate["used"].as_u64().unwrap() as usize)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_further_node_permits_a_tenth_of_a_limit_before_it_knows_of_the_others() {
    let url = postgres::database().await;
    let options = || Options::with(&["ledger"]).configuration(CONFIGURATION).postgres(&url);
    let mut nodes = Vec::new();
    for _ in 0..3 {
        nodes.push(Host::start_at_fixed_time(options()).await);
    }
    // All nodes have one time.
    let latest = nodes.iter().map(|node| node.clock.now()).max().unwrap();
    for node in &nodes {
        let behind = latest.as_millis() - node.clock.now().as_millis();
        node.clock.advance(Duration::from_millis(behind));
    }
    let agent = nodes[0].register().await;
    let token = nodes[0].token_of(&agent, "svc.read").await;
    let agent_id = agent["agent_id"].as_str().unwrap();
    assert_eq!(permitted(&nodes[0], &token, LIMIT + 1).await, LIMIT);
    let mut sum = LIMIT;
    for (place, node) in nodes.iter().enumerate() {
        if place > 0 {
            assert_eq!(permitted(node, &token, LIMIT / 10).await, LIMIT / 10);
            sum += LIMIT / 10;
        }
        // The next exchange with the database is a second later, in which one call is permitted again.
        node.clock.advance(Duration::from_secs(1));
        let started = Instant::now();
        while place > 0 && used(node, agent_id).await + 2 < LIMIT {
            assert!(started.elapsed() < PATIENCE, "node {place} does not know of the others");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        // The first node has told the database when the others can know of it.
        let rates = "SELECT account FROM rates";
        while node.database().texts(rates).await.is_empty() {
            assert!(started.elapsed() < PATIENCE, "nothing is exchanged");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        sum += permitted(node, &token, LIMIT).await;
    }
    // Alone, each would have permitted the whole limit.
    assert!((72..=78).contains(&sum), "{sum} calls");
}
