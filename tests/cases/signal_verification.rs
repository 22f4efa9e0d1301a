//! Evidence, confirmations and disputes about the signals of the map.

use crate::harness::{
    Agent, Host, Options, Reply, feeds::city, inbox::Reader, next_steps::FollowedSteps,
};
use portolan_feeds::publish::documents;
use serde_json::{Value, json};
use std::{cmp::Reverse, path::Path};

pub const SIGNALS: &str = "signal_verification";
pub const NAMES: [&str; 6] = [
    "signal_verification",
    "owners",
    "social_permissions",
    "social_relationships",
    "svc_phone_binding",
    "faq_get",
];

/// Starts a host with the invented city, which is not built anew.
async fn city_host() -> Host {
    let configuration = format!("feeds_dir = {:?}", city().join("feeds"));
    Host::start(Options::with(&NAMES).configuration(&configuration)).await
}

/// Registers and claims an agent, and returns it with the person's id.
pub async fn person<'a>(host: &'a Host, phone: &str) -> (Reader<'a>, String) {
    let agent = host.test_agent().await;
    let owner_id = agent.claim(phone).await.as_str().unwrap().to_owned();
    (Reader { agent, id: String::new() }, owner_id)
}

pub const ADA: &str = "+14155550100";
pub const BEN: &str = "+14155550101";

/// Runs an internal action as the operator, in test mode.
pub async fn operate(host: &Host, action: &str, input: Value) -> Reply {
    let url = format!("{}/capabilities/{SIGNALS}/{action}?test_mode=true", host.admin_url);
    Reply::read(host.operator.post(url).json(&input).send().await.unwrap()).await
}

pub async fn operate_ok(host: &Host, action: &str, input: Value) -> Value {
    let reply = operate(host, action, input).await;
    assert_eq!(reply.status, 200, "{:#}", reply.body);
    reply.body["result"].clone()
}

pub fn published_items(folder: &Path, file: &str, list: &str) -> Vec<Value> {
    let document = documents(folder).unwrap()[file].clone();
    let document: Value = serde_json::from_slice(&document).unwrap();
    document[list].as_array().unwrap().clone()
}

/// Returns the ids of a published signal of this kind and maturity, and of its company.
pub fn signal(kind: &str, maturity: &str) -> (String, String) {
    let signals = published_items(&city().join("feeds"), "live-signal-feed.json", "items");
    let fits = |signal: &&Value| signal["kind"] == kind && signal["maturity"] == maturity;
    let signal = signals.iter().find(fits).unwrap();
    let text = |name: &str| signal[name].as_str().unwrap().to_owned();
    (text("id"), text("target_id"))
}

pub fn signal_action(action: &str, signal_id: &str) -> Value {
    json!({ "action": action, "signal_id": signal_id })
}

pub fn submission(signal_id: &str, url: &str) -> Value {
    let note = "A paper of its own.";
    json!({
        "action": "submit_evidence", "signal_id": signal_id, "url": url, "kind": "supports",
        "note": note,
    })
}

