//! Agents with credits, and the fixture `spender`, which uses their credits as
//! other capabilities do.

use crate::harness::{
    Agent, Host, Options, PATIENCE, Reply,
    inbox::{Reader, ids},
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

pub const CREDITS: &str = "agent_credits";
/// Phone numbers of test mode: with the first each agent gets its own owner, with the second all
/// share one.
pub const OWN_NUMBER: &str = "+14155550100";
pub const SHARED_NUMBER: &str = "+14155550115";
pub const NOBODY: &str = "agt_01JZX8Q4M2N6P7R8S9T0V1W2X3";

/// Starts a host with the fixture `spender`, which holds and spends credits, and
/// with these components.
pub async fn host(others: &[&str]) -> Host {
    Host::start(options(others)).await
}

/// Returns options of a host with `spender` and these components. The public URL is fixed, because
/// tokens name it and it would change with each start. The time limit is long, because tests claim
/// many agents at once.
pub fn options(others: &[&str]) -> Options {
    let guests = ["agent_credits", "spender", "svc_phone_binding"];
    Options::with(&[&guests, others].concat()).configuration(
        "public_url = \"http://credits.test\"\n[limits]\ncall_wall_time_ms = 20000\n",
    )
}

/// Registers an agent of test mode that reads its inbox.
pub async fn anonymous(host: &Host) -> Reader<'_> {
    let body = json!({ "type": "anonymous", "mode": "test" });
    let registered = host.client.post(format!("{}/v1/agents/register", host.url)).json(&body);
    let registered = Reply::read(registered.send().await.unwrap()).await.body;
    let token = host.token_of(&registered, "svc.read svc.write svc.events").await;
    let id = registered["agent_id"].as_str().unwrap().to_owned();
    Reader { agent: Agent { host, token }, id }
}

/// Registers and claims an agent, and waits until the ledger has its account. Also
/// returns the owner's id.
pub async fn claimed<'a>(host: &'a Host, phone: &str) -> (Reader<'a>, String) {
    let reader = anonymous(host).await;
    let owner_id = reader.agent.claim(phone).await.as_str().unwrap().to_owned();
    wait_until(async || balance(&reader).await["version"] != 0).await;
    (reader, owner_id)
}

pub async fn wait_until(is_done: impl AsyncFn() -> bool) {
    let started = Instant::now();
    while !is_done().await {
        assert!(started.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

pub async fn balance(reader: &Reader<'_>) -> Value {
    reader.agent.result(CREDITS, json!({ "action": "balance" })).await
}

/// Returns the available and the held credits.
pub async fn funds(reader: &Reader<'_>) -> (u64, u64) {
    let balance = balance(reader).await;
    (balance["available"].as_u64().unwrap(), balance["held"].as_u64().unwrap())
}

pub async fn entry_kinds(reader: &Reader<'_>) -> Vec<String> {
    let statement = reader.agent.result(CREDITS, json!({ "action": "statement" })).await;
    let items = statement["items"].as_array().unwrap().iter();
    items.map(|entry| entry["kind"].as_str().unwrap().to_owned()).collect()
}

pub async fn call_spender(reader: &Reader<'_>, action: &str, input: Value) -> Reply {
    reader.agent.call("spender", json!({ "action": action, "input": input })).await
}

pub async fn call_spender_ok(reader: &Reader<'_>, action: &str, input: Value) -> Value {
    let reply = call_spender(reader, action, input).await;
    assert_eq!(reply.status, 200, "{:#}", reply.body);
    reply.body["result"]["output"].clone()
}

pub async fn hold(reader: &Reader<'_>, amount: u64, reference: &str) -> Value {
    let input = json!({ "amount": amount, "ref": reference, "ttl_s": 172_800 });
    call_spender_ok(reader, "hold", input).await
}

/// Reads and acknowledges the next events of the ledger; returns type and data of each.
pub async fn receive_events(reader: &Reader<'_>, count: usize) -> Vec<(String, Value)> {
    let mut received = Vec::new();
    let started = Instant::now();
    while received.len() < count {
        assert!(started.elapsed() < PATIENCE, "{received:#?}");
        let types = "credits.granted,credits.low,credits.refunded";
        let page = reader.page(&format!("wait=1&types={types}")).await;
        for event in page["events"].as_array().unwrap() {
            received.push((event["type"].as_str().unwrap().to_owned(), event["data"].clone()));
        }
        reader.acknowledge(&ids(&page)).await;
    }
    received
}

/// Calls the next step of a refusal, which must succeed.
pub async fn call_next_step(reader: &Reader<'_>, refused: &Reply) -> Value {
    let next = &refused.body["next"];
    reader.agent.result(next["capability"].as_str().unwrap(), next["input"].clone()).await
}
