//! Organisations outlive their owners: who takes over when an owner is gone, and who cannot.

use crate::{
    cases::{
        owner_verification::{Company, PROOF, challenge_text, check_and_wait},
        personal::{erase, export},
        signal_verification::{ADA, BEN, person as verifier},
        social_org::{ORG, add_member, create_org, host, org_action, person, wait_for_event},
    },
    harness::{Agent, Host, conversations::wait_until, inbox::Reader, time::DAY},
};
use serde_json::{Value, json};

/// The organisation of `ada`, who owns it, `bob`, an admin, and `cy`, a recruiter.
struct Team<'a> {
    org_id: Value,
    ada: Reader<'a>,
    ada_id: String,
    bob: Reader<'a>,
    bob_id: String,
    cy: Reader<'a>,
}

impl<'a> Team<'a> {
    async fn new(host: &'a Host) -> Self {
        let ((ada, ada_id), (bob, b), (cy, c)) =
            (person(host).await, person(host).await, person(host).await);
        let org_id = create_org(&ada.agent, "Copperleaf").await;
        add_member(&ada.agent, &org_id, &bob.agent, &b, "admin").await;
        add_member(&ada.agent, &org_id, &cy.agent, &c, "recruiter").await;
        Self { org_id, ada, ada_id, bob, bob_id: b, cy }
    }

    async fn role(&self, of: &Reader<'_>) -> Value {
        self.get(of).await["membership"]["role"].clone()
    }

    async fn get(&self, by: &Reader<'_>) -> Value {
        by.agent.result(ORG, org_action("get", &self.org_id)).await
    }

    async fn lists(&self, by: &Reader<'_>, action: &str) -> bool {
        self.get(by).await["allowed_actions"].as_array().unwrap().contains(&json!(action))
    }
}

