//! Keys of JSON values: texts whose byte order is the order of the values.

use serde_json::{Number, Value};

/// The longest string that has a key, in bytes.
pub const MAX_STRING: usize = 512;

/// The key of a document without a value at the path.
pub const MISSING: &str = "";
pub const NULL: &str = "0";

/// The first character of a boolean's key. The keys of a kind lie between its first character and
/// the next kind's.
pub(super) const BOOLEAN: &str = "1";
pub(super) const NUMBER: &str = "2";
pub(super) const STRING: &str = "3";
pub const COMPOSITE: &str = "4";

/// The reasons why a value has no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("a string of more than {MAX_STRING} bytes cannot be indexed")]
    TooLong,
    #[error("a number beyond the range of 64-bit floating point cannot be indexed")]
    OutOfRange,
}

/// Returns the key of the value at a path. All arrays and objects share one key.
pub fn key(value: Option<&Value>) -> Result<String, KeyError> {
    Ok(match value {
        None => MISSING.to_owned(),
        Some(Value::Null) => NULL.to_owned(),
        Some(Value::Bool(value)) => format!("{BOOLEAN}{}", u8::from(*value)),
        Some(Value::Number(number)) => number_key(number).ok_or(KeyError::OutOfRange)?,
        Some(Value::String(text)) if text.len() > MAX_STRING => return Err(KeyError::TooLong),
        Some(Value::String(text)) => string_key(text),
        Some(Value::Array(_) | Value::Object(_)) => COMPOSITE.to_owned(),
    })
}

/// Returns the value of a key of a boolean, a number or a string, and null for any other key.
pub fn value(key: &str) -> Value {
    let Some((kind, rest)) = key.split_at_checked(1) else { return Value::Null };
    match kind {
        BOOLEAN => Value::Bool(rest == "1"),
        NUMBER => number(rest).map_or(Value::Null, Value::Number),
        STRING => Value::String(string(rest)),
        _ => Value::Null,
    }
}

/// Returns whether a key is that of a value other than null.
pub fn is_present(key: &str) -> bool {
    key != MISSING && key != NULL
}

/// Returns one key for a list of keys; different lists have different keys. As in SQL, a list with a
/// missing or null part equals no other, so it has no key.
pub fn tuple(keys: &[String]) -> Option<String> {
    // In a key, U+0001 is always followed by U+0001 or U+0002.
    keys.iter().all(|key| is_present(key)).then(|| keys.join("\u{1}\u{3}"))
}

/// Returns the key of a number: the nearest float, then the difference of an integer beyond 2^53
/// from that float. Returns `None` if the number is beyond the range of floats.
fn number_key(number: &Number) -> Option<String> {
    let integer = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    // Adding 0 turns -0 into 0.
    let float = integer.map_or_else(|| number.as_f64(), |integer| Some(integer as f64))? + 0.0;
    // The difference is at most 1024 either way, because the floats below 2^64 are at most 2048 apart.
    let rest = integer.map_or(0, |integer| integer - float as i128) + 0x8000;
    Some(format!("{NUMBER}{:016x}{rest:04x}", ordered_bits(float)))
}

/// Returns the number of a key that [`number_key`] made, as an integer if it fits; `None` for other
/// texts. `digits` is the key without its first character.
fn number(digits: &str) -> Option<Number> {
    let (bits, rest) = digits.split_at_checked(16)?;
    let (bits, rest) =
        (u64::from_str_radix(bits, 16).ok()?, i128::from_str_radix(rest, 16).ok()? - 0x8000);
    let sign = 1 << 63;
    let float = f64::from_bits(if bits & sign == 0 { !bits } else { bits ^ sign });
    if float.fract() == 0.0 && float.abs() <= 2_f64.powi(64) {
        let integer = float as i128 + rest;
        let signed = i64::try_from(integer).ok().map(Number::from);
        if let Some(number) = signed.or_else(|| u64::try_from(integer).ok().map(Number::from)) {
            return Some(number);
        }
    }
    Number::from_f64(float)
}

