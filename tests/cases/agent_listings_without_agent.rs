//! Listings of people who have no agent any more.

use crate::harness::{
    conversations::wait_until,
    listings::{Lister, host},
};
use serde_json::json;

/// The number of test mode with which every agent is claimed for the same person.
const SHARED_NUMBER: &str = "+14155550115";

/// Unclaims or revokes the agent.
async fn end_agent(lister: &Lister<'_>, method: &str) {
    if method == "unbind" {
        let unbind = json!({ "action": "unbind", "confirm": true });
        lister.agent().result("svc.phone-binding", unbind).await;
        return;
    }
    let all = lister.agent().result("owners", json!({ "action": "list_agents" })).await;
    let own =
        all["items"].as_array().unwrap().iter().find(|agent| agent["this_agent"] == true).unwrap();
    let revoke = json!({ "action": method, "agent_id": own["agent_id"], "confirm": true });
    lister.agent().result("owners", revoke).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn listings_of_a_person_without_an_agent_are_not_visible() {
    let host = host().await;
    let bea = Lister::new(&host).await;
    for method in ["unbind", "revoke_agent"] {
        let first = Lister::with(&host, SHARED_NUMBER).await;
        let second = Lister::with(&host, SHARED_NUMBER).await;
        assert_eq!(first.id, second.id);
        let (id, other) =
            (first.create_listing(json!({})).await, second.create_listing(json!({})).await);
        end_agent(&first, method).await;
        // The person has one agent left, which can answer.
        second.call_on("withdraw", &other).await;
        assert_eq!(bea.search(json!({})).await, [id.as_str()], "{method}");
        end_agent(&second, method).await;
        wait_until("the listing is not found", async || bea.search(json!({})).await.is_empty())
            .await;
        let back = Lister::with(&host, SHARED_NUMBER).await;
        assert_eq!(back.id, first.id);
        assert_eq!(back.call_on("get", &id).await.body["result"]["state"], "paused", "{method}");
        assert_eq!(back.call_on("resume", &id).await.body["result"]["state"], "active", "{method}");
        back.call_on("withdraw", &id).await;
        end_agent(&back, method).await;
    }
}
