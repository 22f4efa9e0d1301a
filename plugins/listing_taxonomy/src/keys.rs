//! Keys: attributes as texts that an index can compare.

use crate::criteria::{Criterion, Operator};
use serde_json::{Map, Value};

/// The maximum number of facts, because the store indexes no more elements of one list.
const MOST: usize = 100;
/// A character that sorts after the characters of all ranks.
const END: char = '~';

/// Returns the keys of a listing's attributes that its counterparts and searches can use. Values
/// that only the text states have facts as well, but no ranks, so that a search that requires them
/// finds the listing.
pub(crate) fn of(
    attributes: &Map<String, Value>,
    said: &Map<String, Value>,
    usable: &[Criterion],
) -> people_kit::taxonomy::Keys {
    let mut keys = people_kit::taxonomy::Keys::default();
    for criterion in usable {
        let stated = attributes.get(&criterion.field);
        let Some(value) = stated.or_else(|| said.get(&criterion.field)) else { continue };
        let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        keys.facts.extend(values.iter().map(|value| fact(&criterion.field, value)));
        if stated.is_some() && criterion.operators.contains(&Operator::Gte) {
            keys.ranks.extend(rank(&criterion.field, value));
        }
    }
    keys.facts.truncate(MOST);
    keys
}

/// Returns a key that is equal for equal values; the case of letters does not matter.
pub(crate) fn fact(field: &str, value: &Value) -> String {
    match (value.as_f64(), value.as_str()) {
        (Some(number), _) => format!("{field}={number}"),
        (_, Some(text)) => format!("{field}={}", text.trim().to_lowercase()),
        _ => format!("{field}={value}"),
    }
}

/// Returns a key that sorts as the values do: from the bits of a number, or from a date as it is;
/// `None` for other values.
pub(crate) fn rank(field: &str, value: &Value) -> Option<String> {
    match (value.as_f64(), value.as_str()) {
        (Some(number), _) => {
            // Minus zero becomes zero.
            let bits = (number + 0.0).to_bits();
            let ordered = if bits >> 63 == 0 { bits | 1 << 63 } else { !bits };
            Some(format!("{field}={ordered:016x}"))
        }
        (_, Some(date)) => Some(format!("{field}={date}")),
        _ => None,
    }
}

/// Returns the ranks between which a value in this range is.
pub(crate) fn bounds(field: &str, least: Option<&Value>, most: Option<&Value>) -> (String, String) {
    let lower = least.and_then(|value| rank(field, value)).unwrap_or_else(|| format!("{field}="));
    let upper = most.and_then(|value| rank(field, value));
    (lower, upper.unwrap_or_else(|| format!("{field}={END}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn equal_values_are_equal_facts() {
        assert_eq!(fact("bedrooms", &json!(2)), fact("bedrooms", &json!(2.0)));
        assert_eq!(fact("skills", &json!("Rust ")), "skills=rust");
        assert_eq!(fact("pets", &json!(true)), "pets=true");
    }

    #[test]
    fn bounds_hold_one_field_alone() {
        let (lower, upper) = bounds("bed", None, None);
        for (field, value, inside) in [
            ("bed", json!(-1e300), true),
            ("bed", json!(0), true),
            ("bed", json!("2027-01-01"), true),
            ("beds", json!(1), false),
            ("be", json!(1), false),
        ] {
            let rank = rank(field, &value).unwrap();
            assert_eq!(lower <= rank && rank <= upper, inside, "{rank}");
        }
    }

    proptest! {
        #[test]
        fn ranks_have_the_order_of_numbers(a in -1e12..1e12, b in -1e12..1e12) {
            let rank = |number: f64| rank("x", &json!(number)).unwrap();
            prop_assert_eq!(rank(a) < rank(b), a < b);
        }
    }
}
