//! Agents that a person gets by signing in, and the events about them.

use crate::harness::time::MINUTE;
use crate::harness::{
    Agent, Host, PATIENCE,
    credits::{CREDITS, wait_until},
    inbox::{Reader, ids},
    oauth::{self, ADA, BOB, challenge, parameters, post, public_client, query, redemption, text},
    person::{Page, Person},
};
use scraper::{Html, Selector};
use serde_json::{Value, json};
use std::time::Instant;

const MOST_AGENTS: usize = 10;
const SCOPE: &str = "svc.read svc.write svc.events";

async fn host() -> Host {
    Host::with(&["svc_phone_binding", "agent_credits", "owners", "svc_whoami"]).await
}

/// Registers a client to which a person consents, and returns the client's agent.
async fn sign_in_agent<'a>(host: &'a Host, person: &mut Person<'_>, phone: &str) -> Reader<'a> {
    let client = public_client(host).await;
    let code = consent_code(person, &client, phone).await;
    reader(host, &client, &code).await
}

async fn reader<'a>(host: &'a Host, client: &str, code: &str) -> Reader<'a> {
    let token = post(host, "/oauth/token", &redemption(client, code), None).await;
    let agent = Agent { host, token: text(&token.body, "access_token").to_owned() };
    let identity = agent.result("svc.whoami", json!({ "action": "get" })).await;
    Reader { id: text(&identity, "agent_id").to_owned(), agent }
}

async fn consent(person: &mut Person<'_>, client: &str, phone: &str) -> Page {
    let challenge = challenge();
    let asked = oauth::with_parameter(&parameters(client, &challenge), "scope", Some(SCOPE));
    match person.cookies.contains_key("portolan_session") {
        true => person.open(&query(&asked)).await,
        false => person.sign_in(&query(&asked), phone).await,
    }
}

async fn consent_code(person: &mut Person<'_>, client: &str, phone: &str) -> String {
    let page = consent(person, client, phone).await;
    oauth::allow(person, &page).await
}

/// Waits for an agent's next events about agents, acknowledges them, and returns the type and the
/// agent of each.
async fn receive_agent_events(reader: &Reader<'_>) -> Vec<(String, Value)> {
    let started = Instant::now();
    let page = loop {
        let page = reader.page("wait=2&types=identity.claimed,identity.agent_linked").await;
        if page["events"] != json!([]) {
            break page;
        }
        assert!(started.elapsed() < PATIENCE, "{} gets no event", reader.id);
    };
    reader.acknowledge(&ids(&page)).await;
    let events = page["events"].as_array().unwrap().iter();
    events
        .map(|event| (text(event, "type").to_owned(), event["data"]["agent_id"].clone()))
        .collect()
}

/// Returns the ids of the agents that a page lets the person revoke.
fn revocable_agents(page: &Page) -> Vec<String> {
    let html = Html::parse_document(&page.reply.text);
    let choice = Selector::parse("input[name=agent]").unwrap();
    html.select(&choice).map(|input| input.attr("value").unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_a_person_consents_to_equals_a_claimed_one() {
    let host = host().await;
    let mut person = Person::new(&host);
    let first = sign_in_agent(&host, &mut person, ADA).await;
    assert_eq!(
        receive_agent_events(&first).await,
        [("identity.claimed".to_owned(), json!(first.id))]
    );
    let balance = async |reader: &Reader<'_>| {
        reader.agent.result(CREDITS, json!({ "action": "balance" })).await
    };
    wait_until(async || balance(&first).await["available"] == 20).await;

    // The person's other agents get one event about the next agent, which has no credits yet.
    let second = sign_in_agent(&host, &mut person, ADA).await;
    assert_eq!(
        receive_agent_events(&first).await,
        [("identity.agent_linked".to_owned(), json!(second.id))]
    );
    assert_eq!(balance(&second).await["available"], 0);

    // A second sign-in for the same client makes no new agent.
    let mut elsewhere = Person::new(&host);
    let client = public_client(&host).await;
    let third = reader(&host, &client, &consent_code(&mut person, &client, ADA).await).await;
    assert_eq!(
        receive_agent_events(&first).await,
        [("identity.agent_linked".to_owned(), json!(third.id))]
    );
    // A minute must pass between two codes for one number.
    host.advance(MINUTE).await;
    let code = consent_code(&mut elsewhere, &client, ADA).await;
    assert_eq!(reader(&host, &client, &code).await.id, third.id);
    let agents = first.agent.result("owners", json!({ "action": "list_agents" })).await;
    let mut ids: Vec<_> =
        agents["items"].as_array().unwrap().iter().map(|agent| agent["agent_id"].clone()).collect();
    ids.sort_by_key(ToString::to_string);
    let mut known = [&first, &second, &third].map(|agent| json!(agent.id)).to_vec();
    known.sort_by_key(ToString::to_string);
    assert_eq!(ids, known);
    // Nor did it publish an event: the next event is about the next new agent.
    let fourth = sign_in_agent(&host, &mut person, ADA).await;
    assert_eq!(
        receive_agent_events(&first).await,
        [("identity.agent_linked".to_owned(), json!(fourth.id))]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_with_the_most_agents_allowed_can_revoke_one_at_sign_in() {
    let host = host().await;
    let (mut ada, mut bob) = (Person::new(&host), Person::new(&host));
    let foreign = sign_in_agent(&host, &mut bob, BOB).await;
    let mut agents = Vec::new();
    for _ in 0..MOST_AGENTS {
        agents.push(sign_in_agent(&host, &mut ada, ADA).await);
    }

    // In another browser, the person is identified by the phone. A minute must pass between two
    // codes for one number.
    host.advance(MINUTE).await;
    let mut elsewhere = Person::new(&host);
    let client = public_client(&host).await;
    let page = consent(&mut elsewhere, &client, ADA).await;
    assert!(page.heading.starts_with("Allow"), "{}", page.reply.text);
    assert!(revocable_agents(&page).is_empty());
    let page = elsewhere.submit(&page, "allow", &[]).await;
    assert!(page.error_text().contains("as many agents"), "{}", page.reply.text);
    let mut expected: Vec<_> = agents.iter().map(|agent| agent.id.clone()).collect();
    let mut shown = revocable_agents(&page);
    expected.sort();
    shown.sort();
    assert_eq!(shown, expected);

    // Agents of other people, and ones that do not exist, cannot be revoked.
    for id in [&*foreign.id, "agt_01JZX8Q4M2N6P7R8S9T0V1W2X3", ""] {
        let page = elsewhere.submit(&page, "end", &[("agent", id)]).await;
        assert_ne!(page.error_text(), "", "{id}");
    }
    let whoami = async |reader: &Reader<'_>| {
        reader.agent.call("svc.whoami", json!({ "action": "get" })).await
    };
    assert_eq!(whoami(&foreign).await.status, 200);

    let page = elsewhere.submit(&page, "end", &[("agent", &agents[3].id)]).await;
    assert_eq!(page.error_text(), "", "{}", page.reply.text);
    let code = oauth::allow(&mut elsewhere, &page).await;
    let new = reader(&host, &client, &code).await;
    whoami(&agents[3]).await.assert_refused(401, "client_revoked");
    let page = agents[0].page("types=identity.revoked").await;
    assert_eq!(page["events"][0]["data"]["agent_id"], json!(agents[3].id));
    assert_eq!(whoami(&new).await.status, 200);
}
