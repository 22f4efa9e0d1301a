//! Applications and enquiries: from the person who sends them to the people who act for a company,
//! and back.

use crate::{
    cases::{
        owner_verification::{Company, PROOF, challenge_text, check_and_wait, start_action},
        signal_verification::{ADA, BEN, person, published_items},
        social_org::{ORG, add_member, wait_for_event},
    },
    harness::{Agent, Host, feeds::city, inbox::Reader, time::DAY},
};
use serde_json::{Value, json};

const APPLICATIONS: &str = "applications";
const CLEO: &str = "+14155550102";
const NAMES: [&str; 16] = [
    "agent_credits",
    "agent_listings",
    "applications",
    "content_render",
    "conversations",
    "faq_search",
    "listing_taxonomy",
    "map_search",
    "owner_verification",
    "owners",
    "pairings",
    "social_org",
    "social_permissions",
    "social_relationships",
    "svc_phone_binding",
    "thread_meetings",
];

/// Returns a company with an open role on the map, a host, and the role.
async fn start() -> (Company, Host, Value) {
    let mut company = Company::new().await;
    let role = published_items(&city().join("feeds"), "sf-job-roles.json", "items")[0].clone();
    company.switch_target(role["target_id"].as_str().unwrap());
    let options = company.options_of(&NAMES, "reachable_networks = [\"127.0.0.0/8\"]");
    (company, Host::start(options).await, role)
}

