//! Phone numbers: which can be used for a claim, how they are shown, and the numbers of test mode.

use crate::plans::{Kind, split};

/// A number that a code may be sent to.
pub(crate) struct Phone {
    pub(crate) e164: String,
    /// The country code and the last four digits, as shown to callers.
    pub(crate) masked: String,
    /// The country code and the first digits after it, by which numbers are rented in blocks.
    pub(crate) prefix: String,
}

/// Why a number cannot be used for a claim.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PhoneError {
    /// It is not a number in E.164.
    Invalid,
    /// Numbers of this kind do not identify a person.
    NotAllowed,
}

/// The behaviour of a number of test mode, by the last two digits of +1 415 555 01xx.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scenario {
    Works,
    NeverMatches,
    ExpiresAtOnce,
    Undeliverable,
    RateLimited,
    NotAllowed,
    AlreadyBound,
    LocksAtOnce,
}

/// The prefix of +1 415 555 01xx, which North America reserves for fiction.
const SCENARIOS: &str = "+141555501";
/// The code that works in test mode.
pub(crate) const TEST_CODE: &str = "424242";
/// The number of digits after the country code that identify a block of numbers.
const PREFIX_DIGITS: usize = 4;

pub(crate) fn parse(text: &str) -> Result<Phone, PhoneError> {
    let written = text.strip_prefix('+').ok_or(PhoneError::Invalid)?;
    if !written.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(PhoneError::Invalid);
    }
    let (code, national, kind) = split(written).ok_or(PhoneError::Invalid)?;
    if scenario(text).is_none() {
        match kind {
            Some(Kind::Mobile) => {}
            Some(Kind::Other) => return Err(PhoneError::NotAllowed),
            None => return Err(PhoneError::Invalid),
        }
    }
    let last: String = national.chars().skip(national.len().saturating_sub(4)).collect();
    let block: String = national.chars().take(PREFIX_DIGITS).collect();
    let (masked, prefix) = (format!("+{code}•••••{last}"), format!("{code} {block}"));
    Ok(Phone { e164: text.to_owned(), masked, prefix })
}

pub(crate) fn scenario(e164: &str) -> Option<Scenario> {
    let number: u8 = e164.strip_prefix(SCENARIOS)?.parse().ok()?;
    match number {
        0..=9 => Some(Scenario::Works),
        10 => Some(Scenario::NeverMatches),
        11 => Some(Scenario::ExpiresAtOnce),
        12 => Some(Scenario::Undeliverable),
        13 => Some(Scenario::RateLimited),
        14 => Some(Scenario::NotAllowed),
        15 => Some(Scenario::AlreadyBound),
        16 => Some(Scenario::LocksAtOnce),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_mobiles_in_e164_are_fit() {
        let fit = parse("+12015550123").map(|phone| (phone.masked, phone.prefix));
        assert_eq!(fit.ok(), Some(("+1•••••0123".to_owned(), "1 2015".to_owned())));
        assert!(parse("+447400123456").is_ok());
        for text in ["", "12015550123", "+1 201 555 0123", "+1201", "+1201555012345678", "+x"] {
            assert_eq!(parse(text).err(), Some(PhoneError::Invalid), "{text}");
        }
        // A freephone number, a premium rate one, a fixed line, and personal numbering.
        for text in ["+18002345678", "+19002345678", "+442083661177", "+447012345678"] {
            assert_eq!(parse(text).err(), Some(PhoneError::NotAllowed), "{text}");
        }
    }

    #[test]
    fn scenarios_are_the_numbers_of_fiction() {
        assert_eq!(scenario("+14155550100"), Some(Scenario::Works));
        assert_eq!(scenario("+14155550116"), Some(Scenario::LocksAtOnce));
        assert_eq!(scenario("+14155550117"), None);
        assert_eq!(scenario("+14155560100"), None);
    }
}
