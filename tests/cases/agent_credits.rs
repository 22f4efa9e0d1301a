//! Credits: how they are granted, held, spent and released, and the events about them.

use crate::harness::time::{DAY, MINUTE};
use crate::harness::{Reply, credits::*, join_all};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn the_welcome_credits_are_given_once_for_a_person() {
    let host = host(&[]).await;
    let reader = anonymous(&host).await;
    let nothing = reader.agent.call(CREDITS, json!({ "action": "balance" })).await;
    assert_eq!((nothing.status.as_u16(), &nothing.body["result"]["available"]), (200, &json!(0)));
    assert_eq!(nothing.body["next"]["capability"], "svc.phone-binding");
    assert!(entry_kinds(&reader).await.is_empty());
    for write in ["transfer", "redeem"] {
        let refused = reader.agent.call(CREDITS, json!({ "action": write })).await;
        refused.assert_refused(403, "phone_binding_required");
    }

    let owner_id = reader.agent.claim(OWN_NUMBER).await;
    // The welcome credits count even if the event of the claim is not delivered to the ledger yet.
    assert_eq!(funds(&reader).await, (20, 0));
    let welcome = receive_events(&reader, 1).await.remove(0);
    assert_eq!(welcome.0, "credits.granted");
    assert_eq!(
        (&welcome.1["kind"], &welcome.1["amount"], &welcome.1["balance"], &welcome.1["agent_id"]),
        (&json!("welcome"), &json!(20), &json!(20), &json!(reader.id))
    );
    assert_eq!(welcome.1["actor"], json!({ "kind": "system" }));
    let next = &welcome.1["next"];
    reader.agent.result(next["capability"].as_str().unwrap(), next["input"].clone()).await;

    let unbind = json!({ "action": "unbind", "confirm": true });
    reader.agent.result("svc.phone-binding", unbind).await;
    assert_eq!(funds(&reader).await, (0, 0), "credits stay with the person");
    // Another person claims the agent, and then the first one again.
    // A minute must pass between two codes.
    host.advance(MINUTE).await;
    let other_id = reader.agent.claim("+14155550101").await;
    assert_ne!(other_id, owner_id);
    hold(&reader, 1, "a").await;
    assert_eq!(funds(&reader).await, (19, 1));
    let unbind = json!({ "action": "unbind", "confirm": true });
    reader.agent.result("svc.phone-binding", unbind).await;
    // A minute must pass between two codes.
    host.advance(MINUTE).await;
    assert_eq!(reader.agent.claim(OWN_NUMBER).await, owner_id);
    // Each event of a claim that the ledger handles raises the version of the account.
    let wait_for_claims = async |claims: u64| {
        wait_until(async || balance(&reader).await["version"].as_u64().unwrap() >= claims).await;
    };
    wait_for_claims(2).await;
    let again = json!({ "action": "claimed", "agent_id": reader.id, "owner_id": owner_id });
    reader.agent.result("spender", again).await;
    wait_for_claims(3).await;
    assert_eq!(entry_kinds(&reader).await, ["welcome"]);
    assert_eq!(funds(&reader).await, (20, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_is_spent_or_released() {
    let host = host(&[]).await;
    let (reader, _) = claimed(&host, OWN_NUMBER).await;
    let (stranger, _) = claimed(&host, OWN_NUMBER).await;
    let first = hold(&reader, 12, "pairing:1").await;
    assert_eq!(
        (&first["state"], &first["amount"], &first["ref"], &first["allowed_actions"]),
        (&json!("held"), &json!(12), &json!("pairing:1"), &json!([]))
    );
    assert_eq!(hold(&reader, 12, "pairing:1").await, first, "the same hold again");
    assert_ne!(hold(&stranger, 1, "pairing:1").await["hold_id"], first["hold_id"]);
    let second = hold(&reader, 7, "pairing:2").await;
    let account = balance(&reader).await;
    assert_eq!((&account["available"], &account["held"]), (&json!(1), &json!(19)));
    let due = account["next_grant_at"].as_str().unwrap().to_owned();

    let refused =
        call_spender(&reader, "hold", json!({ "amount": 2, "ref": "b", "ttl_s": 60 })).await;
    refused.assert_refused(402, "insufficient_credits");
    let expected =
        json!({ "kind": "credits", "required": 2, "available": 1, "next_grant_at": due });
    assert_eq!(refused.body["conflict"], expected);
    assert_eq!(call_next_step(&reader, &refused).await, account);

    // If the calling capability refuses, its hold is rolled back.
    let rehearsal = json!({ "amount": 1, "ref": "c", "ttl_s": 60 });
    let rehearsal = json!({ "action": "hold", "input": rehearsal, "then_refuse": true });
    reader.agent.call("spender", rehearsal).await.assert_refused(409, "changed_mind");

    let end = |id: &Value| json!({ "hold_id": id });
    let release = |id: &Value| json!({ "hold_id": id, "reason": "accepted" });
    // The hold is found by its id, whichever agent makes the call that ends it.
    let captured = call_spender_ok(&stranger, "capture", end(&first["hold_id"])).await;
    assert_eq!((&captured["state"], &captured["version"]), (&json!("captured"), &json!(2)));
    assert_eq!(call_spender_ok(&stranger, "capture", end(&first["hold_id"])).await, captured);
    let released = call_spender_ok(&stranger, "release", release(&second["hold_id"])).await;
    assert_eq!(released["state"], "released");
    assert_eq!(call_spender_ok(&stranger, "release", release(&second["hold_id"])).await, released);
    assert_eq!(hold(&reader, 7, "pairing:2").await, released, "the same hold, also after its end");

    let refused = call_spender(&reader, "release", release(&first["hold_id"])).await;
    refused.assert_refused(409, "invalid_transition");
    assert_eq!(refused.body["conflict"]["current"], "captured");
    let statement = call_next_step(&reader, &refused).await;
    let refused = call_spender(&reader, "capture", end(&second["hold_id"])).await;
    refused.assert_refused(409, "invalid_transition");
    let refused = call_spender(&reader, "capture", end(&json!("hold_nothing"))).await;
    refused.assert_refused(404, "not_found");
    call_next_step(&reader, &refused).await;

    let lines: Vec<_> = statement["items"].as_array().unwrap().iter().collect();
    let seen: Vec<_> = lines
        .iter()
        .map(|entry| (entry["kind"].as_str().unwrap(), entry["balance_after"].as_u64().unwrap()))
        .collect();
    assert_eq!(seen, [("release", 8), ("capture", 1), ("hold", 1), ("hold", 8), ("welcome", 20)]);
    let hold_account = format!("hold:{}", first["hold_id"].as_str().unwrap());
    assert_eq!(
        (&lines[1]["debit_account"], &lines[1]["credit_account"], &lines[1]["ref"]),
        (&json!(hold_account), &json!("spent"), &json!("pairing:1"))
    );
    let account = balance(&reader).await;
    assert_eq!(
        (&account["lifetime_in"], &account["lifetime_out"], &account["available"]),
        (&json!(20), &json!(12), &json!(8))
    );
    let events = receive_events(&reader, 3).await;
    let types: Vec<_> = events.iter().map(|event| event.0.as_str()).collect();
    assert_eq!(types, ["credits.granted", "credits.low", "credits.refunded"]);
    assert_eq!((&events[1].1["balance"], &events[1].1["next_grant_at"]), (&json!(1), &json!(due)));
    assert_eq!(
        (&events[2].1["amount"], &events[2].1["reason"], &events[2].1["balance"]),
        (&json!(7), &json!("accepted"), &json!(8))
    );
    assert_eq!(events[2].1["actor"], json!({ "kind": "system" }), "nobody learns who released it");
    // The balance was not low in between, so the event is published again.
    hold(&reader, 6, "pairing:3").await;
    hold(&reader, 1, "pairing:4").await;
    hold(&reader, 1, "pairing:5").await;
    assert_eq!(receive_events(&reader, 1).await[0].0, "credits.low");
    assert!(reader.page("wait=0&types=credits.low").await["events"].as_array().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_holds_for_one_reference_make_one_hold() {
    let host = host(&[]).await;
    let (reader, _) = claimed(&host, OWN_NUMBER).await;
    let input = json!({ "amount": 3, "ref": "pairing:1", "ttl_s": 60 });
    let all = join_all((0..8).map(|_| call_spender(&reader, "hold", input.clone()))).await;
    let held: Vec<_> = all.iter().filter(|reply| reply.status == 200).collect();
    assert!(all.iter().all(|reply| [200, 409].contains(&reply.status.as_u16())), "{all:#?}");
    let id = |reply: &Reply| reply.body["result"]["output"]["hold_id"].clone();
    assert!(held.iter().all(|reply| id(reply) == id(held[0])), "{held:#?}");
    assert_eq!(funds(&reader).await, (17, 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_is_released_when_it_expires() {
    let host = host(&[]).await;
    let (reader, _) = claimed(&host, OWN_NUMBER).await;
    let input = json!({ "amount": 5, "ref": "pairing:1", "ttl_s": 1 });
    let held = call_spender_ok(&reader, "hold", input).await;
    let id = json!({ "hold_id": held["hold_id"] });
    call_spender_ok(&reader, "expire", id.clone()).await;
    assert_eq!(funds(&reader).await, (15, 5), "a hold does not expire early");
    wait_until(async || funds(&reader).await == (20, 0)).await;
    let refunded = receive_events(&reader, 2).await.remove(1).1;
    assert_eq!((&refunded["reason"], &refunded["hold_id"]), (&json!("timed_out"), &id["hold_id"]));
    call_spender_ok(&reader, "expire", id.clone()).await;
    call_spender(&reader, "capture", id).await.assert_refused(409, "invalid_transition");
    assert_eq!(entry_kinds(&reader).await, ["release", "hold", "welcome"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_topped_up_a_day_after_they_fell_below() {
    let host = host(&[]).await;
    let (one, owner_id) = claimed(&host, SHARED_NUMBER).await;
    let (other, _) = claimed(&host, SHARED_NUMBER).await;
    hold(&one, 10, "a").await;
    assert_eq!(balance(&one).await["next_grant_at"], Value::Null, "no top-up is due yet");
    hold(&one, 3, "b").await;
    let due = balance(&other).await["next_grant_at"].as_str().unwrap().to_owned();
    hold(&one, 1, "c").await;
    assert_eq!(balance(&one).await["next_grant_at"], json!(due), "the top-up is not moved");
    let owner = json!({ "owner_id": owner_id });
    call_spender_ok(&one, "top_up", owner.clone()).await;
    assert_eq!(funds(&one).await, (6, 14), "a top-up does not run early");

    host.advance(DAY).await;
    assert_eq!(funds(&one).await, (10, 14));
    assert_eq!(funds(&other).await, (0, 0), "one top-up for each person, not each agent");
    call_spender_ok(&one, "top_up", owner).await;
    let account = balance(&one).await;
    assert_eq!((&account["available"], &account["next_grant_at"]), (&json!(10), &Value::Null));
    assert_eq!(entry_kinds(&one).await[0], "top_up");
    let granted = receive_events(&one, 2).await.remove(1).1;
    assert_eq!((&granted["kind"], &granted["amount"]), (&json!("top_up"), &json!(4)));
    // The next top-up is set only when the balance is below it.
    hold(&one, 1, "d").await;
    assert!(balance(&one).await["next_grant_at"].as_str().unwrap() > due.as_str());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_account_spends_nothing() {
    let host = host(&[]).await;
    let (reader, _) = claimed(&host, SHARED_NUMBER).await;
    let (other, _) = claimed(&host, SHARED_NUMBER).await;
    let (operator, _) = claimed(&host, OWN_NUMBER).await;
    let held = hold(&reader, 4, "pairing:1").await;
    let agent = json!({ "agent_id": reader.id });
    let frozen = call_spender_ok(&operator, "freeze", agent.clone()).await;
    assert_eq!(
        (&frozen["items"][0]["state"], &frozen["items"][0]["allowed_actions"]),
        (&json!("frozen"), &json!([]))
    );
    assert_eq!(call_spender_ok(&operator, "freeze", agent.clone()).await, frozen);
    let input = json!({ "amount": 1, "ref": "pairing:2", "ttl_s": 60 });
    let refused = call_spender(&reader, "hold", input.clone()).await;
    refused.assert_refused(403, "account_frozen");
    let decisions = json!({ "action": "list_mine", "role": "affected" });
    assert_eq!(refused.body["next"], json!({ "capability": "reports", "input": decisions }));
    let mut give = json!({ "action": "transfer", "to_agent_id": other.id, "amount": 1 });
    reader.agent.call(CREDITS, give.clone()).await.assert_refused(403, "account_frozen");
    give["from_agent_id"] = json!(reader.id);
    other.agent.call(CREDITS, give.clone()).await.assert_refused(403, "account_frozen");
    let redeem = json!({ "action": "redeem", "code": "7K2M-QX4D-9HTV-3B8N" });
    reader.agent.call(CREDITS, redeem).await.assert_refused(403, "account_frozen");
    // Holds from before the freeze can still be released.
    assert_eq!(hold(&reader, 4, "pairing:1").await, held);
    let release = json!({ "hold_id": held["hold_id"], "reason": "accepted" });
    call_spender_ok(&operator, "release", release).await;
    call_spender_ok(&operator, "unfreeze", agent).await;
    call_spender_ok(&reader, "hold", input).await;
    assert_eq!(funds(&reader).await, (19, 1));
    call_spender(&operator, "freeze", json!({ "agent_id": NOBODY }))
        .await
        .assert_refused(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_a_statement_are_stable_while_entries_are_added() {
    let host = host(&[]).await;
    let (reader, _) = claimed(&host, OWN_NUMBER).await;
    for number in 0..6 {
        hold(&reader, 1, &format!("early:{number}")).await;
    }
    let mut ask = json!({ "action": "statement", "limit": 3 });
    let (mut seen, mut later) = (Vec::new(), 0);
    loop {
        let page = reader.agent.result(CREDITS, ask.clone()).await;
        let items = page["items"].as_array().unwrap().iter();
        seen.extend(items.map(|item| item["balance_after"].as_u64().unwrap()));
        hold(&reader, 1, &format!("late:{later}")).await;
        later += 1;
        ask["cursor"] = page["next_cursor"].clone();
        if ask["cursor"].is_null() {
            break;
        }
    }
    assert_eq!(seen, [14, 15, 16, 17, 18, 19, 20]);
    let newest = reader.agent.result(CREDITS, json!({ "action": "statement", "limit": 1 })).await;
    let since = newest["items"][0]["time"].clone();
    let recent = json!({ "action": "statement", "since": since });
    assert_eq!(reader.agent.result(CREDITS, recent).await["items"], newest["items"]);
    let nonsense = json!({ "action": "statement", "cursor": "nonsense" });
    reader.agent.call(CREDITS, nonsense).await.assert_refused(400, "cursor_invalid");
}