async fn state(agent: &Agent<'_>, org_id: &Value) -> Value {
    agent.result(ORG, org_action("get", org_id)).await["succession"]["state"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_admin_takes_over_from_an_owner_who_is_gone() {
    let host = host().await;
    let team = Team::new(&host).await;
    let request = org_action("request_succession", &team.org_id);
    assert!(!team.lists(&team.bob, "request_succession").await);
    let refused = team.bob.agent.call(ORG, request.clone()).await;
    refused.assert_refused(409, "owner_present");

    host.advance(61 * DAY).await;
    assert!(team.lists(&team.bob, "request_succession").await);
    // Bob, an admin, comes first.
    team.cy.agent.call(ORG, request.clone()).await.assert_refused(409, "owner_present");
    let requested = team.bob.agent.result(ORG, request.clone()).await;
    assert_eq!(requested["succession"]["state"], "requested", "{requested:#}");
    let event = wait_for_event(&team.cy, "org.succession_requested").await;
    assert_eq!(event["data"]["due_at"], requested["succession"]["due_at"], "{event:#}");
    assert!(!team.lists(&team.bob, "request_succession").await);
    assert!(team.lists(&team.bob, "withdraw_succession").await);
    team.bob.agent.call(ORG, request).await.assert_refused(409, "invalid_transition");

    host.advance(7 * DAY).await;
    wait_until("Bob is the owner", async || team.role(&team.bob).await == "owner").await;
    let event = wait_for_event(&team.cy, "org.owner_changed").await;
    assert_eq!(event["data"]["succession"], "completed", "{event:#}");
    assert_eq!(team.role(&team.ada).await, "admin");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_who_is_there_again_keeps_the_organisation() {
    let host = host().await;
    let team = Team::new(&host).await;
    let request = org_action("request_succession", &team.org_id);
    host.advance(61 * DAY).await;
    team.bob.agent.result(ORG, request.clone()).await;
    let refuse = org_action("refuse_succession", &team.org_id);
    team.bob.agent.call(ORG, refuse.clone()).await.assert_refused(403, "not_permitted");
    assert!(team.lists(&team.ada, "refuse_succession").await);
    team.ada.agent.result(ORG, refuse).await;
    let event = wait_for_event(&team.bob, "org.succession_refused").await;
    assert_eq!(event["data"]["succession"], "refused", "{event:#}");
    team.bob.agent.call(ORG, request.clone()).await.assert_refused(409, "owner_present");

    // A call of the owner is enough.
    host.advance(61 * DAY).await;
    team.bob.agent.result(ORG, request).await;
    host.advance(3 * DAY).await;
    team.get(&team.ada).await;
    host.advance(4 * DAY).await;
    let ended = async || state(&team.bob.agent, &team.org_id).await == "lapsed";
    wait_until("the request lapses", ended).await;
    assert_eq!(team.role(&team.ada).await, "owner");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_organisation_survives_the_erasure_of_its_owner() {
    let host = host().await;
    let team = Team::new(&host).await;
    assert!(!team.lists(&team.bob, "archive").await);
    assert_eq!(erase(&host, &team.ada_id).await.status, 200);
    wait_for_event(&team.cy, "org.owner_changed").await;
    // Bob is the last admin of an organisation without an owner.
    assert!(team.lists(&team.bob, "archive").await);
    team.bob.agent.result(ORG, org_action("request_succession", &team.org_id)).await;
    host.advance(7 * DAY).await;
    wait_until("Bob is the owner", async || team.role(&team.bob).await == "owner").await;
    assert!(team.lists(&team.bob, "transfer_ownership").await);
    assert_eq!(team.get(&team.cy).await["members_count"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erased_claimant_is_named_nowhere_and_takes_over_nothing() {
    let host = host().await;
    let team = Team::new(&host).await;
    host.advance(61 * DAY).await;
    team.bob.agent.result(ORG, org_action("request_succession", &team.org_id)).await;
    let exported = export(&host, &team.bob_id).await.body;
    let mut documents = exported["documents"].as_array().unwrap().iter();
    let org = documents.find(|document| document["id"] == team.org_id).unwrap();
    assert_eq!(org["document"]["succession"]["by"], team.bob_id, "{org:#}");

    assert_eq!(erase(&host, &team.bob_id).await.status, 200);
    assert!(host.database().texts_found(&[&team.bob_id]).is_empty());
    host.advance(7 * DAY).await;
    let ended = async || state(&team.cy.agent, &team.org_id).await == "lapsed";
    wait_until("the request lapses", ended).await;
    assert_eq!(team.role(&team.ada).await, "owner");
    assert_eq!(team.get(&team.ada).await["members_count"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_admin_archives_an_organisation_whose_owner_was_erased() {
    let host = host().await;
    let team = Team::new(&host).await;
    let archive = org_action("archive", &team.org_id);
    team.bob.agent.call(ORG, archive.clone()).await.assert_refused(403, "not_permitted");
    erase(&host, &team.ada_id).await;
    team.cy.agent.call(ORG, archive.clone()).await.assert_refused(403, "not_permitted");
    assert_eq!(team.bob.agent.result(ORG, archive).await["state"], "archived");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_admin_the_domain_decides() {
    let company = Company::new().await;
    let host = company.host().await;
    let ((ada, _), (ben, b)) = (verifier(&host, ADA).await, verifier(&host, BEN).await);
    let org = json!({
        "action": "create", "name": "The company", "kind": "company", "domain": company.domain,
    });
    let org_id = ada.agent.result(ORG, org).await["org_id"].clone();
    let start = json!({ "action": "start", "org_id": org_id, "method": "dns_txt" });
    ben.agent.call(PROOF, start.clone()).await.assert_refused(403, "not_permitted");

    host.advance(61 * DAY).await;
    let request = org_action("request_succession", &org_id);
    ben.agent.call(ORG, request.clone()).await.assert_refused(403, "not_permitted");
    let begun = ben.agent.result(PROOF, start).await;
    company.set_record(&[challenge_text(&begun)]);
    check_and_wait(&ben.agent, &begun).await;
    let get = org_action("get", &org_id);
    let can_request = async || {
        let org = ben.agent.result(ORG, get.clone()).await;
        org["allowed_actions"].as_array().unwrap().contains(&json!("request_succession"))
    };
    wait_until("the proof has arrived", can_request).await;
    let requested = ben.agent.result(ORG, request).await;
    assert_eq!(requested["succession"]["ground"], "domain", "{requested:#}");
    host.advance(14 * DAY).await;
    let is_owner =
        async || ben.agent.result(ORG, get.clone()).await["membership"]["role"] == "owner";
    wait_until("Ben is the owner", is_owner).await;
    let event = wait_for_event(&ben, "org.owner_changed").await;
    assert_eq!(event["data"]["owner_id"], json!(b), "{event:#}");
}
