//! A version is given to a share of callers, and taken back by itself if it fails.

use crate::harness::{
    Agent, Host, Options, Process, component, join_all, patched, postgres,
    publishing::{history, post},
    releases::{
        agent_of, counted, is_running, mutant, people, price, prices, release, share, shared,
        wait_for_release,
    },
};
use portolan_vocabulary::RELEASE_RULES;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

/// The faults of `mutant` that a release to half of the callers stops, of the 20 that it has: refusals of what was
/// taken (4), a trap (5), orders that are not kept (10) or not found (16). The other 16 give wrong answers or effects
/// without a failure or a refusal more: those are for rehearsals.
const STOPPED: [u32; 4] = [4, 5, 10, 16];
const FAULTS: u32 = 20;
const PATIENT: &str = "[limits]\ncall_wall_time_ms = 30000\n";

async fn host() -> Host {
    Host::start(Options::with(&["mutant"]).configuration(PATIENT)).await
}

fn order(id: &str, quantity: u32, note: Option<&str>) -> Value {
    json!({ "action": "order", "order": id, "item": "tea", "quantity": quantity, "note": note })
}

/// Makes calls of all kinds, some of which every version refuses, under ids that begin with `name`.
async fn use_mutant(agent: &Agent<'_>, name: &str) {
    let id = |letter: char| format!("{name}{letter}");
    let mut calls = vec![
        order(&id('a'), 1, None),
        order(&id('b'), 9, None),
        order(&id('c'), 12, None),
        order(&id('d'), 2, Some("soon")),
        order(&id('e'), 0, None),
        order(&id('b'), 9, None),
        json!({ "action": "list", "most": 3 }),
        json!({ "action": "quote", "quantity": 10 }),
    ];
    calls
        .extend(['a', 'b', 'c', 'd'].map(|letter| json!({ "action": "get", "order": id(letter) })));
    calls.extend(['a', 'd'].map(|letter| json!({ "action": "withdraw", "order": id(letter) })));
    for call in calls {
        agent.call("mutant", call).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_share_of_four_hundred_callers_gets_a_version_and_stays_on_it() {
    let host = host().await;
    let mut agents = Vec::new();
    for _ in 0..400 {
        agents.push(host.agent().await);
    }
    assert!(prices(&agents).await.iter().all(|price| *price == 250));
    let begun = shared(&host, 25, mutant(1)).await;
    assert_eq!((&begun["share"], &begun["state"]), (&json!(25), &json!("running")));
    let first = prices(&agents).await;
    let number = first.iter().filter(|price| **price == 255).count();
    // Four standard deviations of 400 callers, of whom each has the chance of a quarter.
    assert!((65..=135).contains(&number), "{number}");
    for _ in 0..3 {
        assert_eq!(prices(&agents).await, first);
    }
    // A raised share keeps those who have the version already.
    let path = "/catalog/mutant/release/share?share=50";
    assert_eq!(post(&host, path, Vec::new()).await.status, 200);
    let raised = prices(&agents).await;
    assert!(first.iter().zip(&raised).all(|(first, raised)| first <= raised));
    let number = raised.iter().filter(|price| **price == 255).count();
    assert!((160..=240).contains(&number), "{number}");
    // What describes the capability is of the serving version.
    let serving = host.status().await["loaded"][0]["digest"].take();
    assert_eq!(serving, begun["served_digest"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_stays_on_one_version_with_all_agents_on_all_nodes() {
    let url = postgres::database().await;
    let node = || Options::with(&["mutant"]).configuration(PATIENT).postgres(&url);
    let one = Host::start(node()).await;
    let other = Host::start(node()).await;
    let (here, there) = (people(&one, 20).await, people(&other, 20).await);
    shared(&one, 50, mutant(1)).await;
    let given = |status: &Value| status["releases"][0]["state"] == "given";
    other.wait_for("release", given).await;
    let told = prices(&here).await;
    assert_eq!(prices(&there).await, told);
    assert!(told.contains(&250) && told.contains(&255), "{told:?}");
    // The calls of both nodes are added up.
    let both = wait_for_release(&other, "mutant", |release| counted(release) >= 40).await;
    assert_eq!(both["figures"]["canary"]["failures"], 0, "{both:#}");
    // An abort at one node reaches the other.
    assert_eq!(post(&one, "/catalog/mutant/release/abort", Vec::new()).await.status, 200);
    assert!(prices(&here).await.iter().all(|price| *price == 250));
    other.wait_for("end of the release", |status| status["releases"] == json!([])).await;
    assert!(prices(&there).await.iter().all(|price| *price == 250));
    // So does an abort by a rule.
    shared(&other, 50, mutant(5)).await;
    one.wait_for("release", given).await;
    for (number, agent) in there.iter().enumerate() {
        agent.call("mutant", order(&format!("o{number}"), 1, Some("soon"))).await;
    }
    let aborted = wait_for_release(&one, "mutant", |release| !is_running(release)).await;
    assert_eq!(aborted["rule"], "failures_in_a_row", "{aborted:#}");
    one.wait_for("end of the release", |status| status["releases"] == json!([])).await;
    for (number, agent) in here.iter().enumerate() {
        agent.result("mutant", order(&format!("p{number}"), 1, Some("soon"))).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trapping_version_is_aborted_after_five_traps_and_nobody_else_meets_it() {
    let host = host().await;
    let agents = people(&host, 40).await;
    let begun = shared(&host, 50, mutant(5)).await;
    let mut trapped = 0;
    for (number, agent) in agents.iter().enumerate() {
        let reply = agent.call("mutant", order(&format!("o{number}"), 1, Some("soon"))).await;
        match reply.status.as_u16() {
            200 => {}
            _ => {
                reply.assert_refused(500, "capability_trapped");
                trapped += 1;
            }
        }
    }
    assert_eq!(trapped, 5);
    let aborted = wait_for_release(&host, "mutant", |release| !is_running(release)).await;
    assert_eq!(
        (&aborted["state"], &aborted["rule"]),
        (&json!("aborted"), &json!("failures_in_a_row"))
    );
    assert_eq!(aborted["figures"]["served"]["failures"], 0, "{aborted:#}");
    assert_eq!(aborted["figures"]["canary"]["failures"], 5, "{aborted:#}");
    let digest = begun["digest"].as_str().unwrap().trim_start_matches("sha256:");
    let rows = host.operate("/audit?capability=mutant&outcome=capability_trapped").await.body;
    let rows = rows["entries"].as_array().unwrap();
    assert!(rows.len() == 5 && rows.iter().all(|row| row["digest"] == digest), "{rows:#?}");
    // The history, the audit log, the log, a metric and the problems say so.
    let history = history(&host, "mutant").await;
    assert_eq!(history["releases"][0]["reason"], "5 calls in a row failed", "{history:#}");
    let row = host.operate("/audit?capability=mutant&action=release:aborted").await.body;
    assert_eq!(
        row["entries"][0]["outcome"], "failures_in_a_row: 5 calls in a row failed",
        "{row:#}"
    );
    assert_eq!(host.metric("portolan_releases_aborted_total").await, 1);
    let problems = host.operate("/problems").await.text;
    assert!(problems.contains("the release of mutant 1.0.0 was aborted"), "{problems}");
    assert_eq!(prices(&agents).await, [250; 40]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn releases_stop_some_faults_of_a_version() {
    let host = host().await;
    let agents = people(&host, 24).await;
    let mut stopped = Vec::new();
    for fault in 1..=FAULTS {
        shared(&host, 50, mutant(fault)).await;
        let all = agents.iter().enumerate().map(|(number, agent)| async move {
            use_mutant(agent, &format!("f{fault}p{number}")).await;
        });
        join_all(all).await;
        // What is counted now is compared before the next count.
        for rounds in 0..2 {
            prices(&agents).await;
            let calls = agents.len() as u64 * (15 + rounds);
            let is_known = |release: &Value| !is_running(release) || counted(release) >= calls;
            wait_for_release(&host, "mutant", is_known).await;
        }
        let ended = release(&host, "mutant").await;
        match is_running(&ended) {
            true => {
                let aborted = post(&host, "/catalog/mutant/release/abort", Vec::new()).await;
                assert_eq!(aborted.status, 200, "{}", aborted.text);
            }
            false => {
                assert_eq!(ended["state"], "aborted", "{fault}: {ended:#}");
                eprintln!("{fault}: {} {}", ended["rule"], ended["reason"]);
                stopped.push(fault);
            }
        }
    }
    assert_eq!(stopped, STOPPED);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_that_refuses_more_is_aborted_with_its_figures() {
    let host = host().await;
    let agents = people(&host, 24).await;
    shared(&host, 50, mutant(4)).await;
    let all = agents.iter().enumerate().map(|(number, agent)| async move {
        for time in 0..8 {
            agent.call("mutant", order(&format!("o{number}_{time}"), 9, None)).await;
        }
    });
    join_all(all).await;
    let aborted = wait_for_release(&host, "mutant", |release| !is_running(release)).await;
    assert_eq!((&aborted["state"], &aborted["rule"]), (&json!("aborted"), &json!("refusals")));
    assert_eq!(aborted["figures"]["served"]["refusals"], 0, "{aborted:#}");
    let canary = &aborted["figures"]["canary"];
    assert_eq!(canary["calls"], canary["refusals"], "{aborted:#}");
    agents[0].result("mutant", order("after", 9, None)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_keeps_a_release_and_an_aborted_version_does_not_come_back() {
    let host = Process::with(&["mutant"]);
    let agents = people(&host, 12).await;
    shared(&host, 50, mutant(1)).await;
    let told = prices(&agents).await;
    assert!(told.contains(&250) && told.contains(&255), "{told:?}");
    drop(agents);
    host.signal("TERM");
    let host = Process::start_in(host.wait().1);
    let status = host.status().await;
    assert_eq!(
        (&status["releases"][0]["state"], &status["releases"][0]["share"]),
        (&json!("given"), &json!(50))
    );
    let mut again = Vec::new();
    for number in 0..12 {
        again.push(price(&agent_of(&host, &format!("own_person{number}")).await).await);
    }
    assert_eq!(again, told);
    assert_eq!(post(&host, "/catalog/mutant/release/abort", Vec::new()).await.status, 200);
    // Its file does not bring it in.
    host.drop_in("mutant.wasm", &mutant(1));
    let refused = host.wait_for_refusal("mutant.wasm").await;
    assert_eq!(refused["reason"], "release_aborted", "{refused:#}");
    let agent = agent_of(&host, "own_person0").await;
    assert_eq!(price(&agent).await, 250);
    host.drop_in("mutant.wasm", &component("mutant"));
    host.wait_for("sound file", |status| status["refused"] == json!([])).await;
    host.signal("TERM");
    let host = Process::start_in(host.wait().1);
    assert_eq!(host.status().await["releases"], json!([]));
    for number in 0..12 {
        assert_eq!(price(&agent_of(&host, &format!("own_person{number}")).await).await, 250);
    }
    // Published whole, it serves, also after a restart.
    let reply = post(&host, "/catalog/publish?file=mutant.wasm", mutant(1)).await;
    assert_eq!(reply.body["state"], "serving", "{}", reply.text);
    host.signal("TERM");
    let host = Process::start_in(host.wait().1);
    assert_eq!(price(&agent_of(&host, "own_person0").await).await, 255);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_serves_another_version_gives_the_canary_to_nobody() {
    let host = host().await;
    let agents = people(&host, 12).await;
    shared(&host, 50, mutant(1)).await;
    assert!(prices(&agents).await.contains(&255));
    host.drop_in("mutant.wasm", &mutant(99));
    host.wait_for("other version", |status| status["releases"][0]["state"] == "apart").await;
    assert_eq!(prices(&agents).await, [250; 12]);
    host.drop_in("mutant.wasm", &component("mutant"));
    host.wait_for("first version", |status| status["releases"][0]["state"] == "given").await;
    assert!(prices(&agents).await.contains(&255));
    assert_eq!(share(&host, 5, mutant(2)).await.body["conflict"]["reason"], "release_runs");
}

/// Returns the rows of the audit log for an action of `notes`.
async fn rows_of_notes(host: &Host, action: &str) -> Vec<Value> {
    let path = format!("/audit?capability=notes&action={action}&limit=1000");
    host.operate(&path).await.body["entries"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_nested_call_follows_its_person_and_a_delivery_the_served_version() {
    let host = Host::with(&["ledger", "notes"]).await;
    let next = patched(&component("notes"), &[("1.0.0", "1.1.0")]);
    let reply = post(&host, "/catalog/publish?file=notes.wasm&share=50", next).await;
    assert_eq!(reply.body["state"], "shared", "{}", reply.text);
    let agents = people(&host, 12).await;
    for account in ["bank", "ada"] {
        agents[0].result("ledger", json!({ "action": "open", "account": account })).await;
    }
    let transfer = json!({ "from": "bank", "to": "ada", "amount": 1 });
    let mut own = BTreeMap::new();
    for (number, agent) in agents.iter().enumerate() {
        let note = format!("n{number}");
        let pay = json!({ "action": "pay_through", "order": transfer, "note": note });
        agent.result("ledger", pay).await;
        let read = agent.call("notes", json!({ "action": "get", "id": note })).await;
        own.insert(format!("own_person{number}"), read.body["meta"]["version"].clone());
    }
    let nested: BTreeMap<String, Value> = rows_of_notes(&host, "add_internal")
        .await
        .into_iter()
        .map(|row| (row["owner_id"].as_str().unwrap().to_owned(), row["version"].clone()))
        .collect();
    assert_eq!(nested, own);
    let versions: BTreeSet<&str> = own.values().map(|version| version.as_str().unwrap()).collect();
    assert_eq!(versions, BTreeSet::from(["1.0.0", "1.1.0"]));
    host.wait_until_settled().await;
    let delivered = rows_of_notes(&host, "on_transferred").await;
    assert!(!delivered.is_empty());
    assert!(delivered.iter().all(|row| row["version"] == "1.0.0"), "{delivered:#?}");
}

#[test]
fn the_documentation_has_the_rules() {
    let folder = env!("CARGO_MANIFEST_DIR");
    let text = fs::read_to_string(format!("{folder}/../../docs/operations.md")).unwrap();
    for rule in &RELEASE_RULES {
        let row = format!("| `{}` | {} |", rule.name, rule.sentence());
        assert!(text.contains(&row), "{row}");
    }
}
