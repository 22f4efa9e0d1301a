//! Numbers that networks give to another person: they do not lead to the account of the person before.

use crate::harness::{
    Agent, Host, Reply,
    inbox::Reader,
    oauth::{ADA, challenge, parameters, public_client, query},
    person::{Person, code, messages},
    time::DAY,
};
use serde_json::{Value, json};

const BINDING: &str = "svc.phone-binding";
const STALE: std::time::Duration = DAY.saturating_mul(91);

async fn host() -> Host {
    Host::with(&["svc_phone_binding", "ledger"]).await
}

/// Proves Ada's number as an agent, and returns the answer.
async fn prove(host: &Host, agent: &Agent<'_>) -> Reply {
    let sent = messages(host, 0).await.len();
    agent.result(BINDING, json!({ "action": "bind", "phone": ADA })).await;
    let code = code(host, sent + 1).await;
    agent.call(BINDING, json!({ "action": "verify", "code": code })).await
}

fn owner(verified: &Reply) -> &Value {
    assert_eq!(verified.status, 200, "{}", verified.text);
    &verified.body["result"]["owner_id"]
}

async fn notices(host: &Host, reader: &Reader<'_>) -> Vec<Value> {
    host.wait_until_settled().await;
    let page = reader.page("wait=0&cursor=0&types=identity.number_proved").await;
    let events = page["events"].as_array().unwrap().iter();
    events.map(|event| event["data"]["phone_masked"].clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn who_gets_a_number_gets_an_account_of_their_own() {
    let host = host().await;
    let reader = Reader::new(&host).await;
    let verified = prove(&host, &reader.agent).await;
    let former = owner(&verified).clone();
    host.advance(STALE).await;

    let agent = host.agent().await;
    for _ in 0..2 {
        let refused = prove(&host, &agent).await;
        refused.assert_refused(409, "number_in_quarantine");
        assert!(refused.body["next"]["after_s"].as_u64().unwrap() > 6 * 24 * 3600);
        host.advance(DAY / 24).await;
    }
    assert_eq!(notices(&host, &reader).await, ["+1•••••0123"]);
    host.advance(7 * DAY).await;
    let later = prove(&host, &agent).await;
    assert_ne!(*owner(&later), former);
    // The person before keeps the account, without the number.
    let status = reader.agent.result(BINDING, json!({ "action": "status" })).await;
    assert_eq!((&status["state"], &status["phone_masked"]), (&json!("claimed"), &Value::Null));
    let status = agent.result(BINDING, json!({ "action": "status" })).await;
    assert_eq!(status["phone_masked"], "+1•••••0123");
    let another = host.agent().await;
    assert_eq!(owner(&prove(&host, &another).await), owner(&later));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_confirms_that_it_is_the_same_person() {
    let host = host().await;
    let former = host.agent().await;
    let verified = prove(&host, &former).await;
    let confirm = json!({ "action": "confirm_number" });
    former.call(BINDING, confirm.clone()).await.assert_refused(409, "not_in_quarantine");
    host.advance(STALE).await;

    let agent = host.agent().await;
    prove(&host, &agent).await.assert_refused(409, "number_in_quarantine");
    // An agent that nobody has claimed cannot confirm.
    agent.call(BINDING, confirm.clone()).await.assert_refused(403, "phone_binding_required");
    former.result(BINDING, confirm).await;
    host.advance(DAY / 24).await;
    let again = prove(&host, &agent).await;
    assert_eq!(owner(&again), owner(&verified));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_proof_starts_the_time_again() {
    let host = host().await;
    let former = host.agent().await;
    let verified = prove(&host, &former).await;
    for _ in 0..2 {
        host.advance(60 * DAY).await;
        let agent = host.agent().await;
        assert_eq!(owner(&prove(&host, &agent).await), owner(&verified));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_does_not_get_in_with_a_recycled_number() {
    let host = host().await;
    prove(&host, &host.agent().await).await;
    host.advance(STALE).await;
    let path = query(&parameters(&public_client(&host).await, &challenge()));
    let mut stranger = Person::new(&host);
    let page = stranger.sign_in(&path, ADA).await;
    assert!(page.error_text().contains("come back in a week"), "{}", page.reply.text);
    assert_eq!(stranger.open("/account").await.reply.status, 401);
    // Nor with the link of a message.
    let sent = messages(&host, 2).await;
    let text = sent[1]["text"].as_str().unwrap();
    let link = text.split(' ').find_map(|word| word.strip_prefix(&host.url)).unwrap();
    let page = stranger.open(link).await;
    let form = [("step", "sign_in"), ("form_token", page.form_token.as_str())];
    assert!(stranger.submit_to(link, &form).await.reply.status.is_client_error());
    assert_eq!(stranger.open("/account").await.reply.status, 401);
}
