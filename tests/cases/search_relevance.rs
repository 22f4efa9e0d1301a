//! The relevance of searches, by the listings that people expect: `tests/corpora/matching/*` holds listings
//! (`listings.json`) and searches in five languages with the listings that should be found (`searches.json`).

use crate::harness::listings::{Lister, host};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The set that is checked: nobody reads it when rules are written, so nothing of it is printed but the figure. The
/// environment variable `MATCHING_CORPUS` chooses another one.
const CHECKED: &str = "held_out";
/// The number of places of a ranking that count.
const TOP: usize = 10;
/// The number of listings that a person may have.
const MOST_OF_A_PERSON: usize = 20;
/// The lowest mean share of the expected listings among the first ten.
const LOWEST_RECALL: f64 = 0.9;

fn read(set: &str, file: &str) -> Vec<Value> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpora/matching");
    let text = std::fs::read_to_string(format!("{folder}/{set}/{file}.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_in_plain_words_find_what_people_expect() {
    let chosen = std::env::var("MATCHING_CORPUS").ok();
    let set = chosen.as_deref().unwrap_or(CHECKED);
    let host = host().await;
    let mut of_year: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
    for listing in read(set, "listings") {
        let year = listing["person"]["birth_year"].as_u64().unwrap();
        of_year.entry(year).or_default().push(listing);
    }
    let reader = Lister::with_birth_year(&host, 1970).await;
    let mut keys: BTreeMap<String, String> = BTreeMap::new();
    for (year, listings) in of_year {
        for listings in listings.chunks(MOST_OF_A_PERSON) {
            let person = Lister::with_birth_year(&host, year as u16).await;
            // Connected people see listings with the visibility `network` too.
            reader.relate("connect", &person).await;
            person.relate("accept", &reader).await;
            for listing in listings {
                let mut input = listing["input"].clone();
                input.as_object_mut().unwrap().remove("visibility");
                let listed = person.result("create", input).await;
                assert_eq!(listed["state"], "active", "{listing:#} {listed:#}");
                let text = |value: &Value| value.as_str().unwrap().to_owned();
                keys.insert(text(&listed["listing_id"]), text(&listing["key"]));
            }
        }
    }
    let searches = read(set, "searches");
    let mut recall = 0.0;
    for labelled in &searches {
        let mut search = labelled["filters"].clone();
        search["q"] = labelled["text"].clone();
        search["limit"] = json!(TOP);
        let found = reader.search(search.clone()).await;
        let found: Vec<&str> =
            found.iter().filter_map(|id| keys.get(id)).map(String::as_str).collect();
        let expected = labelled["expected"].as_array().unwrap();
        let is_found = |key: &&Value| found.contains(&key.as_str().unwrap());
        let hits = expected.iter().filter(is_found).count();
        let share = hits as f64 / expected.len().min(TOP) as f64;
        if share < 1.0 && set != CHECKED {
            println!("{share:.2} {search}: found {found:?}, expected {expected:?}");
        }
        recall += share / searches.len() as f64;
    }
    println!("{set}: recall@{TOP} {recall:.3} of {} searches", searches.len());
    assert!(recall >= LOWEST_RECALL, "recall {recall}");
}
