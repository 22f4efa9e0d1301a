//! Replays give the same bytes, and rehearsals notice the faults of a version.

use crate::{
    cases::recordings::{ALL, recorded, replay},
    harness::{
        Agent, Host, Options, component,
        hostile::signed,
        matching, patched,
        publishing::{fails, portolan, post, succeeds, write_component},
        walk::World,
    },
};
use rand::{SeedableRng as _, rngs::StdRng};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The number of faults of the component `mutant`, and how many of them a rehearsal must notice.
const FAULTS: u32 = 20;
const NOTICED: usize = 19;

/// Returns how many recorded calls are replayed: many with `cargo xtask test --full`.
fn replayed_calls() -> usize {
    if std::env::var_os("PORTOLAN_TEST_FULL").is_some() { 1_000 } else { 250 }
}

#[tokio::test(flavor = "multi_thread")]
async fn recorded_calls_of_the_shipped_capabilities_replay_to_the_same_bytes() {
    let names = [&matching::CAPABILITIES[..], &["calendar", "thread_meetings"]].concat();
    let configuration = format!("[limits]\ncall_wall_time_ms = 30000\n{ALL}");
    let host = Host::start(Options::with(&names).configuration(&configuration)).await;
    let mut world = World::new(&host).await;
    let mut random = StdRng::seed_from_u64(7);
    let wanted = replayed_calls();
    let mut recordings = Vec::new();
    while recordings.len() < wanted {
        for _ in 0..20 {
            world.step(&mut random).await;
        }
        world.wait_until_settled().await;
        recordings = recorded(&host, "", 1).await;
    }
    let (mut actions, mut differing) = (BTreeSet::new(), BTreeMap::new());
    let mut runs = 0;
    for recording in &recordings {
        let id = recording["request_id"].as_str().unwrap();
        let replayed = replay(&host, id).await;
        for run in replayed["runs"].as_array().unwrap() {
            runs += 1;
            let action = format!("{}.{}", run["capability"], run["action"]);
            if run["verdict"] != "same" {
                differing.insert(format!("{action} of {id}"), run.clone());
            }
            actions.insert(action);
        }
    }
    eprintln!("{} calls, {runs} runs, {} actions", recordings.len(), actions.len());
    assert!(differing.is_empty(), "{differing:#?}");
    assert!(actions.len() > 30, "{actions:?}");
}

/// Makes calls of all kinds: with and without notes, small and large, refused and not.
async fn order(agent: &Agent<'_>) {
    let order = |id: &str, quantity: u32, note: Option<&str>| json!({ "action": "order", "order": id, "item": "tea", "quantity": quantity, "note": note });
    let mut calls = vec![
        order("a", 1, None),
        order("b", 9, Some("for Ada")),
        order("c", 10, None),
        order("d", 12, Some("soon")),
        order("e", 0, None),
        order("a", 2, None),
        json!({ "action": "list", "most": 3 }),
        json!({ "action": "list", "most": 10 }),
    ];
    for id in ["a", "b", "none"] {
        calls.push(json!({ "action": "get", "order": id }));
    }
    for quantity in [1, 9, 10, 11, 40] {
        calls.push(json!({ "action": "quote", "quantity": quantity }));
    }
    for id in ["c", "none"] {
        calls.push(json!({ "action": "withdraw", "order": id }));
    }
    for call in calls {
        let reply = agent.call("mutant", call).await;
        assert!(!reply.status.is_server_error(), "{}", reply.text);
    }
}

/// Returns the component with a fault.
fn mutant(fault: u32) -> Vec<u8> {
    patched(&component("mutant"), &[("mutation:00", &format!("mutation:{fault:02}"))])
}

