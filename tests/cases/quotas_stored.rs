//! The quotas of stored data, at the store's own interface, on SQLite and on PostgreSQL.

use crate::{
    cases::store::{Opened, collection, put, unit},
    harness::database::Database,
    on_both,
};
use portolan_store::{
    Attachments, Collection, DatabaseUrl, ExceededQuota, Expectation, Task, TimerChange, TimerKey,
    Unit, Verdict,
};
use portolan_vocabulary::{Quota, Timestamp};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use serde_json::json;

on_both! {
    usage_is_the_sum_of_what_is_stored
    a_unit_over_a_quota_writes_nothing
    of_units_that_fit_one_at_a_time_one_is_committed
    writes_that_free_space_are_permitted_over_the_limit
    tombstones_count_for_a_quota_of_their_own
    a_timer_frees_its_place_when_it_runs
}

fn database(opened: &Opened) -> Database {
    match &opened.url {
        DatabaseUrl::Sqlite(file) => Database::Sqlite(file.clone()),
        DatabaseUrl::Postgres(url) => Database::Postgres(url.clone()),
    }
}

/// Returns the real use of each capability, summed over the rows, and the use that the triggers
/// have counted.
async fn usage(database: &Database) -> [Vec<String>; 2] {
    const ROW: &str =
        "capability || ' ' || documents || ' ' || tombstones || ' ' || bytes || ' ' || timers";
    let real = format!(
        "SELECT {ROW} FROM (
           SELECT capability, sum(documents) AS documents, sum(tombstones) AS tombstones,
             sum(bytes) AS bytes, sum(timers) AS timers FROM (
             SELECT c.capability, count(d.body) AS documents, count(*) - count(d.body) AS tombstones,
               coalesce(sum(octet_length(d.id) + octet_length(d.body)), 0) AS bytes, 0 AS timers
             FROM documents d JOIN collections c ON c.id = d.collection GROUP BY c.capability
             UNION ALL
             SELECT capability || CASE test_mode WHEN 0 THEN '' ELSE ' (test)' END, 0, 0,
               octet_length(name) + octet_length(action) + octet_length(input), 1 FROM timers
           ) AS parts GROUP BY capability
         ) AS sums ORDER BY 1"
    );
    let counted = format!(
        "SELECT {ROW} FROM (
           SELECT capability, CAST(sum(documents) AS BIGINT) AS documents,
             CAST(sum(tombstones) AS BIGINT) AS tombstones, CAST(sum(bytes) AS BIGINT) AS bytes,
             CAST(sum(timers) AS BIGINT) AS timers
           FROM (
             SELECT c.capability, u.documents, u.tombstones, u.bytes, 0 AS timers
             FROM collection_usage u JOIN collections c ON c.id = u.collection
             UNION ALL SELECT capability, 0, 0, bytes, timers FROM timer_usage
           ) AS parts GROUP BY capability
         ) AS sums WHERE documents + tombstones + bytes + timers <> 0 ORDER BY 1"
    );
    [database.texts(&real).await, database.texts(&counted).await]
}

fn timer_key(capability: &str, name: &str, test_mode: bool) -> TimerKey {
    TimerKey { capability: capability.to_owned(), name: name.to_owned(), test_mode }
}

fn timer_change(input: &str) -> TimerChange {
    TimerChange::Set {
        setting: "tmr_1".to_owned(),
        at: Timestamp::from_millis(1),
        action: "act".to_owned(),
        input: input.to_owned(),
    }
}

async fn commit(unit: Unit) -> Verdict {
    unit.commit(Attachments::default()).await.unwrap()
}

/// Returns the quota over which a unit was refused.
async fn exceeded_quota(unit: Unit) -> ExceededQuota {
    match commit(unit).await {
        Verdict::QuotaExceeded(exceeded) => exceeded,
        verdict => panic!("{verdict:?}"),
    }
}

async fn usage_is_the_sum_of_what_is_stored(opened: Opened) {
    let (store, database) = (&opened.store, database(&opened));
    let collections = [
        collection(store, "a", &[]).await,
        collection(store, "a (test)", &[]).await,
        collection(store, "b", &[]).await,
    ];
    let mut random = StdRng::seed_from_u64(7);
    for _ in 0..120 {
        let mut unit = unit(store);
        for _ in 0..random.random_range(1..6) {
            let collection = &collections[random.random_range(0..3)];
            let id = "é".repeat(random.random_range(1..8));
            let body = json!({ "x": "ü".repeat(random.random_range(0..9)) }).to_string();
            let timer = timer_key(["a", "b"][random.random_range(0..2)], &id, random.random());
            match random.random_range(0..6) {
                0..3 => drop(unit.put(collection, &id, body, Expectation::Any).await.unwrap()),
                3 => unit.delete(collection, &id, Expectation::Any).await.unwrap(),
                4 => unit.change_timer(timer, timer_change(&body)),
                _ => unit.change_timer(timer, TimerChange::Cancel),
            }
        }
        assert_eq!(commit(unit).await, Verdict::Committed);
    }
    let [real, counted] = usage(&database).await;
    assert_eq!((real.len(), real), (4, counted));

    // The host's own changes are counted too.
    let later = Timestamp::from_millis(1_800_000_000_000);
    assert!(!store.lease_timers(later, "a", 3).await.unwrap().is_empty());
    assert!(store.drop_timers("b").await.unwrap() > 0);
    store.sweep(later, 1, 1).await.unwrap();
    let [real, counted] = usage(&database).await;
    assert_eq!(real, counted);
    let tombstones = "SELECT CAST(collection AS TEXT) FROM collection_usage
        GROUP BY collection HAVING sum(tombstones) <> 0";
    assert_eq!(database.texts(tombstones).await, Vec::<String>::new());
}

