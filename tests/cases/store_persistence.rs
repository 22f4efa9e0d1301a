//! The store at its own interface: restarts, retention, and other nodes.

use crate::{
    cases::store::{Opened, body, collection, keys, postgres, put, sqlite, unit},
    harness::PATIENCE,
    on_both,
};
use portolan_store::{
    Attachments, DbError, Expectation, IdempotencyKey, Store, StoredAnswer, TimerChange, TimerKey,
    Unit, Verdict,
};
use portolan_vocabulary::{Clock, Digest, Quotas, Timestamp};
use serde_json::json;

on_both! {
    stored_documents_survive_a_restart
    the_sweep_removes_only_records_past_their_retention
}

async fn stored_documents_survive_a_restart(opened: Opened) {
    let Opened { store, url, _folder } = opened;
    let accounts = collection(&store, "ledger", &[]).await;
    put(&store, &accounts, "a", json!({ "n": 1 })).await;
    store.close().await;
    drop(store);
    let store = Store::open(&url, &keys(), Clock::system(), Quotas::default()).await.unwrap();
    let accounts = collection(&store, "ledger", &[]).await;
    assert_eq!(body(&store, &accounts, "a").await, Some(json!({ "n": 1 })));
}

#[tokio::test]
async fn a_second_host_on_one_file_is_refused() {
    let opened = sqlite().await;
    let second = Store::open(&opened.url, &keys(), Clock::system(), Quotas::default()).await;
    assert!(matches!(second, Err(DbError::InUse(_))));
}

async fn the_sweep_removes_only_records_past_their_retention(opened: Opened) {
    const DAY_MS: u64 = 24 * 3600 * 1000;
    let store = &opened.store;
    let accounts = collection(store, "ledger", &[]).await;
    put(store, &accounts, "kept", json!({})).await;
    put(store, &accounts, "deleted", json!({})).await;
    let mut deleting = unit(store);
    deleting.delete(&accounts, "deleted", Expectation::Any).await.unwrap();
    let now = deleting.now();
    let key = IdempotencyKey {
        agent_id: "agt_1".to_owned(),
        capability: "ledger".to_owned(),
        action: "close".to_owned(),
        key: "a key".to_owned(),
    };
    let answer = StoredAnswer {
        key: key.clone(),
        body_hash: Digest::of(b"body"),
        answer: "{}".to_owned(),
        now,
        expires_at: Timestamp::from_millis(now.as_millis() + DAY_MS),
    };
    let attachments = Attachments { answer: Some(answer), ..Attachments::default() };
    assert_eq!(deleting.commit(attachments).await.unwrap(), Verdict::Committed);
    let after = |days: u64| Timestamp::from_millis(now.as_millis() + days * DAY_MS);

    store.sweep(now, 30, 90).await.unwrap();
    assert!(store.find_answer(&key, now).await.unwrap().is_some());
    store.sweep(after(2), 30, 90).await.unwrap();
    assert!(store.find_answer(&key, now).await.unwrap().is_none());
    let revision = |days: u64| async move {
        store.sweep(after(days), 30, 90).await.unwrap();
        let mut unit = unit(store);
        let accounts = collection(store, "ledger", &[]).await;
        unit.put(&accounts, "deleted", "{}".to_owned(), Expectation::Absent).await.unwrap()
    };
    assert_eq!(revision(29).await, 3);
    assert_eq!(revision(31).await, 1);
    assert_eq!(body(store, &accounts, "kept").await, Some(json!({})));
}

#[tokio::test]
async fn nodes_on_one_database_notify_each_other_of_new_work() {
    let one = postgres().await;
    let other = Store::open(&one.url, &keys(), Clock::system(), Quotas::default()).await.unwrap();
    let wait = async || tokio::time::timeout(PATIENCE, other.wait_for_work()).await.unwrap();
    // The other node looks for work once when it has begun to listen.
    wait().await;
    for number in 0..3 {
        let mut unit = Unit::new(one.store.clone(), Timestamp::now());
        let key = TimerKey { capability: "c".to_owned(), name: "t".to_owned(), test_mode: false };
        let change = TimerChange::Set {
            setting: number.to_string(),
            at: Timestamp::now(),
            action: "a".to_owned(),
            input: "{}".to_owned(),
        };
        unit.change_timer(key, change);
        assert_eq!(unit.commit(Attachments::default()).await.unwrap(), Verdict::Committed);
        wait().await;
    }
    assert_eq!(other.lease_timers(Timestamp::now(), "c", 9).await.unwrap().len(), 1);
    assert_eq!(one.store.lease_timers(Timestamp::now(), "c", 9).await.unwrap().len(), 0);
}