/// Returns the string of a key that [`string_key`] made. `key` lacks the first character.
fn string(key: &str) -> String {
    let mut text = String::with_capacity(key.len());
    let mut characters = key.chars();
    while let Some(character) = characters.next() {
        match character {
            '\u{1}' => text.push(if characters.next() == Some('\u{1}') { '\0' } else { '\u{1}' }),
            other => text.push(other),
        }
    }
    text
}

/// Returns bits whose order as integers is the order of the floats: the sign bit of a positive
/// float is set, and all bits of a negative one are inverted.
fn ordered_bits(float: f64) -> u64 {
    let bits = float.to_bits();
    let sign = 1 << 63;
    if bits & sign == 0 { bits | sign } else { !bits }
}

/// Returns the key of a string. PostgreSQL's text cannot contain U+0000, so it is replaced by a sequence
/// that keeps its place before U+0001.
fn string_key(text: &str) -> String {
    let mut key = String::with_capacity(1 + text.len());
    key.push_str(STRING);
    for character in text.chars() {
        match character {
            '\0' => key.push_str("\u{1}\u{1}"),
            '\u{1}' => key.push_str("\u{1}\u{2}"),
            other => key.push(other),
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;
    use std::cmp::Ordering;

    fn of(value: Value) -> String {
        key(Some(&value)).unwrap()
    }

    #[test]
    fn keys_are_what_the_tables_hold() {
        assert_eq!(key(None).unwrap(), "");
        assert_eq!(of(json!(null)), "0");
        assert_eq!(of(json!(false)), "10");
        assert_eq!(of(json!(true)), "11");
        assert_eq!(of(json!(0)), "280000000000000008000");
        assert_eq!(of(json!(1)), "2bff00000000000008000");
        assert_eq!(of(json!(-1)), "2400fffffffffffff8000");
        assert_eq!(of(json!((1_i64 << 53) + 1)), "2c3400000000000008001");
        assert_eq!(of(json!("a\0\u{1}")), "3a\u{1}\u{1}\u{1}\u{2}");
        assert_eq!(of(json!([1])), "4");
        assert_eq!(of(json!({})), "4");
    }

    #[test]
    fn equal_numbers_share_a_key() {
        assert_eq!(of(json!(1)), of(json!(1.0)));
        assert_eq!(of(json!(0)), of(json!(-0.0)));
        assert_eq!(of(json!(u64::MAX - 2047)), of(json!(18_446_744_073_709_549_568_f64)));
        assert_ne!(of(json!(u64::MAX)), of(json!(u64::MAX as f64)));
    }

    #[test]
    fn values_come_back_from_their_keys() {
        for back in [
            json!(true),
            json!(false),
            json!(0),
            json!(-7),
            json!(1.5),
            json!(-1e300),
            json!(i64::MIN),
            json!(u64::MAX),
            json!((1_i64 << 53) + 1),
            json!(""),
            json!("a\0\u{1}b"),
        ] {
            assert_eq!(value(&of(back.clone())), back);
        }
        assert_eq!(value(&of(json!(2.0))), json!(2));
        for nothing in [MISSING, NULL, COMPOSITE] {
            assert_eq!(value(nothing), Value::Null);
        }
    }

    #[test]
    fn long_strings_are_refused() {
        assert_eq!(key(Some(&json!("é".repeat(256)))).unwrap().len(), 513);
        assert_eq!(key(Some(&json!("é".repeat(257)))), Err(KeyError::TooLong));
    }

    #[test]
    fn tuples_with_a_hole_equal_no_other() {
        let keys = |parts: &[&str]| parts.iter().map(|&part| part.to_owned()).collect::<Vec<_>>();
        assert!(tuple(&keys(&["3a", ""])).is_none());
        assert!(tuple(&keys(&["0", "3a"])).is_none());
        assert_ne!(tuple(&keys(&["3a", "3b"])), tuple(&keys(&["3a3b"])));
        assert_eq!(tuple(&keys(&["3a", "3b"])).unwrap(), "3a\u{1}\u{3}3b");
    }

    fn rank(value: &Value) -> u8 {
        match value {
            Value::Null => 0,
            Value::Bool(_) => 1,
            Value::Number(_) => 2,
            Value::String(_) => 3,
            Value::Array(_) | Value::Object(_) => 4,
        }
    }

    fn integer(number: &Number) -> Option<i128> {
        number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
    }

    /// Compares exactly, without rounding an integer to a float.
    fn integer_to_float(integer: i128, float: f64) -> Ordering {
        if float.abs() >= 1e30 {
            return if float > 0.0 { Ordering::Less } else { Ordering::Greater };
        }
        integer.cmp(&(float.floor() as i128)).then(if float.fract() == 0.0 {
            Ordering::Equal
        } else {
            Ordering::Less
        })
    }

    fn order(left: &Value, right: &Value) -> Ordering {
        match (left, right) {
            (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
            (Value::String(left), Value::String(right)) => left.as_bytes().cmp(right.as_bytes()),
            (Value::Number(left), Value::Number(right)) => match (integer(left), integer(right)) {
                (Some(left), Some(right)) => left.cmp(&right),
                (Some(left), None) => integer_to_float(left, right.as_f64().unwrap()),
                (None, Some(right)) => integer_to_float(right, left.as_f64().unwrap()).reverse(),
                (None, None) => left.as_f64().partial_cmp(&right.as_f64()).unwrap(),
            },
            _ => rank(left).cmp(&rank(right)),
        }
    }

    fn numbers() -> impl Strategy<Value = Value> {
        let near = |middle: i128| middle - 3000..middle + 3000;
        let around = prop_oneof![near(1 << 53), near(-(1 << 53)), near(1 << 63), near(0)];
        prop_oneof![
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (u64::MAX - 5000..=u64::MAX).prop_map(Value::from),
            (i64::MIN..i64::MIN + 5000).prop_map(Value::from),
            around.clone().prop_map(|number| i64::try_from(number)
                .map_or_else(|_| Value::from(u64::try_from(number).unwrap()), Value::from)),
            around.prop_map(|number| json!(number as f64)),
            any::<f64>()
                .prop_filter("JSON has no NaN", |number| number.is_finite())
                .prop_map(Value::from),
            (-10_i32..10, 1_i32..4).prop_map(|(up, down)| json!(f64::from(up) / f64::from(down))),
            Just(json!(-0.0)),
        ]
    }

    fn values() -> impl Strategy<Value = Value> {
        prop_oneof![
            4 => numbers(),
            1 => Just(json!(null)),
            1 => any::<bool>().prop_map(Value::from),
            3 => "[\0\u{1}\u{2}\u{3}ab]{0,5}".prop_map(Value::from),
            2 => any::<String>().prop_filter("short", |text| text.len() <= 512).prop_map(Value::from),
            1 => prop_oneof![Just(json!([])), Just(json!({"a": 1}))],
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn keys_order_as_the_values(left in values(), right in values()) {
            prop_assert_eq!(of(left.clone()).cmp(&of(right.clone())), order(&left, &right));
        }

        #[test]
        fn numbers_order_as_their_keys(left in numbers(), right in numbers()) {
            prop_assert_eq!(of(left.clone()).cmp(&of(right.clone())), order(&left, &right));
        }

        #[test]
        fn keys_have_no_nul_and_stand_between_their_kind_s_ends(value in values()) {
            let found = of(value.clone());
            prop_assert!(!found.contains('\0') && found.as_str() > MISSING);
            let kind = rank(&value);
            let next = (kind + 1).to_string();
            prop_assert!(found >= kind.to_string() && found < next);
        }

        #[test]
        fn tuples_are_injective(
            left in prop::collection::vec("[\0\u{1}\u{2}\u{3}3]{0,3}", 1..4),
            right in prop::collection::vec("[\0\u{1}\u{2}\u{3}3]{0,3}", 1..4),
        ) {
            let key = |part: &String| of(json!(part));
            let keys = |parts: &[String]| parts.iter().map(key).collect::<Vec<_>>();
            let same = tuple(&keys(&left)) == tuple(&keys(&right));
            prop_assert_eq!(same, left == right);
        }
    }
}
