//! A node whose clock is five minutes ahead, beside one whose clock is right: nothing is due early, and no work is taken
//! twice.

use crate::{
    cases::store::{keys, postgres as opened, quotas},
    harness::{Agent, Host, Options, PATIENCE, postgres},
};
use portolan_store::{Attachments, Store, TimerChange, TimerKey, Unit, Verdict};
use portolan_vocabulary::{Clock, Timestamp};
use serde_json::json;
use std::time::{Duration, Instant};

const AHEAD: Duration = Duration::from_secs(300);
/// The address of all nodes, so that each takes the tokens of the others.
const ADDRESS: &str = "public_url = \"https://portolan.example\"";

async fn set_timer(store: &Store, name: &str, at: Timestamp) {
    let mut unit = Unit::new(store.clone(), store.clock().now());
    let key = TimerKey { capability: "c".to_owned(), name: name.to_owned(), test_mode: false };
    let (action, input) = ("a".to_owned(), "{}".to_owned());
    unit.change_timer(key, TimerChange::Set { setting: name.to_owned(), at, action, input });
    assert_eq!(unit.commit(Attachments::default()).await.unwrap(), Verdict::Committed);
}

/// Takes the due timers as a node does, and returns their number.
async fn taken(store: &Store) -> usize {
    store.follow_server_clock().await.unwrap();
    store.lease_timers(store.clock().now(), "c", 9).await.unwrap().len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_with_an_early_clock_takes_no_leased_work_and_none_before_it_is_due() {
    let right = opened().await;
    let early = Clock::ahead_by(AHEAD);
    let ahead = Store::open(&right.url, &keys(), early.clone(), quotas()).await.unwrap();
    assert!(early.now() < Timestamp::now().plus(Duration::from_secs(60)), "it is corrected");
    let now = Timestamp::now();
    set_timer(&right.store, "leased", now).await;
    set_timer(&right.store, "later", now.plus(AHEAD / 2)).await;
    assert_eq!(taken(&right.store).await, 1);
    assert_eq!(taken(&ahead).await, 0);
    // What the early node sets is due when it should be on the other, too.
    set_timer(&ahead, "own", ahead.clock().now()).await;
    set_timer(&ahead, "own later", ahead.clock().now().plus(AHEAD / 2)).await;
    let started = Instant::now();
    while taken(&right.store).await != 1 {
        assert!(started.elapsed() < Duration::from_secs(20), "it is due");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!((taken(&right.store).await, taken(&ahead).await), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn timers_of_two_nodes_run_once_and_not_early_if_the_clock_of_one_is_ahead() {
    let url = postgres::database().await;
    let options = || Options::with(&["ledger"]).add_configuration(ADDRESS).postgres(&url);
    let right = Host::start(options()).await;
    let ahead = Host::start_ahead(options(), AHEAD).await;
    let agent = right.claimed_agent().await;
    for account in ["bank", "ada"] {
        agent.result("ledger", json!({ "action": "open", "account": account })).await;
    }
    let early = Agent { host: &ahead, token: agent.token.clone() };
    let schedule = |timer: &str, after_ms: u128| {
        let order = json!({ "from": "bank", "to": "ada", "amount": 1 });
        json!({ "action": "schedule", "timer": timer, "after_ms": after_ms as u64, "order": order })
    };
    let count = async |agent: &Agent<'_>, timer: &str| {
        let body = json!({ "action": "counter", "name": timer });
        agent.result("ledger", body).await["count"].clone()
    };
    for (node, agent) in [("right", &agent), ("ahead", &early)] {
        let later = format!("{node}_later");
        agent.result("ledger", schedule(&later, (AHEAD * 4 / 5).as_millis())).await;
    }
    // Both nodes look for work again and again meanwhile.
    for number in 0..10 {
        let agent = if number % 2 == 0 { &agent } else { &early };
        let timer = format!("now_{number}");
        agent.result("ledger", schedule(&timer, 0)).await;
        let started = Instant::now();
        while count(agent, &timer).await != 1 {
            assert!(started.elapsed() < PATIENCE, "{timer} does not run");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    for number in 0..10 {
        assert_eq!(count(&agent, &format!("now_{number}")).await, 1);
    }
    for node in ["right", "ahead"] {
        assert_eq!(count(&agent, &format!("{node}_later")).await, 0);
    }
}
