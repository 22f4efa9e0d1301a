//! Waiting calls that come to an end: by time, with their agent, with a change of their capability, and with the
//! person's data.

use crate::{
    cases::{
        account_pages::{form, forms},
        personal::erase,
    },
    harness::{
        Host, Options,
        approvals::{APPROVALS, Limited},
        hostile::with_script,
        oauth::text,
        relationships,
        time::{DAY, HOUR},
    },
};
use serde_json::{Value, json};

const PLAIN: &str = "plain";

/// Returns a component whose action `act` only answers.
fn plain(version: &str, input: &Value) -> Vec<u8> {
    let action = json!({ "name": "act", "input": input });
    with_script(&json!({ "id": PLAIN, "version": version, "actions": [action] }))
}

fn any() -> Value {
    json!({ "type": "object", "properties": { "note": { "type": "string" } } })
}

fn options() -> Options {
    let names = ["approvals", "owners", "svc_events", "svc_phone_binding", "svc_whoami"];
    let mut options = Options::with(&names);
    options.components.push((format!("{PLAIN}.wasm"), plain("1.0.0", &any())));
    options
}

fn act(note: &str) -> Value {
    json!({ "action": "act", "note": note })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_expires_about_which_nobody_decides() {
    let host = Host::start_at_fixed_time(options()).await;
    let mut ada = Limited::new(&host).await;
    ada.limit(|form| form.without("field.alone.own").with("field.expires_after_hours", "5")).await;
    let id = ada.waits(PLAIN, act("late")).await;
    host.advance(5 * HOUR).await;
    ada.renew().await;
    let approval = ada.ended(&id).await;
    assert_eq!(approval["state"], "expired", "{approval:#}");
    assert_eq!(ada.events().await.last().unwrap().2, "expired");
    assert!(forms(&ada.page().await, "Approve").is_empty());
    // The same call may ask again.
    assert_ne!(ada.waits(PLAIN, act("late")).await, id);
    // An ended call is forgotten: its tombstone has no content.
    host.advance(31 * DAY).await;
    host.wait_until_settled().await;
    let bodies = format!("SELECT body FROM documents WHERE id = '{id}'");
    assert_eq!(host.database().texts(&bodies).await, [""]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_a_revoked_agent_is_not_made() {
    let host = Host::start(options()).await;
    let mut ada = Limited::new(&host).await;
    ada.allow_alone(&[]).await;
    let id = ada.waits(PLAIN, act("ends")).await;
    let account = ada.browser.open("/account").await;
    let revoke = form(&account, "Revoke this agent").with("step", "end_agent");
    revoke.submit(&mut ada.browser, "/account").await;
    ada.approve().await;
    host.wait_until_settled().await;
    let bodies = format!("SELECT body FROM documents WHERE id = '{id}'");
    let stored: Value =
        serde_json::from_str(&host.database().texts(&bodies).await.remove(0)).unwrap();
    assert_eq!(stored["state"], "failed", "{stored:#}");
    assert_eq!(stored["outcome"]["code"], "client_revoked", "{stored:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_not_made_by_a_capability_that_has_changed() {
    let narrower = json!({ "type": "object", "properties": { "note": { "maxLength": 2 } } });
    for (version, input, code) in
        [("2.0.0", any(), "version_conflict"), ("1.1.0", narrower, "validation_failed")]
    {
        let host = Host::start(options()).await;
        let mut ada = Limited::new(&host).await;
        ada.allow_alone(&[]).await;
        let id = ada.waits(PLAIN, act("long enough")).await;
        host.drop_in(&format!("{PLAIN}.wasm"), &plain(version, &input));
        host.wait_for_version(PLAIN, version).await;
        ada.approve().await;
        let approval = ada.ended(&id).await;
        assert_eq!(approval["state"], "failed", "{approval:#}");
        assert_eq!(text(&approval["outcome"], "code"), code);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn policies_and_waiting_calls_are_erased_with_their_person() {
    let host = Host::start(options()).await;
    let mut ada = Limited::new(&host).await;
    ada.allow_alone(&[]).await;
    let id = ada.waits(PLAIN, act("canary of a waiting call")).await;
    let approval = ada.get(&id).await;
    assert!(approval["input"].to_string().contains("canary"), "{approval:#}");
    let me = ada.agent().result("svc.whoami", json!({})).await;
    let owner_id = text(&me, "owner_id").to_owned();
    let policy = |owner_id: &str| format!("SELECT id FROM documents WHERE id = '{owner_id}'");
    assert!(host.database().texts(&policy(&owner_id)).await.len() > 1);
    let reply = erase(&host, &owner_id).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    let left = host.database().texts(&policy(&owner_id)).await;
    assert!(left.is_empty(), "{left:?}");
    let canaries = "SELECT body FROM documents WHERE body LIKE '%canary of a waiting call%'";
    assert!(host.database().texts(canaries).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_a_client_that_is_gone_is_not_made() {
    let host = Host::start(options()).await;
    let mut ada = Limited::new(&host).await;
    ada.allow_alone(&[]).await;
    let id = ada.waits(PLAIN, act("ends")).await;
    // As after the client has expired, when no revocation is kept either.
    let gone = format!("DELETE FROM documents WHERE id = '{}'", ada.client);
    assert_eq!(host.database().execute(&gone).await, 1);
    ada.approve().await;
    host.wait_until_settled().await;
    let bodies = format!("SELECT body FROM documents WHERE id = '{id}'");
    let stored: Value =
        serde_json::from_str(&host.database().texts(&bodies).await.remove(0)).unwrap();
    assert_eq!(stored["state"], "failed", "{stored:#}");
    assert_eq!(stored["outcome"]["code"], "token_invalid", "{stored:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_limits_itself_also_after_an_erasure() {
    let host = Host::start(options()).await;
    let ada = Limited::new(&host).await;
    let other_id = relationships::Person::new(&host).await.id;
    let tighten = |more: Value| {
        let mut body = more;
        body["action"] = json!("tighten");
        body
    };
    ada.agent().result(APPROVALS, tighten(json!({ "always_ask": other_id }))).await;
    let reply = erase(&host, &other_id).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    let policy = ada.agent().result(APPROVALS, tighten(json!({ "max_amount": 5 }))).await;
    assert_eq!((&policy["always_ask"], &policy["max_amount"]), (&json!([]), &json!(5)));
}
