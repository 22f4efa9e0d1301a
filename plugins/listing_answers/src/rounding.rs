//! Rounds the numbers and dates of a listing, for comparisons of people who are not connected yet:
//! however often a comparison is repeated, it reveals only the rounded values.

use people_kit::listings::{Compensation, Profile};
use serde_json::Value;

/// Numbers below this are not rounded.
const SMALL: f64 = 20.0;

/// Returns a listing with its numbers and dates rounded, those of its criteria too, and without the age of its owner.
#[must_use]
pub fn round_values(mut profile: Profile) -> Profile {
    for criterion in profile.criteria.must.iter_mut().chain(&mut profile.criteria.want) {
        criterion.value = round_value(&criterion.value);
    }
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

/// Returns whether `round_values` may change a value such as this one. A comparison of such a value with what a listing
/// exactly says, as an index makes it, reveals more than the rounded value.
pub fn is_rounded(value: &Value) -> bool {
    match value {
        Value::Number(given) => given.as_f64().is_some_and(|given| given.abs() >= SMALL),
        Value::String(text) => crate::days(text).is_some(),
        Value::Array(values) => values.iter().any(is_rounded),
        _ => false,
    }
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
        Value::Array(values) => values.iter().map(round_value).collect(),
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

    /// What is compared exactly does not tell two values apart that round alike.
    #[test]
    fn values_that_are_not_rounded_divide_no_band() {
        let numbers: Vec<f64> = (-400..8_000).map(|quarters| f64::from(quarters) / 4.0).collect();
        let asked = (-120..120).map(|quarters| f64::from(quarters) / 4.0);
        let mut bands = 0;
        for asked in asked.filter(|asked| !is_rounded(&json!(asked))) {
            for pair in numbers.windows(2) {
                let [one, other] = pair else { panic!("a window has two") };
                if round_number(*one) == round_number(*other) {
                    assert_eq!(*one >= asked, *other >= asked, "{one} and {other} by {asked}");
                    assert_eq!(*one == asked, *other == asked, "{one} and {other} by {asked}");
                    bands += 1;
                }
            }
        }
        assert!(bands > 0);
        for (value, expected) in [
            (json!(36), true),
            (json!(-20.5), true),
            (json!("2027-01-20"), true),
            (json!(["x", "2027-01-20"]), true),
            (json!(19.75), false),
            (json!("quiet"), false),
            (json!(true), false),
        ] {
            assert_eq!(is_rounded(&value), expected, "{value}");
        }
    }
}