/// Writes documents of the capability `small`, which may have 3 of them, 20 tombstones with them, 1000
/// bytes and 2 timers.
async fn fill(opened: &Opened, ids: &[&str]) -> std::sync::Arc<Collection> {
    let small = collection(&opened.store, "small", &[]).await;
    for id in ids {
        put(&opened.store, &small, id, json!({})).await;
    }
    small
}

async fn a_unit_over_a_quota_writes_nothing(opened: Opened) {
    let (store, database) = (&opened.store, database(&opened));
    let small = fill(&opened, &["a", "b"]).await;
    let other = collection(store, "other", &[]).await;
    let before = usage(&database).await;

    let mut many = unit(store);
    many.put(&other, "other", "{}".to_owned(), Expectation::Any).await.unwrap();
    for id in ["c", "d"] {
        many.put(&small, id, "{}".to_owned(), Expectation::Any).await.unwrap();
    }
    let documents = ExceededQuota {
        capability: "small".to_owned(),
        quota: Quota::Documents,
        limit: 3,
        wait: None,
    };
    assert_eq!(exceeded_quota(many).await, documents);

    let mut large = unit(store);
    let body = json!({ "x": "x".repeat(1000) }).to_string();
    large.put(&small, "a", body, Expectation::Any).await.unwrap();
    assert_eq!(exceeded_quota(large).await.quota, Quota::Bytes);

    let mut timers = unit(store);
    for name in ["one", "two", "three"] {
        timers.change_timer(timer_key("small", name, false), timer_change("{}"));
    }
    assert_eq!(exceeded_quota(timers).await.quota, Quota::Timers);

    let mut input = unit(store);
    input.change_timer(timer_key("small", "one", false), timer_change(&"x".repeat(1000)));
    assert_eq!(exceeded_quota(input).await.quota, Quota::Bytes);

    assert_eq!(usage(&database).await, before);
    // A deletion makes room at once, also within the same unit.
    put(store, &small, "c", json!({})).await;
    let mut swap = unit(store);
    swap.delete(&small, "a", Expectation::Any).await.unwrap();
    swap.put(&small, "d", "{}".to_owned(), Expectation::Any).await.unwrap();
    assert_eq!(commit(swap).await, Verdict::Committed);
    // Test mode has quotas of its own.
    let in_test_mode = collection(store, "small (test)", &[]).await;
    put(store, &in_test_mode, "a", json!({})).await;
}

async fn of_units_that_fit_one_at_a_time_one_is_committed(opened: Opened) {
    let small = fill(&opened, &["a", "b"]).await;
    let mut tasks = Vec::new();
    for number in 0..20 {
        let mut unit = unit(&opened.store);
        let id = format!("new {number}");
        unit.put(&small, &id, "{}".to_owned(), Expectation::Any).await.unwrap();
        tasks.push(tokio::spawn(commit(unit)));
    }
    let mut committed = 0;
    for task in tasks {
        committed += u32::from(task.await.unwrap() == Verdict::Committed);
    }
    assert_eq!(committed, 1);
}

async fn writes_that_free_space_are_permitted_over_the_limit(opened: Opened) {
    let small = fill(&opened, &["a", "b", "c"]).await;
    let more = "INSERT INTO documents (collection, id, revision, body, created_at, updated_at)
                SELECT collection, id || id, 1, body, 1, 1 FROM documents WHERE body = '{}'";
    assert_eq!(database(&opened).execute(more).await, 3);
    let mut change = unit(&opened.store);
    change.put(&small, "aa", "{}".to_owned(), Expectation::Revision(1)).await.unwrap();
    change.delete(&small, "bb", Expectation::Any).await.unwrap();
    assert_eq!(commit(change).await, Verdict::Committed);
    let mut add = unit(&opened.store);
    add.put(&small, "new", "{}".to_owned(), Expectation::Any).await.unwrap();
    assert_eq!(exceeded_quota(add).await.quota, Quota::Documents);
}

async fn tombstones_count_for_a_quota_of_their_own(opened: Opened) {
    let small = fill(&opened, &[]).await;
    for number in 0..20 {
        let id = number.to_string();
        put(&opened.store, &small, &id, json!({})).await;
        let mut unit = unit(&opened.store);
        unit.delete(&small, &id, Expectation::Any).await.unwrap();
        assert_eq!(commit(unit).await, Verdict::Committed);
    }
    let mut add = unit(&opened.store);
    add.put(&small, "new", "{}".to_owned(), Expectation::Any).await.unwrap();
    assert_eq!(exceeded_quota(add).await.quota, Quota::DocumentsAndTombstones);
    // A document that is created again replaces its tombstone.
    put(&opened.store, &small, "7", json!({})).await;
}

async fn a_timer_frees_its_place_when_it_runs(opened: Opened) {
    let store = &opened.store;
    let mut first = unit(store);
    for name in ["one", "two"] {
        first.change_timer(timer_key("small", name, false), timer_change("{}"));
    }
    assert_eq!(commit(first).await, Verdict::Committed);
    let run = |name: &str| Attachments {
        task: Some(Task::Timer {
            key: timer_key("small", name, false),
            setting: "tmr_1".to_owned(),
        }),
        ..Attachments::default()
    };
    // The timer that has run is set again, or another one instead.
    for (ended, next) in [("one", "one"), ("two", "three")] {
        let mut unit = unit(store);
        unit.change_timer(timer_key("small", next, false), timer_change("{}"));
        assert_eq!(unit.commit(run(ended)).await.unwrap(), Verdict::Committed);
    }
    let mut more = unit(store);
    more.change_timer(timer_key("small", "four", false), timer_change("{}"));
    assert_eq!(exceeded_quota(more).await.quota, Quota::Timers);
}
