//! The sessions, agents and pending codes that can act for a person, and their end.

use crate::harness::{
    Agent, Host, Options, PATIENCE, Reply,
    inbox::Reader,
    oauth::{
        ADA, BOB, assert_oauth_error, call, challenge, open, parameters, post, public_client,
        query, redemption, text,
    },
    person::{Page, Person},
    postgres,
    time::{MINUTE, SECOND},
};
use serde_json::{Value, json};
use std::time::Instant;

const ACCOUNT: &str = "/account";
const BINDING: &str = "svc.phone-binding";
const CAPABILITIES: [&str; 4] = ["svc_phone_binding", "ledger", "owners", "social_permissions"];

async fn host() -> Host {
    Host::with(&CAPABILITIES).await
}

/// Returns the tokens of a client that the person lets act for them, whose browser is signed in or signs in.
async fn tokens(host: &Host, person: &mut Person<'_>, client: &str, phone: &str) -> Value {
    let code = crate::harness::oauth::code(person, client, phone).await;
    let reply = post(host, "/oauth/token", &redemption(client, &code), None).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.body
}

async fn refresh(host: &Host, client: &str, tokens: &Value) -> Reply {
    let token = text(tokens, "refresh_token");
    let form = [("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", token)];
    post(host, "/oauth/token", &form, None).await
}

async fn call_owners(host: &Host, tokens: &Value, input: Value) -> Reply {
    let url = format!("{}/v1/capabilities/owners/call", host.url);
    let request = host.client.post(url).bearer_auth(text(tokens, "access_token")).json(&input);
    Reply::read(request.send().await.unwrap()).await
}

/// Sends a form of the account's page.
async fn submit(person: &mut Person<'_>, page: &Page, fields: &[(&str, &str)]) -> Page {
    let form = [&[("form_token", page.form_token.as_str())], fields].concat();
    person.submit_to(ACCOUNT, &form).await
}

/// Returns the values of the page's hidden fields with this name.
fn values(page: &Page, name: &str) -> Vec<String> {
    let start = format!("name=\"{name}\" value=\"");
    let parts = page.reply.text.split(&start).skip(1);
    parts.map(|part| part.split('"').next().unwrap().to_owned()).collect()
}

/// Returns the persons in the rows of the audit log with this action.
async fn people_of_rows(host: &Host, action: &str) -> Vec<String> {
    let rows = host.operate("/audit?limit=1000").await.body["entries"].clone();
    let rows = rows.as_array().unwrap().iter().filter(|row| row["action"] == action);
    rows.map(|row| text(row, "owner_id").to_owned()).collect()
}

