//! Queries on both databases, against a model that knows nothing of keys and tables.

use crate::{
    cases::store::Opened,
    harness::queries::{
        PATHS, compare, document, expected_counts, filter, reported_counts, satisfies, values,
    },
    on_all,
};
use portolan_store::{
    Attachments, Collection, Expectation, StateError, Unit, Verdict,
    query::{
        Direction, Query, Request,
        geo::{Circle, Rectangle},
    },
};
use portolan_vocabulary::{self as vocabulary, Geo, Index, Timestamp};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};
use serde_json::{Value, json};
use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

on_all! {
    filters_orders_and_cursors_agree_with_the_model
    texts_and_places_are_found
    documents_with_some_of_the_words_agree_with_the_model
    only_the_newest_of_very_many_full_text_hits_are_ranked
    cursors_are_valid_for_their_own_query_only
    a_document_found_by_an_unchecked_query_may_change
    a_page_of_large_documents_is_cut_and_nothing_is_skipped
    an_index_that_is_declared_later_covers_existing_documents
}

fn declaration(paths: &[&str]) -> vocabulary::Collection {
    let index = |path: &&str| Index {
        name: path.replace("[]", "s").replace('.', "_"),
        paths: vec![(*path).to_owned()],
        unique: false,
    };
    vocabulary::Collection {
        name: "things".to_owned(),
        indexes: paths.iter().map(index).collect(),
        text: vec!["title".to_owned(), "body".to_owned()],
        geo: Some(Geo { latitude: "at.lat".to_owned(), longitude: "at.lng".to_owned() }),
        version: 1,
        people: None,
    }
}

async fn declare(opened: &Opened, paths: &[&str]) -> Collection {
    let declared = [declaration(paths)];
    opened.store.declare("things", &declared).await.unwrap().remove("things").unwrap()
}

fn unit(opened: &Opened) -> Unit {
    Unit::new(opened.store.clone(), Timestamp::from_millis(1_700_000_000_000))
}

async fn put(unit: &mut Unit, things: &Collection, documents: &BTreeMap<String, Value>) {
    for (id, body) in documents {
        unit.put(things, id, body.to_string(), Expectation::Any).await.unwrap();
    }
}

async fn commit(unit: Unit) {
    assert_eq!(unit.commit(Attachments::default()).await.unwrap(), Verdict::Committed);
}

/// Returns the ids that a query finds in their order, read page by page.
async fn pages(unit: &mut Unit, things: &Collection, request: Request<'_>) -> Vec<String> {
    let query = Query::new(things.shape(), request).unwrap();
    let (mut ids, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let page = unit.find(things, &query, cursor.as_deref()).await.unwrap();
        ids.extend(page.hits.into_iter().map(|hit| hit.document.id));
        cursor = page.next;
        if cursor.is_none() {
            return ids;
        }
        assert!(ids.len() < 1000, "the pages do not end");
    }
}

const PLAIN: Request<'_> = Request {
    filter: None,
    text: None,
    near: None,
    within: None,
    order: &[],
    limit: 7,
    unchecked: false,
};

