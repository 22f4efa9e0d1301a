//! Credits: where they come from, what becomes of them, and who is told. Other capabilities hold and
//! spend them; here that is the fixture `spender`.

use crate::harness::{
    Agent, Host, Options, PATIENCE, Reply, futures,
    inbox::{Reader, ids},
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const CREDITS: &str = "agent_credits";
const GUESTS: [&str; 5] =
    ["agent_credits", "spender", "svc_phone_binding", "owners", "listing_taxonomy"];
/// In test mode, a number for each agent, and one that is everybody's.
const OWN_NUMBER: &str = "+14155550100";
const SHARED_NUMBER: &str = "+14155550115";
const NOBODY: &str = "agt_01JZX8Q4M2N6P7R8S9T0V1W2X3";

async fn credits() -> Host {
    Host::start(options()).await
}

/// Tokens name the host's address, which is another one after each start. To claim many agents at once
/// takes a busy machine its time.
pub(super) fn options() -> Options {
    Options::with(&GUESTS).configuration(
        "public_url = \"http://credits.test\"\n[limits]\ncall_wall_time_ms = 20000\n",
    )
}

/// An agent of test mode that reads its inbox.
async fn anonymous(host: &Host) -> Reader<'_> {
    let body = json!({ "type": "anonymous", "mode": "test" });
    let registered = host.client.post(format!("{}/v1/agents/register", host.url)).json(&body);
    let registered = Reply::read(registered.send().await.unwrap()).await.body;
    let token = host.token_of(&registered, "svc.read svc.write svc.events").await;
    let id = registered["agent_id"].as_str().unwrap().to_owned();
    Reader { agent: Agent { host, token }, id }
}

/// One that a person has claimed, once the ledger knows of it. Answers the owner's id too.
pub(super) async fn claimed<'a>(host: &'a Host, phone: &str) -> (Reader<'a>, String) {
    let reader = anonymous(host).await;
    let owner_id = reader.agent.claim(phone).await.as_str().unwrap().to_owned();
    until(async || balance(&reader).await["version"] != 0).await;
    (reader, owner_id)
}