pub async fn get_signal(agent: &Agent<'_>, signal_id: &str) -> Value {
    agent.result(SIGNALS, signal_action("get", signal_id)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_action_on_evidence_in_every_state() {
    let host = city_host().await;
    let (ada, _) = person(&host, ADA).await;
    let (ben, _) = person(&host, BEN).await;
    let (id, _) = signal("hiring", "corroborated");
    let mut followed = FollowedSteps::default();
    for (number, state) in ["submitted", "accepted", "rejected", "withdrawn"].iter().enumerate() {
        for (other, action) in ["withdraw", "accept", "reject"].iter().enumerate() {
            let url = format!("https://paper-{number}-{other}.example/");
            let evidence = ada.agent.result(SIGNALS, submission(&id, &url)).await;
            let of_it = json!({ "evidence_id": evidence["evidence_id"] });
            let with = |name: &str, value: &str| {
                let mut body = of_it.clone();
                body[name] = json!(value);
                body
            };
            let withdraw = with("action", "withdraw");
            ben.agent.call(SIGNALS, withdraw.clone()).await.assert_refused(404, "not_found");
            match *state {
                "accepted" => drop(operate_ok(&host, "accept", of_it.clone()).await),
                "rejected" => drop(operate_ok(&host, "reject", with("reason", "No.")).await),
                "withdrawn" => drop(ada.agent.result(SIGNALS, withdraw.clone()).await),
                _ => {}
            }
            let mut stale = withdraw.clone();
            stale["expected_version"] = json!(9);
            ada.agent.call(SIGNALS, stale).await.assert_refused(409, "version_conflict");
            let reply = match *action {
                "withdraw" => ada.agent.call(SIGNALS, withdraw).await,
                "accept" => operate(&host, "accept", of_it).await,
                _ => operate(&host, "reject", with("reason", "No.")).await,
            };
            assert_eq!(followed.follow(&ada.agent, &reply).await, None);
            match *state {
                "submitted" => assert_eq!(reply.status, 200, "{}", reply.text),
                _ => reply.assert_refused(409, "invalid_transition"),
            }
        }
    }
    let mine = json!({ "action": "list_mine", "state": ["withdrawn"], "limit": 2 });
    let mine = ada.agent.result(SIGNALS, mine).await;
    assert_eq!(mine["items"].as_array().unwrap().len(), 2);
    assert!(mine["next_cursor"].is_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_is_submitted_once_and_has_to_be_a_public_page() {
    let host = city_host().await;
    let ((ada, _), (ben, _)) = (person(&host, ADA).await, person(&host, BEN).await);
    let (id, _) = signal("hiring", "lead");
    let url = "https://sidewalk-ledger.example/2026/hiring";
    let evidence = ada.agent.result(SIGNALS, submission(&id, url)).await;
    let same = submission(&id, "https://www.Sidewalk-Ledger.example/2026/hiring/#top");
    let refused = ben.agent.call(SIGNALS, same.clone()).await;
    refused.assert_refused(409, "evidence_exists");
    let mut followed = FollowedSteps::default();
    assert_eq!(followed.follow(&ben.agent, &refused).await, None);
    assert_eq!(followed.count(), 1);
    let withdraw = json!({ "action": "withdraw", "evidence_id": evidence["evidence_id"] });
    ada.agent.result(SIGNALS, withdraw).await;
    ben.agent.result(SIGNALS, same).await;

    for address in ["http://a.example/", "https://ada@a.example/", "https://127.0.0.1/x"] {
        let refused = ada.agent.call(SIGNALS, submission(&id, address)).await;
        refused.assert_refused(400, "url_not_allowed");
        assert_eq!(refused.body["conflict"]["errors"][0]["pointer"], "/url");
    }
    let mut reachable = submission(&id, "https://b.example/");
    reachable["note"] = json!("Call +1 415 555 0100");
    ada.agent.call(SIGNALS, reachable).await.assert_refused(422, "contact_in_text");
    let nowhere = "sig_0000000000000000000000000Z";
    for body in
        [submission(nowhere, url), signal_action("get", nowhere), signal_action("history", nowhere)]
    {
        let refused = ada.agent.call(SIGNALS, body).await;
        refused.assert_refused(404, "not_found");
        assert_eq!(followed.follow(&ada.agent, &refused).await, None);
    }
    let stranger = host.test_agent().await;
    stranger
        .call(SIGNALS, submission(&id, url))
        .await
        .assert_refused(403, "phone_binding_required");
    let mine = stranger.call(SIGNALS, json!({ "action": "list_mine" })).await;
    assert_eq!(mine.body["next"]["capability"], "svc.phone-binding");
    let (over, _) = signal("hiring", "retracted");
    ada.agent.call(SIGNALS, submission(&over, url)).await.assert_refused(409, "invalid_transition");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_retracts_disputes_a_signal_once() {
    let host = city_host().await;
    let (ada, _) = person(&host, ADA).await;
    let (id, _) = signal("funding", "source_backed");
    let mut accepted = Vec::new();
    for page in 0..20 {
        let mut body = submission(&id, &format!("https://press.example/corrections/{page}"));
        body["kind"] = json!("retracted");
        accepted.push(ada.agent.result(SIGNALS, body).await["evidence_id"].clone());
    }
    let more = ada.agent.call(SIGNALS, submission(&id, "https://press.example/more")).await;
    more.assert_refused(429, "quota_exceeded");
    assert_eq!(more.body["conflict"]["name"], "evidence_per_day");
    for evidence_id in &accepted[..2] {
        operate_ok(&host, "accept", json!({ "evidence_id": evidence_id })).await;
    }
    let open = operate_ok(&host, "open_disputes", json!({})).await;
    let open = open["items"].as_array().unwrap();
    assert_eq!((open.len(), &open[0]["cause"]), (1, &json!("source_retracted")));
    assert_eq!(open[0]["evidence_id"], accepted[0]);
    let review = json!({ "dispute_id": open[0]["dispute_id"], "reason": "The page says so." });
    operate_ok(&host, "uphold", review).await;
    let known = operate_ok(&host, "knowledge", json!({ "limit": 1 })).await;
    let rest = json!({ "limit": 1, "cursor": known["next_cursor"] });
    let rest = operate_ok(&host, "knowledge", rest).await;
    assert_eq!(known["evidence"][0]["kind"], "source_retracted");
    assert_eq!(rest["evidence"][0]["kind"], "objection_upheld");
    assert_eq!(rest["evidence"][0]["answers"], known["evidence"][0]["id"]);
    assert_eq!(rest["next_cursor"], Value::Null);
    // Live mode does not see the evidence of test mode.
    let url = format!("{}/capabilities/{SIGNALS}/knowledge", host.admin_url);
    let live = Reply::read(host.operator.post(url).json(&json!({})).send().await.unwrap()).await;
    assert_eq!(live.body["result"]["evidence"], json!([]));
}

/// Returns all evidence and confirmations of a person, read in pages of this size.
async fn list_own_evidence(agent: &Agent<'_>, limit: usize) -> Vec<Value> {
    let mut body = json!({ "action": "list_mine", "limit": limit });
    let mut items = Vec::new();
    loop {
        let page = agent.result(SIGNALS, body.clone()).await;
        let shown = page["items"].as_array().unwrap();
        items.extend(shown.iter().cloned());
        match page["next_cursor"].as_str() {
            Some(cursor) => body["cursor"] = json!(cursor),
            None => return items,
        }
        assert_eq!(shown.len(), limit);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn evidence_and_confirmations_of_a_person_are_one_list() {
    let host = city_host().await;
    let ((ada, a), (ben, _)) = (person(&host, ADA).await, person(&host, BEN).await);
    let mut made: Vec<Value> = Vec::new();
    let signals = published_items(&city().join("feeds"), "live-signal-feed.json", "items");
    for (number, lead) in
        signals.iter().filter(|signal| signal["maturity"] == "lead").take(3).enumerate()
    {
        let appoint = json!({
            "target_id": lead["target_id"], "owner_id": a, "note": "A letter was seen.",
        });
        operate_ok(&host, "appoint", appoint).await;
        let id = lead["id"].as_str().unwrap();
        for (about, body) in [
            ("evidence", submission(id, &format!("https://paper-{number}.example/"))),
            ("confirmation", signal_action("confirm", id)),
            ("dispute", signal_action("dispute", id)),
        ] {
            let mut entry = ada.agent.result(SIGNALS, body).await;
            entry["about"] = json!(about);
            made.insert(0, entry);
        }
    }
    let url = "https://paper-4.example/";
    ben.agent.result(SIGNALS, submission(signals[0]["id"].as_str().unwrap(), url)).await;

    // The entry that was changed last is first, whatever its kind.
    let first = made.pop().unwrap();
    let withdraw = json!({ "action": "withdraw", "evidence_id": first["evidence_id"] });
    let mut withdrawn = ada.agent.result(SIGNALS, withdraw).await;
    withdrawn["about"] = json!("evidence");
    made.insert(0, withdrawn.clone());
    // Among entries of the same instant, evidence is first.
    let about = |entry: &Value| {
        ["evidence", "confirmation", "dispute"].iter().position(|kind| entry["about"] == *kind)
    };
    let at = |entry: &Value| {
        entry["changed_at"].as_str().or(entry["confirmed_at"].as_str()).map(str::to_owned)
    };
    made.sort_by_key(|entry| (Reverse(at(entry)), about(entry)));
    for limit in [1, 2, 4, 9, 100] {
        assert_eq!(list_own_evidence(&ada.agent, limit).await, made, "{limit} at a time");
    }
    let listed = list_own_evidence(&ben.agent, 1).await;
    assert_eq!((listed.len(), &listed[0]["url"]), (1, &json!(url)));

    // `state` filters evidence only; a cursor is valid only for its own list.
    let mut some = json!({ "action": "list_mine", "state": ["withdrawn"], "limit": 1 });
    assert_eq!(ada.agent.result(SIGNALS, some.clone()).await["items"], json!([withdrawn]));
    let page = ada.agent.result(SIGNALS, json!({ "action": "list_mine", "limit": 1 })).await;
    some["cursor"] = page["next_cursor"].clone();
    let refused = ada.agent.call(SIGNALS, some).await;
    refused.assert_refused(400, "cursor_invalid");
}
