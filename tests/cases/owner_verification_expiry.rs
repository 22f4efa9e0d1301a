//! Verifications over time: challenges that expire, and proofs that are checked again.

use crate::{
    cases::{
        owner_verification::{
            BETWEEN_CHECKS, Company, PROOF, challenge_text, check_and_wait, check_later,
            event_states, start_action, status, verification_action, wait_until, wait_until_speaks,
        },
        signal_verification::{ADA, BEN, person, published_items},
        states::{Table, texts},
    },
    harness::{Agent, Host, Process, Reply, dns::Answer, feeds::city, time::DAY},
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Makes a timer of a verification due.
async fn reach_verification_timer(host: &Host, timer: &str, verification: &Value) {
    let id = verification["verification_id"].as_str().unwrap();
    host.reach_timer(&format!("{timer}/{id}")).await;
}

async fn wait_for_verification_state(
    agent: &Agent<'_>,
    verification: &Value,
    state: &str,
) -> Value {
    wait_until(agent, verification, state, |status| {
        status["state"] == state && status["checking"] == false
    })
    .await
}

async fn create_verified(company: &Company, agent: &Agent<'_>) -> Value {
    let begun = agent.result(PROOF, start_action(&company.target_id, "dns_txt")).await;
    company.set_record(&[challenge_text(&begun)]);
    assert_eq!(check_and_wait(agent, &begun).await["state"], "verified");
    begun
}

async fn withdraw(host: &Host, verification: &Value) -> Reply {
    let url = format!("{}/capabilities/{PROOF}/withdraw?test_mode=true", host.admin_url);
    let body = json!({
        "verification_id": verification["verification_id"], "reason": "Another company's.",
    });
    Reply::read(host.operator.post(url).json(&body).send().await.unwrap()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_challenge_expires_and_fails_after_too_many_checks() {
    let company = Company::new().await;
    let host = company.host().await;
    let ((ada, _), (ben, _)) = (person(&host, ADA).await, person(&host, BEN).await);
    let begun = ada.agent.result(PROOF, start_action(&company.target_id, "dns_txt")).await;
    reach_verification_timer(&host, "expire", &begun).await;
    let expired = wait_for_verification_state(&ada.agent, &begun, "expired").await;
    assert_eq!(
        (&expired["challenge"], &expired["allowed_actions"]),
        (&Value::Null, &json!(["start"]))
    );
    ada.agent
        .call(PROOF, verification_action("check", &begun))
        .await
        .assert_refused(409, "invalid_transition");

    let begun = ben.agent.result(PROOF, start_action(&company.target_id, "dns_txt")).await;
    for _ in 0..19 {
        assert_eq!(check_later(&ben.agent, &begun).await["state"], "challenge_issued");
    }
    let failed = check_later(&ben.agent, &begun).await;
    assert_eq!((&failed["state"], &failed["challenge"]), (&json!("failed"), &Value::Null));
    assert_eq!(event_states(&ben).await, ["failed"]);
    // There are 40 checks and 10 challenges a day.
    let anew = ben.agent.result(PROOF, start_action(&company.target_id, "dns_txt")).await;
    assert_eq!(anew["state"], "challenge_issued");
    for method in ["well_known_file", "dns_txt"].iter().cycle().take(8) {
        ben.agent.result(PROOF, start_action(&company.target_id, method)).await;
    }
    let enough = ben.agent.call(PROOF, start_action(&company.target_id, "well_known_file")).await;
    enough.assert_refused(429, "quota_exceeded");
    assert_eq!(enough.body["conflict"]["name"], "challenges_per_day");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proof_is_checked_again_and_ends_when_it_has_disappeared() {
    let company = Company::new().await;
    let host = company.host().await;
    let (ada, _) = person(&host, ADA).await;
    let begun = create_verified(&company, &ada.agent).await;
    wait_until_speaks(&ada.agent, &company.signal_id, true).await;
    assert_eq!(event_states(&ada).await, ["verified"]);

    let asked = company.query_count();
    reach_verification_timer(&host, "recheck", &begun).await;
    wait_until(&ada.agent, &begun, "another look", |status| {
        status["state"] == "verified" && company.query_count() > asked
    })
    .await;
    // The recheck is 90 days later, and the first event was kept for only 30. A stale verification
    // is checked again.
    assert_eq!(event_states(&ada).await, ["stale", "verified"]);

    // After the text is removed, the verification counts for some days more, and it is verified
    // again if the text is found.
    company.set_answers(&[Answer::NxDomain]);
    reach_verification_timer(&host, "recheck", &begun).await;
    let stale = wait_for_verification_state(&ada.agent, &begun, "stale").await;
    assert_eq!(stale["reason"], "The text was not found there.");
    assert_eq!(stale["challenge"]["text"], begun["challenge"]["text"]);
    wait_until_speaks(&ada.agent, &company.signal_id, true).await;
    company.set_record(&[challenge_text(&begun)]);
    assert_eq!(check_later(&ada.agent, &begun).await["state"], "verified");

    company.set_answers(&[Answer::NxDomain]);
    reach_verification_timer(&host, "recheck", &begun).await;
    wait_for_verification_state(&ada.agent, &begun, "stale").await;
    // A stale verification is checked once a day.
    for _ in 0..7 {
        reach_verification_timer(&host, "recheck", &begun).await;
    }
    let gone = wait_for_verification_state(&ada.agent, &begun, "revoked").await;
    assert_eq!(gone["reason"], "The text was gone for too long.");
    wait_until_speaks(&ada.agent, &company.signal_id, false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_survives_a_crash_between_its_commit_and_its_answer() {
    let company = Company::new().await;
    // The public URL is fixed, so that the token is valid at the next host too.
    let host = Process::start(company.options("public_url = \"https://portolan.example\""));
    let (ada, _) = person(&host, ADA).await;
    let begun = ada.agent.result(PROOF, start_action(&company.target_id, "dns_txt")).await;
    company.set_answers(&[Answer::Silence]);
    ada.agent.result(PROOF, verification_action("check", &begun)).await;
    company.wait_for_query().await;
    let token = ada.agent.token.clone();
    host.signal("KILL");
    let (_, folder) = host.wait();
    company.set_record(&[challenge_text(&begun)]);
    let host = Process::start_in(folder);
    let ada = Agent { host: &host, token };
    wait_for_verification_state(&ada, &begun, "verified").await;
}

/// Creates a verification in this state.
async fn create_in_state(host: &Host, company: &Company, agent: &Agent<'_>, state: &str) -> Value {
    company.set_answers(&[Answer::NxDomain]);
    let begun = agent.result(PROOF, start_action(&company.target_id, "dns_txt")).await;
    match state {
        "verified" | "stale" => {
            company.set_record(&[challenge_text(&begun)]);
            check_and_wait(agent, &begun).await;
            if state == "stale" {
                company.set_answers(&[Answer::NxDomain]);
                reach_verification_timer(host, "recheck", &begun).await;
            }
        }
        "failed" => {
            // There are 40 checks a day.
            host.advance(DAY).await;
            for _ in 0..20 {
                check_later(agent, &begun).await;
            }
        }
        "expired" => reach_verification_timer(host, "expire", &begun).await,
        "revoked" => drop(agent.result(PROOF, verification_action("revoke", &begun)).await),
        _ => {}
    }
    wait_for_verification_state(agent, &begun, state).await
}

/// Returns the ids of four targets of the map that have a website.
fn targets() -> Vec<String> {
    let targets = published_items(&city().join("feeds"), "sf-live-targets.json", "features");
    let ids = targets.iter().filter(|target| target["properties"]["website"].is_string());
    ids.take(4).map(|target| target["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_action_on_a_verification_in_every_state() {
    let mut company = Company::new().await;
    let host = company.host().await;
    let targets = targets();
    let table = Table::read(&host, PROOF, "verification").await;
    let tried: BTreeSet<&str> = ["start", "check", "revoke", "withdraw"].into();
    let by_time: BTreeSet<&str> = ["on_answer", "expire", "recheck"].into();
    assert_eq!(table.actions(), &tried | &by_time);
    for (number, state) in table.states.iter().enumerate() {
        let (ada, _) = person(&host, &format!("+1415555010{number}")).await;
        for (action, target_id) in tried.iter().zip(&targets) {
            company.switch_target(target_id);
            let thing = create_in_state(&host, &company, &ada.agent, state).await;
            host.advance(BETWEEN_CHECKS).await;
            let reply = match *action {
                "withdraw" => withdraw(&host, &thing).await,
                "start" => ada.agent.call(PROOF, start_action(&company.target_id, "dns_txt")).await,
                action => ada.agent.call(PROOF, verification_action(action, &thing)).await,
            };
            let Some(leads) = table.leads(state, action, None) else {
                reply.assert_refused(409, "invalid_transition");
                continue;
            };
            let now = reply.body["result"]["state"].as_str().unwrap_or_default().to_owned();
            assert!(leads.contains(&now), "{action} in {state}: {}", reply.text);
            let reported = texts(&reply.body["result"]["allowed_actions"]);
            let open =
                |action: &&str| table.leads(&now, action, None).is_some() && *action != "withdraw";
            let expected: Vec<_> = ["start", "check", "revoke"].into_iter().filter(open).collect();
            assert_eq!(reported, expected, "{action} in {state}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_revokes_a_wrong_verification() {
    let company = Company::new().await;
    let host = company.host().await;
    let (ada, _) = person(&host, ADA).await;
    let begun = create_verified(&company, &ada.agent).await;
    wait_until_speaks(&ada.agent, &company.signal_id, true).await;
    let ended = withdraw(&host, &begun).await;
    assert_eq!(ended.body["result"]["state"], "revoked", "{}", ended.text);
    assert_eq!(status(&ada.agent, &begun).await["reason"], "Another company's.");
    wait_until_speaks(&ada.agent, &company.signal_id, false).await;
    assert_eq!(event_states(&ada).await, ["verified", "revoked"]);
}
