//! Several nodes that commit to one PostgreSQL: they wait for each other only where they share something.

use crate::cases::store::{Opened, body, collection, keys, postgres, put, quotas, unit};
use portolan_store::{
    Attachments, Audience, Collection, Expectation, NewEvent, NewRecording, QuotaUse, RecordingUse,
    Store, Unit, Verdict,
};
use portolan_vocabulary::{Clock, Timestamp};
use serde_json::{Value, json};
use sqlx::{Connection as _, PgConnection};
use std::{collections::BTreeSet, future::Future, sync::Arc, time::Duration};

const AGENT: &str = "agt_01J00000000000000000000003";
const NODES: usize = 3;

/// A node: a store of its own on the database, with its collection.
struct Node {
    store: Store,
    accounts: Arc<Collection>,
}

async fn node(opened: &Opened) -> Node {
    let store = Store::open(&opened.url, &keys(), Clock::system(), quotas()).await.unwrap();
    let accounts = collection(&store, "ledger", &["number"]).await;
    Node { store, accounts }
}

async fn nodes(opened: &Opened) -> Vec<Arc<Node>> {
    let mut nodes = Vec::new();
    for _ in 0..NODES {
        nodes.push(Arc::new(node(opened).await));
    }
    nodes
}

impl Node {
    async fn put(&self, id: &str, document: Value) {
        put(&self.store, &self.accounts, id, document).await;
    }

    async fn body(&self, id: &str) -> Option<Value> {
        body(&self.store, &self.accounts, id).await
    }

    /// Adds to the amount of a document.
    async fn add(&self, unit: &mut Unit, id: &str, amount: i64) {
        let found = unit.get(&self.accounts, id).await.unwrap().unwrap();
        let document: Value = serde_json::from_str(&found.body).unwrap();
        let document = json!({ "n": document["n"].as_i64().unwrap() + amount });
        unit.put(&self.accounts, id, document.to_string(), Expectation::Any).await.unwrap();
    }

