//! Random documents and filters, and a model of what a filter and an order mean, which knows
//! nothing of keys and tables.

use portolan_store::Counted;
use rand::{RngExt as _, rngs::StdRng, seq::IndexedRandom as _};
use serde_json::{Value, json};
use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

pub const PATHS: [&str; 4] = ["kind", "price", "owner.id", "tags[]"];

pub fn document(random: &mut StdRng) -> Value {
    let kinds = [
        json!("a"),
        json!("b"),
        json!("b\u{0}c"),
        json!("Zoë"),
        json!(""),
        json!(true),
        json!(null),
    ];
    let prices = [
        json!(0),
        json!(-1),
        json!(1.5),
        json!(10),
        json!(9_007_199_254_740_993_i64),
        json!(9_007_199_254_740_992_i64),
        json!(-0.0),
        json!("10"),
        json!(null),
        json!([1]),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1e300),
    ];
    let mut body = json!({});
    if random.random_bool(0.8) {
        body["kind"] = kinds.choose(random).unwrap().clone();
    }
    if random.random_bool(0.8) {
        body["price"] = prices.choose(random).unwrap().clone();
    }
    if random.random_bool(0.5) {
        body["owner"] = json!({ "id": random.random_range(0..4) });
    }
    let tags = [json!("x"), json!("y"), json!("z"), json!(1), json!(null)];
    let count = random.random_range(0..4);
    body["tags"] = (0..count).map(|_| tags.choose(random).unwrap().clone()).collect();
    body
}

pub fn filter(random: &mut StdRng, depth: u32) -> Value {
    let branch = if depth == 0 { 3 } else { random.random_range(0..6) };
    let many = |random: &mut StdRng| -> Vec<Value> {
        (0..random.random_range(0..3)).map(|_| filter(random, depth - 1)).collect()
    };
    match branch {
        0 => json!({ "and": many(random) }),
        1 => json!({ "or": many(random) }),
        2 => json!({ "not": filter(random, depth - 1) }),
        _ => {
            let path = *PATHS.choose(random).unwrap();
            let like = document(random);
            let value = match path {
                "tags[]" => json!("y"),
                "owner.id" => json!(random.random_range(0..4)),
                _ => like[path].clone(),
            };
            let value = if value.is_array() { json!(3) } else { value };
            match random.random_range(0..4) {
                0 => json!({ path: { "exists": random.random_bool(0.5) } }),
                1 => json!({ path: { "in": [value, "b", 10] } }),
                2 => json!({ path: { "eq": value } }),
                _ if value.is_null() => json!({ path: { "eq": null } }),
                _ => {
                    let operator = *["lt", "lte", "gt", "gte"].choose(random).unwrap();
                    json!({ path: { operator: value } })
                }
            }
        }
    }
}

/// Returns the values at a path of a document; `tags[]` has one for each item.
pub fn values<'a>(path: &str, body: &'a Value) -> Vec<&'a Value> {
    match path {
        "tags[]" => body["tags"].as_array().into_iter().flatten().collect(),
        "owner.id" => body.pointer("/owner/id").into_iter().collect(),
        path => body.get(path).into_iter().collect(),
    }
}

/// Returns, for each text, number and boolean at the path, the number of documents that have it.
pub fn expected_counts<'a>(
    path: &str,
    documents: impl Iterator<Item = &'a Value>,
) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for body in documents {
        let scalars =
            values(path, body).into_iter().filter(|value| (2..5).contains(&rank(Some(value))));
        let distinct: BTreeSet<String> = scalars.map(canonical_text).collect();
        distinct.into_iter().for_each(|value| *counts.entry(value).or_default() += 1);
    }
    counts
}

/// Returns the JSON text of a value; a whole number has the same text however it is written.
fn canonical_text(value: &Value) -> String {
    let whole = value.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 1e15);
    whole.map_or_else(|| value.to_string(), |number| format!("{:.0}", number + 0.0))
}

pub fn reported_counts(counts: Vec<Counted>) -> BTreeMap<String, u64> {
    assert!(counts.is_sorted_by(|one, next| one.count >= next.count), "{counts:?}");
    let reported = counts.iter().map(|counted| (canonical_text(&counted.value), counted.count));
    reported.collect()
}

fn rank(value: Option<&Value>) -> u8 {
    match value {
        None => 0,
        Some(Value::Null) => 1,
        Some(Value::Bool(_)) => 2,
        Some(Value::Number(_)) => 3,
        Some(Value::String(_)) => 4,
        Some(_) => 5,
    }
}

pub fn compare(one: Option<&Value>, other: Option<&Value>) -> Ordering {
    let ranks = rank(one).cmp(&rank(other));
    ranks.then_with(|| match (one, other) {
        (Some(Value::Bool(one)), Some(Value::Bool(other))) => one.cmp(other),
        (Some(Value::String(one)), Some(Value::String(other))) => {
            one.as_bytes().cmp(other.as_bytes())
        }
        (Some(one @ Value::Number(_)), Some(other @ Value::Number(_))) => {
            compare_numbers(one, other)
        }
        _ => Ordering::Equal,
    })
}

fn compare_numbers(one: &Value, other: &Value) -> Ordering {
    let whole =
        |value: &Value| value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => one.cmp(&other),
        _ => one.as_f64().unwrap().partial_cmp(&other.as_f64().unwrap()).unwrap(),
    }
}

pub fn satisfies(filter: &Value, body: &Value) -> bool {
    filter.as_object().unwrap().iter().all(|(name, rest)| match name.as_str() {
        "and" => rest.as_array().unwrap().iter().all(|filter| satisfies(filter, body)),
        "or" => rest.as_array().unwrap().iter().any(|filter| satisfies(filter, body)),
        "not" => !satisfies(rest, body),
        path => rest.as_object().unwrap().iter().all(|(operator, wanted)| {
            let values = values(path, body);
            let scalar = |value: &&&Value| rank(Some(value)) < 5;
            let same = |value: &Value, wanted: &Value| {
                rank(Some(value)) == rank(Some(wanted))
                    && compare(Some(value), Some(wanted)) == Ordering::Equal
            };
            let ordered = |fit: fn(Ordering) -> bool| {
                values.iter().filter(scalar).any(|value| {
                    rank(Some(value)) == rank(Some(wanted))
                        && fit(compare(Some(value), Some(wanted)))
                })
            };
            match operator.as_str() {
                "exists" => {
                    values.iter().any(|value| !value.is_null()) == wanted.as_bool().unwrap()
                }
                "eq" => values.iter().filter(scalar).any(|value| same(value, wanted)),
                "in" => values.iter().filter(scalar).any(|value| {
                    wanted.as_array().unwrap().iter().any(|wanted| same(value, wanted))
                }),
                "lt" => ordered(Ordering::is_lt),
                "lte" => ordered(Ordering::is_le),
                "gt" => ordered(Ordering::is_gt),
                "gte" => ordered(Ordering::is_ge),
                other => panic!("{other}"),
            }
        }),
    })
}
