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
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

on_both! {
    a_query_beyond_its_quota_is_refused_and_others_go_on
    many_long_queries_of_one_capability_do_not_delay_those_of_another
}

const DOCUMENTS: usize = 10_000;

/// Creates a collection of ten thousand documents.
async fn fill_collection(opened: &Opened) -> Arc<Collection> {
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

fn unit_of_reader(opened: &Opened, capability: &str) -> Unit {
    let mut unit = unit(&opened.store);
    unit.set_reader(&Arc::from(capability));
    unit
}

async fn count(opened: &Opened, capability: &str, things: &Collection) -> Result<u64, StateError> {
    let filter = json!({ "not": { "kind": { "eq": "none" } } }).to_string();
    unit_of_reader(opened, capability).count(things, Some(&filter)).await
}

async fn a_query_beyond_its_quota_is_refused_and_others_go_on(opened: Opened) {
    let things = fill_collection(&opened).await;
    for _again in 0..10 {
        match count(&opened, "hurried", &things).await {
            Err(StateError::Limit(text)) => assert!(text.contains("quota query_ms"), "{text}"),
            other => panic!("{other:?}"),
        }
        // The connections serve another capability with its own limits.
        assert_eq!(count(&opened, "patient", &things).await.unwrap(), DOCUMENTS as u64);
    }
}

/// The number of callers that count at the same time.
const GREEDY: usize = 32;
/// The number of queries of the other capability.
const FINDS: usize = 200;

async fn many_long_queries_of_one_capability_do_not_delay_those_of_another(opened: Opened) {
    let things = fill_collection(&opened).await;
    let opened = Arc::new(opened);
    let (stop, counts) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let mut callers = tokio::task::JoinSet::new();
    for _caller in 0..GREEDY {
        let (opened, things) = (Arc::clone(&opened), Arc::clone(&things));
        let (stop, counts) = (Arc::clone(&stop), Arc::clone(&counts));
        callers.spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                match count(&opened, "greedy", &things).await {
                    Ok(counted) => assert_eq!(counted, DOCUMENTS as u64),
                    // On a busy machine, a count can take longer than its quota.
                    Err(error) => assert!(matches!(error, StateError::Limit(_)), "{error:?}"),
                }
                counts.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    while counts.load(Ordering::Relaxed) < GREEDY {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // If all queries waited in one queue, all counts would end before each of these.
    let mut ended_meanwhile = Vec::new();
    for number in 0..FINDS {
        let before = counts.load(Ordering::Relaxed);
        find(&opened, &things, number).await;
        ended_meanwhile.push(counts.load(Ordering::Relaxed) - before);
    }
    stop.store(true, Ordering::Relaxed);
    callers.join_all().await;
    ended_meanwhile.sort_unstable();
    let most = ended_meanwhile[FINDS * 95 / 100];
    assert!(most < GREEDY / 2, "{ended_meanwhile:?}");
}

/// Searches for one document as another capability.
async fn find(opened: &Opened, things: &Collection, number: usize) {
    let filter = json!({ "number": { "eq": number } }).to_string();
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
    let page = unit_of_reader(opened, "modest").find(things, &query, None).await.unwrap();
    assert_eq!(page.hits.len(), 1);
}