    /// Repeats a unit until it is committed, as the host does with a call.
    async fn repeat<F: Future<Output = Unit>>(&self, run: impl Fn(Unit) -> F) {
        loop {
            match run(unit(&self.store)).await.commit(Attachments::default()).await.unwrap() {
                Verdict::Committed => return,
                Verdict::Conflict(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

/// Runs a task for each node at the same time.
async fn at_once<F: Future<Output = ()> + Send + 'static>(
    nodes: &[Arc<Node>],
    run: impl Fn(usize, Arc<Node>) -> F,
) {
    let tasks = nodes.iter().enumerate().map(|(place, node)| run(place, Arc::clone(node)));
    let tasks: Vec<_> = tasks.map(tokio::spawn).collect();
    for task in tasks {
        task.await.unwrap();
    }
}

/// Commits units at the same time, and returns how many of them were committed.
async fn committed(units: Vec<Unit>) -> usize {
    let commits = units.into_iter().map(|unit| tokio::spawn(unit.commit(Attachments::default())));
    let mut committed = 0;
    for commit in commits.collect::<Vec<_>>() {
        committed += usize::from(commit.await.unwrap().unwrap() == Verdict::Committed);
    }
    committed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_hangs_in_a_commit_stops_only_its_own_documents() {
    let opened = postgres().await;
    let (stuck, other) = (node(&opened).await, Arc::new(node(&opened).await));
    for id in ["a", "b"] {
        other.put(id, json!({ "n": 1 })).await;
    }
    let portolan_store::DatabaseUrl::Postgres(url) = &opened.url else { panic!("PostgreSQL") };
    let mut row = PgConnection::connect(url).await.unwrap();
    let lock = "BEGIN; SELECT FROM documents WHERE id = 'a' FOR UPDATE";
    sqlx::raw_sql(lock).execute(&mut row).await.unwrap();
    let waiting = tokio::spawn(async move {
        stuck.put("a", json!({ "n": 2 })).await;
    });
    // Until the commit has its locks and waits for the row.
    let waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'";
    let mut looker = PgConnection::connect(url).await.unwrap();
    while sqlx::query_scalar::<_, i64>(waits).fetch_one(&mut looker).await.unwrap() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }

    other.put("b", json!({ "n": 2 })).await;
    other.put("c", json!({ "n": 2 })).await;
    // If units are committed together, one that shares a document with the other node fails by itself.
    let blocked = {
        let other = Arc::clone(&other);
        tokio::spawn(async move {
            let mut unit = unit(&other.store);
            other.add(&mut unit, "a", 1).await;
            unit.commit(Attachments::default()).await
        })
    };
    let mut beside = Vec::new();
    for number in 0..8 {
        let other = Arc::clone(&other);
        beside.push(tokio::spawn(async move {
            other.put(&format!("beside {number}"), json!({ "n": 1 })).await;
        }));
    }
    for task in beside {
        task.await.unwrap();
    }
    assert!(!waiting.is_finished(), "the row was locked meanwhile");
    assert!(blocked.await.unwrap().is_err());
    row.close().await.unwrap();
    waiting.await.unwrap();
    assert_eq!(other.body("a").await.unwrap(), json!({ "n": 2 }));
}

fn recording(number: u64, people: &[&str]) -> NewRecording {
    NewRecording {
        request_id: format!("req_{number}"),
        at: Timestamp::from_millis(number),
        capability: "ledger".to_owned(),
        action: "get".to_owned(),
        version: "1.0.0".to_owned(),
        digest: String::new(),
        outcome: "ok".to_owned(),
        failed: false,
        test_mode: false,
        capabilities: BTreeSet::from(["ledger".to_owned()]),
        people: people.iter().map(|id| (*id).to_owned()).collect(),
        content: b"[]".to_vec(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recordings_are_written_beside_commits_and_leave_with_a_person() {
    let opened = postgres().await;
    let (one, other) = (node(&opened).await, node(&opened).await);
    let portolan_store::DatabaseUrl::Postgres(url) = &opened.url else { panic!("PostgreSQL") };
    let mut table = PgConnection::connect(url).await.unwrap();
    sqlx::raw_sql("BEGIN; LOCK TABLE recordings").execute(&mut table).await.unwrap();
    let writing = tokio::spawn(async move {
        let recordings = vec![recording(1, &[AGENT]), recording(2, &[AGENT]), recording(3, &[])];
        (one.store.add_recordings(recordings).await.unwrap(), one)
    });
    let waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'relation'";
    let mut looker = PgConnection::connect(url).await.unwrap();
    while sqlx::query_scalar::<_, i64>(waits).fetch_one(&mut looker).await.unwrap() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    other.put("a", json!({ "n": 1 })).await;
    assert!(!writing.is_finished(), "the table was locked meanwhile");
    table.close().await.unwrap();
    let (written, one) = writing.await.unwrap();
    assert_eq!(written, 3);
    let read = other.store.recording("req_1").await.unwrap().unwrap();
    assert_eq!(read.content.as_deref(), Some(b"[]".as_slice()));

    other.store.erase_person(&[AGENT.to_owned()], Timestamp::from_millis(0)).await.unwrap();
    assert!(one.store.recording("req_1").await.unwrap().is_none());
    assert_eq!(one.store.add_recordings(vec![recording(4, &[AGENT])]).await.unwrap(), 0);
    let all = RecordingUse { calls: 10, bytes: u64::MAX };
    one.store.trim_recordings(Timestamp::from_millis(0), all).await.unwrap();
    assert_eq!(one.store.recording_use().await.unwrap().calls, 1);
    one.store.trim_recordings(Timestamp::from_millis(4), all).await.unwrap();
    assert_eq!(one.store.recording_use().await.unwrap().calls, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transfers_of_several_nodes_never_create_or_lose_money() {
    const ACCOUNTS: usize = 5;
    let opened = postgres().await;
    let nodes = nodes(&opened).await;
    for id in 0..ACCOUNTS {
        nodes[0].put(&id.to_string(), json!({ "n": 100 })).await;
    }
    at_once(&nodes, |place, node| async move {
        for round in 0..40 {
            let (from, to) = ((place + round) % ACCOUNTS, (place * 3 + round * 2 + 1) % ACCOUNTS);
            let node = &node;
            node.repeat(|mut unit| async move {
                node.add(&mut unit, &from.to_string(), -1).await;
                node.add(&mut unit, &to.to_string(), 1).await;
                unit
            })
            .await;
        }
    })
    .await;
    let mut total = 0;
    for id in 0..ACCOUNTS {
        total += nodes[1].body(&id.to_string()).await.unwrap()["n"].as_i64().unwrap();
    }
    assert_eq!(total, 100 * ACCOUNTS as i64);
}

/// Each unit reads two documents and writes one of them, if both are still free. Were both committed, neither
/// would have seen the other's write.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn write_skew_over_two_nodes_is_a_conflict() {
    let opened = postgres().await;
    let nodes = nodes(&opened).await;
    for round in 0..30 {
        let (left, right) = (format!("left {round}"), format!("right {round}"));
        let mut units = Vec::new();
        for (node, own) in [(&nodes[0], &left), (&nodes[1], &right)] {
            let mut unit = unit(&node.store);
            let both = [left.as_str(), right.as_str()];
            // The units have read that the documents do not exist.
            assert!(unit.get_many(&node.accounts, &both).await.unwrap() == [None, None]);
            let document = json!({ "n": 1 }).to_string();
            unit.put(&node.accounts, own, document, Expectation::Absent).await.unwrap();
            units.push(unit);
        }
        assert_eq!(committed(units).await, 1, "round {round}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_the_claims_of_several_nodes_wins() {
    let opened = postgres().await;
    let nodes = nodes(&opened).await;
    for round in 0..20 {
        let mut units = Vec::new();
        for (place, node) in nodes.iter().enumerate() {
            let mut unit = unit(&node.store);
            let (id, document) = (format!("{round} {place}"), json!({ "number": round }));
            unit.put(&node.accounts, &id, document.to_string(), Expectation::Any).await.unwrap();
            units.push(unit);
        }
        assert_eq!(committed(units).await, 1, "round {round}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_inbox_of_an_agent_has_no_gaps_though_several_nodes_fill_it() {
    const EVENTS: u64 = 30;
    let opened = postgres().await;
    let nodes = nodes(&opened).await;
    at_once(&nodes, |_, node| async move {
        for _ in 0..EVENTS {
            let now = Timestamp::from_millis(1_700_000_000_000);
            let mut unit = unit(&node.store);
            let audience = Audience::Agent(AGENT.to_owned());
            unit.publish(NewEvent::of_host("herald.told", "town", audience, &json!({}), now));
            let verdict = unit.commit(Attachments::default()).await.unwrap();
            assert_eq!(verdict, Verdict::Committed);
        }
    })
    .await;
    let entries = nodes[0].store.unacknowledged(AGENT, 0, &[], 10_000).await.unwrap();
    let sequences: Vec<u64> = entries.iter().map(|entry| entry.seq).collect();
    assert_eq!(sequences, (1..=EVENTS * NODES as u64).collect::<Vec<_>>());
}

async fn documents_used(store: &Store) -> u64 {
    let uses = store.quota_uses().await.unwrap();
    let of_ledger =
        |used: &&QuotaUse| (used.capability.as_str(), used.quota) == ("ledger", "documents");
    uses.iter().find(of_ledger).map_or(0, |used| used.used)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_several_nodes_store_is_counted_together() {
    const DOCUMENTS: usize = 20;
    let opened = postgres().await;
    let nodes = nodes(&opened).await;
    at_once(&nodes, |place, node| async move {
        for number in 0..DOCUMENTS {
            node.put(&format!("{place} {number}"), json!({ "n": 1 })).await;
        }
    })
    .await;
    let all = (DOCUMENTS * NODES) as u64;
    assert_eq!(documents_used(&nodes[0].store).await, all);
    // A node that starts adds up what the others have counted; they count on.
    let late = node(&opened).await;
    assert_eq!(documents_used(&late.store).await, all);
    let mut removal = unit(&nodes[0].store);
    removal.delete(&nodes[0].accounts, "1 1", Expectation::Any).await.unwrap();
    let removed = removal.commit(Attachments::default()).await.unwrap();
    assert_eq!(removed, Verdict::Committed);
    late.put("late", json!({ "n": 1 })).await;
    late.put("later", json!({ "n": 1 })).await;
    assert_eq!(documents_used(&nodes[2].store).await, all + 1);
}