async fn rehearse(host: &Host, component: Vec<u8>) -> Value {
    let reply = post(host, "/rehearsals", component).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.body
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rehearsal_notices_the_faults_of_a_version() {
    let host = Host::start(Options::with(&["mutant"]).configuration(ALL)).await;
    let agent = host.claimed_agent().await;
    order(&agent).await;
    recorded(&host, "capability=mutant", 18).await;
    // Other bytes with the same behaviour change nothing.
    for same in [0, 98, 99] {
        let rehearsal = rehearse(&host, mutant(same)).await;
        assert_eq!(rehearsal["passed"], true, "{same}: {rehearsal:#}");
        assert_eq!(rehearsal["verdicts"]["same"], 18, "{same}: {rehearsal:#}");
    }
    let (mut unnoticed, mut verdicts) = (Vec::new(), BTreeMap::new());
    for fault in 1..=FAULTS {
        let rehearsal = rehearse(&host, mutant(fault)).await;
        if rehearsal["passed"] == true {
            unnoticed.push(fault);
        }
        let changes = rehearsal["changes"].as_array().unwrap().iter();
        let found: BTreeSet<_> =
            changes.map(|change| change["verdict"].as_str().unwrap().to_owned()).collect();
        verdicts.insert(fault, found);
    }
    eprintln!("{verdicts:#?}");
    assert!((FAULTS as usize) - unnoticed.len() >= NOTICED, "not noticed: {unnoticed:?}");
    let all: BTreeSet<_> = verdicts.values().flatten().map(String::as_str).collect();
    let kinds = ["answer_differs", "diverged", "effects_differ", "refusal_differs", "trapped"];
    assert_eq!(all.into_iter().collect::<Vec<_>>(), kinds);
    // Nothing of all this has happened.
    assert_eq!(
        agent.result("mutant", json!({ "action": "list", "most": 10 })).await["orders"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_that_was_not_recorded_is_told_as_a_divergence() {
    let host = Host::start(Options::with(&["mutant"]).configuration(ALL)).await;
    let agent = host.claimed_agent().await;
    order(&agent).await;
    let recordings = recorded(&host, "capability=mutant", 18).await;
    let get = recordings
        .iter()
        .find(|recording| recording["action"] == "get" && recording["outcome"] == "ok");
    let id = get.unwrap()["request_id"].as_str().unwrap();
    let reply = post(&host, &format!("/recordings/{id}/replay"), mutant(16)).await;
    let run = &reply.body["runs"][0];
    assert_eq!((&run["verdict"], &run["same_component"]), (&json!("diverged"), &json!(false)));
    assert_eq!(run["divergence"]["function"], "documents.get", "{run:#}");
    assert_eq!(run["divergence"]["arguments"][0], "orders", "{run:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rehearsal_that_has_compared_nothing_has_not_passed() {
    let host = Host::start(Options::with(&["mutant"])).await;
    let rehearsal = rehearse(&host, component("mutant")).await;
    assert_eq!((&rehearsal["passed"], &rehearsal["runs"]), (&json!(false), &json!(0)));
    let file = write_component(&host, "next.wasm", &component("mutant"));
    let told = portolan(host.folder.path(), &["rehearse", &file]).await;
    assert!(!told.succeeded && told.error.is_empty(), "{}", told.error);
    assert!(told.output.contains("nothing was tried"), "{}", told.output);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_a_version_of_the_serving_capability_is_tried() {
    let host = Host::start(Options::with(&["mutant"]).configuration(ALL)).await;
    let agent = host.claimed_agent().await;
    agent.result("mutant", json!({ "action": "quote", "quantity": 1 })).await;
    let recordings = recorded(&host, "capability=mutant", 1).await;
    let id = recordings[0]["request_id"].as_str().unwrap();
    let of_another = signed(host.folder.path(), "another.key", &mutant(99));
    let with_messages = patched(&component("texter"), &[("texter", "mutant")]);
    for (content, status, reason) in [
        (of_another, 403, "of the same publisher"),
        (with_messages, 403, "does not import sms"),
        (component("notes"), 409, "does not serve"),
    ] {
        for path in ["/rehearsals".to_owned(), format!("/recordings/{id}/replay")] {
            let reply = post(&host, &path, content.clone()).await;
            assert_eq!(reply.status, status, "{path} {}", reply.text);
            assert!(reply.text.contains(reason), "{path} {}", reply.text);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_commands_replay_rehearse_and_make_a_case() {
    let host = Host::start(Options::with(&["mutant"]).configuration(ALL)).await;
    let agent = host.claimed_agent().await;
    order(&agent).await;
    let recordings = recorded(&host, "capability=mutant", 18).await;
    let folder = host.folder.path().to_owned();
    let listed = succeeds(&folder, &["recordings", "--capability", "mutant"]).await;
    assert!(listed.contains("mutant.order 1.0.0  ok"), "{listed}");
    let ordered = recordings
        .iter()
        .find(|recording| recording["action"] == "order" && recording["outcome"] == "ok");
    let id = ordered.unwrap()["request_id"].as_str().unwrap();
    let replayed = succeeds(&folder, &["replay", id]).await;
    assert!(replayed.contains("the same bytes"), "{replayed}");
    let faulty = write_component(&host, "faulty.wasm", &mutant(14));
    let changed = portolan(&folder, &["replay", id, "--component", &faulty]).await;
    assert!(!changed.succeeded && changed.error.is_empty(), "{}", changed.error);
    let changed = portolan(&folder, &["rehearse", &faulty]).await;
    assert!(!changed.succeeded && changed.error.is_empty(), "{}", changed.error);
    assert!(changed.output.contains("- events.publish"), "{}", changed.output);
    let same = write_component(&host, "same.wasm", &mutant(99));
    let passed = succeeds(&folder, &["rehearse", &same, "--json"]).await;
    assert_eq!(serde_json::from_str::<Value>(&passed).unwrap()["passed"], true);
    let error = fails(&folder, &["replay", "req_none"]).await;
    assert!(error.contains("no recording of the request"), "{error}");

    let sound = write_component(&host, "sound.wasm", &component("mutant"));
    let made = succeeds(&folder, &["test", &sound, "--from-call", id]).await;
    assert!(made.contains("personal data"), "{made}");
    let tested = succeeds(&folder, &["test", &sound]).await;
    assert!(tested.contains("1 passed, 0 failed"), "{tested}");
    let priced = write_component(&host, "priced.wasm", &mutant(1));
    assert!(!portolan(&folder, &["test", &priced]).await.succeeded);
}
