//! Organisations, each verified for its domain by the proof of a member.

use crate::{
    cases::{
        owner_verification::{
            BETWEEN_CHECKS, Company, PROOF, challenge_text, check_and_wait, check_later,
            event_states, verification_action, wait_until,
        },
        signal_verification::{ADA, BEN, person, signal},
        social_org::{ORG, add_member, org_action, with_field},
    },
    harness::{Agent, PATIENCE, dns::Answer, inbox::Reader},
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

async fn wait_for_verified(agent: &Agent<'_>, org_id: &Value, wanted: bool) -> Value {
    let get = json!({ "action": "get", "org_id": org_id });
    let started = Instant::now();
    loop {
        let org = agent.result(ORG, get.clone()).await;
        if org["verified"] == wanted {
            return org;
        }
        assert!(started.elapsed() < PATIENCE, "{org:#}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_organisation_with_a_proved_domain_is_linked_to_its_target() {
    let company = Company::new().await;
    let host = company.host().await;
    let ((ada, _), (ben, _)) = (person(&host, ADA).await, person(&host, BEN).await);
    let found = |name: &str, domain: Option<&str>| json!({ "action": "create", "name": name, "kind": "company", "domain": domain });
    let mut alone = found("No domain", None);
    alone.as_object_mut().unwrap().remove("domain");
    let begin =
        |org: &Value| json!({ "action": "start", "org_id": org["org_id"], "method": "dns_txt" });
    // A missing domain, a public suffix and a subdomain cannot be verified.
    let without = ada.agent.result(ORG, alone).await;
    ada.agent.call(PROOF, begin(&without)).await.assert_refused(422, "verification_failed");
    let shared = ada.agent.result(ORG, found("Shared", Some("co.uk"))).await;
    ada.agent.call(PROOF, begin(&shared)).await.assert_refused(422, "verification_failed");
    let below = format!("www.{}", company.domain);
    let below = ada.agent.result(ORG, found("Below", Some(&below))).await;
    ada.agent.call(PROOF, begin(&below)).await.assert_refused(422, "verification_failed");
    for body in [json!({}), json!({ "org_id": below["org_id"], "target_id": company.target_id })] {
        let mut body = body;
        (body["action"], body["method"]) = (json!("start"), json!("dns_txt"));
        ada.agent.call(PROOF, body).await.assert_refused(400, "validation_failed");
    }

    let org = ada.agent.result(ORG, found("The company", Some(&company.domain))).await;
    ben.agent.call(PROOF, begin(&org)).await.assert_refused(403, "not_permitted");
    let link = |target_id: &str| json!({ "action": "link_target", "org_id": org["org_id"], "target_id": target_id });
    let refused = ada.agent.call(ORG, link(&company.target_id)).await;
    refused.assert_refused(403, "verification_required");
    let mut step = refused.body["next"]["input"].clone();
    step["method"] = json!("dns_txt");
    let begun = ada.agent.result(PROOF, step).await;
    assert_eq!((&begun["org_id"], &begun["domain"]), (&org["org_id"], &json!(company.domain)));
    company.set_record(&[challenge_text(&begun)]);
    check_and_wait(&ada.agent, &begun).await;
    wait_for_verified(&ada.agent, &org["org_id"], true).await;
    let other = signal("funding", "confirmed").1;
    assert_ne!(other, company.target_id);
    ada.agent.call(ORG, link(&other)).await.assert_refused(403, "not_permitted");
    let linked = ada.agent.result(ORG, link(&company.target_id)).await;
    assert_eq!(linked["target_id"], company.target_id);

    // A changed domain must be verified anew: proofs of the former one do not count for it.
    let update =
        |domain: &str| json!({ "action": "update", "org_id": org["org_id"], "domain": domain });
    ada.agent.result(ORG, update("victim.example")).await;
    let again = ada.agent.result(PROOF, begin(&org)).await;
    assert_eq!(
        (&again["state"], &again["domain"]),
        (&json!("challenge_issued"), &json!("victim.example"))
    );
    ada.agent.result(PROOF, verification_action("revoke", &again)).await;
    let mut events = Vec::new();
    while events.len() < 3 {
        events = event_states(&ada).await;
    }
    assert_eq!(
        wait_for_verified(&ada.agent, &org["org_id"], false).await["target_id"],
        Value::Null
    );

    ada.agent.result(ORG, update(&company.domain)).await;
    let begun = ada.agent.result(PROOF, begin(&org)).await;
    company.set_record(&[challenge_text(&begun)]);
    assert_eq!(check_later(&ada.agent, &begun).await["state"], "verified");
    wait_for_verified(&ada.agent, &org["org_id"], true).await;
    ada.agent.result(PROOF, verification_action("revoke", &begun)).await;
    wait_for_verified(&ada.agent, &org["org_id"], false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_domain_proof_counts_again_when_the_organisation_returns_to_the_domain() {
    let company = Company::new().await;
    let host = company.host().await;
    let (ada, _) = person(&host, ADA).await;
    let found = json!({
        "action": "create", "name": "The company", "kind": "company", "domain": company.domain,
    });
    let org = ada.agent.result(ORG, found).await;
    let org_field = |action: &str, field: &str, value: &str| json!({ "action": action, "org_id": org["org_id"], field: value });
    let begun = ada.agent.result(PROOF, org_field("start", "method", "dns_txt")).await;
    company.set_record(&[challenge_text(&begun)]);
    check_and_wait(&ada.agent, &begun).await;
    wait_for_verified(&ada.agent, &org["org_id"], true).await;
    let moved = ada.agent.result(ORG, org_field("update", "domain", "victim.example")).await;
    assert_eq!(moved["verified"], false);
    ada.agent.result(ORG, org_field("update", "domain", &company.domain)).await;
    let link = org_field("link_target", "target_id", &company.target_id);
    let refused = ada.agent.call(ORG, link.clone()).await;
    refused.assert_refused(403, "verification_required");
    // The next step of the refusal leads to success.
    let mut step = refused.body["next"]["input"].clone();
    step["method"] = json!("dns_txt");
    assert_eq!(ada.agent.result(PROOF, step).await["state"], "verified");
    wait_for_verified(&ada.agent, &org["org_id"], true).await;
    assert_eq!(ada.agent.result(ORG, link).await["target_id"], company.target_id);
}

async fn create_org_with_domain(agent: &Agent<'_>, name: &str, domain: &str) -> Value {
    let create = json!({ "action": "create", "name": name, "kind": "company", "domain": domain });
    agent.result(ORG, create).await["org_id"].clone()
}

fn start(org_id: &Value) -> Value {
    json!({ "action": "start", "org_id": org_id, "method": "dns_txt" })
}

fn update(org_id: &Value, field: &str, value: &str) -> Value {
    with_field(org_action("update", org_id), field, value)
}

/// Returns the values of `verified` in the owner's events about the organisation, in their order.
async fn verified_values(reader: &Reader<'_>) -> Vec<bool> {
    let page = reader.page("wait=0&cursor=0&types=org.verified").await;
    let events = page["events"].as_array().unwrap().iter();
    events.map(|event| event["data"]["verified"].as_bool().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_organisations_of_one_domain_each_need_a_proof() {
    let company = Company::new().await;
    let host = company.host().await;
    let ((ada, _), (ben, _)) = (person(&host, ADA).await, person(&host, BEN).await);
    let hers = create_org_with_domain(&ada.agent, "The company", &company.domain).await;
    let his = create_org_with_domain(&ben.agent, "Its twin", &company.domain).await;
    let of_ada = ada.agent.result(PROOF, start(&hers)).await;
    let of_ben = ben.agent.result(PROOF, start(&his)).await;
    assert_ne!(challenge_text(&of_ada), challenge_text(&of_ben));
    ben.agent.call(PROOF, start(&hers)).await.assert_refused(403, "not_permitted");

    // Her text does not verify his organisation, and his does not verify hers.
    company.set_record(&[challenge_text(&of_ada)]);
    assert_eq!(check_and_wait(&ben.agent, &of_ben).await["state"], "challenge_issued");
    company.set_record(&[challenge_text(&of_ben)]);
    assert_eq!(check_later(&ben.agent, &of_ben).await["state"], "verified");
    wait_for_verified(&ben.agent, &his, true).await;
    assert_eq!(check_and_wait(&ada.agent, &of_ada).await["state"], "challenge_issued");
    company.set_record(&[challenge_text(&of_ada), challenge_text(&of_ben)]);
    assert_eq!(check_later(&ada.agent, &of_ada).await["state"], "verified");
    wait_for_verified(&ada.agent, &hers, true).await;

    // Both organisations may be linked to the target, but only one at a time.
    let link = |org_id: &Value| {
        with_field(org_action("link_target", org_id), "target_id", &*company.target_id)
    };
    ada.agent.result(ORG, link(&hers)).await;
    let taken = ben.agent.call(ORG, link(&his)).await;
    taken.assert_refused(409, "target_taken");
    assert_eq!(taken.body["conflict"]["existing_id"], hers);
    ada.agent.result(PROOF, verification_action("revoke", &of_ada)).await;
    assert_eq!(wait_for_verified(&ada.agent, &hers, false).await["target_id"], Value::Null);
    let linked = ben.agent.result(ORG, link(&his)).await;
    assert_eq!(
        (&linked["verified"], &linked["target_id"]),
        (&json!(true), &json!(company.target_id))
    );
    assert_eq!(
        (verified_values(&ada).await, verified_values(&ben).await),
        (vec![true, false], vec![true])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_organisation_is_verified_while_one_members_proof_is_valid() {
    let company = Company::new().await;
    let host = company.host().await;
    let ((ada, _), (ben, b)) = (person(&host, ADA).await, person(&host, BEN).await);
    let org_id = create_org_with_domain(&ada.agent, "The company", &company.domain).await;
    add_member(&ada.agent, &org_id, &ben.agent, &b, "admin").await;
    let of_ada = ada.agent.result(PROOF, start(&org_id)).await;
    let of_ben = ben.agent.result(PROOF, start(&org_id)).await;
    company.set_record(&[challenge_text(&of_ada), challenge_text(&of_ben)]);
    assert_eq!(check_and_wait(&ada.agent, &of_ada).await["state"], "verified");
    assert_eq!(check_and_wait(&ben.agent, &of_ben).await["state"], "verified");
    wait_for_verified(&ada.agent, &org_id, true).await;
    ada.agent.result(PROOF, verification_action("revoke", &of_ada)).await;
    // Her new text is not in the DNS, and his still is.
    let again = ada.agent.result(PROOF, start(&org_id)).await;
    assert_eq!(check_later(&ada.agent, &again).await["state"], "challenge_issued");
    assert_eq!(wait_for_verified(&ada.agent, &org_id, true).await["verified"], true);
    ben.agent.result(PROOF, verification_action("revoke", &of_ben)).await;
    wait_for_verified(&ada.agent, &org_id, false).await;
    assert_eq!(verified_values(&ada).await, [true, false]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_domain_that_changes_during_its_check_is_not_proved() {
    let company = Company::new().await;
    let host = company.host().await;
    let (ada, _) = person(&host, ADA).await;
    let org_id = create_org_with_domain(&ada.agent, "The company", &company.domain).await;
    let begun = ada.agent.result(PROOF, start(&org_id)).await;
    company.set_answers(&[Answer::Silence]);
    ada.agent.result(PROOF, verification_action("check", &begun)).await;
    company.wait_for_query().await;
    ada.agent.result(ORG, update(&org_id, "domain", "victim.example")).await;
    company.set_record(&[challenge_text(&begun)]);
    let answered =
        wait_until(&ada.agent, &begun, "answer", |status| status["checking"] == false).await;
    assert_eq!(
        (&answered["state"], &answered["reason"]),
        (&json!("challenge_issued"), &json!("The record has another domain by now, or none."))
    );
    // The old domain is not looked up again.
    let asked = company.query_count();
    host.advance(BETWEEN_CHECKS).await;
    let again = ada.agent.result(PROOF, verification_action("check", &begun)).await;
    assert_eq!((&again["checking"], &again["reason"]), (&json!(false), &answered["reason"]));
    assert_eq!(company.query_count(), asked);

    // When the organisation has its former domain again, the challenge counts again.
    ada.agent.result(ORG, update(&org_id, "domain", &company.domain)).await;
    assert_eq!(check_later(&ada.agent, &begun).await["state"], "verified");
    wait_for_verified(&ada.agent, &org_id, true).await;
    assert_eq!(verified_values(&ada).await, [true]);
}
