//! Verifications over time: challenges that expire, and proofs that are checked again.

use crate::{
    cases::{
        owner_verification::{
            BETWEEN_CHECKS, PROOF, Public, checked, checked_later, on, speaks, start, status, text,
            told, until,
        },
        signal_verification::{ADA, BEN, person, published},
        states::{Table, texts},
    },
    harness::{Agent, Host, Process, Reply, dns::Answer, feeds::city, time::DAY},
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Makes a timer of a verification due.
async fn reach(host: &Host, timer: &str, verification: &Value) {
    let id = verification["verification_id"].as_str().unwrap();
    host.reach_timer(&format!("{timer}/{id}")).await;
}

async fn is(agent: &Agent<'_>, verification: &Value, state: &str) -> Value {
    until(agent, verification, state, |status| {
        status["state"] == state && status["checking"] == false
    })
    .await
}

async fn verified(public: &Public, agent: &Agent<'_>) -> Value {
    let begun = agent.result(PROOF, start(&public.target_id, "dns_txt")).await;
    public.record(&[text(&begun)]);
    assert_eq!(checked(agent, &begun).await["state"], "verified");
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
    let public = Public::of_a_company().await;
    let host = public.host().await;
    let ((ada, _), (ben, _)) = (person(&host, ADA).await, person(&host, BEN).await);
    let begun = ada.agent.result(PROOF, start(&public.target_id, "dns_txt")).await;
    reach(&host, "expire", &begun).await;
    let expired = is(&ada.agent, &begun, "expired").await;
    assert_eq!(
        (&expired["challenge"], &expired["allowed_actions"]),
        (&Value::Null, &json!(["start"]))
    );
    ada.agent.call(PROOF, on("check", &begun)).await.refused(409, "invalid_transition");

    let begun = ben.agent.result(PROOF, start(&public.target_id, "dns_txt")).await;
    for _ in 0..19 {
        assert_eq!(checked_later(&ben.agent, &begun).await["state"], "challenge_issued");
    }
    let failed = checked_later(&ben.agent, &begun).await;
    assert_eq!((&failed["state"], &failed["challenge"]), (&json!("failed"), &Value::Null));
    assert_eq!(told(&ben).await, ["failed"]);
    // There are 40 checks and 10 challenges a day.
    let anew = ben.agent.result(PROOF, start(&public.target_id, "dns_txt")).await;
    assert_eq!(anew["state"], "challenge_issued");
    for method in ["well_known_file", "dns_txt"].iter().cycle().take(8) {
        ben.agent.result(PROOF, start(&public.target_id, method)).await;
    }
    let enough = ben.agent.call(PROOF, start(&public.target_id, "well_known_file")).await;
    enough.refused(429, "quota_exceeded");
    assert_eq!(enough.body["conflict"]["name"], "challenges_per_day");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proof_is_checked_again_and_ends_when_it_has_disappeared() {
    let public = Public::of_a_company().await;
    let host = public.host().await;
    let (ada, _) = person(&host, ADA).await;
    let begun = verified(&public, &ada.agent).await;
    speaks(&ada.agent, &public.signal_id, true).await;
    assert_eq!(told(&ada).await, ["verified"]);

    let asked = public.asked();
    reach(&host, "recheck", &begun).await;
    until(&ada.agent, &begun, "another look", |status| {
        status["state"] == "verified" && public.asked() > asked
    })
    .await;
    // The recheck is 90 days later, and the first event was kept for only 30. A stale verification
    // is checked again.
    assert_eq!(told(&ada).await, ["stale", "verified"]);

    // After the text is removed, the verification counts for some days more, and it is verified
    // again if the text is found.
    public.answers(&[Answer::NoName]);
    reach(&host, "recheck", &begun).await;
    let stale = is(&ada.agent, &begun, "stale").await;
    assert_eq!(stale["reason"], "The text was not found there.");
    assert_eq!(stale["challenge"]["text"], begun["challenge"]["text"]);
    speaks(&ada.agent, &public.signal_id, true).await;
    public.record(&[text(&begun)]);
    assert_eq!(checked_later(&ada.agent, &begun).await["state"], "verified");

    public.answers(&[Answer::NoName]);
    reach(&host, "recheck", &begun).await;
    is(&ada.agent, &begun, "stale").await;
    // A stale verification is checked once a day.
    for _ in 0..7 {
        reach(&host, "recheck", &begun).await;
    }
    let gone = is(&ada.agent, &begun, "revoked").await;
    assert_eq!(gone["reason"], "The text was gone for too long.");
    speaks(&ada.agent, &public.signal_id, false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_survives_a_crash_between_its_commit_and_its_answer() {
    let public = Public::of_a_company().await;
    // The public URL is fixed, so that the token is valid at the next host too.
    let host = Process::start(public.options("public_url = \"https://portolan.example\""));
    let (ada, _) = person(&host, ADA).await;
    let begun = ada.agent.result(PROOF, start(&public.target_id, "dns_txt")).await;
    public.answers(&[Answer::Silence]);
    ada.agent.result(PROOF, on("check", &begun)).await;
    public.is_asked().await;
    let token = ada.agent.token.clone();
    host.signal("KILL");
    let (_, folder) = host.wait();
    public.record(&[text(&begun)]);
    let host = Process::start_in(folder);
    let ada = Agent { host: &host, token };
    is(&ada, &begun, "verified").await;
}

/// Creates a verification in this state.
async fn in_state(host: &Host, public: &Public, agent: &Agent<'_>, state: &str) -> Value {
    public.answers(&[Answer::NoName]);
    let begun = agent.result(PROOF, start(&public.target_id, "dns_txt")).await;
    match state {
        "verified" | "stale" => {
            public.record(&[text(&begun)]);
            checked(agent, &begun).await;
            if state == "stale" {
                public.answers(&[Answer::NoName]);
                reach(host, "recheck", &begun).await;
            }
        }
        "failed" => {
            // There are 40 checks a day.
            host.advance(DAY).await;
            for _ in 0..20 {
                checked_later(agent, &begun).await;
            }
        }
        "expired" => reach(host, "expire", &begun).await,
        "revoked" => drop(agent.result(PROOF, on("revoke", &begun)).await),
        _ => {}
    }
    is(agent, &begun, state).await
}

/// Returns the ids of four targets of the map that have a website.
fn targets() -> Vec<String> {
    let targets = published(&city().join("feeds"), "sf-live-targets.json", "features");
    let ids = targets.iter().filter(|target| target["properties"]["website"].is_string());
    ids.take(4).map(|target| target["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_action_on_a_verification_in_every_state() {
    let mut public = Public::of_a_company().await;
    let host = public.host().await;
    let targets = targets();
    let table = Table::read(&host, PROOF, "verification").await;
    let tried: BTreeSet<&str> = ["start", "check", "revoke", "withdraw"].into();
    let by_time: BTreeSet<&str> = ["on_answer", "expire", "recheck"].into();
    assert_eq!(table.actions(), &tried | &by_time);
    for (number, state) in table.states.iter().enumerate() {
        let (ada, _) = person(&host, &format!("+1415555010{number}")).await;
        for (action, target_id) in tried.iter().zip(&targets) {
            public.stand_for(target_id);
            let thing = in_state(&host, &public, &ada.agent, state).await;
            host.advance(BETWEEN_CHECKS).await;
            let reply = match *action {
                "withdraw" => withdraw(&host, &thing).await,
                "start" => ada.agent.call(PROOF, start(&public.target_id, "dns_txt")).await,
                action => ada.agent.call(PROOF, on(action, &thing)).await,
            };
            let Some(leads) = table.leads(state, action, None) else {
                reply.refused(409, "invalid_transition");
                continue;
            };
            let now = reply.body["result"]["state"].as_str().unwrap_or_default().to_owned();
            assert!(leads.contains(&now), "{action} in {state}: {}", reply.text);
            let told = texts(&reply.body["result"]["allowed_actions"]);
            let open =
                |action: &&str| table.leads(&now, action, None).is_some() && *action != "withdraw";
            let expected: Vec<_> = ["start", "check", "revoke"].into_iter().filter(open).collect();
            assert_eq!(told, expected, "{action} in {state}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_revokes_a_wrong_verification() {
    let public = Public::of_a_company().await;
    let host = public.host().await;
    let (ada, _) = person(&host, ADA).await;
    let begun = verified(&public, &ada.agent).await;
    speaks(&ada.agent, &public.signal_id, true).await;
    let ended = withdraw(&host, &begun).await;
    assert_eq!(ended.body["result"]["state"], "revoked", "{}", ended.text);
    assert_eq!(status(&ada.agent, &begun).await["reason"], "Another company's.");
    speaks(&ada.agent, &public.signal_id, false).await;
    assert_eq!(told(&ada).await, ["verified", "revoked"]);
}
