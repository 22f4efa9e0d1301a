//! The checks of all that is stored after many callers have written transfers: balances, events, their subscriber and the
//! audit log.

use crate::harness::{
    PATIENCE, Process,
    database::Database,
    long_form::{is_full, print_now},
    transfers::{Caller, Transfer, accounts},
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

/// The number of callers that repeat transfers.
const REPEATERS: usize = 8;

/// Compares what callers were answered with all that is stored, repeats the transfers with keys, and stops the nodes. At
/// least `broken` calls have lost their connection.
pub async fn check(nodes: Vec<Process>, token: &str, mut sent: Vec<Transfer>, broken: usize) {
    let caller = Caller::of(&nodes, token);
    let stored = caller.statements().await;
    check_answers(&sent, &stored);
    let lost_connections: usize = sent.iter().map(|transfer| transfer.broken).sum();
    let (acknowledged, unacknowledged): (Vec<_>, Vec<_>) = sent
        .iter()
        .filter(|transfer| !transfer.refused)
        .partition(|transfer| transfer.acknowledged.is_some());
    let done = unacknowledged.iter().filter(|transfer| stored.contains_key(&transfer.memo)).count();
    let (acknowledged, unacknowledged) = (acknowledged.len(), unacknowledged.len());
    assert!(
        acknowledged > 30 && lost_connections >= broken,
        "{acknowledged} acknowledged, {lost_connections} of {broken} connections broken"
    );
    if is_full() {
        print_now(&format!(
            "{acknowledged} acknowledged; {unacknowledged} without an answer, {done} of them done; {lost_connections} connections broken"
        ));
    }

    // A repeated call with the same key gets the first answer, and the transfer is made once.
    let (keyed, mut plain): (Vec<_>, Vec<_>) = sent.drain(..).partition(|transfer| transfer.keyed);
    let mut repeating = Vec::new();
    for (turn, share) in keyed.chunks(keyed.len().div_ceil(REPEATERS)).enumerate() {
        let (mut caller, mut share) = (caller.beginning_at(turn), share.to_vec());
        repeating.push(tokio::spawn(async move {
            for transfer in &mut share {
                caller.repeat(transfer).await;
            }
            share
        }));
    }
    for share in repeating {
        plain.extend(share.await.unwrap());
    }
    let sent = plain;
    let stored = caller.statements().await;
    check_answers(&sent, &stored);
    check_balances(&caller, &stored).await;

    let database = nodes[0].database();
    let started = Instant::now();
    while !database.texts("SELECT lane FROM deliveries LIMIT 1").await.is_empty() {
        assert!(started.elapsed() < 3 * PATIENCE, "deliveries are left");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let delivered = delivered_transfers(&caller).await;
    for node in &nodes {
        node.signal("TERM");
    }
    // One of them may have the database.
    let mut folders = Vec::new();
    for node in nodes {
        let (status, folder) = node.wait();
        assert!(status.success());
        folders.push(folder);
    }
    check_records(&database, &stored, &delivered).await;
}

/// Compares the answers of callers with the stored transfers.
fn check_answers(sent: &[Transfer], stored: &BTreeMap<String, Value>) {
    for transfer in sent {
        let entry = stored.get(&transfer.memo);
        match &transfer.acknowledged {
            Some(result) => {
                let entry = entry.unwrap_or_else(|| panic!("lost: {transfer:?}"));
                let result: Value = serde_json::from_str(result).unwrap();
                assert_eq!(entry["transfer"], result["transfer"], "{transfer:?}");
            }
            None => assert!(entry.is_none() || !transfer.refused, "done: {transfer:?}"),
        }
        if let Some(entry) = entry {
            assert_eq!(
                (&entry["from"], &entry["to"], &entry["amount"]),
                (&json!(transfer.from), &json!(transfer.to), &json!(transfer.amount))
            );
        }
    }
    let known: BTreeSet<_> = sent.iter().map(|transfer| &transfer.memo).collect();
    assert!(stored.keys().all(|memo| known.contains(memo)), "there are transfers that nobody sent");
}

/// Asserts that each balance is the sum of its transfers, and that all balances add up to zero.
async fn check_balances(caller: &Caller, stored: &BTreeMap<String, Value>) {
    let mut expected: BTreeMap<&str, i64> = BTreeMap::new();
    for entry in stored.values() {
        let amount = entry["amount"].as_i64().unwrap();
        *expected.entry(entry["from"].as_str().unwrap()).or_default() -= amount;
        *expected.entry(entry["to"].as_str().unwrap()).or_default() += amount;
    }
    let accounts: Vec<_> = expected.keys().collect();
    let found =
        caller.result("ledger", json!({ "action": "balances", "accounts": accounts })).await;
    let found = found["items"].as_array().unwrap().iter();
    let found: BTreeMap<_, _> = found
        .map(|account| (account["account"].as_str().unwrap(), account["balance"].as_i64().unwrap()))
        .collect();
    assert_eq!(found, expected);
    assert_eq!(found.values().sum::<i64>(), 0);
}

/// Returns the transfers of each account that the subscriber got, in their order.
async fn delivered_transfers(caller: &Caller) -> BTreeMap<String, Value> {
    let mut delivered = BTreeMap::new();
    for account in accounts() {
        let subject = format!("accounts/{account}");
        let ask = json!({ "action": "heard", "subject": subject });
        delivered.insert(subject, caller.result("notes", ask).await["transfers"].take());
    }
    delivered
}

/// Asserts that each transfer has one event, one subscriber's entry and one line in the audit log.
async fn check_records(
    database: &Database,
    stored: &BTreeMap<String, Value>,
    delivered: &BTreeMap<String, Value>,
) {
    let events = "SELECT data FROM events WHERE capability = 'ledger' ORDER BY seq";
    let subjects = "SELECT subject FROM events WHERE capability = 'ledger' ORDER BY seq";
    let (events, subjects) = (database.texts(events).await, database.texts(subjects).await);
    let mut published: BTreeMap<_, _> =
        delivered.keys().map(|subject| (subject.clone(), Vec::new())).collect();
    let mut of: BTreeMap<String, Value> = BTreeMap::new();
    for (event, subject) in events.iter().zip(subjects) {
        let event: Value = serde_json::from_str(event).unwrap();
        let entry = &stored[event["memo"].as_str().unwrap()];
        assert_eq!(
            (&event["transfer"], &event["amount"], &json!(subject)),
            (
                &entry["transfer"],
                &entry["amount"],
                &json!(format!("accounts/{}", entry["from"].as_str().unwrap()))
            )
        );
        published.get_mut(&subject).unwrap().push(event["transfer"].clone());
        let twice = of.insert(event["memo"].as_str().unwrap().to_owned(), event);
        assert_eq!(twice, None, "there is one event for each transfer");
    }
    assert!(of.keys().eq(stored.keys()), "every transfer has its event");
    let published: BTreeMap<_, _> =
        published.into_iter().map(|(subject, transfers)| (subject, json!(transfers))).collect();
    assert_eq!(delivered, &published);

    let audited = "SELECT request_id FROM audit WHERE action = 'transfer' AND outcome = 'ok' ORDER BY request_id";
    let requests = "SELECT request_id FROM events WHERE capability = 'ledger' ORDER BY request_id";
    assert_eq!(database.texts(audited).await, database.texts(requests).await);
}