/// Proves that these people speak for the company.
async fn speak_for(company: &Company, people: &[&Agent<'_>]) {
    let mut texts = Vec::new();
    let mut begun = Vec::new();
    for agent in people {
        let started = agent.result(PROOF, start_action(&company.target_id, "dns_txt")).await;
        texts.push(challenge_text(&started).to_owned());
        begun.push(started);
    }
    company.set_record(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    for (agent, started) in people.iter().zip(&begun) {
        assert_eq!(check_and_wait(agent, started).await["state"], "verified");
    }
}

fn apply(role: &Value) -> Value {
    let profile = json!({ "headline": "Engineer", "skills": ["Rust"] });
    json!({ "action": "apply", "role_id": role["id"], "profile": profile })
}

fn step(action: &str, application: &Value, fields: Value) -> Value {
    let mut body = json!({ "action": action, "application_id": application["application_id"] });
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    body
}

async fn state(agent: &Agent<'_>, application: &Value) -> Value {
    agent.result(APPLICATIONS, step("get", application, json!({}))).await["state"].clone()
}

/// Returns the events of a type that the reader has got so far.
async fn events(reader: &Reader<'_>, kind: &str) -> Vec<Value> {
    let page = reader.page(&format!("wait=0&cursor=0&types=application.{kind}")).await;
    page["events"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_application_is_decided_and_an_offer_accepted() {
    let (company, host, role) = start().await;
    let ((ada, _), (ben, _)) = (person(&host, ADA).await, person(&host, BEN).await);
    speak_for(&company, &[&ben.agent]).await;
    let questions = json!({
        "action": "set_questions", "role_id": role["id"],
        "questions": [{ "question": "From when can you work?", "required": true }],
    });
    ada.agent.call(APPLICATIONS, questions.clone()).await.assert_refused(403, "not_permitted");
    ben.agent.result(APPLICATIONS, questions).await;
    let refused = ada.agent.call(APPLICATIONS, apply(&role)).await;
    refused.assert_refused(422, "answers_required");
    let asked = ada.agent.result(APPLICATIONS, refused.body["next"]["input"].clone()).await;
    let mut body = apply(&role);
    body["answers"] =
        json!([{ "question_id": asked["questions"][0]["question_id"], "answer": "May." }]);
    let sent = ada.agent.result(APPLICATIONS, body.clone()).await;
    assert_eq!(
        (&sent["state"], &sent["recipient_unclaimed"]),
        (&json!("submitted"), &json!(false))
    );
    ada.agent.call(APPLICATIONS, body).await.assert_refused(409, "application_exists");

    let received = wait_for_event(&ben, "application.received").await;
    assert_eq!(received["data"]["role_id"], role["id"], "{received:#}");
    let list = json!({ "action": "list", "role": "received" });
    let listed = ben.agent.result(APPLICATIONS, list).await["items"][0].clone();
    assert_eq!(listed["application_id"], sent["application_id"]);
    assert_eq!(listed["answers"][0]["answer"], "May.");

    let invite =
        step("decide", &sent, json!({ "decision": "invite", "message": "Come and talk." }));
    let invited = ben.agent.result(APPLICATIONS, invite).await;
    let decided = wait_for_event(&ada, "application.decided").await;
    assert_eq!(decided["data"]["decision"], "invite");
    let write =
        |text: &str| json!({ "action": "send", "thread_id": invited["thread_id"], "text": text });
    ada.agent.result("conversations", write("With pleasure.")).await;
    let number = "Call +1 415 555 0100";
    ada.agent.call("conversations", write(number)).await.assert_refused(422, "contact_in_text");
    for agent in [&ada.agent, &ben.agent] {
        agent.result(APPLICATIONS, step("exchange_contact", &sent, json!({ "allow": true }))).await;
    }
    host.wait_until_settled().await;
    ada.agent.result("conversations", write(number)).await;

    ben.agent.result(APPLICATIONS, step("decide", &sent, json!({ "decision": "offer" }))).await;
    let answer = step("answer", &sent, json!({ "answer": "accept" }));
    assert_eq!(ada.agent.result(APPLICATIONS, answer).await["state"], "accepted");
    assert_eq!(wait_for_event(&ben, "application.answered").await["data"]["answer"], "accept");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_a_company_is_delivered_when_somebody_proves_to_speak_for_it() {
    let (company, host, role) = start().await;
    let ((ada, _), (ben, _)) = (person(&host, ADA).await, person(&host, BEN).await);
    let sent = ada.agent.result(APPLICATIONS, apply(&role)).await;
    assert_eq!((&sent["state"], &sent["recipient_unclaimed"]), (&json!("waiting"), &json!(true)));
    let get = step("get", &sent, json!({}));
    ben.agent.call(APPLICATIONS, get).await.assert_refused(404, "application_not_found");
    speak_for(&company, &[&ben.agent]).await;
    let received = wait_for_event(&ben, "application.received").await;
    assert_eq!(received["data"]["application_id"], sent["application_id"]);
    assert_eq!(wait_for_event(&ada, "application.delivered").await["data"]["role_id"], role["id"]);
    assert_eq!(state(&ada.agent, &sent).await, "submitted");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_recruiters_of_the_linked_organisation_receive_what_waits() {
    let (company, host, role) = start().await;
    let (ada, _) = person(&host, ADA).await;
    let ((ben, _), (cleo, cleo_id)) = (person(&host, BEN).await, person(&host, CLEO).await);
    let org = json!({
        "action": "create", "name": "The company", "kind": "company", "domain": company.domain,
    });
    let org_id = ben.agent.result(ORG, org).await["org_id"].clone();
    add_member(&ben.agent, &org_id, &cleo.agent, &cleo_id, "recruiter").await;
    let sent = ada.agent.result(APPLICATIONS, apply(&role)).await;
    assert_eq!(sent["state"], "waiting");
    let start = json!({ "action": "start", "org_id": org_id, "method": "dns_txt" });
    let begun = ben.agent.result(PROOF, start).await;
    company.set_record(&[challenge_text(&begun)]);
    check_and_wait(&ben.agent, &begun).await;
    host.wait_until_settled().await;
    let link = json!({ "action": "link_target", "org_id": org_id, "target_id": company.target_id });
    ben.agent.result(ORG, link).await;
    for reader in [&ben, &cleo] {
        let received = wait_for_event(reader, "application.received").await;
        assert_eq!(received["data"]["application_id"], sent["application_id"]);
    }
    let reject = json!({ "decision": "reject", "reason_code": "filled" });
    cleo.agent.result(APPLICATIONS, step("decide", &sent, reject)).await;
    assert_eq!(wait_for_event(&ada, "application.decided").await["data"]["reason_code"], "filled");
    let again = ada.agent.call(APPLICATIONS, apply(&role)).await;
    again.assert_refused(409, "cooldown_active");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_receives_expires_and_its_sender_is_told() {
    let (_company, host, role) = start().await;
    let (ada, _) = person(&host, ADA).await;
    let balance = json!({ "action": "balance" });
    let before = ada.agent.result("agent_credits", balance.clone()).await["available"].clone();
    let sent = ada.agent.result(APPLICATIONS, apply(&role)).await;
    host.advance(30 * DAY).await;
    let expired = wait_for_event(&ada, "application.expired").await;
    assert_eq!(expired["data"]["application_id"], sent["application_id"]);
    assert_eq!(expired["data"]["recipient_unclaimed"], true);
    assert_eq!(ada.agent.result("agent_credits", balance).await["available"], before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_withdrawal_and_a_block_end_an_application() {
    let (company, host, role) = start().await;
    let ((ada, ada_id), (ben, _)) = (person(&host, ADA).await, person(&host, BEN).await);
    speak_for(&company, &[&ben.agent]).await;
    let sent = ada.agent.result(APPLICATIONS, apply(&role)).await;
    ada.agent.result(APPLICATIONS, step("withdraw", &sent, json!({}))).await;
    assert_eq!(wait_for_event(&ben, "application.withdrawn").await["data"]["role_id"], role["id"]);
    let late = step("decide", &sent, json!({ "decision": "invite" }));
    ben.agent.call(APPLICATIONS, late).await.assert_refused(409, "invalid_transition");

    let sent = ada.agent.result(APPLICATIONS, apply(&role)).await;
    let block = json!({ "action": "block", "owner_id": ada_id });
    ben.agent.result("social_relationships", block).await;
    host.wait_until_settled().await;
    assert_eq!(state(&ada.agent, &sent).await, "cancelled");
    assert_eq!(events(&ben, "cancelled").await.len(), 0, "who has blocked is not reminded");
    let get = step("get", &sent, json!({}));
    ben.agent.call(APPLICATIONS, get).await.assert_refused(404, "application_not_found");
    let again = ada.agent.call(APPLICATIONS, apply(&role)).await;
    again.assert_refused(409, "recipient_not_accepting");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_decisions_at_once_one_holds() {
    let (company, host, role) = start().await;
    let (ada, _) = person(&host, ADA).await;
    let ((ben, _), (cleo, _)) = (person(&host, BEN).await, person(&host, CLEO).await);
    speak_for(&company, &[&ben.agent, &cleo.agent]).await;
    let sent = ada.agent.result(APPLICATIONS, apply(&role)).await;
    let rejection = |reason: &str| {
        step("decide", &sent, json!({ "decision": "reject", "reason_code": reason }))
    };
    let (one, other) = tokio::join!(
        ben.agent.call(APPLICATIONS, rejection("skills")),
        cleo.agent.call(APPLICATIONS, rejection("location")),
    );
    let (won, lost) = if one.status == 200 { (one, other) } else { (other, one) };
    assert_eq!(won.status, 200, "{}", won.text);
    lost.assert_refused(409, "invalid_transition");
    host.wait_until_settled().await;
    let decided = events(&ada, "decided").await;
    assert_eq!(decided.len(), 1, "{decided:#?}");
    assert_eq!(
        decided[0]["data"]["reason_code"],
        won.body["result"]["decisions"][0]["reason_code"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_conversation_of_an_invitation_is_replaced() {
    let (company, host, role) = start().await;
    let ((ada, _), (ben, _)) = (person(&host, ADA).await, person(&host, BEN).await);
    speak_for(&company, &[&ben.agent]).await;
    let sent = ada.agent.result(APPLICATIONS, apply(&role)).await;
    let invite = step("decide", &sent, json!({ "decision": "invite" }));
    let invited = ben.agent.result(APPLICATIONS, invite).await;
    let reopen = step("reopen_conversation", &sent, json!({}));
    ben.agent.call(APPLICATIONS, reopen.clone()).await.assert_refused(409, "thread_open");
    let close = json!({ "action": "close", "thread_id": invited["thread_id"] });
    ada.agent.result("conversations", close).await;
    host.wait_until_settled().await;

    let read = ada.agent.result(APPLICATIONS, step("get", &sent, json!({}))).await;
    assert_eq!(read["conversation_closed"], true);
    let reopened = ben.agent.result(APPLICATIONS, reopen).await;
    assert_ne!(reopened["thread_id"], invited["thread_id"]);
    let told = wait_for_event(&ada, "application.conversation_reopened").await;
    assert_eq!(told["data"]["thread_id"], reopened["thread_id"]);
    let write = json!({
        "action": "send", "thread_id": reopened["thread_id"], "text": "Here we are again.",
    });
    ada.agent.result("conversations", write).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offer_is_taken_back_and_a_deactivation_ends_what_was_sent() {
    let (company, host, role) = start().await;
    let ((ada, _), (ben, _)) = (person(&host, ADA).await, person(&host, BEN).await);
    let (cleo, _) = person(&host, CLEO).await;
    speak_for(&company, &[&ben.agent]).await;
    let offered = ada.agent.result(APPLICATIONS, apply(&role)).await;
    ben.agent.result(APPLICATIONS, step("decide", &offered, json!({ "decision": "offer" }))).await;
    let back = step("decide", &offered, json!({ "decision": "reject", "reason_code": "filled" }));
    assert_eq!(ben.agent.result(APPLICATIONS, back).await["state"], "rejected");
    let accept = step("answer", &offered, json!({ "answer": "accept" }));
    ada.agent.call(APPLICATIONS, accept).await.assert_refused(409, "invalid_transition");

    let sent = cleo.agent.result(APPLICATIONS, apply(&role)).await;
    cleo.agent.result("owners", json!({ "action": "deactivate" })).await;
    host.wait_until_settled().await;
    let cancelled = events(&ben, "cancelled").await;
    assert_eq!(cancelled.len(), 1, "{cancelled:#?}");
    assert_eq!(cancelled[0]["data"]["application_id"], sent["application_id"]);
    assert_eq!(state(&ben.agent, &sent).await, "cancelled");
}
