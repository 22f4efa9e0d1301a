//! Credits that one agent gives another, codes that people redeem, and prices.

use crate::harness::time::HOUR;
use crate::harness::{Reply, credits::*, inbox::Reader, join_all};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn credits_move_between_the_agents_of_one_person_only() {
    let host = host(&["owners"]).await;
    let (one, owner_id) = claimed(&host, SHARED_NUMBER).await;
    let (other, _) = claimed(&host, SHARED_NUMBER).await;
    let (stranger, _) = claimed(&host, OWN_NUMBER).await;
    assert_eq!((funds(&one).await, funds(&other).await), ((20, 0), (0, 0)), "one welcome");

    let give = |to: &str, amount: u64| json!({ "action": "transfer", "to_agent_id": to, "amount": amount });
    let line = one.agent.result(CREDITS, give(&other.id, 8)).await;
    assert_eq!(
        (&line["debit_account"], &line["credit_account"], &line["balance_after"]),
        (&json!(format!("agent:{}", one.id)), &json!(format!("agent:{}", other.id)), &json!(12))
    );
    let own = other.agent.result(CREDITS, json!({ "action": "statement" })).await;
    assert_eq!(
        (&own["items"][0]["txn_id"], &own["items"][0]["balance_after"]),
        (&line["txn_id"], &json!(8))
    );
    let read = json!({ "action": "statement", "agent_id": other.id });
    assert_eq!(one.agent.result(CREDITS, read.clone()).await, own);
    let account = balance(&other).await;
    assert_eq!(account["person"], json!({ "available": 20, "held": 0 }));
    assert_eq!(account["accounts"].as_array().unwrap().len(), 2);

    // An agent may also take credits from another agent of its person.
    let mut take = give(&other.id, 2);
    take["from_agent_id"] = json!(one.id);
    take["expected_version"] = json!(1);
    let refused = other.agent.call(CREDITS, take.clone()).await;
    refused.assert_refused(409, "version_conflict");
    take["expected_version"] = refused.body["conflict"]["current_version"].clone();
    other.agent.result(CREDITS, take).await;
    assert_eq!((funds(&one).await, funds(&other).await), ((10, 0), (10, 0)));

    for (input, status, code) in [
        (give(&stranger.id, 1), 403, "not_permitted"),
        (give(NOBODY, 1), 404, "not_found"),
        (give(&other.id, 11), 402, "insufficient_credits"),
        (json!({ "action": "balance", "agent_id": stranger.id }), 403, "not_permitted"),
        (json!({ "action": "statement", "agent_id": NOBODY }), 404, "not_found"),
    ] {
        let refused = one.agent.call(CREDITS, input).await;
        refused.assert_refused(status, code);
        call_next_step(&one, &refused).await;
    }
    for input in [give(&one.id, 1), give(&other.id, 0), give(&other.id, 1_001)] {
        one.agent.call(CREDITS, input).await.assert_refused(400, "validation_failed");
    }
    let mut steal = give(&stranger.id, 1);
    steal["from_agent_id"] = json!(one.id);
    stranger.agent.call(CREDITS, steal).await.assert_refused(403, "not_permitted");
    assert_eq!((funds(&one).await, funds(&stranger).await), ((10, 0), (20, 0)));

    // A revoked agent's credits are not lost: another agent of the person can take them.
    let revoke = json!({ "action": "revoke_agent", "agent_id": one.id });
    other.agent.result("owners", revoke).await;
    let mut take = give(&other.id, 10);
    take["from_agent_id"] = json!(one.id);
    other.agent.result(CREDITS, take).await;
    assert_eq!(funds(&other).await, (20, 0));
    assert!(owner_id.starts_with("own_"));
}

async fn issue(reader: &Reader<'_>, amount: u64, uses: u64) -> String {
    let input = json!({ "amount": amount, "uses": uses, "note": "A test." });
    call_spender_ok(reader, "issue_code", input).await["code"].as_str().unwrap().to_owned()
}

