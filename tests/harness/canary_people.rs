//! Two people, of whom the first leaves texts with the capabilities.

use crate::harness::{
    Agent, Host, Reply,
    canaries::Canaries,
    credits::{balance, wait_until},
    inbox::Reader,
    relationships::Person,
};
use rand::RngExt as _;
use serde_json::{Value, json};

/// The number of test mode with which all agents of Ada are claimed.
pub const NUMBER: &str = "+14155550115";
/// As others see it.
const MASKED: &str = "+1\u{2022}\u{2022}\u{2022}\u{2022}\u{2022}0115";

/// Registers an agent of test mode with this name, of this software.
async fn named_agent<'a>(host: &'a Host, name: &str, software: &str) -> Agent<'a> {
    let body = json!({
        "type": "anonymous", "mode": "test", "agent_name": name, "software_id": software,
    });
    let reply = host.client.post(format!("{}/v1/agents/register", host.url)).json(&body);
    let agent = Reply::read(reply.send().await.unwrap()).await.body;
    Agent { host, token: host.token_of(&agent, "svc.read svc.write svc.events").await }
}

/// Returns a random instant to come, in milliseconds and as RFC 3339.
pub fn random_instant() -> (String, String) {
    let instant = 4_000_000_000_000_u64 + rand::rng().random_range(0..1_000_000_000);
    let at = jiff::Timestamp::from_millisecond(instant.try_into().unwrap()).unwrap();
    (instant.to_string(), at.to_string())
}

/// Returns criteria that ask for a skill.
pub fn wants_skill(skill: &str) -> Value {
    json!({ "want": [{ "field": "skills", "op": "eq", "value": skill }] })
}

async fn agent_id(agent: &Agent<'_>) -> Value {
    let agents = agent.result("owners", json!({ "action": "list_agents" })).await;
    let agents = agents["items"].as_array().unwrap().iter();
    let own = agents.into_iter().find(|agent| agent["this_agent"] == true).unwrap();
    own["agent_id"].clone()
}

/// Creates Ada, with a profile, a named agent, and one that she has revoked.
pub async fn create_ada<'a>(host: &'a Host, canaries: &mut Canaries) -> Person<'a> {
    let reader = Reader { agent: host.test_agent().await, id: String::new() };
    let agent = &reader.agent;
    let id = agent.claim(NUMBER).await.as_str().unwrap().to_owned();
    canaries.note("svc_phone_binding", "masked number", MASKED);
    // The welcome credits go to the first agent whose claim is delivered.
    wait_until(async || balance(&reader).await["version"] != 0).await;
    let statement = agent.result("agent_credits", json!({ "action": "statement" })).await;
    canaries.note("agent_credits", "entry", statement["items"][0]["txn_id"].as_str().unwrap());
    let mut own = |place| canaries.own("owners", place);
    let (name, software) = (own("name of a revoked agent"), own("software of a revoked agent"));
    let revoked = named_agent(host, &name, &software).await;
    assert_eq!(revoked.claim(NUMBER).await, json!(id));
    let revoke = json!({ "action": "revoke_agent", "agent_id": agent_id(&revoked).await });
    agent.result("owners", revoke).await;
    let rename = json!({
        "action": "rename_agent", "agent_id": agent_id(agent).await,
        "name": canaries.own("owners", "name of an agent"),
    });
    agent.result("owners", rename).await;
    agent.result("owners", json!({ "action": "deactivate" })).await;
    let back =
        json!({ "action": "reactivate", "reason": canaries.own("owners", "reason of a return") });
    agent.result("owners", back).await;
    let profile = json!({
        "action": "update_profile", "birth_year": 1990,
        "display_name": canaries.shared("owners", "display name"),
        "headline": canaries.shared("owners", "headline"),
        "bio_md": canaries.shared("owners", "biography"),
        "city": canaries.shared("owners", "city"),
        "links": [format!("https://{}.example/", canaries.own("owners", "link"))],
        "idempotency_key": canaries.own("owners", "idempotency key"),
    });
    agent.result("owners", profile).await;
    Person { reader, id }
}

pub async fn create_bo(host: &Host) -> Person<'_> {
    let bo = Person::new(host).await;
    let born = json!({ "action": "update_profile", "birth_year": 1990, "display_name": "Bo" });
    bo.agent().result("owners", born).await;
    bo
}
