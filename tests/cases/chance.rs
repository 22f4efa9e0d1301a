//! The randomness of calls: each call draws other numbers, and a call that is run again draws the same.

use crate::harness::{Agent, Host, Options, PATIENCE, join_all, postgres};
use serde_json::json;
use std::{collections::HashSet, time::Instant};

/// Asserts that so many calls of a bookshelf, which draw `count` numbers each, draw none twice.
pub async fn check_draws(agent: &Agent<'_>, calls: usize, count: usize) {
    let mut drawn = HashSet::new();
    for _ in 0..calls {
        let draw = json!({ "action": "random", "count": count });
        let numbers = agent.result("bookshelf", draw).await["numbers"].clone();
        let numbers = numbers.as_array().unwrap();
        assert_eq!(numbers.len(), count);
        for number in numbers {
            assert!(drawn.insert(number.as_f64().unwrap().to_bits()), "{number} came twice");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_calls_of_a_component_draw_a_thousand_numbers() {
    let granted = "[grants]\nbookshelf = [\"invoke:agent_credits.balance\"]\n";
    let options = Options::with(&["agent_credits", "bookshelf"]).configuration(granted);
    let host = Host::start(options).await;
    host.wait_for_version("bookshelf", "1.0.0").await;
    check_draws(&host.claimed_agent().await, 1_000, 1).await;
}

/// Calls that write the same document at the same time conflict, and the host runs some of them again. Each run logs
/// what it drew.
async fn check_runs_draw_the_same(options: Options) {
    let host = Host::start(options).await;
    let agent = host.claimed_agent().await;
    let started = Instant::now();
    let (mut calls, mut answers) = (0, Vec::new());
    loop {
        let draw = json!({ "action": "same_chance", "id": "contended" });
        for reply in join_all((0..32).map(|_| agent.call("notes", draw.clone()))).await {
            calls += 1;
            match reply.status.as_u16() {
                200 => answers.push(reply.body["result"].clone()),
                // It conflicted with others each time it was run.
                _ => assert_eq!(reply.body["error_code"], "version_conflict", "{}", reply.text),
            }
        }
        let log = host.log();
        let runs: Vec<Vec<_>> = log
            .lines()
            .filter_map(|line| line.split_once("drew "))
            .map(|(_, drawn)| drawn.split_whitespace().take(4).collect())
            .collect();
        let different: HashSet<_> = runs.iter().collect();
        assert_eq!(different.len(), calls, "each call draws once: {runs:?}");
        if runs.len() > calls {
            break;
        }
        assert!(started.elapsed() < PATIENCE, "no call was run again");
    }
    // The last answer is what is stored.
    let stored = agent.result("notes", json!({ "action": "chance", "id": "contended" })).await;
    assert_eq!(stored["draws"], answers.len());
    assert!(answers.contains(&stored), "{stored}: {answers:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_run_again_draws_the_same_on_sqlite() {
    check_runs_draw_the_same(Options::with(&["notes"])).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_run_again_draws_the_same_on_postgres() {
    let options = Options::with(&["notes"]).postgres(&postgres::database().await);
    check_runs_draw_the_same(options).await;
}
