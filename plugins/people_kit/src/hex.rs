//! Hexadecimal encoding.

pub fn encode(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Decodes hexadecimal digits. Other characters, and a last digit without a second one, are
/// skipped.
pub fn decode(text: &str) -> Vec<u8> {
    let digits = text.chars().filter_map(|digit| u8::try_from(digit.to_digit(16)?).ok());
    let digits: Vec<u8> = digits.collect();
    let bytes = digits.chunks_exact(2);
    bytes.map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_decoded() {
        let bytes = [0, 1, 0x7f, 0xff];
        assert_eq!(encode(&bytes), "00017fff");
        assert_eq!(decode(&encode(&bytes)), bytes);
    }
}
