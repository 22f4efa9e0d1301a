//! Claims and revocations at one node hold for the calls at another at once.

use crate::harness::{
    Agent, Host, Options, PATIENCE,
    oauth::{balance, call, open, post},
    postgres,
};
use std::time::{Duration, Instant};

/// The address of all nodes, so that each takes the tokens of the others.
const ADDRESS: &str = "public_url = \"https://portolan.example\"";

fn options(url: &str) -> Options {
    Options::with(&["svc_phone_binding", "ledger"]).add_configuration(ADDRESS).postgres(url)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_at_one_node_permits_a_write_at_another_at_once() {
    let url = postgres::database().await;
    let one = Host::start(options(&url)).await;
    let other = Host::start(options(&url)).await;
    for number in 0..20 {
        let agent = one.test_agent().await;
        let account = format!("account_{number}");
        // Now the other node remembers that nobody has claimed the agent.
        let refused = call(&other, &agent.token, open(&account)).await;
        refused.assert_refused(403, "phone_binding_required");
        agent.claim(&format!("+1415555010{}", number % 10)).await;
        let reply = call(&other, &agent.token, open(&account)).await;
        assert_eq!(reply.status, 200, "{number}: {}", reply.text);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_sees_a_claim_that_no_node_has_announced() {
    let url = postgres::database().await;
    // What a node has read never grows old by this clock.
    let host = Host::start_at_fixed_time(options(&url)).await;
    let registered = host.register().await;
    let token = host.token_of(&registered, "svc.read svc.write").await;
    call(&host, &token, open("ada")).await.assert_refused(403, "phone_binding_required");
    host.claim(registered["agent_id"].as_str().unwrap()).await;
    let agent = Agent { host: &host, token };
    agent.result("ledger", open("ada")).await;
    // A scope is of the token, so nothing new is to be read of it.
    let reading = host.token_of(&registered, "svc.read").await;
    call(&host, &reading, open("eve")).await.assert_refused(403, "insufficient_scope");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_that_one_node_revokes_is_refused_by_another_before_its_standing_is_old() {
    let url = postgres::database().await;
    let one = Host::start_at_fixed_time(options(&url)).await;
    let other = Host::start_at_fixed_time(options(&url)).await;
    let agent = one.register().await;
    let token = one.token_of(&agent, "svc.read").await;
    call(&other, &token, balance()).await.assert_refused(404, "account_not_found");
    let client = (agent["client_id"].as_str().unwrap(), agent["client_secret"].as_str().unwrap());
    let revoked = post(&one, "/oauth/revoke", &[("token", &*token)], Some(client)).await;
    assert_eq!(revoked.status, 200, "{}", revoked.text);
    call(&one, &token, balance()).await.assert_refused(401, "token_invalid");
    let started = Instant::now();
    while call(&other, &token, balance()).await.status != 401 {
        assert!(started.elapsed() < PATIENCE, "the other node was not told");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
