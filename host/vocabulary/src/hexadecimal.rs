//! Bytes as hexadecimal digits.

/// Parses two hexadecimal digits for each byte. Returns `None` for any other text.
pub fn from_hex(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    (0..digits.len()).step_by(2).map(byte).collect()
}

/// Returns two hexadecimal digits for each byte.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{from_hex, to_hex};

    #[test]
    fn only_pairs_of_digits_are_bytes() {
        assert_eq!(from_hex("00fFa7"), Some(vec![0, 255, 167]));
        assert_eq!(to_hex(&[0, 255, 167]), "00ffa7");
        assert_eq!(from_hex(""), Some(Vec::new()));
        for text in ["0", "0g", "+1", " 1", "é0"] {
            assert_eq!(from_hex(text), None, "{text}");
        }
    }
}
