//! How well searches find the listings that people expect: `tests/corpora/matching/*` holds listings (`listings.json`)
//! and searches in five languages with the listings that should be found (`searches.json`).

use crate::harness::listings::{Lister, host};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The set that is checked: nobody reads it when rules are written. The environment variable
/// `MATCHING_CORPUS` chooses another one.
const CHECKED: &str = "held_out";
/// The number of places of a ranking that count.
const TOP: usize = 10;
/// The number of listings that a person may have.
const MOST_OF_A_PERSON: usize = 20;
/// The lowest mean share of the expected listings among the first ten.
const LOWEST_RECALL: f64 = 0.9;

#[derive(Deserialize)]
struct Listing {
    key: String,
    input: Map<String, Value>,
    person: Person,
}

#[derive(Deserialize)]
struct Person {
    birth_year: u16,
}

#[derive(Deserialize)]
struct Search {
    text: String,
    filters: Map<String, Value>,
    expected: Vec<String>,
}

fn read<T: DeserializeOwned>(set: &str, file: &str) -> Vec<T> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpora/matching");
    let text = std::fs::read_to_string(format!("{folder}/{set}/{file}.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_in_plain_words_find_what_people_expect() {
    let chosen = std::env::var("MATCHING_CORPUS").ok();
    let set = chosen.as_deref().unwrap_or(CHECKED);
    let host = host().await;
    let mut of_year: BTreeMap<u16, Vec<Listing>> = BTreeMap::new();
    for listing in read::<Listing>(set, "listings") {
        of_year.entry(listing.person.birth_year).or_default().push(listing);
    }
    let reader = Lister::with_birth_year(&host, 1970).await;
    let mut keys: BTreeMap<String, String> = BTreeMap::new();
    for (year, listings) in of_year {
        let mut listings = listings.into_iter().peekable();
        while listings.peek().is_some() {
            let person = Lister::with_birth_year(&host, year).await;
            // Connected people see listings with the visibility `network` too.
            reader.relate("connect", &person).await;
            person.relate("accept", &reader).await;
            for Listing { key, mut input, .. } in listings.by_ref().take(MOST_OF_A_PERSON) {
                input.remove("visibility");
                let listed = person.result("create", input.into()).await;
                assert_eq!(listed["state"], "active", "{key}: {listed:#}");
                keys.insert(listed["listing_id"].as_str().unwrap().to_owned(), key);
            }
        }
    }
    let searches: Vec<Search> = read(set, "searches");
    let mut recall = 0.0;
    for Search { text, filters, expected } in &searches {
        let mut filters = filters.clone();
        filters.extend([("q".to_owned(), json!(text)), ("limit".to_owned(), json!(TOP))]);
        let found = reader.search(filters.into()).await;
        let found: Vec<&String> = found.iter().filter_map(|id| keys.get(id)).collect();
        let hits = expected.iter().filter(|key| found.contains(key)).count();
        let share = hits as f64 / expected.len().min(TOP) as f64;
        if share < 1.0 {
            println!("{share:.2} {text}: found {found:?}, expected {expected:?}");
        }
        recall += share / searches.len() as f64;
    }
    println!("{set}: recall@{TOP} {recall:.3} of {} searches", searches.len());
    assert!(recall >= LOWEST_RECALL, "recall {recall}");
}