async fn redeem(reader: &Reader<'_>, code: &str) -> Reply {
    reader.agent.call(CREDITS, json!({ "action": "redeem", "code": code })).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_is_redeemed_once_by_each_person() {
    let host = host(&[]).await;
    let (one, _) = claimed(&host, SHARED_NUMBER).await;
    let (same, _) = claimed(&host, SHARED_NUMBER).await;
    let (other, _) = claimed(&host, OWN_NUMBER).await;
    let (third, _) = claimed(&host, OWN_NUMBER).await;
    let code = issue(&one, 50, 2).await;
    assert_eq!(code.len(), 19, "{code}");
    // A code may be written in lower case and with spaces.
    let line = redeem(&one, &code.to_lowercase().replace('-', " ")).await.body["result"].clone();
    assert_eq!(
        (&line["kind"], &line["debit_account"], &line["amount"], &line["balance_after"]),
        (&json!("code"), &json!("promo"), &json!(50), &json!(70))
    );
    let granted = receive_events(&one, 2).await.remove(1).1;
    assert_eq!((&granted["kind"], &granted["balance"]), (&json!("code"), &json!(70)));
    let again = redeem(&one, &code).await;
    again.assert_refused(404, "code_not_redeemable");
    assert_eq!(again.body["next"]["missing"], json!(["code"]));
    redeem(&same, &code).await.assert_refused(404, "code_not_redeemable");
    assert_eq!(redeem(&other, &code).await.status, 200);
    let used_up = redeem(&third, &code).await;
    used_up.assert_refused(404, "code_not_redeemable");
    let wrong = redeem(&third, "0000-0000-0000-0000").await;
    assert_eq!(used_up.body, wrong.body, "used-up and wrong codes are refused alike");
    assert_eq!((funds(&other).await, funds(&third).await), ((70, 0), (20, 0)));

    let brief = json!({ "amount": 5, "uses": 1, "expires_at": host.instant_after(HOUR) });
    let brief =
        call_spender_ok(&one, "issue_code", brief).await["code"].as_str().unwrap().to_owned();
    host.advance(HOUR).await;
    redeem(&third, &brief).await.assert_refused(404, "code_not_redeemable");
    let past = json!({ "amount": 1, "uses": 1, "expires_at": "2020-01-01T00:00:00Z" });
    call_spender(&one, "issue_code", past).await.assert_refused(400, "validation_failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn codes_cannot_be_guessed() {
    let host = host(&[]).await;
    let (one, _) = claimed(&host, SHARED_NUMBER).await;
    let (same, _) = claimed(&host, SHARED_NUMBER).await;
    let code = issue(&one, 50, 1).await;
    for guess in 0..5 {
        let reader = if guess % 2 == 0 { &one } else { &same };
        redeem(reader, &format!("GUESS-{guess}")).await.assert_refused(404, "code_not_redeemable");
    }
    // Not even the right code is accepted now, from any agent of the person.
    for reader in [&one, &same] {
        let stopped = redeem(reader, &code).await;
        stopped.assert_refused(429, "too_many_attempts");
        let after_s = stopped.body["next"]["after_s"].as_u64().unwrap();
        assert!((3_500..=3_600).contains(&after_s), "{after_s}");
    }
    let (other, _) = claimed(&host, OWN_NUMBER).await;
    assert_eq!(redeem(&other, &code).await.status, 200);
    assert_eq!(funds(&one).await, (20, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_who_redeem_the_last_use_wins() {
    let host = host(&[]).await;
    let members = join_all((0..6).map(|_| claimed(&host, OWN_NUMBER))).await;
    let code = issue(&members[0].0, 50, 1).await;
    let replies = join_all(members.iter().map(|(reader, _)| redeem(reader, &code))).await;
    let won = replies.iter().filter(|reply| reply.status == 200).count();
    assert_eq!(won, 1, "{replies:#?}");
    assert!(
        replies.iter().all(|reply| [200, 404, 409].contains(&reply.status.as_u16())),
        "{replies:#?}"
    );
    let mut sum = 0;
    for (reader, _) in &members {
        sum += funds(reader).await.0;
    }
    assert_eq!(sum, 6 * 20 + 50);
}

#[tokio::test(flavor = "multi_thread")]
async fn prices_are_shown_before_they_are_charged() {
    let host = host(&["listing_taxonomy"]).await;
    let agent = host.agent().await;
    let list = agent.result(CREDITS, json!({ "action": "price_list" })).await;
    assert_eq!(list["grants"], json!({ "welcome": 20, "top_up_to": 10, "top_up_ceiling": 30 }));
    let mut quoted = 0;
    for price in list["items"].as_array().unwrap() {
        let mut input = json!({ "action": price["action"], "message": "Not read." });
        if price["category"].is_string() {
            input["category"] = price["category"].clone();
        }
        let ask = json!({ "action": "quote", "capability": price["capability"], "input": input });
        let quote = agent.result(CREDITS, ask).await;
        for field in ["capability", "action", "cost", "why", "refund"] {
            assert_eq!(quote[field], price[field], "{quote:#}");
        }
        quoted += 1;
    }
    assert_eq!(quoted, 5);
    let quote = |capability: &str, input: Value| json!({ "action": "quote", "capability": capability, "input": input });
    let other = quote("pairings", json!({ "action": "propose", "category": "work.job" }));
    assert_eq!(agent.result(CREDITS, other).await["cost"], 1);
    let free = quote("faq_search", json!({ "action": "search", "category": "nothing" }));
    assert_eq!(agent.result(CREDITS, free).await["cost"], 0);
    let unknown = quote("pairings", json!({ "action": "propose", "category": "nothing" }));
    let refused = agent.call(CREDITS, unknown).await;
    refused.assert_refused(404, "category_unknown");
    let next = &refused.body["next"];
    agent.result(next["capability"].as_str().unwrap(), next["input"].clone()).await;
}