async fn filters_orders_and_cursors_agree_with_the_model(opened: Opened) {
    let mut random = StdRng::seed_from_u64(7);
    let things = declare(&opened, &PATHS).await;
    let mut documents: BTreeMap<String, Value> = BTreeMap::new();
    for number in 0..80 {
        documents.insert(format!("doc {number}"), document(&mut random));
    }
    let mut first = unit(&opened);
    put(&mut first, &things, &documents).await;
    commit(first).await;

    // The unit that queries has itself written, replaced and deleted documents.
    let mut asking = unit(&opened);
    for number in 70..95 {
        let body = document(&mut random);
        let id = format!("doc {number}");
        asking.put(&things, &id, body.to_string(), Expectation::Any).await.unwrap();
        documents.insert(id, body);
    }
    for id in ["doc 3", "doc 33", "doc 77"] {
        asking.delete(&things, id, Expectation::Any).await.unwrap();
        documents.remove(id);
    }
    for round in 0..120 {
        let filter = filter(&mut random, 3);
        let text = filter.to_string();
        let order: Vec<(&str, Direction)> = (0..random.random_range(0..3))
            .map(|_| {
                let path = *PATHS[..3].choose(&mut random).unwrap();
                let down = random.random_bool(0.5);
                (path, if down { Direction::Descending } else { Direction::Ascending })
            })
            .collect();
        let limit = random.random_range(1..30);
        let request = Request { filter: Some(&text), order: &order, limit, ..PLAIN };
        let found = pages(&mut asking, &things, request).await;
        let mut expected: Vec<_> =
            documents.iter().filter(|(_, body)| satisfies(&filter, body)).collect();
        expected.sort_by(|(one_id, one), (other_id, other)| {
            let keys = order.iter().map(|(path, direction)| {
                let first = |body| values(path, body).first().copied();
                let ordering = compare(first(one), first(other));
                if *direction == Direction::Descending { ordering.reverse() } else { ordering }
            });
            let ordering = keys.fold(Ordering::Equal, Ordering::then);
            ordering.then_with(|| one_id.cmp(other_id))
        });
        let expected: Vec<_> = expected.into_iter().map(|(id, _)| id.clone()).collect();
        assert_eq!(found, expected, "round {round}: {text} by {order:?}");
        let count = asking.count(&things, Some(&text)).await.unwrap();
        assert_eq!(count, expected.len() as u64, "round {round}: {text}");
        let paths: Vec<_> = PATHS.sample(&mut random, 3).copied().collect();
        let query = Query::new(things.shape(), request).unwrap();
        let asked: Vec<_> = paths.iter().map(|path| (*path).to_owned()).collect();
        let counts = asking.count_by(&things, &query, &asked).await.unwrap();
        for (path, counts) in paths.into_iter().zip(counts) {
            let fitting = documents.values().filter(|body| satisfies(&filter, body));
            assert_eq!(
                reported_counts(counts),
                expected_counts(path, fitting),
                "round {round}: {text} by {path}"
            );
        }
    }
}

async fn texts_and_places_are_found(opened: Opened) {
    let things = declare(&opened, &["kind"]).await;
    let place = |lat: f64, lng: f64| json!({ "lat": lat, "lng": lng });
    let documents = BTreeMap::from([
        (
            "carpenter".to_owned(),
            json!({ "title": "Carpenter's workshop", "body": "wood", "at": place(37.7749, -122.4194) }),
        ),
        (
            "bench".to_owned(),
            json!({ "title": "A bench", "body": "made by carpenters of Zürich", "at": place(37.8044, -122.2712) }),
        ),
        (
            "robot".to_owned(),
            json!({ "title": "Robot's \"quoted\" OR title*", "body": "steel", "at": place(37.3382, -121.8863) }),
        ),
        (
            "fiji".to_owned(),
            json!({ "title": "Fiji", "body": "island", "at": place(-17.7134, 178.0650) }),
        ),
        (
            "samoa".to_owned(),
            json!({ "title": "Samoa", "body": "island", "at": place(-13.7590, -172.1046) }),
        ),
        ("nowhere".to_owned(), json!({ "title": "nowhere" })),
    ]);
    let (committed, own): (BTreeMap<_, _>, BTreeMap<_, _>) =
        documents.into_iter().partition(|(id, _)| id != "robot");
    let mut first = unit(&opened);
    put(&mut first, &things, &committed).await;
    commit(first).await;
    let mut asking = unit(&opened);
    put(&mut asking, &things, &own).await;

    let by_relevance = [("relevance", Direction::Descending)];
    for (text, expected) in [
        ("carpenter", vec!["carpenter", "bench"]),
        ("CARPENTERS zurich", vec!["bench", "carpenter"]),
        ("quoted or", vec!["robot"]),
        ("island", vec!["fiji", "samoa"]),
        // Documents with all of the words come first, then documents with a part of them.
        ("carpenters of zurich", vec!["bench", "carpenter"]),
        ("carpenter robot", vec!["carpenter", "bench", "robot"]),
        ("fiji|samoa island", vec!["samoa", "fiji"]),
        // A quarter of five words is more than one.
        ("carpenter plumber painter roofer glazier", vec![]),
    ] {
        let request = Request { text: Some(text), order: &by_relevance, limit: 1, ..PLAIN };
        assert_eq!(pages(&mut asking, &things, request).await, expected, "{text}");
    }
    let request = Request { text: Some("carpenter robot"), ..PLAIN };
    assert!(
        pages(&mut asking, &things, request).await.is_empty(),
        "any other order needs all words"
    );
    let by_distance = [("distance", Direction::Ascending)];
    let near = |lat, lng, radius| Some(Circle::new(lat, lng, radius).unwrap());
    for (circle, expected) in [
        (near(37.77, -122.42, 5_000.0), vec!["carpenter"]),
        (near(37.77, -122.42, 100_000.0), vec!["carpenter", "bench", "robot"]),
        (near(-16.0, 179.9, 1_500_000.0), vec!["fiji", "samoa"]),
    ] {
        let request = Request { near: circle, order: &by_distance, limit: 1, ..PLAIN };
        assert_eq!(pages(&mut asking, &things, request).await, expected);
    }
    let pacific = Some(Rectangle::new(-20.0, 170.0, 0.0, -170.0).unwrap());
    let request = Request { within: pacific, ..PLAIN };
    assert_eq!(pages(&mut asking, &things, request).await, ["fiji", "samoa"]);

    let query = Query::new(
        things.shape(),
        Request { near: near(37.7749, -122.4194, 20_000.0), order: &by_distance, ..PLAIN },
    );
    let page = asking.find(&things, &query.unwrap(), None).await.unwrap();
    let metres: Vec<_> = page.hits.iter().map(|hit| hit.distance_m.unwrap().round()).collect();
    assert_eq!(metres[0], 0.0);
    assert!((metres[1] - 13_430.0).abs() < 50.0, "{metres:?}");
}

