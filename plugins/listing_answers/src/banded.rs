//! Rounds the numbers and dates of a listing, for comparisons of people who are not connected yet:
//! however often a comparison is repeated, it reveals only the rounded values.

use people_kit::listings::{Compensation, Profile};
use serde_json::Value;

/// Numbers below this are not rounded.
const SMALL: f64 = 20.0;

/// Returns a listing with its numbers and dates rounded, and without the age of its owner.
#[must_use]
pub fn banded(mut profile: Profile) -> Profile {
    for value in profile.attributes.values_mut().chain(profile.said.values_mut()) {
        *value = band(value);
    }
    profile.age_at_least = None;
    profile.compensation = profile.compensation.map(|pay| Compensation {
        min: pay.min.map(number),
        max: pay.max.map(number),
        ..pay
    });
    profile
}

fn band(value: &Value) -> Value {
    match value {
        Value::Number(given) => match given.as_f64().map(number) {
            Some(banded) if banded.fract() == 0.0 && banded.abs() < 1e15 => {
                Value::from(banded as i64)
            }
            Some(banded) => banded.into(),
            None => value.clone(),
        },
        Value::String(date) if crate::days(date).is_some() => half_month(date).into(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), band(value))).collect()
        }
        _ => value.clone(),
    }
}

/// Rounds a number to a multiple of a step, which is a fiftieth to a tenth of its size.
fn number(given: f64) -> f64 {
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
    fn values_in_one_band_are_equal() {
        assert_eq!(band(&json!(3620)), band(&json!(3650)));
        assert_eq!(band(&json!("2027-01-15")), band(&json!("2027-01-31")));
        assert_eq!(band(&json!(2)), json!(2));
        assert_eq!(band(&json!("Rust")), json!("Rust"));
        assert_ne!(band(&json!(3000)), band(&json!(4000)));
    }
}
