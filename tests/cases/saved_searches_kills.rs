//! Hosts are killed while they publish listings and try them against saved searches: each alert comes, and comes once.

use crate::harness::{
    Agent, Host, Options, PATIENCE, Process,
    component_sets::LISTINGS,
    database::Database,
    inbox::Reader,
    listings::{Lister, room},
    postgres,
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// The kills of the long form; a person has at most 50 saved searches.
fn kills() -> usize {
    if std::env::var_os("PORTOLAN_TEST_FULL").is_some() { 50 } else { 2 }
}

fn agent<'a>(host: &'a Host, token: &str) -> Agent<'a> {
    Agent { host, token: token.to_owned() }
}

/// Returns the listings of each event `saved_search.matched`, by the name of the search.
async fn alerts(host: &Host, token: &str) -> BTreeMap<String, Vec<Value>> {
    let reader = Reader { agent: agent(host, token), id: String::new() };
    let mut alerts: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut cursor = json!("0");
    loop {
        let query = format!("wait=0&limit=100&cursor={}", cursor.as_str().unwrap());
        let page = reader.page(&query).await;
        let events = page["events"].as_array().unwrap();
        for event in events.iter().filter(|event| event["type"] == "saved_search.matched") {
            let name = event["data"]["name"].as_str().unwrap().to_owned();
            alerts.entry(name).or_default().push(event["data"]["listing_ids"].clone());
        }
        if events.is_empty() {
            return alerts;
        }
        cursor = page["cursor"].clone();
    }
}

fn options() -> Options {
    let options = Options::with(&[&LISTINGS[..], &["saved_searches"]].concat());
    options.configuration("public_url = \"http://alerts.test\"\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_alert_is_lost_or_comes_twice_when_the_host_is_killed() {
    kill_while_publishing(options()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_alert_is_lost_or_comes_twice_when_the_host_is_killed_on_postgres() {
    kill_while_publishing(options().postgres(&postgres::database().await)).await;
}

async fn kill_while_publishing(options: Options) {
    let mut host = Process::start(options);
    let seeker = Lister::new(&host).await.agent().token.clone();
    let lister = Lister::new(&host).await.agent().token.clone();
    let mut random = StdRng::seed_from_u64(1);
    let mut expected = BTreeMap::new();
    for kill in 0..kills() {
        let name = format!("kalona{kill}");
        let search = json!({ "action": "create", "name": name, "query": { "q": name }, "frequency": "instant" });
        agent(&host, &seeker).result("saved_searches", search).await;
        let mut draft = room(json!({ "title": format!("Room {name}"), "publish": false }));
        draft["action"] = json!("create");
        let listing_id =
            agent(&host, &lister).result("agent_listings", draft).await["listing_id"].take();
        let publish = json!({ "action": "publish", "listing_id": listing_id });
        let url = format!("{}/v1/capabilities/agent_listings/call", host.url);
        let request = host.client.post(url).bearer_auth(&lister).json(&publish);
        let call = tokio::spawn(request.send());
        tokio::time::sleep(Duration::from_millis(random.random_range(0..150))).await;
        host.signal("KILL");
        let answered = call.await.unwrap().is_ok_and(|response| response.status() == 200);
        let (_, folder) = host.wait();
        // A delivery that a killed host has begun is due again after half a minute.
        Database::of(folder.path()).execute("UPDATE deliveries SET due_at = 0").await;
        host = Process::start_in(folder);
        if !answered {
            let lister = agent(&host, &lister);
            let get = json!({ "action": "get", "listing_id": listing_id });
            let state = lister.result("agent_listings", get).await["state"].take();
            if state == "draft" {
                lister.result("agent_listings", publish).await;
            }
        }
        expected.insert(name, vec![json!([listing_id])]);
        let started = Instant::now();
        while alerts(&host, &seeker).await.len() < expected.len() {
            assert!(started.elapsed() < 3 * PATIENCE, "the alert about {listing_id} is lost");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        // Otherwise the person would reach the limit of listings.
        let withdraw = json!({ "action": "withdraw", "listing_id": listing_id });
        agent(&host, &lister).result("agent_listings", withdraw).await;
    }
    assert_eq!(alerts(&host, &seeker).await, expected);
}