async fn until(done: impl AsyncFn() -> bool) {
    let started = Instant::now();
    while !done().await {
        assert!(started.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn balance(reader: &Reader<'_>) -> Value {
    reader.agent.result(CREDITS, json!({ "action": "balance" })).await
}

/// Available and held.
async fn funds(reader: &Reader<'_>) -> (u64, u64) {
    let balance = balance(reader).await;
    (balance["available"].as_u64().unwrap(), balance["held"].as_u64().unwrap())
}

async fn kinds(reader: &Reader<'_>) -> Vec<String> {
    let statement = reader.agent.result(CREDITS, json!({ "action": "statement" })).await;
    let items = statement["items"].as_array().unwrap().iter();
    items.map(|it| it["kind"].as_str().unwrap().to_owned()).collect()
}

async fn pass(reader: &Reader<'_>, action: &str, input: Value) -> Reply {
    reader.agent.call("spender", json!({ "action": action, "input": input })).await
}

async fn passed(reader: &Reader<'_>, action: &str, input: Value) -> Value {
    let reply = pass(reader, action, input).await;
    assert_eq!(reply.status, 200, "{:#}", reply.body);
    reply.body["result"]["output"].clone()
}

async fn hold(reader: &Reader<'_>, amount: u64, reference: &str) -> Value {
    let input = json!({ "amount": amount, "ref": reference, "ttl_s": 3_600 });
    passed(reader, "hold", input).await
}

/// Lets an agent be claimed again without the pause between two codes.
async fn forget_sent_codes(reader: &Reader<'_>) {
    let forget = format!(
        "UPDATE documents SET body = json_set(body, '$.sends', json('[]')) WHERE id = '{}' AND body LIKE '%\"sends\"%'",
        reader.id
    );
    assert_eq!(reader.agent.host.database().execute(&forget).await, 1);
}

/// The data of the next events of the ledger, acknowledged.
async fn told(reader: &Reader<'_>, count: usize) -> Vec<(String, Value)> {
    let mut told = Vec::new();
    let started = Instant::now();
    while told.len() < count {
        assert!(started.elapsed() < PATIENCE, "{told:#?}");
        let types = "credits.granted,credits.low,credits.refunded";
        let page = reader.page(&format!("wait=1&types={types}")).await;
        for event in page["events"].as_array().unwrap() {
            told.push((event["type"].as_str().unwrap().to_owned(), event["data"].clone()));
        }
        reader.acknowledge(&ids(&page)).await;
    }
    told
}

/// Does what a refusal says, and expects it to go well.
async fn follow(reader: &Reader<'_>, refused: &Reply) -> Value {
    let next = &refused.body["next"];
    reader.agent.result(next["capability"].as_str().unwrap(), next["input"].clone()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_welcomed_once_however_often_agents_are_claimed() {
    let host = credits().await;
    let reader = anonymous(&host).await;
    let nothing = reader.agent.call(CREDITS, json!({ "action": "balance" })).await;
    assert_eq!((nothing.status.as_u16(), &nothing.body["result"]["available"]), (200, &json!(0)));
    assert_eq!(nothing.body["next"]["capability"], "svc.phone-binding");
    assert!(kinds(&reader).await.is_empty());
    for write in ["transfer", "redeem"] {
        let refused = reader.agent.call(CREDITS, json!({ "action": write })).await;
        refused.refused(403, "phone_binding_required");
    }

    let owner_id = reader.agent.claim(OWN_NUMBER).await;
    // Whether or not the ledger has heard of it already.
    assert_eq!(funds(&reader).await, (20, 0));
    let welcome = told(&reader, 1).await.remove(0);
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
    forget_sent_codes(&reader).await;
    let other_id = reader.agent.claim("+14155550101").await;
    assert_ne!(other_id, owner_id);
    hold(&reader, 1, "a").await;
    assert_eq!(funds(&reader).await, (19, 1));
    let unbind = json!({ "action": "unbind", "confirm": true });
    reader.agent.result("svc.phone-binding", unbind).await;
    forget_sent_codes(&reader).await;
    assert_eq!(reader.agent.claim(OWN_NUMBER).await, owner_id);
    let again = json!({ "action": "claimed", "agent_id": reader.id, "owner_id": owner_id });
    reader.agent.result("spender", again).await;
    // The record changes with every claim that the ledger hears of.
    until(async || balance(&reader).await["version"].as_u64().unwrap() >= 3).await;
    assert_eq!(kinds(&reader).await, ["welcome"]);
    assert_eq!(funds(&reader).await, (20, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_held_is_spent_or_comes_back() {
    let host = credits().await;
    let (reader, _) = claimed(&host, OWN_NUMBER).await;
    let (stranger, _) = claimed(&host, OWN_NUMBER).await;
    let first = hold(&reader, 12, "pairing:1").await;
    assert_eq!(
        (&first["state"], &first["amount"], &first["ref"], &first["allowed_actions"]),
        (&json!("held"), &json!(12), &json!("pairing:1"), &json!([]))
    );
    assert_eq!(hold(&reader, 12, "pairing:1").await, first, "the same again");
    assert_ne!(hold(&stranger, 1, "pairing:1").await["hold_id"], first["hold_id"]);
    let second = hold(&reader, 7, "pairing:2").await;
    let account = balance(&reader).await;
    assert_eq!((&account["available"], &account["held"]), (&json!(1), &json!(19)));
    let due = account["next_grant_at"].as_str().unwrap().to_owned();

    let refused = pass(&reader, "hold", json!({ "amount": 2, "ref": "b", "ttl_s": 60 })).await;
    refused.refused(402, "insufficient_credits");
    let expected =
        json!({ "kind": "credits", "required": 2, "available": 1, "next_grant_at": due });
    assert_eq!(refused.body["conflict"], expected);
    assert_eq!(follow(&reader, &refused).await, account);

    // What another capability takes back was never held.
    let rehearsal = json!({ "amount": 1, "ref": "c", "ttl_s": 60 });
    let rehearsal = json!({ "action": "hold", "input": rehearsal, "then_refuse": true });
    reader.agent.call("spender", rehearsal).await.refused(409, "changed_mind");

    let end = |id: &Value| json!({ "hold_id": id });
    let release = |id: &Value| json!({ "hold_id": id, "reason": "accepted" });
    // By whoever calls: the one that was asked.
    let captured = passed(&stranger, "capture", end(&first["hold_id"])).await;
    assert_eq!((&captured["state"], &captured["version"]), (&json!("captured"), &json!(2)));
    assert_eq!(passed(&stranger, "capture", end(&first["hold_id"])).await, captured);
    let released = passed(&stranger, "release", release(&second["hold_id"])).await;
    assert_eq!(released["state"], "released");
    assert_eq!(passed(&stranger, "release", release(&second["hold_id"])).await, released);
    assert_eq!(hold(&reader, 7, "pairing:2").await, released, "whatever became of it");

    let refused = pass(&reader, "release", release(&first["hold_id"])).await;
    refused.refused(409, "invalid_transition");
    assert_eq!(refused.body["conflict"]["current"], "captured");
    let statement = follow(&reader, &refused).await;
    let refused = pass(&reader, "capture", end(&second["hold_id"])).await;
    refused.refused(409, "invalid_transition");
    let refused = pass(&reader, "capture", end(&json!("hold_nothing"))).await;
    refused.refused(404, "not_found");
    follow(&reader, &refused).await;

    let lines: Vec<_> = statement["items"].as_array().unwrap().iter().collect();
    let seen: Vec<_> = lines
        .iter()
        .map(|it| (it["kind"].as_str().unwrap(), it["balance_after"].as_u64().unwrap()))
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
    let events = told(&reader, 3).await;
    let types: Vec<_> = events.iter().map(|it| it.0.as_str()).collect();
    assert_eq!(types, ["credits.granted", "credits.low", "credits.refunded"]);
    assert_eq!((&events[1].1["balance"], &events[1].1["next_grant_at"]), (&json!(1), &json!(due)));
    assert_eq!(
        (&events[2].1["amount"], &events[2].1["reason"], &events[2].1["balance"]),
        (&json!(7), &json!("accepted"), &json!(8))
    );
    assert_eq!(events[2].1["actor"], json!({ "kind": "system" }), "nobody learns who released it");
    // Low again, and told again, because it was above in between.
    hold(&reader, 6, "pairing:3").await;
    hold(&reader, 1, "pairing:4").await;
    hold(&reader, 1, "pairing:5").await;
    assert_eq!(told(&reader, 1).await[0].0, "credits.low");
    assert!(reader.page("wait=0&types=credits.low").await["events"].as_array().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_holds_for_one_thing_there_is_one() {
    let host = credits().await;
    let (reader, _) = claimed(&host, OWN_NUMBER).await;
    let input = json!({ "amount": 3, "ref": "pairing:1", "ttl_s": 60 });
    let all = futures((0..8).map(|_| pass(&reader, "hold", input.clone()))).await;
    let held: Vec<_> = all.iter().filter(|it| it.status == 200).collect();
    assert!(all.iter().all(|it| [200, 409].contains(&it.status.as_u16())), "{all:#?}");
    let id = |reply: &Reply| reply.body["result"]["output"]["hold_id"].clone();
    assert!(held.iter().all(|it| id(it) == id(held[0])), "{held:#?}");
    assert_eq!(funds(&reader).await, (17, 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_that_nobody_ends_comes_back_by_itself() {
    let host = credits().await;
    let (reader, _) = claimed(&host, OWN_NUMBER).await;
    let input = json!({ "amount": 5, "ref": "pairing:1", "ttl_s": 1 });
    let held = passed(&reader, "hold", input).await;
    let id = json!({ "hold_id": held["hold_id"] });
    passed(&reader, "expire", id.clone()).await;
    assert_eq!(funds(&reader).await, (15, 5), "not before its time");
    until(async || funds(&reader).await == (20, 0)).await;
    let refunded = told(&reader, 2).await.remove(1).1;
    assert_eq!((&refunded["reason"], &refunded["hold_id"]), (&json!("timed_out"), &id["hold_id"]));
    passed(&reader, "expire", id.clone()).await;
    pass(&reader, "capture", id).await.refused(409, "invalid_transition");
    assert_eq!(kinds(&reader).await, ["release", "hold", "welcome"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn credits_move_between_the_agents_of_one_person_only() {
    let host = credits().await;
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

    // An agent is as good as its person: it may take, too.
    let mut take = give(&other.id, 2);
    take["from_agent_id"] = json!(one.id);
    take["expected_version"] = json!(1);
    let refused = other.agent.call(CREDITS, take.clone()).await;
    refused.refused(409, "version_conflict");
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
        refused.refused(status, code);
        follow(&one, &refused).await;
    }
    for input in [give(&one.id, 1), give(&other.id, 0), give(&other.id, 1_001)] {
        one.agent.call(CREDITS, input).await.refused(400, "validation_failed");
    }
    let mut steal = give(&stranger.id, 1);
    steal["from_agent_id"] = json!(one.id);
    stranger.agent.call(CREDITS, steal).await.refused(403, "not_permitted");
    assert_eq!((funds(&one).await, funds(&stranger).await), ((10, 0), (20, 0)));

    // A revoked agent's credits are not lost, nor do they come to anybody else.
    let revoke = json!({ "action": "revoke_agent", "agent_id": one.id });
    other.agent.result("owners", revoke).await;
    let mut take = give(&other.id, 10);
    take["from_agent_id"] = json!(one.id);
    other.agent.result(CREDITS, take).await;
    assert_eq!(funds(&other).await, (20, 0));
    assert!(owner_id.starts_with("own_"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_topped_up_a_day_after_they_fell_below() {
    let host = credits().await;
    let (one, owner_id) = claimed(&host, SHARED_NUMBER).await;
    let (other, _) = claimed(&host, SHARED_NUMBER).await;
    hold(&one, 10, "a").await;
    assert_eq!(balance(&one).await["next_grant_at"], Value::Null, "not below yet");
    hold(&one, 3, "b").await;
    let due = balance(&other).await["next_grant_at"].as_str().unwrap().to_owned();
    hold(&one, 1, "c").await;
    assert_eq!(balance(&one).await["next_grant_at"], json!(due), "once set, it stays");
    let owner = json!({ "owner_id": owner_id });
    passed(&one, "top_up", owner.clone()).await;
    assert_eq!(funds(&one).await, (6, 14), "not before its time");

    // A day passes, while the host is away.
    let tokens = [&one, &other].map(|it| (it.agent.token.clone(), it.id.clone()));
    host.signal("TERM");
    let (_, folder) = host.wait();
    let database = crate::harness::database::Database::of(folder.path());
    let is_due = format!(
        "UPDATE documents SET body = json_set(body, '$.next_grant_at', 1) WHERE id = '{owner_id}' AND body LIKE '%next_grant_at%'"
    );
    assert_eq!(database.execute(&is_due).await, 1);
    let is_due = "UPDATE timers SET at = 1, due_at = 1 WHERE name LIKE '%top_up/%'";
    assert_eq!(database.execute(is_due).await, 1);
    let host = Host::start_in(folder);
    let [one, other] = tokens.map(|(token, id)| Reader { agent: Agent { host: &host, token }, id });
    until(async || funds(&one).await == (10, 14)).await;
    assert_eq!(funds(&other).await, (0, 0), "one for a person, however many agents they have");
    passed(&one, "top_up", owner).await;
    let account = balance(&one).await;
    assert_eq!((&account["available"], &account["next_grant_at"]), (&json!(10), &Value::Null));
    assert_eq!(kinds(&one).await[0], "top_up");
    let granted = told(&one, 2).await.remove(1).1;
    assert_eq!((&granted["kind"], &granted["amount"]), (&json!("top_up"), &json!(4)));
    // The next one is set only when it is needed.
    hold(&one, 1, "d").await;
    assert!(balance(&one).await["next_grant_at"].as_str().unwrap() > due.as_str());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_account_lets_nothing_out() {
    let host = credits().await;
    let (reader, _) = claimed(&host, SHARED_NUMBER).await;
    let (other, _) = claimed(&host, SHARED_NUMBER).await;
    let (operator, _) = claimed(&host, OWN_NUMBER).await;
    let held = hold(&reader, 4, "pairing:1").await;
    let agent = json!({ "agent_id": reader.id });
    let frozen = passed(&operator, "freeze", agent.clone()).await;
    assert_eq!(
        (&frozen["items"][0]["state"], &frozen["items"][0]["allowed_actions"]),
        (&json!("frozen"), &json!([]))
    );
    assert_eq!(passed(&operator, "freeze", agent.clone()).await, frozen);
    let input = json!({ "amount": 1, "ref": "pairing:2", "ttl_s": 60 });
    let refused = pass(&reader, "hold", input.clone()).await;
    refused.refused(403, "account_frozen");
    assert_eq!(follow(&reader, &refused).await["state"], "frozen");
    let mut give = json!({ "action": "transfer", "to_agent_id": other.id, "amount": 1 });
    reader.agent.call(CREDITS, give.clone()).await.refused(403, "account_frozen");
    give["from_agent_id"] = json!(reader.id);
    other.agent.call(CREDITS, give.clone()).await.refused(403, "account_frozen");
    let redeem = json!({ "action": "redeem", "code": "7K2M-QX4D-9HTV-3B8N" });
    reader.agent.call(CREDITS, redeem).await.refused(403, "account_frozen");
    // What was held before still ends.
    assert_eq!(hold(&reader, 4, "pairing:1").await, held);
    let release = json!({ "hold_id": held["hold_id"], "reason": "accepted" });
    passed(&operator, "release", release).await;
    passed(&operator, "unfreeze", agent).await;
    passed(&reader, "hold", input).await;
    assert_eq!(funds(&reader).await, (19, 1));
    pass(&operator, "freeze", json!({ "agent_id": NOBODY })).await.refused(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_a_statement_stay_while_entries_come() {
    let host = credits().await;
    let (reader, _) = claimed(&host, OWN_NUMBER).await;
    for number in 0..6 {
        hold(&reader, 1, &format!("early:{number}")).await;
    }
    let mut ask = json!({ "action": "statement", "limit": 3 });
    let (mut seen, mut later) = (Vec::new(), 0);
    loop {
        let page = reader.agent.result(CREDITS, ask.clone()).await;
        let items = page["items"].as_array().unwrap().iter();
        seen.extend(items.map(|it| it["balance_after"].as_u64().unwrap()));
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
    reader.agent.call(CREDITS, nonsense).await.refused(400, "cursor_invalid");
}

#[tokio::test(flavor = "multi_thread")]
async fn prices_are_told_before_they_are_paid() {
    let host = credits().await;
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
    assert_eq!(quoted, 3);
    let quote = |capability: &str, input: Value| json!({ "action": "quote", "capability": capability, "input": input });
    let other = quote("pairings", json!({ "action": "propose", "category": "work.job" }));
    assert_eq!(agent.result(CREDITS, other).await["cost"], 1);
    let free = quote("faq_search", json!({ "action": "search", "category": "nothing" }));
    assert_eq!(agent.result(CREDITS, free).await["cost"], 0);
    let unknown = quote("pairings", json!({ "action": "propose", "category": "nothing" }));
    let refused = agent.call(CREDITS, unknown).await;
    refused.refused(404, "category_unknown");
    let next = &refused.body["next"];
    agent.result(next["capability"].as_str().unwrap(), next["input"].clone()).await;
}

async fn issue(reader: &Reader<'_>, amount: u64, uses: u64) -> String {
    let input = json!({ "amount": amount, "uses": uses, "note": "A test." });
    passed(reader, "issue_code", input).await["code"].as_str().unwrap().to_owned()
}

async fn redeem(reader: &Reader<'_>, code: &str) -> Reply {
    reader.agent.call(CREDITS, json!({ "action": "redeem", "code": code })).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_is_redeemed_once_by_each_person() {
    let host = credits().await;
    let (one, _) = claimed(&host, SHARED_NUMBER).await;
    let (same, _) = claimed(&host, SHARED_NUMBER).await;
    let (other, _) = claimed(&host, OWN_NUMBER).await;
    let (third, _) = claimed(&host, OWN_NUMBER).await;
    let code = issue(&one, 50, 2).await;
    assert_eq!(code.len(), 19, "{code}");
    // However it is written.
    let line = redeem(&one, &code.to_lowercase().replace('-', " ")).await.body["result"].clone();
    assert_eq!(
        (&line["kind"], &line["debit_account"], &line["amount"], &line["balance_after"]),
        (&json!("code"), &json!("promo"), &json!(50), &json!(70))
    );
    let granted = told(&one, 2).await.remove(1).1;
    assert_eq!((&granted["kind"], &granted["balance"]), (&json!("code"), &json!(70)));
    let again = redeem(&one, &code).await;
    again.refused(404, "code_not_redeemable");
    assert_eq!(again.body["next"]["missing"], json!(["code"]));
    redeem(&same, &code).await.refused(404, "code_not_redeemable");
    assert_eq!(redeem(&other, &code).await.status, 200);
    let used_up = redeem(&third, &code).await;
    used_up.refused(404, "code_not_redeemable");
    let wrong = redeem(&third, "0000-0000-0000-0000").await;
    assert_eq!(used_up.body, wrong.body, "nobody learns why");
    assert_eq!((funds(&other).await, funds(&third).await), ((70, 0), (20, 0)));

    let brief = issue(&one, 5, 1).await;
    let expire = "UPDATE documents SET body = json_set(body, '$.expires_at', 1) WHERE body LIKE '%\"uses_left\":1%'";
    assert_eq!(host.database().execute(expire).await, 1);
    redeem(&third, &brief).await.refused(404, "code_not_redeemable");
    let past = json!({ "amount": 1, "uses": 1, "expires_at": "2020-01-01T00:00:00Z" });
    pass(&one, "issue_code", past).await.refused(400, "validation_failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn codes_are_not_to_be_guessed() {
    let host = credits().await;
    let (one, _) = claimed(&host, SHARED_NUMBER).await;
    let (same, _) = claimed(&host, SHARED_NUMBER).await;
    let code = issue(&one, 50, 1).await;
    for guess in 0..5 {
        let reader = if guess % 2 == 0 { &one } else { &same };
        redeem(reader, &format!("GUESS-{guess}")).await.refused(404, "code_not_redeemable");
    }
    // Not even the right one, and whichever agent the person takes.
    for reader in [&one, &same] {
        let stopped = redeem(reader, &code).await;
        stopped.refused(429, "too_many_attempts");
        let after_s = stopped.body["next"]["after_s"].as_u64().unwrap();
        assert!((3_500..=3_600).contains(&after_s), "{after_s}");
    }
    let (other, _) = claimed(&host, OWN_NUMBER).await;
    assert_eq!(redeem(&other, &code).await.status, 200);
    assert_eq!(funds(&one).await, (20, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_who_redeem_the_last_use_one_wins() {
    let host = credits().await;
    let members = futures((0..6).map(|_| claimed(&host, OWN_NUMBER))).await;
    let code = issue(&members[0].0, 50, 1).await;
    let replies = futures(members.iter().map(|(reader, _)| redeem(reader, &code))).await;
    let won = replies.iter().filter(|it| it.status == 200).count();
    assert_eq!(won, 1, "{replies:#?}");
    assert!(replies.iter().all(|it| [200, 404, 409].contains(&it.status.as_u16())), "{replies:#?}");
    let mut sum = 0;
    for (reader, _) in &members {
        sum += funds(reader).await.0;
    }
    assert_eq!(sum, 6 * 20 + 50);
}
