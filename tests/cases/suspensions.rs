//! The suspension of people: what their agents can still do, the appeal, and the end.

use crate::{
    cases::reports::{REPORTS, host, operate_ok},
    harness::{
        Host, Reply,
        relationships::{OWNERS, Person},
        time::{DAY, HOUR},
    },
};
use serde_json::{Value, json};

const EXPLANATION: &str = "Three people got the same request for money.";

/// Suspends a person as the operator, and returns the report's id.
async fn suspend(host: &Host, person: &Person<'_>, days: Option<u32>) -> String {
    let mut input = json!({
        "owner_id": person.id, "reason": "scam", "explanation": EXPLANATION, "ground": "rules",
        "basis": "The page safety-and-fairness",
    });
    if let Some(days) = days {
        input["days"] = json!(days);
    }
    let case = operate_ok(host, "suspend", input).await;
    assert_eq!((&case["state"], &case["owner_id"]), (&json!("actioned"), &json!("operator")));
    case["report_id"].as_str().unwrap().to_owned()
}

/// Changes the person's profile.
async fn write(person: &Person<'_>) -> Reply {
    let body = json!({ "action": "update_profile", "headline": "Engineer" });
    person.agent().call(OWNERS, body).await
}

async fn me(person: &Person<'_>) -> Value {
    person.agent().result(OWNERS, json!({ "action": "me" })).await["owner"].clone()
}

/// Returns the types of the person's events about their identity, in their order.
async fn identity_events(person: &Person<'_>) -> Vec<String> {
    let types = "identity.suspended,identity.reinstated,owner.deactivated,owner.reactivated";
    let page = person.reader.page(&format!("wait=0&cursor=0&types={types}")).await;
    let events = page["events"].as_array().unwrap().iter();
    events.map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspended_person_reads_appeals_and_leaves_and_writes_nothing_else() {
    let host = host(&[]).await;
    let (ada, ben) = (Person::new(&host).await, Person::new(&host).await);
    assert_eq!(write(&ben).await.status, 200);
    let earliest = host.instant_after(7 * DAY);
    let report_id = suspend(&host, &ben, Some(7)).await;
    let latest = host.instant_after(7 * DAY);

    let refused = write(&ben).await;
    refused.assert_refused(403, "identity_suspended");
    let conflict = &refused.body["conflict"];
    assert_eq!(
        (&conflict["kind"], &conflict["current"]),
        (&json!("identity"), &json!("suspended"))
    );
    assert_eq!(conflict["reason"], EXPLANATION);
    let until = conflict["until"].as_str().unwrap();
    assert!((earliest.as_str()..=latest.as_str()).contains(&until), "{until}");
    let next = &refused.body["next"];
    assert_eq!(next["input"], json!({ "action": "appeal", "report_id": report_id }));

    let own = me(&ben).await;
    assert_eq!(own["suspension"]["reason"], EXPLANATION);
    assert_eq!(own["suspension"]["until"], conflict["until"]);
    assert_eq!(own["allowed_actions"], json!(["revoke_agent", "sign_out_everywhere"]));
    assert_eq!(identity_events(&ben).await, ["identity.suspended", "owner.deactivated"]);
    // Others see that the person is deactivated, and not why.
    let card = json!({ "action": "get", "owner_id": ben.id });
    let card = ada.agent().result(OWNERS, card).await;
    assert_eq!((&card["state"], &card["headline"]), (&json!("deactivated"), &Value::Null));
    assert!(!card.to_string().contains("suspen"), "{card:#}");
    // A nested write is refused like a call, and somebody else's call is not.
    let block = json!({ "action": "block", "owner_id": ada.id });
    ben.agent().call("social_relationships", block).await.assert_refused(403, "identity_suspended");
    assert_eq!(write(&ada).await.status, 200);

    let mut appeal = next["input"].clone();
    appeal["text"] = json!("It was my brother's birthday, and everybody knew him.");
    assert_eq!(ben.agent().result(REPORTS, appeal).await["state"], "appealed");
    let ruling = json!({
        "report_id": report_id, "outcome": "overturned", "explanation": "All three knew of it.",
    });
    operate_ok(&host, "decide_appeal", ruling).await;
    assert_eq!(write(&ben).await.status, 200);
    assert_eq!(me(&ben).await["suspension"], Value::Null);
    let events = identity_events(&ben).await;
    assert_eq!(events[2..], ["identity.reinstated", "owner.reactivated"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspended_person_can_sign_out_everywhere() {
    let host = host(&[]).await;
    let ben = Person::new(&host).await;
    suspend(&host, &ben, None).await;
    let body = json!({ "action": "sign_out_everywhere", "confirm": true });
    assert_eq!(ben.agent().result(OWNERS, body).await["agents_revoked"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspension_ends_at_its_time_and_not_before_the_last_one() {
    let host = host(&[]).await;
    let ben = Person::new(&host).await;
    suspend(&host, &ben, Some(1)).await;
    let longer = suspend(&host, &ben, Some(3)).await;
    let endless = suspend(&host, &ben, None).await;
    host.advance(DAY + HOUR).await;
    assert_eq!(me(&ben).await["suspension"]["until"], Value::Null);
    write(&ben).await.assert_refused(403, "identity_suspended");

    operate_ok(&host, "reinstate", json!({ "report_id": endless })).await;
    let refused = write(&ben).await;
    refused.assert_refused(403, "identity_suspended");
    assert_eq!(refused.body["next"]["input"]["report_id"], json!(longer));
    host.advance(2 * DAY).await;
    assert_eq!(write(&ben).await.status, 200);
    assert_eq!(me(&ben).await["state"], "active");
    let events = identity_events(&ben).await;
    let ended = events.iter().filter(|event| *event == "identity.reinstated").count();
    assert_eq!((ended, events.last().unwrap().as_str()), (1, "owner.reactivated"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_decision_of_a_report_suspends_the_person_whom_it_is_about() {
    let host = host(&[]).await;
    let (ada, ben) = (Person::new(&host).await, Person::new(&host).await);
    let report_id = ada.create_report(&ben.id, "abuse").await;
    operate_ok(&host, "triage", json!({ "report_id": report_id })).await;
    let mut decide = json!({
        "report_id": report_id, "outcome": "actioned", "explanation": EXPLANATION,
        "measure": "warned", "ground": "rules", "basis": "The page safety-and-fairness", "days": 2,
    });
    let url = format!("{}/capabilities/{REPORTS}/decide?test_mode=true", host.admin_url);
    let sent = host.operator.post(url).json(&decide).send().await.unwrap();
    let refused = Reply::read(sent).await;
    assert_eq!(refused.status, 400, "days without a suspension: {}", refused.text);
    assert_eq!(write(&ben).await.status, 200);

    decide["measure"] = json!("suspended");
    let case = operate_ok(&host, "decide", decide).await;
    assert_eq!(case["decision"]["measure"], "suspended");
    write(&ben).await.assert_refused(403, "identity_suspended");
    // The person returns when the operator ends the suspension, and nothing is left to end then.
    operate_ok(&host, "reinstate", json!({ "report_id": report_id })).await;
    assert_eq!(write(&ben).await.status, 200);
    assert_eq!(identity_events(&ben).await.len(), 4);
    host.advance(3 * DAY).await;
    assert_eq!(identity_events(&ben).await.len(), 4);
}