async fn documents_with_some_of_the_words_agree_with_the_model(opened: Opened) {
    // Each has a length of its own, because the longest six find documents without all words.
    const WORDS: [&str; 9] = [
        "oar",
        "boat",
        "chart",
        "anchor",
        "compass",
        "mainsail",
        "navigator",
        "lighthouse",
        "quarterdeck",
    ];
    let mut random = StdRng::seed_from_u64(8);
    let things = declare(&opened, &["kind"]).await;
    let documents: BTreeMap<String, Value> = (0..120)
        .map(|number| {
            let words: Vec<&str> = WORDS.into_iter().filter(|_| random.random_bool(0.4)).collect();
            let kind = if number % 3 == 0 { "a" } else { "b" };
            (format!("t{number:03}"), json!({ "body": words.join(" "), "kind": kind }))
        })
        .collect();
    let (committed, own): (BTreeMap<_, _>, BTreeMap<_, _>) =
        documents.clone().into_iter().partition(|(id, _)| !id.ends_with('7'));
    let mut first = unit(&opened);
    put(&mut first, &things, &committed).await;
    commit(first).await;
    let mut asking = unit(&opened);
    put(&mut asking, &things, &own).await;
    let order = [("relevance", Direction::Descending)];
    for count in 1..=WORDS.len() {
        let sought: Vec<&str> = WORDS.sample(&mut random, count).copied().collect();
        let alternatives = random.random_bool(0.5);
        let terms = sought.iter().map(|word| match alternatives {
            true => format!("{word}|ox"),
            false => (*word).to_owned(),
        });
        let text = terms.collect::<Vec<_>>().join(" ");
        let mut telling = sought.clone();
        telling.sort_by_key(|word| std::cmp::Reverse(word.len()));
        telling.truncate(6);
        let has = |document: &Value| {
            let body = document["body"].as_str().unwrap();
            match sought.iter().all(|word| body.contains(word)) {
                true => WORDS.len(),
                false => telling.iter().filter(|word| body.contains(**word)).count(),
            }
        };
        let expected = documents.iter().filter(|(_, document)| document["kind"] == "b");
        let expected: BTreeMap<&str, usize> = expected
            .map(|(id, document)| (id.as_str(), has(document)))
            .filter(|(_, has)| *has >= telling.len().div_ceil(4))
            .collect();
        let filter = Some(r#"{"kind":{"eq":"b"}}"#);
        let request = Request { filter, text: Some(&text), order: &order, limit: 5, ..PLAIN };
        let found = pages(&mut asking, &things, request).await;
        let numbers: Vec<Option<usize>> =
            found.iter().map(|id| expected.get(id.as_str()).copied()).collect();
        assert!(numbers.iter().all(Option::is_some), "{text}: {found:?}");
        assert!(numbers.is_sorted_by(|one, other| one >= other), "{text}: {numbers:?}");
        let ids: BTreeSet<&str> = found.iter().map(String::as_str).collect();
        assert_eq!((ids.len(), found.len()), (expected.len(), expected.len()), "{text}");
    }
}

async fn cursors_are_valid_for_their_own_query_only(opened: Opened) {
    let things = declare(&opened, &["kind"]).await;
    let mut first = unit(&opened);
    let documents = (0..5).map(|number| (format!("{number}"), json!({ "kind": "a" }))).collect();
    put(&mut first, &things, &documents).await;
    commit(first).await;
    let mut asking = unit(&opened);
    let all = Query::new(things.shape(), Request { limit: 2, ..PLAIN }).unwrap();
    let cursor = asking.find(&things, &all, None).await.unwrap().next.unwrap();
    let some = Request { filter: Some(r#"{"kind":{"eq":"a"}}"#), limit: 2, ..PLAIN };
    let some = Query::new(things.shape(), some).unwrap();
    let foreign = asking.find(&things, &some, Some(&cursor)).await;
    assert!(matches!(foreign, Err(StateError::CursorInvalid)));
    let mut forged = cursor.clone().into_bytes();
    forged[5] = if forged[5] == b'A' { b'B' } else { b'A' };
    let forged = String::from_utf8(forged).unwrap();
    for text in [forged.as_str(), "", "x", "'; DROP TABLE documents; --"] {
        let refused = asking.find(&things, &all, Some(text)).await;
        assert!(matches!(refused, Err(StateError::CursorInvalid)), "{text}");
    }
    // A cursor is valid for the same query with another page size.
    let more = Query::new(things.shape(), Request { limit: 3, ..PLAIN }).unwrap();
    let page = asking.find(&things, &more, Some(&cursor)).await.unwrap();
    let ids: Vec<_> = page.hits.iter().map(|hit| hit.document.id.as_str()).collect();
    assert_eq!((ids, page.next), (vec!["2", "3", "4"], None));
}

async fn a_document_found_by_an_unchecked_query_may_change(opened: Opened) {
    let things = declare(&opened, &["kind"]).await;
    let a = |kind: &str| BTreeMap::from([("a".to_owned(), json!({ "kind": kind }))]);
    let mut first = unit(&opened);
    put(&mut first, &things, &a("old")).await;
    commit(first).await;
    for (unchecked, is_read) in [(false, false), (true, false), (true, true)] {
        let mut finding = unit(&opened);
        let request = Request { unchecked, ..PLAIN };
        let query = Query::new(things.shape(), request).unwrap();
        let found = finding.find(&things, &query, None).await.unwrap();
        assert_eq!(found.hits.len(), 1);
        if is_read {
            finding.get(&things, "a").await.unwrap();
        }
        let result = json!({ "kind": "result" }).to_string();
        let name = format!("result {unchecked} {is_read}");
        finding.put(&things, &name, result, Expectation::Any).await.unwrap();
        let mut changing = unit(&opened);
        put(&mut changing, &things, &a("new")).await;
        commit(changing).await;
        let verdict = finding.commit(Attachments::default()).await.unwrap();
        let held = !unchecked || is_read;
        assert_eq!(matches!(verdict, Verdict::Conflict(_)), held, "{unchecked} {is_read}");
        let mut clearing = unit(&opened);
        clearing.delete(&things, &name, Expectation::Any).await.unwrap();
        commit(clearing).await;
    }
}

async fn a_page_of_large_documents_is_cut_and_nothing_is_skipped(opened: Opened) {
    let things = declare(&opened, &["price"]).await;
    let large = |price: u32| json!({ "price": price, "note": "x".repeat(200_000) });
    let mut first = unit(&opened);
    let documents = (0..12).map(|number| (format!("{number:02}"), large(number * 10))).collect();
    put(&mut first, &things, &documents).await;
    commit(first).await;
    // The unit's own writes are sorted before, between and after the documents in the database.
    let mut asking = unit(&opened);
    let mut expected: Vec<(u32, String)> =
        documents.keys().zip(0..).map(|(id, number)| (number * 10, id.clone())).collect();
    for price in [5, 15, 65, 75, 200] {
        let id = format!("own {price}");
        put(&mut asking, &things, &BTreeMap::from([(id.clone(), large(price))])).await;
        expected.push((price, id));
    }
    expected.sort();
    for direction in [Direction::Ascending, Direction::Descending] {
        let order = [("price", direction)];
        let request = Request { order: &order, limit: 100, ..PLAIN };
        let query = Query::new(things.shape(), request).unwrap();
        let page = asking.find(&things, &query, None).await.unwrap();
        assert!(page.hits.len() < 12 && page.next.is_some(), "{}", page.hits.len());
        let ids: Vec<_> = expected.iter().map(|(_, id)| id.clone()).collect();
        assert_eq!(pages(&mut asking, &things, request).await, ids);
        expected.reverse();
    }
}

async fn an_index_that_is_declared_later_covers_existing_documents(opened: Opened) {
    let things = declare(&opened, &["kind"]).await;
    let mut first = unit(&opened);
    let documents = (0..2500).map(|number| (format!("{number:05}"), json!({ "price": number })));
    let mut all: Vec<_> = documents.collect();
    for some in all.chunks_mut(900) {
        let mut unit = unit(&opened);
        put(&mut unit, &things, &some.iter().cloned().collect()).await;
        commit(unit).await;
    }
    let undeclared = Request { filter: Some(r#"{"price":{"gte":2490}}"#), ..PLAIN };
    let refused = Query::new(things.shape(), undeclared).unwrap_err().to_string();
    assert!(refused.contains("declare an index with the path \"price\""), "{refused}");

    let wider = declare(&opened, &["kind", "price"]).await;
    assert_eq!(pages(&mut first, &wider, undeclared).await.len(), 10);
    // A unit that began before keeps the old declaration, and its writes are
    // still in the new index.
    first.put(&things, "late", r#"{"price":5000}"#.to_owned(), Expectation::Any).await.unwrap();
    commit(first).await;
    assert_eq!(pages(&mut unit(&opened), &wider, undeclared).await.len(), 11);
}

async fn only_the_newest_of_very_many_full_text_hits_are_ranked(opened: Opened) {
    const COUNT: usize = 9_000;
    let things = declare(&opened, &PATHS).await;
    let documents = |numbers: std::ops::Range<usize>| -> BTreeMap<String, Value> {
        let title =
            |number: usize| if number.is_multiple_of(7) { "boat boat" } else { "a boat of wood" };
        let document = |number| (format!("t{number:05}"), json!({"title": title(number)}));
        numbers.map(document).collect()
    };
    for start in (0..COUNT).step_by(1_000) {
        let mut unit = unit(&opened);
        put(&mut unit, &things, &documents(start..start + 1_000)).await;
        commit(unit).await;
    }
    let order = [("relevance", Direction::Descending)];
    let request = Request { text: Some("boats"), order: &order, limit: 100, ..PLAIN };
    let query = Query::new(things.shape(), request).unwrap();
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = unit(&opened).find(&things, &query, after.as_deref()).await.unwrap();
        found.extend(page.hits.into_iter().map(|hit| (hit.document.id, hit.relevance.unwrap())));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let ids: BTreeSet<&str> = found.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!((ids.len(), found.len()), (COUNT, COUNT), "each is found once");
    assert!(found.is_sorted_by(|(_, one), (_, other)| one >= other));
    let ranked: BTreeSet<&str> =
        found.iter().filter(|(_, relevance)| *relevance > 0.0).map(|(id, _)| id.as_str()).collect();
    assert!((1_000..3_000).contains(&ranked.len()), "{}", ranked.len());
    let newest = ids.iter().rev().take(ranked.len()).copied().collect();
    assert_eq!(ranked, newest, "the newest are ranked");
}
