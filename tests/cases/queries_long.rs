//! Long queries of one capability, beside those of others.

use crate::{
    cases::store::{Opened, unit},
    on_both,
};
use portolan_store::{
    Attachments, Collection, Expectation, StateError, Unit, Verdict,
    query::{Query, Request},
};
use portolan_vocabulary::{self as vocabulary, Index};
use serde_json::json;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

on_both! {
    a_query_beyond_its_quota_is_refused_and_others_go_on
    many_long_queries_of_one_capability_do_not_delay_those_of_another
}

const DOCUMENTS: usize = 10_000;

/// A collection of ten thousand documents.
async fn filled(opened: &Opened) -> Arc<Collection> {
    let index =
        |path: &str| Index { name: path.to_owned(), paths: vec![path.to_owned()], unique: false };
    let declared = [vocabulary::Collection {
        name: "things".to_owned(),
        indexes: vec![index("kind"), index("number")],
        text: Vec::new(),
        geo: None,
        version: 1,
        people: None,
    }];
    let mut declared = opened.store.declare("things", &declared).await.unwrap();
    let things = Arc::new(declared.remove("things").unwrap());
    for part in 0..DOCUMENTS / 1_000 {
        let mut unit = unit(&opened.store);
        for number in part * 1_000..(part + 1) * 1_000 {
            let body = json!({ "kind": format!("kind {}", number % 7), "number": number });
            let id = format!("thing_{number}");
            unit.put(&things, &id, body.to_string(), Expectation::Absent).await.unwrap();
        }
        assert_eq!(unit.commit(Attachments::default()).await.unwrap(), Verdict::Committed);
    }
    things
}

fn reading(opened: &Opened, capability: &str) -> Unit {
    let mut unit = unit(&opened.store);
    unit.set_reader(&Arc::from(capability));
    unit
}

async fn count(opened: &Opened, capability: &str, things: &Collection) -> Result<u64, StateError> {
    let filter = json!({ "not": { "kind": { "eq": "none" } } }).to_string();
    reading(opened, capability).count(things, Some(&filter)).await
}

async fn a_query_beyond_its_quota_is_refused_and_others_go_on(opened: Opened) {
    let things = filled(&opened).await;
    for _again in 0..10 {
        match count(&opened, "hurried", &things).await {
            Err(StateError::Limit(text)) => assert!(text.contains("quota query_ms"), "{text}"),
            other => panic!("{other:?}"),
        }
        // The connections serve others, with the limits of those.
        assert_eq!(count(&opened, "patient", &things).await.unwrap(), DOCUMENTS as u64);
    }
}

async fn many_long_queries_of_one_capability_do_not_delay_those_of_another(opened: Opened) {
    let things = filled(&opened).await;
    let opened = Arc::new(opened);
    let alone = find_for(&opened, &things).await;
    let stop = Arc::new(AtomicBool::new(false));
    let mut callers = tokio::task::JoinSet::new();
    for _caller in 0..32 {
        let (opened, things, stop) = (Arc::clone(&opened), Arc::clone(&things), Arc::clone(&stop));
        callers.spawn(async move {
            let mut times = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                let started = Instant::now();
                match count(&opened, "greedy", &things).await {
                    Ok(counted) => assert_eq!(counted, DOCUMENTS as u64),
                    // On a busy machine, a count can take longer than its quota.
                    Err(error) => assert!(matches!(error, StateError::Limit(_)), "{error:?}"),
                }
                times.push(started.elapsed());
            }
            times
        });
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    let beside = find_for(&opened, &things).await;
    stop.store(true, Ordering::Relaxed);
    let mut greedy: Vec<Duration> = callers.join_all().await.concat();
    greedy.sort_unstable();
    let usual = greedy[greedy.len() / 2];
    println!("others: {alone:?} alone, {beside:?} beside counts of {usual:?}");
    assert!(beside.1 < usual, "{beside:?} beside {usual:?}");
}

/// Another capability searches for two seconds. Returns the median and the 99th percentile of its times.
async fn find_for(opened: &Opened, things: &Collection) -> (Duration, Duration) {
    let mut times = Vec::new();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(2) {
        let filter = json!({ "number": { "eq": times.len() % DOCUMENTS } }).to_string();
        let request = Request {
            filter: Some(&filter),
            text: None,
            near: None,
            within: None,
            order: &[],
            limit: 10,
            unchecked: false,
        };
        let query = Query::new(things.shape(), request).unwrap();
        let started = Instant::now();
        let page = reading(opened, "modest").find(things, &query, None).await.unwrap();
        times.push(started.elapsed());
        assert_eq!(page.hits.len(), 1);
    }
    times.sort_unstable();
    (times[times.len() / 2], times[times.len() * 99 / 100])
}
