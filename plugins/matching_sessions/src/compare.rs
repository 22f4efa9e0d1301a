//! Computes whether, and how far, a listing meets the criteria of another one.

use people_kit::{
    listings::Profile,
    taxonomy::{Criterion, DISTANCE, Operator},
};
use serde_json::Value;
use std::cmp::Ordering;

const EARTH_RADIUS_KM: f64 = 6371.0;
/// The largest deviation of a number, relative to the requested one, that still counts for
/// something.
const TOLERANCE: f64 = 0.5;

/// Returns how far `other` meets a criterion of `mine`: between 0 and 1; 1 if it meets it fully.
pub(crate) fn met(mine: &Profile, criterion: &Criterion, other: &Profile) -> f64 {
    match criterion.field.as_str() {
        DISTANCE => distance(mine, criterion, other),
        "remote" => share(same(&other.remote.into(), &criterion.value)),
        "compensation" => pay(mine, criterion, other),
        field => other.attributes.get(field).map_or(0.0, |value| attribute(criterion, value)),
    }
}

/// Returns the distance in kilometres between the places of two listings on a sphere; `None` if one
/// has no place.
pub(crate) fn distance_km(one: &Profile, other: &Profile) -> Option<f64> {
    let (one, other) = (one.place.as_ref()?, other.place.as_ref()?);
    let (lat, other_lat) = (one.lat.to_radians(), other.lat.to_radians());
    let half = |from: f64, to: f64| ((to - from) / 2.0).sin().powi(2);
    let between = half(lat, other_lat)
        + lat.cos() * other_lat.cos() * half(one.lng.to_radians(), other.lng.to_radians());
    Some(2.0 * EARTH_RADIUS_KM * between.sqrt().min(1.0).asin())
}

fn share(met: bool) -> f64 {
    if met { 1.0 } else { 0.0 }
}

/// Returns how far the distance meets the criterion. A remote listing always meets it.
fn distance(mine: &Profile, criterion: &Criterion, other: &Profile) -> f64 {
    if other.remote {
        return 1.0;
    }
    match (distance_km(mine, other), criterion.value.as_f64()) {
        (Some(distance), Some(most)) => at_most(distance, most),
        _ => 0.0,
    }
}

/// Returns how far the pay meets the criterion. Amounts are compared in the currency and unit of
/// the criterion.
fn pay(mine: &Profile, criterion: &Criterion, other: &Profile) -> f64 {
    let (Some(pay), Some(asked)) = (&other.compensation, criterion.value.as_f64()) else {
        return 0.0;
    };
    if mine.compensation.as_ref().is_some_and(|mine| mine.kind() != pay.kind()) {
        return 0.0;
    }
    let (low, high) = pay.range();
    match criterion.op {
        Operator::Gte => at_least(high, asked),
        Operator::Lte => at_most(low, asked),
        Operator::Eq | Operator::In => share(low <= asked && asked <= high),
    }
}

fn attribute(criterion: &Criterion, value: &Value) -> f64 {
    let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    let asked = &criterion.value;
    match criterion.op {
        Operator::Eq => share(values.iter().any(|value| same(value, asked))),
        Operator::In => {
            let one_of = asked.as_array().map_or(std::slice::from_ref(asked), Vec::as_slice);
            let is_among = |value: &Value| one_of.iter().any(|asked| same(value, asked));
            share(values.iter().any(is_among))
        }
        Operator::Gte | Operator::Lte => match (value.as_f64(), asked.as_f64()) {
            (Some(value), Some(asked)) if criterion.op == Operator::Gte => at_least(value, asked),
            (Some(value), Some(asked)) => at_most(value, asked),
            _ => share(dates(criterion.op, value, asked)),
        },
    }
}

/// Whether two values are equal as in the taxonomy: numbers by their size, texts without regard to
/// case.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::String(one), Value::String(other)) => {
            one.trim().to_lowercase() == other.trim().to_lowercase()
        }
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        _ => one == other,
    }
}

/// Compares dates. ISO 8601 dates have the order of their texts.
fn dates(op: Operator, value: &Value, asked: &Value) -> bool {
    let (Some(value), Some(asked)) = (value.as_str(), asked.as_str()) else { return false };
    match value.cmp(asked) {
        Ordering::Equal => true,
        Ordering::Greater => op == Operator::Gte,
        Ordering::Less => op == Operator::Lte,
    }
}

fn at_least(value: f64, asked: f64) -> f64 {
    nearly(asked - value, asked)
}

fn at_most(value: f64, asked: f64) -> f64 {
    nearly(value - asked, asked)
}

/// Returns 1 if nothing is missing, and less the more is missing.
fn nearly(missing: f64, asked: f64) -> f64 {
    if missing <= 0.0 {
        return 1.0;
    }
    (1.0 - missing / (asked.abs().max(1.0) * TOLERANCE)).clamp(0.0, 0.99)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::examples::profile;
    use serde_json::json;

    fn criterion(field: &str, op: Operator, value: Value) -> Criterion {
        Criterion { field: field.into(), op, value, weight: None }
    }

    #[test]
    fn attributes_are_compared_as_the_taxonomy_does() {
        let mut other = profile("b");
        other.attributes = json!({
            "skills": ["Rust", "SQL"], "bedrooms": 2, "available_from": "2026-12-01", "pets": true
        })
        .as_object()
        .unwrap()
        .clone();
        let mine = profile("a");
        for (field, op, value, expected) in [
            ("skills", Operator::Eq, json!("rust "), 1.0),
            ("skills", Operator::In, json!(["go", "sql"]), 1.0),
            ("skills", Operator::Eq, json!("go"), 0.0),
            ("bedrooms", Operator::Eq, json!(2.0), 1.0),
            ("bedrooms", Operator::Gte, json!(2), 1.0),
            ("bedrooms", Operator::Lte, json!(1), 0.0),
            ("available_from", Operator::Lte, json!("2026-12-01"), 1.0),
            ("available_from", Operator::Gte, json!("2027-01-01"), 0.0),
            ("pets", Operator::Eq, json!(true), 1.0),
            ("unknown", Operator::Eq, json!(true), 0.0),
        ] {
            let found = met(&mine, &criterion(field, op, value.clone()), &other);
            assert_eq!(found, expected, "{field} {op:?} {value}");
        }
        let nearly = met(&mine, &criterion("bedrooms", Operator::Gte, json!(3)), &other);
        assert!(nearly > 0.3 && nearly < 0.4, "{nearly}");
    }

    #[test]
    fn distances_are_those_of_the_earth() {
        let (mut one, mut other) = (profile("a"), profile("b"));
        one.place = Some(place(37.7749, -122.4194));
        other.place = Some(place(37.8044, -122.2712));
        let distance = distance_km(&one, &other).unwrap();
        assert!((distance - 13.4).abs() < 0.2, "{distance}");
        let within = |km: f64| met(&one, &criterion(DISTANCE, Operator::Lte, json!(km)), &other);
        assert_eq!(within(14.0), 1.0);
        assert!(within(10.0) < 1.0);
        assert_eq!(distance_km(&one, &profile("c")), None);
    }

    fn place(lat: f64, lng: f64) -> people_kit::listings::Place {
        let precision = people_kit::listings::Precision::Neighbourhood;
        people_kit::listings::Place { lat, lng, label: None, precision }
    }
}
