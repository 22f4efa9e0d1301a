//! Many previews reveal no more of a value than its rounded form.

use crate::harness::{
    listings::{Lister, room},
    matching::{Seeker, host},
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The number of values that are tried with each operator.
fn probes() -> u32 {
    if std::env::var_os("PORTOLAN_TEST_FULL").is_some() { 250 } else { 26 }
}

/// Previews a room that is wanted with this criterion, and returns the candidates.
async fn preview(lister: &Lister<'_>, op: &str, value: &Value) -> Vec<Value> {
    let criterion = json!({ "field": "room_area_m2", "op": op, "value": value });
    let body = json!({
        "action": "preview",
        "listing_draft": {
            "category": "home.rent.room", "side": "demand", "title": "A room",
            "attributes": { "move_in_from": "2027-01-01", "max_flatmates": 3 },
            "criteria": { "must": [criterion] },
        },
    });
    let found = lister.agent().result("matching_sessions", body).await;
    found["items"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_previews_tell_no_two_values_apart_that_round_alike() {
    let host = host().await;
    // Both round to 36, and no probe has their digits.
    for area in [35.21, 36.37] {
        let attributes = json!({
            "flatmates": 2, "available_from": "2027-01-01", "pets": "negotiable",
            "room_area_m2": area,
        });
        Seeker::of(&host, room(json!({ "attributes": attributes }))).await;
    }
    let eve = Lister::new(&host).await;
    let mut counts = BTreeSet::new();
    for probe in 0..=probes() {
        let value = 30.0 + 12.0 * f64::from(probe) / f64::from(probes());
        for (op, value) in [
            ("gte", json!(value)),
            ("lte", json!(value)),
            ("eq", json!(value)),
            ("in", json!([value, 30.0])),
        ] {
            let found = preview(&eve, op, &value).await;
            assert!([0, 2].contains(&found.len()), "{op} {value}: {} found", found.len());
            counts.insert((op, found.len()));
            for mut item in found {
                item.as_object_mut().unwrap().remove("published_at");
                let text = item.to_string();
                assert!(!text.contains("35.21") && !text.contains("36.37"), "{text}");
            }
        }
    }
    let both: Vec<_> = ["gte", "lte"].into_iter().flat_map(|op| [(op, 0), (op, 2)]).collect();
    assert!(both.iter().all(|count| counts.contains(count)), "{counts:?}");
}
