//! Rounds the numbers and dates of a listing, for comparisons of people who are not connected yet:
//! however often a comparison is repeated, it reveals only the rounded values.

use people_kit::listings::{Compensation, Profile};
use serde_json::Value;

/// Numbers below this are not rounded.
const SMALL: f64 = 20.0;

/// Returns a listing with its numbers and dates rounded, and without the age of its owner.
#[must_use]
pub fn round_values(mut profile: Profile) -> Profile {
    for value in profile.attributes.values_mut().chain(profile.said.values_mut()) {
        *value = round_value(value);
    }
    profile.age_at_least = None;
    profile.compensation = profile.compensation.map(|pay| Compensation {
        min: pay.min.map(round_number),
        max: pay.max.map(round_number),
        ..pay
    });
    profile
}

fn round_value(value: &Value) -> Value {
    match value {
        Value::Number(given) => match given.as_f64().map(round_number) {
            Some(rounded) if rounded.fract() == 0.0 && rounded.abs() < 1e15 => {
                Value::from(rounded as i64)
            }
            Some(rounded) => rounded.into(),
            None => value.clone(),
        },
        Value::String(date) if crate::days(date).is_some() => half_month(date).into(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), round_value(value))).collect()
        }
        _ => value.clone(),
    }
}

/// Rounds a number to a multiple of a step, which is a fiftieth to a tenth of its size.
fn round_number(given: f64) -> f64 {
    if given.abs() < SMALL {
        return given;
    }
    let power = 10_f64.powf(given.abs().log10().floor());
    let step = power / if given.abs() / power < 2.0 { 10.0 } else { 5.0 };
    (given / step).round() * step
}

/// Rounds a date down to the first or the fifteenth day of its month.
fn half_month(date: &str) -> String {
    let (month, day) = date.split_at(date.len().min(8));
    format!("{month}{}", if day < "15" { "01" } else { "15" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_that_round_alike_are_equal() {
        assert_eq!(round_value(&json!(3620)), round_value(&json!(3650)));
        assert_eq!(round_value(&json!("2027-01-15")), round_value(&json!("2027-01-31")));
        assert_eq!(round_value(&json!(2)), json!(2));
        assert_eq!(round_value(&json!("Rust")), json!("Rust"));
        assert_ne!(round_value(&json!(3000)), round_value(&json!(4000)));
    }
}
