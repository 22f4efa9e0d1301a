//! A component is replaced a thousand times under load, and every call in flight is answered.

use crate::harness::{Host, component, patched};
use serde_json::json;
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

const REPLACEMENTS: usize = 1000;
const CALLERS: usize = 8;

#[tokio::test(flavor = "multi_thread")]
async fn calls_in_flight_during_a_thousand_replacements_all_answer() {
    let greeter = component("greeter");
    let versions =
        [greeter.clone(), patched(&greeter, &[("Hello, ", "Howdy, "), ("1.2.0", "1.2.1")])];
    let host = Arc::new(Host::with(&["greeter"]).await);
    let token = host.token("svc.read").await;
    let stop = Arc::new(AtomicBool::new(false));
    let mut callers = tokio::task::JoinSet::new();
    for _ in 0..CALLERS {
        let (host, token, stop) = (Arc::clone(&host), token.clone(), Arc::clone(&stop));
        callers.spawn(async move {
            let mut answers: BTreeMap<(u16, String), usize> = BTreeMap::new();
            while !stop.load(Ordering::Relaxed) {
                let url = format!("{}/v1/capabilities/greeter/call", host.url);
                let request = host
                    .client
                    .post(url)
                    .bearer_auth(&token)
                    .json(&json!({ "action": "greet", "name": "Ada" }));
                let response = request.send().await.unwrap();
                let status = response.status().as_u16();
                let body: serde_json::Value = response.json().await.unwrap();
                *answers
                    .entry((status, body["result"]["text"].as_str().unwrap_or_default().to_owned()))
                    .or_default() += 1;
            }
            answers
        });
    }
    for number in 1..=REPLACEMENTS {
        host.drop_in("greeter.wasm", &versions[number % 2]);
        host.wait_for_version("greeter", if number % 2 == 0 { "1.2.0" } else { "1.2.1" }).await;
    }
    stop.store(true, Ordering::Relaxed);
    let mut answers: BTreeMap<(u16, String), usize> = BTreeMap::new();
    for caller in callers.join_all().await {
        caller.into_iter().for_each(|(answer, count)| *answers.entry(answer).or_default() += count);
    }
    let kinds: Vec<_> = answers.keys().cloned().collect();
    assert_eq!(
        kinds,
        [(200, "Hello, Ada!".to_owned()), (200, "Howdy, Ada!".to_owned())],
        "{answers:?}"
    );
    assert!(answers.values().sum::<usize>() > REPLACEMENTS, "{answers:?}");
    let version = host.get("/v1/capabilities").await.body["catalog_version"].as_u64().unwrap();
    assert_eq!(version, REPLACEMENTS as u64 + 1);
}
