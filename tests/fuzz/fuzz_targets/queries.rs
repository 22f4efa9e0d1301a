//! Queries over documents: an object with `filter`, `text`, `order`, `near`, `within`, `limit` and
//! `documents`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portolan_query::{
    Direction, Path, Query, Request, Shape, cursor,
    geo::{Circle, Rectangle},
};
use serde_json::Value;
use std::sync::LazyLock;

const KEY: [u8; 32] = [7; 32];

static SHAPE: LazyLock<Shape> = LazyLock::new(|| {
    let paths = |texts: &[&str]| texts.iter().filter_map(|text| Path::parse(text)).collect();
    let geo = Path::parse("lat").zip(Path::parse("lon"));
    let uniques = vec![paths(&["kind", "tags[]"])];
    Shape::new(paths(&["kind", "price", "owner.id", "tags[]"]), uniques, paths(&["title"]), geo)
        .unwrap()
});

fuzz_target!(|data: &[u8]| {
    let Ok(Value::Object(input)) = serde_json::from_slice::<Value>(data) else { return };
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    let numbers = |name: &str| -> Vec<f64> {
        let list = input.get(name).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_f64).collect()
    };
    let filter = input.get("filter").map(ToString::to_string);
    let near = match numbers("near")[..] {
        [latitude, longitude, radius_m] => Circle::new(latitude, longitude, radius_m).ok(),
        _ => None,
    };
    let within = match numbers("within")[..] {
        [south, west, north, east] => Rectangle::new(south, west, north, east).ok(),
        _ => None,
    };
    let order = input.get("order").and_then(Value::as_object);
    let order: Vec<_> = order
        .into_iter()
        .flatten()
        .map(|(path, ascending)| match ascending {
            Value::Bool(true) => (path.as_str(), Direction::Ascending),
            _ => (path.as_str(), Direction::Descending),
        })
        .collect();
    let request = Request {
        filter: filter.as_deref(),
        text: text("text"),
        near,
        within,
        order: &order,
        limit: input.get("limit").and_then(Value::as_u64).map_or(10, |limit| limit as u32),
        unchecked: false,
    };
    let query = Query::new(&SHAPE, request);
    let documents = input.get("documents").and_then(Value::as_array);
    let entries = documents.into_iter().flatten().map(|document| SHAPE.entry(document));
    let entries: Vec<_> = entries.filter_map(Result::ok).collect();
    let Ok(query) = query else { return };
    let digest = query.digest("fuzz");
    let mut previous = None;
    for (number, entry) in entries.iter().enumerate() {
        let Some(found) = query.finds(entry) else { continue };
        let placed = query.place(entry, found, format!("doc_{number}"));
        let sealed = cursor::seal(&KEY, &digest, &placed);
        let opened = cursor::open(&[KEY], &digest, &sealed, query.order.len()).unwrap();
        assert!(opened.compare(&placed, &query.order).is_eq());
        if let Some(previous) = previous.replace(placed.clone()) {
            let there = placed.compare(&previous, &query.order);
            assert_eq!(there.reverse(), previous.compare(&placed, &query.order));
        }
    }
});