async fn owner_of(host: &Host, tokens: &Value) -> String {
    let me = call_owners(host, tokens, json!({ "action": "me" })).await;
    text(&me.body["result"]["owner"], "owner_id").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deactivation_ends_sessions_and_codes_and_no_agent() {
    let host = host().await;
    let client = public_client(&host).await;
    let mut ada = Person::new(&host);
    let granted = tokens(&host, &mut ada, &client, ADA).await;
    let mut bob = Person::new(&host);
    tokens(&host, &mut bob, &client, BOB).await;
    let pending = crate::harness::oauth::code(&mut ada, &client, ADA).await;
    assert_eq!(ada.open(ACCOUNT).await.reply.status, 200);

    let deactivated = call_owners(&host, &granted, json!({ "action": "deactivate" })).await;
    assert_eq!(deactivated.status, 200, "{}", deactivated.text);
    let page = ada.open(ACCOUNT).await;
    assert_eq!((page.reply.status.as_u16(), &*page.heading), (401, "Sign in with your phone"));
    let page = ada.open(&query(&parameters(&client, &challenge()))).await;
    assert_eq!(page.heading, "Sign in with your phone");
    let redeemed = post(&host, "/oauth/token", &redemption(&client, &pending), None).await;
    assert_oauth_error(&redeemed, 400, "invalid_grant");
    assert_eq!(bob.open(ACCOUNT).await.reply.status, 200, "another person stays signed in");
    let owner_id = owner_of(&host, &granted).await;
    assert_eq!(people_of_rows(&host, "auth:signed_out").await, [owner_id]);

    // A deactivation that is refused ends nothing, and the person can sign in again.
    let mut again = Person::new(&host);
    host.advance(SECOND).await;
    tokens(&host, &mut again, &client, ADA).await;
    let refused = call_owners(&host, &granted, json!({ "action": "deactivate" })).await;
    refused.assert_refused(409, "invalid_transition");
    assert_eq!(again.open(ACCOUNT).await.reply.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_signs_out_everywhere_and_stops_all_agents() {
    let host = host().await;
    let client = public_client(&host).await;
    let (mut ada, mut stolen) = (Person::new(&host), Person::new(&host));
    let granted = tokens(&host, &mut ada, &client, ADA).await;
    let owner_id = owner_of(&host, &granted).await;
    stolen.cookies = ada.cookies.clone();
    assert_eq!(stolen.open(ACCOUNT).await.reply.status, 200);
    // Another agent asks to be claimed, and knows the code of the message.
    let asking = host.agent().await;
    let asked = asking.result(BINDING, json!({ "action": "bind", "phone": ADA })).await;
    let code = crate::harness::person::code(&host, 2).await;
    let approval = format!("/approve?approval_code={}", text(&asked, "approval_code"));
    assert!(ada.open(&approval).await.heading.starts_with("Allow"));
    let pending = crate::harness::oauth::code(&mut ada, &client, ADA).await;
    host.advance(SECOND).await;

    let page = ada.open(ACCOUNT).await;
    let page = submit(&mut ada, &page, &[("step", "sign_out_everywhere")]).await;
    assert_eq!((page.reply.status.as_u16(), &*page.heading), (401, "Sign in with your phone"));
    for path in [ACCOUNT, "/approve"] {
        assert_eq!(stolen.open(path).await.reply.status, 401, "{path}");
    }
    let reply = call(&host, text(&granted, "access_token"), open("ada")).await;
    reply.assert_refused(401, "client_revoked");
    assert_oauth_error(&refresh(&host, &client, &granted).await, 400, "invalid_grant");
    let redeemed = post(&host, "/oauth/token", &redemption(&client, &pending), None).await;
    assert_oauth_error(&redeemed, 400, "invalid_grant");
    assert_eq!(people_of_rows(&host, "auth:signed_out").await, [owner_id]);

    // The person signs in again, and what was pending before is no longer valid.
    host.advance(MINUTE).await;
    let mut again = Person::new(&host);
    again.sign_in(&query(&parameters(&client, &challenge())), ADA).await;
    let started = Instant::now();
    while !again.open(&approval).await.error_text().starts_with("No agent") {
        assert!(started.elapsed() < PATIENCE, "the approval code is still valid");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let verified = asking.call(BINDING, json!({ "action": "verify", "code": code })).await;
    assert_eq!(verified.body["error_code"], "code_expired", "{}", verified.text);
    let page = again.open(ACCOUNT).await;
    assert!(page.reply.text.contains("No agent acts for you"), "{}", page.reply.text);
    assert_eq!(values(&page, "session").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agents_of_a_person_learn_of_every_sign_in() {
    let host = host().await;
    let client = public_client(&host).await;
    let mut ada = Person::new(&host);
    let granted = tokens(&host, &mut ada, &client, ADA).await;
    let owner_id = owner_of(&host, &granted).await;
    let reader = Reader::new(&host).await;
    reader.agent.result(BINDING, json!({ "action": "bind", "phone": ADA })).await;
    let code = crate::harness::person::code(&host, 2).await;
    reader.agent.result(BINDING, json!({ "action": "verify", "code": code })).await;
    let signed_in = async |expected: usize| {
        host.wait_until_settled().await;
        let page = reader.page("wait=0&cursor=0&types=identity.signed_in").await;
        let events = page["events"].as_array().unwrap().clone();
        assert_eq!(events.len(), expected, "{page:#}");
        events.last().unwrap()["data"].clone()
    };
    host.advance(MINUTE).await;
    let mut phone = Person::with(&host, browser("Gecko/20100101 Firefox/140.0"));
    phone.sign_in(&query(&parameters(&client, &challenge())), ADA).await;
    let data = signed_in(1).await;
    assert_eq!((text(&data, "owner_id"), text(&data, "browser")), (&*owner_id, "Firefox"));
    let (started, at) = (host.clock.now().to_string(), text(&data, "signed_in_at"));
    assert!(at <= &*started && at[..10] == started[..10], "{at}");
    // A sign-in of another person is not told.
    Person::new(&host).sign_in(&query(&parameters(&client, &challenge())), BOB).await;
    signed_in(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn codes_from_before_a_sign_out_claim_nothing() {
    let host = host().await;
    let client = public_client(&host).await;
    let mut ada = Person::new(&host);
    let granted = tokens(&host, &mut ada, &client, ADA).await;
    let asking = host.agent().await;
    asking.result(BINDING, json!({ "action": "bind", "phone": ADA })).await;
    let code = crate::harness::person::code(&host, 2).await;
    host.advance(SECOND).await;
    let unconfirmed = json!({ "action": "sign_out_everywhere" });
    let refused = call_owners(&host, &granted, unconfirmed).await;
    refused.assert_refused(409, "confirm_required");
    assert_eq!(ada.open(ACCOUNT).await.reply.status, 200);
    let ended = json!({ "action": "sign_out_everywhere", "confirm": true });
    let reply = call_owners(&host, &granted, ended).await;
    assert_eq!(reply.body["result"], json!({ "agents_revoked": 1 }), "{}", reply.text);
    assert_eq!(ada.open(ACCOUNT).await.reply.status, 401);
    host.advance(SECOND).await;
    let verified = asking.call(BINDING, json!({ "action": "verify", "code": code })).await;
    assert_eq!(verified.body["error_code"], "code_expired", "{}", verified.text);
    // A code that is sent afterwards is valid.
    host.advance(MINUTE).await;
    asking.result(BINDING, json!({ "action": "bind", "phone": ADA })).await;
    let code = crate::harness::person::code(&host, 3).await;
    asking.result(BINDING, json!({ "action": "verify", "code": code })).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_sees_and_ends_one_thing_after_another() {
    let host = host().await;
    let client = public_client(&host).await;
    let mut ada = Person::with(&host, browser("Gecko/20100101 Firefox/140.0"));
    let granted = tokens(&host, &mut ada, &client, ADA).await;
    host.advance(MINUTE).await;
    let mut phone = Person::with(&host, browser("CriOS/140.0 Mobile Safari/604.1"));
    phone.sign_in(&query(&parameters(&client, &challenge())), ADA).await;
    let mut bob = Person::new(&host);
    let bobs = tokens(&host, &mut bob, &client, BOB).await;

    let page = ada.open(ACCOUNT).await;
    let shown = &page.reply.text;
    assert!(shown.contains("<strong>Firefox</strong>, this one"), "{shown}");
    assert!(shown.contains("<strong>Chrome</strong>: signed in"), "{shown}");
    assert!(shown.contains(&client) && shown.contains("svc.read svc.write"), "{shown}");
    assert!(!shown.contains("<b>"), "{shown}");
    assert!(page.reply.header("content-security-policy").contains("form-action 'self'"));
    let sessions = values(&page, "session");
    let agents = values(&page, "agent");
    assert_eq!((sessions.len(), agents.len()), (2, 1));
    let agent = &agents[0];

    // Nothing is done by a form of another browser, nor for another person.
    let forged = [("step", "sign_out_everywhere"), ("form_token", page.form_token.as_str())];
    assert_eq!(bob.submit_to(ACCOUNT, &forged).await.reply.status, 400);
    assert_eq!(bob.submit_to(ACCOUNT, &forged[..1]).await.reply.status, 400);
    let bobs_page = bob.open(ACCOUNT).await;
    let step = [("step", "end_session"), ("session", sessions[1].as_str())];
    submit(&mut bob, &bobs_page, &step).await;
    let step = [("step", "end_agent"), ("agent", agent.as_str())];
    assert_eq!(submit(&mut bob, &bobs_page, &step).await.reply.status, 404);
    assert_eq!(phone.open(ACCOUNT).await.reply.status, 200);
    assert_eq!(call(&host, text(&granted, "access_token"), open("ada")).await.status, 200);

    let step = [("step", "end_session"), ("session", sessions[1].as_str())];
    let page = submit(&mut ada, &page, &step).await;
    assert_eq!(values(&page, "session"), sessions[..1]);
    assert_eq!(phone.open(ACCOUNT).await.reply.status, 401);
    let step = [("step", "end_agent"), ("agent", agent.as_str())];
    let page = submit(&mut ada, &page, &step).await;
    assert!(page.reply.text.contains("No agent acts for you"), "{}", page.reply.text);
    let reply = call(&host, text(&granted, "access_token"), open("eve")).await;
    reply.assert_refused(401, "client_revoked");
    assert_eq!(call(&host, text(&bobs, "access_token"), open("bob")).await.status, 200);
    let page = submit(&mut ada, &page, &[("step", "sign_out")]).await;
    assert_eq!(page.reply.status, 401);
    assert_eq!(people_of_rows(&host, "auth:session_ended").await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_ends_an_agent_whose_calls_take_all_that_may_run() {
    let settings = "rate_limits = \"on\"\n[limits]\ncall_wall_time_ms = 5000\ncall_queue_time_ms = 300\nconcurrent_calls_per_caller = 1\n";
    let components = [&CAPABILITIES[..], &["wasi_probe"]].concat();
    let host = Host::start(Options::with(&components).configuration(settings)).await;
    let mut ada = Person::new(&host);
    let granted = tokens(&host, &mut ada, &public_client(&host).await, ADA).await;
    let url = format!("{}/v1/capabilities/wasi_probe/call", host.url);
    let request = host.client.post(url).bearer_auth(text(&granted, "access_token"));
    let slow = tokio::spawn(request.json(&json!({ "action": "sleep" })).send());
    let started = Instant::now();
    // The call runs once another one has to wait.
    loop {
        let reply = call(&host, text(&granted, "access_token"), open("ada")).await;
        if reply.body["conflict"]["name"] == "concurrent_calls_per_caller" {
            break;
        }
        assert!(started.elapsed() < PATIENCE && !slow.is_finished(), "{}", reply.text);
    }
    let page = ada.open(ACCOUNT).await;
    let agent = values(&page, "agent").remove(0);
    let page = submit(&mut ada, &page, &[("step", "end_agent"), ("agent", agent.as_str())]).await;
    assert!(page.reply.text.contains("No agent acts for you"), "{}", page.reply.text);
    assert!(!slow.is_finished());
    slow.abort();
}

fn browser(agent: &str) -> reqwest::ClientBuilder {
    reqwest::Client::builder().user_agent(format!("Mozilla/5.0 {agent}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_ends_sessions() {
    let host = host().await;
    let client = public_client(&host).await;
    let mut ada = Person::new(&host);
    let granted = tokens(&host, &mut ada, &client, ADA).await;
    let owner_id = owner_of(&host, &granted).await;
    let erase = host.operator.delete(format!("{}/people/{owner_id}", host.admin_url));
    assert_eq!(erase.send().await.unwrap().status(), 200);
    assert_eq!(ada.open(ACCOUNT).await.reply.status, 401);
    assert_eq!(call(&host, text(&granted, "access_token"), open("ada")).await.status, 401);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_ends_on_one_node_has_ended_on_all() {
    let url = postgres::database().await;
    let one = Host::start(Options::with(&CAPABILITIES).postgres(&url)).await;
    let client = public_client(&one).await;
    let mut ada = Person::new(&one);
    tokens(&one, &mut ada, &client, ADA).await;
    // Started now, because otherwise either node would send the text message.
    let other = Host::start(Options::with(&CAPABILITIES).postgres(&url)).await;
    let mut elsewhere = Person::new(&other);
    elsewhere.cookies = ada.cookies.clone();
    assert_eq!(elsewhere.open(ACCOUNT).await.reply.status, 200);
    let page = ada.open(ACCOUNT).await;
    submit(&mut ada, &page, &[("step", "sign_out_everywhere")]).await;
    assert_eq!(elsewhere.open(ACCOUNT).await.reply.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_out_needs_no_capability_for_agents() {
    let host = Host::with(&CAPABILITIES[..2]).await;
    let client = public_client(&host).await;
    let mut ada = Person::new(&host);
    let granted = tokens(&host, &mut ada, &client, ADA).await;
    let agent = Agent { host: &host, token: text(&granted, "access_token").to_owned() };
    agent.result("ledger", open("ada")).await;
    let page = ada.open(ACCOUNT).await;
    submit(&mut ada, &page, &[("step", "sign_out_everywhere")]).await;
    assert_eq!(ada.open(ACCOUNT).await.reply.status, 401);
    let reply = call(&host, text(&granted, "access_token"), open("eve")).await;
    reply.assert_refused(401, "client_revoked");
}
