//! Computes whether, and how far, a listing meets the criteria of another one.

pub(crate) use listing_answers::distance_km;
use listing_answers::{are_equal, value_of};
use people_kit::{
    listings::Profile,
    taxonomy::{Criterion, DISTANCE, Operator},
};
use serde_json::Value;
use std::cmp::Ordering;

/// The deviation of a number, relative to the requested one, at which its share falls to 0.
const TOLERANCE: f64 = 0.5;

/// Returns how far `other` meets a criterion of `mine`, from 0 to 1 (fully), and whether only its
/// text states the value; `None` if the value is unknown.
pub(crate) fn met(mine: &Profile, criterion: &Criterion, other: &Profile) -> Option<(f64, bool)> {
    let stated = |share: Option<f64>| share.map(|share| (share, false));
    match criterion.field.as_str() {
        DISTANCE => stated(distance(mine, criterion, other)),
        "remote" => stated(Some(share(are_equal(&other.remote.into(), &criterion.value)))),
        "compensation" => stated(pay(mine, criterion, other)),
        field => value_of(other, field)
            .map(|(value, from_text)| (attribute(criterion, &value), from_text)),
    }
}

fn share(met: bool) -> f64 {
    if met { 1.0 } else { 0.0 }
}

/// Returns how far the distance meets the criterion. A remote listing always meets it.
fn distance(mine: &Profile, criterion: &Criterion, other: &Profile) -> Option<f64> {
    if other.remote {
        return Some(1.0);
    }
    Some(at_most(distance_km(mine, other)?, criterion.value.as_f64()?))
}

/// Returns how far the pay meets the criterion, whose currency and unit are those of `mine`; `None`
/// if `other` has no pay or one in another currency or unit.
fn pay(mine: &Profile, criterion: &Criterion, other: &Profile) -> Option<f64> {
    let (pay, asked) = (other.compensation.as_ref()?, criterion.value.as_f64()?);
    if mine.compensation.as_ref().is_some_and(|mine| mine.kind() != pay.kind()) {
        return None;
    }
    let (low, high) = pay.range();
    Some(match criterion.op {
        Operator::Gte => at_least(high, asked),
        Operator::Lte => at_most(low, asked),
        Operator::Eq | Operator::In => share(low <= asked && asked <= high),
    })
}

fn attribute(criterion: &Criterion, value: &Value) -> f64 {
    let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    let asked = &criterion.value;
    match criterion.op {
        Operator::Eq => share(values.iter().any(|value| are_equal(value, asked))),
        Operator::In => {
            let one_of = asked.as_array().map_or(std::slice::from_ref(asked), Vec::as_slice);
            let is_among = |value: &Value| one_of.iter().any(|asked| are_equal(value, asked));
            share(values.iter().any(is_among))
        }
        Operator::Gte | Operator::Lte => match (value.as_f64(), asked.as_f64()) {
            (Some(value), Some(asked)) if criterion.op == Operator::Gte => at_least(value, asked),
            (Some(value), Some(asked)) => at_most(value, asked),
            _ => share(dates(criterion.op, value, asked)),
        },
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
        ] {
            let found = met(&mine, &criterion(field, op, value.clone()), &other);
            assert_eq!(found, Some((expected, false)), "{field} {op:?} {value}");
        }
        let unknown = criterion("unknown", Operator::Eq, json!(true));
        assert_eq!(met(&mine, &unknown, &other), None);
        let (nearly, _) =
            met(&mine, &criterion("bedrooms", Operator::Gte, json!(3)), &other).unwrap();
        assert!(nearly > 0.3 && nearly < 0.4, "{nearly}");
    }

    #[test]
    fn distances_are_those_of_the_earth() {
        let (mut one, mut other) = (profile("a"), profile("b"));
        one.place = Some(place(37.7749, -122.4194));
        other.place = Some(place(37.8044, -122.2712));
        let distance = distance_km(&one, &other).unwrap();
        assert!((distance - 13.4).abs() < 0.2, "{distance}");
        let most = |km: f64| criterion(DISTANCE, Operator::Lte, json!(km));
        let within = |km: f64| met(&one, &most(km), &other).unwrap().0;
        assert_eq!(within(14.0), 1.0);
        assert!(within(10.0) < 1.0);
        assert_eq!(distance_km(&one, &profile("c")), None);
    }

    fn place(lat: f64, lng: f64) -> people_kit::listings::Place {
        let precision = people_kit::listings::Precision::Neighbourhood;
        people_kit::listings::Place { lat, lng, label: None, precision }
    }
}
