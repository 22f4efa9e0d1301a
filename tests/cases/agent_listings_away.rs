//! Listings of people who have no agent any more.

use crate::harness::{
    conversations::until,
    listings::{Lister, host},
};
use serde_json::json;

/// The number of test mode with which every agent is claimed for the same person.
const SHARED_NUMBER: &str = "+14155550115";

/// Unclaims or revokes the agent.
async fn ends(lister: &Lister<'_>, how: &str) {
    if how == "unbind" {
        let unbind = json!({ "action": "unbind", "confirm": true });
        lister.agent().result("svc.phone-binding", unbind).await;
        return;
    }
    let all = lister.agent().result("owners", json!({ "action": "list_agents" })).await;
    let own =
        all["items"].as_array().unwrap().iter().find(|agent| agent["this_agent"] == true).unwrap();
    let revoke = json!({ "action": how, "agent_id": own["agent_id"], "confirm": true });
    lister.agent().result("owners", revoke).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn listings_of_a_person_without_an_agent_are_not_visible() {
    let host = host().await;
    let bea = Lister::new(&host).await;
    for how in ["unbind", "revoke_agent"] {
        let first = Lister::with(&host, SHARED_NUMBER).await;
        let second = Lister::with(&host, SHARED_NUMBER).await;
        assert_eq!(first.id, second.id);
        let (id, other) = (first.lists(json!({})).await, second.lists(json!({})).await);
        ends(&first, how).await;
        // The person has one agent left, which can answer.
        second.does("withdraw", &other).await;
        assert_eq!(bea.finds(json!({})).await, [id.as_str()], "{how}");
        ends(&second, how).await;
        until("the listing is not found", async || bea.finds(json!({})).await.is_empty()).await;
        let back = Lister::with(&host, SHARED_NUMBER).await;
        assert_eq!(back.id, first.id);
        assert_eq!(back.does("get", &id).await.body["result"]["state"], "paused", "{how}");
        assert_eq!(back.does("resume", &id).await.body["result"]["state"], "active", "{how}");
        back.does("withdraw", &id).await;
        ends(&back, how).await;
    }
}
