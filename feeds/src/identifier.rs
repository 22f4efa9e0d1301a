//! Identifiers that are the same in every build: a prefix, and 26 characters of a hash of the record's
//! names at its source.

use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// Crockford's alphabet, as in a ULID.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LENGTH: usize = 26;

/// Returns the identifier of the record with these names, in this order.
pub fn stable(prefix: &str, names: &[&str]) -> String {
    let mut hash = Sha256::new();
    for name in names {
        hash.update(u64::try_from(name.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(name.as_bytes());
    }
    let mut identifier = format!("{prefix}_");
    let (mut bits, mut held) = (0u32, 0u32);
    for byte in hash.finalize() {
        bits = (bits << 8) | u32::from(byte);
        held += 8;
        while held >= 5 {
            held -= 5;
            let digit = usize::try_from((bits >> held) & 31).unwrap_or(0);
            if identifier.len() == prefix.len() + 1 + LENGTH {
                return identifier;
            }
            identifier.push(ALPHABET.get(digit).copied().map_or('0', char::from));
        }
        bits &= (1 << held) - 1;
    }
    identifier
}

/// Returns the value of a digit of an identifier; `None` for any other character.
pub fn value_of(digit: u8) -> Option<usize> {
    ALPHABET.iter().position(|known| *known == digit)
}

/// Returns the SHA-256 digest in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Returns hexadecimal digits in lower case.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _infallible = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_make_one_identifier_and_their_borders_count() {
        let first = stable("tgt", &["copperleaf", "robotics"]);
        assert_eq!(first, stable("tgt", &["copperleaf", "robotics"]));
        assert_ne!(first, stable("tgt", &["copperleafrobotics", ""]));
        assert_eq!(first.len(), "tgt_".len() + 26);
        assert!(first.bytes().skip(4).all(|byte| ALPHABET.contains(&byte)));
    }
}
